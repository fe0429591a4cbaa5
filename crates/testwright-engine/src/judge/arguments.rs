//! What the arguments of a step are made of: numbers, places in something, values of the library.

use std::collections::{BTreeSet, HashSet};

use testwright_model::operation::{Operation, Operations};
use testwright_model::sequence::{Sequence, Step};
use testwright_model::{GenericArg, Literal, Prim, Ty};

use super::words::{PLACES, is_raw};

/// No memory has so many bytes.
const BEYOND: i128 = i64::MAX as i128 / 2;

/// Whether the step is given a size or place that no memory has, alone or among others: such a call fails anyway, an overflow on the
/// way or not.
pub(super) fn is_beyond_memory(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let Step::Call { args, .. } = &sequence.steps[step] else { return false };
    let is_size = |ty: &Ty| *ty == Ty::Prim(Prim::Usize);
    args.iter().any(|arg| match &sequence.steps[arg.value.0 as usize] {
        Step::Literal { ty, value: Literal::Int(value) } => is_size(operations.ty(*ty)) && *value > BEYOND,
        // The capacity for `()` is without end.
        Step::Call { op, .. } => {
            let maker = operations.get(*op);
            let result = operations.ty(maker.result);
            let name = maker.path.rsplit("::").next().unwrap_or_default();
            is_size(result) && (name.contains("capacity") || name.contains("size"))
                // `Some(usize::MAX).unwrap()`, `vec![usize::MAX]`
                || !maker.is_subject()
                    && result.is_made_of(&is_size)
                    && any_literal(sequence, arg.value.0 as usize, |value| value > BEYOND)
        }
        _ => false,
    })
}

/// Whether what the step works on was set, by a plain setter, to a number that no program counts up to: a counter that goes on from
/// there has nowhere to go.
pub(super) fn is_set_to_the_end(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    history(sequence, step).into_iter().filter(|index| *index != step).any(|index| {
        let Step::Call { op, args } = &sequence.steps[index] else { return false };
        let setter = operations.get(*op);
        let sets = setter.path.rsplit("::").next().is_some_and(|name| name.starts_with("set_"));
        let [changed, given] = args.as_slice() else { return false };
        let number = &sequence.steps[given.value.0 as usize];
        sets && changed.how.is_mut()
            && operations.ty(setter.result).is_unit()
            && matches!(number, Step::Literal { value: Literal::Int(value), .. } if *value > BEYOND)
    })
}

/// Whether the caller did by hand what the library does otherwise to what the step works on: whoever enters a key by its hash has to see
/// that it is there once.
pub(super) fn is_made_by_hand(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    history(sequence, step).into_iter().any(|index| match &sequence.steps[index] {
        Step::Call { op, .. } => operations.get(*op).is_subject() && is_raw(&operations.get(*op).path),
        _ => false,
    })
}

/// Whether the index that the message complains of was written out by the caller, who had it from nowhere: no container
/// promises to hold something there, though its documentation should say what happens.
pub(super) fn is_made_up(
    operations: &Operations,
    operation: &Operation,
    sequence: &Sequence,
    step: usize,
    message: &str,
) -> bool {
    let index = message.split("index ").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix("is ").unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest[..digits].parse::<i128>().ok()
    });
    let Some(index) = index else { return false };
    let Step::Call { args, .. } = &sequence.steps[step] else { return false };
    // Zero is anybody's number, unless it was given as an index.
    let may_be_index = |name: &str, ty: &Ty| match ty {
        Ty::Prim(Prim::Usize | Prim::U32) => index > 0 || PLACES.contains(&name),
        Ty::Adt { .. } => index > 0 || is_index_type(ty),
        _ => false,
    };
    operation.params.iter().zip(args).any(|(param, arg)| {
        param.name != "self"
            && may_be_index(&param.name, operations.ty(param.ty))
            && any_literal(sequence, arg.value.0 as usize, |value| value == index)
    })
}

/// Whether values of the type are places in something, or some of them, by its name.
pub(super) fn is_index_type(ty: &Ty) -> bool {
    match ty {
        Ty::Adt { path, args } if matches!(path.as_str(), "std::vec::Vec" | "std::option::Option") => {
            args.iter().any(|arg| matches!(arg, GenericArg::Ty(ty) if is_index_type(ty)))
        }
        Ty::Adt { path, .. } => ["Index", "Idx", "Id", "Key", "Handle"].iter().any(|end| path.ends_with(end)),
        Ty::Ref { to, .. } | Ty::Slice(to) => is_index_type(to),
        _ => false,
    }
}

