//! What a law is about beside its type: receives the law and a concrete type, hands on the texts and parameters of each operation.

use testwright_model::api::{Function, ImplDef, ParamKind};
use testwright_model::law::{ADDING, Law, Other, TAKING, Value, With};
use testwright_model::ty::Folder;
use testwright_model::{GenericArg, Prim, TraitRef, Ty};

use crate::grounder::Grounder;
use crate::menu;
use crate::solve::Answer;
use crate::world::{Bindings, apply, apply_trait};

/// Operations of one law for one type.
const MOST: usize = 4;
/// Words of a documentation that says that clones belong together.
const SHARING: [&str; 3] = ["handle", "shared", "reference-counted"];
/// Methods of collections that do not grow.
const BOUNDS: [&str; 4] = ["is_full", "remaining_capacity", "max_capacity", "cap"];

/// Methods that take whatever a key is borrowed as.
const LOOKING: [&str; 4] = ["contains", "contains_key", "get", "remove"];

/// What one operation of a law has beside values of its type.
#[derive(Default)]
pub(crate) struct Companion {
    /// What stands in the law's form for each of its names.
    pub names: Vec<(&'static str, String)>,
    pub params: Vec<(String, Ty)>,
}

/// A method of a type, its parameters and result concrete.
pub(crate) struct Method<'a> {
    pub function: &'a Function,
    /// Empty for a function without one.
    pub receiver: &'static str,
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
}

impl Method<'_> {
    /// `get(&self, usize) -> bool`.
    fn text(&self) -> String {
        let params: String = self.params.iter().map(|(_, ty)| format!(", {ty}")).collect();
        format!("{}({}{params}) -> {}", self.function.name, self.receiver, self.result)
    }
}

