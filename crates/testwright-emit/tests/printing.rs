//! Printed programs, case by case.

use testwright_emit::{Imports, body};
use testwright_model::operation::{Abilities, Flow, Form, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Literal, OpId, Operation, Prim, Ty};

const STACK: u32 = 0;
const SIZE: u32 = 1;
const INT: u32 = 2;
const UNIT: u32 = 3;
const REFERENCE: u32 = 4;
const MAYBE: u32 = 5;

/// Path, parameters, result, full and short form.
type Row<'a> = (&'a str, &'a [(Take, u32)], u32, &'a str, &'a str);

fn operations() -> Operations {
    let mut operations = Operations::default();
    operations.type_id(&Ty::adt("lib::stack::Stack", Vec::new()));
    operations.type_id(&Ty::Prim(Prim::Usize));
    operations.type_id(&Ty::Prim(Prim::I32));
    operations.type_id(&Ty::unit());
    operations.type_id(&Ty::reference(Ty::Prim(Prim::I32)));
    let stack = Ty::adt("lib::stack::Stack", Vec::new());
    operations.type_id(&Ty::adt("std::option::Option", vec![stack]));
    for owning in [STACK, MAYBE] {
        operations.abilities[owning as usize].needs_drop = true;
    }
    for copy in [SIZE, INT, UNIT, REFERENCE] {
        operations.abilities[copy as usize] = Abilities { copy: true, ..Abilities::default() };
    }
    let (value, shared, mutable) = (Take::Value, Take::Shared, Take::Mut);
    let list: [Row<'_>; 6] = [
        ("Stack::new", &[(value, SIZE)], STACK, "lib::stack::Stack::new({0})", ""),
        (
            "Stack::push",
            &[(mutable, STACK), (value, INT)],
            UNIT,
            "<lib::stack::Stack>::push({0}, {1})",
            "{self}.push({1})",
        ),
        ("Stack::peek", &[(shared, STACK)], REFERENCE, "<lib::stack::Stack>::peek({0})", "{self}.peek()"),
        (
            "<Stack as PartialEq>::eq",
            &[(shared, STACK), (shared, STACK)],
            UNIT,
            "PartialEq::eq({0}, {1})",
            "{*0} == {*1}",
        ),
        ("Stack::checked", &[(value, SIZE)], MAYBE, "lib::stack::Stack::checked({0})", ""),
        ("Option::unwrap", &[(value, MAYBE)], STACK, "Option::unwrap({0})", "{self}.unwrap()"),
    ];
    for (path, params, result, full, short) in list {
        let param = |(take, ty): &(Take, u32)| Param {
            name: "x".to_owned(),
            take: *take,
            ty: TypeId(*ty),
            needs_static: false,
            open: false,
        };
        operations.operations.push(Operation {
            path: path.to_owned(),
            origin: Origin::Subject(0),
            params: params.iter().map(param).collect(),
            result: TypeId(result),
            flow: Flow::default(),
            form: Form { full: full.to_owned(), short: short.to_owned(), ..Form::default() },
            panics: None,
            grounding: String::new(),
        });
    }
    operations
}

fn check(steps: Vec<Step>, expected: &str) {
    let printed = body(&operations(), &Sequence { steps }, false);
    let imports = Imports { lib: "lib".to_owned(), foreign: Vec::new() };
    let (uses, text) = imports.shorten(&printed.body, &printed.traits);
    assert_eq!(uses, ["lib::stack::Stack"]);
    assert_eq!(text, expected);
}

fn call(op: u32, args: &[(u32, How)]) -> Step {
    let args = args.iter().map(|(value, how)| Arg { value: ValueId(*value), how: *how }).collect();
    Step::Call { op: OpId(op), args }
}

fn int(ty: u32, value: i128) -> Step {
    Step::Literal { ty: TypeId(ty), value: Literal::Int(value) }
}

#[test]
fn literals_stand_where_they_are_used() {
    check(
        vec![
            int(SIZE, 2),
            call(0, &[(0, How::Copy)]),
            int(INT, -7),
            call(1, &[(1, How::RefMut), (2, How::Copy)]),
        ],
        "let mut stack = Stack::new(2);\nstack.push(-7);\n",
    );
}

#[test]
fn unused_results_are_ignored_unless_they_have_a_destructor() {
    check(
        vec![
            int(SIZE, 0),
            call(0, &[(0, How::Copy)]),
            call(2, &[(1, How::Ref)]),
            int(SIZE, 1),
            call(0, &[(3, How::Copy)]),
        ],
        "let stack = Stack::new(0);\nlet _ = stack.peek();\nlet _stack2 = Stack::new(1);\n",
    );
}

#[test]
fn what_is_unwrapped_at_once_has_no_name() {
    let (checked, unwrap) = (call(4, &[(0, How::Copy)]), |value| call(5, &[(value, How::Move)]));
    let peek = |value| call(2, &[(value, How::Ref)]);
    check(
        vec![int(SIZE, 3), checked.clone(), unwrap(1), peek(2)],
        "let stack = Stack::checked(3).unwrap();\nlet _ = stack.peek();\n",
    );
    // Something happens in between.
    check(
        vec![int(SIZE, 3), checked, call(0, &[(0, How::Copy)]), unwrap(1), peek(3)],
        "let checked = Stack::checked(3);\nlet _stack = Stack::new(3);\n\
         let stack2 = checked.unwrap();\nlet _ = stack2.peek();\n",
    );
}

#[test]
fn operators_compare_places_and_drops_are_written() {
    check(
        vec![
            int(SIZE, 0),
            call(0, &[(0, How::Copy)]),
            int(SIZE, 0),
            call(0, &[(2, How::Copy)]),
            call(3, &[(1, How::Ref), (3, How::Ref)]),
            Step::Drop(ValueId(1)),
        ],
        "let stack = Stack::new(0);\nlet stack2 = Stack::new(0);\nstack == stack2;\ndrop(stack);\n",
    );
}

#[test]
fn a_value_compared_with_itself_is_no_slip() {
    check(
        vec![int(SIZE, 0), call(0, &[(0, How::Copy)]), call(3, &[(1, How::Ref), (1, How::Ref)])],
        "let stack = Stack::new(0);\nPartialEq::eq(&stack, &stack);\n",
    );
}

#[test]
fn the_end_of_a_value_without_destructor_is_not_written() {
    check(
        vec![
            int(SIZE, 0),
            call(0, &[(0, How::Copy)]),
            call(2, &[(1, How::Ref)]),
            Step::Drop(ValueId(2)),
            int(INT, 3),
            Step::Forget(ValueId(4)),
        ],
        "let stack = Stack::new(0);\nlet _ = stack.peek();\n",
    );
}

#[test]
fn full_form_is_printed_where_the_short_one_was_rejected() {
    let mut operations = operations();
    operations.operations[2].form.only_full = true;
    let steps = vec![int(SIZE, 0), call(0, &[(0, How::Copy)]), call(2, &[(1, How::Ref)])];
    let printed = body(&operations, &Sequence { steps }, false);
    let expected = "let stack = lib::stack::Stack::new(0);\nlet _ = <lib::stack::Stack>::peek(&stack);\n";
    assert_eq!(printed.body, expected);
}
