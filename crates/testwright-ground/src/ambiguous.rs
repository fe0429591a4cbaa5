//! Methods whose name alone does not say which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use testwright_model::Ty;
use testwright_model::operation::{Operation, Operations, Take};

/// A test imports the traits of all its calls: a method's name that two of them have is written out in full. A type's own method is
/// meant before any trait's, unless the trait's takes the value and the own one borrows it.
pub fn clear(operations: &mut Operations) {
    let method = |form: &str| {
        let rest = form.strip_prefix("{self}.").or_else(|| form.strip_prefix("({0})."))?;
        Some(rest.split(['(', ':']).next().unwrap_or(rest).to_owned())
    };
    let mut traits: BTreeMap<String, BTreeSet<(String, Receiver)>> = BTreeMap::new();
    for operation in &operations.operations {
        let name = method(&operation.form.short);
        if let (Some(name), Some(path)) = (name, operation.form.traits.first()) {
            traits
                .entry(name)
                .or_default()
                .extend(Receiver::of(operations, operation).map(|of| (path.clone(), of)));
        }
    }
    let ambiguous: Vec<bool> = operations
        .operations
        .iter()
        .map(|operation| {
            let others = method(&operation.form.short).and_then(|name| traits.get(&name));
            let (own, receiver) = (operation.form.traits.first(), Receiver::of(operations, operation));
            others.into_iter().flatten().any(|(path, other)| match (own, &receiver) {
                (Some(own), _) => path != own,
                (None, Some(receiver)) => other.ty == receiver.ty && other.borrows < receiver.borrows,
                (None, None) => true,
            })
        })
        .collect();
    for (operation, _) in operations.operations.iter_mut().zip(ambiguous).filter(|(_, ambiguous)| *ambiguous)
    {
        operation.form.short.clear();
        operation.form.traits.clear();
    }
}

/// What a method is called on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Receiver {
    /// The type's name without its arguments, or the type as it is written.
    ty: String,
    /// How it is borrowed for the call: not at all, shared, to change it. The compiler tries them in this order.
    borrows: u8,
}

impl Receiver {
    fn of(operations: &Operations, operation: &Operation) -> Option<Self> {
        let param = operation.params.first()?;
        let ty = operations.ty(param.ty);
        let (ty, borrows) = match (param.take, ty) {
            (Take::Value, Ty::Ref { mutable, to, .. }) => (&**to, 1 + u8::from(*mutable)),
            (Take::Value, ty) => (ty, 0),
            (Take::Shared, ty) => (ty, 1),
            (Take::Mut, ty) => (ty, 2),
        };
        let ty = match ty {
            Ty::Adt { path, .. } => path.clone(),
            other => other.to_string(),
        };
        Some(Receiver { ty, borrows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_model::operation::{Flow, Form, Origin, Param};

    #[test]
    fn a_types_own_method_needs_no_full_name_if_it_comes_first() {
        let mut operations = Operations::default();
        let (rope, list) = (Ty::adt("a::Rope", Vec::new()), Ty::adt("a::List", Vec::new()));
        let mut add = |path: &str, take, ty: &Ty, of_trait: &[&str]| {
            let param = Param {
                name: "self".to_owned(),
                take,
                ty: operations.type_id(ty),
                needs_static: false,
                open: false,
            };
            let name = path.rsplit("::").next().unwrap_or(path);
            let form = Form {
                short: format!("{{self}}.{name}()"),
                full: format!("{path}({{0}})"),
                traits: of_trait.iter().map(|path| (*path).to_owned()).collect(),
                ..Form::default()
            };
            operations.operations.push(Operation {
                path: path.to_owned(),
                origin: Origin::Subject(0),
                params: vec![param],
                result: testwright_model::operation::TypeId(0),
                flow: Flow::default(),
                form,
                panics: None,
                grounding: String::new(),
            });
        };
        add("Rope::lines", Take::Shared, &rope, &[]);
        add("<List as BufRead>::lines", Take::Value, &list, &["std::io::BufRead"]);
        add("List::lines", Take::Shared, &list, &[]);
        add("Rope::count", Take::Value, &rope, &[]);
        add("<Rope as Iterator>::count", Take::Value, &rope, &["std::iter::Iterator"]);
        add("<List as Count>::count", Take::Shared, &list, &["a::Count"]);
        clear(&mut operations);
        let short: Vec<&str> =
            operations.operations.iter().map(|operation| operation.form.short.as_str()).collect();
        assert_eq!(short, ["{self}.lines()", "{self}.lines()", "", "{self}.count()", "", ""]);
    }
}
