//! The worklist: from root types and free functions to every operation that they lead to.
//!
//! Each concrete type that occurs is taken from the queue once; the methods of its impls become operations, whose own types go
//! into the queue. Families stay coherent: one flavor is finished before the next begins, so that a budget cuts off variations first.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use testwright_model::api::{Function, GenericParam, Generics, ImplDef, ParamKind, TraitDef, TypeDef};
use testwright_model::operation::{Operations, Origin};
use testwright_model::ty::Folder;
use testwright_model::{Bound, GenericArg, OpId, TraitRef, Ty};

use crate::appetite;
use crate::callable::{self, Callable, Place, Reason};
use crate::choose::{Chooser, Refusal};
use crate::form::{self, Callee};
use crate::menu;
use crate::opened;
use crate::sign::Signature;
use crate::solve::{Answer, rename, rename_generics};
use crate::world::{Bindings, World, apply, apply_trait};

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
    pub fn new(world: &'w World<'a>, chooser: &'g Chooser<'s, 'w, 'a>, budget: usize) -> Self {
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
            self.std_operations();
            self.std_functions();
            self.std_operations();
        }
    }

    /// What the std model offers on the types that wait, and on those that this leads to.
    fn std_operations(&mut self) {
        while let Some((ty, generation)) = self.waiting.pop_front() {
            if self.full() {
                return;
            }
            self.phase = Phase::Std;
            self.type_operations(&ty, generation);
            self.phase = Phase::Subject;
            self.drain();
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

    fn type_operations(&mut self, ty: &Ty, generation: u8) {
        if ty.depth() > TYPE_DEPTH {
            return;
        }
        if let Ty::Adt { path, .. } = ty {
            if self.world.is_subject_path(path) {
                let mut instances = self.chooser.instances.borrow_mut();
                let known = instances.entry(path.clone()).or_default();
                if !known.contains(ty) {
                    known.push(ty.clone());
                }
            }
        }
        let subject = matches!(ty, Ty::Adt { path, .. } if self.world.is_subject_path(path));
        if subject == (self.phase == Phase::Subject) {
            self.construct(ty, generation);
        }
        let mut receivers = vec![ty.clone()];
        if subject {
            receivers.push(Ty::reference(ty.clone()));
            receivers.push(Ty::reference_mut(ty.clone()));
        } else if let Ty::Ref { to, .. } = ty {
            if self.world.is_unsized(to) {
                // Methods of `str`, slices and trait objects.
                receivers.push((**to).clone());
            } else {
                self.queue.push_back(((**to).clone(), generation));
            }
        }
        for receiver in receivers {
            let impls: Vec<&'a ImplDef> = self.world.impls_for(&receiver).collect();
            for def in impls {
                let of_reference = subject && matches!(receiver, Ty::Ref { .. });
                let fitting = !of_reference || self.world.is_subject_impl(def);
                if !def.negative && !def.synthetic && fitting {
                    self.impl_operations(def, &receiver, generation);
                }
            }
        }
    }

    /// An impl's generics under names that nothing else has, and how the old names map to them.
    fn renamed(&self, def: &ImplDef) -> (Generics, Bindings) {
        let number = self.chooser.solver.fresh();
        let renamed: Bindings = def.generics.params.iter().map(|param| rename(param, number)).collect();
        let mut generics = def.generics.clone();
        for param in &mut generics.params {
            param.name = format!("{}${number}", param.name);
        }
        rename_generics(&mut generics, &renamed);
        (generics, renamed)
    }

    /// The methods of one impl for one concrete type.
    fn impl_operations(&mut self, def: &'a ImplDef, ty: &Ty, generation: u8) {
        let own = self.world.is_subject_impl(def);
        if !own && self.phase == Phase::Subject {
            return;
        }
        if !own && (generation > appetite::GENERATIONS || !appetite::wants_impl(def, ty, generation)) {
            return;
        }
        if own && matches!(def.for_, Ty::Param(_)) {
            let uses = self.blanket_uses.entry(std::ptr::from_ref(def)).or_default();
            if *uses >= BLANKET {
                return;
            }
        }
        let named = self.chooser.name_regions(ty);
        let (generics, renamed) = self.renamed(def);
        let mut bindings = renamed;
        let for_ = apply(&def.for_, &bindings);
        if !self.chooser.solver.unify(&for_, &named, &mut bindings) {
            return;
        }
        if self.chooser.solver.wheres(&generics, &mut bindings, 0) == Answer::No {
            return;
        }
        if own && matches!(def.for_, Ty::Param(_)) {
            *self.blanket_uses.entry(std::ptr::from_ref(def)).or_default() += 1;
        }
        // Parameters of the impl that the type leaves open (`impl<T, U> Add<U> for Foo<T>`).
        let bindings = match self.chooser.choose(&generics, &bindings, self.flavor) {
            Ok(bindings) => bindings,
            Err(refusal) => {
                for function in &def.methods {
                    self.refuse(function, refusal.clone().into());
                }
                return;
            }
        };
        let methods = if own && self.phase == Phase::Std { &[][..] } else { &def.methods[..] };
        for function in methods {
            if !own && !appetite::wants_method(function, ty, generation) {
                continue;
            }
            let callee = match &def.trait_ {
                None => Site::Inherent(&named),
                Some(trait_) => Site::Trait(&named, apply_trait(trait_, &bindings)),
            };
            self.method(function, &callee, &generics, &bindings, own, generation);
        }
        for constant in def.assoc_consts.iter().filter(|_| self.phase == Phase::Subject).collect::<Vec<_>>() {
            self.assoc_constant(constant, &named, def, &bindings, own, generation);
        }
        if let Some(trait_) = &def.trait_ {
            let turn = if self.world.is_subject_path(&trait_.path) { Phase::Subject } else { Phase::Std };
            if let Some(trait_def) = self.world.trait_def(&trait_.path).filter(|_| turn == self.phase) {
                self.provided(trait_def, def, &named, &apply_trait(trait_, &bindings), own, generation);
            }
        }
    }

    /// Methods that a trait provides and the impl does not write itself.
    fn provided(
        &mut self,
        trait_def: &'a TraitDef,
        def: &ImplDef,
        self_ty: &Ty,
        trait_: &TraitRef,
        own: bool,
        generation: u8,
    ) {
        let subject_trait = self.world.is_subject_path(&trait_def.path);
        let mut bindings = Bindings::new();
        bindings.insert("Self".to_owned(), GenericArg::Ty(self_ty.clone()));
        for (param, arg) in trait_def.generics.params.iter().zip(&trait_.args) {
            bindings.insert(param.name.clone(), arg.clone());
        }
        for function in &trait_def.methods {
            let written = def.methods.iter().any(|method| method.name == function.name);
            // The std model's facts name no methods: there the required ones are called too.
            let wanted = if own { function.has_body } else { true };
            let worth =
                subject_trait || appetite::wants_provided(&trait_def.path, &function.name, own, generation);
            if wanted && worth && !written {
                let callee = Site::Trait(self_ty, trait_.clone());
                let generation = if subject_trait { generation } else { generation.max(1) };
                self.method(function, &callee, &trait_def.generics, &bindings, subject_trait, generation);
            }
        }
    }

    fn refuse(&mut self, function: &Function, reason: Reason) {
        if let Some(index) = self.by_definition.get(&std::ptr::from_ref(function)) {
            let callable = &mut self.callables[*index];
            if callable.refusal.is_none() || callable.refusal == Some(Reason::Budget) {
                callable.refusal = Some(reason);
            }
        }
    }

    /// One function for one concrete type.
    fn method(
        &mut self,
        function: &'a Function,
        site: &Site<'_>,
        outer: &Generics,
        bindings: &Bindings,
        own: bool,
        generation: u8,
    ) {
        if let Some(reason) = callable::refused(function) {
            return self.refuse(function, reason);
        }
        let callable = self.by_definition.get(&std::ptr::from_ref(function)).copied();
        if self.full() {
            return self.refuse(function, Reason::Budget);
        }
        if let Some(index) = callable {
            let known = &self.callables[index];
            if known.refusal.as_ref().is_some_and(Reason::is_out_of_reach) || self.failures[index] >= ATTEMPTS
            {
                return;
            }
        }
        // Every callable once before any gets variations.
        let forms = if self.flavor == 0 { 2 } else { FORMS };
        if callable.is_some_and(|index| self.callables[index].operations.len() >= forms) {
            return;
        }
        if let Site::Trait(self_ty, trait_) = site {
            if trait_.path == "std::ops::Drop" {
                return self.refuse(function, Reason::Drop);
            }
            if let Some(text) = form::format_string(&trait_.path) {
                return self.formatting(function, self_ty, text, callable, generation);
            }
        }
        let flavors = if own && has_structural_choice(function) { 2 } else { 1 };
        for variation in 0..flavors {
            if let Err(reason) = self.ground(
                function,
                site,
                outer,
                bindings,
                self.flavor + variation,
                callable,
                own,
                generation,
            ) {
                self.refuse(function, reason);
                if let Some(index) = callable {
                    self.failures[index] = self.failures[index].saturating_add(1);
                }
                break;
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one callable with everything that decides its concrete form"
    )]
    fn ground(
        &mut self,
        function: &'a Function,
        site: &Site<'_>,
        outer: &Generics,
        bindings: &Bindings,
        flavor: usize,
        callable: Option<usize>,
        own: bool,
        generation: u8,
    ) -> Result<(), Reason> {
        let number = self.chooser.solver.fresh();
        let (mut generics, params) = lift_impl_traits(function, number);
        let renamed: Bindings = generics.params.iter().map(|param| rename(param, number)).collect();
        for param in &mut generics.params {
            param.name = format!("{}${number}", param.name);
        }
        rename_generics(&mut generics, &renamed);
        let mut scope = bindings.clone();
        scope.extend(renamed.clone());
        // The bounds that this function adds may speak of the impl's parameters: apply what is known.
        rename_generics(&mut generics, &scope);
        let chosen = self.chooser.choose(&generics, &scope, flavor)?;
        let solver = self.chooser.solver;
        let params: Vec<(String, Ty)> =
            params.iter().map(|(name, ty)| (name.clone(), solver.normalise(ty, &chosen))).collect();
        let result = solver.normalise(&function.result, &chosen);
        if result == Ty::Never {
            return Err(Reason::NeverReturns);
        }
        let mut generics_seen = vec![outer];
        generics_seen.push(&generics);
        let callee = match site {
            Site::Free => Callee::Free { path: &function.path },
            Site::Inherent(self_ty) => Callee::Inherent { self_ty },
            Site::Trait(self_ty, trait_) => Callee::Trait { self_ty, trait_ },
        };
        let mut form = match function.docs.examples.first().and_then(|text| text.strip_prefix("expr:")) {
            Some(template) if !own => written(template, function),
            _ => {
                let mut named = bindings.clone();
                for param in &function.generics.params {
                    let renamed = format!("{}${number}", param.name);
                    if let Some(arg) = chosen.get(&renamed) {
                        let arg = match arg {
                            GenericArg::Ty(ty) => GenericArg::Ty(solver.normalise(ty, &chosen)),
                            other => other.clone(),
                        };
                        named.insert(param.name.clone(), arg);
                    }
                }
                form::call(&callee, function, &params, &named)
            }
        };
        let result = opened::result(result, &mut form)?;
        let mut signature = Signature::new(params, &result, &generics_seen);
        signature.open = function.params.iter().map(|(_, ty)| leaves_open(ty, &function.generics)).collect();
        // Names of the impl's lifetimes are only known under the bindings.
        signature.outlives = signature
            .outlives
            .iter()
            .map(|(a, b)| (region_name(a, &chosen), region_name(b, &chosen)))
            .collect();
        let subject = own && callable.is_some();
        let draft = Draft {
            path: function.path.clone(),
            origin: if subject {
                Origin::Subject(u32::try_from(callable.unwrap_or(0)).expect("few callables"))
            } else {
                Origin::Std
            },
            callable: if subject { callable } else { None },
            signature,
            form,
            panics: function.docs.panics.as_deref(),
            generation: if subject { 0 } else { generation + 1 },
        };
        self.add(draft)
    }

    /// `format!("{:?}", value)` stands for a call of `fmt`.
    fn formatting(
        &mut self,
        function: &'a Function,
        self_ty: &Ty,
        text: &str,
        callable: Option<usize>,
        generation: u8,
    ) {
        let own = callable.is_some();
        if !own {
            return;
        }
        if text == "{:p}" {
            return self.refuse(function, Reason::Unstorable("addresses differ from run to run".to_owned()));
        }
        let param = Ty::Ref {
            region: testwright_model::Region::Elided,
            mutable: false,
            to: Box::new(self_ty.clone()),
        };
        let params = vec![("value".to_owned(), param)];
        let draft = Draft {
            path: function.path.clone(),
            origin: Origin::Subject(u32::try_from(callable.unwrap_or(0)).expect("few callables")),
            callable,
            signature: Signature::new(params, &menu::string(), &[]),
            form: testwright_model::operation::Form {
                full: format!("std::format!(\"{text}\", {{0}})"),
                short: format!("format!(\"{text}\", {{*0}})"),
                ..Default::default()
            },
            panics: function.docs.panics.as_deref(),
            generation,
        };
        if let Err(reason) = self.add(draft) {
            self.refuse(function, reason);
        }
    }

    /// Enters an operation and puts its types into the queue.
    pub fn add(&mut self, draft: Draft<'_>) -> Result<(), Reason> {
        if self.full() {
            return Err(Reason::Budget);
        }
        let mut operation = draft
            .signature
            .operation(&mut self.operations, self.world, draft.path, draft.origin, draft.form)
            .map_err(Reason::Unstorable)?;
        let key = format!(
            "{} {:?} {:?}",
            operation.form.full,
            operation.params.iter().map(|param| (param.take, param.ty)).collect::<Vec<_>>(),
            operation.result
        );
        if !self.known.insert(key) {
            return Ok(());
        }
        operation.panics = draft.panics.map(str::to_owned);
        let id = OpId(u32::try_from(self.operations.operations.len()).expect("fewer than 2^32 operations"));
        let mut types: Vec<Ty> =
            operation.params.iter().map(|param| self.operations.ty(param.ty).clone()).collect();
        types.push(self.operations.ty(operation.result).clone());
        self.operations.operations.push(operation);
        self.signatures.push(draft.signature);
        if let Some(index) = draft.callable {
            self.callables[index].operations.push(id);
        }
        for ty in types {
            if !matches!(ty, Ty::Prim(_)) {
                self.queue.push_back((ty, draft.generation));
            }
        }
        Ok(())
    }

    fn free_items(&mut self) {
        let subject = self.world.subject;
        for function in &subject.functions {
            self.method(function, &Site::Free, &Generics::default(), &Bindings::new(), true, 0);
        }
        for constant in &subject.constants {
            self.constant(constant);
        }
    }

    fn std_functions(&mut self) {
        // The std model's free callables make vectors, arrays and filtered iterators of types that are in use.
        let types: Vec<Ty> = self.done.keys().cloned().collect();
        let mut wanted: Vec<Ty> = types.into_iter().filter(|ty| ty.depth() <= 4).collect();
        wanted.sort();
        for function in &self.world.std.functions {
            for ty in &wanted {
                self.std_function(function, ty);
            }
        }
    }

    /// A free callable of the std model, if its result can be the wanted type.
    fn std_function(&mut self, function: &'a Function, wanted: &Ty) {
        let number = self.chooser.solver.fresh();
        let renamed: Bindings = function.generics.params.iter().map(|param| rename(param, number)).collect();
        let result = apply(&function.result, &renamed);
        let mut bindings = renamed;
        let named = self.chooser.name_regions(wanted);
        if matches!(result, Ty::Param(_) | Ty::Proj { .. })
            || !self.chooser.solver.unify(&result, &named, &mut bindings)
        {
            return;
        }
        let mut fixed = Bindings::new();
        for param in &function.generics.params {
            if let Some(GenericArg::Ty(ty)) = bindings.get(&format!("{}${number}", param.name)) {
                fixed.insert(param.name.clone(), GenericArg::Ty(apply(ty, &bindings)));
            } else if let Some(other) = bindings.get(&format!("{}${number}", param.name)) {
                fixed.insert(param.name.clone(), other.clone());
            }
        }
        let concrete = concrete_function(function, &fixed);
        let generics = concrete.generics.clone();
        if self.chooser.solver.wheres(&generics, &mut fixed.clone(), 0) == Answer::No {
            return;
        }
        let _ = self.ground_std(&concrete, &fixed);
    }

    fn ground_std(&mut self, function: &Function, bindings: &Bindings) -> Result<(), Reason> {
        let template = function.docs.examples.first().and_then(|text| text.strip_prefix("expr:"));
        let plain = format!(
            "{}({})",
            function.path,
            (0..function.params.len()).map(|index| format!("{{{index}}}")).collect::<Vec<_>>().join(", ")
        );
        let template = template.unwrap_or(&plain);
        let chosen = self.chooser.choose(&function.generics, bindings, self.flavor)?;
        let solver = self.chooser.solver;
        let params: Vec<(String, Ty)> =
            function.params.iter().map(|(name, ty)| (name.clone(), solver.normalise(ty, &chosen))).collect();
        let result = solver.normalise(&function.result, &chosen);
        let mut signature = Signature::new(params, &result, &[&function.generics]);
        signature.open.fill(true);
        self.add(Draft {
            path: function.path.clone(),
            origin: Origin::Std,
            callable: None,
            signature,
            form: written(template, function),
            panics: function.docs.panics.as_deref(),
            generation: 1,
        })
    }

    /// Provided methods of the subject's traits that are implemented for whole families of types (`impl<T: Iterator> Ext for T`).
    fn extension_traits(&mut self) {
        let impls: Vec<&'a ImplDef> = self
            .world
            .subject
            .impls
            .iter()
            .filter(|def| def.trait_.is_some() && !def.negative && !def.synthetic)
            .filter(|def| !matches!(&def.for_, Ty::Adt { path, .. } if self.world.is_subject_path(path)))
            .collect();
        for def in impls {
            let own = self.chooser.solver.freshen(def);
            let chosen = match self.chooser.choose(&own.generics, &Bindings::new(), self.flavor) {
                Ok(chosen) => chosen,
                Err(refusal) => {
                    for function in &def.methods {
                        self.refuse(function, refusal.clone().into());
                    }
                    continue;
                }
            };
            let ty = self.chooser.solver.normalise(&own.for_, &chosen).erased();
            if ty.is_ground() && ty.depth() <= TYPE_DEPTH {
                if !self.world.is_unsized(&ty) {
                    self.queue.push_back((ty.clone(), 1));
                }
                self.impl_operations(def, &ty, 0);
            }
        }
        self.drain();
    }
}

/// The form that the std model gives for a callable.
fn written(template: &str, function: &Function) -> testwright_model::operation::Form {
    let full = template.trim().to_owned();
    let short = match full.strip_prefix("{0}.") {
        Some(rest) if function.has_receiver() => format!("{{self}}.{rest}"),
        _ => String::new(),
    };
    testwright_model::operation::Form { full, short, ..Default::default() }
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

/// Whether a second choice for the function's own parameters is worth an operation of its own.
fn has_structural_choice(function: &Function) -> bool {
    let structural = |bounds: &[Bound]| {
        bounds.iter().any(|bound| match bound {
            Bound::Trait { trait_, .. } => matches!(menu::structural(trait_, 0), menu::Structural::Types(_)),
            _ => false,
        })
    };
    function.generics.params.iter().any(|param| match &param.kind {
        ParamKind::Type { bounds, .. } => structural(bounds),
        _ => false,
    }) || function.params.iter().any(|(_, ty)| {
        let mut found = false;
        ty.walk(&mut |part| found |= matches!(part, Ty::Impl(bounds) if structural(bounds)));
        found
    })
}

/// Turns `impl Trait` arguments into generic parameters.
fn lift_impl_traits(function: &Function, number: u32) -> (Generics, Vec<(String, Ty)>) {
    struct Lift<'l>(&'l mut Vec<GenericParam>, u32);
    impl Folder for Lift<'_> {
        fn ty(&mut self, ty: &Ty) -> Ty {
            let Ty::Impl(bounds) = ty else { return self.descend(ty) };
            let bounds = bounds.iter().map(|bound| self.bound(bound)).collect();
            let name = format!("impl{}", self.0.len());
            self.0.push(GenericParam { name: name.clone(), kind: ParamKind::Type { bounds, default: None } });
            Ty::Param(format!("{name}${}", self.1))
        }
    }
    let mut generics = function.generics.clone();
    let params = {
        let mut lift = Lift(&mut generics.params, number);
        function.params.iter().map(|(name, ty)| (name.clone(), lift.ty(ty))).collect()
    };
    (generics, params)
}

/// Whether the type speaks of the function's own parameters.
fn leaves_open(ty: &Ty, generics: &Generics) -> bool {
    let mut open = false;
    ty.walk(&mut |part| {
        open |= match part {
            Ty::Param(name) => generics.params.iter().any(|param| param.name == *name),
            Ty::Impl(_) => true,
            _ => false,
        }
    });
    open
}

fn region_name(name: &str, bindings: &Bindings) -> String {
    let mut name = name.to_owned();
    for _ in 0..8 {
        match bindings.get(&name) {
            Some(GenericArg::Region(testwright_model::Region::Named(next))) if *next != name => {
                name.clone_from(next);
            }
            _ => break,
        }
    }
    name
}

/// The function with some parameters fixed and no longer generic.
fn concrete_function(function: &Function, fixed: &Bindings) -> Function {
    let mut concrete = function.clone();
    concrete.generics.params.retain(|param| !fixed.contains_key(&param.name));
    for (_, ty) in &mut concrete.params {
        *ty = apply(ty, fixed);
    }
    concrete.result = apply(&concrete.result, fixed);
    concrete
}
