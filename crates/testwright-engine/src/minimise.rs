//! Shortens a sequence while it still does the same: without calls that are not needed, with values that were there before, with
//! plainer literals.

use std::collections::HashSet;
use std::ops::Range;

use testwright_model::Literal;
use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Sequence, Step, ValueId};

use crate::repair::repair;

/// Rounds of replacing and removing, at most: each makes the sequence plainer.
const ROUNDS: usize = 40;

/// Removes calls that are not needed, then puts earlier values and plainer literals in the place of others as long as that is the
/// same, and removes what nobody needs any more.
pub fn simplify(
    operations: &Operations,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = remove_calls(operations, sequence, same);
    for _ in 0..ROUNDS {
        let mut known = HashSet::new();
        let candidates: Vec<Sequence> = with_earlier_values(operations, &best)
            .into_iter()
            .chain(with_literals_for_calls(operations, &best))
            .chain(with_plainer_literals(operations, &best))
            .filter(|candidate| candidate.len() <= best.len() && known.insert(candidate.clone()))
            .collect();
        let verdicts = same(&candidates);
        let Some((plainer, _)) = candidates.into_iter().zip(verdicts).find(|(_, same)| *same) else { break };
        best = remove_calls(operations, plainer, same);
    }
    best
}

/// The sequence with one argument replaced by an earlier value of its type.
fn with_earlier_values(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let type_of = |value: ValueId| -> Option<TypeId> {
        match &sequence.steps[value.0 as usize] {
            Step::Literal { ty, .. } => Some(*ty),
            Step::Call { op, .. } => Some(operations.get(*op).result),
            _ => None,
        }
    };
    let mut found = Vec::new();
    // The last calls first: whatever they no longer need goes away as a whole.
    for (index, step) in sequence.steps.iter().enumerate().rev() {
        let Step::Call { args, .. } = step else { continue };
        for (place, arg) in args.iter().enumerate() {
            let earlier = (0..arg.value.0).map(ValueId).filter(|other| type_of(*other) == type_of(arg.value));
            for other in earlier {
                let mut steps = sequence.steps.clone();
                if let Step::Call { args, .. } = &mut steps[index] {
                    args[place].value = other;
                }
                found.extend(repair(operations, &steps));
            }
        }
    }
    found
}

/// The sequence with one integer written out instead of computed.
fn with_literals_for_calls(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { op, .. } = step else { continue };
        let ty = operations.get(*op).result;
        let Some(most) = operations.ty(ty).largest() else { continue };
        for value in [0, 1, most] {
            let mut steps = sequence.steps.clone();
            steps[index] = Step::Literal { ty, value: Literal::Int(value) };
            found.extend(repair(operations, &steps));
        }
    }
    found
}

/// The sequence with one literal made plainer.
fn with_plainer_literals(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Literal { value, .. } = step else { continue };
        for plainer in plainer(value) {
            let mut steps = sequence.steps.clone();
            if let Step::Literal { value, .. } = &mut steps[index] {
                *value = plainer;
            }
            found.extend(repair(operations, &steps));
        }
    }
    found
}

/// Literals that a reader would rather see, the plainest first. None of them leads back.
fn plainer(literal: &Literal) -> Vec<Literal> {
    match literal {
        Literal::Int(value) => {
            let mut all: Vec<i128> = [0, 1, 2, value / 2, value - value.signum()].into();
            all.retain(|other| other.unsigned_abs() < value.unsigned_abs());
            all.dedup();
            all.into_iter().map(Literal::Int).collect()
        }
        Literal::Str(text) => shorter(&text.chars().collect::<Vec<char>>())
            .into_iter()
            .map(|chars| Literal::Str(chars.into_iter().collect()))
            .collect(),
        Literal::Bytes(bytes) => shorter(bytes).into_iter().map(Literal::Bytes).collect(),
        Literal::Bool(_) | Literal::Char(_) | Literal::Float(_) => Vec::new(),
    }
}

/// Nothing, halves, and without one at either end.
fn shorter<T: Clone + PartialEq>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return Vec::new();
    }
    let half = items.len() / 2;
    let mut all = vec![Vec::new(), items[..half].to_vec(), items[half..].to_vec()];
    all.extend([items[1..].to_vec(), items[..items.len() - 1].to_vec()]);
    all.retain(|other| other.len() < items.len());
    all.dedup();
    all
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plainer_literals_come_to_an_end() {
        let numbers = |value| plainer(&Literal::Int(value));
        assert_eq!(numbers(0), []);
        assert_eq!(numbers(1), [Literal::Int(0)]);
        assert_eq!(numbers(-300), [0, 1, 2, -150, -299].map(Literal::Int));
        let texts = plainer(&Literal::Str("añb".to_owned()));
        assert_eq!(texts, ["", "a", "ñb", "añ"].map(|text| Literal::Str(text.to_owned())));
        assert_eq!(plainer(&Literal::Bytes(Vec::new())), []);
    }
}
