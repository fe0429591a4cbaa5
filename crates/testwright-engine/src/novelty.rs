//! How values of single types are told apart, as the crate's author wants it: the type table of the worker is written accordingly.

use std::collections::{BTreeMap, BTreeSet};

use testwright_harness::HarnessSource;
use testwright_model::Ty;
use testwright_model::operation::Operations;
use testwright_model::ty::last_segment;

use crate::EngineError;

/// The types of a name, and what tells their values apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoveltyOf {
    /// As `cargo testwright list` prints it, or with its path.
    pub ty: String,
    pub by: Apart,
    /// Where it is said: `testwright.toml:12`.
    pub place: String,
}

/// What tells values apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// `==`, with what was made before.
    Equality,
    /// The `Debug` text, even of a type that has a `Hash`.
    Representation,
    /// The `Debug` text of an expression over the value, which is `a`.
    Expression(String),
}

impl Apart {
    /// What the macro of the type table is told besides the type.
    fn text(&self) -> String {
        match self {
            Apart::Equality => "equality".to_owned(),
            Apart::Representation => "representation".to_owned(),
            Apart::Expression(expression) => format!("by |a| {expression}"),
        }
    }
}

/// Writes the wishes into the type table; by index of the type, the wish that it is there for.
pub fn apply<'w>(
    wishes: &'w [NoveltyOf],
    operations: &Operations,
    source: &mut HarnessSource,
) -> Result<BTreeMap<usize, &'w NoveltyOf>, EngineError> {
    let mut applied = BTreeMap::new();
    for wish in wishes {
        let fits =
            |ty: &Ty| matches!(ty, Ty::Adt { path, .. } if *path == wish.ty || last_segment(path) == wish.ty);
        let types: BTreeSet<usize> =
            operations.types.iter().enumerate().filter(|(_, ty)| fits(ty)).map(|(index, _)| index).collect();
        if types.is_empty() {
            return Err(EngineError::Wish(format!(
                "{}: no value of type `{}` is made; `cargo testwright list` shows the names",
                wish.place, wish.ty
            )));
        }
        for index in types {
            let text = &mut source.types[index];
            *text = format!("{text}, {}", wish.by.text());
            applied.insert(index, wish);
        }
    }
    Ok(applied)
}

/// A wish that the compiler rejects is a mistake of its author's.
pub fn check(
    applied: &BTreeMap<usize, &NoveltyOf>,
    rejected: &BTreeMap<usize, String>,
) -> Result<(), EngineError> {
    let wrong = applied.iter().find_map(|(index, wish)| Some((wish, rejected.get(index)?)));
    match wrong {
        None => Ok(()),
        Some((wish, words)) => Err(EngineError::Wish(format!(
            "{}: values of `{}` cannot be told apart in this way: {words}",
            wish.place, wish.ty
        ))),
    }
}
