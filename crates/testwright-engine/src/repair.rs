//! Steps that were taken out of their sequence, or changed, made a legal sequence again.

use testwright_model::Ledger;
use testwright_model::operation::Operations;
use testwright_model::sequence::{Arg, Sequence, Step, ValueId};

/// Steps that are made legal again.
struct Repair<'a> {
    sequence: Sequence,
    ledger: Ledger<'a>,
}

impl Repair<'_> {
    /// Appends a step, after the drops that it needs.
    fn take(&mut self, step: Step) -> Option<ValueId> {
        for value in self.ledger.drops_before(&step).ok()? {
            let drop = Step::Drop(value);
            self.ledger.step(&drop).ok()?;
            self.sequence.push(drop);
        }
        self.ledger.step(&step).ok()?;
        Some(self.sequence.push(step))
    }
}

/// Appends the drops that the end of the scope would do in the wrong order.
fn finish(draft: &mut Repair<'_>) {
    for value in draft.ledger.drops_at_end() {
        let drop = Step::Drop(value);
        if draft.ledger.step(&drop).is_ok() {
            draft.sequence.push(drop);
        }
    }
}

/// Makes a list of steps legal again: adds the drops that it needs, or says that it cannot be.
pub fn repair(operations: &Operations, steps: &[Step]) -> Option<Sequence> {
    let mut draft = Repair { sequence: Sequence::default(), ledger: Ledger::new(operations) };
    let mut moved: Vec<Option<ValueId>> = Vec::with_capacity(steps.len());
    for step in steps {
        let renumber = |value: ValueId| moved.get(value.0 as usize).copied().flatten();
        let step = match step {
            Step::Call { op, args } => {
                let args: Option<Vec<Arg>> =
                    args.iter().map(|arg| Some(Arg { value: renumber(arg.value)?, how: arg.how })).collect();
                Step::Call { op: *op, args: args? }
            }
            // Drops are put back where they are needed.
            Step::Drop(value) | Step::Forget(value) => {
                if let Some(value) = renumber(*value).filter(|value| draft.ledger.is_alive(*value)) {
                    let step =
                        if matches!(step, Step::Drop(_)) { Step::Drop(value) } else { Step::Forget(value) };
                    draft.take(step)?;
                }
                moved.push(None);
                continue;
            }
            other => other.clone(),
        };
        moved.push(Some(draft.take(step)?));
    }
    finish(&mut draft);
    Some(draft.sequence)
}
