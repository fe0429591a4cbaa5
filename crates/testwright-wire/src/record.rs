//! The worker's answer to one sequence: a fixed head, then sections.
//!
//! A record is written whole before `SlotHead::answered` grows past it, so that what the tool reads is complete whatever
//! kills the worker. Sections stand in the order of their tags; each is `tag: u32, bytes: u32, content`, padded to 8 bytes.

/// Fixed head of a record, 8-byte aligned.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Index in the batch.
    pub sequence: u32,
    /// One of [`status`].
    pub status: u16,
    /// Bits of [`flag`].
    pub flags: u16,
    /// Steps completed; with [`status::PANICKED`] the step that panicked.
    pub step: u32,
    /// Calls of operations that were begun.
    pub calls: u32,
    /// Bytes alive after the sequence minus before.
    pub kept_bytes: i64,
    /// Bytes that the sequence allocated in all, freed ones included: a measure of its work that is the same every time.
    pub allocated: u64,
    /// Ticks of the processor's clock that the sequence took: never the same twice.
    pub ticks: u64,
    /// Ledger values alive after the sequence minus before.
    pub kept_values: i32,
    /// Bytes of all sections.
    pub sections: u32,
}

pub mod status {
    /// Every step ran and everything was dropped.
    pub const COMPLETED: u16 = 0;
    /// A call panicked and the panic left it.
    pub const PANICKED: u16 = 1;
    /// All calls ran; dropping a value at the end panicked (`step` = the value).
    pub const DROP_PANICKED: u16 = 2;
    /// Taking a fingerprint or text panicked in the crate's `Hash` or `Debug` (`step` = the value).
    pub const OBSERVE_PANICKED: u16 = 3;
    /// The sequence is malformed: the tool's fault.
    pub const REFUSED: u16 = 4;
    /// The response had no room for what was asked; ask again alone.
    pub const TRUNCATED: u16 = 5;
}

pub mod flag {
    /// A thread was started.
    pub const THREADS: u16 = 1;
    /// A thread other than the worker's panicked.
    pub const THREAD_PANICKED: u16 = 2;
    /// There is an effects section.
    pub const EFFECTS: u16 = 4;
    /// Coverage counters never seen before were reached, by this sequence alone (the section lists them).
    pub const NEW_COVERAGE: u16 = 8;
    /// Counters never seen before were reached by this sequence or the ones since the last scan; run them again with [`super::want::SCAN_EACH`] to tell.
    pub const NEW_COVERAGE_WINDOW: u16 = 16;
    /// A panic was caught inside the library.
    pub const INNER_PANIC: u16 = 32;
}

/// What the tool asks for in a batch.
pub mod want {
    /// A fingerprint of every value after the last step. Only for sequences in which no borrow ends before: the worker
    /// does not know which references have become dangling. OBSERVE steps ask for single values.
    pub const FINGERPRINTS: u32 = 1;
    /// The `Debug` text of every value right after it was made.
    pub const TEXTS: u32 = 2;
    /// Look at coverage after each sequence rather than in windows.
    pub const SCAN_EACH: u32 = 4;
    /// List all counters that the sequence reached, not only new ones.
    pub const ALL_COUNTERS: u32 = 8;
    /// With TEXTS: also the fingerprint of each value right after it was made.
    pub const RESULTS: u32 = 16;
    /// List how often the sequence reached each counter of `-C instrument-coverage`: what the line report is computed from.
    pub const COUNTS: u32 = 32;
    /// Set all counters to 0 before the first sequence of the batch, so that none has them from an earlier one.
    pub const ZERO: u32 = 64;
    /// List what the crate under test compared with what; only in a build that traces comparisons.
    pub const COMPARES: u32 = 128;
    /// With TEXTS: OBSERVE steps add the `Debug` text of their value, among those of the values that are made.
    pub const LEFT: u32 = 256;
}

pub mod section {
    /// `line: u32, column: u32, message_len: u32, file_len: u32, message, file`.
    pub const PANIC: u32 = 1;
    /// `u64` a value: its fingerprint at the end of the sequence, 0 if it is gone or has none.
    pub const FINGERPRINTS: u32 = 2;
    /// `u64` a value: its fingerprint when it was made, 0 if it has none.
    pub const RESULTS: u32 = 3;
    /// For each value `len: u32, bytes` (not padded); `len = u32::MAX`: it has no `Debug`. Texts longer than [`super::TEXT_LIMIT`] are cut.
    pub const TEXTS: u32 = 4;
    /// `u32` a counter, ascending: those that were new.
    pub const NEW_COUNTERS: u32 = 5;
    /// `u32` a counter, ascending: all that were reached.
    pub const COUNTERS: u32 = 6;
    /// [`super::Effect`] records.
    pub const EFFECTS: u32 = 7;
    /// `counter: u64, count: u64`, ascending: the 64-bit counters that are not 0. A counter's number is its place in
    /// the binary's `__llvm_prf_cnts`. Behind the effects, because sections stand in the order of their tags.
    pub const COUNTS: u32 = 8;
    /// `u64` an OBSERVE step: the fingerprint of its value then, 0 if it has none.
    pub const OBSERVED: u32 = 9;
    /// [`super::Compare`] records, in the order in which they were first made.
    pub const COMPARES: u32 = 10;
    /// `length: u64`, then so many bytes of one side and of the other (not padded): texts that were compared.
    pub const SPANS: u32 = 11;
}

/// Two numbers that were compared.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compare {
    /// The place in the code, the same in every process of a binary.
    pub site: u64,
    pub left: u64,
    pub right: u64,
    /// Bytes that a side has: 1, 2, 4 or 8.
    pub width: u64,
}

/// Longest `Debug` text that is sent, in bytes.
pub const TEXT_LIMIT: usize = 4096;

/// Something that a call tried to do to the world outside.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    pub step: u32,
    /// One of [`effect`].
    pub kind: u32,
    /// The system call's number.
    pub call: u32,
    /// 0 = refused, 1 = allowed (inside the scratch folder).
    pub allowed: u32,
}

pub mod effect {
    pub const NETWORK: u32 = 1;
    /// Creating, writing, renaming or removing files.
    pub const FILES: u32 = 2;
    /// Running a program or making a process.
    pub const PROCESS: u32 = 3;
    /// Signalling.
    pub const SIGNAL: u32 = 4;
    /// Any other system call that the sandbox refuses.
    pub const OTHER: u32 = 5;
    pub const THREAD: u32 = 6;
    /// Sleeping or waiting, which returns at once and moves the worker's clock.
    pub const SLEEP: u32 = 7;
}

/// One section of a record.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    pub tag: u32,
    pub content: &'a [u8],
}

/// The sections of a record, given the bytes behind its head.
pub fn sections(mut bytes: &[u8]) -> impl Iterator<Item = Section<'_>> {
    core::iter::from_fn(move || {
        let tag = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let len = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
        let content = bytes.get(8..8 + len)?;
        bytes = bytes.get((8 + len + 7) & !7..).unwrap_or(&[]);
        Some(Section { tag, content })
    })
}
