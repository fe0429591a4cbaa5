//! A small trait solver: does a type implement a trait, and what are its associated types?
//!
//! Receives goals with open parameters, which it binds; answers yes, no or "cannot tell", and the compiler has the last word.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use testwright_model::api::{Generics, ImplDef, ParamKind, Where};
use testwright_model::ty::Folder;
use testwright_model::{Bound, Const, GenericArg, Region, TraitRef, Ty};

use crate::inquiry;
use crate::world::{Bindings, World, apply, apply_trait};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    No,
    Maybe,
    Yes,
}

#[derive(Debug)]
pub struct Solver<'w, 'a> {
    pub world: &'w World<'a>,
    fresh: Cell<u32>,
    steps: Cell<u32>,
    /// Steps that the search under way may still take in all.
    pub fuel: Cell<u32>,
    /// Answers to closed questions.
    known: RefCell<HashMap<(Ty, TraitRef), Answer>>,
}

/// Proofs deeper than this are not followed.
const DEPTH: u32 = 5;
/// Steps that one question may take.
const STEPS: u32 = 1_500;

impl<'w, 'a> Solver<'w, 'a> {
    pub fn new(world: &'w World<'a>) -> Self {
        Solver {
            world,
            fresh: Cell::new(0),
            steps: Cell::new(0),
            fuel: Cell::new(u32::MAX),
            known: RefCell::default(),
        }
    }

    /// Whether `ty: trait_`; binds open parameters of both if there is one way to.
    pub fn prove(&self, ty: &Ty, trait_: &TraitRef, bindings: &mut Bindings) -> Answer {
        self.steps.set(0);
        self.goal(ty, trait_, bindings, 0)
    }

    /// The type with every projection that can be resolved replaced.
    pub fn normalise(&self, ty: &Ty, bindings: &Bindings) -> Ty {
        self.steps.set(0);
        self.reduce(&apply(ty, bindings), 0)
    }

    /// A number that no other name has.
    pub fn fresh(&self) -> u32 {
        self.fresh.set(self.fresh.get() + 1);
        self.fresh.get()
    }

    fn goal(&self, ty: &Ty, trait_: &TraitRef, bindings: &mut Bindings, depth: u32) -> Answer {
        self.steps.set(self.steps.get() + 1);
        self.fuel.set(self.fuel.get().saturating_sub(1));
        if depth > DEPTH || self.steps.get() > STEPS || self.fuel.get() == 0 {
            return Answer::Maybe;
        }
        let ty = self.reduce(&apply(ty, bindings), depth);
        let trait_ = apply_trait(trait_, bindings);
        match trait_.path.as_str() {
            "std::marker::Sized" => return if self.world.is_unsized(&ty) { Answer::No } else { Answer::Yes },
            "std::marker::Send"
            | "std::marker::Sync"
            | "std::marker::Unpin"
            | "std::marker::Freeze"
            | "std::panic::UnwindSafe"
            | "std::panic::RefUnwindSafe" => return self.auto(&ty, &trait_),
            _ => {}
        }
        if matches!(ty, Ty::Param(_) | Ty::Proj { .. } | Ty::Impl(_) | Ty::Unknown(_)) {
            return Answer::Maybe;
        }
        if let Ty::Dyn { bounds, .. } = &ty {
            if bounds
                .iter()
                .any(|bound| bound.path == trait_.path || self.is_supertrait(&trait_.path, &bound.path))
            {
                return Answer::Yes;
            }
        }
        if matches!(&ty, Ty::Adt { path, .. } if path == crate::menu::TRACKED) {
            let own = matches!(
                trait_.path.as_str(),
                "std::clone::Clone"
                    | "std::cmp::PartialEq"
                    | "std::cmp::Eq"
                    | "std::cmp::PartialOrd"
                    | "std::cmp::Ord"
                    | "std::hash::Hash"
                    | "std::fmt::Debug"
                    | "std::default::Default"
            );
            if own {
                // `PartialEq<U>` with `U` open means itself.
                for arg in &trait_.args {
                    if let GenericArg::Ty(arg) = arg {
                        if !self.unify(arg, &ty, bindings) {
                            return Answer::No;
                        }
                    }
                }
                return Answer::Yes;
            }
        }
        let closed = ty.is_ground() && is_closed(&trait_);
        if closed {
            let key = (ty.erased(), erase(&trait_));
            if let Some(answer) = self.known.borrow().get(&key) {
                return *answer;
            }
            let answer = self.by_impls(&ty, &trait_, bindings, depth);
            if (answer != Answer::Maybe || depth == 0) && self.fuel.get() > 0 {
                self.known.borrow_mut().insert(key, answer);
            }
            return answer;
        }
        self.by_impls(&ty, &trait_, bindings, depth)
    }

