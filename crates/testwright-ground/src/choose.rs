//! Fills the open generic parameters of a callable or impl with concrete types that satisfy all bounds.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use testwright_model::api::{Generics, ParamKind, Where};
use testwright_model::{Bound, Const, GenericArg, Region, TraitRef, Ty};

use crate::inquiry;
use crate::menu::{self, Structural};
use crate::solve::{Answer, Solver};
use crate::world::{Bindings, apply, apply_trait};

/// Why a callable has no concrete form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    Closure,
    /// No type at hand implements the trait: the user would have to.
    NeedsImpl(String),
    /// Nothing satisfies all bounds together.
    NoChoice(String),
}

/// Concrete types of the subject that exist so far, by path.
pub type Instances = BTreeMap<String, Vec<Ty>>;

#[derive(Debug)]
pub struct Chooser<'s, 'w, 'a> {
    pub solver: &'s Solver<'w, 'a>,
    pub instances: RefCell<Instances>,
    /// Answers of [`Chooser::implementing`], by trait, flavor, depth and number of instances.
    implementing: RefCell<Implementors>,
}

type Implementors = HashMap<(String, usize, u32, usize), Result<Vec<Ty>, Refusal>>;

/// Combinations that are looked at before giving up.
const NODES: u32 = 120;
/// Proof steps that one choice may take in all.
const FUEL: u32 = 5_000;

struct Open {
    name: String,
    kind: OpenKind,
}

enum OpenKind {
    Type { bounds: Vec<Bound> },
    Const { ty: Ty },
}

impl<'s, 'w, 'a> Chooser<'s, 'w, 'a> {
    pub fn new(solver: &'s Solver<'w, 'a>) -> Self {
        Chooser { solver, instances: RefCell::default(), implementing: RefCell::default() }
    }

    /// Binds every type and const parameter of `generics` that is still open.
    pub fn choose(
        &self,
        generics: &Generics,
        bindings: &Bindings,
        flavor: usize,
    ) -> Result<Bindings, Refusal> {
        self.solver.fuel.set(FUEL);
        let found = self.choose_at(generics, bindings, flavor, 0);
        self.solver.fuel.set(u32::MAX);
        found
    }

    fn choose_at(
        &self,
        generics: &Generics,
        bindings: &Bindings,
        flavor: usize,
        depth: u32,
    ) -> Result<Bindings, Refusal> {
        let mut open = open_params(generics, bindings);
        if open
            .iter()
            .any(|open| matches!(&open.kind, OpenKind::Type { bounds } if menu::asks_for_closure(bounds)))
        {
            return Err(Refusal::Closure);
        }
        // Parameters with bounds of the subject's own traits decide over others (`G: Graph<Node = N>`), iterators come last.
        open.sort_by_key(|open| match &open.kind {
            OpenKind::Type { bounds } => Self::rank(bounds),
            OpenKind::Const { .. } => 1,
        });
        let mut refusal = None;
        for strict in [true, false] {
            let mut nodes = 0;
            let found = self.search(
                &open,
                generics,
                bindings.clone(),
                flavor,
                strict,
                depth,
                &mut nodes,
                &mut refusal,
            );
            if let Some(found) = found {
                return Ok(found);
            }
            if refusal == Some(Refusal::Closure) {
                break;
            }
        }
        Err(refusal.unwrap_or_else(|| {
            Refusal::NoChoice(format!(
                "no types at hand satisfy all bounds of {}",
                open.iter().map(|open| base_name(&open.name)).collect::<Vec<_>>().join(", ")
            ))
        }))
    }

