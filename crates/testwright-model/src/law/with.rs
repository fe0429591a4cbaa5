//! What a law is about beside its type: another type, or methods by their names.

/// There is an operation for each that the crate wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    Nothing,
    /// The items of the type and of a reference to it, if they are the same but for being references.
    Items {
        mutable: bool,
    },
    /// `{U}`: another type.
    Other(Other),
    /// `{m}` and `{args}`: a method that changes a value, and its arguments; `{let}` before it takes what it returns.
    Change,
    /// `{m}` and `{args}`: what `checked_` and this stand before in the names of two methods, and their arguments.
    Family(&'static str),
    /// `{new}` and `{same}`: the argument of `insert`, and the same for `contains`.
    Insertion,
    /// The same, and `{gone}` for `remove`, which says whether it was there.
    Removal,
    /// `{key}` and `{value}`: the arguments of a map's `insert`, and the key for each of these methods by its name, `{get}`.
    Map(&'static [&'static str]),
    /// What the type dereferences to.
    Target,
    /// `{to}`, `{from}` and `{kept}`: a value of the type is `converted`, comes `back`, and is the same; `{name}` is the method that takes it back.
    Pair,
    /// serde's two traits, of which at least one is written by hand; the type borrows nothing and holds no floats that can be told.
    Serde,
}

/// Another type, for which the crate wrote `impl of<U> for T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    pub of: &'static str,
    /// What it must implement, with the type as argument.
    pub back: &'static [&'static str],
    /// What the type must implement with it as argument too.
    pub also: &'static [&'static str],
    /// Whether the type also dereferences to it.
    pub target: bool,
    /// Whether the type is also collected from it, by an implementation of the crate's.
    pub collected: bool,
    /// What it must implement by itself.
    pub needs: &'static [&'static str],
    /// The value of it that the law takes after those of the type.
    pub takes: Value,
    /// It is an integer, `bool` or `char`.
    pub plain: bool,
}

impl Other {
    pub(super) const NONE: Other = Other {
        of: "",
        back: &[],
        also: &[],
        target: false,
        collected: false,
        needs: &[],
        takes: Value::Nothing,
        plain: false,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Nothing,
    Shared,
    /// Some of them in a vector, which is used up.
    Items,
}

impl With {
    /// Whether the law takes more than values of its type.
    pub fn takes_more(self) -> bool {
        match self {
            With::Nothing | With::Items { .. } | With::Target | With::Pair | With::Serde => false,
            With::Other(other) => other.takes != Value::Nothing,
            With::Change | With::Family(_) | With::Insertion | With::Removal | With::Map(_) => true,
        }
    }
}

/// Names of methods that add to a value, the plainest first.
pub const ADDING: [&str; 8] = ["push", "push_back", "push_str", "add", "insert", "set", "put", "push_front"];

/// Names of methods that take something from a value.
pub const TAKING: [&str; 5] = ["pop", "pop_back", "pop_front", "clear", "truncate"];

/// What methods `to_x`, `as_x` or `into_x` and `from_x` have in common where the one loses nothing that the other needs. Units are not
/// among them: `as_secs` leaves out what is not a whole second.
pub const SHAPES: [&str; 24] = [
    "bytes", "be_bytes", "le_bytes", "ne_bytes", "bytes_le", "bytes_be", "bits", "raw", "inner", "u8", "u16",
    "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "string", "hex", "array",
];
