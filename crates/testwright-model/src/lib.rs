//! Types, items, operations and sequences as plain data: the words that every other crate speaks.
//!
//! No I/O, no knowledge of executions. [`Api`] is what a crate offers (from `testwright-discover`), [`Operation`] one
//! concrete callable (from `testwright-ground`), [`Sequence`] a straight-line program over operations, and
//! [`Ledger`] the borrow rules that every sequence must obey.

pub mod api;
pub mod contract;
pub mod law;
pub mod ledger;
pub mod operation;
pub mod sequence;
pub mod ty;

pub use api::Api;
pub use ledger::Ledger;
pub use operation::{OpId, Operation};
pub use sequence::{Literal, Sequence, Step, ValueId};
pub use ty::{Bound, Const, GenericArg, Prim, Region, TraitRef, Ty};
