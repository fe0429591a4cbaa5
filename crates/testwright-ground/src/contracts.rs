//! Which contracts are for which operations: each becomes a clause of their forms.

use testwright_model::api::{Shape, TypeKind};
use testwright_model::contract::{Clause, Contract, Kind, REFUSED, When};
use testwright_model::operation::{Operation, Take};
use testwright_model::ty::last_segment;
use testwright_model::{Api, GenericArg, Ty};

use crate::expression::{Name, Target, on_one_line, rewrite};
use crate::laws::is_named;
use crate::{Grounded, Signature};

impl Grounded<'_> {
    /// Enters a contract, whose number this is, into the operations that it is about; or says what stands in the way.
    pub fn add_contract(&mut self, api: &Api, number: u32, contract: &Contract) -> Result<(), String> {
        match contract.kind {
            Kind::Requires | Kind::Ensures => self.of_function(api, number, contract),
            Kind::Invariant => self.of_type(api, number, contract),
        }
    }

    fn of_function(&mut self, api: &Api, number: u32, contract: &Contract) -> Result<(), String> {
        let own = format!("{}::", api.lib);
        let wanted = contract.of.strip_prefix(&own).unwrap_or(&contract.of);
        let is_it = |path: &str| path == contract.of || path.strip_prefix(&own).unwrap_or(path) == wanted;
        let callables: Vec<_> =
            self.callables.iter().filter(|callable| is_it(&callable.function.path)).collect();
        if callables.is_empty() {
            let advice = "`cargo testwright list` shows the names";
            return Err(format!("there is no function `{}`; {advice}", contract.of));
        }
        let ids: Vec<_> = callables.iter().flat_map(|callable| &callable.operations).copied().collect();
        if ids.is_empty() {
            let why = callables.iter().find_map(|callable| callable.refusal.as_ref());
            let why = why.map_or("no value of its type is made".to_owned(), ToString::to_string);
            return Err(format!("`{}` is not called: {why}", contract.of));
        }
        for id in ids {
            let operation = &mut self.operations.operations[id.0 as usize];
            let after = contract.kind == Kind::Ensures;
            let mut names: Vec<Name> = (operation.params.iter().enumerate())
                .map(|(index, param)| Name {
                    word: param.name.clone(),
                    target: Target::Argument(index),
                    refers: param.take != Take::Value,
                })
                .collect();
            if after {
                names.retain(|name| name.word != "result");
                names.push(Name { word: "result".to_owned(), target: Target::Result, refers: false });
            }
            let expression = rewrite(&contract.expression, &names, after)?;
            let text = on_one_line(&contract.expression);
            operation.form.clauses.push(Clause {
                contract: number,
                kind: contract.kind,
                when: if after { When::After } else { When::Before },
                says: if after {
                    format!("ensures of `{}`: {text}", operation.path)
                } else {
                    format!("{REFUSED}{}: {text}", operation.path)
                },
                olds: expression.olds,
                holds: expression.parts,
                inside: None,
            });
        }
        Ok(())
    }

    fn of_type(&mut self, api: &Api, number: u32, contract: &Contract) -> Result<(), String> {
        let Some(def) = api.types.iter().find(|(path, _)| is_path(path, &contract.of)) else {
            return Err(format!("there is no public type `{}`", contract.of));
        };
        // Whoever can set a value's parts can break it without the library's help.
        let open = is_open(&def.1.kind);
        let mut found = false;
        for (index, signature) in self.signatures.iter().enumerate() {
            let of = |ty: &Ty| is_named(ty, &contract.of);
            let is_of = |id| of(self.operations.ty(id));
            let operation = &self.operations.operations[index];
            if !operation.is_subject() {
                continue;
            }
            let mut values = Vec::new();
            for (argument, param) in operation.params.iter().enumerate().filter(|(_, param)| is_of(param.ty))
            {
                if open {
                    values.push((Target::Argument(argument), When::Before, ""));
                }
                if param.take == Take::Mut && is_free_after(signature, argument) {
                    values.push((Target::Argument(argument), When::After, ""));
                }
            }
            if let Some(inside) = gives(self.operations.ty(operation.result), of) {
                values.push((Target::Result, When::After, inside));
            }
            let mut clauses = Vec::new();
            for (target, when, inside) in values {
                clauses.push(about(contract, number, operation, target, when, inside)?);
            }
            found |= clauses.iter().any(|clause| clause.when == When::After);
            self.operations.operations[index].form.clauses.extend(clauses);
        }
        if found {
            Ok(())
        } else {
            Err(format!("no call makes or changes a value of type `{}`", contract.of))
        }
    }
}

/// The clause of an invariant for one value of a call.
fn about(
    contract: &Contract,
    number: u32,
    operation: &Operation,
    target: Target,
    when: When,
    inside: &str,
) -> Result<Clause, String> {
    let name = Name { word: "self".to_owned(), target, refers: true };
    let expression = rewrite(&contract.expression, &[name], false)?;
    let text = on_one_line(&contract.expression);
    let says = format!("invariant of `{}`: {text}", last_segment(&contract.of));
    Ok(Clause {
        contract: number,
        kind: Kind::Invariant,
        when,
        says: if when == When::Before { format!("{REFUSED}{}: {says}", operation.path) } else { says },
        olds: Vec::new(),
        holds: expression.parts,
        inside: (!inside.is_empty()).then(|| inside.to_owned()),
    })
}

/// Whether nothing that the call leaves behind can hold on to the argument's borrow.
fn is_free_after(signature: &Signature, argument: usize) -> bool {
    let Ty::Ref { region, to, .. } = &signature.params[argument].1 else { return false };
    let others = signature.params.iter().enumerate().filter(|(index, _)| *index != argument);
    let mut elsewhere = others.flat_map(|(_, (_, ty))| ty.regions()).chain(to.regions());
    !elsewhere.any(|other| other == *region) && !signature.result.regions().contains(region)
}

/// Whether such a value is in the result, and inside what: `Some`, `Ok` or, as an empty text, nothing.
fn gives(result: &Ty, of: impl Fn(&Ty) -> bool) -> Option<&'static str> {
    if of(result) {
        return Some("");
    }
    let Ty::Adt { path, args } = result else { return None };
    let inside = match path.as_str() {
        "std::option::Option" => "Some",
        "std::result::Result" => "Ok",
        _ => return None,
    };
    matches!(args.first(), Some(GenericArg::Ty(ty)) if of(ty)).then_some(inside)
}

/// Whether another crate can set a part of a value.
fn is_open(kind: &TypeKind) -> bool {
    let open = |shape: &Shape| match shape {
        Shape::Unit => false,
        Shape::Tuple(parts) => parts.iter().any(Option::is_some),
        Shape::Named { fields, .. } => !fields.is_empty(),
    };
    match kind {
        TypeKind::Struct(shape) => open(shape),
        TypeKind::Enum(_) | TypeKind::Union => true,
    }
}

fn is_path(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("::{name}"))
}