    fn by_impls(&self, ty: &Ty, trait_: &TraitRef, bindings: &mut Bindings, depth: u32) -> Answer {
        let mut best = Answer::No;
        let mut solved: Option<Bindings> = None;
        for def in self.world.impls_of(&trait_.path) {
            // Cheap refusal before anything is copied.
            if def.negative || !may_meet(&def.for_, ty) {
                continue;
            }
            let mut trial = bindings.clone();
            let answer = self.by_impl(def, ty, trait_, &mut trial, depth);
            if answer > best {
                best = answer;
                solved = Some(trial);
                if best == Answer::Yes {
                    break;
                }
            }
        }
        if let (Answer::Yes, Some(solved)) = (best, solved) {
            *bindings = solved;
            return Answer::Yes;
        }
        // A trait of another crate: its impls for foreign types are not in the subject's documentation.
        let foreign_trait = self.world.trait_def(&trait_.path).is_none();
        let own_type = matches!(ty, Ty::Adt { path, .. } if self.world.is_subject_path(path));
        if best == Answer::Yes || own_type || !foreign_trait {
            return best;
        }
        match inquiry::answer(self.world.subject, trait_, ty) {
            // What its associated types are was not asked.
            Some(true) if trait_.assoc.is_empty() && trait_.assoc_bounds.is_empty() => Answer::Yes,
            Some(false) => Answer::No,
            _ => Answer::Maybe,
        }
    }

    /// Auto traits: yes unless something inside is known not to.
    fn auto(&self, ty: &Ty, trait_: &TraitRef) -> Answer {
        let mut answer = Answer::Yes;
        ty.walk(&mut |part| {
            let no = match part {
                Ty::Adt { path, .. } => matches!(
                    (trait_.name(), path.as_str()),
                    ("Send" | "Sync", "std::rc::Rc" | "std::rc::Weak")
                        | ("Sync", "std::cell::Cell" | "std::cell::RefCell" | "std::cell::UnsafeCell")
                ),
                Ty::Ptr { .. } => matches!(trait_.name(), "Send" | "Sync"),
                Ty::Param(_) => {
                    answer = answer.min(Answer::Maybe);
                    false
                }
                _ => false,
            };
            if no {
                answer = Answer::No;
            }
        });
        let denied = self.world.impls_of(&trait_.path).iter().any(|def| {
            def.negative
                && may_meet(&def.for_, ty)
                && self.unify(&self.freshen(def).for_, ty, &mut Bindings::new())
        });
        if denied { Answer::No } else { answer }
    }

    fn is_supertrait(&self, candidate: &str, of: &str) -> bool {
        self.world.trait_def(of).is_some_and(|def| {
            def.supertraits.iter().any(|bound| match bound {
                Bound::Trait { trait_, .. } => {
                    trait_.path == candidate
                        || (trait_.path != of && self.is_supertrait(candidate, &trait_.path))
                }
                _ => false,
            })
        })
    }

