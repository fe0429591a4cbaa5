//! What an execution means: passes, the caller's fault, or the library's.
//!
//! Receives facts ([`Execution`]) and the sequence; hands on a [`Verdict`]. The rules are those of the design: a documented panic
//! is the caller's fault; overflow, indexing, `unwrap` and the like inside the library are bugs; an explicit, undocumented
//! panic is listed apart.

mod arguments;
mod contracts;
pub mod place;
mod words;

use testwright_execute::{Ending, Execution, Phase};
use testwright_model::OpId;
use testwright_model::law::{Confidence, Law};
use testwright_model::operation::{Operation, Operations, Origin};
use testwright_model::sequence::{Sequence, Step};

pub use arguments::history;
use arguments::{
    asks_for_much, borrows_itself, has_foreign_index, has_made_up_index, is_beyond_memory, is_made_by_hand,
    is_made_up, is_of_subject, is_set_to_the_end, takes_unknown_number,
};
use contracts::{Breach, breach};
pub use contracts::{FORBIDDEN, is_forbidden, is_said_to_be_forbidden};
use words::{
    asks, broken_promise, cannot_refuse, classify, explodes, is_arithmetic, is_borrow_conflict,
    is_failed_writing, is_full, is_memory_check, is_namesake, is_unchecked, leaks_on_purpose, promises,
    speaks_of, speaks_of_place, steady, wants_room,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passes,
    /// The caller's fault, or ours.
    Illegal(&'static str),
    Failing(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub tier: Tier,
    pub class: &'static str,
    pub operation: String,
    /// The step that failed.
    pub step: usize,
    pub message: String,
    pub file: String,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Bug,
    UndocumentedPanic,
    /// A law by name alone is broken.
    Hint,
}

impl Tier {
    /// Reports know two tiers; a hint is of the lower one, see [`Tier::confidence`].
    pub fn name(self) -> &'static str {
        match self {
            Tier::Bug => "bug",
            Tier::UndocumentedPanic | Tier::Hint => "undocumented-panic",
        }
    }

    pub fn confidence(self) -> &'static str {
        match self {
            Tier::Bug | Tier::UndocumentedPanic => "certain",
            Tier::Hint => testwright_emit::report::HINT,
        }
    }
}

impl Failure {
    /// The lower, the worse: what breaks memory or ends the process comes before panics.
    pub fn severity(&self) -> u8 {
        match self.class {
            "memory" => 0,
            "abort" | "stack-overflow" => 1,
            _ => 2,
        }
    }

    /// Failures with the same key are one finding.
    pub fn key(&self) -> (String, String, String, u32) {
        // Contracts that our own calls check have no place in the library; their words tell them apart.
        // So do those of refused memory: some is granted to a test, some is not.
        let by_words = self.file.is_empty() && (self.is_contract() || self.class == "out-of-memory");
        let place = if by_words { &self.message } else { &self.file };
        (self.class.to_owned(), self.operation.clone(), place.clone(), self.line)
    }

    /// Whether a contract is broken.
    pub fn is_contract(&self) -> bool {
        self.class.starts_with("contract:")
    }
}

/// A literal from which on a demand for memory is our own doing.
pub const ABSURD: i128 = 1 << 16;
/// The same where memory may grow with the square of the number.
const ABSURD_MEMORY: i128 = 1 << 9;

/// The class of values that are never dropped.
pub const LEAK: &str = "leak";

/// Why a panic of std's own operation is dismissed.
pub const STD_MISUSED: &str = "a std operation was called wrongly";

/// Why a panic that the documentation announces is dismissed.
pub const DOCUMENTED: &str = "documented panic";

/// Where the code of our own calls lies.
const OURS: [&str; 2] = ["wrappers/src/", "worker/src/"];

/// Whether a panic's place is in the code of our own calls.
pub fn is_ours(file: &str) -> bool {
    OURS.iter().any(|folder| file.starts_with(folder))
}

/// Whether a panic's place is neither in the library nor in a dependency of it.
pub fn is_outside(file: &str) -> bool {
    file.is_empty() || file.starts_with("/rustc/") || is_ours(file)
}

