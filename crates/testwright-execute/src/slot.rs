//! One of the two places where a batch can be under way, as this side remembers it.
//!
//! The batch is kept here as well as in shared memory, so that a worker which scribbles there spoils nothing but its own run.

use std::sync::atomic::Ordering;

use crate::decode::{self, Corrupt};
use crate::outcome::{Execution, Ticket};
use crate::shared::Shared;
use crate::{Batch, ExecuteError};

/// So many deaths from outside may meet the same sequence before it is taken for their cause. Two strays in a row do happen
/// when somebody kills workers; three times the same sequence is no chance.
const RETRIES: u32 = 2;

#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub ticket: Option<Ticket>,
    pub batch: Batch,
    /// What is known so far: the executions of the first sequences.
    pub executions: Vec<Execution>,
    /// The sequence at which a worker died without its fault, and how often.
    strays: (usize, u32),
}

impl Slot {
    pub fn fill(&mut self, ticket: Ticket, batch: &Batch) {
        self.ticket = Some(ticket);
        self.batch.clone_from(batch);
        self.executions = Vec::with_capacity(batch.len());
        self.strays = (0, 0);
    }

    /// The sequence that has no execution yet.
    pub fn next(&self) -> usize {
        self.executions.len()
    }

    pub fn is_complete(&self) -> bool {
        self.executions.len() == self.batch.len()
    }

    /// Counts a death that the next sequence has no part in; false if there were too many of them.
    pub fn excuse(&mut self) -> bool {
        let next = self.next();
        let times = if self.strays.0 == next { self.strays.1 + 1 } else { 1 };
        self.strays = (next, times);
        times <= RETRIES
    }

    /// Puts what is left of the batch where the worker finds it.
    pub fn lay_out(&self, number: usize, shared: &Shared) {
        let next = self.next();
        shared.write_request(number, &self.batch.words);
        let head = shared.slot(number);
        let fields = [
            (&head.sequences, count(self.batch.len())),
            (&head.resume_word, self.batch.starts[next]),
            (&head.resume_sequence, count(next)),
            (&head.words, count(self.batch.words.len())),
            (&head.answered, 0),
            (&head.finished, 0),
            (&head.want, self.batch.want),
        ];
        for (field, value) in fields {
            field.store(value, Ordering::Release);
        }
    }

    /// Takes over what the worker answered since [`Slot::lay_out`]; returns the calls in it.
    pub fn absorb(
        &mut self,
        number: usize,
        shared: &Shared,
        buffer: &mut Vec<u8>,
    ) -> (u64, Result<(), Corrupt>) {
        let head = shared.slot(number);
        let answered = head.answered.swap(0, Ordering::AcqRel);
        shared.read_response(number, answered as usize, buffer);
        let before = self.executions.len();
        let result = decode::records(buffer, self.batch.len(), &mut self.executions);
        let calls = self.executions[before..].iter().map(|execution| u64::from(execution.calls)).sum();
        (calls, result)
    }

    /// Refuses what the slot has no room for.
    pub fn check_room(batch: &Batch, shared: &Shared) -> Result<(), ExecuteError> {
        batch.check()?;
        let heads = batch.len() * size_of::<testwright_wire::record::Head>();
        if batch.words.len() <= shared.request_room() && heads <= shared.response_room() {
            return Ok(());
        }
        Err(ExecuteError::Malformed(format!(
            "{} sequences with {} words are too many for a slot with room for {} words and {} bytes of answers",
            batch.len(),
            batch.words.len(),
            shared.request_room(),
            shared.response_room()
        )))
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).expect("a slot's room is far smaller than 2^32")
}
