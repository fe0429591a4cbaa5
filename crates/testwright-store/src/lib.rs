//! The campaign file: sequences and findings of a campaign, kept in one `SQLite` database for a later run.
//!
//! A [`Store`] takes what jobs hand over now and then ([`Saving`]) and what became of the failures at the end ([`Finding`]),
//! each in a transaction of its own, and gives it all back as [`Stored`] in the numbers of the operations of today. One row a
//! sequence that is worth running again, none an execution.

mod error;
mod file;
mod keys;
mod load;
mod store;

use testwright_model::sequence::{Sequence, ValueId};

pub use error::StoreError;
pub use file::{Found, inspect};
pub use store::Store;

/// What a campaign was run with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub krate: String,
    pub version: String,
    pub features: Vec<String>,
    pub compiler: String,
    pub tool: String,
    pub seed: u64,
    pub strategy: String,
}

/// How much was done, all runs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub executions: u64,
    pub calls: u64,
    pub seconds: f64,
}

/// What one job hands over. Lists that are snapshots replace what the job handed over before in the same run.
#[derive(Clone, Debug, Default)]
pub struct Saving {
    pub job: usize,
    /// Sequences that reached something first, since the last time.
    pub corpus: Vec<Sequence>,
    /// All failing sequences, a snapshot.
    pub failures: Option<Vec<Sequence>>,
    /// A sample of the pool, a snapshot.
    pub pool: Option<Vec<Kept>>,
}

/// A sequence and the values that it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub sequence: Sequence,
    pub values: Vec<ValueId>,
}

/// A finding with the shortest sequence that shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    pub id: String,
    pub tier: String,
    pub class: String,
    pub operation: String,
    pub message: String,
    pub location: Option<(String, u32)>,
    pub first_seen_s: f64,
    pub first_seen_execution: u64,
    pub sequence: Sequence,
}

/// The end of a run.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub totals: Totals,
    /// When something was last reached for the first time: seconds and executions, all runs together.
    pub last_new: (f64, u64),
    pub findings: Vec<Finding>,
    /// All sequences of earlier runs were run again and the run came to its own end: what was not found again is gone.
    pub whole: bool,
}

/// What earlier runs left, in the numbers of today's operations.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub totals: Totals,
    pub last_new: (f64, u64),
    /// Runs that were begun, finished or not.
    pub runs: u64,
    /// Sequences of findings and failures.
    pub failures: Vec<Sequence>,
    pub corpus: Vec<Sequence>,
    pub pool: Vec<Kept>,
    pub findings: Vec<Finding>,
    /// Sequences with an operation or a type that no longer exists.
    pub lost: u64,
}
