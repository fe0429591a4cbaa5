//! What a worker died of, as far as kernel, last words and this side's own doing tell.

use std::sync::atomic::Ordering;

use testwright_wire::layout::{death, phase};

use crate::outcome::{DeathNote, Details, Ending, Execution, Phase};
use crate::process::Status;
use crate::shared::{LastWords, Shared};

/// What made this side give up on a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// It died by itself.
    Died,
    /// It slept for too long and was killed.
    Blocked,
    /// It worked for too long, its own timers did not stop it, and it was killed.
    Hung,
    /// Its answer made no sense and it was killed.
    Nonsense,
}

/// Everything known about a dead worker.
#[derive(Debug)]
pub(crate) struct Post {
    given: Given,
    status: Status,
    words: LastWords,
    pub slot: usize,
    pub sequence: usize,
    step: u32,
    pub phase: Phase,
    /// Calls since the worker started.
    calls: u64,
}

impl Post {
    pub fn new(given: Given, status: Status, shared: &Shared) -> Self {
        let progress = &shared.header().progress;
        Post {
            given,
            status,
            words: shared.last_words(),
            slot: progress.slot.load(Ordering::Relaxed) as usize,
            sequence: progress.sequence.load(Ordering::Relaxed) as usize,
            step: progress.step.load(Ordering::Relaxed),
            phase: match progress.phase.load(Ordering::Relaxed) {
                phase::IDLE => Phase::Idle,
                phase::CALL => Phase::Call,
                phase::TEARDOWN => Phase::Teardown,
                phase::OBSERVE => Phase::Observe,
                _ => Phase::Own,
            },
            calls: progress.calls.load(Ordering::Relaxed),
        }
    }

    /// Whether the worker itself said what it died of.
    pub fn noted(&self) -> bool {
        self.words.kind != death::NONE
    }

    /// The ending, and whether it came from outside: then what ran at that time has most likely no part in it.
    pub fn ending(&self) -> (Ending, bool) {
        let signal = self.words.signal.cast_signed();
        let noted = match self.words.kind {
            death::ABORT => Some(Ending::Aborted),
            death::HANG => Some(Ending::Hung),
            death::STACK_OVERFLOW => Some(Ending::StackOverflow),
            death::OUT_OF_MEMORY => Some(Ending::OutOfMemory),
            death::FAULT => Some(Ending::Fault { signal, address: self.words.detail }),
            death::MEMORY => Some(Ending::Memory),
            // As much of it as a parent process gets to see.
            death::EXIT => Some(Ending::Exited((self.words.detail & 0xff) as i32)),
            _ => None,
        };
        if let Some(ending) = noted {
            return (ending, false);
        }
        match (self.given, self.status) {
            (Given::Blocked, _) => (Ending::Blocked, false),
            (Given::Hung, _) => (Ending::Hung, false),
            (Given::Nonsense, _) => (Ending::Killed(libc::SIGKILL), true),
            (Given::Died, Status::Exited(code)) => (Ending::Exited(code), false),
            (Given::Died, Status::Signalled(signal)) => match signal {
                libc::SIGABRT => (Ending::Aborted, false),
                libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGTRAP => {
                    (Ending::Fault { signal, address: 0 }, false)
                }
                libc::SIGXCPU | libc::SIGPROF | libc::SIGVTALRM => (Ending::Hung, false),
                libc::SIGSYS | libc::SIGPIPE | libc::SIGXFSZ => (Ending::Killed(signal), false),
                signal => (Ending::Killed(signal), true),
            },
        }
    }

    /// The facts about the sequence that is to blame; `counted` of the worker's calls belong to others.
    pub fn execution(&self, ending: Ending, counted: u64) -> Execution {
        let signal = match self.status {
            Status::Signalled(signal) => signal,
            Status::Exited(_) => self.words.signal.cast_signed(),
        };
        let note = DeathNote {
            message: self.words.message.clone(),
            file: self.words.file.clone(),
            line: self.words.line,
            detail: self.words.detail,
            signal,
        };
        Execution {
            ending,
            phase: self.phase,
            step: self.step,
            calls: u32::try_from(self.calls.saturating_sub(counted)).unwrap_or(u32::MAX),
            flags: 0,
            kept_values: 0,
            kept_bytes: 0,
            allocated: 0,
            ticks: 0,
            observed: Vec::new(),
            details: Some(Box::new(Details { death: Some(note), ..Details::default() })),
        }
    }

    /// The facts about a sequence that was next whenever a worker died before it began.
    pub fn execution_before_begin(&self, ending: Ending) -> Execution {
        Execution { phase: Phase::Own, step: 0, calls: 0, ..self.execution(ending, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(kind: u32, given: Given, status: Status) -> Post {
        let words = LastWords { kind, signal: 11, detail: 3, ..LastWords::default() };
        Post { given, status, words, slot: 0, sequence: 0, step: 0, phase: Phase::Call, calls: 0 }
    }

    #[test]
    fn last_words_count_more_than_the_manner_of_death() {
        let killed = Status::Signalled(9);
        assert_eq!(post(death::HANG, Given::Blocked, killed).ending(), (Ending::Hung, false));
        assert_eq!(post(death::EXIT, Given::Died, Status::Exited(86)).ending(), (Ending::Exited(3), false));
        assert_eq!(post(death::EXIT, Given::Died, killed).ending(), (Ending::Exited(3), false));
        let fault = Ending::Fault { signal: 11, address: 3 };
        assert_eq!(post(death::FAULT, Given::Died, Status::Signalled(11)).ending(), (fault, false));
    }

    #[test]
    fn silent_deaths_are_told_apart() {
        let died = |status| post(death::NONE, Given::Died, status).ending();
        assert_eq!(died(Status::Signalled(9)), (Ending::Killed(9), true));
        assert_eq!(died(Status::Signalled(15)), (Ending::Killed(15), true));
        assert_eq!(died(Status::Signalled(6)), (Ending::Aborted, false));
        assert_eq!(died(Status::Signalled(31)), (Ending::Killed(31), false));
        assert_eq!(died(Status::Exited(0)), (Ending::Exited(0), false));
        assert_eq!(
            post(death::NONE, Given::Blocked, Status::Signalled(9)).ending(),
            (Ending::Blocked, false)
        );
    }
}
