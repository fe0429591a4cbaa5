//! Laws that std's documentation demands of implementations of its traits, and one of serde's.
//!
//! A law is an operation like any other: a call that takes one, two or three values, holds if nothing is wrong, and panics with
//! the law's words if it is broken. What the worker runs is what a test prints. Which types a law is for, the grounding finds out;
//! what a broken one means, the judge says.

mod added;
mod borrow;
mod checked;
mod clone;
mod collect;
mod convert;
mod eq;
mod format;
mod hash;
mod index;
mod iterator;
mod map;
mod operators;
mod ord;
mod pair;
mod partial_ord;
mod reference;
mod serialise;
mod size;
mod text;
mod with;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::operation::Take;

pub use added::Added;
pub use with::{ADDING, Other, SHAPES, TAKING, Value, With};

/// One law of one trait.
#[derive(Debug)]
pub struct Law {
    /// The class of a finding: `law:PartialEq.symmetric`.
    pub class: &'static str,
    /// The end of a test's name: `is_symmetric`.
    pub title: &'static str,
    /// Who breaks it: a trait's name and its method.
    pub blames: (&'static str, &'static str),
    /// What a type must implement, with itself as the other side if none is named (`std::ops::Index<usize>`).
    pub needs: &'static [&'static str],
    /// Of these at least one is written by hand: what is derived keeps the law.
    pub written: &'static [&'static str],
    /// Provided methods of the trait of which at least one is overridden: the provided ones keep the law. Empty: it does not matter.
    pub overrides: &'static [&'static str],
    /// Only for types whose parts nobody else can set: else values may be what the type itself would never make.
    pub sealed: bool,
    /// Only for types that have room for whatever is put in.
    pub unbounded: bool,
    /// Beginnings of the signatures of methods that the type must have: `len(&self) -> usize`.
    pub methods: &'static [&'static str],
    /// What it is about beside the type.
    pub with: With,
    /// A crate that the code names and that the subject need not be built on.
    pub beside: Option<&'static str>,
    /// The values that it is about.
    pub takes: &'static [Take],
    /// The call as a form (see [`crate::operation::Form`]); `{T}` is the type, and [`With`] says what else there is. If the law is
    /// broken it panics with [`Law::says`].
    pub code: &'static str,
    /// The law in words; the message of the panic.
    pub says: &'static str,
    /// Where std's documentation demands it.
    pub source: &'static str,
    /// How much a broken law says.
    pub confidence: Confidence,
    /// A panic of the library's own code inside of the law is judged as one of the method that is blamed; else a plain call shows it too.
    pub shows_panics: bool,
}

/// What a maintainer has to agree to before a broken law is a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Nothing: std demands it of whoever implements the trait, or of methods with that signature.
    Certain,
    /// That methods mean what their names say. Never reason enough for exit code 1.
    Hint,
}

/// The laws of std's traits.
const ALL: &[&[Law]] = &[
    eq::LAWS,
    hash::LAWS,
    partial_ord::LAWS,
    ord::LAWS,
    clone::LAWS,
    text::LAWS,
    iterator::LAWS,
    size::LAWS,
    operators::LAWS,
    index::LAWS,
    collect::LAWS,
    borrow::LAWS,
    reference::LAWS,
    format::LAWS,
    map::LAWS,
    pair::LAWS,
    checked::LAWS,
    convert::LAWS,
    serialise::LAWS,
];

/// The laws of std's traits.
pub fn all() -> impl Iterator<Item = &'static Law> {
    ALL.iter().copied().flatten()
}

/// The law that an operation checks; two are the same if their classes are.
#[derive(Clone, Copy, Debug)]
pub struct LawRef(pub &'static Law);

impl PartialEq for LawRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.class == other.0.class
    }
}

impl Eq for LawRef {}

impl Serialize for LawRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.class)
    }
}

impl<'de> Deserialize<'de> for LawRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let class = String::deserialize(deserializer)?;
        of_class(&class).map(LawRef).ok_or_else(|| serde::de::Error::custom(format!("no law `{class}`")))
    }
}

/// The law whose breach is of this class.
pub fn of_class(class: &str) -> Option<&'static Law> {
    all().find(|law| law.class == class)
}

impl Law {
    const NONE: Law = Law {
        class: "",
        title: "",
        blames: ("", ""),
        needs: &[],
        written: &[],
        overrides: &[],
        sealed: false,
        unbounded: false,
        methods: &[],
        with: With::Nothing,
        beside: None,
        takes: &[],
        code: "",
        says: "",
        source: "",
        confidence: Confidence::Certain,
        shows_panics: false,
    };
}

const ONE: &[Take] = &[Take::Shared];
const TWO: &[Take] = &[Take::Shared, Take::Shared];
const THREE: &[Take] = &[Take::Shared, Take::Shared, Take::Shared];
/// One value, which is used up.
const MOVED: &[Take] = &[Take::Value];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn laws_are_told_apart_and_say_what_they_check() {
        let (mut classes, mut titles) = (HashSet::new(), HashSet::new());
        for law in all() {
            assert!(classes.insert(law.class), "{} twice", law.class);
            assert!(titles.insert((law.blames.0, law.title)), "{} twice", law.title);
            assert!(law.class.starts_with("law:") && law.class.contains('.'), "{}", law.class);
            assert!(law.code.contains(law.says), "{} panics with other words", law.class);
            let values = law.takes.len() + usize::from(law.with.takes_more());
            assert!(!law.source.is_empty() && values > 0, "{}", law.class);
            assert_eq!(of_class(law.class).map(|law| law.says), Some(law.says));
        }
    }
}
