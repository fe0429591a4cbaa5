//! What a worker is to be: its binary, its limits and the room it gets, resolved and immutable.

use std::path::PathBuf;
use std::time::Duration;

/// Everything a [`crate::Worker`] is started with.
#[derive(Debug, Clone)]
pub struct WorkerPlan {
    /// The harness's executable.
    pub binary: PathBuf,
    /// The only folder that code under test may write to; made if it is missing, and the worker's current folder.
    pub scratch: PathBuf,
    pub limits: Limits,
    /// Count and report coverage.
    pub coverage: bool,
    /// Start without a complete sandbox if the kernel offers none.
    pub allow_unguarded: bool,
    /// Added to the otherwise empty environment.
    pub environment: Vec<(String, String)>,
    pub rooms: Rooms,
}

impl WorkerPlan {
    /// A plan with the default limits and rooms, with coverage, in a complete sandbox.
    pub fn new(binary: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        WorkerPlan {
            binary: binary.into(),
            scratch: scratch.into(),
            limits: Limits::default(),
            coverage: true,
            allow_unguarded: false,
            environment: Vec::new(),
            rooms: Rooms::default(),
        }
    }
}

/// How long and how much code under test may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// CPU time of one call.
    pub call: Duration,
    /// CPU time of one sequence.
    pub sequence: Duration,
    /// Bytes that may be allocated at once.
    pub memory: u64,
    /// How long a worker may sleep in a call without using CPU time.
    pub blocked: Duration,
    /// How long a new worker may take until it is ready, in wall-clock time.
    pub start: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            call: Duration::from_secs(1),
            sequence: Duration::from_secs(2),
            memory: 1 << 30,
            blocked: Duration::from_secs(2),
            start: Duration::from_secs(30),
        }
    }
}

/// Sizes of the areas in shared memory. The file is sparse: room that nobody uses costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rooms {
    /// Types in the catalogue.
    pub types: u32,
    /// Coverage counters in the seen map.
    pub counters: u32,
    /// Bytes of literals.
    pub literals: u32,
    /// 16-bit words of a batch.
    pub request_words: u32,
    /// Bytes of the answer to a batch.
    pub response: u32,
}

impl Default for Rooms {
    fn default() -> Self {
        Rooms {
            types: 1 << 16,
            counters: 4 << 20,
            literals: 64 << 20,
            request_words: 2 << 20,
            response: 16 << 20,
        }
    }
}
