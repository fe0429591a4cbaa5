//! What a crate offers, read from its documentation or written by hand for std.
//!
//! Paths are canonical: `lib::module::Item`, with the library's name in code first, by a path that a user can write
//! (public modules and re-exports; the shortest, then the alphabetically first one). Items of std have the path that users write too
//! (`std::vec::Vec`, `std::iter::Iterator`, never `alloc::` or `core::`); items of other crates a path that
//! the compiler accepts where one was looked for, else that of their definition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ty::{Bound, Const, Region, TraitRef, Ty};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Api {
    /// Name of the library in code: `num_bigint`.
    pub lib: String,
    pub version: String,
    pub types: BTreeMap<String, TypeDef>,
    pub traits: BTreeMap<String, TraitDef>,
    pub impls: Vec<ImplDef>,
    /// Free functions.
    pub functions: Vec<Function>,
    /// Constants and statics outside impls.
    pub constants: Vec<Constant>,
    /// What was not taken, with a reason each.
    pub skipped: Vec<Skipped>,
    /// Other crates whose types or traits occur, by their name in paths (`num_traits`); std is not among them.
    pub foreign: BTreeMap<String, Foreign>,
    /// Traits of other crates, as bounds write them with their arguments (lifetimes as `'static`), with the types that the compiler was asked about and whether each implements the
    /// trait: documentation tells only of the crate's own impls.
    pub asked: BTreeMap<String, Vec<(Ty, bool)>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Foreign {
    /// Name in paths.
    pub name: String,
    /// Kinds and paths seen: `num_traits::Zero`.
    pub paths: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    pub path: String,
    /// `function`, `macro`, `module` …
    pub kind: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeDef {
    pub path: String,
    pub generics: Generics,
    pub kind: TypeKind,
    pub non_exhaustive: bool,
    pub docs: Docs,
    pub span: Option<Span>,
    pub deprecated: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TypeKind {
    Struct(Shape),
    Enum(Vec<Variant>),
    Union,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub name: String,
    pub shape: Shape,
    pub non_exhaustive: bool,
    pub doc_hidden: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    Unit,
    /// `None` for a field that is private or hidden.
    Tuple(Vec<Option<Ty>>),
    Named {
        /// Public fields.
        fields: Vec<(String, Ty)>,
        /// There are private or hidden fields too.
        has_private: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact of the documentation's, none excludes another"
)]
pub struct TraitDef {
    pub path: String,
    pub generics: Generics,
    pub supertraits: Vec<Bound>,
    pub assoc_types: Vec<AssocType>,
    pub assoc_consts: Vec<Constant>,
    /// Required and provided methods; `has_body` tells which.
    pub methods: Vec<Function>,
    pub is_unsafe: bool,
    pub is_auto: bool,
    /// `dyn Trait` is allowed.
    pub object_safe: bool,
    pub docs: Docs,
    pub span: Option<Span>,
    pub doc_hidden: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssocType {
    pub name: String,
    pub generics: Generics,
    pub bounds: Vec<Bound>,
    pub default: Option<Ty>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact of the documentation's, none excludes another"
)]
pub struct ImplDef {
    pub generics: Generics,
    /// `None`: an inherent impl.
    pub trait_: Option<TraitRef>,
    pub for_: Ty,
    pub methods: Vec<Function>,
    pub assoc_types: Vec<(String, Ty)>,
    pub assoc_consts: Vec<Constant>,
    pub negative: bool,
    /// An auto trait's impl that the compiler made up.
    pub synthetic: bool,
    /// `impl<T: A> B for T`. Those of std for the crate's types (`impl<T> Into<U> for T`) are not taken: the std model has them.
    pub blanket: bool,
    /// Made by `#[derive]`.
    pub derived: bool,
    pub span: Option<Span>,
}

/// A function, method or associated function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact of the documentation's, none excludes another"
)]
pub struct Function {
    pub name: String,
    /// Canonical for reports: `slab::free_fn` for free functions, `Slab::insert`, `<Slab as Index>::index`, `Trait::provided`.
    pub path: String,
    pub generics: Generics,
    /// In order; a receiver is the first one and is called `self`, its type written out (`&'_ mut Self` with `Self` replaced by the impl's type; in traits `Param("Self")`).
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
    pub is_unsafe: bool,
    pub is_async: bool,
    pub is_const: bool,
    /// In traits: the method is provided. Elsewhere true.
    pub has_body: bool,
    pub docs: Docs,
    pub span: Option<Span>,
    pub deprecated: bool,
    pub doc_hidden: bool,
}

impl Function {
    pub fn has_receiver(&self) -> bool {
        self.params.first().is_some_and(|(name, _)| name == "self")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    pub name: String,
    /// As for functions: `lib::MAX`, `Foo::MAX`.
    pub path: String,
    pub ty: Ty,
    /// Value as the source or the compiler writes it, where known.
    pub value: Option<String>,
    pub kind: ConstantKind,
    pub docs: Docs,
    pub span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstantKind {
    Const,
    Static,
    StaticMut,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generics {
    pub params: Vec<GenericParam>,
    pub wheres: Vec<Where>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenericParam {
    /// `T`, `'a`, `N`.
    pub name: String,
    pub kind: ParamKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ParamKind {
    Lifetime {
        outlives: Vec<Region>,
    },
    /// `impl Trait` arguments are not parameters here: they stay [`Ty::Impl`] in place.
    Type {
        bounds: Vec<Bound>,
        default: Option<Ty>,
    },
    Const {
        ty: Ty,
        default: Option<Const>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Where {
    /// `T: Trait`, `T::Item: Trait`, `for<'a> &'a T: Trait`.
    Bound { ty: Ty, bounds: Vec<Bound>, binder: Vec<String> },
    /// `'a: 'b + 'c`.
    Outlives { region: Region, longer_than: Vec<Region> },
    /// `T::Item == U`.
    Equal { left: Ty, right: Ty },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Docs {
    pub text: String,
    /// The `# Panics` section, or the sentence that says "panics if/when".
    pub panics: Option<String>,
    /// Code blocks that are doc tests, as written (hidden `# ` lines included without their mark).
    pub examples: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// As the compiler gives it: relative to the package, or absolute.
    pub file: String,
    pub line: u32,
    pub end_line: u32,
}
