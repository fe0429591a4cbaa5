//! Shortens a sequence while it still does the same: without calls that are not needed, with values that were there before, with
//! plainer literals.

use std::collections::{HashMap, HashSet};

use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Sequence, Step, ValueId};
use testwright_model::{Literal, OpId};

use crate::repair::repair;

/// Rounds of replacing and removing, at most: each makes the sequence plainer.
const ROUNDS: usize = 40;

/// The plainest way to make a value of each type that can be made of nothing.
#[derive(Debug, Default)]
pub struct Plainest(HashMap<TypeId, OpId>);

impl Plainest {
    pub fn of(operations: &Operations, usable: &HashSet<OpId>) -> Self {
        let mut found: HashMap<TypeId, OpId> = HashMap::new();
        let mut all: Vec<OpId> = usable.iter().copied().collect();
        all.sort_unstable();
        for op in all {
            let rank = |op: OpId| rank(&operations.get(op).path);
            let operation = operations.get(op);
            if operation.params.is_empty() && rank(op) < SOME {
                let known = found.entry(operation.result).or_insert(op);
                if rank(op) < rank(*known) {
                    *known = op;
                }
            }
        }
        Plainest(found)
    }
}

/// Steps of a sequence in which every pair of values is tried.
const SHORT: usize = 60;

/// The rank of calls that are not known to be plain.
const SOME: u8 = 2;

/// How plain a call without arguments is, by its name.
fn rank(path: &str) -> u8 {
    match path.rsplit("::").next() {
        // The second is `()`, which also comes from calls that do something.
        Some("new" | "(…)") => 0,
        Some("default") => 1,
        _ => SOME,
    }
}

/// The sequence up to a step, with what the step's values were made of and who changed them, and nothing else: mostly enough, and far
/// sooner found than by leaving out this and that.
pub fn slice(operations: &Operations, sequence: &Sequence, step: usize) -> Option<Sequence> {
    let steps = sequence.steps.get(..=step)?;
    let mut kept = HashSet::new();
    let mut open = vec![step];
    while let Some(index) = open.pop() {
        if kept.insert(index) {
            open.extend(steps[index].uses().iter().map(|value| value.0 as usize));
            open.extend((index + 1..steps.len()).filter(|user| changes(&steps[*user], index)));
        }
    }
    without(operations, steps, (0..steps.len()).filter(|index| !kept.contains(index)).collect())
}

/// Whether a step may change a value, or ends it.
fn changes(step: &Step, value: usize) -> bool {
    match step {
        Step::Call { args, .. } => args.iter().any(|arg| arg.value.0 as usize == value && arg.how.is_mut()),
        Step::Drop(ended) | Step::Forget(ended) => ended.0 as usize == value,
        _ => false,
    }
}

