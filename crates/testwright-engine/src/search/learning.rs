//! What a job learns from the executions of a batch: how operations and literals fared, which values are new, which sequences
//! reached something first, and what failed.

use std::sync::atomic::Ordering;

use testwright_execute::{Batch, EffectKind, Ending, Execution, Phase};
use testwright_model::OpId;
use testwright_model::operation::Origin;
use testwright_model::sequence::{Sequence, Step};
use testwright_wire::record::want;

use super::batch::Suspects;
use super::{
    FRACTION, HEAVY, QUICK, SLOW, Search, Seen, TICKS_OF_A_CALL, WASTEFUL, calls, completed, subject_calls,
};
use crate::EngineError;
use crate::campaign::Limit;
use crate::direct;
use crate::direct::choice::DEATH;
use crate::direct::draft::Proposal;
use crate::direct::pool::Offer;
use crate::judge::{
    DOCUMENTED, FORBIDDEN, STD_MISUSED, Verdict, is_announced, is_forbidden, is_ours, is_outside, judge,
};

/// What a sequence that takes too much time or memory costs, in usual ones, where time does not count.
const DEAR: u64 = 20;

impl Search<'_> {
    /// Learns from one execution; how many calls into the crate under test it made.
    pub(super) fn learn(&mut self, proposal: &Proposal, execution: &Execution, number: u64) -> u32 {
        if let Some(details) = &execution.details {
            for effect in &details.effects {
                let operations = &self.bench.operations;
                let op = direct::call_at(operations, &proposal.words, proposal.step(effect.step));
                let op = op.map_or("end of a sequence".to_owned(), |op| operations.get(op).path.clone());
                let key = (op, kind_name(effect.kind), effect.allowed);
                *self.learned.effects.entry(key).or_default() += 1;
            }
        }
        let calls = subject_calls(&self.bench.operations, proposal, execution);
        self.learned.by_length.count(calls, !completed(execution));
        if completed(execution) {
            let slow = self.is_slow(proposal, execution);
            self.ticks.0 += execution.ticks;
            self.ticks.1 += if slow { execution.ticks } else { 0 };
            if !slow {
                let a_call = FRACTION * execution.ticks / u64::from(proposal.shape.calls.max(1));
                self.usual = (self.usual * 255 + a_call) / 256;
            }
            let wasteful = execution.allocated > WASTEFUL || slow;
            let burden = match self.plan.limit {
                Limit::Time(_) => execution.ticks / self.expected(proposal).max(QUICK / SLOW),
                Limit::Executions(_) | Limit::Calls(_) => u64::from(wasteful) * DEAR,
            };
            let choice = &mut self.learned.choice;
            for (op, classes) in &proposal.varied {
                choice.note(*op, *classes, false);
            }
            for fresh in proposal.aim.fresh.iter().filter(|_| !proposal.is_variant()) {
                choice.record(fresh.op, fresh.classes, false);
                choice.charge(fresh.op, fresh.classes, burden);
            }
            if !proposal.is_variant() {
                self.pool.burden(&proposal.aim.used, if wasteful { burden } else { 0 });
            }
            if wasteful {
                for (op, classes) in proposal.literals() {
                    choice.record_waste(op, classes);
                }
            }
            self.keep(proposal, execution);
            // Whoever forgets a value leaks it.
            if execution.kept_values == 0 || direct::forgets(&self.bench.operations, &proposal.words) {
                return calls;
            }
        } else {
            self.record_failure(proposal, execution);
        }
        self.judge(proposal, execution, number);
        calls
    }

    /// The ticks that so many calls usually take.
    fn expected(&self, proposal: &Proposal) -> u64 {
        self.usual * u64::from(proposal.shape.calls) / FRACTION
    }

    /// Whoever extends a sequence pays for its work again.
    pub(super) fn may_extend(&self, proposal: &Proposal, execution: &Execution) -> bool {
        execution.allocated <= HEAVY && !self.is_slow(proposal, execution)
    }

    /// What it takes to run a sequence again.
    fn cost(&self, proposal: &Proposal, execution: &Execution) -> u64 {
        match self.plan.limit {
            Limit::Time(_) => execution.ticks,
            Limit::Executions(_) | Limit::Calls(_) => u64::from(proposal.shape.calls) * TICKS_OF_A_CALL,
        }
    }

    /// Time counts only under a time budget: with a number of executions, the same must come out every time.
    fn is_slow(&self, proposal: &Proposal, execution: &Execution) -> bool {
        self.plan.is_timed() && execution.ticks > QUICK.max(SLOW * self.expected(proposal))
    }

    /// Offers the values that are new.
    fn keep(&mut self, proposal: &Proposal, execution: &Execution) {
        if !self.may_extend(proposal, execution) {
            return;
        }
        let mut entry = None;
        let cost = self.cost(proposal, execution);
        for (observed, fingerprint) in proposal.aim.observed.iter().zip(&execution.observed) {
            if !self.pool.is_new(observed.ty, *fingerprint, &mut self.rng)
                && !self.is_shared(proposal, observed.ty)
            {
                continue;
            }
            let entry = entry.get_or_insert_with(|| proposal.entry());
            let offer = Offer::new(entry.clone(), observed.value, *fingerprint, cost);
            self.pool.offer(observed.ty, offer, &mut self.rng);
        }
        if entry.is_some() {
            if let Some(fresh) = proposal.aim.fresh.first() {
                self.learned.choice.reward(fresh.op, 0.05);
            }
        }
    }

    /// Counts the calls that completed and the one that did not.
    fn record_failure(&mut self, proposal: &Proposal, execution: &Execution) {
        let step = proposal.step(execution.step);
        let in_call = execution.phase == Phase::Call;
        if execution.died() && !proposal.is_variant() {
            self.pool.burden(&proposal.aim.used, DEATH);
        }
        let too_much = matches!(execution.ending, Ending::Hung | Ending::OutOfMemory);
        let blamed = too_much && in_call && self.blame_numbers(proposal, step);
        let choice = &mut self.learned.choice;
        for fresh in &proposal.aim.fresh {
            if in_call && fresh.value.0 > step {
                break;
            }
            let failed = in_call && fresh.value.0 == step;
            if failed && blamed {
                choice.record_excess(fresh.op, fresh.classes);
            } else if failed && execution.died() {
                choice.record_death(fresh.op, fresh.classes);
            } else if failed || !proposal.is_variant() {
                choice.record(fresh.op, fresh.classes, failed);
            }
            if failed && !proposal.is_variant() {
                choice.refuse(fresh.op, fresh.of);
            }
        }
        // The same with other literals ran to its end: one of them is to blame.
        for (op, classes) in &proposal.varied {
            choice.note(*op, *classes, true);
            if execution.died() && !blamed {
                choice.record_fatal(*op, *classes);
            }
        }
        if !in_call && execution.died() {
            if let Some(fresh) = proposal.aim.fresh.last() {
                choice.record_death(fresh.op, 0);
            }
        }
    }

    /// A panic that needs no closer look, and why: one of std's own operation, such as `unwrap` of nothing, a call that a
    /// precondition forbids, or one that is documented and of which a sequence as short is known.
    fn is_no_news(&self, proposal: &Proposal, execution: &Execution) -> Option<(OpId, &'static str)> {
        let operations = &self.bench.operations;
        let panic = execution.panic().filter(|_| execution.ending == Ending::Panicked)?;
        let op = direct::call_at(operations, &proposal.words, proposal.step(execution.step))?;
        let operation = operations.get(op);
        if operation.origin == Origin::Std {
            return is_outside(&panic.file).then_some((op, STD_MISUSED));
        }
        if is_forbidden(operation, &panic.message, is_ours(&panic.file)) {
            return Some((op, FORBIDDEN));
        }
        // A broken law has the path of the method that it blames, and is news whatever that one's documentation says.
        if operation.law().is_some() {
            return None;
        }
        let (known, _) = self.learned.documented.get(&operation.path)?;
        let is_short = calls(known).count() <= proposal.shape.calls as usize;
        (is_short && is_announced(operation, &panic.message)).then_some((op, DOCUMENTED))
    }

    fn judge(&mut self, proposal: &Proposal, execution: &Execution, number: u64) {
        let operations = &self.bench.operations;
        if let Some((op, why)) = self.is_no_news(proposal, execution) {
            self.progress.illegal.fetch_add(1, Ordering::Relaxed);
            self.dismiss(why, operations.get(op).path.clone());
            return;
        }
        let sequence = proposal.sequence(operations, &self.bank);
        let mut execution = execution.clone();
        if execution.phase == Phase::Call {
            execution.step = proposal.step(execution.step);
        }
        match judge(operations, &sequence, &execution) {
            Verdict::Passes => {}
            Verdict::Illegal(reason) => {
                self.progress.illegal.fetch_add(1, Ordering::Relaxed);
                let op = match sequence.steps.get(execution.step as usize) {
                    Some(Step::Call { op, .. }) => operations.get(*op).path.clone(),
                    _ => String::new(),
                };
                if reason == DOCUMENTED {
                    self.keep_documented(&op, &sequence, &execution);
                }
                self.dismiss(reason, op);
            }
            Verdict::Failing(failure) => {
                let seen = Seen {
                    sequence,
                    variant: self.stages[self.stage].variant,
                    at_s: self.past.totals.seconds + self.start.elapsed().as_secs_f64(),
                    at_execution: number,
                    tier: failure.tier,
                    failure,
                    again: None,
                };
                match self.learned.failures.get_mut(&seen.failure.key()) {
                    None => {
                        self.progress.failures.fetch_add(1, Ordering::Relaxed);
                        self.learned.failures.insert(seen.failure.key(), seen);
                    }
                    // A shorter way to the same failure is a better start.
                    Some(known)
                        if seen.sequence.len() < known.sequence.len() && seen.variant == known.variant =>
                    {
                        known.sequence = seen.sequence;
                        known.failure = seen.failure;
                    }
                    Some(known)
                        if seen.variant.sanitizer && !known.variant.sanitizer && known.again.is_none() =>
                    {
                        known.again = Some(Box::new(seen));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn dismiss(&mut self, reason: &str, op: String) {
        *self.learned.dismissed.entry((reason.to_owned(), op)).or_default() += 1;
    }

    /// A documented panic is worth a test; the shortest sequence of each operation is kept.
    fn keep_documented(&mut self, op: &str, sequence: &Sequence, execution: &Execution) {
        let Some(panic) = execution.panic() else { return };
        let known = self.learned.documented.get(op);
        if known.is_none_or(|(known, _)| sequence.len() < known.len()) {
            let found = (sequence.clone(), panic.message.clone());
            self.learned.documented.insert(op.to_owned(), found);
        }
    }

    /// Finds out which of the suspects reached counters first, and keeps it.
    pub(super) fn credit_suspects(&mut self) -> Result<(), EngineError> {
        for Suspects { sequences, counters } in std::mem::take(&mut self.suspects) {
            if sequences.is_empty() {
                continue;
            }
            // They are run again, as if nobody had reached the counters before.
            let mut batch = Batch::new(want::ZERO | want::SCAN_EACH);
            for (proposal, _) in &sequences {
                proposal.add_to(&mut batch);
            }
            self.worker.set_seen(&counters, false);
            let outcome = self.worker.run(&batch)?;
            self.worker.set_seen(&counters, true);
            for ((proposal, extensible), execution) in sequences.iter().zip(&outcome.executions) {
                if !execution.new_counters().is_empty() {
                    self.keep_first(proposal, *extensible);
                }
            }
        }
        Ok(())
    }

    /// Keeps a sequence that reached something first.
    pub(super) fn keep_first(&mut self, proposal: &Proposal, extensible: bool) {
        let sequence = proposal.sequence(&self.bench.operations, &self.bank);
        // Whatever it offers is worth going on from, new or not; nothing goes on from a panic,
        // and whoever goes on from much work pays for it again.
        for observed in proposal.aim.observed.iter().filter(|_| extensible) {
            let cost = u64::from(proposal.shape.calls) * TICKS_OF_A_CALL;
            let offer = Offer::new(proposal.entry(), observed.value, 0, cost);
            self.pool.offer(observed.ty, offer, &mut self.rng);
        }
        for fresh in &proposal.aim.fresh {
            self.learned.choice.reward(fresh.op, 2.0);
        }
        for step in &sequence.steps {
            if let Step::Literal { value, .. } = step {
                self.maker.learn_literal(value);
            }
        }
        self.learned.corpus.push(sequence);
    }
}

fn kind_name(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Network => "network",
        EffectKind::Files => "files",
        EffectKind::Process => "process",
        EffectKind::Signal => "signal",
        EffectKind::Other => "other",
        EffectKind::Thread => "thread",
        EffectKind::Sleep => "sleep",
    }
}
