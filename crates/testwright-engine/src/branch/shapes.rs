//! Other shapes of a sequence: longer texts, calls made several times over, values in the place of others, calls left out.
//!
//! What decides a branch is often no literal but how much there is of something: a tree has a second level once it holds enough, a
//! number a second word. Receives a sequence, hands out legal ones.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::Literal;
use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};

use super::edits::{fits, number};
use crate::minimise;
use crate::repair::repair;

/// Sequences of one kind, at most.
const OF_A_KIND: usize = 16;
/// How many times longer a text gets.
const GROWTH: [usize; 3] = [4, 32, 256];
/// Bytes of a text, at most.
const LONGEST_TEXT: usize = 16 << 10;
/// How often a call that changes something is made again.
const AGAIN: [usize; 3] = [1, 8, 48];
/// How often a call is made of its own result.
const ITERATED: [usize; 3] = [1, 3, 7];
/// Steps of a sequence, at most.
const LONGEST: usize = 300;

/// Steps of one kind, which need not be legal yet.
type Kind = fn(&Operations, &Sequence) -> Vec<Vec<Step>>;
const KINDS: [Kind; 4] = [grown, repeated, iterated, exchanged];

/// Sequences that are this one in another shape.
pub fn shapes(operations: &Operations, sequence: &Sequence, rng: &mut Xoshiro256PlusPlus) -> Vec<Sequence> {
    let mut all = Vec::new();
    let mut known = HashSet::from([sequence.clone()]);
    for kind in KINDS {
        let mut found = kind(operations, sequence);
        found.shuffle(rng);
        let legal = found.iter().filter(|steps| steps.len() <= LONGEST);
        let legal = legal.filter_map(|steps| repair(operations, steps));
        all.extend(legal.filter(|shape| known.insert(shape.clone())).take(OF_A_KIND));
    }
    let mut places: Vec<usize> = (0..sequence.len()).collect();
    places.shuffle(rng);
    let shorter = places
        .into_iter()
        .filter_map(|place| minimise::without(operations, &sequence.steps, HashSet::from([place])));
    all.extend(shorter.filter(|shape| known.insert(shape.clone())).take(OF_A_KIND));
    all
}

/// With a text or a byte string several times over.
fn grown(_: &Operations, sequence: &Sequence) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        for times in GROWTH {
            let longer = match step {
                Step::Literal { value: Literal::Str(text), .. } if fitting(text.len(), times) => {
                    Literal::Str(text.repeat(times))
                }
                Step::Literal { value: Literal::Bytes(bytes), .. } if fitting(bytes.len(), times) => {
                    Literal::Bytes(bytes.repeat(times))
                }
                _ => continue,
            };
            let mut steps = sequence.steps.clone();
            if let Step::Literal { value, .. } = &mut steps[index] {
                *value = longer;
            }
            found.push(steps);
        }
    }
    found
}

fn fitting(length: usize, times: usize) -> bool {
    length > 0 && length * times <= LONGEST_TEXT
}

/// With a call that changes something made again and again, its numbers counting up: a collection that takes each key once grows too.
fn repeated(operations: &Operations, sequence: &Sequence) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { op, args } = step else { continue };
        let changes = args.iter().any(|arg| arg.how.is_mut());
        if !changes || args.iter().any(|arg| arg.how == How::Move) {
            continue;
        }
        for times in AGAIN {
            let mut more: Vec<Step> = Vec::new();
            for time in 1..=times {
                let mut args = args.clone();
                for arg in args.iter_mut().filter(|arg| arg.how == How::Copy) {
                    let place = arg.value.0 as usize;
                    let (Some((value, prim)), Step::Literal { ty, .. }) =
                        (number(operations, sequence, place), &sequence.steps[place])
                    else {
                        continue;
                    };
                    let counted = value + i128::try_from(time).unwrap_or(0);
                    if fits(counted, prim) {
                        arg.value = at(index + 1 + more.len());
                        more.push(Step::Literal { ty: *ty, value: Literal::Int(counted) });
                    }
                }
                more.push(Step::Call { op: *op, args });
            }
            found.push(inserted(&sequence.steps, index + 1, more));
        }
    }
    found
}

/// With a call made of its own result instead of the value that it was made of, several times.
fn iterated(operations: &Operations, sequence: &Sequence) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { op, args } = step else { continue };
        let result = operations.get(*op).result;
        let Some(from) = args.iter().find(|arg| type_of(operations, sequence, arg.value) == Some(result))
        else {
            continue;
        };
        // The others are still there the next time.
        let lasting = |arg: &Arg| arg.how != How::Move || arg.value == from.value;
        if !args.iter().all(lasting) || args.iter().filter(|arg| arg.how == How::Move).count() > 1 {
            continue;
        }
        for times in ITERATED {
            let next = |time: usize| {
                let args = args.iter().map(|arg| {
                    let value = if arg.value == from.value { at(index + time) } else { arg.value };
                    Arg { value, how: arg.how }
                });
                Step::Call { op: *op, args: args.collect() }
            };
            let mut steps = inserted(&sequence.steps, index + 1, (0..times).map(next).collect());
            for step in &mut steps[index + 1 + times..] {
                minimise::replace(step, index, index + times);
            }
            found.push(steps);
        }
    }
    found
}

