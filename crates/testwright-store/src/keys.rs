//! Names of operations and types that mean the same in every run, and sequences in other numbers.

use std::collections::HashMap;

use testwright_model::OpId;
use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::sequence::{Sequence, Step};

/// One key for each operation, in order: path, signature with its concrete types, and how it is called.
pub(crate) fn operation_keys(operations: &Operations) -> Vec<String> {
    let key = |operation: &testwright_model::Operation| {
        let params: Vec<String> = operation
            .params
            .iter()
            .map(|param| {
                let take = match param.take {
                    Take::Value => "",
                    Take::Shared => "&",
                    Take::Mut => "&mut ",
                };
                format!("{take}{}", operations.ty(param.ty))
            })
            .collect();
        let (params, result) = (params.join(", "), operations.ty(operation.result));
        format!("{}({params}) -> {result} as {}", operation.path, operation.form.full)
    };
    numbered(operations.operations.iter().map(key))
}

pub(crate) fn type_keys(operations: &Operations) -> Vec<String> {
    numbered(operations.types.iter().map(ToString::to_string))
}

/// Two of the same name are told apart by their order.
fn numbered(keys: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    keys.map(|key| {
        let times = seen.entry(key.clone()).or_default();
        *times += 1;
        if *times == 1 { key } else { format!("{key} #{times}") }
    })
    .collect()
}

/// Other numbers for operations and types; `None` for those that do not exist there.
#[derive(Debug, Default)]
pub(crate) struct Renumbering {
    pub operations: HashMap<u32, u32>,
    pub types: HashMap<u32, u32>,
}

impl Renumbering {
    /// The sequence in the other numbers.
    pub fn apply(&self, sequence: &Sequence) -> Option<Sequence> {
        let mut sequence = sequence.clone();
        for step in &mut sequence.steps {
            match step {
                Step::Call { op, .. } => *op = OpId(*self.operations.get(&op.0)?),
                Step::Literal { ty, .. } => *ty = self.ty(*ty)?,
                Step::Closure(closure) => {
                    closure.ty = self.ty(closure.ty)?;
                    for param in &mut closure.params {
                        *param = self.ty(*param)?;
                    }
                    closure.body = self.apply(&closure.body)?;
                }
                Step::Drop(_) | Step::Forget(_) => {}
            }
        }
        Some(sequence)
    }

    fn ty(&self, ty: TypeId) -> Option<TypeId> {
        self.types.get(&ty.0).copied().map(TypeId)
    }
}
