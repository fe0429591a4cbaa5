//! Shortens a sequence while it still does the same: without calls that are not needed, with values that were there before or that the
//! pool makes in fewer steps, with plainer literals.

mod literal;
mod replace;
mod weight;

use std::collections::{BTreeMap, HashMap, HashSet};

use testwright_model::OpId;
use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Sequence, Step};

use crate::repair::repair;
pub use literal::halved;
pub use replace::{Making, is_string, replace};
use weight::{SOME, rank, weight};

/// Rounds of replacing and removing, at most: each makes the sequence plainer.
const ROUNDS: usize = 40;

/// Ways to make a value of each type that are plainer than what a sequence may have.
#[derive(Debug, Default)]
pub struct Plainest {
    /// The plainest of those that need nothing.
    of_nothing: HashMap<TypeId, OpId>,
    /// Calls of the crate that need one value.
    of_one: HashMap<TypeId, Vec<OpId>>,
    /// The shortest that a search knows.
    makers: BTreeMap<TypeId, Vec<Making>>,
}

impl Plainest {
    pub fn of(operations: &Operations, usable: &HashSet<OpId>) -> Self {
        let mut found: HashMap<TypeId, OpId> = HashMap::new();
        let mut of_one: HashMap<TypeId, Vec<OpId>> = HashMap::new();
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
            if operation.params.len() == 1 && operation.is_subject() && operation.law().is_none() {
                of_one.entry(operation.result).or_default().push(op);
            }
        }
        Plainest { of_nothing: found, of_one, makers: BTreeMap::new() }
    }

    /// With values that a search has made: of each type the lightest few.
    #[must_use]
    pub fn with_makers<'m>(
        mut self,
        operations: &Operations,
        makers: impl IntoIterator<Item = &'m Making>,
    ) -> Self {
        for making in makers {
            let Some(ty) = making.ty(operations) else { continue };
            let known = self.makers.entry(ty).or_default();
            if !known.contains(making) {
                known.push(making.clone());
            }
        }
        for known in self.makers.values_mut() {
            known.sort_by_cached_key(|making| weight(operations, &making.as_sequence()));
            known.truncate(MAKERS);
        }
        self
    }
}

/// Ways to make a value of one type that are tried.
pub const MAKERS: usize = 6;

/// The sequence up to a step, with what the step's values were made of and who changed them, and nothing else: mostly enough, and far
/// sooner found than by leaving out this and that.
pub fn slice(operations: &Operations, sequence: &Sequence, step: usize) -> Option<Sequence> {
    let steps = sequence.steps.get(..=step)?;
    let kept = needed(steps, step);
    without(operations, steps, (0..steps.len()).filter(|index| !kept.contains(index)).collect())
}

/// A step, what its values were made of and who changed them.
fn needed(steps: &[Step], step: usize) -> HashSet<usize> {
    let mut kept = HashSet::new();
    let mut open = vec![step];
    while let Some(index) = open.pop() {
        if kept.insert(index) {
            open.extend(steps[index].uses().iter().map(|value| value.0 as usize));
            open.extend((index + 1..steps.len()).filter(|user| changes(&steps[*user], index)));
        }
    }
    kept
}

/// Whether a step may change a value, or ends it.
fn changes(step: &Step, value: usize) -> bool {
    match step {
        Step::Call { args, .. } => args.iter().any(|arg| arg.value.0 as usize == value && arg.how.is_mut()),
        Step::Drop(ended) | Step::Forget(ended) => ended.0 as usize == value,
        _ => false,
    }
}

/// Removes calls that are not needed, then puts earlier, shorter and plainer values in the place of others as long as that is the
/// same, and removes what nobody needs any more. Of several ways the lightest is taken.
pub fn simplify(
    operations: &Operations,
    plainest: &Plainest,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = remove_calls(operations, sequence, same);
    for _ in 0..ROUNDS {
        if let Some(lighter) = lightest(operations, &best, replace::all(operations, plainest, &best), same) {
            best = remove_calls(operations, lighter, same);
            continue;
        }
        let plain = with_plain_literals(operations, best.clone(), same);
        if plain == best {
            break;
        }
        best = remove_calls(operations, plain, same);
    }
    best
}