    fn by_impl(
        &self,
        def: &ImplDef,
        ty: &Ty,
        trait_: &TraitRef,
        bindings: &mut Bindings,
        depth: u32,
    ) -> Answer {
        let def = self.freshen(def);
        let Some(own) = &def.trait_ else { return Answer::No };
        if !self.unify(&def.for_, ty, bindings) {
            return Answer::No;
        }
        for (own_arg, asked) in own.args.iter().zip(&trait_.args) {
            if !self.unify_arg(own_arg, asked, bindings, depth) {
                return Answer::No;
            }
        }
        let mut answer = self.wheres(&def.generics, bindings, depth + 1);
        if answer == Answer::No {
            return Answer::No;
        }
        for (name, asked) in &trait_.assoc {
            let Some((_, given)) = def.assoc_types.iter().find(|(own, _)| own == name) else {
                // Inherited from a supertrait (`DoubleEndedIterator<Item = T>`), or not modelled.
                let projection = Ty::Proj {
                    base: Box::new(ty.clone()),
                    trait_: self.trait_with_assoc(&trait_.path, name),
                    name: name.clone(),
                    args: Vec::new(),
                };
                let given = self.reduce(&apply(&projection, bindings), depth + 1);
                if matches!(given, Ty::Proj { .. }) {
                    answer = answer.min(Answer::Maybe);
                } else if !self.unify(&given, asked, bindings) {
                    return Answer::No;
                }
                continue;
            };
            let given = self.reduce(&apply(given, bindings), depth + 1);
            let asked = self.reduce(&apply(asked, bindings), depth + 1);
            if matches!(given, Ty::Proj { .. }) || matches!(asked, Ty::Proj { .. }) {
                answer = answer.min(Answer::Maybe);
            } else if !self.unify(&given, &asked, bindings) {
                return Answer::No;
            }
        }
        for (name, bounds) in &trait_.assoc_bounds {
            let Some((_, given)) = def.assoc_types.iter().find(|(own, _)| own == name) else { continue };
            let given = apply(given, bindings);
            answer = answer.min(self.bounds(&given, bounds, bindings, depth + 1));
        }
        answer
    }

    /// The trait, or the supertrait of it, that declares the associated type.
    fn trait_with_assoc(&self, path: &str, name: &str) -> Option<Box<TraitRef>> {
        let def = self.world.trait_def(path)?;
        if def.assoc_types.iter().any(|assoc| assoc.name == name) {
            return Some(Box::new(TraitRef::new(path)));
        }
        def.supertraits.iter().find_map(|bound| match bound {
            Bound::Trait { trait_, .. } if trait_.path != path => self.trait_with_assoc(&trait_.path, name),
            _ => None,
        })
    }

    /// Proves all bounds of a list of generics under the bindings.
    pub fn wheres(&self, generics: &Generics, bindings: &mut Bindings, depth: u32) -> Answer {
        let mut answer = Answer::Yes;
        for param in &generics.params {
            if let ParamKind::Type { bounds, .. } = &param.kind {
                answer = answer.min(self.bounds(&Ty::Param(param.name.clone()), bounds, bindings, depth));
                if answer == Answer::No {
                    return answer;
                }
            }
        }
        for clause in &generics.wheres {
            let clause = match clause {
                Where::Bound { ty, bounds, .. } => self.bounds(ty, bounds, bindings, depth),
                Where::Equal { left, right } => {
                    let left = self.reduce(&apply(left, bindings), depth);
                    let right = self.reduce(&apply(right, bindings), depth);
                    match (&left, &right) {
                        (Ty::Proj { .. }, _) | (_, Ty::Proj { .. }) => Answer::Maybe,
                        _ if self.unify(&left, &right, bindings) => Answer::Yes,
                        _ => Answer::No,
                    }
                }
                Where::Outlives { .. } => Answer::Yes,
            };
            answer = answer.min(clause);
            if answer == Answer::No {
                return answer;
            }
        }
        answer
    }

