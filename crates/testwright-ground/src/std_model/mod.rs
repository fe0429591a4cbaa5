//! What std offers, as an [`Api`]: `model/*.rs.txt` (std's signatures in Rust syntax, never compiled) read once.
//!
//! rustdoc's JSON of a crate has nothing of std, so the types, traits, methods and impls of std that APIs lead to are
//! written down here, by hand. Unit tests compile every callable and every fact against the real std.
//!
//! # The texts
//!
//! A text is a list of modules (`mod vec { … }` is `std::vec`) with structs, enums, traits, impls, type aliases and functions.
//! Bodies and `pub` are left out; in a trait `{}` instead of `;` marks a provided method. Names are found by
//! the end of their path: `Vec`, `vec::IntoIter`, `std::vec::IntoIter`; an ambiguous one means the item of the same module.
//!
//! | written | means |
//! | --- | --- |
//! | `struct Vec<T>;` | a struct with private fields only |
//! | `#[unit] struct RangeFull;` | a unit struct |
//! | `#[derive(Clone)] struct Vec<T>;` | `impl<T: Clone> Clone for Vec<T>` |
//! | `#[implements(Default)] struct Vec<T>;` | `impl<T> Default for Vec<T>` |
//! | `#[panics("…")]` | when the function panics: [`Docs::panics`](testwright_model::api::Docs) |
//! | `#[expr("{self}.iter()")]` | how to call it where its path does not, with the holes of a [`Form`](testwright_model::operation::Form): `expr:{self}.iter()` as the first of `docs.examples` |
//! | `#[unordered]` | what comes out differs between processes: `docs.text` is `unordered` |
//! | `#[skip("…")]` | not to be called: `doc_hidden`, and listed in [`Api::skipped`] |
//! | `#[for_each(Int: u8, u16)]` | the impl or function again and again with `Int` replaced; `expand.rs` has names for long lists |
//! | `#[tuples]` | `impl<T: B> Trait for (T,)` for tuples of one to six elements |
//!
//! Types and traits are written out in full in the result: defaults are filled in (`HashMap<K, V, RandomState>`,
//! `PartialEq<Self>`), lifetimes that are not written are elided ones, and projections name their trait.
//!
//! An auto trait (`Send`, `Sync`, `Unpin`, …) has impls only for the types for which it is not simply what their arguments say.
//! `impl !Sized for Path` marks the types without a size that have a name.

mod expand;
mod lower;
mod names;
mod scope;

#[cfg(test)]
mod conformance;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use testwright_model::api::Generics;
use testwright_model::{Api, Ty};

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(Text { file: concat!("model/", $name, ".rs.txt"), source: include_str!(concat!("model/", $name, ".rs.txt")) }),*]
    };
}

/// The model of std.
pub fn api() -> &'static Api {
    &model().api
}

/// std's type aliases by their path (`std::io::Result`, `std::num::NonZeroU8`); nothing in [`api`] mentions them.
pub fn aliases() -> &'static BTreeMap<String, Alias> {
    &model().aliases
}

/// `type Path<generics> = ty;`
#[derive(Clone, Debug)]
pub struct Alias {
    pub generics: Generics,
    pub ty: Ty,
}

/// What all texts together say.
#[derive(Debug)]
struct Model {
    api: Api,
    aliases: BTreeMap<String, Alias>,
}

/// Panics if a text is malformed, which a unit test rules out.
fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| match read(TEXTS) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    })
}

const TEXTS: &[Text] = texts![
    "traits",
    "ops",
    "option",
    "slice",
    "string",
    "iter",
    "prim",
    "boxed",
    "pointers",
    "collections",
    "io",
    "values"
];

/// One file of the model.
struct Text {
    file: &'static str,
    source: &'static str,
}

/// What is wrong in a text, and where.
#[derive(Debug)]
struct TextError {
    file: String,
    line: usize,
    message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "std_model/{}:{}: {}", self.file, self.line, self.message)
    }
}

impl TextError {
    fn new(file: &str, error: &syn::Error) -> TextError {
        TextError { file: file.to_owned(), line: error.span().start().line, message: error.to_string() }
    }
}

fn read(texts: &[Text]) -> Result<Model, TextError> {
    let mut items = Vec::new();
    for text in texts {
        items.extend(
            expand::items(text.file, text.source).map_err(|error| TextError::new(text.file, &error))?,
        );
    }
    let names = names::Names::new(&items).map_err(|(file, error)| TextError::new(file, &error))?;
    lower::model(&items, &names).map_err(|(file, error)| TextError::new(file, &error))
}