/// With another value of the same type in the place of an argument.
fn exchanged(operations: &Operations, sequence: &Sequence) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Call { args, .. } = step else { continue };
        for (place, arg) in args.iter().enumerate() {
            let ty = type_of(operations, sequence, arg.value);
            let others = (0..index).map(at).filter(|other| *other != arg.value);
            for other in others.filter(|other| type_of(operations, sequence, *other) == ty) {
                let mut steps = sequence.steps.clone();
                if let Step::Call { args, .. } = &mut steps[index] {
                    args[place].value = other;
                }
                found.push(steps);
            }
        }
    }
    found
}

fn type_of(operations: &Operations, sequence: &Sequence, value: ValueId) -> Option<TypeId> {
    minimise::type_of(operations, &sequence.steps[value.0 as usize])
}

fn at(index: usize) -> ValueId {
    ValueId(u32::try_from(index).unwrap_or(u32::MAX))
}

/// The steps with others in between, which name values as they are numbered afterwards.
fn inserted(steps: &[Step], place: usize, more: Vec<Step>) -> Vec<Step> {
    let by = u32::try_from(more.len()).unwrap_or(u32::MAX);
    let moved = |value: &mut ValueId| {
        if value.0 as usize >= place {
            value.0 += by;
        }
    };
    let later = steps[place..].iter().cloned().map(|mut step| {
        match &mut step {
            Step::Call { args, .. } => args.iter_mut().for_each(|arg| moved(&mut arg.value)),
            Step::Drop(value) | Step::Forget(value) => moved(value),
            Step::Closure(closure) => closure.captures.iter_mut().for_each(|arg| moved(&mut arg.value)),
            Step::Literal { .. } => {}
        }
        step
    });
    steps[..place].iter().cloned().chain(more).chain(later).collect()
}

#[cfg(test)]
mod tests {
    use testwright_model::operation::Take;
    use testwright_model::{OpId, Prim, Ty};

    use super::*;
    use crate::invented::operation;

    /// `Tree::new()`, `insert(&mut Tree, u8)` and `join(Tree) -> Tree`.
    fn trees() -> Operations {
        let mut operations = Operations::default();
        operations.types = vec![Ty::adt("a::Tree", Vec::new()), Ty::Prim(Prim::U8), Ty::unit()];
        let mut insert = operation("Tree::insert", &[("self", 0), ("key", 1)], 2);
        insert.params[0].take = Take::Mut;
        operations.operations =
            vec![operation("Tree::new", &[], 0), insert, operation("Tree::join", &[("self", 0)], 0)];
        operations
    }

    fn call(op: u32, args: &[(u32, How)]) -> Step {
        let arg = |(value, how): &(u32, How)| Arg { value: ValueId(*value), how: *how };
        Step::Call { op: OpId(op), args: args.iter().map(arg).collect() }
    }

    fn key(value: i128) -> Step {
        Step::Literal { ty: TypeId(1), value: Literal::Int(value) }
    }

    #[test]
    fn repeated_calls_count_up_as_far_as_the_type_goes() {
        let insert = |key: u32| call(1, &[(0, How::RefMut), (key, How::Copy)]);
        let sequence =
            Sequence { steps: vec![call(0, &[]), key(254), insert(1), call(2, &[(0, How::Move)])] };
        let found = repeated(&trees(), &sequence);
        assert_eq!(found.len(), AGAIN.len());
        let twice = vec![call(0, &[]), key(254), insert(1), key(255), insert(3), call(2, &[(0, How::Move)])];
        assert_eq!(found[0], twice);
        // There is no 256.
        assert_eq!(found[1][5..7], [insert(1), insert(1)]);
    }

    #[test]
    fn a_result_goes_the_same_way_again() {
        let join = |tree: u32| call(2, &[(tree, How::Move)]);
        let insert = |tree: u32, key: u32| call(1, &[(tree, How::RefMut), (key, How::Copy)]);
        let sequence = Sequence { steps: vec![call(0, &[]), key(1), join(0), insert(2, 1)] };
        let found = iterated(&trees(), &sequence);
        assert_eq!(found[0], [call(0, &[]), key(1), join(0), join(2), insert(3, 1)]);
        assert_eq!(found[1].len(), sequence.len() + ITERATED[1]);
    }

    #[test]
    fn texts_grow_within_bounds() {
        let text = |text: String| Step::Literal { ty: TypeId(0), value: Literal::Str(text) };
        let of = |length: usize| Sequence { steps: vec![text("a".repeat(length))] };
        assert_eq!(grown(&trees(), &of(0)), Vec::<Vec<Step>>::new());
        assert_eq!(grown(&trees(), &of(1))[0], [text("aaaa".to_owned())]);
        assert_eq!(grown(&trees(), &of(LONGEST_TEXT / 4)).len(), 1);
    }
}
