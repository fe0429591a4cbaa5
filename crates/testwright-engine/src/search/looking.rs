//! Closer looks at a few sequences of a batch: at the texts of their results, and at what they do in a fresh process.

use testwright_execute::{Batch, Execution};
use testwright_model::sequence::Step;
use testwright_wire::record::want;

use super::{COMPARED, COMPARED_UNTIMED, Search, calls};
use crate::EngineError;
use crate::direct::draft::Proposal;

/// Sequences of a batch that are looked at closely, and the most calls that they have.
const LOOKED_AT: usize = 32;
const SHORT: u32 = 30;

impl Search<'_> {
    /// Looks at texts of results: which calls gave `Ok` or `Some`.
    pub(super) fn look_closely(&mut self, proposals: &[Proposal]) -> Result<(), EngineError> {
        let mut batch = Batch::new(want::TEXTS);
        // Every value that was made is printed: long sequences of large ones would take longer than batches do.
        let short = proposals.iter().filter(|proposal| proposal.shape.calls <= SHORT);
        let chosen: Vec<&Proposal> = short.take(LOOKED_AT).collect();
        for proposal in &chosen {
            proposal.add_to(&mut batch);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let outcome = self.worker.run(&batch)?;
        for (proposal, execution) in chosen.iter().zip(&outcome.executions) {
            let Some(details) = &execution.details else { continue };
            let sequence = proposal.sequence(&self.bench.operations, &self.bank);
            let made = sequence.steps.iter().filter(|step| step.makes_value());
            for (step, text) in made.zip(&details.texts) {
                let (Step::Call { op, .. }, Some(text)) = (step, text) else { continue };
                if let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                    if !inner.contains('\\') {
                        self.maker.learn_text(inner);
                    }
                }
                let tally = self.learned.choice.tally_mut(*op);
                let good = text.starts_with("Some(") || text.starts_with("Ok(");
                if good || text == "None" || text.starts_with("Err(") {
                    tally.looked += 1;
                    tally.good += u64::from(good);
                }
            }
        }
        Ok(())
    }

    /// Runs a few sequences here and in fresh processes: results that differ come from state that outlives a sequence.
    pub(super) fn compare_with_fresh(&mut self, proposals: &[Proposal]) -> Result<(), EngineError> {
        // Each runs twice in the old process: the second run sees what the first left behind, whatever died in between.
        let (mut twice, mut once) = (Batch::new(want::RESULTS), Batch::new(want::RESULTS));
        let mut chosen = Vec::new();
        let timed = self.plan.is_timed();
        let most = if timed { COMPARED } else { COMPARED_UNTIMED };
        for proposal in proposals.iter().rev() {
            if chosen.len() == most {
                break;
            }
            let sequence = proposal.sequence(&self.bench.operations, &self.bank);
            let kills = calls(&sequence).any(|op| self.learned.choice.kills(op));
            if kills || calls(&sequence).all(|op| self.compared.contains(&op)) {
                continue;
            }
            proposal.add_to(&mut once);
            proposal.add_to(&mut twice);
            proposal.add_to(&mut twice);
            self.compared.extend(calls(&sequence));
            chosen.push(sequence);
        }
        if chosen.is_empty() {
            return Ok(());
        }
        let worn = self.worker.run(&twice)?;
        let fresh = self.worker.run_fresh(&once)?;
        let worn = worn.executions.iter().skip(1).step_by(2);
        for (sequence, (worn, fresh)) in chosen.iter().zip(worn.zip(&fresh.executions)) {
            let results =
                |execution: &Execution| execution.details.as_ref().map(|details| details.results.clone());
            let (Some(worn), Some(fresh)) = (results(worn), results(fresh)) else { continue };
            let differs = worn.iter().zip(&fresh).position(|(worn, fresh)| worn != fresh);
            let made = sequence.steps.iter().filter(|step| step.makes_value());
            if let Some(Step::Call { op, .. }) = differs.and_then(|value| made.clone().nth(value)) {
                let path = self.bench.operations.get(*op).path.clone();
                if self.learned.stateful.insert(*op) {
                    *self.learned.effects.entry((path, "state", true)).or_default() += 1;
                }
            }
        }
        Ok(())
    }
}
