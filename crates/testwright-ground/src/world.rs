//! The subject's API and the std model side by side, with indexes for looking things up.

use std::collections::{BTreeMap, HashMap, HashSet};

use testwright_model::api::{Generics, ImplDef, ParamKind, TraitDef, TypeDef};
use testwright_model::ty::Folder;
use testwright_model::{Api, Const, GenericArg, Region, TraitRef, Ty};

/// Everything known about types and traits.
#[derive(Debug)]
pub struct World<'a> {
    pub subject: &'a Api,
    pub std: &'a Api,
    /// Impls by the path of their trait.
    by_trait: HashMap<&'a str, Vec<&'a ImplDef>>,
    /// Inherent impls and trait impls by the head of the type they are for.
    by_head: HashMap<Head, Vec<&'a ImplDef>>,
    /// Impls for any type: `impl<T: A> B for T`.
    blanket: Vec<&'a ImplDef>,
    /// Paths of types without a known size.
    unsized_paths: HashSet<&'a str>,
}

/// The outermost constructor of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Head {
    Adt(String),
    Ref,
    RefMut,
    Slice,
    Array,
    Tuple(usize),
    Str,
    Prim(testwright_model::Prim),
    Other,
}

/// What generic parameters stand for.
pub type Bindings = BTreeMap<String, GenericArg>;

impl<'a> World<'a> {
    pub fn new(subject: &'a Api, std: &'a Api) -> Self {
        let mut world = World {
            subject,
            std,
            by_trait: HashMap::new(),
            by_head: HashMap::new(),
            blanket: Vec::new(),
            unsized_paths: HashSet::new(),
        };
        for def in subject.impls.iter().chain(&std.impls) {
            if let (true, Some(trait_), Ty::Adt { path, .. }) = (def.negative, &def.trait_, &def.for_) {
                if trait_.path == "std::marker::Sized" {
                    world.unsized_paths.insert(path);
                }
            }
            if let Some(trait_) = &def.trait_ {
                world.by_trait.entry(&trait_.path).or_default().push(def);
            }
            match head(&def.for_) {
                Some(head) => world.by_head.entry(head).or_default().push(def),
                None => world.blanket.push(def),
            }
        }
        world
    }

    /// Whether values of the type lie only behind pointers.
    pub fn is_unsized(&self, ty: &Ty) -> bool {
        ty.is_unsized() || matches!(ty, Ty::Adt { path, .. } if self.unsized_paths.contains(path.as_str()))
    }

    pub fn type_def(&self, path: &str) -> Option<&'a TypeDef> {
        self.subject.types.get(path).or_else(|| self.std.types.get(path))
    }

    pub fn trait_def(&self, path: &str) -> Option<&'a TraitDef> {
        self.subject.traits.get(path).or_else(|| self.std.traits.get(path))
    }

    pub fn impls_of(&self, trait_path: &str) -> &[&'a ImplDef] {
        self.by_trait.get(trait_path).map_or(&[], Vec::as_slice)
    }

    pub fn impls_for(&self, ty: &Ty) -> impl Iterator<Item = &'a ImplDef> + '_ {
        let exact = head(ty).and_then(|head| self.by_head.get(&head)).map_or(&[][..], Vec::as_slice);
        exact.iter().chain(&self.blanket).copied()
    }

    pub fn is_subject_impl(&self, def: &ImplDef) -> bool {
        self.subject.impls.as_ptr_range().contains(&std::ptr::from_ref(def))
    }

    pub fn is_subject_path(&self, path: &str) -> bool {
        path.strip_prefix(self.subject.lib.as_str()).is_some_and(|rest| rest.starts_with("::"))
    }

    /// Fills in type arguments that were left to their defaults.
    pub fn complete(&self, ty: &Ty) -> Ty {
        struct Complete<'w, 'a>(&'w World<'a>);
        impl Folder for Complete<'_, '_> {
            fn ty(&mut self, ty: &Ty) -> Ty {
                let Ty::Adt { path, args } = self.descend(ty) else { return self.descend(ty) };
                let args = match self.0.type_def(&path) {
                    Some(def) => fill(&def.generics, args),
                    None => args,
                };
                Ty::Adt { path, args }
            }
        }
        Complete(self).ty(ty)
    }
}

