//! What a test looks at when its calls are made: observers of what was changed or made last, and what is left of what was lent.

use std::collections::HashSet;

use testwright_model::operation::{Operation, Operations, Take, TypeId};
use testwright_model::sequence::{Arg, Closure, How, Sequence, Step, ValueId};
use testwright_model::{GenericArg, Ledger, OpId, Ty};

use super::facts::{concerns_subject, is_own};

/// A sequence with its observers.
#[derive(Clone, Debug)]
pub struct Observed {
    pub sequence: Sequence,
    /// The call that the test is about: the last one that is no observer.
    pub about: Option<usize>,
    /// How many steps there were before observers came.
    pub before: usize,
    /// Values that are looked at behind the last step.
    pub left: Vec<(usize, ValueId)>,
}

/// Observers of one value, and values that are looked at, at most.
const OBSERVERS: usize = 3;
const VALUES: usize = 2;

impl Observed {
    /// The sequence as it is, with nothing looked at.
    pub fn plainly(operations: &Operations, sequence: &Sequence) -> Observed {
        let about = (0..sequence.len()).rev().find(|step| concerns_subject(operations, sequence, *step));
        Observed { sequence: sequence.clone(), about, before: sequence.len(), left: Vec::new() }
    }

    pub fn of(operations: &Operations, usable: &HashSet<OpId>, sequence: &Sequence) -> Observed {
        let plain = Observed::plainly(operations, sequence);
        let Ok(ledger) = Ledger::replay(operations, &sequence.steps) else { return plain };
        let targets = targets(operations, sequence, plain.about, &ledger);
        let mut steps = sequence.steps.clone();
        for value in &targets {
            let calls = observers(operations, usable, ledger.ty(*value))
                .into_iter()
                .filter_map(|op| {
                    arguments(operations, sequence, op, *value).map(|args| Step::Call { op, args })
                })
                .filter(|call| !steps.contains(call));
            steps.extend(calls.take(OBSERVERS).collect::<Vec<_>>());
        }
        let with_calls = crate::repair::repair(operations, &steps);
        // A drop that the borrow rules demand in between would move what is behind it.
        let kept = with_calls.filter(|longer| longer.steps.starts_with(&sequence.steps));
        let sequence = kept.unwrap_or_else(|| sequence.clone());
        let Ok(ledger) = Ledger::replay(operations, &sequence.steps) else { return plain };
        let end = sequence.len().saturating_sub(1);
        let left = targets.into_iter().filter(|value| may_look(&ledger, *value)).map(|value| (end, value));
        Observed { left: left.collect(), sequence, ..plain }
    }
}

/// The values that calls of the crate changed last, and what the last one made if that is the crate's own.
fn targets(
    operations: &Operations,
    sequence: &Sequence,
    about: Option<usize>,
    ledger: &Ledger<'_>,
) -> Vec<ValueId> {
    let mut found: Vec<ValueId> = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate().rev() {
        let Step::Call { args, .. } = step else { continue };
        if concerns_subject(operations, sequence, index) {
            let changed = args.iter().filter(|arg| arg.how.is_mut()).map(|arg| arg.value);
            let new: Vec<ValueId> = changed.filter(|value| !found.contains(value)).collect();
            found.extend(new);
        }
    }
    found.truncate(VALUES);
    if let Some(about) = about.and_then(|about| u32::try_from(about).ok()).map(ValueId) {
        if !found.contains(&about) && is_own(operations, sequence, about) {
            found.insert(0, about);
        }
    }
    found.retain(|value| ledger.is_alive(*value));
    found
}

/// Whether the value can be read at the end, with nothing to be dropped for it.
fn may_look(ledger: &Ledger<'_>, value: ValueId) -> bool {
    if !ledger.is_alive(value) {
        return false;
    }
    let look = Step::Closure(Box::new(Closure {
        ty: ledger.ty(value),
        params: Vec::new(),
        captures: vec![Arg { value, how: How::Ref }],
        body: Sequence::default(),
        result: ValueId(0),
    }));
    ledger.drops_before(&look).is_ok_and(|drops| drops.is_empty())
}