impl<'a> Grounder<'_, '_, '_, 'a> {
    pub(crate) fn companions(&self, law: &Law, ty: &Ty) -> Vec<Companion> {
        let mut all = match law.with {
            With::Nothing => vec![Companion::default()],
            With::Items { mutable } => only_if(self.lends(ty, mutable)),
            With::Other(other) => self.others(&other, ty),
            With::Change => self.changes(law, ty),
            With::Family(prefix) => self.family(prefix, ty),
            With::Insertion => self.insertion(ty, false).into_iter().collect(),
            With::Removal => self.insertion(ty, true).into_iter().collect(),
            With::Map(names) => self.map(names, ty).into_iter().collect(),
            With::Target => only_if(self.target(ty).is_some_and(|target| self.can(&target, DEBUG, &[]))),
            With::Pair => self.pairs(ty),
            With::Serde => only_if(self.is_serialised(ty)),
        };
        all.truncate(MOST);
        all
    }

    /// Whether the type has a method whose signature begins like this.
    pub(crate) fn has_method(&self, signature: &str, ty: &Ty) -> bool {
        let wanted = |name: &str| signature.split('(').next() == Some(name);
        self.own_methods(ty, &wanted).iter().any(|method| method.text().starts_with(signature))
    }

    /// Whether there may be no room for another item.
    pub(crate) fn is_bounded(&self, ty: &Ty) -> bool {
        let has = |wanted: &str| !self.own_methods(ty, &|name| name == wanted).is_empty();
        BOUNDS.into_iter().any(has) || has("capacity") && !has("reserve")
    }

    /// The type's inherent methods with a wanted name that anyone may call and that have no parameters of their own, but for those
    /// that look something up.
    fn own_methods(&self, ty: &Ty, wanted: &dyn Fn(&str) -> bool) -> Vec<Method<'a>> {
        let mut all = self.own_functions(ty, wanted);
        all.retain(|method| !method.receiver.is_empty());
        all
    }

    /// The same, and functions without a receiver.
    pub(crate) fn own_functions(&self, ty: &Ty, wanted: &dyn Fn(&str) -> bool) -> Vec<Method<'a>> {
        let solver = self.chooser.solver;
        let mut all = Vec::new();
        for def in self.world.impls_for(ty) {
            let own = def.trait_.is_none() && self.world.is_subject_impl(def);
            let functions: Vec<&Function> =
                def.methods.iter().filter(|function| own && wanted(&function.name)).collect();
            let Some(bindings) = (!functions.is_empty()).then(|| self.fits(def, ty)).flatten() else {
                continue;
            };
            for function in functions {
                let is_open = function
                    .generics
                    .params
                    .iter()
                    .any(|param| !matches!(param.kind, ParamKind::Lifetime { .. }));
                let is_plain = !function.is_unsafe && !function.is_async && !function.doc_hidden;
                if !is_plain || is_open && !LOOKING.contains(&&*function.name) {
                    continue;
                }
                let concrete = |ty: &Ty| solver.normalise(ty, &bindings).erased();
                let (receiver, rest) = match &function.params[..] {
                    [(_, this), rest @ ..] if function.has_receiver() => match concrete(this) {
                        Ty::Ref { mutable: false, .. } => ("&self", rest),
                        Ty::Ref { .. } => ("&mut self", rest),
                        _ => ("self", rest),
                    },
                    all => ("", all),
                };
                let params = rest.iter().map(|(name, ty)| (name.clone(), concrete(ty))).collect();
                all.push(Method { function, receiver, params, result: concrete(&function.result) });
            }
        }
        all
    }

    /// What an impl's parameters are if it is for the type.
    fn fits(&self, def: &ImplDef, ty: &Ty) -> Option<Bindings> {
        let solver = self.chooser.solver;
        let (generics, mut bindings) = self.renamed(def);
        let for_ = apply(&def.for_, &bindings);
        let fits = solver.unify(&for_, &self.chooser.name_regions(ty), &mut bindings)
            && solver.wheres(&generics, &mut bindings, 0) != Answer::No;
        fits.then_some(bindings)
    }

    /// Whether the type has both of serde's traits, one of them by the crate's own code, and neither borrows nor holds floats.
    fn is_serialised(&self, ty: &Ty) -> bool {
        let mut fits = true;
        ty.walk(&mut |part| {
            fits &= match part {
                Ty::Adt { path, .. } => self.world.type_def(path).is_none_or(|def| {
                    let lent = |kind: &ParamKind| matches!(kind, ParamKind::Lifetime { .. });
                    !def.generics.params.iter().any(|param| lent(&param.kind))
                }),
                Ty::Ref { .. } | Ty::Prim(Prim::F32 | Prim::F64) => false,
                _ => true,
            };
        });
        // Whether serde has the trait for a part of a generic type, the compiler knows.
        let may = |path: &str| {
            let trait_ = plain_trait(path, Vec::new());
            self.chooser.solver.prove(ty, &trait_, &mut Bindings::new()) != Answer::No
        };
        fits && SERDE.iter().any(|traits| {
            traits.iter().all(|path| may(path)) && traits.iter().any(|path| self.is_written(path, &[], ty))
        })
    }

    /// Whether the crate wrote `IntoIterator` for the type's references, with the same items but for references.
    fn lends(&self, ty: &Ty, mutable: bool) -> bool {
        let shared = Ty::reference(ty.clone());
        let pair = if mutable { [shared, Ty::reference_mut(ty.clone())] } else { [ty.clone(), shared] };
        let written = |ty: &Ty| {
            let of_trait =
                |def: &ImplDef| def.trait_.as_ref().is_some_and(|trait_| trait_.path == INTO_ITERATOR.0);
            let mut impls = self.world.impls_for(ty).filter(|def| of_trait(def));
            impls.any(|def| self.world.is_subject_impl(def) && !def.blanket && self.fits(def, ty).is_some())
        };
        let [one, other] = pair.each_ref().map(|ty| self.item(ty).map(|item| without_references(&item)));
        pair.iter().all(written) && one.is_some() && one == other
    }

    fn item(&self, ty: &Ty) -> Option<Ty> {
        self.projected(ty, INTO_ITERATOR).filter(|item| self.can(item, DEBUG, &[]))
    }

    /// What the type dereferences to.
    fn target(&self, ty: &Ty) -> Option<Ty> {
        self.projected(ty, ("std::ops::Deref", "Target"))
    }

    /// An associated type of a trait.
    fn projected(&self, ty: &Ty, (path, name): (&str, &str)) -> Option<Ty> {
        let projection = Ty::Proj {
            base: Box::new(ty.clone()),
            trait_: Some(Box::new(plain_trait(path, Vec::new()))),
            name: name.to_owned(),
            args: Vec::new(),
        };
        let projected = self.chooser.solver.normalise(&projection, &Bindings::new()).erased();
        projected.is_ground().then_some(projected)
    }

    /// Other types that the crate wrote the trait with.
    fn others(&self, other: &Other, ty: &Ty) -> Vec<Companion> {
        let mut all: Vec<Ty> = Vec::new();
        for with in self.arguments(other.of, ty) {
            let back = other.back.iter().all(|path| self.can(&with, path, std::slice::from_ref(ty)));
            let able = other.needs.iter().all(|path| self.can(&with, path, &[]));
            let collected = !other.collected || self.arguments(FROM_ITERATOR, ty).contains(&with);
            let plain = !other.plain || is_plain(&with);
            let also = other.also.iter().all(|path| self.can(ty, path, std::slice::from_ref(&with)));
            let target = !other.target || self.target(ty).as_ref() == Some(&with);
            let fits = back && able && collected && plain && also && target;
            if fits && with != *ty && !all.contains(&with) {
                all.push(with);
            }
        }
        let companion = |with: Ty| {
            let names = vec![("{U}", with.to_string())];
            let params = match other.takes {
                Value::Nothing => Vec::new(),
                Value::Shared => vec![("other".to_owned(), Ty::reference(with))],
                Value::Items => vec![("items".to_owned(), menu::vec_of(with))],
            };
            Companion { names, params }
        };
        all.into_iter().map(companion).collect()
    }

    /// The arguments, without lifetimes, that the crate implements the trait with by its own code.
    fn arguments(&self, path: &str, ty: &Ty) -> Vec<Ty> {
        let mut all = Vec::new();
        for def in self.world.impls_for(ty) {
            let Some(trait_) = def.trait_.as_ref().filter(|trait_| trait_.path == path) else { continue };
            let own = self.world.is_subject_impl(def) && !def.derived && !def.negative && !def.blanket;
            let Some(bindings) = self.fits(def, ty).filter(|_| own) else { continue };
            let trait_ = apply_trait(trait_, &bindings);
            if let Some(GenericArg::Ty(with)) = trait_.args.first() {
                let with = self.chooser.solver.normalise(with, &bindings);
                if with.is_ground() && with.regions().is_empty() {
                    all.push(with);
                }
            }
        }
        all
    }

    /// A method that adds to a value, and one that takes from it; none if clones may belong together.
    fn changes(&self, law: &Law, ty: &Ty) -> Vec<Companion> {
        let Ty::Adt { path, .. } = ty else { return Vec::new() };
        let text = self.world.type_def(path).map(|def| def.docs.text.to_lowercase()).unwrap_or_default();
        let apart = ["std::marker::Copy", "std::iter::Iterator"].iter().any(|path| self.can(ty, path, &[]));
        if apart || SHARING.iter().any(|word| text.contains(word)) {
            return Vec::new();
        }
        let methods = self.own_methods(ty, &|name| ADDING.contains(&name) || TAKING.contains(&name));
        let first = |names: &[&str]| {
            let named = |name: &&str| methods.iter().find(|method| method.function.name == **name);
            names.iter().filter_map(named).find(|method| {
                method.receiver == "&mut self" && method.params.iter().all(|(_, ty)| is_storable(ty))
            })
        };
        let companion = |method: &Method<'_>| Companion {
            names: vec![
                ("{let}", if method.result.is_unit() { "" } else { "let _ = " }.to_owned()),
                ("{m}", method.function.name.clone()),
                ("{args}", holes(law.takes.len()..law.takes.len() + method.params.len())),
            ],
            params: method.params.clone(),
        };
        [&ADDING[..], &TAKING[..]].into_iter().filter_map(first).map(companion).collect()
    }

    /// Methods that come as `checked_x` and with the other prefix, with the same parameters.
    fn family(&self, prefix: &str, ty: &Ty) -> Vec<Companion> {
        let methods = self.own_methods(ty, &|name| name.starts_with("checked_") || name.starts_with(prefix));
        let mut all = Vec::new();
        for checked in &methods {
            let Some(name) = checked.function.name.strip_prefix("checked_") else { continue };
            let Ty::Adt { path, args } = &checked.result else { continue };
            let (true, [GenericArg::Ty(exact)]) = (path == "std::option::Option", &args[..]) else {
                continue;
            };
            let result = match prefix {
                "overflowing_" => Ty::Tuple(vec![exact.clone(), Ty::Prim(Prim::Bool)]),
                _ => exact.clone(),
            };
            let types =
                |method: &Method<'_>| -> Vec<Ty> { method.params.iter().map(|(_, ty)| ty.clone()).collect() };
            let alike = methods.iter().any(|method| {
                method.function.name.strip_prefix(prefix) == Some(name)
                    && method.receiver != "&mut self"
                    && method.result == result
                    && types(method) == types(checked)
            });
            let used = checked.params.iter().enumerate().map(|(index, (_, ty))| self.again(index + 1, ty));
            if let (true, Some(used)) = (alike && self.can(exact, EQ, &[]), used.collect::<Option<Vec<_>>>())
            {
                let args: Vec<String> = used.iter().map(|(text, _)| text.clone()).collect();
                let params = checked.params.iter().zip(used).map(|((name, _), (_, ty))| (name.clone(), ty));
                all.push(Companion {
                    names: vec![("{m}", name.to_owned()), ("{args}", args.join(", "))],
                    params: params.collect(),
                });
            }
        }
        all
    }

    /// `insert(&mut self, X) -> bool` with `contains(&self, X)` or `contains(&self, &X)`, and `remove(&mut self, X) -> bool` or the like.
    fn insertion(&self, ty: &Ty, removes: bool) -> Option<Companion> {
        let methods = self.own_methods(ty, &|name| matches!(name, "insert" | "contains" | "remove"));
        let named = |name: &str, receiver: &str| {
            methods.iter().find(|method| {
                method.function.name == name
                    && method.receiver == receiver
                    && method.params.len() == 1
                    && method.result == Ty::Prim(Prim::Bool)
            })
        };
        let (insert, contains) = (named("insert", "&mut self")?, named("contains", "&self")?);
        let (name, item) = &insert.params[0];
        let (new, param) = self.again(1, item)?;
        let mut filled = vec![("{same}", looked_up(&contains.params[0].1, item, &new)?)];
        if removes {
            let remove = named("remove", "&mut self")?;
            filled.push(("{gone}", looked_up(&remove.params[0].1, item, &new)?));
        }
        filled.push(("{new}", new));
        self.can(item, EQ, &[]).then(|| Companion { names: filled, params: vec![(name.clone(), param)] })
    }

    /// `insert(&mut self, K, V) -> Option<V>`, and the named methods as std's maps have them.
    fn map(&self, names: &[&'static str], ty: &Ty) -> Option<Companion> {
        let methods = self.own_methods(ty, &|name| name == "insert" || names.contains(&name));
        let insert = methods.iter().find(|method| method.function.name == "insert")?;
        let [(key_name, key), (value_name, value)] = &insert.params[..] else { return None };
        let option = |inside: Ty| Ty::adt("std::option::Option", vec![inside]);
        if insert.receiver != "&mut self" || insert.result != option(value.clone()) {
            return None;
        }
        let (new_key, key_param) = self.again(1, key)?;
        let (new_value, value_param) = self.again(2, value)?;
        let mut filled = Vec::new();
        for name in names {
            let (hole, receiver, result) = match *name {
                "get" => ("{get}", "&self", option(Ty::reference(value.clone()))),
                "contains_key" => ("{contains_key}", "&self", Ty::Prim(Prim::Bool)),
                _ => ("{remove}", "&mut self", option(value.clone())),
            };
            let method = methods.iter().find(|method| method.function.name == *name)?;
            let [(_, asked)] = &method.params[..] else { return None };
            if method.receiver != receiver || method.result != result.erased() {
                return None;
            }
            filled.push((hole, looked_up(asked, key, &new_key)?));
        }
        filled.extend([("{key}", new_key), ("{value}", new_value)]);
        let params = vec![(key_name.clone(), key_param), (value_name.clone(), value_param)];
        [key, value].iter().all(|ty| self.can(ty, EQ, &[])).then_some(Companion { names: filled, params })
    }

    /// How an argument is written that is used more than once, and the parameter for it, which is a reference.
    fn again(&self, index: usize, ty: &Ty) -> Option<(String, Ty)> {
        match ty {
            Ty::Prim(_) => Some((format!("{{*{index}}}"), Ty::reference(ty.clone()))),
            Ty::Ref { mutable: false, .. } if is_storable(ty) => Some((format!("{{{index}}}"), ty.clone())),
            _ if is_storable(ty) && self.can(ty, "std::clone::Clone", &[]) => {
                Some((format!("Clone::clone({{{index}}})"), Ty::reference(ty.clone())))
            }
            _ => None,
        }
    }

    pub(crate) fn can(&self, ty: &Ty, path: &str, args: &[Ty]) -> bool {
        let args = args.iter().cloned().map(GenericArg::Ty).collect();
        self.chooser.solver.prove(ty, &plain_trait(path, args), &mut Bindings::new()) == Answer::Yes
    }
}

