//! A worker as its users see it: batches in, facts out, deaths in between survived.
//!
//! The process may be replaced at any time (see `supervision`); shared memory, literals, the seen map and the batches under way outlive it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use testwright_wire::layout::SLOTS;

use crate::literals::Literals;
use crate::outcome::{BatchOutcome, Ending, Execution, Ticket};
use crate::process::{Process, make_scratch};
use crate::shared::Shared;
use crate::slot::Slot;
use crate::start::start_process;
use crate::{Batch, Catalogue, ExecuteError, WorkerPlan};

/// One worker process at a time over one shared memory.
#[derive(Debug)]
pub struct Worker {
    pub(crate) plan: WorkerPlan,
    pub(crate) shared: Shared,
    pub(crate) catalogue: Catalogue,
    /// `None` only after an error.
    pub(crate) process: Option<Process>,
    pub(crate) slots: [Slot; SLOTS],
    /// Slots that hold a batch, in the order in which they were submitted.
    pub(crate) queue: VecDeque<usize>,
    literals: Literals,
    tickets: u64,
    /// Calls of this process that belong to executions known already.
    pub(crate) counted_calls: u64,
    /// Nothing has run in this process.
    pub(crate) unused: bool,
    pub(crate) statistics: Statistics,
    pub(crate) buffer: Vec<u8>,
}

/// What keeping a worker alive has cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// New processes after deaths.
    pub restarts: u64,
    /// New processes because a sequence was to have one of its own.
    pub renewals: u64,
    /// From noticing a death, or deciding on a renewal, until the next process was ready; all of them together.
    pub restart_time: Duration,
    /// Deaths that were no sequence's doing.
    pub strays: u64,
}

