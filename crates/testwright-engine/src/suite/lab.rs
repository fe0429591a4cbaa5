//! A worker that tells what sequences reach and what their values look like, and sequences shortened by such questions.

use testwright_cover::Branches;
use testwright_execute::{Batch, Ending, Execution, Worker};
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step, ValueId};
use testwright_wire::record::want;

use super::facts::{self, Fact, Told};
use crate::minimise::{self, Plainest};
use crate::search::calls;
use crate::{EngineError, encode};

/// Bytes that the sequence of a test may allocate in all.
const MODEST: u64 = 16 << 20;
/// Candidates that are run to shorten one test: for what it reaches, and for what it shows.
const PATIENCE: usize = 400;
const FACT_PATIENCE: usize = 240;
/// Sequences in a batch: their counts must have room in one answer.
const BATCH: usize = 50;
/// A text that was cut says nothing about the end.
const WHOLE: usize = 1000;

/// A worker that tells what sequences reach.
pub struct Lab<'a> {
    pub operations: &'a Operations,
    pub plainest: &'a Plainest,
    pub branches: &'a Branches,
    pub worker: Worker,
    /// How often each counter was reached by the corpus.
    pub sums: Vec<u64>,
}

/// Whether a run is one for a test: to its end, and the same everywhere.
fn fits(execution: &Execution) -> bool {
    // What touches the world outside, or sleeps, is no test to leave in somebody's package.
    let pure = execution.details.as_ref().is_none_or(|details| details.effects.is_empty());
    pure && is_modest(execution) && execution.ending == Ending::Completed
}

/// What asks for much memory gets it in one place and not in another; a refused demand counts as one that was met.
fn is_modest(execution: &Execution) -> bool {
    execution.allocated <= MODEST
}

impl Lab<'_> {
    /// The regions that each sequence reaches; `None` for those that do not run to their end or act on the world outside.
    pub fn reached(&mut self, sequences: &[Sequence]) -> Result<Vec<Option<Vec<u32>>>, EngineError> {
        let mut all = Vec::with_capacity(sequences.len());
        for part in sequences.chunks(BATCH) {
            let executions = self.run(part, want::COUNTS)?;
            for execution in executions {
                let Some(execution) = execution else {
                    all.push(None);
                    continue;
                };
                let fits = fits(&execution);
                let counts = execution.details.map(|details| details.counts).unwrap_or_default();
                for (counter, count) in &counts {
                    if let Some(sum) = self.sums.get_mut(*counter as usize) {
                        *sum = sum.saturating_add(*count);
                    }
                }
                all.push(fits.then(|| self.branches.taken(&counts).regions));
            }
        }
        Ok(all)
    }

    /// Runs sequences; `None` for those that cannot be encoded.
    fn run(&mut self, sequences: &[Sequence], wants: u32) -> Result<Vec<Option<Execution>>, EngineError> {
        let plain: Vec<(&Sequence, &[(usize, ValueId)])> =
            sequences.iter().map(|sequence| (sequence, [].as_slice())).collect();
        self.run_telling(&plain, wants)
    }

    fn run_telling(
        &mut self,
        asked: &[(&Sequence, &[(usize, ValueId)])],
        wants: u32,
    ) -> Result<Vec<Option<Execution>>, EngineError> {
        let mut batch = Batch::new(wants);
        let encoded: Vec<bool> = asked
            .iter()
            .map(|(sequence, left)| {
                encode::append_observing(self.operations, sequence, left, &mut self.worker, &mut batch)
            })
            .collect();
        if batch.is_empty() {
            return Ok(vec![None; asked.len()]);
        }
        let mut executions = self.worker.run(&batch)?.executions.into_iter();
        Ok(encoded.into_iter().map(|encoded| if encoded { executions.next() } else { None }).collect())
    }

    /// Without what is not needed to reach the regions and to make the call.
    pub fn shorten(
        &mut self,
        sequence: &Sequence,
        needed: &[u32],
        call: Option<&str>,
    ) -> Result<Sequence, EngineError> {
        let (operations, plainest) = (self.operations, self.plainest);
        let mut inquiry = Inquiry::default();
        let calls_it = |candidate: &Sequence| {
            call.is_none_or(|path| calls(candidate).any(|op| operations.get(op).path == path))
        };
        let has_all = |reached: Vec<u32>| needed.iter().all(|region| reached.binary_search(region).is_ok());
        let short = minimise::simplify(operations, plainest, sequence.clone(), &mut |candidates| {
            inquiry.ask(candidates, |candidates| {
                let reached =
                    self.reached(candidates)?.into_iter().map(|reached| reached.is_some_and(has_all));
                Ok(candidates
                    .iter()
                    .zip(reached)
                    .map(|(candidate, same)| same && calls_it(candidate))
                    .collect())
            })
        });
        inquiry.end(short)
    }

    /// Without what the panic does not need; `None` if it does not come again.
    pub fn shorten_panic(
        &mut self,
        sequence: &Sequence,
        message: &str,
    ) -> Result<Option<Sequence>, EngineError> {
        let (operations, plainest) = (self.operations, self.plainest);
        let mut inquiry = Inquiry::default();
        let panics = |candidate: &Sequence, execution: &Execution| {
            // The last step raises it: nothing behind a panic is ever run.
            execution.ending == Ending::Panicked
                && is_modest(execution)
                && execution.panic().is_some_and(|panic| panic.message == message)
                && last_call(candidate) == Some(execution.step as usize)
        };
        let mut same = |candidates: &[Sequence]| {
            inquiry.ask(candidates, |candidates| {
                let executions = self.run(candidates, 0)?;
                let all = candidates.iter().zip(&executions);
                Ok(all.map(|(one, run)| run.as_ref().is_some_and(|run| panics(one, run))).collect())
            })
        };
        let mut cut = sequence.clone();
        while cut.steps.last().is_some_and(|step| !matches!(step, Step::Call { .. })) {
            cut.steps.pop();
        }
        let again = same(std::slice::from_ref(&cut)) == [true];
        let short = again.then(|| minimise::simplify(operations, plainest, cut, &mut same));
        inquiry.end(short)
    }

    /// What each sequence's values look like when they are made, and what it leaves of those that are listed; `None` for those that
    /// fit no test.
    pub fn told(
        &mut self,
        asked: &[(Sequence, Vec<(usize, ValueId)>)],
    ) -> Result<Vec<Option<Told>>, EngineError> {
        let mut all = Vec::with_capacity(asked.len());
        for part in asked.chunks(BATCH) {
            let part: Vec<(&Sequence, &[(usize, ValueId)])> =
                part.iter().map(|(sequence, left)| (sequence, left.as_slice())).collect();
            let executions = self.run_telling(&part, want::TEXTS | want::LEFT)?;
            for ((sequence, left), execution) in part.iter().zip(executions) {
                let texts = execution
                    .filter(fits)
                    .and_then(|execution| execution.details)
                    .map(|details| details.texts);
                all.push(texts.map(|texts| told(sequence, left, texts)));
            }
        }
        Ok(all)
    }

    /// The same in two runs, without the texts that differ.
    pub fn steady(
        &mut self,
        sequence: &Sequence,
        left: &[(usize, ValueId)],
    ) -> Result<Option<Told>, EngineError> {
        let asked = (sequence.clone(), left.to_vec());
        let mut runs = self.told(&[asked.clone(), asked])?.into_iter();
        let (Some(Some(mut first)), Some(Some(second))) = (runs.next(), runs.next()) else { return Ok(None) };
        for (one, other) in first.made.iter_mut().zip(&second.made) {
            if one != other {
                *one = None;
            }
        }
        for (one, other) in first.left.iter_mut().zip(&second.left) {
            if one.2 != other.2 {
                one.2 = None;
            }
        }
        Ok(Some(first))
    }

    /// Without what the fact does not need; `None` if it is not seen again.
    pub fn shorten_fact(
        &mut self,
        sequence: &Sequence,
        fact: &Fact,
    ) -> Result<Option<Sequence>, EngineError> {
        let (operations, plainest) = (self.operations, self.plainest);
        let mut inquiry = Inquiry { patience: FACT_PATIENCE, error: None };
        let mut same = |candidates: &[Sequence]| {
            inquiry.ask(candidates, |candidates| {
                let asked: Vec<_> =
                    candidates.iter().map(|one| (one.clone(), facts::lent(operations, one))).collect();
                let told = self.told(&asked)?;
                let shows = |(one, told): (&Sequence, Option<Told>)| {
                    told.is_some_and(|told| {
                        facts::of(operations, one, &told).iter().any(|(_, seen)| seen == fact)
                    })
                };
                Ok(candidates.iter().zip(told).map(shows).collect())
            })
        };
        let again = same(std::slice::from_ref(sequence)) == [true];
        let short = again.then(|| minimise::simplify(operations, plainest, sequence.clone(), &mut same));
        inquiry.end(short)
    }
}

