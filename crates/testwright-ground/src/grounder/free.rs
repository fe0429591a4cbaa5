//! Free functions and constants of the subject, extension traits, and what the std model offers.

use testwright_model::api::{Function, Generics, ImplDef};
use testwright_model::operation::Origin;
use testwright_model::{GenericArg, Ty};

use super::methods::written;
use super::{Draft, Grounder, Phase, Site, TYPE_DEPTH};
use crate::callable::Reason;
use crate::sign::Signature;
use crate::solve::{Answer, rename};
use crate::world::{Bindings, apply};

impl<'a> Grounder<'_, '_, '_, 'a> {
    /// What the std model offers on the types that wait, and on those that this leads to.
    pub(super) fn std_operations(&mut self) {
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

    pub(super) fn free_items(&mut self) {
        let subject = self.world.subject;
        for function in &subject.functions {
            self.method(function, &Site::Free, &Generics::default(), &Bindings::new(), true, 0);
        }
        for constant in &subject.constants {
            self.constant(constant);
        }
    }

    pub(super) fn std_functions(&mut self) {
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
    pub(super) fn std_function(&mut self, function: &'a Function, wanted: &Ty) {
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

    pub(super) fn ground_std(&mut self, function: &Function, bindings: &Bindings) -> Result<(), Reason> {
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
    pub(super) fn extension_traits(&mut self) {
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
