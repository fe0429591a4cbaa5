//! Sequences with other values in the place of some: earlier ones, plainer ones, shorter ones of the pool, written ones.
//!
//! Each function receives a sequence and hands back candidates, legal ones all; whether they still do it, others find out.

use std::collections::HashSet;

use testwright_model::Ty;
use testwright_model::operation::{OpId, Operation, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Literal, Sequence, Step, ValueId};

use super::literal::plainer;
use super::weight::{SOME, rank};
use super::{Plainest, changes, slice, type_of, without};
use crate::repair::repair;

/// Steps of a sequence in which every pair of values is tried.
const SHORT: usize = 60;

/// All that the sequence could be instead, but for its literals.
pub fn all(operations: &Operations, plainest: &Plainest, sequence: &Sequence) -> Vec<Sequence> {
    // What could not be made shorter than this will not be plain, and there are as many pairs as it is long, squared.
    if sequence.len() > SHORT {
        return with_plainer_makers(operations, plainest, sequence);
    }
    let mut found = without_detours(operations, sequence);
    found.extend(with_earlier_values(operations, sequence));
    found.extend(with_plainer_makers(operations, plainest, sequence));
    found.extend(with_shorter_makers(operations, plainest, sequence));
    found.extend(with_one_call(operations, plainest, sequence));
    found.extend(with_literals_for_calls(operations, sequence));
    // What was needed by what is gone is mostly not needed any more.
    let lean: Vec<Sequence> = found.iter().filter_map(|candidate| lean(operations, candidate)).collect();
    found.extend(lean);
    found
}

/// The sequence with what its last call needs and nothing else.
fn lean(operations: &Operations, sequence: &Sequence) -> Option<Sequence> {
    slice(operations, sequence, last_call(&sequence.steps)?).filter(|lean| lean.len() < sequence.len())
}

fn last_call(steps: &[Step]) -> Option<usize> {
    steps.iter().rposition(|step| matches!(step, Step::Call { .. }))
}

/// The sequence with an earlier value in all places of a later one, without what only led from the one to the other: a value that
/// is wrapped and taken out again.
fn without_detours(operations: &Operations, sequence: &Sequence) -> Vec<Sequence> {
    let steps = &sequence.steps;
    let mut found = Vec::new();
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
        let Some(plainer) = plainest.of_nothing.get(&operation.result) else { continue };
        let old = if args.is_empty() { rank(&operation.path) } else { SOME };
        if rank(&operations.get(*plainer).path) < old {
            let mut steps = sequence.steps.clone();
            steps[index] = Step::Call { op: *plainer, args: Vec::new() };
            found.extend(repair(operations, &steps));
        }
    }
    found
}

/// The sequence with one value made as the pool's shortest sequences make one of its type: where it was made, and where it is used
/// first after somebody changed it, so that what changed it may go as well.
fn with_shorter_makers(operations: &Operations, plainest: &Plainest, sequence: &Sequence) -> Vec<Sequence> {
    let steps = &sequence.steps;
    let mut found = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if !matches!(step, Step::Call { .. }) {
            continue;
        }
        let Some(makers) = type_of(operations, step).and_then(|ty| plainest.makers.get(&ty)) else {
            continue;
        };
        let mut places = vec![index + 1];
        places.extend((index + 1..steps.len()).filter(|user| changes(&steps[*user], index)).map(|at| at + 1));
        for maker in makers {
            for place in &places {
                found.extend(repair(operations, &maker.instead_of(steps, index, *place)));
            }
        }
    }
    found
}

/// The sequence with one value made by one call of the crate from a value that is there already: `rope.lines()` instead of what leads
/// to it by some turns.
fn with_one_call(operations: &Operations, plainest: &Plainest, sequence: &Sequence) -> Vec<Sequence> {
    let steps = &sequence.steps;
    let mut found = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let Step::Call { op: old, args } = step else { continue };
        let makers = plainest.of_one.get(&operations.get(*old).result);
        // What needs nothing, or a literal alone, is not made sooner.
        if args.iter().all(|arg| matches!(steps[arg.value.0 as usize], Step::Literal { .. })) {
            continue;
        }
        for maker in makers.into_iter().flatten().filter(|maker| *maker != old) {
            let param = &operations.get(*maker).params[0];
            let given = (0..index).filter_map(|value| as_given(operations, param, steps, value));
            for arg in given {
                let mut steps = steps.clone();
                steps[index] = Step::Call { op: *maker, args: vec![arg] };
                // Without the turns, which may have taken the value away.
                found.extend(last_call(&steps).and_then(|last| slice(operations, &Sequence { steps }, last)));
            }
        }
    }
    found
}

