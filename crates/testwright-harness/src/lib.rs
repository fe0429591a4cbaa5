//! Writes, builds and prunes the worker crate.
//!
//! Receives a [`Selection`] of the user's and finds the [`Subject`] with [`locate`]; hands its [`rustdoc_json`] on to the
//! discovery; receives the grounded [`HarnessSource`] and makes of it, with [`prepare`], a [`Harness`] that holds what the
//! compiler accepts, and binaries of it. [`TestBench`] compiles emitted tests. Nothing is run here but cargo, and
//! nothing is written outside [`Places::work`].

mod bench;
mod beside;
mod bisect;
mod cargo;
mod diagnosis;
mod digest;
mod embedded;
mod error;
mod files;
mod generated;
mod harness;
mod locate;
mod manifest;
mod members;
mod metadata;
mod patches;
mod places;
mod probe;
mod prune;
mod published;
mod questions;
mod rustdoc;
mod selection;
mod source;
mod subject;
mod timing;
mod user_config;
mod variant;
mod workspace;
mod wrapper;

pub use bench::{TestBench, TestSource};
pub use beside::add_beside;
pub use error::HarnessError;
pub use harness::{Built, Harness, prepare};
pub use locate::locate;
pub use members::{Member, Members, members};
pub use places::Places;
pub use prune::Pruned;
pub use questions::ask;
pub use rustdoc::rustdoc_json;
pub use selection::{FeatureChoice, Selection};
pub use source::{HarnessSource, OperationSource};
pub use subject::{Dependency, Source, Subject};
pub use timing::crate_build_seconds;
pub use variant::{Confirm, Coverage, Variant};
pub use wrapper::act_as_rustc_wrapper;
