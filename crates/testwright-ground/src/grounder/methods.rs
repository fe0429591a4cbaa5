//! The methods of a type's impls, inherent and of traits, as operations.

use testwright_model::api::{Function, GenericParam, Generics, ImplDef, ParamKind, TraitDef};
use testwright_model::operation::Origin;
use testwright_model::ty::Folder;
use testwright_model::{Bound, GenericArg, OpId, TraitRef, Ty};

use super::{ATTEMPTS, BLANKET, Draft, FORMS, Grounder, Phase, Site, TYPE_DEPTH};
use crate::appetite;
use crate::callable::{self, Reason};
use crate::form::{self, Callee};
use crate::menu;
use crate::opened;
use crate::sign::Signature;
use crate::solve::{Answer, rename, rename_generics};
use crate::world::{Bindings, apply, apply_trait};

impl<'a> Grounder<'_, '_, '_, 'a> {
    pub(super) fn type_operations(&mut self, ty: &Ty, generation: u8) {
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
    pub(crate) fn renamed(&self, def: &ImplDef) -> (Generics, Bindings) {
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
    pub(super) fn impl_operations(&mut self, def: &'a ImplDef, ty: &Ty, generation: u8) {
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
        // Numbers of std have literals.
        let wants_constants = own && self.phase == Phase::Subject || !own && matches!(ty, Ty::Adt { .. });
        for constant in def.assoc_consts.iter().filter(|_| wants_constants) {
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
    pub(super) fn provided(
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

    pub(super) fn refuse(&mut self, function: &Function, reason: Reason) {
        if let Some(index) = self.by_definition.get(&std::ptr::from_ref(function)) {
            let callable = &mut self.callables[*index];
            if callable.refusal.is_none() || callable.refusal == Some(Reason::Budget) {
                callable.refusal = Some(reason);
            }
        }
    }

    /// One function for one concrete type.
    pub(super) fn method(
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
    pub(super) fn ground(
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
        let outcomes = if opened::is_nameless(&result, self.world) {
            opened::uses(&form).to_vec()
        } else {
            vec![(opened::result(result, &mut form)?, form)]
        };
        let subject = own && callable.is_some();
        for (result, form) in outcomes {
            let mut signature = Signature::new(params.clone(), &result, &generics_seen);
            signature.open =
                function.params.iter().map(|(_, ty)| leaves_open(ty, &function.generics)).collect();
            // Names of the impl's lifetimes are only known under the bindings.
            signature.outlives = signature
                .outlives
                .iter()
                .map(|(a, b)| (region_name(a, &chosen), region_name(b, &chosen)))
                .collect();
            self.add(Draft {
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
            })?;
        }
        Ok(())
    }

    /// `format!("{:?}", value)` stands for a call of `fmt`.
    pub(super) fn formatting(
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
}

/// The form that the std model gives for a callable.
pub(super) fn written(template: &str, function: &Function) -> testwright_model::operation::Form {
    let full = template.trim().to_owned();
    let short = match full.strip_prefix("{0}.") {
        Some(rest) if function.has_receiver() => format!("{{self}}.{rest}"),
        _ => String::new(),
    };
    testwright_model::operation::Form { full, short, ..Default::default() }
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