pub fn judge(operations: &Operations, sequence: &Sequence, execution: &Execution) -> Verdict {
    let (class, message, file, line) = match execution.ending {
        Ending::Completed => {
            return leak(operations, sequence, execution).map_or(Verdict::Passes, Verdict::Failing);
        }
        Ending::Truncated => return Verdict::Passes,
        Ending::Refused => return Verdict::Illegal("refused by the worker"),
        Ending::Killed(_) => return Verdict::Illegal("killed from outside"),
        Ending::Panicked | Ending::DropPanicked | Ending::ObservePanicked => {
            let panic = execution.panic().cloned().unwrap_or_default();
            ("panic", panic.message, panic.file, panic.line)
        }
        _ => death(execution),
    };
    // `#[track_caller]`: the place is the call itself, which is ours.
    let ours = is_ours(&file);
    let (file, line) = if ours { (String::new(), 0) } else { (file, line) };
    let Some((step, op)) = culprit(sequence, execution) else {
        return Verdict::Illegal("no operation to blame");
    };
    let operation = operations.get(op);
    if let Some(law) = operation.law() {
        match class {
            "panic" if has_made_up_index(operations, sequence, step) => {
                return Verdict::Illegal("a law of what was given an index that it did not give");
            }
            "panic" if is_made_by_hand(operations, sequence, step) => {
                return Verdict::Illegal("a law of what was changed by hand");
            }
            "panic" if law.shows_panics && !message.contains(law.says) => {}
            "panic" => return broken_law(law, operation, step, &message, &file),
            "hang" | "out-of-memory" => return Verdict::Illegal("a law that takes too much"),
            _ => {}
        }
    }
    if let Some(breach) = breach(operation, &message, ours).filter(|_| class == "panic") {
        return broken_contract(breach, operation, sequence, step, file, line);
    }
    let unknown = takes_unknown_number(operations, sequence, step);
    if class == "hang" && (unknown || explodes(operation) || asks_for_much(sequence, step, ABSURD)) {
        return Verdict::Illegal("absurd demand for time");
    }
    if class == "out-of-memory"
        && (operation.origin == Origin::Std
            || unknown
            || explodes(operation)
            || asks_for_much(sequence, step, ABSURD_MEMORY)
            || has_foreign_index(operations, sequence, step))
    {
        return Verdict::Illegal("absurd demand for memory");
    }
    let message = steady(&message);
    // An endless loop or the like in std's own code over plain values is our doing.
    let blameless =
        operation.origin != Origin::Std || class == "memory" || is_of_subject(operations, sequence, step);
    if class != "panic" && !blameless {
        return Verdict::Illegal(STD_MISUSED);
    }
    if class != "panic" {
        return Verdict::Failing(Failure {
            tier: Tier::Bug,
            class,
            operation: operation.path.clone(),
            step,
            message,
            file,
            line,
        });
    }
    let class = classify(&message).0;
    let beyond = is_beyond_memory(operations, sequence, step);
    let tier = tier_of_panic(operations, sequence, step, operation, &message, &file);
    if operation.origin == Origin::Std && is_outside(&file) {
        return Verdict::Illegal(STD_MISUSED);
    }
    if is_after_forget(sequence, step) {
        return Verdict::Illegal("a panic after something was forgotten");
    }
    if is_behind_caught(operations, &sequence.steps[..step]) {
        return Verdict::Illegal("a panic after one that was caught");
    }
    let absurd = beyond && class == "overflow" && wants_room(operation) && !promises(operation);
    if absurd {
        return Verdict::Illegal("absurd demand for memory");
    }
    if is_borrow_conflict(&message) && borrows_itself(operations, &sequence.steps[..step]) {
        return Verdict::Illegal("the caller holds a borrow of its own");
    }
    if let Some(reason) = excused(operation, sequence, step, class, &message) {
        return Verdict::Illegal(reason);
    }
    Verdict::Failing(Failure { tier, class, operation: operation.path.clone(), step, message, file, line })
}