/// Whether an index that the step works with was made up, or was given to a call together with another thing than it comes from: one
/// graph's index means nothing to another.
pub(super) fn has_foreign_index(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let (_, indices) = worked_on(operations, sequence, step);
    indices.into_iter().any(|given| is_foreign(operations, sequence, step, given))
}

/// The same of the calls before the step: what it works on itself may be an index.
pub(super) fn has_made_up_index(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let (_, indices) = worked_on(operations, sequence, step);
    indices.into_iter().any(|given| given.0 != step && is_foreign(operations, sequence, step, given))
}

/// Whether an index means nothing to the call that it is given to, or to the step that works with what came of that.
fn is_foreign(
    operations: &Operations,
    sequence: &Sequence,
    step: usize,
    (user, index): (usize, usize),
) -> bool {
    let Step::Call { op, args } = &sequence.steps[index] else { return false };
    let name = operations.get(*op).path.rsplit("::").next().unwrap_or("");
    let invented =
        ["new", "from", "end", "max", "min", "default", "null"].iter().any(|start| name.starts_with(start));
    // Whoever gave the index is used again afterwards, and not only copied before.
    let is_known = |to: usize| {
        let (reached, _) = worked_on(operations, sequence, to);
        args.iter().any(|giver| {
            let again =
                |later: &usize| *later > index && sequence.steps[*later].uses().contains(&giver.value);
            reached.contains(&(giver.value.0 as usize)) && reached.iter().any(again)
        })
    };
    invented || !is_known(step) || user != step && !is_known(user)
}

/// What a step works on, as far as that does not go through an index; and the indices, each with the call that it is given to.
fn worked_on(
    operations: &Operations,
    sequence: &Sequence,
    step: usize,
) -> (HashSet<usize>, Vec<(usize, usize)>) {
    let is_index = |index: usize| match &sequence.steps[index] {
        Step::Call { op, .. } => is_index_type(operations.ty(operations.get(*op).result)),
        _ => false,
    };
    let (mut open, mut indices) = (vec![(step, step)], Vec::new());
    let mut reached = HashSet::new();
    while let Some((user, index)) = open.pop() {
        if index != step && is_index(index) {
            indices.push((user, index));
        } else if reached.insert(index) {
            open.extend(sequence.steps[index].uses().iter().map(|value| (index, value.0 as usize)));
            open.extend(changed_between(sequence, index, step).map(|change| (index, change)));
        }
    }
    (reached, indices)
}

/// Whether something of the subject's own is among what the step's arguments are made of: its code may run in the call.
pub(super) fn is_of_subject(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let mut open: Vec<usize> = sequence.steps[step].uses().iter().map(|value| value.0 as usize).collect();
    let mut seen = HashSet::new();
    while let Some(index) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        let step = &sequence.steps[index];
        if let Step::Call { op, .. } = step {
            let operation = operations.get(*op);
            if operation.is_subject()
                && !testwright_ground::reach::is_literal(operations.ty(operation.result))
            {
                return true;
            }
        }
        open.extend(step.uses().iter().map(|value| value.0 as usize));
    }
    false
}

/// Whether the caller itself borrows from a `RefCell`, one that the library hands out perhaps.
pub(super) fn borrows_itself(operations: &Operations, steps: &[Step]) -> bool {
    let borrows = |path: &str| matches!(path, "RefCell::borrow" | "RefCell::borrow_mut");
    steps.iter().any(|step| matches!(step, Step::Call { op, .. } if borrows(&operations.get(*op).path)))
}

