//! What an execution means: passes, the caller's fault, or the library's.
//!
//! Receives facts ([`Execution`]) and the sequence; hands on a [`Verdict`]. The rules are those of the design: a documented panic
//! is the caller's fault; overflow, indexing, `unwrap` and the like inside the library are bugs; an explicit, undocumented
//! panic is listed apart.

use testwright_execute::{Ending, Execution, Phase};
use testwright_model::operation::{Operation, Operations, Origin};
use testwright_model::sequence::{Sequence, Step};
use testwright_model::{GenericArg, Literal, OpId, Prim, Ty};

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
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Tier::Bug => "bug",
            Tier::UndocumentedPanic => "undocumented-panic",
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
        (self.class.to_owned(), self.operation.clone(), self.file.clone(), self.line)
    }
}

/// A literal from which on a demand for memory is our own doing.
const ABSURD: i128 = 1 << 16;
/// The same where memory may grow with the square of the number.
const ABSURD_MEMORY: i128 = 1 << 9;

/// Why a panic of std's own operation is dismissed.
pub const STD_MISUSED: &str = "a std operation was called wrongly";

/// Where the code of our own calls lies.
const WRAPPERS: &str = "wrappers/src/";

/// Whether a panic's place is neither in the library nor in a dependency of it.
pub fn is_outside(file: &str) -> bool {
    file.is_empty() || file.starts_with("/rustc/") || file.starts_with(WRAPPERS)
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
        ending => {
            let note = execution.death().cloned().unwrap_or_default();
            let class = match ending {
                Ending::Hung | Ending::Blocked => "hang",
                Ending::StackOverflow => "stack-overflow",
                Ending::OutOfMemory => "out-of-memory",
                Ending::Fault { .. } | Ending::Memory => "memory",
                _ if is_memory_check(&note.message) => "memory",
                _ => "abort",
            };
            let message = match ending {
                Ending::Exited(code) => format!("the process was made to exit with status {code}"),
                Ending::Blocked => "the call waits for ever".to_owned(),
                Ending::Hung => "the call does not end".to_owned(),
                Ending::StackOverflow => "the stack overflowed".to_owned(),
                Ending::Fault { signal, address } => format!("signal {signal} at address {address:#x}"),
                _ => note.message,
            };
            (class, message, note.file, note.line)
        }
    };
    // `#[track_caller]`: the place is the call itself, which is ours.
    let (file, line) = if file.starts_with(WRAPPERS) { (String::new(), 0) } else { (file, line) };
    let Some((step, op)) = culprit(sequence, execution) else {
        return Verdict::Illegal("no operation to blame");
    };
    let operation = operations.get(op);
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
    let (class, tier) = classify(&message);
    let beyond = is_beyond_memory(operations, sequence, step);
    let tier = match tier {
        _ if promises(operation) || class == "index" && asks(operations, operation) => Tier::Bug,
        _ if class == "overflow" && beyond => Tier::UndocumentedPanic,
        _ if is_made_up(operations, operation, sequence, step, &message) => Tier::UndocumentedPanic,
        _ if speaks_of_place(class, &message) && has_foreign_index(operations, sequence, step) => {
            Tier::UndocumentedPanic
        }
        _ if broken_promise(operation, &file, &message) => Tier::Bug,
        Tier::Bug if is_arithmetic(&operation.path, &message) => Tier::UndocumentedPanic,
        Tier::Bug if class == "index" && is_namesake(operations, operation) => Tier::UndocumentedPanic,
        tier => tier,
    };
    if operation.origin == Origin::Std && is_outside(&file) {
        return Verdict::Illegal(STD_MISUSED);
    }
    if sequence.steps[..step].iter().any(|step| matches!(step, Step::Forget(_))) {
        return Verdict::Illegal("a panic after something was forgotten");
    }
    let absurd = beyond && class == "overflow" && wants_room(operation) && !promises(operation);
    if absurd {
        return Verdict::Illegal("absurd demand for memory");
    }
    if let Some(reason) = excused(operation, sequence, step, class, &message) {
        return Verdict::Illegal(reason);
    }
    Verdict::Failing(Failure { tier, class, operation: operation.path.clone(), step, message, file, line })
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
        class: "leak",
        operation: operations.get(*op).path.clone(),
        step,
        message: testwright_emit::LEAKED.to_owned(),
        file: String::new(),
        line: 0,
    })
}

