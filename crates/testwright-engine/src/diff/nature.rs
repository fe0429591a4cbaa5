//! What kind of difference a test shows: another result, a panic that came or went, or only how a value is represented.

use super::trial::{How, Told};

/// What differs between the versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nature {
    /// Another value comes back.
    Result,
    PanicsNow,
    NoLongerPanics,
    /// One of them ends the process, or does not end.
    Ends,
    /// A law of a trait or of the author, or a contract: kept by one version only.
    Law,
    /// The `Debug` text has other fields or names; what is in them is the same, or cannot be compared.
    DebugText,
    /// How much room is kept.
    Capacity,
    /// A panic's words.
    Words,
}

impl Nature {
    /// Whether callers may depend on it; otherwise it is representation only.
    pub fn is_behaviour(self) -> bool {
        !matches!(self, Nature::DebugText | Nature::Capacity | Nature::Words)
    }

    pub fn name(self) -> &'static str {
        match self {
            Nature::Result => "result",
            Nature::PanicsNow => "panics-now",
            Nature::NoLongerPanics => "no-longer-panics",
            Nature::Ends => "process-ends",
            Nature::Law => "law",
            Nature::DebugText => "debug-text",
            Nature::Capacity => "capacity",
            Nature::Words => "panic-words",
        }
    }
}

/// A difference as a reader sees it: what it was with the old version, what it is with the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub nature: Nature,
    pub before: String,
    pub after: String,
}

/// The last statement of a test that passes with one version and, with the other, says this.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub told: &'a Told,
    /// The last statement, as text.
    pub statement: &'a str,
    /// Whether what it compares is a `Debug` text.
    pub is_text: bool,
    /// The message that a passing run expects, if it expects a panic.
    pub panics: Option<&'a str>,
    pub operation: &'a str,
    /// Whether it passes with the old version.
    pub passes_before: bool,
}

impl Shown<'_> {
    pub fn seen(&self) -> Seen {
        let (nature, passing, failing) = self.sides();
        let (before, after) = if self.passes_before { (passing, failing) } else { (failing, passing) };
        Seen { nature, before, after }
    }

    /// The nature, what it is where the test passes, and what where it fails.
    fn sides(&self) -> (Nature, String, String) {
        let told = self.told;
        let panics = |message: &str| format!("panics: {message}");
        // Seen from the version where the test passes to the one where it fails.
        let comes = if self.passes_before { Nature::PanicsNow } else { Nature::NoLongerPanics };
        let goes = if self.passes_before { Nature::NoLongerPanics } else { Nature::PanicsNow };
        let expected = self.panics.map_or_else(|| "returns".to_owned(), panics);
        match told.how {
            How::Hang | How::Death => (Nature::Ends, expected, told.message.clone()),
            How::NoPanic => (goes, expected, "returns".to_owned()),
            How::OtherPanic => (Nature::Words, expected, panics(&told.message)),
            How::Panic => (comes, expected, panics(&told.message)),
            How::Assertion => self.values(),
        }
    }

    fn values(&self) -> (Nature, String, String) {
        let Some((seen, expected)) = &self.told.sides else {
            let (passing, failing) =
                if self.statement.starts_with("assert!(!") { ("false", "true") } else { ("true", "false") };
            // `assert!(x.is_none())` and the like, or an `unwrap` in front of a comparison.
            let failing =
                if self.told.message.starts_with("called `") { self.told.message.as_str() } else { failing };
            return (Nature::Result, passing.to_owned(), failing.to_owned());
        };
        let nature = if self.operation.ends_with("capacity") {
            Nature::Capacity
        } else if self.is_text {
            by_text(seen, expected)
        } else {
            Nature::Result
        };
        (nature, short(expected), short(seen))
    }
}

/// Longer values are cut where they are shown; the test has them whole.
fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain("…".chars()).collect()
}

/// Texts with the same fields and other values differ in what they say; texts with other fields, or other names around the same values, only in how.
fn by_text(one: &str, other: &str) -> Nature {
    let [one, other] = [one, other].map(Parts::of);
    if one.fields != other.fields || one.values == other.values {
        Nature::DebugText
    } else if one.rooms == other.rooms {
        Nature::Result
    } else if one.without_rooms() == other.without_rooms() {
        Nature::Capacity
    } else {
        Nature::Result
    }
}

