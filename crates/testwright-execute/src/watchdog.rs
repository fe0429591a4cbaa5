//! Tells a worker that will not come back from one that is slow or was not given the processor.
//!
//! Receives looks at the worker's progress and vitals; hands on a [`Diagnosis`]. Time counts only between looks that came
//! about when they were due: if this process itself was not scheduled, nobody is blamed for it. The worker's own CPU timers
//! come first; what is said here about CPU time is for when they fail.

use std::time::{Duration, Instant};

use crate::Limits;
use crate::vitals::Vitals;

/// CPU time may exceed its limits so many times before this side acts.
const PATIENCE: u32 = 3;
/// Wall-clock time without any progress, in limits.
const BACKSTOP: u32 = 30;
/// A thread that wakes now and then only to look at a lock still counts as asleep: up to this part of the time.
const DOZE: u32 = 50;

/// Where a worker stands; unchanged means no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pulse {
    pub sequence: (u32, u32, u64),
    pub step: (u32, u32, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    Fine,
    Blocked,
    Hung,
}

#[derive(Debug)]
pub(crate) struct Watchdog {
    limits: Limits,
    looked: Instant,
    pulse: Option<Pulse>,
    /// CPU time when the step, and when the sequence, was first seen.
    step_cpu: Duration,
    sequence_cpu: Duration,
    /// How long nothing has moved.
    still: Duration,
    /// How long it has slept, and its CPU time when that began.
    asleep: Duration,
    asleep_cpu: Duration,
}

impl Watchdog {
    pub fn new(limits: Limits, now: Instant) -> Self {
        Watchdog {
            limits,
            looked: now,
            pulse: None,
            step_cpu: Duration::ZERO,
            sequence_cpu: Duration::ZERO,
            still: Duration::ZERO,
            asleep: Duration::ZERO,
            asleep_cpu: Duration::ZERO,
        }
    }

    /// How long to wait between looks.
    pub fn interval(&self) -> Duration {
        (self.limits.blocked / 8).clamp(Duration::from_millis(10), Duration::from_millis(250))
    }

    pub fn look(&mut self, now: Instant, pulse: Pulse, vitals: Vitals) -> Diagnosis {
        let passed = now.saturating_duration_since(self.looked).min(self.interval() * 2);
        self.looked = now;
        if self.pulse != Some(pulse) {
            if self.pulse.is_none_or(|before| before.sequence != pulse.sequence) {
                self.sequence_cpu = vitals.cpu;
            }
            self.step_cpu = vitals.cpu;
            self.still = Duration::ZERO;
            self.asleep = Duration::ZERO;
            self.asleep_cpu = vitals.cpu;
            self.pulse = Some(pulse);
            return self.diagnose(vitals);
        }
        self.still += passed;
        if vitals.asleep && vitals.cpu.saturating_sub(self.asleep_cpu) * DOZE <= self.asleep + passed {
            self.asleep += passed;
        } else {
            self.asleep = Duration::ZERO;
            self.asleep_cpu = vitals.cpu;
        }
        self.diagnose(vitals)
    }

    fn diagnose(&self, vitals: Vitals) -> Diagnosis {
        let Limits { call, sequence, blocked, .. } = self.limits;
        let slack = Duration::from_millis(500);
        if self.asleep >= blocked {
            Diagnosis::Blocked
        } else if vitals.cpu.saturating_sub(self.step_cpu) > call * PATIENCE + slack
            || vitals.cpu.saturating_sub(self.sequence_cpu) > sequence * PATIENCE + slack
            || self.still > call.max(sequence).max(blocked) * BACKSTOP
        {
            Diagnosis::Hung
        } else {
            Diagnosis::Fine
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: Pulse = Pulse { sequence: (0, 1, 1), step: (2, 1, 7) };

    /// Looks at the same pulse every interval, with the CPU time and sleep that `vitals` says, until something is found.
    fn watch(seconds: u32, vitals: impl Fn(Duration) -> Vitals) -> (Diagnosis, Duration) {
        let begin = Instant::now();
        let mut watchdog = Watchdog::new(Limits::default(), begin);
        let interval = watchdog.interval();
        let mut passed = Duration::ZERO;
        while passed < Duration::from_secs(seconds.into()) {
            passed += interval;
            let diagnosis = watchdog.look(begin + passed, STILL, vitals(passed));
            if diagnosis != Diagnosis::Fine {
                return (diagnosis, passed);
            }
        }
        (Diagnosis::Fine, passed)
    }

    #[test]
    fn sleeper_is_blocked_after_its_time() {
        let (diagnosis, passed) = watch(10, |_| Vitals { cpu: Duration::ZERO, asleep: true });
        assert_eq!(diagnosis, Diagnosis::Blocked);
        assert!(passed >= Duration::from_secs(2) && passed < Duration::from_secs(3), "{passed:?}");
    }

    #[test]
    fn starved_worker_is_not_blamed() {
        let (diagnosis, _) = watch(50, |_| Vitals { cpu: Duration::ZERO, asleep: false });
        assert_eq!(diagnosis, Diagnosis::Fine);
    }

    #[test]
    fn busy_worker_is_left_to_its_own_timers_first() {
        let (diagnosis, passed) = watch(50, |passed| Vitals { cpu: passed, asleep: false });
        assert_eq!(diagnosis, Diagnosis::Hung);
        assert!(passed > Duration::from_secs(3), "{passed:?}");
    }

    #[test]
    fn slow_worker_that_sleeps_between_work_is_not_blocked() {
        let (diagnosis, _) = watch(8, |passed| Vitals { cpu: passed / 5, asleep: true });
        assert_eq!(diagnosis, Diagnosis::Fine);
    }

    #[test]
    fn supervisor_that_was_away_blames_nobody() {
        let begin = Instant::now();
        let mut watchdog = Watchdog::new(Limits::default(), begin);
        let vitals = Vitals { cpu: Duration::ZERO, asleep: true };
        watchdog.look(begin, STILL, vitals);
        assert_eq!(watchdog.look(begin + Duration::from_secs(100), STILL, vitals), Diagnosis::Fine);
    }

    #[test]
    fn progress_forgives() {
        let begin = Instant::now();
        let mut watchdog = Watchdog::new(Limits::default(), begin);
        for look in 1..100 {
            let pulse = Pulse { step: (look / 4, 1, 7), ..STILL };
            let now = begin + watchdog.interval() * look;
            assert_eq!(
                watchdog.look(now, pulse, Vitals { cpu: Duration::ZERO, asleep: true }),
                Diagnosis::Fine
            );
        }
    }
}