/// Whether an integer that was computed by a call is among what the step's arguments are made of: it may be as large as the
/// capacity of a vector of `()`. So may each of those in a collection that the subject gave, such as a set's words.
pub(super) fn takes_unknown_number(operations: &Operations, sequence: &Sequence, step: usize) -> bool {
    let is_wide = |ty: &Ty| ty.largest().is_some_and(|most| most > i128::from(u16::MAX));
    history(sequence, step).into_iter().any(|index| {
        let Step::Call { op, args } = &sequence.steps[index] else { return false };
        operations.get(*op).params.iter().zip(args).any(|(param, arg)| {
            let Step::Call { op: maker, .. } = &sequence.steps[arg.value.0 as usize] else { return false };
            let ty = operations.ty(param.ty);
            ty.is_int() || operations.get(*maker).is_subject() && ty.is_made_of(&is_wide)
        })
    })
}

/// Whether a literal that the step's arguments are made of, or were changed with, is absurdly large.
pub(super) fn asks_for_much(sequence: &Sequence, step: usize, absurd: i128) -> bool {
    history(sequence, step).into_iter().any(|index| match &sequence.steps[index] {
        Step::Literal { value: Literal::Int(value), .. } => *value >= absurd || *value < 0,
        _ => false,
    })
}

/// The step, what made its arguments, what changed them before it, and what these were made of.
pub fn history(sequence: &Sequence, step: usize) -> BTreeSet<usize> {
    let mut open = vec![step];
    let mut seen = BTreeSet::new();
    while let Some(index) = open.pop() {
        if seen.insert(index) {
            open.extend(sequence.steps[index].uses().iter().map(|value| value.0 as usize));
            open.extend(changed_between(sequence, index, step));
        }
    }
    seen
}

/// The steps before `end` that may have changed a value.
fn changed_between(sequence: &Sequence, value: usize, end: usize) -> impl Iterator<Item = usize> {
    let changes = move |step: &Step| match step {
        Step::Call { args, .. } => args.iter().any(|arg| arg.value.0 as usize == value && arg.how.is_mut()),
        _ => false,
    };
    (value + 1..end).filter(move |later| changes(&sequence.steps[*later]))
}