const INTO_ITERATOR: (&str, &str) = ("std::iter::IntoIterator", "Item");
const DEBUG: &str = "std::fmt::Debug";
/// Newer versions define the traits in a crate of their own.
const SERDE: [[&str; 2]; 2] = [
    ["serde_core::ser::Serialize", "serde_core::de::Deserialize"],
    ["serde::ser::Serialize", "serde::de::Deserialize"],
];
const EQ: &str = "std::cmp::Eq";
const FROM_ITERATOR: &str = "std::iter::FromIterator";

/// One operation without companions, or none.
fn only_if(fits: bool) -> Vec<Companion> {
    fits.then(Companion::default).into_iter().collect()
}

/// How a method is asked about the first argument behind the type's value, `item`, that is written as `new` where it is given away.
fn looked_up(asked: &Ty, item: &Ty, new: &str) -> Option<String> {
    match asked {
        asked if asked == item => Some(new.to_owned()),
        // A borrowed item is lent once more; whatever it is borrowed as, the borrow itself is.
        Ty::Ref { to, mutable: false, .. } if **to == *item && matches!(item, Ty::Ref { .. }) => {
            Some("&{1}".to_owned())
        }
        Ty::Ref { to, mutable: false, .. } if **to == *item || matches!(**to, Ty::Param(_)) => {
            Some("{1}".to_owned())
        }
        _ => None,
    }
}

