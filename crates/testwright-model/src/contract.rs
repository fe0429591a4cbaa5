//! Contracts that a crate's author writes down, and the clauses that they become in single calls.
//!
//! A [`Contract`] is a Rust expression over `self`, arguments, `result` and `old(…)`. The grounding makes [`Clause`]s of it, one for
//! each operation that it is about; wrapper and printed test fill in what stands for the arguments there.

use serde::{Deserialize, Serialize};

/// A contract as it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    pub kind: Kind,
    /// The function's path, or for an invariant the type's name.
    pub of: String,
    pub expression: String,
    /// The file and line that it stands in.
    pub place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Callers see to it.
    Requires,
    /// True after the call.
    Ensures,
    /// True of all values of a type.
    Invariant,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Requires => "requires",
            Kind::Ensures => "ensures",
            Kind::Invariant => "invariant",
        }
    }

    /// The class of a finding.
    pub fn class(self) -> &'static str {
        match self {
            Kind::Requires => "contract:requires",
            Kind::Ensures => "contract:ensures",
            Kind::Invariant => "contract:invariant",
        }
    }
}

/// How a panic begins by which a wrapper refuses a call.
pub const REFUSED: &str = "testwright: precondition of ";
/// How a panic begins that stands for one inside a contract's own expression.
pub const UNANSWERED: &str = "testwright: no answer from ";

/// A contract in one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// Its number among the contracts.
    pub contract: u32,
    pub kind: Kind,
    pub when: When,
    /// The message of the panic if it is broken.
    pub says: String,
    /// What is kept from before the call.
    pub olds: Vec<Old>,
    pub holds: Vec<Part>,
    /// `Some` or `Ok`: it is about what lies in the result, if the result is that.
    pub inside: Option<String>,
}

/// When a clause is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// If it is broken, the call is not made: that is the caller's fault.
    Before,
    /// If it is broken, the call is to blame.
    After,
}

/// An expression whose value is kept from before the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Old {
    /// A name for people: `old_len`.
    pub name: String,
    pub value: Vec<Part>,
}

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    Text(String),
    Argument(usize, As),
    Result(As),
    /// The value of [`Clause::olds`].
    Old(usize),
}

/// How an argument or result is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum As {
    /// As the function takes or returns it.
    Itself,
    /// What the reference refers to.
    Place,
    /// A reference to it.
    Reference,
}

impl Clause {
    /// Whether it speaks of the result.
    pub fn uses_result(&self) -> bool {
        self.holds.iter().any(|part| matches!(part, Part::Result(_)))
    }

    /// What a panic says that stands for one inside the expression.
    pub fn unanswered(&self) -> String {
        format!("{UNANSWERED}{}", self.says)
    }
}

/// The expression, with what `text` gives for its parts; the second argument is what follows.
pub fn write(parts: &[Part], mut text: impl FnMut(&Part, &str) -> String) -> String {
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(verbatim) => out.push_str(verbatim),
            other => {
                let after = match parts.get(index + 1) {
                    Some(Part::Text(after)) => after,
                    _ => "",
                };
                out.push_str(&text(other, after));
            }
        }
    }
    out
}

/// Whether a place is followed by a method, field or index, which find their way through references.
pub fn goes_on(after: &str) -> bool {
    after.starts_with('[') || after.starts_with('.') && !after.starts_with("..")
}

/// A message as the text that a macro like `assert!` takes.
pub fn quoted(message: &str) -> String {
    format!("{:?}", message.replace('{', "{{").replace('}', "}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_with_what_follows_in_view() {
        let parts = [
            Part::Argument(0, As::Place),
            Part::Text(".len() == ".to_owned()),
            Part::Old(0),
            Part::Text(" + 1".to_owned()),
        ];
        let text = write(&parts, |part, after| match part {
            Part::Argument(..) => format!("<{}>", goes_on(after)),
            _ => format!("[{}]", goes_on(after)),
        });
        assert_eq!(text, "<true>.len() == [false] + 1");
        assert!(!goes_on("..3"));
    }

    #[test]
    fn braces_in_messages_are_no_holes() {
        assert_eq!(quoted("matches!(a, B { .. }) && \"x\""), "\"matches!(a, B {{ .. }}) && \\\"x\\\"\"");
    }
}
