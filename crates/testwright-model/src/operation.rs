//! One concrete callable with every generic filled in, and the table of all of them.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::Clause;
use crate::law::{Law, LawRef};
use crate::ty::Ty;

/// Index into [`Operations::operations`]; the worker uses the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct OpId(pub u32);

/// Index into [`Operations::types`]; the worker uses the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TypeId(pub u32);

/// Everything that sequences are made of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Operations {
    /// Types of values, regions erased.
    pub types: Vec<Ty>,
    /// What the compiler said of each type; all unset until the worker has told.
    pub abilities: Vec<Abilities>,
    pub operations: Vec<Operation>,
    #[serde(skip)]
    index: HashMap<Ty, TypeId>,
}

/// What a type can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact of the compiler's, none excludes another"
)]
pub struct Abilities {
    pub needs_drop: bool,
    pub copy: bool,
    pub clone: bool,
    pub eq: bool,
    pub ord: bool,
    pub hash: bool,
    pub debug: bool,
    pub display: bool,
    pub default: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Canonical path for reports: `Slab::insert`, `<Slab as Index>::index`.
    pub path: String,
    pub origin: Origin,
    pub params: Vec<Param>,
    pub result: TypeId,
    pub flow: Flow,
    pub form: Form,
    /// What the documentation says of its panics.
    pub panics: Option<String>,
    /// The choice of concrete types in words, `T = i32`; empty where nothing was to choose.
    pub grounding: String,
}

/// Where an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The crate under test; the number of its callable.
    Subject(u32),
    /// The std model.
    Std,
    /// Tuples, arrays, coercions: made by the grounding itself.
    Made,
    /// A law that is checked; see [`crate::law`].
    Law(LawRef),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// What is taken, a value of type `ty`, or a borrow of one.
    pub take: Take,
    pub ty: TypeId,
    /// The argument may hold no borrow of a local value.
    pub needs_static: bool,
    /// The declared type leaves open which number type is meant: a literal needs its suffix.
    pub open: bool,
}

/// How a parameter takes its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Take {
    /// By value: moved, or copied if the type is `Copy`.
    Value,
    /// `&T` with sized `T`; the parameter's `ty` is `T`.
    Shared,
    /// `&mut T` with sized `T`.
    Mut,
}

/// Where the borrows of arguments go, from the lifetimes of the signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Parameters whose own reference lives on in the result.
    pub outer: Vec<u8>,
    /// Parameters whose inner borrows live on in the result.
    pub inner: Vec<u8>,
    /// `(to, from)`: what `to` refers to may hold on to what `from` borrows.
    pub stores: Vec<(u8, u8)>,
}

/// How the call is written in Rust. `{0}`, `{1}` … stand for arguments as the parameter's type takes them,
/// `{self}` for the first one as receiver of a method call (a place: no `&` before it).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// Fully qualified; what the worker calls.
    pub full: String,
    /// As a person writes it; empty if that is the same.
    pub short: String,
    /// Traits that must be in scope for the short form.
    pub traits: Vec<String>,
    /// The short form was rejected by the compiler.
    pub only_full: bool,
    /// What is checked before and after the call; the worker always does, a test where it is about that.
    pub clauses: Vec<Clause>,
}

/// How the form of a call whose panic is caught begins; no other does.
pub const CAUGHT: &str = "drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ";

/// A hole in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// `{self}`: the first argument as receiver of a method call.
    Receiver,
    /// `{n}`: the argument as the parameter's type takes it.
    Value(usize),
    /// `{*n}`: the place that the argument is or refers to.
    Place(usize),
}

/// Fills the holes of a form; braces that are no holes stay.
pub fn fill(form: &str, mut text: impl FnMut(Hole, &str) -> String) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        let inside = &rest[start + 1..];
        let end = inside.find('}');
        let hole = end.and_then(|end| match &inside[..end] {
            "self" => Some(Hole::Receiver),
            name => match name.strip_prefix('*') {
                Some(digits) => digits.parse().ok().map(Hole::Place),
                None => name.parse().ok().map(Hole::Value),
            },
        });
        if let (Some(hole), Some(end)) = (hole, end) {
            rest = &inside[end + 1..];
            out.push_str(&text(hole, rest));
        } else {
            out.push('{');
            rest = inside;
        }
    }
    out.push_str(rest);
    out
}

impl Form {
    /// The form to print.
    pub fn preferred(&self) -> &str {
        if self.only_full || self.short.is_empty() { &self.full } else { &self.short }
    }
}

impl Operation {
    /// Whether the result can hold a borrow.
    pub fn borrows(&self) -> bool {
        !self.flow.outer.is_empty() || !self.flow.inner.is_empty()
    }

    pub fn is_subject(&self) -> bool {
        matches!(self.origin, Origin::Subject(_))
    }

    /// Whether a panic of the call is caught.
    pub fn is_caught(&self) -> bool {
        self.form.full.starts_with(CAUGHT)
    }

    /// The law that the call checks.
    pub fn law(&self) -> Option<&'static Law> {
        match self.origin {
            Origin::Law(law) => Some(law.0),
            _ => None,
        }
    }
}

impl Operations {
    /// The number of a type, which must be ground and erased.
    pub fn type_id(&mut self, ty: &Ty) -> TypeId {
        if let Some(id) = self.index.get(ty) {
            return *id;
        }
        let id = TypeId(u32::try_from(self.types.len()).expect("fewer than 2^32 types"));
        self.types.push(ty.clone());
        self.abilities.push(Abilities::default());
        self.index.insert(ty.clone(), id);
        id
    }

    pub fn find_type(&self, ty: &Ty) -> Option<TypeId> {
        self.index.get(ty).copied()
    }

    pub fn ty(&self, id: TypeId) -> &Ty {
        &self.types[id.0 as usize]
    }

    pub fn abilities(&self, id: TypeId) -> Abilities {
        self.abilities[id.0 as usize]
    }

    pub fn get(&self, id: OpId) -> &Operation {
        &self.operations[id.0 as usize]
    }

    pub fn ids(&self) -> impl Iterator<Item = OpId> + use<> {
        (0..u32::try_from(self.operations.len()).expect("fewer than 2^32 operations")).map(OpId)
    }

    /// Restores the index after deserialization.
    pub fn reindex(&mut self) {
        self.index = self.types.iter().cloned().zip((0..).map(TypeId)).collect();
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
