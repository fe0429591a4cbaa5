//! What the author of a crate wants of the search: names as `cargo testwright list` prints them in, operations and types out.

use std::collections::{BTreeMap, HashSet};

use testwright_harness::HarnessError;
use testwright_model::operation::{Operations, TypeId};
use testwright_model::ty::last_segment;
use testwright_model::{OpId, Ty};

use crate::EngineError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Called at the beginning of each sequence.
    pub setup: Vec<String>,
    /// Integers that are written out are not below and not above.
    pub least: Option<i128>,
    pub most: Option<i128>,
    /// By type, the only functions that make values of it for arguments.
    pub factories: BTreeMap<String, Vec<String>>,
    /// Types whose values all count as new.
    pub without_novelty: Vec<String>,
}

/// Wishes in terms of the operations at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    pub setup: Vec<OpId>,
    pub least: Option<i128>,
    pub most: Option<i128>,
    pub factories: BTreeMap<TypeId, Vec<OpId>>,
    pub without_novelty: HashSet<TypeId>,
}

impl Wishes {
    pub fn resolve(&self, operations: &Operations, usable: &HashSet<OpId>) -> Result<Resolved, EngineError> {
        let mut resolved = Resolved { least: self.least, most: self.most, ..Resolved::default() };
        for name in &self.setup {
            resolved.setup.push(called(name, operations, usable)?[0]);
        }
        for (name, functions) in &self.factories {
            let mut makers = Vec::new();
            for function in functions {
                makers.extend(called(function, operations, usable)?);
            }
            for ty in named(name, operations)? {
                let fitting = makers.iter().copied().filter(|op| operations.get(*op).result == ty);
                let fitting: Vec<OpId> = fitting.collect();
                if !fitting.is_empty() {
                    resolved.factories.insert(ty, fitting);
                }
            }
        }
        for name in &self.without_novelty {
            resolved.without_novelty.extend(named(name, operations)?);
        }
        Ok(resolved)
    }
}

impl Resolved {
    /// The nearest number that is wished for.
    pub fn clamp(&self, value: i128) -> i128 {
        let value = self.least.map_or(value, |least| value.max(least));
        self.most.map_or(value, |most| value.min(most))
    }
}

/// The usable operations of a function.
fn called(name: &str, operations: &Operations, usable: &HashSet<OpId>) -> Result<Vec<OpId>, EngineError> {
    let found: Vec<OpId> = operations
        .ids()
        .filter(|id| {
            usable.contains(id) && operations.get(*id).is_subject() && operations.get(*id).path == name
        })
        .collect();
    if found.is_empty() { Err(unknown("function", name)) } else { Ok(found) }
}

/// The types of a name, whatever their arguments.
fn named(name: &str, operations: &Operations) -> Result<Vec<TypeId>, EngineError> {
    let fits = |ty: &Ty| matches!(ty, Ty::Adt { path, .. } if path == name || last_segment(path) == name);
    let found: Vec<TypeId> =
        operations.types.iter().zip(0..).filter(|(ty, _)| fits(ty)).map(|(_, id)| TypeId(id)).collect();
    if found.is_empty() { Err(unknown("type", name)) } else { Ok(found) }
}

fn unknown(kind: &str, name: &str) -> EngineError {
    EngineError::Harness(HarnessError::Usage {
        message: format!("the configuration names a {kind} that the search does not use: `{name}`"),
        advice: Some("`cargo testwright list` shows the names".to_owned()),
    })
}
