//! What one build does in no time takes another for ever: a loop that the optimizer removes, a count of values without size. The
//! pool's sequences that ask for as much are given up, else each of them would end a worker.

use testwright_model::Literal;
use testwright_model::OpId;
use testwright_model::sequence::{Sequence, Step};

use super::Search;
use crate::direct;
use crate::direct::choice::class_bits;
use crate::direct::draft::Proposal;

/// Counts from here on are given up; smaller ones only if they are as large as the one that took too much.
const LARGE: i128 = 1 << 16;
/// A smaller count is not to blame.
const SOME: i128 = 1 << 10;

impl Search<'_> {
    /// Gives up what asks for as much as the call at this step, which took too much time or memory and had not when it was run
    /// before.
    pub(super) fn shed(&mut self, proposal: &Proposal, step: u32) {
        let (operations, bank) = (&self.bench.operations, &self.bank);
        let sequence = proposal.sequence(operations, bank);
        let Some((op, asked)) = counts(&sequence, step as usize) else { return };
        let choice = &mut self.learned.choice;
        let alike = choice.alike(op);
        for (argument, count) in asked {
            choice.record_waste(op, class_bits(argument, &Literal::Int(count)));
            self.pool.retain(|entry| {
                !direct::calls(operations, &entry.words).any(|op| alike.contains(&op))
                    || !asks(
                        &direct::decode(operations, bank, &entry.words),
                        &alike,
                        argument,
                        count.min(LARGE),
                    )
            });
        }
    }
}

/// The operation that a step calls, and its literal arguments that are large numbers.
fn counts(sequence: &Sequence, step: usize) -> Option<(OpId, Vec<(usize, i128)>)> {
    let Step::Call { op, args } = sequence.steps.get(step)? else { return None };
    let large = args.iter().enumerate().filter_map(|(argument, arg)| {
        match sequence.steps.get(arg.value.0 as usize)? {
            Step::Literal { value: Literal::Int(count), .. } if *count >= SOME => Some((argument, *count)),
            _ => None,
        }
    });
    Some((*op, large.collect()))
}

/// Whether one of the operations is called with a number of at least `least` as this argument.
fn asks(sequence: &Sequence, ops: &[OpId], argument: usize, least: i128) -> bool {
    let asked = (0..sequence.steps.len()).filter_map(|step| counts(sequence, step));
    asked
        .filter(|(op, _)| ops.contains(op))
        .any(|(_, counts)| counts.iter().any(|(at, count)| *at == argument && *count >= least))
}

#[cfg(test)]
mod tests {
    use testwright_model::operation::TypeId;
    use testwright_model::sequence::{Arg, How};

    use super::*;

    /// `op(7, count)`.
    fn call(op: OpId, count: i128) -> Sequence {
        let mut sequence = Sequence::default();
        let args = [7, count].map(|value| {
            let value = sequence.push(Step::Literal { ty: TypeId(0), value: Literal::Int(value) });
            Arg { value, how: How::Copy }
        });
        sequence.push(Step::Call { op, args: args.to_vec() });
        sequence
    }

    #[test]
    fn as_large_a_count_for_the_same_argument_of_the_same_callable() {
        let alike = [OpId(3), OpId(5)];
        assert!(asks(&call(OpId(5), 1 << 20), &alike, 1, LARGE));
        assert!(!asks(&call(OpId(5), 1 << 12), &alike, 1, LARGE), "a smaller count");
        assert!(!asks(&call(OpId(4), 1 << 20), &alike, 1, LARGE), "another operation");
        assert!(!asks(&call(OpId(5), 1 << 20), &alike, 0, LARGE), "another argument");
    }

    #[test]
    fn small_numbers_are_not_to_blame() {
        assert_eq!(counts(&call(OpId(5), 1 << 12), 2), Some((OpId(5), vec![(1, 1 << 12)])));
        assert_eq!(counts(&call(OpId(5), 9), 2), Some((OpId(5), vec![])));
        assert_eq!(counts(&call(OpId(5), 9), 0), None, "no call");
    }
}
