//! What a test asserts of a value, from the value's type and its `Debug` text.

use testwright_model::operation::{Operations, TypeId};
use testwright_model::{GenericArg, Prim, Ty, ValueId};

use crate::value::{Against, source};

/// Longer texts tell a reader nothing and break with every change.
const LONGEST: usize = 300;

/// A struct whose text is longer is a machine that is shown running, no value.
const LONG: usize = 150;

/// A fact about a value that a test asserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    pub value: ValueId,
    /// Its `Debug` text, whole.
    pub text: String,
    /// Whether that is what it looks like at the end; else when it was made.
    pub left: bool,
}

/// How much an assertion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// There is none.
    Nothing,
    /// It compares the `Debug` text.
    Text,
    /// It compares the value.
    Value,
}

/// How much can be asserted of a value with this text.
pub fn strength(operations: &Operations, id: TypeId, text: &str) -> Strength {
    match check(operations, id, text) {
        None => Strength::Nothing,
        Some(Check::Reads(_)) => Strength::Text,
        Some(_) => Strength::Value,
    }
}

/// How a fact is asserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    True,
    False,
    IsNan,
    IsEmpty,
    IsNone,
    /// `assert_eq!(value, source)`.
    Equals(String),
    /// A `Result` that cannot be compared, but whose `Ok` can; nothing more is said of a unit.
    Unwraps(Option<String>),
    /// The `Debug` text itself.
    Reads(String),
}

impl Check {
    /// Whether the value's end is not worth a variable: what is made of plain values has no destructor that anyone could see.
    pub fn is_plain(&self) -> bool {
        !matches!(self, Check::Reads(_))
    }
}

/// The strongest check that the type allows; none where the text is no lasting fact.
pub fn check(operations: &Operations, id: TypeId, text: &str) -> Option<Check> {
    let ty = operations.ty(id);
    if text.len() > LONGEST || ty.is_unit() {
        return None;
    }
    match (ty, text) {
        (Ty::Prim(Prim::Bool), "true") => return Some(Check::True),
        (Ty::Prim(Prim::Bool), "false") => return Some(Check::False),
        (Ty::Prim(Prim::F32 | Prim::F64), "NaN") => return Some(Check::IsNan),
        (_, "[]") if is_list(ty) => return Some(Check::IsEmpty),
        _ => {}
    }
    if operations.abilities(id).eq {
        if let Some(source) = source(operations, ty, text, Against::Value) {
            return Some(Check::Equals(source));
        }
    } else if let Some(check) = without_eq(operations, ty, text) {
        return Some(check);
    }
    if holds_address(text) || shows_insides(text) || is_view(ty) && text.contains(" {") {
        return None;
    }
    Some(Check::Reads(text.to_owned()))
}

/// Whether a `Debug` text shows how a type is made rather than what it holds: such an assertion breaks when a private field is renamed.
pub fn shows_insides(text: &str) -> bool {
    const WORDS: [&str; 9] =
        ["PhantomData", "NonNull", "UnsafeCell", "MaybeUninit", "inner", "iter", "ptr", "marker", "Iter"];
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.map(|word| word.trim_start_matches('_')).any(|word| WORDS.contains(&word))
        || text.len() > LONG && has_fields(text)
}

/// Whether a struct with named fields is shown, and not only told of in a text.
fn has_fields(text: &str) -> bool {
    let mut quoted = false;
    text.char_indices().any(|(at, c)| {
        if c == '"' && !text[..at].ends_with('\\') {
            quoted = !quoted;
        }
        c == '{' && !quoted && text[..at].ends_with(' ')
    })
}

/// Iterators, guards and other types that look at another value: what their fields are is nobody's business.
fn is_view(ty: &Ty) -> bool {
    matches!(ty, Ty::Adt { args, .. } if args.iter().any(|arg| matches!(arg, GenericArg::Region(_))))
}

/// Errors often cannot be compared, what comes with them can.
fn without_eq(operations: &Operations, ty: &Ty, text: &str) -> Option<Check> {
    let Ty::Adt { path, args } = ty else { return None };
    match path.as_str() {
        "std::option::Option" if text == "None" => Some(Check::IsNone),
        "std::result::Result" => {
            let inner = text.strip_prefix("Ok(")?.strip_suffix(')')?;
            let Some(GenericArg::Ty(ok)) = args.first() else { return None };
            if ok.is_unit() {
                return Some(Check::Unwraps(None));
            }
            let comparable = match ok {
                Ty::Prim(Prim::Bool) => false,
                Ty::Prim(_) => true,
                Ty::Ref { to, .. } => matches!(**to, Ty::Prim(_) | Ty::Str),
                _ => ok.to_string() == "std::string::String",
            };
            let source = source(operations, ok, inner, Against::Value)?;
            if comparable { Some(Check::Unwraps(Some(source))) } else { None }
        }
        _ => None,
    }
}

fn is_list(ty: &Ty) -> bool {
    match ty {
        Ty::Adt { path, .. } => matches!(path.as_str(), "std::vec::Vec" | "std::collections::VecDeque"),
        Ty::Ref { to, .. } => matches!(**to, Ty::Slice(_)) || is_list(to),
        _ => false,
    }
}

/// Addresses differ from run to run.
fn holds_address(text: &str) -> bool {
    text.match_indices("0x").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            && after.is_some_and(|c| c.is_ascii_hexdigit())
    })
}

/// A string literal with this content, raw where that reads better.
pub fn quoted(text: &str) -> String {
    let escaped = format!("{text:?}");
    let only_quotes = escaped.len() == text.len() + 2 + text.matches(['"', '\\']).count();
    if !only_quotes || escaped.len() == text.len() + 2 {
        return escaped;
    }
    let mut hashes = String::from(if text.contains('"') { "#" } else { "" });
    while text.contains(&format!("\"{hashes}")) && !hashes.is_empty() {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}

#[cfg(test)]
mod tests {
    use super::{holds_address, quoted, shows_insides};

    #[test]
    fn private_parts_are_seen() {
        assert!(shows_insides("Keys { inner: Iter { range: 0 } }"));
        assert!(shows_insides("Tag(PhantomData<u8>)"));
        assert!(!shows_insides("Version { major: 1, minor: 0 }"));
        assert!(!shows_insides("[\"a pointer\", \"winner\"]"));
        let states = "first: 0, second: 0, third: 0, ".repeat(5);
        assert!(shows_insides(&format!("Builder {{ writer: Writer {{ {states}}} }}")));
        assert!(!shows_insides(&format!("Numbers({states})")));
        assert!(!shows_insides(&format!("[\"Writer {{ {states}}}\"]")));
        assert!(!shows_insides("Line { from: Point { x: 0, y: 0 }, to: Point { x: 1, y: 0 } }"));
    }

    #[test]
    fn raw_strings_where_they_read_better() {
        let cases = [
            ("plain", "\"plain\""),
            ("a \"b\"", "r#\"a \"b\"\"#"),
            ("a \"#", "r##\"a \"#\"##"),
            ("a\\b", "r\"a\\b\""),
            ("a\n\"b\"", "\"a\\n\\\"b\\\"\""),
            ("it's", "\"it's\""),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn addresses_are_seen() {
        assert!(holds_address("Node { next: 0x7ffd12 }"));
        assert!(holds_address("0x8"));
        assert!(!holds_address("Node { id: 0 }"));
        assert!(!holds_address("a0x8 0xyz"));
    }
}