/// The name of the type that a `Debug` text begins with.
pub fn head(text: &str) -> &str {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let own = |word: &&str| !word.is_empty() && !matches!(*word, "Some" | "Ok" | "Err");
    words.into_iter().find(own).unwrap_or("value")
}

/// The words of a `Debug` text.
#[derive(Debug, Default)]
struct Parts {
    /// Names before a colon.
    fields: Vec<String>,
    /// What is neither a field's name nor that of a type, each with its field.
    values: Vec<(String, String)>,
    /// Values of fields that tell a capacity.
    rooms: Vec<String>,
}

impl Parts {
    fn of(text: &str) -> Parts {
        // The text of a text is escaped once more.
        let text = text.replace("\\\"", "\"");
        let mut parts = Parts::default();
        let mut rest = text.as_str();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        while let Some(c) = rest.chars().next() {
            let length =
                if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
            let (word, after) = rest.split_at(length);
            rest = after;
            if !is_word(c) {
                continue;
            }
            let next = after.trim_start();
            let own = parts.fields.last().cloned().unwrap_or_default();
            if next.starts_with(": ") && !c.is_ascii_digit() {
                parts.fields.push(word.to_owned());
            } else if !(next.starts_with('(') || next.starts_with('{')) {
                if own == "cap" || own == "capacity" {
                    parts.rooms.push(word.to_owned());
                }
                parts.values.push((own, word.to_owned()));
            }
        }
        parts
    }

    fn without_rooms(&self) -> Vec<&(String, String)> {
        self.values.iter().filter(|(field, _)| field != "cap" && field != "capacity").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_the_same_fields_and_other_values_is_another_result() {
        let cases = [
            ("Stack { len: 1 }", "Stack { len: 2 }", Nature::Result),
            ("Stack { len: 1 }", "Stack { items: 1 }", Nature::DebugText),
            ("Stack { len: 1 }", "Stack { len: 1, spare: 0 }", Nature::DebugText),
            ("Stack([1, 2])", "[1, 2]", Nature::DebugText),
            ("Err(Error { kind: Empty })", "Err(Error { kind: Wrong })", Nature::Result),
            ("List { cap: 4, len: 1 }", "List { cap: 8, len: 1 }", Nature::Capacity),
            ("List { cap: 4, len: 1 }", "List { cap: 8, len: 2 }", Nature::Result),
            ("Some(3)", "None", Nature::Result),
        ];
        for (one, other, expected) in cases {
            assert_eq!(by_text(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_text_is_named_by_its_type() {
        assert_eq!(head("\"Some(Tally { marks: [] })\""), "Tally");
        assert_eq!(head("\"[]\""), "value");
    }

    #[test]
    fn before_and_after_do_not_depend_on_whose_test_it_is() {
        let told = Told {
            how: How::Assertion,
            message: "assertion `left == right` failed".to_owned(),
            sides: Some(("2".to_owned(), "1".to_owned())),
        };
        let shown = |passes_before| Shown {
            told: &told,
            statement: "assert_eq!(a.len(), 1);",
            is_text: false,
            panics: None,
            operation: "List::len",
            passes_before,
        };
        let seen = |before: &str, after: &str| Seen {
            nature: Nature::Result,
            before: before.to_owned(),
            after: after.to_owned(),
        };
        assert_eq!(shown(true).seen(), seen("1", "2"));
        assert_eq!(shown(false).seen(), seen("2", "1"));
    }

    #[test]
    fn a_panic_comes_or_goes() {
        let panics = Told { how: How::Panic, message: "too long".to_owned(), sides: None };
        let returns = Told { how: How::NoPanic, message: "does not panic".to_owned(), sides: None };
        let nature = |told: &Told, passes_before| {
            let panics = (told.how == How::NoPanic).then_some("too long");
            Shown {
                told,
                statement: "list.push(1);",
                is_text: false,
                panics,
                operation: "List::push",
                passes_before,
            }
            .seen()
        };
        assert_eq!(nature(&panics, true).nature, Nature::PanicsNow);
        assert_eq!(nature(&panics, false).nature, Nature::NoLongerPanics);
        assert_eq!(nature(&returns, true).nature, Nature::NoLongerPanics);
        assert_eq!(nature(&returns, false).before, "returns");
    }
}
