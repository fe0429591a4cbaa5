//! The facts about executions: one small [`Execution`] for each sequence, with a box behind it where there is more to say.

use testwright_wire::record::{Compare, flag};

/// Names a submitted batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The facts about a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOutcome {
    pub ticket: Ticket,
    /// Exactly one for each sequence, in their order.
    pub executions: Vec<Execution>,
    /// Calls of operations that were begun, in all of them.
    pub calls: u64,
}

/// What one sequence did. Most have completed and have no details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    pub ending: Ending,
    /// Where the ending came; [`Phase::Idle`] for a sequence that completed.
    pub phase: Phase,
    /// Steps completed; where something ended the sequence, the step (in teardown and observation the value) that did.
    pub step: u32,
    /// Calls of operations that were begun.
    pub calls: u32,
    /// Bits of [`testwright_wire::record::flag`].
    pub flags: u16,
    /// Ledger values alive after the sequence minus before; 0 if the worker died.
    pub kept_values: i32,
    /// Bytes alive after the sequence minus before; 0 if the worker died.
    pub kept_bytes: i64,
    /// Bytes allocated in all, freed ones included; 0 if the worker died.
    pub allocated: u64,
    /// Ticks of the processor's clock that it took, never the same twice; 0 if the worker died.
    pub ticks: u64,
    /// Fingerprints that the sequence's OBSERVE steps asked for, in their order.
    pub observed: Vec<u64>,
    pub details: Option<Box<Details>>,
}

impl Execution {
    /// Whether the sequence took its worker with it.
    pub fn died(&self) -> bool {
        !matches!(
            self.ending,
            Ending::Completed
                | Ending::Panicked
                | Ending::DropPanicked
                | Ending::ObservePanicked
                | Ending::Refused
                | Ending::Truncated
        )
    }

    /// Whether all of these [`testwright_wire::record::flag`] bits are set.
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Whether new counters were reached by this sequence or by ones before it since the last scan.
    pub fn window(&self) -> bool {
        self.has(flag::NEW_COVERAGE_WINDOW)
    }

    pub fn panic(&self) -> Option<&PanicInfo> {
        self.details.as_ref()?.panic.as_ref()
    }

    pub fn death(&self) -> Option<&DeathNote> {
        self.details.as_ref()?.death.as_ref()
    }

    /// Counters that nothing had reached before this sequence.
    pub fn new_counters(&self) -> &[u32] {
        self.details.as_ref().map_or(&[], |details| &details.new_counters)
    }
}

/// How a sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Every step ran and everything was dropped.
    Completed,
    /// A call panicked and the panic left it.
    Panicked,
    /// Dropping a value at the end panicked.
    DropPanicked,
    /// `Hash` or `Debug` of a value panicked.
    ObservePanicked,
    /// `abort()`, a panic that may not unwind, a panic while panicking.
    Aborted,
    /// More CPU time than allowed.
    Hung,
    /// Asleep without CPU time for longer than allowed.
    Blocked,
    StackOverflow,
    /// An allocation past the memory limit, and the program gave up on it.
    OutOfMemory,
    /// SIGSEGV, SIGBUS, SIGILL or SIGFPE; address 0 if it is not known.
    Fault {
        signal: i32,
        address: u64,
    },
    /// A check of memory saw an error; the death note says which.
    Memory,
    /// The code under test made the process exit.
    Exited(i32),
    /// A signal from elsewhere, again and again.
    Killed(i32),
    /// The worker found the sequence malformed.
    Refused,
    /// The answer had no room even alone.
    Truncated,
}

/// What the worker was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Idle,
    /// A call; `step` is the step.
    Call,
    /// Dropping values at the end; `step` is the value.
    Teardown,
    /// Taking fingerprints and texts; `step` is the value.
    Observe,
    /// The worker's own work.
    Own,
}

/// What there is to say beyond the ordinary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    pub panic: Option<PanicInfo>,
    pub death: Option<DeathNote>,
    /// By value: its fingerprint at the end, 0 if it is gone or has none.
    pub fingerprints: Vec<u64>,
    /// By value: its fingerprint when it was made, 0 if it has none.
    pub results: Vec<u64>,
    /// By value: its `Debug` text when it was made.
    pub texts: Vec<Option<String>>,
    /// Counters that nothing had reached before, ascending.
    pub new_counters: Vec<u32>,
    /// All counters that were reached, ascending.
    pub counters: Vec<u32>,
    pub effects: Vec<EffectFact>,
    /// How often the counters of `-C instrument-coverage` were reached, by their places in `__llvm_prf_cnts`, ascending.
    pub counts: Vec<(u32, u64)>,
    /// Numbers that were compared, in the order in which they first were.
    pub compares: Vec<Compare>,
    /// Texts that were compared and differ, of equal length.
    pub spans: Vec<Span>,
}

/// Two texts of equal length.
pub type Span = (Vec<u8>, Vec<u8>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PanicInfo {
    pub message: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A dead worker's last words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DeathNote {
    /// What was said: of a panic before an abort, of the check that saw an error.
    pub message: String,
    /// The place of that panic, empty if there was none.
    pub file: String,
    pub line: u32,
    /// Faulting address, exit code or size asked for.
    pub detail: u64,
    /// The signal that ended it, 0 if none did.
    pub signal: i32,
}

/// Something that a call tried to do to the world outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EffectFact {
    pub step: u32,
    pub kind: EffectKind,
    /// The system call's number.
    pub call: u32,
    pub allowed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    Network,
    Files,
    Process,
    Signal,
    Other,
    Thread,
    Sleep,
}
