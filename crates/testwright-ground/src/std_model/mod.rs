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
//! | `#[expr("{0}.iter()")]` | how to call it where a path does not: `expr:{0}.iter()` as the first of `docs.examples` |
//! | `#[unordered]` | what comes out differs between processes: `docs.text` is `unordered` |
//! | `#[skip("…")]` | not to be called: `doc_hidden`, and listed in [`Api::skipped`] |
//! | `#[for_each(Int: u8, u16)]` | the impl or function again and again with `Int` replaced; [`expand`] has names for long lists |
//! | `#[tuples]` | `impl<T: B> Trait for (T,)` for tuples of one to six elements |
//!
//! Types and traits are written out in full in the result: defaults are filled in (`HashMap<K, V, RandomState>`,
//! `PartialEq<Self>`), lifetimes that are not written are elided ones, and projections name their trait.

mod expand;
mod lower;
mod names;
mod scope;

#[cfg(test)]
mod conformance;

use std::fmt;
use std::sync::OnceLock;

use testwright_model::Api;

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(Text { file: concat!("model/", $name, ".rs.txt"), source: include_str!(concat!("model/", $name, ".rs.txt")) }),*]
    };
}

/// The model of std.
///
/// # Panics
///
/// If a text is malformed, which a unit test rules out.
pub fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(|| match read(TEXTS) {
        Ok(api) => api,
        Err(error) => panic!("{error}"),
    })
}

const TEXTS: &[Text] = texts!["traits", "ops", "option", "slice", "string", "iter", "prim", "boxed"];

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

fn read(texts: &[Text]) -> Result<Api, TextError> {
    let mut items = Vec::new();
    for text in texts {
        items.extend(
            expand::items(text.file, text.source).map_err(|error| TextError::new(text.file, &error))?,
        );
    }
    let names = names::Names::new(&items).map_err(|(file, error)| TextError::new(file, &error))?;
    lower::api(&items, &names).map_err(|(file, error)| TextError::new(file, &error))
}
