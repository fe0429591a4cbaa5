//! What calls were seen to do, in kinds: which sort of result each gave, and what it left behind of what it was lent.
//!
//! Receives the steps of a sequence with the texts of its values; hands on facts, by which the suite tells a test that says something new
//! from one that says it again.

use std::collections::BTreeMap;

use testwright_model::operation::{Operations, Origin};
use testwright_model::sequence::{Sequence, Step, ValueId};

/// What one call did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact {
    /// The call's path, the same for arrays of all lengths.
    pub path: String,
    /// Whether it is about what was left behind.
    pub leaves: bool,
    pub kind: String,
}

/// The texts of a run.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// For each step, the text of the value that it made.
    pub made: Vec<Option<String>>,
    /// Texts of what was lent: the step behind which it was looked at, the value, the text.
    pub left: Vec<(usize, ValueId, Option<String>)>,
}

/// Facts about one path that are kept, at most: the ones that are shortest to show, and the ones with most in them.
const SMALLEST: usize = 4;
const RICHEST: usize = 2;

/// Kinds of one path that are compared.
const KINDS: usize = 200;

/// Items of a list, and characters of a kind, that are looked at.
const ITEMS: usize = 4;
const LONGEST: usize = 60;

/// An impl for arrays of thirty lengths is one thing to test.
pub fn plain_path(path: &str) -> String {
    path.replace(|c: char| c.is_ascii_digit(), "")
}

/// Whether what the call gives says something of the crate: its own calls, and what std provides for its types.
pub fn concerns_subject(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let Some(Step::Call { op, args }) = sequence.steps.get(step) else { return false };
    let operation = operations.get(*op);
    match operation.origin {
        Origin::Subject(_) => true,
        // `Some(value)` says nothing of the value's type.
        Origin::Std => {
            let is_method = operation.form.preferred().starts_with("{self}");
            is_method && args.first().is_some_and(|arg| is_own(operations, sequence, arg.value))
        }
        Origin::Made | Origin::Law(_) => false,
    }
}

/// Whether the value's type is the crate's own.
pub fn is_own(operations: &Operations, sequence: &Sequence, value: ValueId) -> bool {
    let Some(Step::Call { op, .. }) = sequence.steps.get(value.0 as usize) else { return false };
    match operations.ty(operations.get(*op).result) {
        testwright_model::Ty::Adt { path, .. } => {
            !path.starts_with("std::") && !path.starts_with("testwright::")
        }
        _ => false,
    }
}

/// The values that may be looked at behind each call that may have changed them and holds on to nothing.
pub fn lent(operations: &Operations, sequence: &Sequence) -> Vec<(usize, ValueId)> {
    let mut all = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { op, args } = step else { continue };
        let operation = operations.get(*op);
        if operation.is_subject() && !operation.borrows() && operation.flow.stores.is_empty() {
            all.extend(args.iter().filter(|arg| arg.how.is_mut()).map(|arg| (index, arg.value)));
        }
    }
    all
}

/// What each step showed: its index and the fact.
pub fn of(operations: &Operations, sequence: &Sequence, told: &Told) -> Vec<(usize, Fact)> {
    let path = |step: usize| match sequence.steps.get(step) {
        Some(Step::Call { op, .. }) => plain_path(&operations.get(*op).path),
        _ => String::new(),
    };
    let is_subject = |step: usize| matches!(&sequence.steps[step], Step::Call { op, .. } if operations.get(*op).is_subject());
    let mut facts = Vec::new();
    for (step, text) in told.made.iter().enumerate() {
        if let (Some(text), true) = (text, is_subject(step)) {
            facts.push((step, Fact { path: path(step), leaves: false, kind: kind(text) }));
        }
    }
    for (number, (step, value, text)) in told.left.iter().enumerate() {
        let Some(text) = text else { continue };
        let earlier = told.left[..number].iter().rev().find(|(_, other, _)| other == value);
        let before = earlier.map(|(.., text)| text).or_else(|| told.made.get(value.0 as usize));
        // A call that does nothing leaves what was there.
        let did = if before.is_some_and(|before| before.as_ref() == Some(text)) { "keeps" } else { "makes" };
        facts.push((*step, Fact { path: path(*step), leaves: true, kind: format!("{did} {}", kind(text)) }));
    }
    facts
}

