//! When a job looks at branches, and what it does with what was found there.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use testwright_harness::Variant;
use testwright_model::sequence::{Sequence, Step, ValueId};

use super::{Search, start_worker};
use crate::EngineError;
use crate::branch::{Figures, Tracer};
use crate::campaign::Limit;
use crate::direct::draft::Draft;

/// From these parts of the budget on, for a while, branches that went one way only are looked at.
const PHASES: [f64; 5] = [0.1, 0.25, 0.45, 0.65, 0.8];
/// Sooner if the search is flat.
const SOONEST: f64 = 0.05;
/// What such a while may take of the budget.
const PHASE: f64 = 0.04;

impl Search<'_> {
    /// Whether branches are to be looked at now.
    pub(super) fn is_branch_time(&self) -> bool {
        let (Some(_), Some(from)) = (self.tracing, PHASES.get(self.phases)) else { return false };
        let spent = self.spent();
        spent >= *from || (self.phases == 0 && spent >= SOONEST && self.is_flat())
    }

    /// Looks for the other sides of branches for a while. What goes wrong there ends it, and nothing else.
    pub(super) fn direct_at_branches(&mut self) {
        self.phases += 1;
        if let Err(error) = self.try_branches() {
            self.phases = PHASES.len();
            self.learned.branches.trouble = Some(error.to_string());
        }
    }

    fn try_branches(&mut self) -> Result<(), EngineError> {
        let (Some(binary), Limit::Time(budget)) = (self.tracing, self.plan.limit) else { return Ok(()) };
        if self.tracer.is_none() {
            let scratch = self.scratch.join("traced");
            let worker = start_worker(binary, &scratch, self.job, self.plan, Variant::quick())?;
            self.tracer = Some(Tracer::new(self.bench, binary, worker)?);
        }
        let Some(tracer) = &mut self.tracer else { return Ok(()) };
        let until = Instant::now() + budget.mul_f64(PHASE);
        let before = tracer.executions();
        tracer.measure(&self.learned.corpus)?;
        let last: Vec<Sequence> =
            self.templates.iter().map(|it| it.sequence(&self.bench.operations, &self.bank)).collect();
        let seen = tracer.look_at(&last)?;
        self.learned.corpus.extend(seen);
        let found = tracer.phase(&self.learned.corpus, until, &mut self.rng)?;
        let ran = tracer.executions() - before;
        self.executions += ran;
        self.progress.sequences.fetch_add(ran, Ordering::Relaxed);
        for text in tracer.learned_texts() {
            if let Ok(text) = String::from_utf8(text) {
                self.maker.learn_text(&text);
            }
        }
        for sequence in &found {
            let draft = Draft::retrace(&self.bench.operations, sequence, &mut self.bank);
            let changed = changed_values(sequence);
            self.wanted.extend(draft.map(|mut draft| draft.propose_observing(&changed)));
        }
        self.learned.corpus.extend(found);
        Ok(())
    }

    /// The figures at the end of a job, with what the search reached since the last phase.
    pub(super) fn count_branches(&mut self) {
        let Some(mut tracer) = self.tracer.take() else { return };
        let measured = tracer.measure(&self.learned.corpus);
        let trouble = self.learned.branches.trouble.take().or(measured.err().map(|error| error.to_string()));
        self.learned.branches = Figures { trouble, ..tracer.figures() };
    }
}

/// The values that calls may have changed, then those that they made; the last ones first.
fn changed_values(sequence: &Sequence) -> Vec<ValueId> {
    let mut changed = Vec::new();
    let mut made = Vec::new();
    for (index, step) in (0..).zip(&sequence.steps) {
        if let Step::Call { args, .. } = step {
            changed.extend(args.iter().filter(|arg| arg.how.is_mut()).map(|arg| arg.value));
            made.push(ValueId(index));
        }
    }
    changed.reverse();
    made.reverse();
    changed.extend(made);
    let mut known = HashSet::new();
    changed.retain(|value| known.insert(*value));
    changed
}