/// Removes calls that are not needed, then puts earlier values and plainer literals in the place of others as long as that is the
/// same, and removes what nobody needs any more.
pub fn simplify(
    operations: &Operations,
    plainest: &Plainest,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = remove_calls(operations, sequence, same);
    for _ in 0..ROUNDS {
        let mut known = HashSet::new();
        let candidates: Vec<Sequence> = without_detours(operations, &best)
            .into_iter()
            .chain(with_earlier_values(operations, &best))
            .chain(with_plainer_makers(operations, plainest, &best))
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

/// The type of the value that a step makes.
pub fn type_of(operations: &Operations, step: &Step) -> Option<TypeId> {
    match step {
        Step::Literal { ty, .. } => Some(*ty),
        Step::Call { op, .. } => Some(operations.get(*op).result),
        _ => None,
    }
}

/// The sequence with an earlier value in all places of a later one, without what only led from the one to the other: a value that
/// is wrapped and taken out again.
fn without_detours(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let steps = &sequence.steps;
    let mut found = Vec::new();
    // What could not be made shorter than this will not be plain, and there are as many pairs as it is long, squared.
    if steps.len() > SHORT {
        return found;
    }
    for late in (0..steps.len()).rev() {
        let Some(ty) = type_of(operations, &steps[late]) else { continue };
        for early in (0..late).filter(|early| type_of(operations, &steps[*early]) == Some(ty)) {
            let mut steps = steps.clone();
            for step in &mut steps[late + 1..] {
                replace(step, late, early);
            }
            let mut gone = HashSet::from([late]);
            for index in (early + 1..late).rev() {
                let used =
                    (index + 1..steps.len()).any(|user| !gone.contains(&user) && needs(&steps[user], index));
                if steps[index].makes_value() && !used {
                    gone.insert(index);
                }
            }
            found.extend(without(operations, &steps, gone));
        }
    }
    found
}

/// One value in the place of another, wherever the step names it.
pub fn replace(step: &mut Step, old: usize, new: usize) {
    let swap = |value: &mut ValueId| {
        if value.0 as usize == old {
            value.0 = u32::try_from(new).unwrap_or(value.0);
        }
    };
    match step {
        Step::Call { args, .. } => args.iter_mut().for_each(|arg| swap(&mut arg.value)),
        Step::Drop(value) | Step::Forget(value) => swap(value),
        _ => {}
    }
}

/// Whether a step does something with a value other than to end it.
fn needs(step: &Step, value: usize) -> bool {
    matches!(step, Step::Call { args, .. } if args.iter().any(|arg| arg.value.0 as usize == value))
}

/// The sequence with one value made of nothing instead of something.
fn with_plainer_makers(operations: &Operations, plainest: &Plainest, sequence: &Sequence) -> Vec<Sequence> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { op, args } = step else { continue };
        let operation = operations.get(*op);
        let Some(plainer) = plainest.0.get(&operation.result) else { continue };
        let old = if args.is_empty() { rank(&operation.path) } else { SOME };
        if rank(&operations.get(*plainer).path) < old {
            let mut steps = sequence.steps.clone();
            steps[index] = Step::Call { op: *plainer, args: Vec::new() };
            found.extend(repair(operations, &steps));
        }
    }
    found
}

/// The sequence with one argument replaced by an earlier value of its type.
fn with_earlier_values(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let type_of = |value: ValueId| type_of(operations, &sequence.steps[value.0 as usize]);
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
            // Large ones come down in few rounds.
            let parts = [value >> 32, value >> 16, value >> 8, value >> 4, value / 4, value / 2];
            let mut all: Vec<i128> =
                [0, 1, 2].into_iter().chain(parts).chain([value - value.signum()]).collect();
            let mut known = HashSet::new();
            all.retain(|other| other.unsigned_abs() < value.unsigned_abs() && known.insert(*other));
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
        let parts =
            (0..best.len()).step_by(size).map(|start| (start..(start + size).min(best.len())).collect());
        match shortest(operations, &best, parts.collect(), same) {
            Some(shorter) => {
                best = shorter;
                size = size.min(best.len() / 2);
            }
            None => size /= 2,
        }
    }
    while let Some(shorter) =
        shortest(operations, &best, (0..best.len()).rev().map(|index| HashSet::from([index])).collect(), same)
    {
        best = shorter;
    }
    best
}

