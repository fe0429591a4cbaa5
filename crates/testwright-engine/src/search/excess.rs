//! Calls that took too much time or memory: which numbers are to blame, and what else asks for as much.
//!
//! What one build does in no time may take another for ever: a loop that the optimizer removes, a count of values without size. Then
//! the pool's sequences that ask for as much are given up, else each of them would end a worker.

use testwright_model::sequence::{Sequence, Step};
use testwright_model::{Literal, OpId};

use super::Search;
use crate::direct;
use crate::direct::choice::class_bits;
use crate::direct::draft::Proposal;
use crate::judge::history;

/// Counts from here on are given up; smaller ones only if they are as large as the one that took too much.
const LARGE: i128 = 1 << 16;
/// A smaller count is not to blame.
const SOME: i128 = 1 << 10;

/// A large number as an argument of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    op: OpId,
    argument: usize,
    number: i128,
}

impl Search<'_> {
    /// Blames the numbers that went into the call at this step, which took too much; whether there are any.
    pub(super) fn blame_numbers(&mut self, proposal: &Proposal, step: u32) -> bool {
        let sequence = proposal.sequence(&self.bench.operations, &self.bank);
        let counts = counts(&sequence, step as usize);
        for count in &counts {
            let class = class_bits(count.argument, &Literal::Int(count.number));
            self.learned.choice.record_fatal(count.op, class);
            // It ran to its end before, so this is another build.
            if !proposal.is_variant() && !proposal.is_fresh(step) {
                self.shed(*count);
            }
        }
        !counts.is_empty()
    }

    /// Gives up the pool's sequences that ask for as much, unless that was done before.
    fn shed(&mut self, count: Count) {
        let (operations, bank) = (&self.bench.operations, &self.bank);
        let alike = self.learned.choice.alike(count.op);
        let least = self.shed.entry((alike[0], count.argument)).or_insert(i128::MAX);
        if *least <= count.number.min(LARGE) {
            return;
        }
        *least = count.number.min(LARGE);
        self.pool.retain(|entry| {
            !direct::calls(operations, &entry.words).any(|op| alike.contains(&op))
                || !asks(&direct::decode(operations, bank, &entry.words), &alike, count)
        });
    }
}

/// The large numbers that the call at a step depends on: its arguments, and those of the calls that made or changed them.
fn counts(sequence: &Sequence, step: usize) -> Vec<Count> {
    // The number of the step is what a worker said that may have been damaged.
    if step >= sequence.steps.len() {
        return Vec::new();
    }
    history(sequence, step).into_iter().flat_map(|step| own_counts(sequence, step)).collect()
}

/// The arguments of the call at a step that are large numbers, written out.
fn own_counts(sequence: &Sequence, step: usize) -> impl Iterator<Item = Count> {
    let call = match &sequence.steps[step] {
        Step::Call { op, args } => Some((*op, args)),
        _ => None,
    };
    call.into_iter().flat_map(move |(op, args)| {
        args.iter().enumerate().filter_map(move |(argument, arg)| {
            match sequence.steps.get(arg.value.0 as usize)? {
                Step::Literal { value: Literal::Int(number), .. } if *number >= SOME => {
                    Some(Count { op, argument, number: *number })
                }
                _ => None,
            }
        })
    })
}

/// Whether one of the operations is called with about as large a number as the same argument.
fn asks(sequence: &Sequence, ops: &[OpId], of: Count) -> bool {
    let all = (0..sequence.steps.len()).flat_map(|step| own_counts(sequence, step));
    all.filter(|count| ops.contains(&count.op))
        .any(|count| count.argument == of.argument && count.number >= of.number.min(LARGE))
}

#[cfg(test)]
mod tests {
    use testwright_model::operation::TypeId;
    use testwright_model::sequence::{Arg, How, ValueId};

    use super::*;

    fn call(sequence: &mut Sequence, op: u32, args: &[(ValueId, How)]) -> ValueId {
        let args = args.iter().map(|(value, how)| Arg { value: *value, how: *how }).collect();
        sequence.push(Step::Call { op: OpId(op), args })
    }

    fn number(sequence: &mut Sequence, value: i128) -> (ValueId, How) {
        (sequence.push(Step::Literal { ty: TypeId(0), value: Literal::Int(value) }), How::Copy)
    }

    /// `op(7, count)`.
    fn one_call(op: u32, count: i128) -> Sequence {
        let mut sequence = Sequence::default();
        let args = [7, count].map(|value| number(&mut sequence, value));
        call(&mut sequence, op, &args);
        sequence
    }

    #[test]
    fn as_large_a_count_for_the_same_argument_of_the_same_callable() {
        let alike = [OpId(3), OpId(5)];
        let of = |argument| Count { op: OpId(3), argument, number: 1 << 40 };
        assert!(asks(&one_call(5, 1 << 20), &alike, of(1)));
        assert!(!asks(&one_call(5, 1 << 12), &alike, of(1)), "a smaller count");
        assert!(!asks(&one_call(4, 1 << 20), &alike, of(1)), "another operation");
        assert!(!asks(&one_call(5, 1 << 20), &alike, of(0)), "another argument");
    }

    #[test]
    fn what_made_and_what_changed_the_arguments_is_to_blame() {
        let mut sequence = Sequence::default();
        let made = [number(&mut sequence, 5000)];
        let value = call(&mut sequence, 1, &made);
        let added = [(value, How::RefMut), number(&mut sequence, 6000)];
        call(&mut sequence, 2, &added);
        let asked = [(value, How::Ref), number(&mut sequence, 7000)];
        call(&mut sequence, 3, &asked);
        let args = [(value, How::Move), number(&mut sequence, 9)];
        let last = call(&mut sequence, 4, &args);
        let blamed = counts(&sequence, last.0 as usize);
        let count = |op, argument, number| Count { op: OpId(op), argument, number };
        assert_eq!(
            blamed,
            [count(1, 0, 5000), count(2, 1, 6000)],
            "not what was only asked, nor small numbers"
        );
        assert_eq!(counts(&sequence, 100), [], "no such step");
    }
}
