//! What every worker binary links: it interprets encoded sequences over the generated operations, and watches what they do.
//!
//! Receives the generated tables of [`Operation`]s and [`Type`]s and, through shared memory (`testwright-wire`), batches of
//! sequences; hands back one record a sequence, or last words when the code under test kills the process. No dependencies,
//! because this is compiled next to every crate under test. A worker's `main` file reads:
//!
//! ```ignore
//! testwright_runtime::global_allocator!();
//! testwright_runtime::interpose!();
//! fn main() { testwright_runtime::worker_main(wrappers::OPERATIONS, wrappers::TYPES) }
//! ```
//!
//! Everything but the type table needs x86-64 Linux with glibc; elsewhere `worker_main` refuses to start.

mod hash;
mod ledger;
#[doc(hidden)]
pub mod novelty;
mod operation;
#[doc(hidden)]
pub mod types;

mod allocator;
mod batch;
mod cells;
#[doc(hidden)]
pub mod compares;
mod coverage;
mod death;
mod effects;
mod heap;
#[doc(hidden)]
pub mod interpose;
mod interpreter;
mod landlock;
mod libc;
mod lock;
mod observations;
mod panic;
mod response;
mod sandbox;
mod sanitizer;
mod seccomp;
mod seeds;
mod signals;
mod steady;
mod text;
mod worker;

mod elsewhere;

pub use ledger::Tracked;
pub use operation::Operation;
pub use types::Type;

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
use death::memory_error;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
pub use {allocator::Allocator, worker::worker_main};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
use elsewhere::memory_error;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
pub use elsewhere::{worker_main, Allocator};

/// Makes [`Allocator`] the program's allocator.
#[macro_export]
macro_rules! global_allocator {
    () => {
        #[global_allocator]
        static TESTWRIGHT_ALLOCATOR: $crate::Allocator = $crate::Allocator;
    };
}