impl Worker {
    /// Starts the worker and waits until it is ready. A process ends with the thread that started it, so a worker that is
    /// handed to another thread is best started there; otherwise it costs a restart when the first thread ends.
    pub fn start(mut plan: WorkerPlan) -> Result<Worker, ExecuteError> {
        plan.scratch = make_scratch(&plan.scratch)?;
        let shared = Shared::new(&plan)?;
        let (process, catalogue) = start_process(&plan, &shared)?;
        Ok(Worker {
            literals: Literals::new(shared.literal_room()),
            plan,
            shared,
            catalogue,
            process: Some(process),
            slots: Default::default(),
            queue: VecDeque::new(),
            tickets: 0,
            counted_calls: 0,
            unused: true,
            statistics: Statistics::default(),
            buffer: Vec::new(),
        })
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn plan(&self) -> &WorkerPlan {
        &self.plan
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// New processes after deaths.
    pub fn restarts(&self) -> u64 {
        self.statistics.restarts
    }

    /// What a new process costs; zero while there was none.
    pub fn mean_restart_cost(&self) -> Duration {
        let times = self.statistics.restarts + self.statistics.renewals;
        self.statistics.restart_time / u32::try_from(times.max(1)).unwrap_or(u32::MAX)
    }

    /// The present process's number, for messages.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid().as_raw_pid().cast_unsigned())
    }

    /// Where these bytes lie in the literal area, as offset and length; they are put there if they are new. `None` if there is
    /// no room left.
    pub fn literal(&mut self, bytes: &[u8]) -> Option<(u32, u32)> {
        let literal = self.literals.place(bytes)?;
        if literal.new {
            self.shared.write_literal(literal.offset as usize, bytes);
        }
        Some((literal.offset, literal.length))
    }

    /// Puts bytes into the literal area at a place of the caller's, who keeps book instead of [`Worker::literal`] then.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write_literals(&mut self, offset: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.shared.write_literal(offset, bytes);
        }
    }

    /// How many batches are under way or wait to be collected.
    pub fn under_way(&self) -> usize {
        self.queue.len()
    }

    /// Lets a batch run; at most two may be under way.
    pub fn submit(&mut self, batch: &Batch) -> Result<Ticket, ExecuteError> {
        let number = (0..SLOTS).find(|number| !self.queue.contains(number)).ok_or(ExecuteError::Busy)?;
        let ticket = Ticket(self.tickets);
        self.begin(number, ticket, batch)?;
        self.tickets += 1;
        Ok(ticket)
    }

    /// Waits for the batch that was submitted first. After an error, [`Worker::abandon`] makes the worker usable again.
    pub fn collect(&mut self) -> Result<BatchOutcome, ExecuteError> {
        let &number = self.queue.front().ok_or(ExecuteError::Nothing)?;
        self.finish(number)?;
        let ticket = self.slots[number].ticket.expect("a queued slot has its ticket");
        let mut executions = std::mem::take(&mut self.slots[number].executions);
        self.queue.retain(|&queued| queued != number);
        if executions.iter().any(|execution| execution.ending == Ending::Truncated) {
            self.ask_again(number, ticket, &mut executions)?;
        }
        let calls = executions.iter().map(|execution| u64::from(execution.calls)).sum();
        Ok(BatchOutcome { ticket, executions, calls })
    }

    /// Submits a batch and waits for it; nothing else may be under way.
    pub fn run(&mut self, batch: &Batch) -> Result<BatchOutcome, ExecuteError> {
        self.expect_idle()?;
        self.submit(batch)?;
        self.collect()
    }

    /// Runs each sequence in a process that has run nothing before; nothing else may be under way.
    pub fn run_fresh(&mut self, batch: &Batch) -> Result<BatchOutcome, ExecuteError> {
        self.expect_idle()?;
        batch.check()?;
        let mut executions = Vec::with_capacity(batch.len());
        let mut single = Batch::new(batch.want);
        for sequence in 0..batch.len() {
            self.renew()?;
            single.clear();
            single.push_words(batch.words_of(sequence));
            executions.append(&mut self.run(&single)?.executions);
        }
        let calls = executions.iter().map(|execution| u64::from(execution.calls)).sum();
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        Ok(BatchOutcome { ticket, executions, calls })
    }

    /// Replaces the process if anything has run in it; nothing may be under way.
    pub fn renew(&mut self) -> Result<(), ExecuteError> {
        self.expect_idle()?;
        if self.process.is_some() && self.unused {
            return Ok(());
        }
        let began = Instant::now();
        self.process = None;
        self.statistics.renewals += 1;
        self.restart(began)
    }

    /// Gives up everything that is under way, as after an error. The next batch gets a new process.
    pub fn abandon(&mut self) {
        self.queue.clear();
        self.process = None;
    }

    fn expect_idle(&self) -> Result<(), ExecuteError> {
        if self.queue.is_empty() { Ok(()) } else { Err(ExecuteError::Busy) }
    }

    fn begin(&mut self, number: usize, ticket: Ticket, batch: &Batch) -> Result<(), ExecuteError> {
        Slot::check_room(batch, &self.shared)?;
        self.slots[number].fill(ticket, batch);
        self.queue.push_back(number);
        if self.process.is_none() {
            return self.restart(Instant::now());
        }
        self.order(number);
        Ok(())
    }

    /// Runs sequences again whose answers had no room. The first of them has the whole room to itself, so each round
    /// settles at least one.
    fn ask_again(
        &mut self,
        number: usize,
        ticket: Ticket,
        executions: &mut [Execution],
    ) -> Result<(), ExecuteError> {
        let batch = self.slots[number].batch.clone();
        let truncated = |execution: &Execution| execution.ending == Ending::Truncated;
        let mut open: VecDeque<usize> = (0..batch.len()).filter(|&i| truncated(&executions[i])).collect();
        while !open.is_empty() {
            let mut again = Batch::new(batch.want);
            for &sequence in &open {
                again.push_words(batch.words_of(sequence));
            }
            self.begin(number, ticket, &again)?;
            self.finish(number)?;
            self.queue.retain(|&queued| queued != number);
            let answers = std::mem::take(&mut self.slots[number].executions);
            for (&sequence, answer) in open.iter().zip(answers) {
                executions[sequence] = answer;
            }
            open.pop_front();
            open.retain(|&sequence| truncated(&executions[sequence]));
        }
        Ok(())
    }
}