/// The sort of value that a text shows: words as they are, of numbers and texts whether they are what a stub would give, lists up to
/// their first items.
pub fn kind(text: &str) -> String {
    let mut kind = String::new();
    // Our own stand-in for a type with a destructor is as good as a number.
    let text = without_stand_in(text);
    let mut chars = text.chars().peekable();
    // Items so far in each open list.
    let mut items: Vec<usize> = Vec::new();
    while let Some(c) = chars.next() {
        if kind.len() > LONGEST {
            break;
        }
        let cut = items.iter().any(|items| *items >= ITEMS);
        let token = match c {
            '"' | '\'' => {
                let mut length = 0;
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => {
                            chars.next();
                        }
                        _ if inner == c => break,
                        _ => {}
                    }
                    length += 1;
                }
                if length == 0 { "0" } else { "n" }
            }
            _ if c.is_ascii_digit() => {
                let mut number = String::from(c);
                while let Some(next) = chars.next_if(|next| next.is_ascii_alphanumeric() || *next == '.') {
                    number.push(next);
                }
                match number.as_str() {
                    "0" | "0.0" => "0",
                    "1" | "1.0" => "1",
                    _ => "n",
                }
            }
            _ if c.is_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|next| next.is_alphanumeric() || *next == '_') {
                    word.push(next);
                }
                if !cut {
                    kind.push_str(&word);
                }
                continue;
            }
            '[' | '{' | '(' => {
                items.push(0);
                if !cut {
                    kind.push(c);
                }
                continue;
            }
            ']' | '}' | ')' => {
                items.pop();
                if !items.iter().any(|items| *items >= ITEMS) {
                    kind.push(c);
                }
                continue;
            }
            ',' => {
                if let Some(items) = items.last_mut() {
                    *items += 1;
                }
                ","
            }
            ' ' | '-' => continue,
            _ => {
                if !cut {
                    kind.push(c);
                }
                continue;
            }
        };
        if !cut {
            // A unit is what a stub gives, too.
            kind.push_str(token);
        }
    }
    kind.replace("()", "0")
}

/// `Some(Tracked(3))` as `Some(3)`.
fn without_stand_in(text: &str) -> String {
    let mut parts = text.split("Tracked(");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |plain, part| plain + &part.replacen(')', "", 1))
}

/// The shortest sequence that shows each fact, for those of each path that are worth a test; the shortest first.
#[derive(Debug, Default)]
pub struct Catalogue {
    by_path: BTreeMap<(String, bool), BTreeMap<String, Sequence>>,
}

impl Catalogue {
    /// Takes a sequence of at most `length` steps if none as short is known to show the fact.
    pub fn offer(&mut self, fact: Fact, length: usize, sequence: impl FnOnce() -> Option<Sequence>) {
        let known = self.by_path.entry((fact.path, fact.leaves)).or_default();
        let worse = known.get(&fact.kind).map_or(known.len() >= KINDS, |known| length >= known.len());
        if worse {
            return;
        }
        if let Some(sequence) = sequence() {
            let shorter = known.get(&fact.kind).is_none_or(|known| sequence.len() < known.len());
            if shorter {
                known.insert(fact.kind, sequence);
            }
        }
    }

