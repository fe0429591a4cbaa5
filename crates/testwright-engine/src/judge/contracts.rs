//! What broken contracts mean: those of the configuration, which our own calls check, and those that a library checks itself with the
//! attributes of the crate `contracts`.

use testwright_model::contract::{Kind, REFUSED, UNANSWERED};
use testwright_model::operation::Operation;
use testwright_model::ty::last_segment;

/// Why a call that a precondition forbids is dismissed.
pub const FORBIDDEN: &str = "a precondition does not hold";

/// Why a panic inside a contract's own expression is dismissed.
const UNKNOWN: &str = "a contract could not be evaluated";

/// What a broken contract means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Breach {
    /// Nobody is to blame but the caller, or the contract's author.
    Illegal(&'static str),
    /// The library breaks it, with these words.
    Broken(Kind, String),
}

/// What a panic of this message in a call says about contracts; `ours` is one that was raised in our own code.
pub(super) fn breach(operation: &Operation, message: &str, ours: bool) -> Option<Breach> {
    if is_forbidden(operation, message, ours) {
        return Some(Breach::Illegal(FORBIDDEN));
    }
    if !ours {
        let told = told(message)?;
        return Some(Breach::Broken(told.kind, message.to_owned()));
    }
    if message.starts_with(UNANSWERED) {
        return Some(Breach::Illegal(UNKNOWN));
    }
    // What does not fit into the answer is cut off.
    let clause = operation.form.clauses.iter().find(|clause| {
        !message.is_empty()
            && (clause.says == message || message.len() > 2000 && clause.says.starts_with(message))
    })?;
    Some(Breach::Broken(clause.kind, clause.says.clone()))
}

/// Whether the panic says that the call should not have been made.
pub fn is_forbidden(operation: &Operation, message: &str, ours: bool) -> bool {
    if ours {
        return message.starts_with(REFUSED);
    }
    let name = last_segment(&operation.path);
    let takes_self = operation.params.first().is_some_and(|param| param.name == "self");
    told(message).is_some_and(|told| {
        told.function == name.trim_start_matches("r#")
            && match told.kind {
                Kind::Requires => true,
                // Of a type's own value nobody else can break it; of an argument the caller must see to it.
                Kind::Invariant => told.at_entry && !takes_self,
                Kind::Ensures => false,
            }
    })
}

/// Whether the output of a test says that a function's own precondition does not hold. Where debug assertions are off,
/// `debug_requires` says nothing, and the panic behind it would seem to be the library's fault.
pub fn is_said_to_be_forbidden(path: &str, output: &str) -> bool {
    let name = last_segment(path);
    let is_it = |told: Told<'_>| told.kind == Kind::Requires && told.function == name;
    output.lines().filter_map(told).any(is_it)
}

/// What a message of the crate `contracts` tells.
#[derive(Debug, PartialEq, Eq)]
struct Told<'m> {
    kind: Kind,
    function: &'m str,
    at_entry: bool,
}

/// `Pre-condition of push violated: too long: x < 3`.
fn told(message: &str) -> Option<Told<'_>> {
    let (kind, at_entry, rest) = [
        ("Pre-condition of ", Kind::Requires, true),
        ("Post-condition of ", Kind::Ensures, false),
        ("Invariant (as pre-condition) of ", Kind::Invariant, true),
        ("Invariant (as post-condition) of ", Kind::Invariant, false),
    ]
    .into_iter()
    .find_map(|(start, kind, at_entry)| Some((kind, at_entry, message.strip_prefix(start)?)))?;
    let (function, _) = rest.split_once(" violated: ")?;
    let is_name = !function.is_empty() && !function.contains(char::is_whitespace);
    is_name.then_some(Told { kind, function, at_entry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::words::tests::operation;

    #[test]
    fn preconditions_of_the_call_itself_are_the_callers_business() {
        let push = operation("Stack::push", &["self", "item"]);
        let said = "Pre-condition of push violated: room: self.len < 3";
        assert_eq!(breach(&push, said, false), Some(Breach::Illegal(FORBIDDEN)));
        let inner = "Pre-condition of grow violated: by < 3";
        assert_eq!(breach(&push, inner, false), Some(Breach::Broken(Kind::Requires, inner.to_owned())));
        let ours = "testwright: precondition of Stack::push: self.len() < 3";
        assert_eq!(breach(&push, ours, true), Some(Breach::Illegal(FORBIDDEN)));
        assert_eq!(breach(&push, ours, false), None);
    }

    #[test]
    fn invariants_of_arguments_are_the_callers_business_at_entry() {
        let said = "Invariant (as pre-condition) of mean violated: !items.is_empty()";
        assert!(is_forbidden(&operation("mean", &["items"]), said, false));
        assert!(!is_forbidden(&operation("Set::mean", &["self"]), said, false));
        let after = "Invariant (as post-condition) of mean violated: !items.is_empty()";
        assert!(!is_forbidden(&operation("mean", &["items"]), after, false));
    }

    #[test]
    fn a_tests_output_tells_of_preconditions() {
        let output =
            "thread 'x' panicked at src/lib.rs:3:5:\nPre-condition of first violated: !items.is_empty()\n";
        assert!(is_said_to_be_forbidden("my::first", output));
        assert!(!is_said_to_be_forbidden("my::last", output));
    }

    #[test]
    fn other_messages_are_no_contracts() {
        for message in ["Pre-condition of push", "Invariant of x violated: y", "index out of bounds", ""] {
            assert_eq!(told(message), None, "{message}");
            assert_eq!(breach(&operation("f", &[]), message, true), None);
        }
    }
}