/// The texts in the order in which the worker sends them, put where they belong.
fn told(sequence: &Sequence, left: &[(usize, ValueId)], texts: Vec<Option<String>>) -> Told {
    let mut texts = texts.into_iter().map(|text| text.filter(|text| text.len() < WHOLE));
    let mut told = Told::default();
    for (index, step) in sequence.steps.iter().enumerate() {
        told.made.push(if step.makes_value() { texts.next().flatten() } else { None });
        for (behind, value) in left.iter().filter(|(behind, _)| *behind == index) {
            told.left.push((*behind, *value, texts.next().flatten()));
        }
    }
    told
}

/// Questions about candidates, as long as there is patience and nothing goes wrong.
struct Inquiry {
    patience: usize,
    error: Option<EngineError>,
}

impl Default for Inquiry {
    fn default() -> Self {
        Inquiry { patience: PATIENCE, error: None }
    }
}

impl Inquiry {
    fn ask(
        &mut self,
        candidates: &[Sequence],
        question: impl FnOnce(&[Sequence]) -> Result<Vec<bool>, EngineError>,
    ) -> Vec<bool> {
        let tried = if self.error.is_some() { 0 } else { candidates.len().min(self.patience) };
        self.patience -= tried;
        let mut verdicts = question(&candidates[..tried]).unwrap_or_else(|error| {
            self.error = Some(error);
            Vec::new()
        });
        verdicts.resize(candidates.len(), false);
        verdicts
    }

    /// What came of it, unless something went wrong on the way.
    fn end<T>(self, found: T) -> Result<T, EngineError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }
}

/// The last step that is a call.
fn last_call(sequence: &Sequence) -> Option<usize> {
    sequence.steps.iter().rposition(|step| matches!(step, Step::Call { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_where_they_belong() {
        let steps = vec![
            Step::Call { op: testwright_model::OpId(0), args: Vec::new() },
            Step::Call { op: testwright_model::OpId(1), args: Vec::new() },
            Step::Drop(ValueId(1)),
        ];
        let texts = ["a", "b", "after"].map(|text| Some(text.to_owned())).to_vec();
        let told = told(&Sequence { steps }, &[(1, ValueId(0))], texts);
        assert_eq!(told.made, [Some("a".to_owned()), Some("b".to_owned()), None]);
        assert_eq!(told.left, [(1, ValueId(0), Some("after".to_owned()))]);
    }
}