    /// In rounds: of every path the first, then of every path the second.
    pub fn chosen(self) -> Vec<(Fact, Sequence)> {
        let mut all = Vec::new();
        for ((path, leaves), kinds) in self.by_path {
            let mut kinds: Vec<(String, Sequence)> = kinds.into_iter().collect();
            kinds.sort_by_key(|(kind, sequence)| (sequence.len(), kind.clone()));
            let mut rich = kinds.split_off(kinds.len().min(SMALLEST));
            rich.sort_by_key(|(kind, sequence)| {
                (std::cmp::Reverse(kind.len()), sequence.len(), kind.clone())
            });
            rich.truncate(RICHEST);
            for (round, (kind, sequence)) in kinds.into_iter().chain(rich).enumerate() {
                all.push((round, Fact { path: path.clone(), leaves, kind }, sequence));
            }
        }
        all.sort_by(|one, other| (one.0, one.2.len(), &one.1).cmp(&(other.0, other.2.len(), &other.1)));
        all.into_iter().map(|(_, fact, sequence)| (fact, sequence)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::operation;
    use testwright_model::OpId;
    use testwright_model::sequence::{Arg, How};

    #[test]
    fn what_is_left_is_compared_with_what_was_there() {
        let mut operations = Operations::default();
        operations.types = vec![testwright_model::Ty::adt("a::Set", Vec::new())];
        operations.operations =
            vec![operation("Set::new", &[], 0), operation("Set::clear4", &[("self", 0)], 0)];
        let change = Step::Call { op: OpId(1), args: vec![Arg { value: ValueId(0), how: How::RefMut }] };
        let make = Step::Call { op: OpId(0), args: Vec::new() };
        let sequence = Sequence { steps: vec![make, change.clone(), change] };
        assert_eq!(lent(&operations, &sequence), [(1, ValueId(0)), (2, ValueId(0))]);
        let text = |text: &str| Some(text.to_owned());
        let told = Told {
            made: vec![text("{7}"), None, None],
            left: vec![(1, ValueId(0), text("{}")), (2, ValueId(0), text("{}"))],
        };
        let facts = of(&operations, &sequence, &told);
        let shown: Vec<_> =
            facts.iter().map(|(step, fact)| (*step, fact.path.as_str(), fact.kind.as_str())).collect();
        assert_eq!(
            shown,
            [(0, "Set::new", "{n}"), (1, "Set::clear", "makes {}"), (2, "Set::clear", "keeps {}")]
        );
    }

    #[test]
    fn kinds_tell_what_a_stub_would_give_from_other_values() {
        for (text, expected) in [
            ("0", "0"),
            ("1", "1"),
            ("17", "n"),
            ("-3", "n"),
            ("Some(Tracked(-3))", "Some(n)"),
            ("\"\"", "0"),
            ("\"a \\\" b\"", "n"),
            ("'x'", "n"),
            ("Some(())", "Some(0)"),
            ("Some(\"\")", "Some(0)"),
            ("Err(IndexVacant)", "Err(IndexVacant)"),
            ("[]", "[]"),
            ("[0, 1, 7, 0, 5, 6]", "[0,1,n,0,]"),
            ("Version { major: 1, minor: 0 }", "Version{major:1,minor:0}"),
            ("{1: \"a\"}", "{1:n}"),
            ("true", "true"),
            ("1.5e3", "n"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn of_each_path_the_shortest_and_the_richest_are_kept() {
        let mut catalogue = Catalogue::default();
        let of = |length: usize| Sequence { steps: vec![Step::Drop(ValueId(0)); length] };
        for (kind, length) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("ffff", 9), ("ggg", 6)] {
            let fact = Fact { path: "f".to_owned(), leaves: false, kind: kind.to_owned() };
            catalogue.offer(fact.clone(), length + 1, || Some(of(length + 1)));
            catalogue.offer(fact, length, || Some(of(length)));
        }
        let chosen = catalogue.chosen();
        let kinds: Vec<&str> = chosen.iter().map(|(fact, _)| fact.kind.as_str()).collect();
        assert_eq!(kinds, ["a", "b", "c", "d", "ffff", "ggg"]);
        assert_eq!(chosen[1].1.len(), 2);
    }
}