/// Whether an operation hands over the duty to drop something.
fn leaks_on_purpose(operations: &Operations, operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let mut raw = false;
    operations.ty(operation.result).walk(&mut |ty| {
        raw |= match ty {
            Ty::Ptr { .. } => true,
            Ty::Adt { path, .. } => {
                ["ManuallyDrop", "MaybeUninit", "NonNull"].iter().any(|end| path.ends_with(end))
            }
            _ => false,
        };
    });
    raw || name.contains("leak") || name.contains("forget") || name.contains("raw")
}

/// Aborts by which the compiler's own checks tell of a broken pointer.
fn is_memory_check(message: &str) -> bool {
    message.contains("misaligned pointer dereference")
        || message.contains("null pointer dereference occurred")
        || message.contains("unsafe precondition(s) violated")
}

/// Why a panic is not the library's fault.
fn excused(
    operation: &Operation,
    sequence: &Sequence,
    step: usize,
    class: &str,
    message: &str,
) -> Option<&'static str> {
    if operation.panics.as_deref().is_some_and(|said| speaks_of(said, class)) {
        return Some("documented panic");
    }
    // std says of these two that they may panic if the index is out of bounds.
    let indexes =
        operation.path.ends_with(" as Index>::index") || operation.path.ends_with(" as IndexMut>::index_mut");
    if indexes && class != "overflow" {
        return Some("documented panic");
    }
    if message.to_lowercase().ends_with("capacity overflow")
        || (message.contains("capacity") && asks_for_much(sequence, step, ABSURD))
    {
        return Some("absurd demand for memory");
    }
    None
}

/// Whether documentation of panics can mean one of this class: "panics if both keys are equal" does not announce an index out of
/// bounds inside.
fn speaks_of(said: &str, class: &str) -> bool {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // Said in general terms, or of values that may be anything.
    let general = has(&["invalid", "valid", "illegal", "fail", "may panic", "unexpected", "incorrect"]);
    match class {
        "index" => {
            general
                || has(&[
                    "index",
                    "indices",
                    "bound",
                    "range",
                    "len",
                    "size",
                    "capacity",
                    "exceed",
                    "greater",
                    "less",
                    "larger",
                    "smaller",
                    "more than",
                    "empty",
                    "absent",
                    "present",
                    "exist",
                    "contain",
                    "found",
                    "missing",
                    "position",
                    "offset",
                    "past",
                    "beyond",
                    "outside",
                    "short",
                    "long",
                    "at least",
                    "at most",
                    "end",
                    "start",
                    "boundary",
                    ">",
                    "<",
                    "too ",
                    "none",
                    "out of",
                    "zero",
                    "0",
                    "not ",
                    "n't",
                ])
        }
        _ => true,
    }
}

/// Whether the name says that failure is a result.
fn promises(operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    ["checked_", "try_", "saturating_", "wrapping_", "overflowing_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(name, "from_str" | "try_from" | "try_into")
}

/// Whether the operation only asks whether something is so: `has_edge`, `contains_key`, `is_empty`. "No" is an answer to anything.
fn asks(operations: &Operations, operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let asks = ["has_", "contains", "is_"].iter().any(|prefix| name.starts_with(prefix));
    asks && *operations.ty(operation.result) == Ty::Prim(Prim::Bool)
}

/// Whether the result of the operation grows beyond all bounds with a number that any text can hold: powers and shifts.
fn explodes(operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    name.contains("pow") || name.contains("factorial") || matches!(name, "shl" | "shl_assign")
}

/// Whether the operation makes room for as many as it is told.
fn wants_room(operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    ["capacity", "reserve", "with_", "grow", "resize"].iter().any(|part| name.contains(part))
}

/// Whether the step is given a size or place that no memory has: such a call fails anyway, an overflow on the way or not.
fn is_beyond_memory(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let Step::Call { args, .. } = &sequence.steps[step] else { return false };
    args.iter().any(|arg| match &sequence.steps[arg.value.0 as usize] {
        Step::Literal { ty, value: Literal::Int(value) } => {
            *operations.ty(*ty) == Ty::Prim(Prim::Usize) && *value > i128::from(i64::MAX) / 2
        }
        _ => false,
    })
}

/// Whether an explicit panic is worse than one that is only not documented.
fn broken_promise(operation: &Operation, file: &str, message: &str) -> bool {
    // A dependency was called in a way that it does not allow.
    let of_dependency = file.contains("/registry/src/");
    of_dependency || is_own_assertion(operation, message)
}

/// Whether the index that the message complains of was written out by the caller, who had it from nowhere: no container
/// promises to hold something there, though its documentation should say what happens.
fn is_made_up(
    operations: &Operations,
    operation: &Operation,
    sequence: &Sequence,
    step: usize,
    message: &str,
) -> bool {
    let index = message.split("index ").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix("is ").unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest[..digits].parse::<i128>().ok()
    });
    let Some(index) = index else { return false };
    let Step::Call { args, .. } = &sequence.steps[step] else { return false };
    // Zero is anybody's number, unless it was given as an index.
    let may_be_index = |name: &str, ty: &Ty| match ty {
        Ty::Prim(Prim::Usize | Prim::U32) => index > 0 || PLACES.contains(&name),
        Ty::Adt { .. } => index > 0 || is_index_type(ty),
        _ => false,
    };
    operation.params.iter().zip(args).any(|(param, arg)| {
        param.name != "self"
            && may_be_index(&param.name, operations.ty(param.ty))
            && any_literal(sequence, arg.value.0 as usize, |value| value == index)
    })
}