    fn bounds(&self, ty: &Ty, bounds: &[Bound], bindings: &mut Bindings, depth: u32) -> Answer {
        let mut answer = Answer::Yes;
        for bound in bounds {
            if let Bound::Trait { trait_, .. } = bound {
                answer = answer.min(self.goal(ty, trait_, bindings, depth));
                if answer == Answer::No {
                    break;
                }
            }
        }
        answer
    }

    /// Resolves projections, innermost first.
    fn reduce(&self, ty: &Ty, depth: u32) -> Ty {
        struct Reduce<'s, 'w, 'a>(&'s Solver<'w, 'a>, u32);
        impl Folder for Reduce<'_, '_, '_> {
            fn ty(&mut self, ty: &Ty) -> Ty {
                let ty = self.descend(ty);
                match &ty {
                    Ty::Proj { base, trait_, name, .. } => {
                        self.0.project(base, trait_.as_deref(), name, self.1).unwrap_or(ty)
                    }
                    _ => ty,
                }
            }
        }
        if depth > DEPTH {
            return ty.clone();
        }
        self.world.complete(&Reduce(self, depth).ty(ty))
    }

    fn project(&self, base: &Ty, trait_: Option<&TraitRef>, name: &str, depth: u32) -> Option<Ty> {
        if matches!(base, Ty::Param(_) | Ty::Proj { .. }) {
            return None;
        }
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > STEPS {
            return None;
        }
        let by = |def: &ImplDef, args: &[GenericArg]| -> Option<Ty> {
            if !may_meet(&def.for_, base) || !def.assoc_types.iter().any(|(own, _)| own == name) {
                return None;
            }
            let def = self.freshen(def);
            let (_, given) = def.assoc_types.iter().find(|(own, _)| own == name)?;
            let mut bindings = Bindings::new();
            if !self.unify(&def.for_, base, &mut bindings) {
                return None;
            }
            for (own, asked) in def.trait_.as_ref()?.args.iter().zip(args) {
                if !self.unify_arg(own, asked, &mut bindings, depth) {
                    return None;
                }
            }
            (self.wheres(&def.generics, &mut bindings, depth + 1) != Answer::No)
                .then(|| self.reduce(&apply(given, &bindings), depth + 1))
        };
        match trait_ {
            Some(trait_) => {
                if let Ty::Dyn { bounds, .. } = base {
                    let bound = bounds.iter().find(|bound| bound.path == trait_.path)?;
                    return bound.assoc.iter().find(|(own, _)| own == name).map(|(_, ty)| ty.clone());
                }
                self.world.impls_of(&trait_.path).iter().find_map(|def| by(def, &trait_.args))
            }
            None => self.world.impls_for(base).find_map(|def| by(def, &[])),
        }
    }

    fn unify_arg(&self, left: &GenericArg, right: &GenericArg, bindings: &mut Bindings, depth: u32) -> bool {
        match (left, right) {
            (GenericArg::Ty(left), GenericArg::Ty(right)) => {
                let left = self.reduce(&apply(left, bindings), depth + 1);
                let right = self.reduce(&apply(right, bindings), depth + 1);
                matches!(left, Ty::Proj { .. })
                    || matches!(right, Ty::Proj { .. })
                    || self.unify(&left, &right, bindings)
            }
            _ => unify_args(left, right, bindings),
        }
    }

    /// Makes both types equal by binding parameters; regions never differ.
    #[expect(clippy::unused_self, reason = "a question to the solver like its others")]
    pub fn unify(&self, left: &Ty, right: &Ty, bindings: &mut Bindings) -> bool {
        unify(&apply(left, bindings), &apply(right, bindings), bindings)
    }

    /// The impl with its parameters renamed so that they meet no others; without its methods, which no proof needs.
    pub fn freshen(&self, def: &ImplDef) -> ImplDef {
        let number = self.fresh();
        let renamed: Bindings = def.generics.params.iter().map(|param| rename(param, number)).collect();
        let mut generics = def.generics.clone();
        for param in &mut generics.params {
            param.name = format!("{}${number}", param.name);
        }
        rename_generics(&mut generics, &renamed);
        ImplDef {
            generics,
            trait_: def.trait_.as_ref().map(|trait_| apply_trait(trait_, &renamed)),
            for_: apply(&def.for_, &renamed),
            methods: Vec::new(),
            assoc_types: def
                .assoc_types
                .iter()
                .map(|(name, ty)| (name.clone(), apply(ty, &renamed)))
                .collect(),
            assoc_consts: Vec::new(),
            negative: def.negative,
            synthetic: def.synthetic,
            blanket: def.blanket,
            derived: def.derived,
            span: None,
        }
    }
}

