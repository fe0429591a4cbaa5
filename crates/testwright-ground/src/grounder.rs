//! The worklist: from root types and free functions to every operation that they lead to.
//!
//! Each concrete type that occurs is taken from the queue once; the methods of its impls become operations, whose own types go
//! into the queue. Families stay coherent: one flavor is finished before the next begins, so that a budget cuts off variations first.

mod free;
mod methods;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use testwright_model::api::{Function, GenericParam, Generics, ImplDef, ParamKind, TypeDef};
use testwright_model::law::{Added, Law};
use testwright_model::operation::{Operations, Origin};
use testwright_model::{Bound, GenericArg, TraitRef, Ty};

use crate::callable::{self, Callable, Place, Reason};
use crate::choose::{Chooser, Refusal};
use crate::menu;
use crate::sign::Signature;
use crate::solve::rename_generics;
use crate::world::{Bindings, World, apply_trait};

/// An operation that is about to be entered.
pub(crate) struct Draft<'d> {
    pub path: String,
    pub origin: Origin,
    pub callable: Option<usize>,
    pub signature: Signature,
    pub form: testwright_model::operation::Form,
    pub panics: Option<&'d str>,
    /// How far from the subject its types are.
    pub generation: u8,
}

pub(crate) struct Grounder<'g, 's, 'w, 'a> {
    pub world: &'w World<'a>,
    pub chooser: &'g Chooser<'s, 'w, 'a>,
    pub operations: Operations,
    pub signatures: Vec<Signature>,
    pub callables: Vec<Callable<'a>>,
    by_definition: BTreeMap<*const Function, usize>,
    known: HashSet<String>,
    queue: VecDeque<(Ty, u8)>,
    /// Types that wait for the std model's operations until the subject has had its turn.
    waiting: VecDeque<(Ty, u8)>,
    phase: Phase,
    /// Types taken from the queue, with the generation they were taken at.
    done: HashMap<Ty, u8>,
    /// By callable, how often no concrete form was found.
    failures: Vec<u8>,
    /// How often each `impl<T> Trait for T` of the subject was used in this flavor.
    blanket_uses: HashMap<*const ImplDef, usize>,
    flavor: usize,
    budget: usize,
    /// Laws of the crate's author.
    pub added: &'g [(Added, &'static Law)],
}

/// Whose operations are being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Subject,
    Std,
}

/// After so many types without a concrete form a callable is not tried on others.
const ATTEMPTS: u8 = 6;
/// How many types of a flavor an impl for all types is used with.
const BLANKET: usize = 3;
/// No callable gets more operations than this.
const FORMS: usize = 6;
/// Deeper types are not grounded.
const TYPE_DEPTH: usize = 6;