/// Names of parameters that say where.
const PLACES: [&str; 14] =
    ["index", "idx", "i", "pos", "position", "at", "from", "to", "node", "edge", "id", "key", "row", "col"];

/// Whether values of the type are places in something, or some of them, by its name.
fn is_index_type(ty: &Ty) -> bool {
    match ty {
        Ty::Adt { path, args } if matches!(path.as_str(), "std::vec::Vec" | "std::option::Option") => {
            args.iter().any(|arg| matches!(arg, GenericArg::Ty(ty) if is_index_type(ty)))
        }
        Ty::Adt { path, .. } => ["Index", "Idx", "Id", "Key", "Handle"].iter().any(|end| path.ends_with(end)),
        Ty::Ref { to, .. } | Ty::Slice(to) => is_index_type(to),
        _ => false,
    }
}

/// Whether a panic is about a place in something.
fn speaks_of_place(class: &str, message: &str) -> bool {
    let assertion = message.strip_prefix("assertion failed: ").unwrap_or("");
    class == "index"
        || message.contains(" index ")
        || assertion.contains("idx")
        || assertion.contains("index")
}

/// Whether an index that the step works with was made up, or comes from another thing than the step works on: one graph's
/// index means nothing to another.
fn has_foreign_index(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let ty_of = |index: usize| match &sequence.steps[index] {
        Step::Call { op, .. } => Some(operations.ty(operations.get(*op).result)),
        _ => None,
    };
    // What the step works on, as far as that does not go through an index.
    let (mut open, mut indices) = (vec![step], Vec::new());
    let mut reached = std::collections::HashSet::new();
    while let Some(index) = open.pop() {
        if index != step && ty_of(index).is_some_and(is_index_type) {
            indices.push(index);
        } else if reached.insert(index) {
            open.extend(sequence.steps[index].uses().iter().map(|value| value.0 as usize));
        }
    }
    indices.into_iter().any(|index| {
        let Step::Call { op, args } = &sequence.steps[index] else { return false };
        let name = operations.get(*op).path.rsplit("::").next().unwrap_or("");
        let invented = ["new", "from", "end", "max", "min", "default", "null"]
            .iter()
            .any(|start| name.starts_with(start));
        invented || !args.iter().any(|arg| reached.contains(&(arg.value.0 as usize)))
    })
}

/// Whether an operator of a number-like type does what the same operator does on integers: overflows, or divides by a zero
/// that it was given.
fn is_arithmetic(path: &str, message: &str) -> bool {
    const OPERATORS: [&str; 10] = ["Add", "Sub", "Mul", "Div", "Rem", "Neg", "Shl", "Shr", "Sum", "Product"];
    let (owner, name) = path.rsplit_once("::").unwrap_or(("", path));
    let trait_ = owner.rsplit_once(" as ").map_or("", |(_, trait_)| trait_.trim_end_matches('>'));
    let is_operator = OPERATORS.contains(&trait_.strip_suffix("Assign").unwrap_or(trait_));
    let divides = ["div", "rem", "mod", "gcd", "lcm", "recip", "inv", "multiple"]
        .iter()
        .any(|part| name.contains(part));
    let by_zero = message.ends_with("divide by zero") || message.ends_with("a divisor of zero");
    is_operator && (by_zero || message.ends_with("overflow")) || divides && by_zero
}

