//! Batches: run by the worker, then learnt from.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use testwright_execute::{Batch, Execution};

use super::{ISOLATED, Purpose, Search, completed};
use crate::EngineError;
use crate::direct;
use crate::direct::draft::Proposal;

/// Proposals, by their places in the batch, and what became of them.
#[derive(Debug, Default)]
struct Part {
    places: Vec<usize>,
    executions: Vec<Execution>,
}

/// A batch that was run.
#[derive(Debug)]
pub(super) struct Done {
    pub proposals: Vec<Proposal>,
    pub took: Duration,
    purpose: Purpose,
    number: u64,
    parts: [Part; 2],
}

/// Sequences of one window, each with whether it is worth going on from, and the counters that the window reached first.
#[derive(Debug)]
pub(super) struct Suspects {
    pub sequences: Vec<(Proposal, bool)>,
    pub counters: Vec<u32>,
}

impl Search<'_> {
    /// Whether it calls something whose results depend on what ran before.
    fn is_stateful(&self, proposal: &Proposal) -> bool {
        let (stateful, operations) = (&self.learned.stateful, &self.bench.operations);
        !stateful.is_empty() && direct::calls(operations, &proposal.words).any(|op| stateful.contains(&op))
    }

    /// Has the worker run a batch; what depends on what ran before gets processes of its own.
    pub(super) fn execute(
        &mut self,
        proposals: Vec<Proposal>,
        purpose: Purpose,
    ) -> Result<Done, EngineError> {
        let counts = purpose == Purpose::Search;
        let (mut fresh, usual): (Vec<usize>, Vec<usize>) =
            (0..proposals.len()).partition(|index| self.is_stateful(&proposals[*index]));
        if counts {
            fresh.truncate(ISOLATED.max(proposals.len() / 32));
        }
        let counted = if counts { (fresh.len() + usual.len()) as u64 } else { 0 };
        // Numbered as if the jobs took turns, so that a number does not depend on another job's pace.
        let number = self.past.totals.executions + self.executions * self.step(purpose);
        self.executions += counted;
        self.progress.sequences.fetch_add(counted, Ordering::Relaxed);
        self.bank.sync(&mut self.worker);
        let began = Instant::now();
        let mut parts = [Part::default(), Part::default()];
        if !fresh.is_empty() {
            let batch = batch_of(fresh.iter().map(|place| &proposals[*place]));
            parts[1] = Part { places: fresh, executions: self.worker.run_fresh(&batch)?.executions };
        }
        if !usual.is_empty() {
            self.batch.clear();
            for place in &usual {
                proposals[*place].add_to(&mut self.batch);
            }
            parts[0] = Part { places: usual, executions: self.worker.run(&self.batch)?.executions };
        }
        Ok(Done { proposals, took: began.elapsed(), purpose, number, parts })
    }

    /// Learns from a batch; which of its sequences ran to their end, and are worth going on from.
    pub(super) fn learn_batch(&mut self, done: &Done) -> Vec<bool> {
        let Done { proposals, purpose, parts, .. } = done;
        let mut number = done.number;
        let mut good = vec![false; proposals.len()];
        let mut calls = 0;
        for Part { places, executions } in parts {
            let mut window = 0;
            for (index, (place, execution)) in places.iter().zip(executions).enumerate() {
                let proposal = &proposals[*place];
                calls += u64::from(self.learn(proposal, execution, number));
                good[*place] = completed(execution) && self.may_extend(proposal, execution);
                number += self.step(*purpose);
                if !execution.new_counters().is_empty() {
                    let alone = index == window || !execution.window();
                    let range = if alone { index..=index } else { window..=index };
                    self.learned.last_new = (self.start.elapsed().as_secs_f64(), self.executions);
                    // What ended its worker would only end it again.
                    let suspects: Vec<usize> = range.filter(|index| !executions[*index].died()).collect();
                    match suspects.as_slice() {
                        [one] => self.keep_first(&proposals[places[*one]], good[places[*one]]),
                        several => self.suspects.push(Suspects {
                            sequences: several
                                .iter()
                                .map(|index| (proposals[places[*index]].clone(), good[places[*index]]))
                                .collect(),
                            counters: execution.new_counters().to_vec(),
                        }),
                    }
                }
                if !execution.new_counters().is_empty() || execution.window() {
                    window = index + 1;
                }
            }
        }
        if *purpose == Purpose::Search {
            self.progress.calls.fetch_add(calls, Ordering::Relaxed);
        }
        good
    }

    /// Runs sequences of an earlier run to the end of it, and learns from them.
    pub(super) fn run_again(&mut self, proposals: Vec<Proposal>) -> Result<Vec<Proposal>, EngineError> {
        let done = self.execute(proposals, Purpose::Replay)?;
        self.learn_batch(&done);
        self.credit_suspects()?;
        Ok(done.proposals)
    }

    /// How much further the next execution's number is.
    fn step(&self, purpose: Purpose) -> u64 {
        if purpose == Purpose::Search { self.plan.jobs as u64 } else { 0 }
    }
}

pub(super) fn batch_of<'p>(proposals: impl Iterator<Item = &'p Proposal>) -> Batch {
    let mut batch = Batch::new(0);
    for proposal in proposals {
        proposal.add_to(&mut batch);
    }
    batch
}