/// How bad a panic of an operation is.
fn tier_of_panic(
    operations: &Operations,
    sequence: &Sequence,
    step: usize,
    operation: &Operation,
    message: &str,
    file: &str,
) -> Tier {
    let (class, tier) = classify(message);
    match tier {
        _ if promises(operation) || class == "index" && asks(operations, operation) => Tier::Bug,
        _ if class == "overflow"
            && (is_beyond_memory(operations, sequence, step)
                || is_set_to_the_end(operations, sequence, step)) =>
        {
            Tier::UndocumentedPanic
        }
        // Whoever calls it has promised to have checked.
        _ if is_unchecked(&operation.path) => Tier::UndocumentedPanic,
        _ if is_made_up(operations, operation, sequence, step, message) => Tier::UndocumentedPanic,
        _ if speaks_of_place(class, message) && has_foreign_index(operations, sequence, step) => {
            Tier::UndocumentedPanic
        }
        // Also where a dependency does the reckoning.
        _ if is_arithmetic(&operation.path, message) => Tier::UndocumentedPanic,
        _ if is_full(operations, operation, message) => Tier::UndocumentedPanic,
        _ if broken_promise(operations, operation, file, message) => Tier::Bug,
        Tier::Bug if class == "index" && is_namesake(operations, operation) => Tier::UndocumentedPanic,
        Tier::Bug if class == "unwrap" && cannot_refuse(operations, operation) => Tier::UndocumentedPanic,
        tier => tier,
    }
}

/// Whether a panic may have been caught before: what it left behind must be safe to use, and may refuse to be used.
fn is_behind_caught(operations: &Operations, steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Call { op, .. } if operations.get(*op).is_caught()))
}

/// Class, message and place of an end that took the process with it.
fn death(execution: &Execution) -> (&'static str, String, String, u32) {
    let note = execution.death().cloned().unwrap_or_default();
    let class = match execution.ending {
        Ending::Hung | Ending::Blocked => "hang",
        Ending::StackOverflow => "stack-overflow",
        Ending::OutOfMemory => "out-of-memory",
        Ending::Fault { .. } | Ending::Memory => "memory",
        _ if is_memory_check(&note.message) => "memory",
        _ => "abort",
    };
    let message = match execution.ending {
        Ending::Exited(code) => format!("the process was made to exit with status {code}"),
        Ending::Blocked => "the call waits for ever".to_owned(),
        Ending::Hung => "the call does not end".to_owned(),
        Ending::StackOverflow => "the stack overflowed".to_owned(),
        Ending::Fault { signal, address } => format!("signal {signal} at address {address:#x}"),
        _ => note.message,
    };
    (class, message, note.file, note.line)
}

/// A panic of a law's own words is the law's; any other comes from the library, where a plain call shows it too.
fn broken_law(law: &Law, operation: &Operation, step: usize, message: &str, file: &str) -> Verdict {
    let Some(said) = message.find(law.says).filter(|_| file.is_empty()) else {
        return Verdict::Illegal("a panic inside the check of a law");
    };
    Verdict::Failing(Failure {
        tier: tier_of(law),
        class: law.class,
        operation: operation.path.clone(),
        step,
        message: steady(&message[said..]),
        file: String::new(),
        line: 0,
    })
}

/// What a broken law is called.
pub fn tier_of(law: &Law) -> Tier {
    match law.confidence {
        Confidence::Certain => Tier::Bug,
        Confidence::Hint => Tier::Hint,
    }
}

fn broken_contract(
    breach: Breach,
    operation: &Operation,
    sequence: &Sequence,
    step: usize,
    file: String,
    line: u32,
) -> Verdict {
    let (kind, message) = match breach {
        Breach::Illegal(reason) => return Verdict::Illegal(reason),
        Breach::Broken(kind, message) => (kind, message),
    };
    // What a guard would have put right when it is dropped stays wrong.
    if is_after_forget(sequence, step) {
        return Verdict::Illegal("a panic after something was forgotten");
    }
    let operation = operation.path.clone();
    Verdict::Failing(Failure { tier: Tier::Bug, class: kind.class(), operation, step, message, file, line })
}