    fn rank(bounds: &[Bound]) -> u8 {
        let mut rank = 1;
        for bound in bounds {
            let Bound::Trait { trait_, .. } = bound else { continue };
            if !trait_.path.starts_with("std::") {
                return 0;
            }
            if !matches!(menu::structural(trait_, 0), Structural::Open) {
                rank = 2;
            }
        }
        rank
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one search, all of it needed at every level")]
    fn search(
        &self,
        open: &[Open],
        generics: &Generics,
        mut bindings: Bindings,
        flavor: usize,
        strict: bool,
        depth: u32,
        nodes: &mut u32,
        refusal: &mut Option<Refusal>,
    ) -> Option<Bindings> {
        *nodes += 1;
        if *nodes > NODES || self.solver.fuel.get() == 0 {
            return None;
        }
        let Some((next, rest)) = open.split_first() else {
            let answer = self.solver.wheres(generics, &mut bindings, 0);
            return (answer == Answer::Yes || (!strict && answer == Answer::Maybe)).then_some(bindings);
        };
        if bindings.contains_key(&next.name) {
            return self.search(rest, generics, bindings, flavor, strict, depth, nodes, refusal);
        }
        let OpenKind::Type { bounds } = &next.kind else {
            let OpenKind::Const { ty } = &next.kind else { return None };
            return menu::constants(ty, flavor).into_iter().find_map(|constant| {
                let mut trial = bindings.clone();
                trial.insert(next.name.clone(), GenericArg::Const(constant));
                self.search(rest, generics, trial, flavor, strict, depth, nodes, refusal)
            });
        };
        let bounds = self.all_bounds(&next.name, bounds, generics, &bindings);
        let candidates = match self.candidates(&next.name, &bounds, generics, &bindings, flavor, depth) {
            Ok(candidates) => candidates,
            Err(why) => {
                *refusal = Some(why);
                return None;
            }
        };
        let needs_static = bounds.iter().any(|bound| matches!(bound, Bound::Outlives(Region::Static)));
        let unsized_allowed = bounds.iter().any(|bound| matches!(bound, Bound::MaybeSized));
        for candidate in candidates {
            // `A: AsRef<[<A as Array>::Item]>` suggests a type with `A` in it, which no type is.
            let mut endless = false;
            candidate.walk(&mut |part| endless |= matches!(part, Ty::Param(name) if *name == next.name));
            if endless {
                continue;
            }
            if self.solver.world.is_unsized(&candidate) && !unsized_allowed {
                continue;
            }
            if needs_static && candidate.regions().iter().any(|region| *region != Region::Static) {
                continue;
            }
            let mut trial = bindings.clone();
            trial.insert(next.name.clone(), GenericArg::Ty(self.name_regions(&candidate)));
            let mut answer = Answer::Yes;
            for bound in &bounds {
                if let Bound::Trait { trait_, .. } = bound {
                    answer = answer.min(self.solver.prove(&candidate, trait_, &mut trial));
                }
            }
            if answer == Answer::No || (strict && answer == Answer::Maybe && rest.is_empty()) {
                continue;
            }
            let found = self.search(rest, generics, trial, flavor, strict, depth, nodes, refusal);
            if found.is_some() {
                return found;
            }
        }
        if refusal.is_none() {
            let own = bounds.iter().find_map(|bound| match bound {
                Bound::Trait { trait_, .. } if !trait_.path.starts_with("std::") => Some(trait_.path.clone()),
                _ => None,
            });
            *refusal = Some(match own {
                Some(path) if self.implementors(&path) == 0 => Refusal::NeedsImpl(path),
                _ => Refusal::NoChoice(format!(
                    "no type at hand for `{}: {}`",
                    base_name(&next.name),
                    bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
                )),
            });
        }
        None
    }

    fn implementors(&self, trait_path: &str) -> usize {
        self.solver.world.impls_of(trait_path).iter().filter(|def| !def.negative).count()
    }

    /// The bounds of a parameter, from its declaration and all where clauses, with what is known filled in.
    fn all_bounds(&self, name: &str, own: &[Bound], generics: &Generics, bindings: &Bindings) -> Vec<Bound> {
        let mut all: Vec<Bound> = own.to_vec();
        for clause in &generics.wheres {
            if let Where::Bound { ty: Ty::Param(of), bounds, .. } = clause {
                if of == name {
                    all.extend(bounds.iter().cloned());
                }
            }
        }
        all.iter()
            .map(|bound| match bound {
                Bound::Trait { trait_, binder } => {
                    let mut trait_ = apply_trait(trait_, bindings);
                    for (_, ty) in &mut trait_.assoc {
                        *ty = self.solver.normalise(ty, bindings);
                    }
                    Bound::Trait { trait_, binder: binder.clone() }
                }
                other => other.clone(),
            })
            .collect()
    }

    fn candidates(
        &self,
        name: &str,
        bounds: &[Bound],
        generics: &Generics,
        bindings: &Bindings,
        flavor: usize,
        depth: u32,
    ) -> Result<Vec<Ty>, Refusal> {
        if menu::asks_for_closure(bounds) {
            return Err(Refusal::Closure);
        }
        let mut all: Vec<Ty> = Vec::new();
        let add = |ty: Ty, all: &mut Vec<Ty>| {
            if !all.contains(&ty) {
                all.push(ty);
            }
        };
        // `K: Borrow<Q>` with `K` known says what `Q` can be.
        for ty in self.implied_by_others(name, generics, bindings) {
            add(ty, &mut all);
        }
        // What the tightest bound suggests; an iterator's `DoubleEndedIterator` is as good as its `Iterator`.
        for bound in bounds {
            let Bound::Trait { trait_, .. } = bound else { continue };
            match menu::structural(trait_, flavor) {
                Structural::Closure => return Err(Refusal::Closure),
                Structural::Types(types) => {
                    for ty in types {
                        add(ty, &mut all);
                    }
                }
                Structural::Open => {}
            }
        }
        // The impls of a subject's trait are all known: nothing else can satisfy such a bound.
        let own = bounds
            .iter()
            .filter_map(|bound| match bound {
                Bound::Trait { trait_, .. } if self.solver.world.is_subject_path(&trait_.path) => {
                    Some(trait_)
                }
                _ => None,
            })
            .min_by_key(|trait_| self.implementors(&trait_.path));
        if let Some(trait_) = own {
            all.retain(|ty| self.solver.prove(ty, trait_, &mut bindings.clone()) != Answer::No);
            for ty in self.implementing(trait_, flavor, depth)? {
                add(ty, &mut all);
            }
            return Ok(all);
        }
        for bound in bounds {
            let Bound::Trait { trait_, .. } = bound else { continue };
            if !trait_.path.starts_with("std::") {
                // Before adaptors of the subject's, which wrap such a type again.
                for ty in inquiry::implementors(self.solver.world.subject, trait_, flavor) {
                    add(ty, &mut all);
                }
                for ty in self.implementing(trait_, flavor, depth)? {
                    add(ty, &mut all);
                }
                // `Q: Equivalent<K>` of another crate: the argument itself is the usual answer.
                if let Some(GenericArg::Ty(arg)) = trait_.args.first() {
                    if arg.is_ground() {
                        add(arg.clone(), &mut all);
                    }
                }
            }
        }
        for ty in menu::plain(flavor) {
            add(ty, &mut all);
        }
        for instances in self.instances.borrow().values() {
            for ty in instances.iter().take(1) {
                add(ty.clone(), &mut all);
            }
        }
        Ok(all)
    }

    /// Candidates from clauses about other, known types.
    fn implied_by_others(&self, name: &str, generics: &Generics, bindings: &Bindings) -> Vec<Ty> {
        let mut found = Vec::new();
        let look = |ty: &Ty, bounds: &[Bound], found: &mut Vec<Ty>| {
            let ty = self.solver.normalise(ty, bindings);
            if !ty.is_ground() {
                return;
            }
            for bound in bounds {
                let Bound::Trait { trait_, .. } = bound else { continue };
                let mentions =
                    trait_.args.iter().any(|arg| matches!(arg, GenericArg::Ty(Ty::Param(p)) if p == name))
                        || trait_.assoc.iter().any(|(_, ty)| matches!(ty, Ty::Param(p) if p == name));
                if !mentions {
                    continue;
                }
                let mut trial = bindings.clone();
                if self.solver.prove(&ty, trait_, &mut trial) != Answer::No {
                    if let Some(GenericArg::Ty(bound)) = trial.get(name) {
                        let bound = self.solver.normalise(bound, &trial);
                        if bound.is_ground() {
                            found.push(bound);
                        }
                    }
                }
            }
        };
        for param in &generics.params {
            if let ParamKind::Type { bounds, .. } = &param.kind {
                look(&Ty::Param(param.name.clone()), bounds, &mut found);
            }
        }
        for clause in &generics.wheres {
            match clause {
                Where::Bound { ty, bounds, .. } => look(ty, bounds, &mut found),
                Where::Equal { left, right } => {
                    for (known, open) in [(left, right), (right, left)] {
                        if matches!(open, Ty::Param(p) if p == name) {
                            let known = self.solver.normalise(known, bindings);
                            if known.is_ground() {
                                found.push(known);
                            }
                        }
                    }
                }
                Where::Outlives { .. } => {}
            }
        }
        found
    }

    /// Types that implement a trait which is not std's.
    fn implementing(&self, trait_: &TraitRef, flavor: usize, depth: u32) -> Result<Vec<Ty>, Refusal> {
        let instances = self.instances.borrow().values().map(Vec::len).sum();
        let key = (trait_.path.clone(), flavor, depth.min(1), instances);
        if let Some(known) = self.implementing.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find_implementing(trait_, flavor, depth);
        self.implementing.borrow_mut().insert(key, found.clone());
        found
    }

    fn find_implementing(&self, trait_: &TraitRef, flavor: usize, depth: u32) -> Result<Vec<Ty>, Refusal> {
        let mut all = Vec::new();
        let mut closure = false;
        let mut later = Vec::new();
        for def in self.solver.world.impls_of(&trait_.path) {
            if def.negative || def.synthetic {
                continue;
            }
            let def = self.solver.freshen(def);
            let (inner, wrap): (&Ty, fn(Ty) -> Ty) = match &def.for_ {
                Ty::Ref { mutable: false, to, .. } => (to, Ty::reference),
                Ty::Ref { mutable: true, to, .. } => (to, Ty::reference_mut),
                other => (other, |ty| ty),
            };
            let mut known = Vec::new();
            if let Ty::Adt { path, .. } = inner {
                for instance in self.instances.borrow().get(path).into_iter().flatten().take(3) {
                    let mut trial = Bindings::new();
                    if self.solver.unify(inner, instance, &mut trial)
                        && self.solver.wheres(&def.generics, &mut trial, 1) != Answer::No
                    {
                        known.push(wrap(instance.clone()));
                    }
                }
            }
            // Adaptors over adaptors: below the first level only what exists already counts.
            let generic =
                def.generics.params.iter().any(|param| !matches!(param.kind, ParamKind::Lifetime { .. }));
            if known.is_empty() && (depth == 0 || !generic) {
                match self.choose_at(&def.generics, &Bindings::new(), flavor, depth + 1) {
                    Ok(bindings) => {
                        let ty = self.solver.normalise(&def.for_, &bindings).erased();
                        if ty.is_ground() {
                            if matches!(inner, Ty::Param(_)) { later.push(ty) } else { all.push(ty) }
                        }
                    }
                    Err(Refusal::Closure) => closure = true,
                    Err(_) => {}
                }
            }
            all.extend(known);
            if all.len() > 40 {
                break;
            }
        }
        all.extend(later);
        all.sort_by_key(oddity);
        if all.is_empty() && closure { Err(Refusal::Closure) } else { Ok(all) }
    }

    /// Gives every erased region of a chosen type a name of its own, so that the flow of borrows can be followed.
    pub fn name_regions(&self, ty: &Ty) -> Ty {
        crate::sign::map_regions(ty, &mut |region| match region {
            Region::Erased | Region::Elided => Region::Named(format!("'r${}", self.solver.fresh())),
            _ => region.clone(),
        })
    }
}

fn open_params(generics: &Generics, bindings: &Bindings) -> Vec<Open> {
    generics
        .params
        .iter()
        .filter(
            |param| !matches!(apply_param(&param.name, bindings), Some(ty) if !matches!(ty, Ty::Param(_))),
        )
        .filter(|param| !bindings.contains_key(&param.name))
        .filter_map(|param| {
            let kind = match &param.kind {
                ParamKind::Lifetime { .. } => return None,
                ParamKind::Type { bounds, .. } => OpenKind::Type { bounds: bounds.clone() },
                ParamKind::Const { ty, .. } => OpenKind::Const { ty: ty.clone() },
            };
            Some(Open { name: param.name.clone(), kind })
        })
        .collect()
}

fn apply_param(name: &str, bindings: &Bindings) -> Option<Ty> {
    bindings.contains_key(name).then(|| apply(&Ty::Param(name.to_owned()), bindings))
}

/// How unusual a type is as an implementor: arrays of about four elements are what people use.
fn oddity(ty: &Ty) -> usize {
    match ty {
        Ty::Array(_, Const::Value(len)) => len.parse::<usize>().map_or(1000, |len| len.abs_diff(4)),
        _ => 0,
    }
}

/// `T` of `T$12`.
pub fn base_name(name: &str) -> &str {
    name.split('$').next().unwrap_or(name)
}