/// The lightest of the candidates that are lighter than the sequence and do the same.
fn lightest(
    operations: &Operations,
    sequence: &Sequence,
    candidates: Vec<Sequence>,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Option<Sequence> {
    let most = weight(operations, sequence);
    let mut known = HashSet::new();
    let mut weighed: Vec<_> = candidates
        .into_iter()
        .map(|candidate| (weight(operations, &candidate), candidate))
        .filter(|(weight, candidate)| *weight < most && known.insert(candidate.clone()))
        .collect();
    weighed.sort_by_key(|(weight, _)| *weight);
    let candidates: Vec<Sequence> = weighed.into_iter().map(|(_, candidate)| candidate).collect();
    let verdicts = same(&candidates);
    candidates.into_iter().zip(verdicts).find(|(_, same)| *same).map(|(candidate, _)| candidate)
}

/// The sequence with each of its literals as plain as can be, one after the other.
fn with_plain_literals(
    operations: &Operations,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = sequence;
    for index in 0..best.len() {
        for _ in 0..ROUNDS {
            let plainer = replace::with_plainer_literal(operations, &best, index);
            let Some(lighter) = lightest(operations, &best, plainer, same) else { break };
            best = lighter;
        }
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

/// Plain delta debugging over the steps, to compare with: parts alone, all but parts, then smaller parts.
pub fn delta_debug(
    operations: &Operations,
    sequence: Sequence,
    same: &mut dyn FnMut(&[Sequence]) -> Vec<bool>,
) -> Sequence {
    let mut best = sequence;
    let mut parts = 2;
    while best.len() >= 2 {
        let size = best.len().div_ceil(parts);
        let part = |start: usize| start..(start + size).min(best.len());
        let starts: Vec<usize> = (0..best.len()).step_by(size).collect();
        let alone = starts.iter().map(|start| {
            let gone = (0..best.len()).filter(|index| !part(*start).contains(index)).collect();
            (true, without(operations, &best.steps, gone))
        });
        let others =
            starts.iter().map(|start| (false, without(operations, &best.steps, part(*start).collect())));
        let candidates: Vec<(bool, Sequence)> = alone
            .chain(others)
            .filter_map(|(alone, candidate)| Some((alone, candidate?)))
            .filter(|(_, candidate)| candidate.len() < best.len())
            .collect();
        let sequences: Vec<Sequence> = candidates.iter().map(|(_, candidate)| candidate.clone()).collect();
        let verdicts = same(&sequences);
        match candidates.into_iter().zip(verdicts).find(|(_, same)| *same) {
            Some(((alone, shorter), _)) => {
                best = shorter;
                parts = if alone { 2 } else { (parts - 1).max(2) };
            }
            None if parts >= best.len() => break,
            None => parts = (2 * parts).min(best.len()),
        }
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
    for (index, step) in all.iter().enumerate() {
        if step.uses().iter().any(|value| gone.contains(&(value.0 as usize))) {
            gone.insert(index);
        }
    }
    let (steps, _) = pick(all, &(0..all.len()).filter(|index| !gone.contains(index)).collect())?;
    repair(operations, &steps)
}

/// Some of the steps, and where each of all is among them; `None` if there are none, or if one is used that is not there.
fn pick(all: &[Step], kept: &HashSet<usize>) -> Option<(Vec<Step>, Vec<u32>)> {
    let mut steps: Vec<Step> = Vec::new();
    let mut place: Vec<u32> = vec![u32::MAX; all.len()];
    for (index, step) in all.iter().enumerate().filter(|(index, _)| kept.contains(index)) {
        if step.uses().iter().any(|value| !kept.contains(&(value.0 as usize))) {
            return None;
        }
        place[index] = u32::try_from(steps.len()).ok()?;
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
    (!steps.is_empty()).then_some((steps, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::operation;
    use testwright_model::Ty;
    use testwright_model::operation::Abilities;
    use testwright_model::sequence::{Arg, How, ValueId};

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
        assert_eq!(slice(&operations, &longer, 5), Some(long.clone()));
        // What removing alone leaves: `unwrap` gives the rope that `Some` was given.
        assert_eq!(delta_debug(&operations, longer, &mut same), long);
    }

    #[test]
    fn a_value_is_made_from_one_that_is_there_already() {
        let mut operations = Operations::default();
        operations.types = ["Rope", "Lines", "Option"].map(|name| Ty::adt(name, Vec::new())).to_vec();
        operations.abilities = vec![Abilities { needs_drop: true, ..Abilities::default() }; 3];
        operations.operations = vec![
            operation("Rope::new", &[], 0),
            operation("Rope::get_lines", &[("self", 0)], 2),
            operation("Option::unwrap", &[("self", 2)], 1),
            operation("Rope::lines", &[("self", 0)], 1),
            operation("fail", &[("self", 1)], 2),
        ];
        let plainest = Plainest::of(&operations, &(0..5).map(OpId).collect());
        let fails =
            |candidate: &Sequence| matches!(candidate.steps.last(), Some(Step::Call { op, .. }) if op.0 == 4);
        let mut same = |candidates: &[Sequence]| candidates.iter().map(fails).collect();
        let long = sequence(&[(0, &[]), (1, &[0]), (2, &[1]), (4, &[2])]);
        let short = simplify(&operations, &plainest, long, &mut same);
        assert_eq!(short, sequence(&[(0, &[]), (3, &[0]), (4, &[1])]));
    }

    #[test]
    fn a_shorter_sequence_of_the_pool_takes_the_place_of_a_longer_one() {
        let mut operations = Operations::default();
        operations.types = vec![Ty::adt("a::Rope", Vec::new()), Ty::adt("a::Part", Vec::new())];
        operations.abilities = vec![Abilities { needs_drop: true, ..Abilities::default() }; 2];
        operations.operations = vec![
            operation("Part::new", &[], 1),
            operation("Rope::of", &[("a", 1), ("b", 1)], 0),
            operation("Rope::joined", &[("a", 0), ("b", 0)], 0),
            operation("fail", &[("self", 0)], 1),
            operation("Rope::sample", &[("part", 1)], 0),
        ];
        // fail(Rope::joined(Rope::of(part, part), Rope::of(part, part))), which also fails for what `sample` makes.
        let calls: [(u32, &[u32]); 8] =
            [(0, &[]), (0, &[]), (1, &[0, 1]), (0, &[]), (0, &[]), (1, &[3, 4]), (2, &[2, 5]), (3, &[6])];
        let long = sequence(&calls);
        let of = |step: &Step| match step {
            Step::Call { op, args } => (op.0, args.first().map(|arg| arg.value.0 as usize)),
            _ => (u32::MAX, None),
        };
        let fails = |candidate: &Sequence| {
            let Some((3, Some(rope))) = candidate.steps.last().map(of) else { return false };
            matches!(of(&candidate.steps[rope]).0, 2 | 4)
        };
        let mut same = |candidates: &[Sequence]| candidates.iter().map(fails).collect();
        let plain = Plainest::default();
        assert_eq!(simplify(&operations, &plain, long.clone(), &mut same).len(), 8, "removing is not enough");
        // Something that has nothing to do with the value stands before it.
        let known = sequence(&[(0, &[]), (0, &[]), (4, &[1])]);
        let makers = [Making::of(&known, ValueId(2)).expect("it makes a value")];
        let plainest = Plainest::default().with_makers(&operations, &makers);
        let short = simplify(&operations, &plainest, long, &mut same);
        assert_eq!(short, sequence(&[(0, &[]), (4, &[0]), (3, &[1])]));
    }
}