/// Whether a number that the step's arguments are made of is such a one.
pub(super) fn any_literal(sequence: &Sequence, step: usize, is_it: impl Fn(i128) -> bool) -> bool {
    let mut open = vec![step];
    let mut seen = HashSet::new();
    while let Some(index) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        match &sequence.steps[index] {
            Step::Literal { value: Literal::Int(value), .. } if is_it(*value) => return true,
            other => open.extend(other.uses().iter().map(|value| value.0 as usize)),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::operation;
    use super::*;
    use crate::invented::operation as operation_of;
    use testwright_model::OpId;
    use testwright_model::operation::{Origin, TypeId};
    use testwright_model::sequence::{Arg, How, ValueId};

    #[test]
    fn who_borrows_is_not_surprised_by_a_conflict() {
        let mut operations = Operations::default();
        operations.operations =
            vec![operation("RefCell::borrow", &["self"]), operation("RcIter::next", &["self"])];
        let calls = |ops: &[u32]| -> Vec<Step> {
            ops.iter().map(|op| Step::Call { op: OpId(*op), args: Vec::new() }).collect()
        };
        assert!(borrows_itself(&operations, &calls(&[1, 0])));
        assert!(!borrows_itself(&operations, &calls(&[1, 1])));
    }

    #[test]
    fn only_some_types_are_places() {
        let node = Ty::adt("petgraph::graph::NodeIndex", Vec::new());
        assert!(is_index_type(&node));
        assert!(is_index_type(&Ty::adt("std::vec::Vec", vec![node])));
        assert!(!is_index_type(&Ty::adt("petgraph::graph::Graph", Vec::new())));
    }

    #[test]
    fn an_index_that_was_written_out_is_made_up() {
        let number = |value| Step::Literal { ty: TypeId(0), value: Literal::Int(value) };
        let arg = |value| Arg { value: ValueId(value), how: How::Copy };
        let edges = operation("List::edges", &["self", "from"]);
        let mut operations = Operations::default();
        operations.types.push(Ty::Prim(Prim::Usize));
        operations.operations.push(edges.clone());
        let call = Step::Call { op: OpId(0), args: vec![arg(0), arg(1)] };
        let sequence = Sequence { steps: vec![number(7), number(18), call] };
        let made_up = |message: &str| is_made_up(&operations, &edges, &sequence, 2, message);
        assert!(made_up("index out of bounds: the len is 0 but the index is 18"));
        assert!(made_up("put at index 18 exceeds fixedbitset size 0"));
        assert!(!made_up("index out of bounds: the len is 18 but the index is 19"));
        assert!(
            !made_up("index out of bounds: the len is 7 but the index is 7"),
            "that is what it was made with"
        );
        assert!(!made_up("mid > len"));
    }

    #[test]
    fn an_index_of_another_graph_is_foreign() {
        let mut operations = Operations::default();
        operations.types.push(Ty::adt("g::Graph", Vec::new()));
        operations.types.push(Ty::adt("g::NodeIndex", Vec::new()));
        let returns = |path: &str, params: &[&str], result| Operation {
            result: TypeId(result),
            ..operation(path, params)
        };
        operations.operations = vec![
            returns("Graph::new", &[], 0),
            returns("Graph::add_node", &["self"], 1),
            returns("NodeIndex::end", &[], 1),
            returns("Graph::walk", &["self", "start"], 0),
        ];
        let call = |op, args: &[u32]| Step::Call {
            op: OpId(op),
            args: args.iter().map(|value| Arg { value: ValueId(*value), how: How::Copy }).collect(),
        };
        // Two graphs, and a node of the first.
        let start = [call(0, &[]), call(0, &[]), call(1, &[0])];
        let foreign = |more: &[Step]| {
            let steps = [&start[..], more].concat();
            let last = steps.len() - 1;
            has_foreign_index(&operations, &Sequence { steps }, last)
        };
        assert!(!foreign(&[call(3, &[0, 2])]));
        assert!(foreign(&[call(3, &[1, 2])]));
        assert!(foreign(&[call(2, &[]), call(3, &[0, 3])]));
        assert!(foreign(&[call(3, &[1, 2]), call(3, &[3, 2])]), "of what it was made from");
        assert!(
            foreign(&[call(3, &[1, 2]), call(3, &[3, 0])]),
            "given to the second graph's walker, which walks the first"
        );
        assert!(
            foreign(&[call(3, &[0, 2]), call(1, &[0]), call(3, &[3, 4])]),
            "a copy does not know what came later"
        );
        // An index that another call has put into what the step works on.
        let moved = |how| Step::Call {
            op: OpId(3),
            args: vec![Arg { value: ValueId(0), how }, Arg { value: ValueId(3), how: How::Copy }],
        };
        assert!(foreign(&[call(2, &[]), moved(How::RefMut), call(1, &[0])]));
        assert!(!foreign(&[call(2, &[]), moved(How::Ref), call(1, &[0])]));
    }

    #[test]
    fn a_value_asks_for_what_it_was_changed_to() {
        let literal = Step::Literal { ty: TypeId(0), value: Literal::Int(i128::from(u32::MAX)) };
        let call = |args: &[(u32, How)]| Step::Call {
            op: OpId(0),
            args: args.iter().map(|(value, how)| Arg { value: ValueId(*value), how: *how }).collect(),
        };
        // One span is made with a large number, another becomes like it and is walked through.
        let asks = |how| {
            let made = call(&[(0, How::Copy)]);
            let steps = vec![
                literal.clone(),
                call(&[]),
                made,
                call(&[(1, how), (2, How::Ref)]),
                call(&[(1, How::Move)]),
            ];
            asks_for_much(&Sequence { steps }, 4, 1 << 20)
        };
        assert!(asks(How::RefMut));
        assert!(!asks(How::Ref));
    }

    #[test]
    fn a_counter_that_was_set_to_the_end_overflows() {
        let mut operations = Operations::default();
        operations.types.push(Ty::Tuple(Vec::new()));
        operations.operations = ["Reader::set_line", "Reader::skip", "Reader::read"]
            .map(|path| operation(path, &["self"]))
            .to_vec();
        let arg = |value, how| Arg { value: ValueId(value), how };
        let overflows = |setter, number| {
            let change = vec![arg(0, How::RefMut), arg(1, How::Copy)];
            let steps = vec![
                Step::Call { op: OpId(2), args: Vec::new() },
                Step::Literal { ty: TypeId(0), value: Literal::Int(number) },
                Step::Call { op: OpId(setter), args: change },
                Step::Call { op: OpId(2), args: vec![arg(0, How::RefMut)] },
            ];
            is_set_to_the_end(&operations, &Sequence { steps }, 3)
        };
        assert!(overflows(0, i128::from(u64::MAX)));
        assert!(!overflows(0, i128::from(u32::MAX)), "a program may have read so many lines");
        assert!(!overflows(1, i128::from(u64::MAX)), "what is not a setter has to bear it");
    }

    #[test]
    fn what_raw_calls_changed_was_made_by_hand() {
        let mut operations = Operations::default();
        operations.operations =
            ["Map::new", "Map::raw_entry_mut", "Map::eq"].map(|path| operation(path, &["self"])).to_vec();
        let call = |op, args: &[(u32, How)]| Step::Call {
            op: OpId(op),
            args: args.iter().map(|(value, how)| Arg { value: ValueId(*value), how: *how }).collect(),
        };
        // Two maps, of which the first is changed by hand.
        let by_hand = |compared| {
            let steps = vec![
                call(0, &[]),
                call(0, &[]),
                call(1, &[(0, How::RefMut)]),
                call(2, &[(compared, How::Ref)]),
            ];
            is_made_by_hand(&operations, &Sequence { steps }, 3)
        };
        assert!(by_hand(0));
        assert!(!by_hand(1), "the other map is as the library made it");
    }

    #[test]
    fn a_capacity_may_be_beyond_memory() {
        let mut operations = Operations::default();
        operations.types.push(Ty::Prim(Prim::Usize));
        operations.operations = ["SmallVec::inline_size", "Queue::len", "SmallVec::insert"]
            .map(|path| operation(path, &[]))
            .to_vec();
        let beyond = |maker| {
            let arg = Arg { value: ValueId(0), how: How::Copy };
            let steps = vec![
                Step::Call { op: OpId(maker), args: Vec::new() },
                Step::Call { op: OpId(2), args: vec![arg] },
            ];
            is_beyond_memory(&operations, &Sequence { steps }, 1)
        };
        assert!(beyond(0));
        assert!(!beyond(1));
    }

    #[test]
    fn a_size_among_others_may_be_beyond_memory() {
        let mut operations = Operations::default();
        operations.types = vec![Ty::Prim(Prim::Usize), Ty::adt("std::vec::Vec", vec![Ty::Prim(Prim::Usize)])];
        let vec = |origin| Operation { origin, ..operation_of("vec", &[("item", 0)], 1) };
        operations.operations = vec![
            vec(Origin::Std),
            vec(Origin::Subject(0)),
            operation_of("Set::from_iter", &[("items", 1)], 1),
        ];
        let beyond = |maker, number| {
            let arg = |value| Arg { value: ValueId(value), how: How::Move };
            let steps = vec![
                Step::Literal { ty: TypeId(0), value: Literal::Int(number) },
                Step::Call { op: OpId(maker), args: vec![arg(0)] },
                Step::Call { op: OpId(2), args: vec![arg(1)] },
            ];
            is_beyond_memory(&operations, &Sequence { steps }, 2)
        };
        assert!(beyond(0, i128::from(u64::MAX)));
        assert!(!beyond(0, 1 << 20));
        assert!(!beyond(1, i128::from(u64::MAX)), "what the library made of it is its own doing");
    }

    #[test]
    fn numbers_that_the_subject_keeps_may_be_large() {
        let slice = |prim| Ty::reference(Ty::Slice(Box::new(Ty::Prim(prim))));
        let mut operations = Operations::default();
        operations.types = vec![slice(Prim::Usize), slice(Prim::U8)];
        let unknown = |ty, origin| {
            let mut operations = operations.clone();
            let words = Operation { origin, ..operation_of("Set::words", &[], ty) };
            operations.operations = vec![words, operation_of("Set::extend", &[("items", ty)], ty)];
            let arg = Arg { value: ValueId(0), how: How::Copy };
            let steps = vec![
                Step::Call { op: OpId(0), args: Vec::new() },
                Step::Call { op: OpId(1), args: vec![arg] },
            ];
            takes_unknown_number(&operations, &Sequence { steps }, 1)
        };
        assert!(unknown(0, Origin::Subject(0)));
        assert!(!unknown(0, Origin::Std), "its literals are seen");
        assert!(!unknown(1, Origin::Subject(0)), "a byte is a small number");
    }
}
