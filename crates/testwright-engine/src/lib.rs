//! The campaign: from a selection of the user's to findings and a report.
//!
//! [`workbench`] goes down the pipe once (discover, ground, harness); [`campaign`] runs it all, [`search`] is the loop of one job.
//! Strategies ([`direct`]) only propose sequences, [`judge`] says what an execution means, [`minimise`] shortens, [`confirm`]
//! compiles and runs the test, [`findings`] goes through all that with each failure.

pub mod beside;
pub mod branch;
pub mod campaign;
pub mod check;
pub mod confirm;
pub mod contract;
pub mod cover;
mod curve;
pub mod diff;
pub mod direct;
pub mod encode;
pub mod error;
pub mod findings;
pub mod foreign;
#[cfg(test)]
mod invented;
pub mod judge;
pub mod lengths;
pub mod listing;
pub mod minimise;
pub mod novelty;
pub mod past;
mod quick;
pub mod repair;
mod saving;
pub mod search;
mod second_look;
mod seen_before;
mod share;
mod shorten;
mod snippet;
pub mod suite;
pub mod uncalled;
mod unsafe_code;
pub mod wishes;
pub mod workbench;

pub use campaign::{Campaign, Outcome, Plan};
pub use error::EngineError;
pub use workbench::{Demands, Workbench, prepare, prepare_with};
