//! Where things lie in the shared memory file.
//!
//! ```text
//! Header | catalogue (TypeInfo × types) | seen counters (u8 × counters) | literals | slot 0 | slot 1
//! ```
//! The tool makes the file and fills in [`Header`]'s first part; the worker fills in the rest. The areas behind the header
//! start at the offsets given there, each a multiple of 64.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// "testwrig", little endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"testwrig");

/// How many batches can be under way: the tool fills one while the worker runs the other.
pub const SLOTS: usize = 2;

/// Room for a panic message, an assertion or the like in [`Death`].
pub const MESSAGE: usize = 2048;

/// The first bytes of the shared file.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// Bits of [`option`].
    pub options: u32,
    /// CPU milliseconds that one call may take.
    pub call_limit_ms: u32,
    /// CPU milliseconds that one sequence may take.
    pub sequence_limit_ms: u32,
    /// Bytes that may be allocated at once.
    pub memory_limit: u64,
    /// Offset and room of the catalogue: [`TypeInfo`] records.
    pub catalogue: Area,
    /// Offset and room of the seen map: one byte a coverage counter, 1 = some sequence has reached it.
    pub seen: Area,
    /// Offset and room of the literal area. The tool only appends, so what lies there stays valid for the worker's life.
    pub literals: Area,
    pub slots: [SlotPlace; SLOTS],

    // The worker's part.
    pub operations: AtomicU32,
    pub types: AtomicU32,
    /// How many coverage counters the binary has (may be more than `seen` has room for: the rest is not reported).
    pub counters: AtomicU64,
    /// Bits of [`guard`]: which protections stand.
    pub guards: AtomicU32,
    /// Bits of [`steady`]: which sources of chance are fixed.
    pub steady: AtomicU32,
    /// What the worker is doing at this moment; read by the tool after a death and by the worker's own signal handlers.
    pub progress: Progress,
    pub death: Death,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub offset: u64,
    pub bytes: u64,
}

/// A slot: a batch of encoded sequences, and the records the worker answers with.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotPlace {
    /// Offset of a [`SlotHead`].
    pub head: u64,
    pub request: Area,
    pub response: Area,
}

#[repr(C)]
#[derive(Debug)]
pub struct SlotHead {
    /// How many sequences the request holds.
    pub sequences: AtomicU32,
    /// Where in the request (in 16-bit words) the next sequence to run starts; after a death the tool moves it past the culprit.
    pub resume_word: AtomicU32,
    /// The index of that sequence.
    pub resume_sequence: AtomicU32,
    /// Words of the request that are filled.
    pub words: AtomicU32,
    /// Bytes of the response that hold complete records. Grows with each sequence, never in the middle of one.
    pub answered: AtomicU32,
    /// Sequences answered, counted like `answered`.
    pub finished: AtomicU32,
    /// Bits of [`crate::record::want`], for all sequences of the batch.
    pub want: AtomicU32,
    pub reserved: AtomicU32,
}

/// Written before each call: a store each, no fences; a worker that dies leaves it as it was.
#[repr(C)]
#[derive(Debug)]
pub struct Progress {
    pub slot: AtomicU32,
    /// Index in the batch.
    pub sequence: AtomicU32,
    /// Where the sequence starts in the request, in words.
    pub word: AtomicU32,
    pub step: AtomicU32,
    /// One of [`phase`].
    pub phase: AtomicU32,
    /// Calls made since the worker started, whatever they did.
    pub calls: AtomicU64,
    /// Sequences started since the worker started.
    pub started: AtomicU64,
}

pub mod phase {
    pub const IDLE: u32 = 0;
    /// A call into the crate under test or the std model.
    pub const CALL: u32 = 1;
    /// Values are dropped at the end of a sequence; `step` is the value being dropped.
    pub const TEARDOWN: u32 = 2;
    /// Fingerprints and texts are taken (this runs `Hash` and `Debug` of the crate under test); `step` is the value.
    pub const OBSERVE: u32 = 3;
    /// The worker's own work.
    pub const OWN: u32 = 4;
}

/// A worker's last words, for deaths that it sees coming. `kind` is stored last.
#[repr(C)]
#[derive(Debug)]
pub struct Death {
    /// One of [`death`]; 0 while it lives.
    pub kind: AtomicU32,
    pub signal: AtomicU32,
    /// Faulting address, exit code or size asked for.
    pub detail: AtomicU64,
    pub line: AtomicU32,
    pub message_len: AtomicU32,
    pub file_len: AtomicU32,
    pub message: [core::cell::UnsafeCell<u8>; MESSAGE],
    pub file: [core::cell::UnsafeCell<u8>; 512],
}

pub mod death {
    pub const NONE: u32 = 0;
    /// `abort()`, a panic that may not unwind, a panic while panicking; message and place if a panic came before.
    pub const ABORT: u32 = 1;
    /// A call used more CPU time than allowed.
    pub const HANG: u32 = 2;
    pub const STACK_OVERFLOW: u32 = 3;
    /// An allocation was refused because of the memory limit, and the program gave up on it.
    pub const OUT_OF_MEMORY: u32 = 4;
    /// SIGSEGV, SIGBUS, SIGILL, SIGFPE outside the stack's guard.
    pub const FAULT: u32 = 5;
    /// The checking allocator, the drop ledger, std's precondition checks or the sanitizer saw an error; message says which.
    pub const MEMORY: u32 = 6;
    /// The process was made to exit by the code under test (`detail` = status).
    pub const EXIT: u32 = 7;
    /// The worker could not start (message says why).
    pub const START: u32 = 8;
}

/// What the tool asks of the worker for its whole life.
pub mod option {
    /// Count and report coverage.
    pub const COVERAGE: u32 = 1;
    /// Start without a complete sandbox if the kernel offers none.
    pub const ALLOW_UNGUARDED: u32 = 2;
}

/// Protections that stand.
pub mod guard {
    pub const LANDLOCK: u32 = 1;
    pub const SECCOMP: u32 = 2;
    pub const LIMITS: u32 = 4;
    /// Freed memory is poisoned and layouts are checked.
    pub const ALLOCATOR: u32 = 8;
    pub const ADDRESS_SANITIZER: u32 = 16;
}

/// Sources of chance that are fixed.
pub mod steady {
    pub const ENTROPY: u32 = 1;
    /// `RandomState`'s keys are set back before each sequence.
    pub const HASH_SEEDS: u32 = 2;
    pub const CLOCK: u32 = 4;
}

/// What the compiler told about one type of the type table.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeInfo {
    pub size: u32,
    pub align: u32,
    /// Bits of [`ability`].
    pub abilities: u32,
    pub reserved: u32,
}

pub mod ability {
    pub const NEEDS_DROP: u32 = 1;
    pub const COPY: u32 = 2;
    pub const CLONE: u32 = 4;
    pub const EQ: u32 = 8;
    pub const ORD: u32 = 16;
    pub const HASH: u32 = 32;
    pub const DEBUG: u32 = 64;
    pub const DISPLAY: u32 = 128;
    pub const DEFAULT: u32 = 256;
}
