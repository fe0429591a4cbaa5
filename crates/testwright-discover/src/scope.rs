//! What names mean at one place of the crate: `Self`, const parameters, associated types, known bounds.

use std::cell::Cell;
use std::collections::BTreeMap;

use testwright_model::ty::{TraitRef, Ty};

use crate::format::{AssocType, Id};

/// How deep associated types of one impl may refer to each other before they stay projections.
const MAX_DEPTH: u32 = 16;

#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    pub self_type: Option<Ty>,
    /// Names of the const parameters around.
    pub consts: Vec<String>,
    /// Bounds around, which tell a trait's arguments where `T::Item` does not.
    pub bounds: Vec<(Ty, TraitRef)>,
    /// In a trait or a trait's impl: that trait.
    pub trait_: Option<(Id, TraitRef)>,
    /// In a trait's impl: its associated types.
    pub assoc: BTreeMap<&'a str, &'a AssocType>,
    pub depth: Cell<u32>,
}

impl Scope<'_> {
    pub fn with_self(self_type: Ty) -> Self {
        Scope { self_type: Some(self_type), ..Scope::default() }
    }

    /// The arguments that the bounds around give to a trait on `base`.
    pub fn known(&self, base: &Ty, path: &str) -> Option<&TraitRef> {
        self.bounds.iter().find(|(ty, trait_)| ty == base && trait_.path == path).map(|(_, trait_)| trait_)
    }

    /// Runs `resolve` one level deeper, or gives up where an associated type seems to refer to itself.
    pub fn deeper<T>(&self, resolve: impl FnOnce() -> T) -> Option<T> {
        if self.depth.get() >= MAX_DEPTH {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let result = resolve();
        self.depth.set(self.depth.get() - 1);
        Some(result)
    }
}