/// Whether nothing in the trait's arguments is left to find out.
fn is_closed(trait_: &TraitRef) -> bool {
    trait_.args.iter().all(|arg| match arg {
        GenericArg::Ty(ty) => ty.is_ground(),
        GenericArg::Const(constant) => matches!(constant, Const::Value(_)),
        GenericArg::Region(_) => true,
    }) && trait_.assoc.iter().all(|(_, ty)| ty.is_ground())
        && trait_.assoc_bounds.is_empty()
}

fn erase(trait_: &TraitRef) -> TraitRef {
    struct Erase;
    impl Folder for Erase {
        fn region(&mut self, _: &Region) -> Region {
            Region::Erased
        }
    }
    Erase.trait_ref(trait_)
}

/// `T` → `T$7`, as a binding.
pub fn rename(param: &testwright_model::api::GenericParam, number: u32) -> (String, GenericArg) {
    let new = format!("{}${number}", param.name);
    let arg = match &param.kind {
        ParamKind::Lifetime { .. } => GenericArg::Region(Region::Named(new)),
        ParamKind::Type { .. } => GenericArg::Ty(Ty::Param(new)),
        ParamKind::Const { .. } => GenericArg::Const(Const::Param(new)),
    };
    (param.name.clone(), arg)
}

pub fn rename_generics(generics: &mut Generics, rename: &Bindings) {
    let bounds_of = |bounds: &mut Vec<Bound>| {
        for bound in bounds {
            *bound = crate::world::apply_bound(bound, rename);
        }
    };
    for param in &mut generics.params {
        if let ParamKind::Type { bounds, default } = &mut param.kind {
            bounds_of(bounds);
            if let Some(default) = default {
                *default = apply(default, rename);
            }
        }
    }
    for clause in &mut generics.wheres {
        match clause {
            Where::Bound { ty, bounds, .. } => {
                *ty = apply(ty, rename);
                bounds_of(bounds);
            }
            Where::Equal { left, right } => {
                *left = apply(left, rename);
                *right = apply(right, rename);
            }
            Where::Outlives { region, longer_than } => {
                for region in longer_than.iter_mut().chain([region]) {
                    if let Region::Named(name) = region {
                        if let Some(GenericArg::Region(new)) = rename.get(name) {
                            *region = new.clone();
                        }
                    }
                }
            }
        }
    }
}

