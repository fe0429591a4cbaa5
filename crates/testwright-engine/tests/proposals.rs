//! Drafts, pool entries and variants: code that is joined, varied and read back means what it should.

use std::collections::HashSet;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_engine::direct::bank::Bank;
use testwright_engine::direct::choice::Choice;
use testwright_engine::direct::draft::Draft;
use testwright_engine::direct::{Maker, Means, decode, subject_calls_before};
use testwright_model::operation::{Abilities, Flow, Form, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Ledger, Literal, OpId, Operation, Prim, Ty};

const NEW: OpId = OpId(0);
const PUSH: OpId = OpId(1);
const NAME: OpId = OpId(2);
const PEEK: OpId = OpId(3);

/// Path, parameters, result, flow.
type Row<'a> = (&'a str, &'a [(Take, TypeId)], TypeId, Flow);

/// A stack of `i64` with a name, whose `peek` borrows it.
struct World {
    operations: Operations,
    number: TypeId,
    text: TypeId,
}

fn world() -> World {
    let mut operations = Operations::default();
    let number = operations.type_id(&Ty::Prim(Prim::I64));
    let text = operations.type_id(&Ty::reference(Ty::Str));
    let stack = operations.type_id(&Ty::adt("lib::Stack", Vec::new()));
    let peek = operations.type_id(&Ty::adt("lib::Peek", Vec::new()));
    let unit = operations.type_id(&Ty::unit());
    for (ty, copy) in [(number, true), (text, true), (stack, false), (peek, false)] {
        operations.abilities[ty.0 as usize] = Abilities { copy, needs_drop: !copy, ..Abilities::default() };
    }
    let borrowing = Flow { outer: vec![0], ..Flow::default() };
    let list: [Row<'_>; 4] = [
        ("Stack::new", &[], stack, Flow::default()),
        ("Stack::push", &[(Take::Mut, stack), (Take::Value, number)], unit, Flow::default()),
        ("Stack::name", &[(Take::Mut, stack), (Take::Value, text)], unit, Flow::default()),
        ("Stack::peek", &[(Take::Mut, stack)], peek, borrowing),
    ];
    for (path, params, result, flow) in list {
        let param = |(take, ty): &(Take, TypeId)| Param {
            name: "arg".to_owned(),
            take: *take,
            ty: *ty,
            needs_static: false,
            open: false,
        };
        operations.operations.push(Operation {
            path: path.to_owned(),
            origin: Origin::Subject(0),
            params: params.iter().map(param).collect(),
            result,
            flow,
            form: Form::default(),
            panics: None,
            grounding: String::new(),
        });
    }
    World { operations, number, text }
}

fn arg(value: ValueId, how: How) -> Arg {
    Arg { value, how }
}

/// A stack with a number, a name and a peek that has to go before the last push.
fn stack(world: &World, bank: &mut Bank) -> Sequence {
    let mut draft = Draft::new(&world.operations);
    fill(world, &mut draft, bank);
    draft.finished(bank)
}

fn fill(world: &World, draft: &mut Draft<'_>, bank: &mut Bank) {
    let stack = draft.call(NEW, &[], 0, 0).expect("legal");
    let number = draft.literal(world.number, &Literal::Int(-5), Some((PUSH, 1)), bank).expect("room");
    let on = [arg(stack, How::RefMut), arg(number, How::Copy)];
    draft.call(PUSH, &on, 0, 0).expect("legal");
    let name = draft.literal(world.text, &Literal::Str("blue".to_owned()), None, bank).expect("room");
    draft.call(NAME, &[arg(stack, How::RefMut), arg(name, How::Copy)], 0, 0).expect("legal");
    draft.call(PEEK, &[arg(stack, How::RefMut)], 0, 0).expect("legal");
    draft.call(PUSH, &on, 0, 0).expect("legal after a drop");
}

