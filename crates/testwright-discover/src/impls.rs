//! Impl blocks: receives every impl in the index, hands on those that say something about this crate.

use std::collections::{BTreeMap, BTreeSet};

use testwright_model::api::{Function, ImplDef, Skipped};
use testwright_model::ty::{TraitRef, Ty};

use crate::format::{Id, Impl, Inner, Item, Type};
use crate::functions::short;
use crate::reader::{Reader, span};
use crate::scope::Scope;

/// Traits of the compiler's own, which stable code cannot name.
const UNSTABLE_TRAITS: [&str; 4] = [
    "std::clone::TrivialClone",
    "std::marker::Freeze",
    "std::marker::StructuralPartialEq",
    "std::marker::UnsafeUnpin",
];

pub const HIDDEN: &str = "hidden from documentation";

impl<'a> Reader<'a> {
    pub fn impls(&self, skipped: &mut Vec<Skipped>) -> Vec<ImplDef> {
        let (copies, written): (Vec<_>, Vec<_>) =
            self.local_impls().into_iter().partition(|(_, impl_)| impl_.blanket_impl.is_some());
        let mut all: Vec<ImplDef> =
            written.into_iter().filter_map(|(item, impl_)| self.impl_def(item, impl_, skipped)).collect();
        all.extend(self.foreign_blankets(&copies));
        all.extend(self.unsized_types(&copies));
        all.sort_by_cached_key(|def| {
            (sort_key(def), def.span.as_ref().map(|span| (span.file.clone(), span.line)))
        });
        all
    }

    fn local_impls(&self) -> Vec<(&'a Item, &'a Impl)> {
        let mut ids: Vec<&Id> = self.krate.index.keys().collect();
        ids.sort();
        let items = ids.into_iter().filter_map(|id| self.krate.local(*id));
        items
            .filter_map(|item| match &item.inner {
                Inner::Impl(impl_) => Some((item, impl_)),
                _ => None,
            })
            .collect()
    }

    fn impl_def(&self, item: &'a Item, impl_: &'a Impl, skipped: &mut Vec<Skipped>) -> Option<ImplDef> {
        if self.subject(&impl_.for_).is_some_and(|id| self.is_left_out(id)) {
            return None;
        }
        let mut def = self.head(item, impl_, &impl_.for_);
        if UNSTABLE_TRAITS.iter().any(|name| def.trait_.as_ref().is_some_and(|trait_| trait_.path == *name)) {
            return None;
        }
        let scope = self.impl_scope(impl_, &mut def);
        let owner = owner(&def);
        for id in &impl_.items {
            let Some(member) = self.krate.local(*id) else { continue };
            let path = format!("{owner}::{}", member.name());
            match &member.inner {
                _ if impl_.trait_.is_none() && !member.is_public() => {}
                // `Eq`'s check that all fields are `Eq`.
                Inner::Function(_) if def.derived && member.is_doc_hidden() => {}
                Inner::Function(_) | Inner::AssocConst(_)
                    if impl_.trait_.is_none()
                        && (item.is_doc_hidden() || member.is_doc_hidden())
                        && !self.options.include_hidden =>
                {
                    skipped.push(Skipped { path, kind: member.kind().to_owned(), reason: HIDDEN.to_owned() });
                }
                Inner::Function(function) => {
                    let method = self.function(member, function, path, &scope);
                    def.methods.push(self.with_trait_facts(method, item, impl_));
                }
                Inner::AssocConst(constant) => {
                    def.assoc_consts.push(self.assoc_constant(member, constant, path, &scope));
                }
                Inner::AssocType(assoc) => {
                    let mut scope = scope.clone();
                    self.generics(&assoc.generics, &mut scope);
                    if let Some(ty) = &assoc.type_ {
                        def.assoc_types.push((member.name().to_owned(), self.ty(ty, &scope)));
                    }
                }
                _ => {}
            }
        }
        Some(def)
    }

    fn head(&self, item: &'a Item, impl_: &'a Impl, for_: &'a Type) -> ImplDef {
        let mut scope = Scope::default();
        let generics = self.generics(&impl_.generics, &mut scope);
        let for_ = self.ty(for_, &scope);
        scope.self_type = Some(for_.clone());
        let trait_ = impl_.trait_.as_ref().map(|path| self.trait_ref(path, Some(&for_), &scope));
        ImplDef {
            generics,
            trait_,
            blanket: matches!(for_, Ty::Param(_)),
            for_,
            methods: Vec::new(),
            assoc_types: Vec::new(),
            assoc_consts: Vec::new(),
            negative: impl_.is_negative,
            synthetic: impl_.is_synthetic,
            derived: item.is_derived(),
            span: span(item),
        }
    }