/// Whether the outermost constructors allow the types to be equal.
fn may_meet(left: &Ty, right: &Ty) -> bool {
    match (left, right) {
        (Ty::Param(_) | Ty::Proj { .. }, _) | (_, Ty::Param(_) | Ty::Proj { .. }) => true,
        (Ty::Adt { path: left, .. }, Ty::Adt { path: right, .. }) => left == right,
        (Ty::Prim(left), Ty::Prim(right)) => left == right,
        (Ty::Ref { mutable: left, .. }, Ty::Ref { mutable: right, .. }) => left == right,
        (Ty::Tuple(left), Ty::Tuple(right)) => left.len() == right.len(),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

fn unify(left: &Ty, right: &Ty, bindings: &mut Bindings) -> bool {
    match (left, right) {
        (Ty::Param(a), Ty::Param(b)) if a == b => true,
        (Ty::Param(name), other) | (other, Ty::Param(name)) => bind(name, other, bindings),
        (Ty::Proj { .. }, _) | (_, Ty::Proj { .. }) => left == right,
        (Ty::Adt { path: a, args: left }, Ty::Adt { path: b, args: right }) => {
            a == b
                && left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| unify_args(left, right, bindings))
        }
        (
            Ty::Ref { mutable: a, to: left, region: left_region },
            Ty::Ref { mutable: b, to: right, region: right_region },
        ) => {
            unify_regions(left_region, right_region, bindings);
            a == b && unify_in(left, right, bindings)
        }
        (Ty::Ptr { mutable: a, to: left }, Ty::Ptr { mutable: b, to: right }) => {
            a == b && unify_in(left, right, bindings)
        }
        (Ty::Slice(left), Ty::Slice(right)) => unify_in(left, right, bindings),
        (Ty::Array(left, a), Ty::Array(right, b)) => {
            unify_in(left, right, bindings) && unify_consts(a, b, bindings)
        }
        (Ty::Tuple(left), Ty::Tuple(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| unify_in(l, r, bindings))
        }
        (Ty::FnPtr { params: a, result: ra }, Ty::FnPtr { params: b, result: rb }) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(l, r)| unify_in(l, r, bindings))
                && unify_in(ra, rb, bindings)
        }
        _ => left.erased() == right.erased(),
    }
}

/// Unifies parts after what was bound meanwhile.
fn unify_in(left: &Ty, right: &Ty, bindings: &mut Bindings) -> bool {
    let (left, right) = (apply(left, bindings), apply(right, bindings));
    unify(&left, &right, bindings)
}

fn bind(name: &str, ty: &Ty, bindings: &mut Bindings) -> bool {
    let mut occurs = false;
    ty.walk(&mut |part| occurs |= matches!(part, Ty::Param(inner) if inner == name));
    if occurs {
        return false;
    }
    bindings.insert(name.to_owned(), GenericArg::Ty(ty.clone()));
    true
}

fn unify_args(left: &GenericArg, right: &GenericArg, bindings: &mut Bindings) -> bool {
    match (left, right) {
        (GenericArg::Ty(left), GenericArg::Ty(right)) => unify_in(left, right, bindings),
        (GenericArg::Region(left), GenericArg::Region(right)) => {
            unify_regions(left, right, bindings);
            true
        }
        (GenericArg::Const(left), GenericArg::Const(right)) => unify_consts(left, right, bindings),
        (GenericArg::Ty(Ty::Param(name)), GenericArg::Const(constant))
        | (GenericArg::Const(constant), GenericArg::Ty(Ty::Param(name))) => {
            unify_consts(&Const::Param(name.clone()), constant, bindings)
        }
        _ => false,
    }
}

fn unify_consts(left: &Const, right: &Const, bindings: &mut Bindings) -> bool {
    let known = |constant: &Const, bindings: &Bindings| match constant {
        Const::Param(name) => match bindings.get(name) {
            Some(GenericArg::Const(bound)) => bound.clone(),
            _ => constant.clone(),
        },
        _ => constant.clone(),
    };
    let (left, right) = (known(left, bindings), known(right, bindings));
    match (&left, &right) {
        _ if left == right => true,
        (Const::Param(name), other) | (other, Const::Param(name)) => {
            bindings.insert(name.clone(), GenericArg::Const(other.clone()));
            true
        }
        (Const::Expr(_), _) | (_, Const::Expr(_)) => true,
        _ => false,
    }
}

fn unify_regions(left: &Region, right: &Region, bindings: &mut Bindings) {
    for (from, to) in [(left, right), (right, left)] {
        if let Region::Named(name) = from {
            // Only parameters of a freshened impl are open; the regions of a signature stay as they are.
            if name.contains('$') && !bindings.contains_key(name) && to != from {
                bindings.insert(name.clone(), GenericArg::Region(to.clone()));
                return;
            }
        }
    }
}
