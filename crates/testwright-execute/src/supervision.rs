//! Keeps a worker's batches going through the deaths of its processes, and finds whose doing each death was.
//!
//! Receives what a process says, how it looks and how it dies; hands on executions in the slots. A death belongs to the sequence
//! that was running. One that came from outside, or before any sequence ran, belongs to nobody: that sequence runs again.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::death::{Given, Post};
use crate::decode::Corrupt;
use crate::outcome::{Execution, Phase};
use crate::process::Wake;
use crate::start::start_process;
use crate::vitals::vitals;
use crate::watchdog::{Diagnosis, Pulse, Watchdog};
use crate::{ExecuteError, Worker};

impl Worker {
    pub(crate) fn order(&mut self, number: usize) {
        let slot = &self.slots[number];
        if let (false, Some(process)) = (slot.is_complete(), &self.process) {
            slot.lay_out(number, &self.shared);
            self.unused = false;
            // If the worker is dead, the next wait notices it and orders again.
            let _ = process.order(u8::try_from(number).expect("slots are few"));
        }
    }

    /// Waits until every sequence of a slot has its execution.
    pub(crate) fn finish(&mut self, number: usize) -> Result<(), ExecuteError> {
        let mut watchdog = Watchdog::new(self.plan.limits, Instant::now());
        while !self.slots[number].is_complete() {
            let Some(process) = &self.process else {
                self.restart(Instant::now())?;
                continue;
            };
            let given = match process.wait(watchdog.interval())? {
                Wake::Said(said) => self.listen(said.into()).err(),
                Wake::Gone => Some(Given::Died),
                Wake::Nothing => match vitals(process.pid()) {
                    None => None,
                    Some(vitals) => match watchdog.look(Instant::now(), self.pulse(), vitals) {
                        Diagnosis::Fine => None,
                        Diagnosis::Blocked => Some(Given::Blocked),
                        Diagnosis::Hung => Some(Given::Hung),
                    },
                },
            };
            if let Some(given) = given {
                self.recover(given)?;
                watchdog = Watchdog::new(self.plan.limits, Instant::now());
            }
        }
        Ok(())
    }

    /// A worker says that it has finished a slot: takes over its answers.
    fn listen(&mut self, number: usize) -> Result<(), Given> {
        if !self.queue.contains(&number) || self.slots[number].is_complete() {
            return Err(Given::Nonsense);
        }
        let answer = self.absorb(number);
        if answer.is_ok() && self.slots[number].is_complete() { Ok(()) } else { Err(Given::Nonsense) }
    }

    fn absorb(&mut self, number: usize) -> Result<(), Corrupt> {
        let (calls, result) = self.slots[number].absorb(number, &self.shared, &mut self.buffer);
        self.counted_calls += calls;
        result
    }

    fn pulse(&self) -> Pulse {
        let progress = &self.shared.header().progress;
        Pulse {
            sequence: (
                progress.slot.load(Ordering::Relaxed),
                progress.sequence.load(Ordering::Relaxed),
                progress.started.load(Ordering::Relaxed),
            ),
            step: (
                progress.step.load(Ordering::Relaxed),
                progress.phase.load(Ordering::Relaxed),
                progress.calls.load(Ordering::Relaxed),
            ),
        }
    }

    /// After a death: saves the answers, finds whose doing it was, and goes on with a new process.
    fn recover(&mut self, given: Given) -> Result<(), ExecuteError> {
        let began = Instant::now();
        let Some(process) = self.process.take() else { return self.restart(began) };
        if given != Given::Died {
            process.kill();
        }
        let status = process.bury()?;
        let post = Post::new(given, status, &self.shared);
        for number in self.queue.clone() {
            if !self.slots[number].is_complete() {
                // Corrupt answers end what can be saved; the rest runs again.
                let _ = self.absorb(number);
            }
        }
        self.attribute(given, &post)?;
        self.statistics.restarts += 1;
        self.restart(began)
    }

    fn attribute(&mut self, given: Given, post: &Post) -> Result<(), ExecuteError> {
        let (ending, outside) = post.ending();
        let current = self.queue.iter().copied().find(|&number| !self.slots[number].is_complete());
        // The aftermath of a sequence, in the worker's own work, may kill as well.
        let last = self.queue.iter().copied().find(|&number| {
            post.noted()
                && post.phase == Phase::Own
                && post.slot == number
                && self.slots[number].next() == post.sequence + 1
        });
        if let Some(last) = last {
            let executions = &mut self.slots[last].executions;
            let calls = executions[post.sequence].calls;
            executions[post.sequence] = Execution { calls, ..post.execution(ending, 0) };
            return Ok(());
        }
        let Some(current) = current else {
            self.statistics.strays += 1;
            return Ok(());
        };
        let slot = &mut self.slots[current];
        let begun = post.slot == current && post.sequence == slot.next() && post.phase != Phase::Idle;
        if begun && !outside {
            slot.executions.push(post.execution(ending, self.counted_calls));
            return Ok(());
        }
        self.statistics.strays += 1;
        if slot.excuse() {
            return Ok(());
        }
        if given == Given::Nonsense {
            let next = slot.next();
            return Err(ExecuteError::Protocol(format!("no complete answer to sequence {next} of a batch")));
        }
        slot.executions.push(if begun {
            post.execution(ending, self.counted_calls)
        } else {
            post.execution_before_begin(ending)
        });
        Ok(())
    }

    /// A new process, which goes on with what is under way.
    pub(crate) fn restart(&mut self, began: Instant) -> Result<(), ExecuteError> {
        let (process, catalogue) = start_process(&self.plan, &self.shared)?;
        if catalogue != self.catalogue {
            let what = format!(
                "{} operations and {} types, before {} and {}",
                catalogue.operations,
                catalogue.types.len(),
                self.catalogue.operations,
                self.catalogue.types.len()
            );
            return Err(ExecuteError::Changed { what });
        }
        self.process = Some(process);
        self.counted_calls = 0;
        self.unused = true;
        self.statistics.restart_time += began.elapsed();
        for number in self.queue.clone() {
            self.order(number);
        }
        Ok(())
    }
}
