//! Sequences of earlier runs, run again as the first batches of a job; and what the job hands over for later ones.
//!
//! Receives the job's part of what was [`Stored`](testwright_store::Stored). Everything goes the way of the search's own
//! proposals, so that coverage, pool, corpus and failures are there again; only the figures do not count it.

use testwright_ground::reach::is_literal;
use testwright_model::sequence::{Sequence, Step, ValueId};
use testwright_model::{Literal, Prim, Ty};
use testwright_store::Kept;

use super::{BATCH, Search};
use crate::EngineError;
use crate::direct;
use crate::direct::draft::{Draft, Proposal};
use crate::direct::pool::Entry;
use crate::minimise::{MAKERS, Making};
use crate::saving::POOL_SAMPLE;

impl Search<'_> {
    pub(super) fn replay(&mut self) -> Result<(), EngineError> {
        let past = self.past;
        let (job, jobs) = (self.job, self.plan.jobs);
        for sequence in past.failures.iter().skip(job).step_by(jobs) {
            if let Some(proposal) = self.retrace(sequence, None) {
                self.recalled.push(proposal);
            }
        }
        self.recall()?;
        let corpus = past.corpus.iter().skip(job).step_by(jobs).map(|sequence| (sequence, None));
        let pool = past.pool.iter().skip(job).step_by(jobs);
        let pool = pool.map(|kept| (&kept.sequence, Some(kept.values.as_slice())));
        let all: Vec<(&Sequence, Option<&[ValueId]>)> = corpus.chain(pool).collect();
        for part in all.chunks(BATCH) {
            if self.left().is_none() {
                self.learned.replayed.cut_short = true;
                break;
            }
            let proposals: Vec<Proposal> =
                part.iter().filter_map(|(sequence, values)| self.retrace(sequence, *values)).collect();
            let proposals = self.run_again(proposals)?;
            self.compare_with_fresh(&proposals)?;
            self.tell();
        }
        // What was known before is nothing new.
        self.learned.last_new = (0.0, 0);
        Ok(())
    }

    /// Runs what failed in earlier runs with the build of now.
    pub(super) fn recall(&mut self) -> Result<(), EngineError> {
        let recalled = std::mem::take(&mut self.recalled);
        let last_new = self.learned.last_new;
        for part in recalled.chunks(BATCH) {
            self.run_again(part.to_vec())?;
        }
        self.learned.last_new = last_new;
        self.recalled = recalled;
        Ok(())
    }

    /// The proposal that a stored sequence was, if it is still a legal one and was not run yet.
    fn retrace(&mut self, sequence: &Sequence, values: Option<&[ValueId]>) -> Option<Proposal> {
        let operations = &self.bench.operations;
        let fits = sequence.steps.iter().all(|step| match step {
            Step::Literal { ty, value } => is_written_as(operations.ty(*ty), value),
            _ => true,
        });
        let draft = Some(()).filter(|()| fits);
        let draft = draft.and_then(|()| Draft::retrace(operations, sequence, &mut self.bank));
        let Some(mut draft) = draft else {
            self.learned.replayed.illegal += 1;
            return None;
        };
        let proposal = match values {
            Some(values) => draft.propose_observing(values),
            None => draft.propose(),
        };
        self.learned.replayed.sequences += 1;
        // A later proposal is not to be the same; the pool may hold what the corpus holds, for other values of it.
        let announced = self.before.announce(&proposal.words);
        self.before.is_new(announced);
        Some(proposal)
    }

    /// Hands over what is new, if it is time. Nothing here has an influence on the search.
    pub(super) fn save_now_and_then(&mut self) {
        let Some(saver) = &mut self.saver else { return };
        if !saver.is_due() {
            return;
        }
        let pool = saver.pool_is_due();
        let pool = pool.then(|| self.sample());
        if let Some(saver) = &mut self.saver {
            saver.save(&self.learned, pool);
        }
    }

    /// Hands over everything, at the end of the job.
    pub(super) fn save_all(&mut self) {
        let pool = self.saver.is_some().then(|| self.sample());
        if let Some(saver) = &mut self.saver {
            saver.save(&self.learned, pool);
        }
    }

    /// Of each type, the shortest ways to make a value that the pool has.
    pub(super) fn makers(&self) -> Vec<Making> {
        let decode = |entry: &Entry| direct::decode(&self.bench.operations, &self.bank, &entry.words);
        let shortest = self.pool.shortest(MAKERS).into_iter();
        shortest.filter_map(|(entry, value)| Making::of(&decode(entry), value)).collect()
    }

    fn sample(&self) -> Vec<Kept> {
        let sample = self.pool.sample(POOL_SAMPLE / self.plan.jobs.max(1));
        let decode = |entry: &Entry| direct::decode(&self.bench.operations, &self.bank, &entry.words);
        sample.into_iter().map(|(entry, values)| Kept { sequence: decode(entry), values }).collect()
    }
}

/// Whether a literal is one of the type: a file can say anything.
fn is_written_as(ty: &Ty, value: &Literal) -> bool {
    let prim = |wanted: &[Prim]| matches!(ty, Ty::Prim(prim) if wanted.contains(prim));
    is_literal(ty)
        && match value {
            Literal::Bool(_) => prim(&[Prim::Bool]),
            Literal::Char(_) => prim(&[Prim::Char]),
            Literal::Float(_) => prim(&[Prim::F32, Prim::F64]),
            Literal::Int(_) => ty.is_int(),
            Literal::Str(_) => matches!(ty, Ty::Ref { to, .. } if **to == Ty::Str),
            Literal::Bytes(_) => matches!(ty, Ty::Ref { to, .. } if matches!(**to, Ty::Slice(_))),
        }
}
