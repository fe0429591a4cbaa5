//! Supervises workers and reports what executions did.
//!
//! Receives batches of encoded sequences ([`Batch`]), hands on one [`Execution`] for each sequence, whatever it did to the
//! process it ran in. It restarts workers, attributes deaths to sequences and steps, and judges nothing: whether an ending
//! is anybody's fault is said elsewhere. [`launcher`] runs a whole program, an emitted test, in a sandbox of its own.

mod batch;
mod catalogue;
mod death;
mod decode;
mod error;
pub mod launcher;
mod literals;
mod outcome;
mod plan;
mod process;
mod sandbox;
mod seen;
mod shared;
mod slot;
mod spawn;
mod start;
mod supervision;
mod vitals;
mod watchdog;
mod worker;

pub use batch::Batch;
pub use catalogue::Catalogue;
pub use error::ExecuteError;
pub use literals::place_after;
pub use outcome::{
    BatchOutcome, DeathNote, Details, EffectFact, EffectKind, Ending, Execution, PanicInfo, Phase, Ticket,
};
pub use plan::{Limits, Rooms, WorkerPlan};
pub use worker::{Statistics, Worker};
