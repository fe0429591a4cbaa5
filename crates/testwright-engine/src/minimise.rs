//! Shortens a sequence while it still does the same.

use std::collections::HashSet;
use std::ops::Range;

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
    let mut size = best.len() / 2;
    // Large parts first: long sequences are mostly not needed.
    while size >= 2 {
        let parts = (0..best.len()).step_by(size).map(|start| start..(start + size).min(best.len()));
        match shortest(operations, &best, parts.collect(), same) {
            Some(shorter) => {
                best = shorter;
                size = size.min(best.len() / 2);
            }
            None => size /= 2,
        }
    }
    while let Some(shorter) =
        shortest(operations, &best, (0..best.len()).rev().map(|index| index..index + 1).collect(), same)
    {
        best = shorter;
    }
    best
}

/// The shortest sequence without one of the parts that still does the same.
fn shortest(
    operations: &Operations,
    sequence: &Sequence,
    parts: Vec<Range<usize>>,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Option<Sequence> {
    let mut known = HashSet::new();
    let mut candidates: Vec<Sequence> = parts
        .into_iter()
        .filter_map(|part| without(operations, sequence, &part))
        .filter(|shorter| shorter.len() < sequence.len() && known.insert(shorter.clone()))
        .collect();
    // One run may take away a whole tail.
    candidates.sort_by_key(Sequence::len);
    let verdicts = same(&candidates);
    candidates.into_iter().zip(verdicts).find(|(_, same)| *same).map(|(shorter, _)| shorter)
}

/// The sequence without some steps and all that depends on their values.
fn without(operations: &Operations, sequence: &Sequence, part: &Range<usize>) -> Option<Sequence> {
    let mut gone: HashSet<usize> = part.clone().collect();
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
