//! A sequence in the worker's code.

use testwright_execute::{Batch, Worker};
use testwright_model::operation::{Operations, Take};
use testwright_model::sequence::{How, Sequence, Step, ValueId};
use testwright_model::{Literal, Prim, Ty};
use testwright_wire::code::{self, Encoder};

/// Appends the sequence to the batch; `false` if it cannot be expressed (the literal area is full, or a closure is in it).
pub fn append(operations: &Operations, sequence: &Sequence, worker: &mut Worker, batch: &mut Batch) -> bool {
    append_observing(operations, sequence, &[], worker, batch)
}

/// The same, with values that are observed: each behind a step.
pub fn append_observing(
    operations: &Operations,
    sequence: &Sequence,
    observed: &[(usize, ValueId)],
    worker: &mut Worker,
    batch: &mut Batch,
) -> bool {
    // Literals first: they need the worker, the encoder needs the batch.
    let mut places = Vec::new();
    for step in &sequence.steps {
        match step {
            Step::Literal { value: Literal::Str(text), .. } => places.push(worker.literal(text.as_bytes())),
            Step::Literal { value: Literal::Bytes(bytes), .. } => places.push(worker.literal(bytes)),
            Step::Closure(_) => return false,
            _ => {}
        }
    }
    let Some(places) = places.into_iter().collect::<Option<Vec<_>>>() else { return false };
    let mut places = places.into_iter();
    let mut numbers = Vec::with_capacity(sequence.len());
    let mut next = 0u16;
    let mut encoder = batch.sequence();
    for (index, step) in sequence.steps.iter().enumerate() {
        numbers.push(next);
        match step {
            Step::Call { op, args } => {
                let operation = operations.get(*op);
                encoder.call(u16::try_from(op.0).unwrap_or(u16::MAX));
                for (param, arg) in operation.params.iter().zip(args) {
                    let bits = match (arg.how, param.take) {
                        (How::Move, _) => code::MOVE,
                        (How::Reborrow | How::ReborrowMut, Take::Shared | Take::Mut) => code::DEREF,
                        _ => 0,
                    };
                    encoder.argument(numbers[arg.value.0 as usize], bits);
                }
            }
            Step::Literal { ty, value } => {
                literal(
                    &mut encoder,
                    operations.ty(*ty),
                    u16::try_from(ty.0).unwrap_or(u16::MAX),
                    value,
                    &mut places,
                );
            }
            Step::Drop(value) => encoder.end_of(code::DROP, numbers[value.0 as usize]),
            Step::Forget(value) => encoder.end_of(code::FORGET, numbers[value.0 as usize]),
            Step::Closure(_) => {}
        }
        if step.makes_value() {
            next += 1;
        }
        for (_, value) in observed.iter().filter(|(behind, _)| *behind == index) {
            encoder.end_of(code::OBSERVE, numbers[value.0 as usize]);
        }
    }
    encoder.finish();
    true
}

fn literal(
    encoder: &mut Encoder<'_>,
    ty: &Ty,
    number: u16,
    value: &Literal,
    places: &mut impl Iterator<Item = (u32, u32)>,
) {
    match value {
        Literal::Bool(value) => encoder.int(number, u64::from(*value)),
        Literal::Char(value) => encoder.int(number, u64::from(u32::from(*value))),
        Literal::Int(value) => match ty {
            Ty::Prim(Prim::I128 | Prim::U128) => encoder.wide(number, value.cast_unsigned()),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the low 64 bits are the two's complement that the type holds"
            )]
            _ => encoder.int(number, value.cast_unsigned() as u64),
        },
        Literal::Float(bits) => encoder.int(number, *bits),
        Literal::Str(_) | Literal::Bytes(_) => {
            let code = if matches!(value, Literal::Str(_)) { code::STR } else { code::BYTES };
            if let Some((offset, length)) = places.next() {
                encoder.literal(code, number, offset, length);
            }
        }
    }
}