impl<'g, 's, 'w, 'a> Grounder<'g, 's, 'w, 'a> {
    pub fn new(
        world: &'w World<'a>,
        chooser: &'g Chooser<'s, 'w, 'a>,
        budget: usize,
        added: &'g [(Added, &'static Law)],
    ) -> Self {
        let callables = callable::list(world.subject);
        Grounder {
            world,
            chooser,
            operations: Operations::default(),
            signatures: Vec::new(),
            by_definition: callable::index(&callables),
            failures: vec![0; callables.len()],
            blanket_uses: HashMap::new(),
            callables,
            known: HashSet::new(),
            queue: VecDeque::new(),
            waiting: VecDeque::new(),
            phase: Phase::Subject,
            done: HashMap::new(),
            flavor: 0,
            budget,
            added,
        }
    }

    /// Grounds everything, flavor after flavor.
    pub fn run(&mut self) {
        self.queue.push_back((Ty::unit(), 0));
        for ty in [menu::string(), menu::vec_of(menu::int())] {
            self.queue.push_back((ty, 1));
        }
        for flavor in 0..menu::FLAVORS {
            self.flavor = flavor;
            self.blanket_uses.clear();
            if self.full() {
                break;
            }
            // Twice: adaptors find what the first round made.
            for _ in 0..2 {
                let roots = self.roots();
                for ty in roots {
                    self.queue.push_back((ty, 0));
                }
            }
            self.drain();
            self.special_instances();
            self.drain();
            self.free_items();
            self.extension_traits();
            self.drain();
            self.laws();
            self.std_operations();
            self.std_functions();
            self.std_operations();
        }
    }

    fn full(&self) -> bool {
        self.operations.operations.len() >= self.budget
    }

    /// One concrete form of every type of the subject.
    fn roots(&mut self) -> Vec<Ty> {
        let mut roots = Vec::new();
        for (path, def) in &self.world.subject.types {
            match self.instance(def) {
                Ok(ty) => {
                    let mut instances = self.chooser.instances.borrow_mut();
                    let known = instances.entry(path.clone()).or_default();
                    if !known.contains(&ty) {
                        known.push(ty.clone());
                        roots.push(ty);
                    }
                }
                Err(refusal) => self.refuse_type(path, &refusal),
            }
        }
        roots
    }

    /// A concrete form of a type that as many of its impls as possible accept.
    fn instance(&self, def: &TypeDef) -> Result<Ty, Refusal> {
        let args: Vec<GenericArg> = def.generics.params.iter().map(as_arg).collect();
        let mut generics = def.generics.clone();
        let mut ways = vec![generics.clone()];
        let mut with_traits = generics.clone();
        // Bounds stand on impls as often as on the type itself: collect those of inherent impls, the more the better.
        let generic = Ty::Adt { path: def.path.clone(), args: args.clone() };
        for imp in self.world.impls_for(&generic) {
            if imp.negative
                || imp.synthetic
                || !matches!(&imp.for_, Ty::Adt { path, .. } if *path == def.path)
            {
                continue;
            }
            let own = self.chooser.solver.freshen(imp);
            let mut bindings = Bindings::new();
            if !self.chooser.solver.unify(&own.for_, &generic, &mut bindings) {
                continue;
            }
            let mut renamed = own.generics.clone();
            rename_generics(&mut renamed, &bindings);
            // Only what speaks of the type's own parameters.
            let mut more = generics.clone();
            for param in &renamed.params {
                if let (ParamKind::Type { bounds, .. }, Some(GenericArg::Ty(Ty::Param(target)))) =
                    (&param.kind, bindings.get(&param.name))
                {
                    add_bounds(&mut more, target, bounds);
                }
            }
            if imp.trait_.is_none() {
                more.wheres.extend(renamed.wheres.iter().cloned());
                generics = more.clone();
                if ways.len() == 1 {
                    ways.push(more);
                }
            } else {
                with_traits = more;
            }
        }
        ways.push(generics);
        ways.push(with_traits);
        ways.reverse();
        ways.dedup();
        let mut first = None;
        for way in ways {
            let mut open = Bindings::new();
            if self.flavor == 0 {
                for param in &def.generics.params {
                    match &param.kind {
                        ParamKind::Type { default: Some(default), .. } => {
                            open.insert(param.name.clone(), GenericArg::Ty(default.clone()));
                        }
                        ParamKind::Const { default: Some(default), .. } => {
                            open.insert(param.name.clone(), GenericArg::Const(default.clone()));
                        }
                        _ => {}
                    }
                }
            }
            let found = self
                .chooser
                .choose(&way, &open, self.flavor)
                .or_else(|_| self.chooser.choose(&way, &Bindings::new(), self.flavor));
            match found {
                Ok(bindings) => {
                    let ty = self.chooser.solver.normalise(&generic, &bindings).erased();
                    if ty.is_ground() {
                        return Ok(ty);
                    }
                }
                Err(refusal) => {
                    first.get_or_insert(refusal);
                }
            }
        }
        Err(first.unwrap_or_else(|| Refusal::NoChoice(format!("no concrete form of {}", def.path))))
    }

    /// Impls that no type so far has met (`impl Graph<N, E, Undirected>`, `impl Iterator for Zip<(A, B)>`) get a type of their own.
    fn special_instances(&mut self) {
        let impls: Vec<&'a ImplDef> = self
            .world
            .subject
            .impls
            .iter()
            .filter(|def| !def.negative && !def.synthetic && !def.derived && !def.methods.is_empty())
            .collect();
        for def in impls {
            let lacking = def.methods.iter().any(|function| {
                let index = self.by_definition.get(&std::ptr::from_ref(function));
                index.is_some_and(|index| {
                    let callable = &self.callables[*index];
                    callable.operations.is_empty() && callable.refusal.is_none()
                })
            });
            let own = matches!(&def.for_, Ty::Adt { path, .. } if self.world.is_subject_path(path));
            if !lacking || !own || self.full() {
                continue;
            }
            let fresh = self.chooser.solver.freshen(def);
            match self.chooser.choose(&fresh.generics, &Bindings::new(), self.flavor) {
                Ok(bindings) => {
                    let ty = self.chooser.solver.normalise(&fresh.for_, &bindings).erased();
                    if ty.is_ground() && ty.depth() <= TYPE_DEPTH {
                        self.queue.push_back((ty, 0));
                        self.drain();
                    }
                    self.projected_impl(def);
                }
                Err(refusal) => {
                    for function in &def.methods {
                        self.refuse(function, refusal.clone().into());
                    }
                }
            }
        }
    }

    /// `impl<A: IntoIterator> From<(A,)> for Zip<(A::IntoIter,)>`: the type does not tell what `A` is, so the choice comes first and the
    /// type follows from it.
    fn projected_impl(&mut self, def: &'a ImplDef) {
        let (Some(trait_), true) = (&def.trait_, def.for_.has_projection()) else { return };
        let (generics, renamed) = self.renamed(def);
        let Ok(bindings) = self.chooser.choose(&generics, &renamed, self.flavor) else { return };
        let ty = self.chooser.solver.normalise(&def.for_, &bindings).erased();
        if !ty.is_ground() || ty.depth() > TYPE_DEPTH {
            return;
        }
        let named = self.chooser.name_regions(&ty);
        let callee = Site::Trait(&named, apply_trait(trait_, &bindings));
        for function in &def.methods {
            self.method(function, &callee, &generics, &bindings, true, 0);
        }
        self.drain();
    }

    fn refuse_type(&mut self, path: &str, refusal: &Refusal) {
        for callable in &mut self.callables {
            let (Place::Inherent(def) | Place::TraitImpl(def)) = callable.place else { continue };
            if callable.refusal.is_none() && mentions(&def.for_, path) {
                callable.refusal = Some(match refusal {
                    Refusal::Closure => Reason::Closure,
                    Refusal::NeedsImpl(path) => Reason::NeedsImpl(path.clone()),
                    Refusal::NoChoice(text) => Reason::NoReceiver(text.clone()),
                });
            }
        }
    }

    fn drain(&mut self) {
        while let Some((ty, generation)) = self.queue.pop_front() {
            if self.full() {
                continue;
            }
            if self.done.get(&ty).is_some_and(|earlier| *earlier <= generation) {
                continue;
            }
            self.done.insert(ty.clone(), generation);
            self.waiting.push_back((ty.clone(), generation));
            self.type_operations(&ty, generation);
        }
    }
}

/// Where a function stands.
pub(crate) enum Site<'t> {
    Free,
    Inherent(&'t Ty),
    Trait(&'t Ty, TraitRef),
}

/// A generic parameter as an argument.
pub(crate) fn as_arg(param: &GenericParam) -> GenericArg {
    match &param.kind {
        ParamKind::Lifetime { .. } => GenericArg::Region(testwright_model::Region::Named(param.name.clone())),
        ParamKind::Type { .. } => GenericArg::Ty(Ty::Param(param.name.clone())),
        ParamKind::Const { .. } => GenericArg::Const(testwright_model::Const::Param(param.name.clone())),
    }
}

fn add_bounds(generics: &mut Generics, target: &str, more: &[Bound]) {
    for param in &mut generics.params {
        if let (true, ParamKind::Type { bounds, .. }) = (param.name == target, &mut param.kind) {
            for bound in more {
                if !bounds.contains(bound) {
                    bounds.push(bound.clone());
                }
            }
        }
    }
}

fn mentions(ty: &Ty, path: &str) -> bool {
    let mut found = false;
    ty.walk(&mut |part| found |= matches!(part, Ty::Adt { path: own, .. } if own == path));
    found
}