/// A value as an argument, if it is of the parameter's type.
fn as_given(operations: &Operations, param: &Param, steps: &[Step], value: usize) -> Option<Arg> {
    let ty = type_of(operations, &steps[value])?;
    let how = match (param.take, operations.ty(ty)) {
        (Take::Shared, Ty::Ref { to, .. }) if **to == *operations.ty(param.ty) => How::Reborrow,
        _ if ty != param.ty => return None,
        (Take::Value, Ty::Ref { mutable: true, .. }) => How::ReborrowMut,
        (Take::Value, _) if operations.abilities(ty).copy => How::Copy,
        (Take::Value, _) => How::Move,
        (Take::Shared, _) => How::Ref,
        (Take::Mut, _) => How::RefMut,
    };
    Some(Arg { value: ValueId(u32::try_from(value).ok()?), how })
}

/// Steps that make a value of some type and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    steps: Vec<Step>,
    value: usize,
}

impl Making {
    /// What a value of a sequence needs: all that it was made of, and who changed that.
    pub fn of(sequence: &Sequence, value: ValueId) -> Option<Making> {
        let value = value.0 as usize;
        let steps = &sequence.steps;
        if !steps.get(value)?.makes_value() {
            return None;
        }
        let kept = super::needed(steps, value);
        let (steps, places) = super::pick(steps, &kept)?;
        Some(Making { steps, value: *places.get(value)? as usize })
    }

    pub fn as_sequence(&self) -> Sequence {
        Sequence { steps: self.steps.clone() }
    }

    pub fn ty(&self, operations: &Operations) -> Option<TypeId> {
        type_of(operations, &self.steps[self.value])
    }

    /// A `String` that is written out.
    pub fn of_text(operations: &Operations, text: &str) -> Option<Making> {
        let writes = |operation: &&Operation| {
            let names = ["::to_string", "::to_owned", "::from"];
            let takes_text = |param: &Param| {
                let ty = operations.ty(param.ty);
                param.take == Take::Value
                    && matches!(ty, Ty::Ref { mutable: false, to, .. } if **to == Ty::Str)
            };
            operation.origin == Origin::Std
                && is_string(operations.ty(operation.result))
                && names.iter().any(|name| operation.path.ends_with(name))
                && matches!(operation.params.as_slice(), [param] if takes_text(param))
        };
        let place = operations.operations.iter().position(|operation| writes(&operation))?;
        let op = OpId(u32::try_from(place).ok()?);
        let literal =
            Step::Literal { ty: operations.get(op).params[0].ty, value: Literal::Str(text.to_owned()) };
        let args = vec![Arg { value: ValueId(0), how: How::Copy }];
        Some(Making { steps: vec![literal, Step::Call { op, args }], value: 1 })
    }

    /// The sequence with this value in the place of another, from where that is made.
    pub fn in_place_of(&self, operations: &Operations, sequence: &Sequence, old: usize) -> Option<Sequence> {
        repair(operations, &self.instead_of(&sequence.steps, old, old + 1))
    }

    /// Steps in which this value is the old one from a place on.
    fn instead_of(&self, steps: &[Step], old: usize, place: usize) -> Vec<Step> {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut all = steps[..place].to_vec();
        all.extend(self.steps.iter().cloned().map(|mut step| {
            step.shift(number(place));
            step
        }));
        for step in &steps[place..] {
            let mut step = step.clone();
            let moved = |value: &mut ValueId| {
                if value.0 as usize == old {
                    value.0 = number(place + self.value);
                } else if value.0 as usize >= place {
                    value.0 += number(self.steps.len());
                }
            };
            match &mut step {
                Step::Call { args, .. } => args.iter_mut().map(|arg| &mut arg.value).for_each(moved),
                Step::Drop(value) | Step::Forget(value) => [value].into_iter().for_each(moved),
                _ => {}
            }
            all.push(step);
        }
        all
    }
}

/// Whether the type is std's `String`.
pub fn is_string(ty: &Ty) -> bool {
    matches!(ty, Ty::Adt { path, .. } if path == "std::string::String")
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

/// The sequence with the literal of a step made plainer, the plainest first.
pub fn with_plainer_literal(operations: &Operations, sequence: &Sequence, index: usize) -> Vec<Sequence> {
    let Some(Step::Literal { ty, value }) = sequence.steps.get(index) else { return Vec::new() };
    let with = |literal: Literal| {
        let mut steps = sequence.steps.clone();
        steps[index] = Step::Literal { ty: *ty, value: literal };
        repair(operations, &steps)
    };
    plainer(operations.ty(*ty), value).into_iter().filter_map(with).collect()
}