#[test]
fn code_is_read_back_as_the_steps_that_were_taken() {
    let world = world();
    let steps = stack(&world, &mut Bank::default()).steps;
    let call = |op, args: &[(u32, How)]| Step::Call {
        op,
        args: args.iter().map(|(value, how)| arg(ValueId(*value), *how)).collect(),
    };
    assert_eq!(
        steps,
        [
            call(NEW, &[]),
            Step::Literal { ty: world.number, value: Literal::Int(-5) },
            call(PUSH, &[(0, How::RefMut), (1, How::Copy)]),
            Step::Literal { ty: world.text, value: Literal::Str("blue".to_owned()) },
            call(NAME, &[(0, How::RefMut), (3, How::Copy)]),
            call(PEEK, &[(0, How::RefMut)]),
            Step::Drop(ValueId(5)),
            call(PUSH, &[(0, How::RefMut), (1, How::Copy)]),
        ]
    );
}

#[test]
fn a_joined_sequence_has_its_own_numbers() {
    let world = world();
    let mut bank = Bank::default();
    let mut draft = Draft::new(&world.operations);
    fill(&world, &mut draft, &mut bank);
    let alone = draft.finished(&bank);
    let entry = draft.propose().entry();
    draft.clear(Vec::new());
    let (first, second) = (draft.absorb(&entry), draft.absorb(&entry));
    assert_eq!((first, second), (0, 8));
    // The second stack is pushed to, with the first one's number.
    let on = [arg(ValueId(second), How::RefMut), arg(ValueId(1), How::Copy)];
    draft.call(PUSH, &on, 0, 0).expect("legal");
    let joined = draft.finished(&bank);
    assert_eq!(joined.steps[..8], alone.steps[..]);
    assert_eq!(joined.steps[16], Step::Call { op: PUSH, args: on.to_vec() });
    assert!(Ledger::replay(&world.operations, &joined.steps).is_ok());
    let words = draft.propose().words;
    assert_eq!(decode(&world.operations, &bank, &words), joined);
    assert_eq!(subject_calls_before(&world.operations, &words, 3), 2);
}

#[test]
fn values_that_were_written_out_are_known_by_what_they_are() {
    let world = world();
    let mut bank = Bank::default();
    let mut draft = Draft::new(&world.operations);
    fill(&world, &mut draft, &mut bank);
    let entry = draft.propose().entry();
    draft.clear(Vec::new());
    draft.absorb(&entry);
    // A drop in the sequence is a step that makes no value.
    let second = draft.absorb(&entry);
    let own = draft.literal(world.number, &Literal::Int(7), None, &mut bank).expect("room");
    let known = |value| draft.literal_of(value, &bank);
    for first in [0, second] {
        assert_eq!(known(ValueId(first)), None, "a call made it");
        assert_eq!(known(ValueId(first + 1)), Some(Literal::Int(-5)));
        assert_eq!(known(ValueId(first + 3)), Some(Literal::Str("blue".to_owned())));
        assert_eq!(known(ValueId(first + 5)), None, "it was dropped");
    }
    assert_eq!(known(own), Some(Literal::Int(7)));
}

#[test]
fn a_variant_differs_in_literals_alone() {
    let world = world();
    let usable: HashSet<OpId> = world.operations.ids().collect();
    let maker = Maker::new(&world.operations, &usable);
    let (mut rng, mut bank) = (Xoshiro256PlusPlus::seed_from_u64(3), Bank::default());
    let mut draft = Draft::new(&world.operations);
    fill(&world, &mut draft, &mut bank);
    let proposal = draft.propose();
    let model = proposal.sequence(&world.operations, &bank);
    let choice = Choice::new(world.operations.operations.len());
    let mut different = 0;
    for _ in 0..50 {
        let mut means = Means {
            rng: &mut rng,
            bank: &mut bank,
            choice: &choice,
            pool: None,
            judging: false,
            spare: &mut Vec::new(),
            buffers: &mut Vec::new(),
        };
        let variant = maker.vary(&proposal, &mut means).expect("it has literals");
        assert!(variant.is_variant());
        let varied = variant.sequence(&world.operations, &bank);
        different += usize::from(varied != model);
        for (step, of_model) in varied.steps.iter().zip(&model.steps) {
            match (step, of_model) {
                (Step::Literal { ty, .. }, Step::Literal { ty: of_model, .. }) => assert_eq!(ty, of_model),
                (step, of_model) => assert_eq!(step, of_model),
            }
        }
    }
    assert!(different > 30, "only {different} of 50 differ");
}