/// Whether the operation is called as one of std's that panics when an index or a length does not fit, and takes such a thing: its
/// callers know what to expect, though the documentation should say it.
fn is_namesake(operations: &Operations, operation: &Operation) -> bool {
    const NAMES: [&str; 12] = [
        "copy_from_slice",
        "clone_from_slice",
        "swap",
        "swap_with_slice",
        "split_at",
        "split_at_mut",
        "split_off",
        "rotate_left",
        "rotate_right",
        "insert",
        "remove",
        "swap_remove",
    ];
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let places = |ty: &Ty| match ty {
        Ty::Prim(prim) => *prim == Prim::Usize,
        Ty::Ref { to, .. } => matches!(**to, Ty::Slice(_)),
        Ty::Slice(_) => true,
        _ => false,
    };
    NAMES.contains(&name) && operation.params.iter().any(|param| places(operations.ty(param.ty)))
}

/// An assertion that is not about an argument is about the library's own state.
fn is_own_assertion(operation: &Operation, message: &str) -> bool {
    let Some(expression) = message.strip_prefix("assertion failed: ") else { return false };
    let mut words = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    !words.any(|word| operation.params.iter().any(|param| param.name == word && word != "self"))
}

/// The class of a panic by its message, and how bad it is.
fn classify(message: &str) -> (&'static str, Tier) {
    let has = |part: &str| message.contains(part);
    if message.starts_with("attempt to ") && has("overflow") {
        return ("overflow", Tier::Bug);
    }
    if message.starts_with("attempt to divide by zero")
        || message.starts_with("attempt to calculate the remainder")
    {
        return ("panic", Tier::Bug);
    }
    let index = has("index out of bounds")
        || has("out of range for slice")
        || has("slice index starts at")
        || has("is not a char boundary")
        || (message.starts_with("byte index")
            || message.starts_with("start byte index")
            || message.starts_with("end byte index"))
        || has("mid > len")
        || message.starts_with("range start index")
        || message.starts_with("range end index")
        || message.starts_with("copy_from_slice: source slice length");
    if index {
        return ("index", Tier::Bug);
    }
    if message.starts_with("called `Option::unwrap()`") || message.starts_with("called `Result::unwrap()`") {
        return ("unwrap", Tier::Bug);
    }
    let internal = message.starts_with("internal error: entered unreachable code")
        || message.starts_with("already borrowed")
        || message.starts_with("already mutably borrowed")
        || message.starts_with("RefCell already")
        || message.starts_with("not implemented")
        || message.starts_with("not yet implemented");
    ("panic", if internal { Tier::Bug } else { Tier::UndocumentedPanic })
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

/// Whether something of the subject's own is among what the step's arguments are made of: its code may run in the call.
fn is_of_subject(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let mut open: Vec<usize> = sequence.steps[step].uses().iter().map(|value| value.0 as usize).collect();
    let mut seen = std::collections::HashSet::new();
    while let Some(index) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        let step = &sequence.steps[index];
        if let Step::Call { op, .. } = step {
            let operation = operations.get(*op);
            if operation.is_subject()
                && !testwright_ground::reach::is_literal(operations.ty(operation.result))
            {
                return true;
            }
        }
        open.extend(step.uses().iter().map(|value| value.0 as usize));
    }
    false
}

/// Whether an integer that was computed by a call is among what the step's arguments are made of: it may be as large as the
/// capacity of a vector of `()`.
fn takes_unknown_number(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let mut open = vec![step];
    let mut seen = std::collections::HashSet::new();
    while let Some(index) = open.pop() {
        let Some(Step::Call { op, args }) = sequence.steps.get(index).filter(|_| seen.insert(index)) else {
            continue;
        };
        for (param, arg) in operations.get(*op).params.iter().zip(args) {
            let made = sequence.steps.get(arg.value.0 as usize);
            if operations.ty(param.ty).is_int() && matches!(made, Some(Step::Call { .. })) {
                return true;
            }
            open.push(arg.value.0 as usize);
        }
    }
    false
}