fn plain_trait(path: &str, args: Vec<GenericArg>) -> TraitRef {
    TraitRef { path: path.to_owned(), args, assoc: Vec::new(), assoc_bounds: Vec::new() }
}

/// Concrete, and without lifetimes but for that of a reference around it.
fn is_storable(ty: &Ty) -> bool {
    let inside = match ty {
        Ty::Ref { to, mutable: false, .. } => to,
        ty => ty,
    };
    inside.is_ground() && inside.regions().is_empty()
}

fn holes(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| format!("{{{number}}}")).collect::<Vec<_>>().join(", ")
}

fn without_references(ty: &Ty) -> Ty {
    struct Bare;
    impl Folder for Bare {
        fn ty(&mut self, ty: &Ty) -> Ty {
            match ty {
                Ty::Ref { to, .. } => self.ty(to),
                _ => self.descend(ty),
            }
        }
    }
    Bare.ty(ty)
}

/// Whether all there is to a value is a number, a truth or a character.
fn is_plain(ty: &Ty) -> bool {
    ty.is_int() || matches!(ty, Ty::Prim(Prim::Bool | Prim::Char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_compared_without_their_references() {
        let text = Ty::reference(Ty::Str);
        let pair = Ty::Tuple(vec![text.clone(), Ty::reference_mut(Ty::Prim(Prim::U8))]);
        assert_eq!(without_references(&pair), Ty::Tuple(vec![Ty::Str, Ty::Prim(Prim::U8)]));
        assert_eq!(without_references(&text), Ty::Str);
    }

    #[test]
    fn an_argument_may_be_lent_but_hold_nothing_that_is() {
        let text = Ty::reference(Ty::Str);
        assert!(is_storable(&text) && is_storable(&menu::string()));
        assert!(!is_storable(&Ty::reference(text.clone())) && !is_storable(&Ty::reference_mut(Ty::Str)));
        assert!(!is_storable(&menu::vec_of(text)) && !is_storable(&Ty::Param("T".to_owned())));
    }

    #[test]
    fn what_is_looked_up_is_lent_or_given() {
        let (number, text) = (Ty::Prim(Prim::U8), Ty::reference(Ty::Str));
        let key = || Some("{1}".to_owned());
        assert_eq!(looked_up(&Ty::reference(number.clone()), &number, "{*1}"), key());
        assert_eq!(looked_up(&number, &number, "{*1}"), Some("{*1}".to_owned()));
        assert_eq!(looked_up(&Ty::reference(Ty::Param("Q".to_owned())), &number, "{*1}"), key());
        assert_eq!(looked_up(&Ty::reference(text.clone()), &text, "{1}"), Some("&{1}".to_owned()));
        assert_eq!(looked_up(&text, &number, "{*1}"), None);
    }

    #[test]
    fn holes_follow_the_values_of_the_type() {
        assert_eq!(holes(2..4), "{2}, {3}");
    }
}
