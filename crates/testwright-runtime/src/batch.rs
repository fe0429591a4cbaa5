//! Runs a slot's batch: sequence after sequence from where the tool says, one record each.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::mem::size_of;
use core::sync::atomic::Ordering::Relaxed;

use testwright_wire::layout::{phase, Header, SlotHead, SlotPlace};
use testwright_wire::record::{flag, section, status, want, Effect, Head};

use crate::coverage::Coverage;
use crate::interpreter::{Interpreter, Outcome};
use crate::panic::{self, Note};
use crate::response::{bytes_of, Response};
use crate::seeds::Seeds;
use crate::{allocator, compares, death, effects, ledger, steady};

/// Wishes for which a sequence starts with all counters at 0.
const ITS_OWN: u32 = want::ALL_COUNTERS | want::COUNTS;

pub struct Batches {
    pub header: &'static Header,
    pub interpreter: Interpreter,
    pub coverage: Option<Coverage>,
    pub seeds: Option<Seeds>,
}

/// The processor's own clock, which nothing interposes.
fn ticks() -> u64 {
    // SAFETY: every processor of this architecture has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What was alive before a sequence.
struct Before {
    ticks: u64,
    bytes: u64,
    total: u64,
    values: i32,
    panics: u64,
}

impl Batches {
    /// Runs a slot from its resume point to its end.
    pub fn run(&mut self, slot: usize) {
        let place = self.header.slots[slot];
        let base = death::shared();
        // SAFETY: `worker::check` has seen that the areas lie in the mapping; the tool leaves the slot alone while we run.
        let (head, words, mut response) = unsafe {
            let head = &*base.add(place.head as usize).cast::<SlotHead>();
            let filled = (head.words.load(Relaxed) as usize).min(place.request.bytes as usize / 2);
            let words =
                core::slice::from_raw_parts(base.add(place.request.offset as usize).cast::<u16>(), filled);
            let response =
                Response::new(head, base.add(place.response.offset as usize), place.response.bytes as usize);
            (head, words, response)
        };
        self.header.progress.slot.store(slot as u32, Relaxed);
        self.sequences(&place, head, words, &mut response);
        self.header.progress.phase.store(phase::IDLE, Relaxed);
    }

    fn sequences(&mut self, place: &SlotPlace, head: &SlotHead, words: &[u16], response: &mut Response<'_>) {
        let (total, wants) = (head.sequences.load(Relaxed), head.want.load(Relaxed));
        let mut word = head.resume_word.load(Relaxed) as usize;
        if let (true, Some(coverage)) = (wants & want::ZERO != 0, &mut self.coverage) {
            coverage.zero();
        }
        for sequence in head.resume_sequence.load(Relaxed)..total {
            let to_come = (total - sequence - 1) as usize;
            if !response.begin(place.response.bytes as usize, to_come) {
                return;
            }
            let progress = &self.header.progress;
            progress.word.store(word as u32, Relaxed);
            progress.sequence.store(sequence, Relaxed);
            progress.started.store(progress.started.load(Relaxed) + 1, Relaxed);
            match steps_at(words, word) {
                Some(steps) => {
                    self.sequence(sequence, steps, wants, to_come == 0, response);
                    word += 2 + steps.len();
                }
                // Nothing behind can be found any more.
                None => {
                    word = words.len();
                    response.finish(refused(sequence));
                }
            }
        }
    }

    fn sequence(
        &mut self,
        sequence: u32,
        steps: &[u16],
        wants: u32,
        is_last: bool,
        response: &mut Response<'_>,
    ) {
        steady::reset();
        if let Some(seeds) = &self.seeds {
            seeds.reset();
        }
        if let (true, Some(coverage)) = (wants & ITS_OWN != 0, &mut self.coverage) {
            coverage.zero();
        }
        let before = Before {
            ticks: ticks(),
            bytes: allocator::live(),
            total: allocator::total(),
            values: ledger::alive(),
            panics: panic::raised(),
        };
        if wants & want::COMPARES != 0 {
            compares::begin();
        }
        let outcome = self.interpreter.run(steps, wants, |note| write_panic(response, note));
        allocator::check();
        let mut head = Head {
            sequence,
            status: outcome.status,
            flags: effects::take_flags(),
            step: outcome.step,
            calls: outcome.calls,
            kept_bytes: allocator::live() as i64 - before.bytes as i64,
            allocated: allocator::total().wrapping_sub(before.total),
            ticks: ticks().wrapping_sub(before.ticks),
            kept_values: ledger::alive() - before.values,
            sections: 0,
        };
        if panic::raised() - before.panics > outcome.escaped {
            head.flags |= flag::INNER_PANIC;
        }
        self.write_observations(&outcome, wants, response);
        self.write_coverage(&mut head, wants, is_last, response);
        if head.flags & flag::EFFECTS != 0 {
            write_effects(response);
        }
        if let (true, Some(coverage)) = (wants & want::COUNTS != 0, &self.coverage) {
            write_counts(coverage, response);
        }
        let observed = self.interpreter.observations.observed();
        if !observed.is_empty() {
            response.whole(section::OBSERVED, bytes_of(observed));
        }
        if wants & want::COMPARES != 0 {
            compares::end(|numbers, texts| {
                response.whole(section::COMPARES, bytes_of(numbers));
                response.whole(section::SPANS, texts);
            });
        }
        response.finish(head);
    }

    fn write_observations(&self, outcome: &Outcome, wants: u32, response: &mut Response<'_>) {
        let observed = &self.interpreter.observations;
        let finished = matches!(outcome.status, status::COMPLETED | status::DROP_PANICKED);
        if wants & want::FINGERPRINTS != 0 && finished {
            response.whole(section::FINGERPRINTS, bytes_of(observed.fingerprints()));
        }
        // A value whose observation panicked has a number but no result.
        if outcome.status == status::OBSERVE_PANICKED || outcome.status == status::REFUSED {
            return;
        }
        if wants & want::RESULTS != 0 {
            response.whole(section::RESULTS, bytes_of(observed.results()));
        }
        if wants & want::TEXTS != 0 {
            response.full |= observed.texts_full;
            response.whole(section::TEXTS, observed.texts());
        }
    }

    fn write_coverage(&mut self, head: &mut Head, wants: u32, is_last: bool, response: &mut Response<'_>) {
        let Some(coverage) = &mut self.coverage else { return };
        let is_due = coverage.is_due();
        let each = wants & (want::SCAN_EACH | ITS_OWN) != 0;
        if is_due || is_last || each {
            let sequences = coverage.look(!each);
            if sequences > 0 && response.whole(section::NEW_COUNTERS, bytes_of(coverage.found())) {
                head.flags |= if sequences == 1 { flag::NEW_COVERAGE } else { flag::NEW_COVERAGE_WINDOW };
                coverage.mark();
            }
        }
        if wants & want::ALL_COUNTERS != 0 {
            coverage.reached();
            response.whole(section::COUNTERS, bytes_of(coverage.found()));
        }
    }
}

/// The steps of the sequence that starts at a word, if it lies within the request.
fn steps_at(words: &[u16], start: usize) -> Option<&[u16]> {
    let length = words.get(start..start + 2)?;
    let length = length[0] as usize | (length[1] as usize) << 16;
    words.get(start + 2..start + 2 + length)
}

fn refused(sequence: u32) -> Head {
    Head {
        sequence,
        status: status::REFUSED,
        flags: 0,
        step: 0,
        calls: 0,
        kept_bytes: 0,
        allocated: 0,
        ticks: 0,
        kept_values: 0,
        sections: 0,
    }
}

fn write_panic(response: &mut Response<'_>, note: &Note) {
    let (message, file) = (note.message.as_bytes(), note.file.as_bytes());
    if response.section(section::PANIC, 16 + message.len() + file.len()) {
        response.put(bytes_of(&[note.line, note.column, message.len() as u32, file.len() as u32]));
        response.put(message);
        response.put(file);
        response.pad();
    }
}

fn write_counts(coverage: &Coverage, response: &mut Response<'_>) {
    // A section is as long as it says, whatever threads that were left running add between the two readings.
    let length = coverage.counts().count();
    if response.section(section::COUNTS, length * 16) {
        for (counter, count) in coverage.counts().take(length) {
            response.put(bytes_of(&[counter, count]));
        }
    }
}

fn write_effects(response: &mut Response<'_>) {
    const BYTES: usize = size_of::<Effect>();
    if response.section(section::EFFECTS, effects::noted().count() * BYTES) {
        for effect in effects::noted() {
            response.put(bytes_of(&[effect.step, effect.kind, effect.call, effect.allowed]));
        }
    }
    effects::clear();
}