/// The observers of a type, those that tell most first.
fn observers(operations: &Operations, usable: &HashSet<OpId>, ty: TypeId) -> Vec<OpId> {
    let mut found: Vec<(u8, String, OpId)> = operations
        .ids()
        .filter(|id| usable.contains(id))
        .filter_map(|id| {
            let operation = operations.get(id);
            let rank = rank(operations, operation, ty)?;
            Some((rank, operation.path.clone(), id))
        })
        .collect();
    found.sort();
    found.dedup_by(|one, other| one.1 == other.1);
    let has = |rank: u8| found.iter().any(|(other, ..)| *other == rank);
    let (content, len) = (has(CONTENT), has(LEN));
    // Whoever knows the content knows how much there is, and whoever knows how much, whether there is anything.
    found.retain(|(rank, ..)| !(content && matches!(*rank, LEN | EMPTY) || len && *rank == EMPTY));
    // The content in one form is enough, and so is one way to ask for a key: `get`, if there is one.
    for rank in [CONTENT, KEYED] {
        let one = found
            .iter()
            .filter(|(other, ..)| *other == rank)
            .max_by_key(|(_, path, _)| path.ends_with("::get"));
        let Some(one) = one.map(|(.., id)| *id) else { continue };
        found.retain(|(other, _, id)| *other != rank || *id == one);
    }
    found.into_iter().map(|(.., id)| id).collect()
}

const CONTENT: u8 = 0;
const LEN: u8 = 1;
const KEYED: u8 = 2;
const OTHER: u8 = 3;
/// What the length tells too.
const EMPTY: u8 = 4;

/// How much an observer of the type tells; `None` if it is none.
fn rank(operations: &Operations, operation: &Operation, ty: TypeId) -> Option<u8> {
    let result = operations.ty(operation.result);
    let first = operation.params.first().filter(|param| param.take == Take::Shared && param.ty == ty)?;
    let reads =
        operation.is_subject() && operation.panics.is_none() && !first.needs_static && is_written(result);
    let name = operation.path.rsplit("::").next().unwrap_or("");
    // How much room there is says more of the allocator than of the crate.
    if !reads || ["capacity", "hash", "as_ptr", "type_id"].iter().any(|word| name.contains(word)) {
        return None;
    }
    let of_trait = operation.path.starts_with('<');
    match operation.params.len() {
        1 if is_content(result) && (!of_trait || operation.path.contains(" as Deref>")) => Some(CONTENT),
        1 if name == "len" => Some(LEN),
        1 if name == "size_hint" => Some(EMPTY),
        1 if of_trait => None,
        1 if name == "is_empty" => Some(EMPTY),
        1 => Some(OTHER),
        2 if matches!(name, "get" | "contains" | "contains_key") && !of_trait => Some(KEYED),
        _ => None,
    }
}

/// The observer's arguments: the value, and a key that the sequence used.
fn arguments(operations: &Operations, sequence: &Sequence, op: OpId, value: ValueId) -> Option<Vec<Arg>> {
    let mut args = vec![Arg { value, how: How::Ref }];
    if let Some(key) = operations.get(op).params.get(1) {
        let made = |step: &Step| match step {
            Step::Literal { ty, .. } => *ty == key.ty,
            Step::Call { op, .. } => operations.get(*op).result == key.ty,
            _ => false,
        };
        let last = sequence.steps.iter().rposition(made).filter(|_| operations.abilities(key.ty).copy)?;
        let how = if key.take == Take::Shared { How::Ref } else { How::Copy };
        args.push(Arg { value: ValueId(u32::try_from(last).ok()?), how });
    }
    Some(args)
}

/// Whether values of the type can be written out in an assertion.
fn is_written(ty: &Ty) -> bool {
    match ty {
        Ty::Prim(_) | Ty::Str => true,
        Ty::Ref { mutable: false, to, .. } => is_written(to),
        Ty::Slice(of) | Ty::Array(of, _) => is_written(of),
        Ty::Tuple(parts) => !parts.is_empty() && parts.iter().all(|part| part.is_unit() || is_written(part)),
        Ty::Adt { path, args } => {
            let known = [
                "std::option::Option",
                "std::string::String",
                "std::vec::Vec",
                "std::boxed::Box",
                "testwright::Tracked",
            ];
            known.contains(&path.as_str())
                && args.iter().all(|arg| match arg {
                    GenericArg::Ty(ty) => ty.is_unit() || is_written(ty),
                    _ => true,
                })
        }
        _ => false,
    }
}

fn is_content(ty: &Ty) -> bool {
    match ty {
        Ty::Ref { to, .. } => matches!(**to, Ty::Str | Ty::Slice(_)),
        Ty::Adt { path, .. } => matches!(path.as_str(), "std::vec::Vec" | "std::string::String"),
        _ => false,
    }
}