/// The arguments with missing ones replaced by the parameters' defaults; missing lifetimes are elided ones.
fn fill(generics: &Generics, given: Vec<GenericArg>) -> Vec<GenericArg> {
    if given.len() >= generics.params.len() {
        return given;
    }
    let mut given = given.into_iter().peekable();
    let mut bindings = Bindings::new();
    let mut full = Vec::new();
    for param in &generics.params {
        let arg = match (&param.kind, given.peek()) {
            (ParamKind::Lifetime { .. }, Some(GenericArg::Region(_)))
            | (ParamKind::Type { .. }, Some(GenericArg::Ty(_)))
            | (ParamKind::Const { .. }, Some(GenericArg::Const(_) | GenericArg::Ty(_))) => given.next(),
            (ParamKind::Lifetime { .. }, _) => Some(GenericArg::Region(Region::Elided)),
            (ParamKind::Type { default: Some(default), .. }, _) => {
                Some(GenericArg::Ty(apply(default, &bindings)))
            }
            (ParamKind::Const { default: Some(default), .. }, _) => Some(GenericArg::Const(default.clone())),
            _ => None,
        };
        let Some(arg) = arg else { return full };
        bindings.insert(param.name.clone(), arg.clone());
        full.push(arg);
    }
    full
}

/// The outermost constructor, if the type is not a parameter or the like.
pub fn head(ty: &Ty) -> Option<Head> {
    Some(match ty {
        Ty::Adt { path, .. } => Head::Adt(path.clone()),
        Ty::Ref { mutable: false, .. } => Head::Ref,
        Ty::Ref { mutable: true, .. } => Head::RefMut,
        Ty::Slice(_) => Head::Slice,
        Ty::Array(..) => Head::Array,
        Ty::Tuple(parts) => Head::Tuple(parts.len()),
        Ty::Str => Head::Str,
        Ty::Prim(prim) => Head::Prim(*prim),
        Ty::Param(_) | Ty::Proj { .. } => return None,
        _ => Head::Other,
    })
}

/// The bindings, and the parameters that are being replaced: one that is bound to something with itself in it stays.
struct Apply<'b>(&'b Bindings, Vec<&'b str>);

impl Folder for Apply<'_> {
    fn ty(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Param(name) => match self.0.get_key_value(name) {
                Some((name, GenericArg::Ty(bound))) if !self.1.contains(&name.as_str()) => {
                    self.1.push(name);
                    let bound = self.ty(bound);
                    self.1.pop();
                    bound
                }
                _ => ty.clone(),
            },
            _ => self.descend(ty),
        }
    }

    fn region(&mut self, region: &Region) -> Region {
        match region {
            Region::Named(name) => match self.0.get(name) {
                Some(GenericArg::Region(Region::Named(same))) if same == name => region.clone(),
                Some(GenericArg::Region(bound)) => self.region(bound),
                _ => region.clone(),
            },
            _ => region.clone(),
        }
    }

    fn constant(&mut self, constant: &Const) -> Const {
        match constant {
            Const::Param(name) => match self.0.get(name) {
                Some(GenericArg::Const(bound)) if bound != constant => self.constant(bound),
                // A const parameter given as a path is read as a type.
                Some(GenericArg::Ty(Ty::Param(other))) if other != name => {
                    self.constant(&Const::Param(other.clone()))
                }
                _ => constant.clone(),
            },
            _ => constant.clone(),
        }
    }
}

/// The type with parameters replaced by what they are bound to.
pub fn apply(ty: &Ty, bindings: &Bindings) -> Ty {
    Apply(bindings, Vec::new()).ty(ty)
}

pub fn apply_trait(trait_: &TraitRef, bindings: &Bindings) -> TraitRef {
    Apply(bindings, Vec::new()).trait_ref(trait_)
}

pub fn apply_bound(bound: &testwright_model::Bound, bindings: &Bindings) -> testwright_model::Bound {
    Apply(bindings, Vec::new()).bound(bound)
}
