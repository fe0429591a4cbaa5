//! Values that share state: a call on one of them changes another. Equal ones are not the same then, and count as new.
//!
//! Looks at the last call of a few short sequences: what it was not given, and yet looks different afterwards, shares something with what it
//! was given.

use rand::Rng;
use testwright_model::Ledger;
use testwright_model::operation::TypeId;
use testwright_model::sequence::{Sequence, Step, ValueId};

use super::Search;
use super::batch::batch_of;
use crate::EngineError;
use crate::direct::draft::{Draft, Proposal};

/// Sequences of a batch that are looked at, and the most calls that they have.
const LOOKED_AT: usize = 24;
const SHORT: u32 = 30;
/// One in so many equal values that share state with another is kept: there is no end of them.
const KEPT: u32 = 4;

impl Search<'_> {
    /// Learns which types share state.
    pub(super) fn look_for_sharing(&mut self, proposals: &[Proposal]) -> Result<(), EngineError> {
        let mut pairs: Vec<(Proposal, Proposal)> = Vec::new();
        for proposal in proposals.iter().filter(|proposal| proposal.shape.calls <= SHORT) {
            if pairs.len() == LOOKED_AT {
                break;
            }
            let sequence = proposal.sequence(&self.bench.operations, &self.bank);
            pairs.extend(self.before_and_after(&sequence));
        }
        if pairs.is_empty() {
            return Ok(());
        }
        self.bank.sync(&mut self.worker);
        let batch = batch_of(pairs.iter().flat_map(|(before, after)| [before, after]));
        let executions = self.worker.run(&batch)?.executions;
        for ((before, _), runs) in pairs.iter().zip(executions.chunks(2)) {
            let [first, second] = runs else { continue };
            let seen = first.observed.iter().zip(&second.observed);
            for (observed, (one, other)) in before.aim.observed.iter().zip(seen) {
                if *one != 0 && *other != 0 && one != other {
                    self.learned.sharing.insert(observed.ty);
                }
            }
        }
        Ok(())
    }

    /// The sequence up to its last call of the subject, without and with it, each with a look at what the call is not given.
    fn before_and_after(&mut self, sequence: &Sequence) -> Option<(Proposal, Proposal)> {
        let operations = &self.bench.operations;
        let is_subject =
            |step: &Step| matches!(step, Step::Call { op, .. } if operations.get(*op).is_subject());
        let last = sequence.steps.iter().rposition(is_subject)?;
        let given = sequence.steps[last].uses();
        let (before, after) = (&sequence.steps[..last], &sequence.steps[..=last]);
        let ledger = Ledger::replay(operations, before).ok()?;
        let afterwards = Ledger::replay(operations, after).ok()?;
        // What is lent may not be looked at, and what lends may have changed through the borrow.
        if afterwards.alive().any(|(value, _)| afterwards.holds_loans(value)) {
            return None;
        }
        let is_own = |ty: TypeId| operations.operations.iter().any(|op| op.is_subject() && op.result == ty);
        let watched: Vec<ValueId> = ledger
            .alive()
            .filter(|(value, ty)| !given.contains(value) && afterwards.is_alive(*value) && is_own(*ty))
            .map(|(value, _)| value)
            .collect();
        if watched.is_empty() || before.is_empty() {
            return None;
        }
        let mut draft = |steps: &[Step]| {
            let sequence = Sequence { steps: steps.to_vec() };
            Some(Draft::retrace(operations, &sequence, &mut self.bank)?.propose_observing(&watched))
        };
        Some((draft(before)?, draft(after)?))
    }

    /// Whether a value of the type counts as new because the sequence has another one that may share its state.
    pub(super) fn is_shared(&mut self, proposal: &Proposal, ty: TypeId) -> bool {
        let sharing = &self.learned.sharing;
        sharing.contains(&ty)
            && proposal.shape.state.types().filter(|other| sharing.contains(other)).count() > 1
            && self.rng.random_ratio(1, KEPT)
    }
}
