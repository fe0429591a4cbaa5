//! Shortens a sequence while it still does the same.

use std::collections::HashSet;

use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step};

use crate::direct::repair;

/// Removes calls that are not needed. `same` runs candidates and says which of them still do it.
pub fn remove_calls(
    operations: &Operations,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = sequence;
    loop {
        let mut candidates: Vec<Sequence> = Vec::new();
        let mut known = HashSet::new();
        for index in (0..best.len()).rev() {
            let Some(shorter) = without(operations, &best, index) else { continue };
            if shorter.len() < best.len() && known.insert(shorter.clone()) {
                candidates.push(shorter);
            }
        }
        // The shortest first: one run may take away a whole tail.
        candidates.sort_by_key(Sequence::len);
        let verdicts = same(&candidates);
        match candidates.into_iter().zip(verdicts).find(|(_, same)| *same) {
            Some((shorter, _)) => best = shorter,
            None => return best,
        }
    }
}

/// The sequence without a step and all that depends on its value.
fn without(operations: &Operations, sequence: &Sequence, index: usize) -> Option<Sequence> {
    let mut gone: HashSet<usize> = HashSet::from([index]);
    let mut steps: Vec<Step> = Vec::new();
    let mut place: Vec<u32> = vec![u32::MAX; sequence.len()];
    for (i, step) in sequence.steps.iter().enumerate() {
        if gone.contains(&i) || step.uses().iter().any(|value| gone.contains(&(value.0 as usize))) {
            gone.insert(i);
            continue;
        }
        place[i] = u32::try_from(steps.len()).ok()?;
        let mut step = step.clone();
        match &mut step {
            Step::Call { args, .. } => {
                for arg in args {
                    arg.value.0 = place[arg.value.0 as usize];
                }
            }
            Step::Drop(value) | Step::Forget(value) => value.0 = place[value.0 as usize],
            _ => {}
        }
        steps.push(step);
    }
    if steps.is_empty() {
        return None;
    }
    repair(operations, &steps)
}