fn is_after_forget(sequence: &Sequence, step: usize) -> bool {
    sequence.steps[..step].iter().any(|step| matches!(step, Step::Forget(_)))
}

/// A value of ours that was given to the library and never dropped, though nobody forgot anything.
fn leak(operations: &Operations, sequence: &Sequence, execution: &Execution) -> Option<Failure> {
    let on_purpose = sequence.steps.iter().any(|step| match step {
        Step::Forget(_) => true,
        Step::Call { op, .. } => leaks_on_purpose(operations, operations.get(*op)),
        _ => false,
    });
    if execution.kept_values <= 0 || on_purpose {
        return None;
    }
    let is_subject = |step: &Step| matches!(step, Step::Call { op, .. } if operations.get(*op).is_subject());
    let step = sequence.steps.iter().rposition(is_subject)?;
    let Step::Call { op, .. } = &sequence.steps[step] else { return None };
    Some(Failure {
        tier: Tier::Bug,
        class: LEAK,
        operation: operations.get(*op).path.clone(),
        step,
        message: testwright_emit::LEAKED.to_owned(),
        file: String::new(),
        line: 0,
    })
}

/// Whether a panic of the operation itself is the caller's fault whatever the sequence: its documentation, or std's, tells of it.
pub fn is_announced(operation: &Operation, message: &str) -> bool {
    announces(operation, classify(message).0)
}

/// Whether the operation may panic in this way.
fn announces(operation: &Operation, class: &str) -> bool {
    // std says of these two that they may panic if the index is out of bounds.
    let indexes =
        operation.path.ends_with(" as Index>::index") || operation.path.ends_with(" as IndexMut>::index_mut");
    // And of this one that it does if the bounds are the wrong way round.
    let clamps = operation.path.ends_with(" as Ord>::clamp") && class == "panic";
    operation.panics.as_deref().is_some_and(|said| speaks_of(said, class))
        || indexes && class != "overflow"
        || clamps
}

/// Why a panic is not the library's fault.
fn excused(
    operation: &Operation,
    sequence: &Sequence,
    step: usize,
    class: &str,
    message: &str,
) -> Option<&'static str> {
    if announces(operation, class) {
        return Some(DOCUMENTED);
    }
    if is_failed_writing(message) && operation.path.ends_with(">::fmt") {
        return Some("writing failed, which a law tells of");
    }
    if message.to_lowercase().ends_with("capacity overflow")
        || (message.contains("capacity") && asks_for_much(sequence, step, ABSURD))
    {
        return Some("absurd demand for memory");
    }
    None
}

/// The step and operation that an ending is attributed to.
fn culprit(sequence: &Sequence, execution: &Execution) -> Option<(usize, OpId)> {
    let step = match execution.phase {
        Phase::Teardown | Phase::Observe => nth_value(sequence, execution.step as usize)?,
        _ => execution.step as usize,
    };
    let mut step = step.min(sequence.len().checked_sub(1)?);
    // Dropping a value is blamed on the call that made it.
    for _ in 0..4 {
        match &sequence.steps[step] {
            Step::Call { op, .. } => return Some((step, *op)),
            Step::Drop(value) | Step::Forget(value) => step = value.0 as usize,
            Step::Literal { .. } | Step::Closure(_) => return None,
        }
    }
    None
}

fn nth_value(sequence: &Sequence, number: usize) -> Option<usize> {
    sequence
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.makes_value())
        .nth(number)
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_a_test_may_be_granted_is_another_failure() {
        let failure = |class, message: &str| Failure {
            tier: Tier::Bug,
            class,
            operation: "parse".to_owned(),
            step: 0,
            message: message.to_owned(),
            file: String::new(),
            line: 0,
        };
        assert_ne!(failure("out-of-memory", "a limit").key(), failure("out-of-memory", "4 GiB").key());
        assert_eq!(failure("abort", "one word").key(), failure("abort", "another").key());
    }
}