/// The shortest sequence without one of the parts that still does the same.
fn shortest(
    operations: &Operations,
    sequence: &Sequence,
    parts: Vec<HashSet<usize>>,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Option<Sequence> {
    let mut known = HashSet::new();
    let mut candidates: Vec<Sequence> = parts
        .into_iter()
        .filter_map(|part| without(operations, &sequence.steps, part))
        .filter(|shorter| shorter.len() < sequence.len() && known.insert(shorter.clone()))
        .collect();
    // One run may take away a whole tail.
    candidates.sort_by_key(Sequence::len);
    let verdicts = same(&candidates);
    candidates.into_iter().zip(verdicts).find(|(_, same)| *same).map(|(shorter, _)| shorter)
}

/// The sequence without its checks of laws, which no other step needs.
pub fn without_laws(operations: &Operations, sequence: &Sequence) -> Sequence {
    let is_law = |step: &Step| matches!(step, Step::Call { op, .. } if operations.get(*op).law().is_some());
    let laws: HashSet<usize> =
        sequence.steps.iter().enumerate().filter(|(_, step)| is_law(step)).map(|(index, _)| index).collect();
    if laws.is_empty() {
        return sequence.clone();
    }
    without(operations, &sequence.steps, laws).unwrap_or_else(|| sequence.clone())
}

/// A sequence without some steps and all that depends on their values.
pub fn without(operations: &Operations, all: &[Step], mut gone: HashSet<usize>) -> Option<Sequence> {
    let mut steps: Vec<Step> = Vec::new();
    let mut place: Vec<u32> = vec![u32::MAX; all.len()];
    for (i, step) in all.iter().enumerate() {
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
    use crate::invented::operation;
    use testwright_model::Ty;
    use testwright_model::operation::Abilities;
    use testwright_model::sequence::{Arg, How};

    /// Calls whose arguments are moved, one after the other: operation and arguments.
    fn sequence(calls: &[(u32, &[u32])]) -> Sequence {
        let call = |(op, args): &(u32, &[u32])| Step::Call {
            op: OpId(*op),
            args: args.iter().map(|value| Arg { value: ValueId(*value), how: How::Move }).collect(),
        };
        Sequence { steps: calls.iter().map(call).collect() }
    }

    #[test]
    fn detours_and_laborious_makers_go() {
        let mut operations = Operations::default();
        operations.types = vec![Ty::adt("a::Rope", Vec::new()), Ty::adt("std::option::Option", Vec::new())];
        operations.abilities = vec![Abilities { needs_drop: true, ..Abilities::default() }; 2];
        operations.operations = vec![
            operation("Rope::of", &[("text", 0)], 0),
            operation("Rope::new", &[], 0),
            operation("Some", &[("value", 0)], 1),
            operation("unwrap", &[("self", 1)], 0),
            operation("fail", &[("self", 0)], 0),
            operation("Rope::start", &[], 0),
        ];
        let plainest = Plainest::of(&operations, &(0..6).map(OpId).collect());
        // let rope = fail(Some(Rope::of(Rope::start())).unwrap())
        let long = sequence(&[(5, &[]), (0, &[0]), (2, &[1]), (3, &[2]), (4, &[3])]);
        let fails =
            |candidate: &Sequence| matches!(candidate.steps.last(), Some(Step::Call { op, .. }) if op.0 == 4);
        let mut same = |candidates: &[Sequence]| candidates.iter().map(fails).collect();
        let short = simplify(&operations, &plainest, long.clone(), &mut same);
        assert_eq!(short, sequence(&[(1, &[]), (4, &[0])]));
        // Two more ropes that have nothing to do with it, and something behind it.
        let mut longer = sequence(&[(5, &[]), (1, &[]), (0, &[0]), (2, &[2]), (3, &[3]), (4, &[4])]);
        longer.steps.extend(sequence(&[(1, &[]), (0, &[1])]).steps);
        assert_eq!(slice(&operations, &longer, 5), Some(long));
    }

    #[test]
    fn plainer_literals_come_to_an_end() {
        let numbers = |value| plainer(&Literal::Int(value));
        assert_eq!(numbers(0), []);
        assert_eq!(numbers(1), [Literal::Int(0)]);
        assert_eq!(numbers(-300), [0, 1, 2, -1, -2, -19, -75, -150, -299].map(Literal::Int));
        assert_eq!(numbers(9), [0, 1, 2, 4, 8].map(Literal::Int));
        let texts = plainer(&Literal::Str("añb".to_owned()));
        assert_eq!(texts, ["", "a", "ñb", "añ"].map(|text| Literal::Str(text.to_owned())));
        assert_eq!(plainer(&Literal::Bytes(Vec::new())), []);
    }
}
