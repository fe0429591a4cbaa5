//! The borrow rules, case by case: each test asks the ledger about steps over a few operations made by hand.

use testwright_model::ledger::Illegal;
use testwright_model::operation::{Abilities, Flow, Form, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Step, ValueId};
use testwright_model::{Ledger, OpId, Operation, Ty};

const MAKE: OpId = OpId(0);
const VIEW: OpId = OpId(1);
const GUARD: OpId = OpId(2);
const MUTATE: OpId = OpId(3);
const READ: OpId = OpId(4);
const CONSUME: OpId = OpId(5);
const STORE: OpId = OpId(6);
const STATIC: OpId = OpId(7);
const VIEW_MUT: OpId = OpId(8);

/// Parameters, result, flow.
type Row<'a> = (&'a [(Take, TypeId)], TypeId, &'a Flow);

/// An owner that needs dropping, a guard that borrows and needs dropping, a view that borrows and does not.
fn world() -> Operations {
    let mut operations = Operations::default();
    let owner = operations.type_id(&Ty::adt("lib::Owner", Vec::new()));
    let guard = operations.type_id(&Ty::adt("lib::Guard", Vec::new()));
    let view = operations.type_id(&Ty::adt("lib::View", Vec::new()));
    let unit = operations.type_id(&Ty::unit());
    for dropped in [owner, guard] {
        operations.abilities[dropped.0 as usize] = Abilities { needs_drop: true, ..Abilities::default() };
    }
    operations.abilities[view.0 as usize] = Abilities { copy: true, ..Abilities::default() };
    let plain = Flow::default();
    let borrowing = Flow { outer: vec![0], ..Flow::default() };
    let storing = Flow { stores: vec![(0, 1)], ..Flow::default() };
    let list: [Row<'_>; 9] = [
        (&[], owner, &plain),
        (&[(Take::Shared, owner)], view, &borrowing),
        (&[(Take::Mut, owner)], guard, &borrowing),
        (&[(Take::Mut, owner)], unit, &plain),
        (&[(Take::Shared, owner), (Take::Shared, owner)], unit, &plain),
        (&[(Take::Value, owner)], unit, &plain),
        (&[(Take::Mut, owner), (Take::Value, view)], unit, &storing),
        (&[(Take::Value, view)], unit, &plain),
        (&[(Take::Mut, owner)], view, &borrowing),
    ];
    for (index, (params, result, flow)) in (0..).zip(list) {
        let param = |(take, ty): &(Take, TypeId)| Param {
            name: "arg".to_owned(),
            take: *take,
            ty: *ty,
            needs_static: OpId(index) == STATIC,
            open: false,
        };
        operations.operations.push(Operation {
            path: format!("op{index}"),
            origin: Origin::Std,
            params: params.iter().map(param).collect(),
            result,
            flow: flow.clone(),
            form: Form::default(),
            panics: None,
            grounding: String::new(),
        });
    }
    operations
}

fn call(op: OpId, args: &[(u32, How)]) -> Step {
    let args = args.iter().map(|(value, how)| Arg { value: ValueId(*value), how: *how }).collect();
    Step::Call { op, args }
}

/// Takes all steps but the last, which must be legal, and says what must be dropped before the last.
fn drops_before_last(steps: &[Step]) -> Result<Vec<ValueId>, Illegal> {
    let operations = world();
    let (last, before) = steps.split_last().expect("some steps");
    Ledger::replay(&operations, before).expect("legal so far").drops_before(last)
}

#[test]
fn moved_value_is_gone() {
    let steps = [call(MAKE, &[]), call(CONSUME, &[(0, How::Move)]), call(MUTATE, &[(0, How::RefMut)])];
    assert_eq!(drops_before_last(&steps), Err(Illegal::Gone(ValueId(0))));
}

#[test]
fn view_ends_silently_when_its_owner_changes() {
    let steps = [
        call(MAKE, &[]),
        call(VIEW, &[(0, How::Ref)]),
        call(MUTATE, &[(0, How::RefMut)]),
        call(STATIC, &[(1, How::Copy)]),
    ];
    assert_eq!(drops_before_last(&steps), Err(Illegal::Gone(ValueId(1))));
}

#[test]
fn shared_use_ends_mutable_borrows_only() {
    let operations = world();
    let read = call(READ, &[(0, How::Ref), (0, How::Ref)]);
    let shared = [call(MAKE, &[]), call(VIEW, &[(0, How::Ref)]), read.clone()];
    assert!(Ledger::replay(&operations, &shared).expect("legal").is_alive(ValueId(1)));
    let mutable = [call(MAKE, &[]), call(VIEW_MUT, &[(0, How::RefMut)]), read];
    assert!(!Ledger::replay(&operations, &mutable).expect("legal").is_alive(ValueId(1)));
}

#[test]
fn guard_must_be_dropped_before_its_owner_is_used() {
    let mut steps =
        vec![call(MAKE, &[]), call(GUARD, &[(0, How::RefMut)]), call(MUTATE, &[(0, How::RefMut)])];
    assert_eq!(drops_before_last(&steps), Ok(vec![ValueId(1)]));
    let operations = world();
    let error = Ledger::replay(&operations, &steps).map(|_| ());
    assert_eq!(error, Err((2, Illegal::DropFirst(ValueId(1)))));
    steps.insert(2, Step::Drop(ValueId(1)));
    assert!(Ledger::replay(&operations, &steps).is_ok());
}

#[test]
fn one_value_is_not_borrowed_mutably_and_otherwise_in_one_call() {
    let steps =
        [call(MAKE, &[]), call(VIEW, &[(0, How::Ref)]), call(STORE, &[(0, How::RefMut), (1, How::Copy)])];
    assert_eq!(drops_before_last(&steps), Err(Illegal::Conflict(ValueId(1))));
}

/// Value 0 holds a view of value 1.
fn stored() -> Vec<Step> {
    vec![
        call(MAKE, &[]),
        call(MAKE, &[]),
        call(VIEW, &[(1, How::Ref)]),
        call(STORE, &[(0, How::RefMut), (2, How::Copy)]),
    ]
}

#[test]
fn stored_borrow_binds_its_holder() {
    let mut steps = stored();
    steps.push(call(CONSUME, &[(1, How::Move)]));
    assert_eq!(drops_before_last(&steps), Ok(vec![ValueId(0)]));
}

#[test]
fn holder_older_than_what_it_holds_is_dropped_before_the_scope_ends() {
    let operations = world();
    let ledger = Ledger::replay(&operations, &stored()).expect("legal");
    assert_eq!(ledger.drops_at_end(), vec![ValueId(0)]);
}

#[test]
fn borrow_of_a_local_value_is_not_static() {
    let steps = [call(MAKE, &[]), call(VIEW, &[(0, How::Ref)]), call(STATIC, &[(1, How::Copy)])];
    assert_eq!(drops_before_last(&steps), Err(Illegal::NotStatic(ValueId(1))));
}

#[test]
fn types_must_fit() {
    let steps = [call(MAKE, &[]), call(STATIC, &[(0, How::Copy)])];
    assert_eq!(drops_before_last(&steps), Err(Illegal::Mismatch(ValueId(0))));
}