/// Whether a literal that the step's arguments are made of is absurdly large.
fn asks_for_much(sequence: &Sequence, step: usize, absurd: i128) -> bool {
    any_literal(sequence, step, |value| value >= absurd || value < 0)
}

/// Whether a number that the step's arguments are made of is such a one.
fn any_literal(sequence: &Sequence, step: usize, is_it: impl Fn(i128) -> bool) -> bool {
    let mut open = vec![step];
    let mut seen = std::collections::HashSet::new();
    while let Some(index) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        match &sequence.steps[index] {
            Step::Literal { value: Literal::Int(value), .. } if is_it(*value) => return true,
            other => open.extend(other.uses().iter().map(|value| value.0 as usize)),
        }
    }
    false
}

/// The message without addresses and process numbers, which differ from run to run.
fn steady(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message.split_once("==ERROR: ").map_or(message, |(_, report)| report);
    rest = rest.split_once(" on address 0x").map_or(rest, |(what, _)| what);
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        out.push_str(if digits >= 9 { "0x…" } else { &rest[at..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_model::operation::{Flow, Form, Param, Take, TypeId};
    use testwright_model::sequence::{Arg, How, ValueId};

    fn operation(path: &str, params: &[&str]) -> Operation {
        let param = |name: &&str| Param {
            name: (*name).to_owned(),
            take: Take::Value,
            ty: TypeId(0),
            needs_static: false,
            open: false,
        };
        Operation {
            path: path.to_owned(),
            origin: Origin::Subject(0),
            params: params.iter().map(param).collect(),
            result: TypeId(0),
            flow: Flow::default(),
            form: Form::default(),
            panics: None,
            grounding: String::new(),
        }
    }

    #[test]
    fn assertions_about_arguments_are_the_callers_business() {
        let insert = operation("SmallVec::insert_many", &["self", "index", "iterable"]);
        assert!(!broken_promise(&insert, "src/lib.rs", "assertion failed: index <= old_len"));
        let set_host = operation("Url::set_host", &["self", "host"]);
        let own = "assertion failed: self.byte_at(self.path_start) == b'/'";
        assert!(broken_promise(&set_host, "src/lib.rs", own));
        assert!(!broken_promise(&set_host, "src/lib.rs", "no host given"));
    }

    #[test]
    fn only_some_types_and_names_speak_of_places_and_room() {
        let node = Ty::adt("petgraph::graph::NodeIndex", Vec::new());
        assert!(is_index_type(&node));
        assert!(is_index_type(&Ty::adt("std::vec::Vec", vec![node])));
        assert!(!is_index_type(&Ty::adt("petgraph::graph::Graph", Vec::new())));
        assert!(wants_room(&operation("SlotMap::with_capacity", &["capacity"])));
        assert!(!wants_room(&operation("PeekNth::peek_nth", &["self", "n"])));
    }

    #[test]
    fn names_and_dependencies_promise_more() {
        assert!(promises(&operation("NaiveDate::checked_add_days", &["self", "days"])));
        assert!(promises(&operation("<Fraction as FromStr>::from_str", &["text"])));
        assert!(!promises(&operation("Fraction::new", &["numerator"])));
        let plain = operation("Fraction::new", &["numerator"]);
        assert!(broken_promise(
            &plain,
            "/x/registry/src/index/num-rational-0.4.2/src/lib.rs",
            "denominator == 0"
        ));
        assert!(!broken_promise(&plain, "src/lib.rs", "denominator == 0"));
    }

    #[test]
    fn documentation_of_one_panic_does_not_excuse_another() {
        assert!(!speaks_of("This function will panic if `key1` and `key2` are the same.", "index"));
        assert!(speaks_of("Panics if `index` is out of bounds.", "index"));
        assert!(speaks_of("Panics if the key is not in the map.", "index"));
        assert!(speaks_of("Panics if both keys are equal.", "panic"));
    }

    #[test]
    fn messages_are_the_same_in_every_run() {
        let report =
            "2840==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502000000010 at pc 0x5";
        assert_eq!(steady(report), "AddressSanitizer: heap-buffer-overflow");
        assert_eq!(steady("signal 11 at address 0x7f00112233445566"), "signal 11 at address 0x…");
        assert_eq!(steady("expected 0x1f"), "expected 0x1f");
    }

    #[test]
    fn an_index_that_was_written_out_is_made_up() {
        let number = |value| Step::Literal { ty: TypeId(0), value: Literal::Int(value) };
        let arg = |value| Arg { value: ValueId(value), how: How::Copy };
        let edges = operation("List::edges", &["self", "from"]);
        let mut operations = Operations::default();
        operations.types.push(Ty::Prim(Prim::Usize));
        operations.operations.push(edges.clone());
        let call = Step::Call { op: OpId(0), args: vec![arg(0), arg(1)] };
        let sequence = Sequence { steps: vec![number(7), number(18), call] };
        let made_up = |message: &str| is_made_up(&operations, &edges, &sequence, 2, message);
        assert!(made_up("index out of bounds: the len is 0 but the index is 18"));
        assert!(made_up("put at index 18 exceeds fixedbitset size 0"));
        assert!(!made_up("index out of bounds: the len is 18 but the index is 19"));
        assert!(
            !made_up("index out of bounds: the len is 7 but the index is 7"),
            "that is what it was made with"
        );
        assert!(!made_up("mid > len"));
    }

    #[test]
    fn an_index_of_another_graph_is_foreign() {
        let mut operations = Operations::default();
        operations.types.push(Ty::adt("g::Graph", Vec::new()));
        operations.types.push(Ty::adt("g::NodeIndex", Vec::new()));
        let returns = |path: &str, params: &[&str], result| Operation {
            result: TypeId(result),
            ..operation(path, params)
        };
        operations.operations = vec![
            returns("Graph::new", &[], 0),
            returns("Graph::add_node", &["self"], 1),
            returns("NodeIndex::end", &[], 1),
            returns("Graph::walk", &["self", "start"], 0),
        ];
        let call = |op, args: &[u32]| Step::Call {
            op: OpId(op),
            args: args.iter().map(|value| Arg { value: ValueId(*value), how: How::Copy }).collect(),
        };
        // Two graphs, and a node of the first.
        let start = [call(0, &[]), call(0, &[]), call(1, &[0])];
        let foreign = |more: &[Step]| {
            let steps = [&start[..], more].concat();
            let last = steps.len() - 1;
            has_foreign_index(&operations, &Sequence { steps }, last)
        };
        assert!(!foreign(&[call(3, &[0, 2])]));
        assert!(foreign(&[call(3, &[1, 2])]));
        assert!(foreign(&[call(2, &[]), call(3, &[0, 3])]));
        assert!(foreign(&[call(3, &[1, 2]), call(3, &[3, 2])]), "of what it was made from");
    }

    #[test]
    fn operators_may_do_what_they_do_on_integers() {
        assert!(is_arithmetic("<DynaInt as Div>::div", "attempt to divide by zero"));
        assert!(is_arithmetic("<Money as AddAssign>::add_assign", "attempt to add with overflow"));
        let remainder = "attempt to calculate the remainder with a divisor of zero";
        assert!(is_arithmetic("DynaInt::mod_floor", remainder));
        assert!(!is_arithmetic("Table::insert", remainder));
        assert!(!is_arithmetic("Table::size", "attempt to add with overflow"));
        assert!(!is_arithmetic("<Table as Index>::index", "attempt to add with overflow"));
    }

    #[test]
    fn classes_by_the_messages_of_std() {
        for (message, class, tier) in [
            ("attempt to subtract with overflow", "overflow", Tier::Bug),
            ("attempt to divide by zero", "panic", Tier::Bug),
            ("index out of bounds: the len is 0 but the index is 0", "index", Tier::Bug),
            ("range end index 5 out of range for slice of length 3", "index", Tier::Bug),
            ("end byte index 2 is not a char boundary; it is inside 'é'", "index", Tier::Bug),
            ("called `Option::unwrap()` on a `None` value", "unwrap", Tier::Bug),
            ("internal error: entered unreachable code: x", "panic", Tier::Bug),
            ("RefCell already borrowed", "panic", Tier::Bug),
            ("invalid key", "panic", Tier::UndocumentedPanic),
        ] {
            assert_eq!(classify(message), (class, tier), "{message}");
        }
    }
}