    /// The scope inside the braces; where clauses are read again in it, for they may say `Self::Item`.
    fn impl_scope(&self, impl_: &'a Impl, def: &mut ImplDef) -> Scope<'a> {
        let mut scope = Scope::with_self(def.for_.clone());
        scope.trait_ = impl_.trait_.as_ref().map(|path| path.id).zip(def.trait_.clone());
        for member in impl_.items.iter().filter_map(|id| self.krate.local(*id)) {
            if let Inner::AssocType(assoc) = &member.inner {
                scope.assoc.insert(member.name(), assoc);
            }
        }
        def.generics = self.generics(&impl_.generics, &mut scope);
        scope
    }

    /// An impl's method does not repeat what its trait says about it.
    fn with_trait_facts(&self, mut method: Function, item: &Item, impl_: &Impl) -> Function {
        method.doc_hidden |= item.is_doc_hidden();
        let trait_id = impl_.trait_.as_ref().map(|path| path.id);
        if let Some(trait_item) = trait_id.and_then(|id| self.krate.local(id))
            && let Inner::Trait(trait_) = &trait_item.inner
        {
            let mut members = trait_.items.iter().filter_map(|id| self.krate.local(*id));
            let declared = members.find(|member| member.name() == method.name);
            method.doc_hidden |= trait_item.is_doc_hidden() || declared.is_some_and(Item::is_doc_hidden);
            method.deprecated |= declared.is_some_and(|declared| declared.deprecation.is_some());
        }
        method
    }

    /// `impl !Sized` for the types that have no size: std's `Borrow` is there for every type, its `Into` for sized ones only.
    fn unsized_types(&self, copies: &[(&'a Item, &'a Impl)]) -> Vec<ImplDef> {
        let mut sized: BTreeMap<Id, (bool, &(&'a Item, &'a Impl))> = BTreeMap::new();
        for copy in copies {
            let (Some(id), Some(trait_)) = (self.subject(&copy.1.for_), &copy.1.trait_) else { continue };
            if !self.is_std(trait_.id) {
                continue;
            }
            let entry = sized.entry(id).or_insert((false, copy));
            entry.0 |= matches!(trait_.path.rsplit("::").next(), Some("Into" | "From"));
        }
        sized
            .into_values()
            .filter(|(sized, _)| !sized)
            .map(|(_, (item, impl_))| ImplDef {
                trait_: Some(TraitRef::new("std::marker::Sized")),
                negative: true,
                span: None,
                ..self.head(item, impl_, &impl_.for_)
            })
            .collect()
    }

    /// Blanket impls of other crates' traits, in the form they are written in, once each.
    ///
    /// Those of this crate's traits stand in the index anyway, those of std are known; one of a trait that the crate does
    /// not mention (`either::IntoEither` for everything) says nothing about it.
    fn foreign_blankets(&self, copies: &[(&'a Item, &'a Impl)]) -> Vec<ImplDef> {
        let mut seen = BTreeSet::new();
        let mut blankets = Vec::new();
        for (item, impl_) in copies {
            let (Some(trait_), Some(for_)) = (&impl_.trait_, &impl_.blanket_impl) else { continue };
            if self.is_std(trait_.id) || self.is_local(trait_.id) || !self.has_met(trait_.id) {
                continue;
            }
            let def = self.head(item, impl_, for_);
            if seen.insert(sort_key(&def)) {
                blankets.push(ImplDef { span: None, ..def });
            }
        }
        blankets
    }

    /// The local type that an impl is for, through references.
    fn subject(&self, ty: &'a Type) -> Option<Id> {
        match ty {
            Type::ResolvedPath(path) => self.is_local(path.id).then_some(path.id),
            Type::BorrowedRef(reference) => self.subject(&reference.type_),
            _ => None,
        }
    }
}

/// `Slab` for inherent impls, `<Slab as Index>` for those of traits.
fn owner(def: &ImplDef) -> String {
    match &def.trait_ {
        Some(trait_) => format!("<{} as {}>", short(&def.for_), trait_.name()),
        None => short(&def.for_),
    }
}

/// Puts impls of one type together, its own first, in an order that does not depend on rustdoc's numbers.
fn sort_key(def: &ImplDef) -> (String, Option<String>, String) {
    let clauses = format!("{:?}", def.generics);
    (def.for_.to_string(), def.trait_.as_ref().map(TraitRef::to_string), clauses)
}
