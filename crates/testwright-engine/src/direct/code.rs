//! The worker's code of a sequence, read back: entries of the pool are kept as code only.

use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Literal, OpId, Prim, Ty};
use testwright_wire::code;

use super::bank::Bank;

/// One step of some code.
#[derive(Clone, Copy, Debug)]
enum Word<'w> {
    /// With its arguments.
    Call(OpId, &'w [u16]),
    /// Its code, and the words after it: the type's number, then bits.
    Literal(u16, &'w [u16]),
    Drop(u16),
    Forget(u16),
}

/// The steps of `words`, which are code that this tool wrote.
fn steps<'w>(operations: &'w Operations, words: &'w [u16]) -> impl Iterator<Item = Word<'w>> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let (first, after) = rest.split_first()?;
        let length = match *first {
            code::DROP | code::FORGET => 1,
            literal if literal < code::CALL_BASE => literal_words(literal) - 1,
            call => operations.get(op(call)).params.len(),
        };
        let (own, after) = after.split_at(length);
        rest = after;
        Some(match *first {
            code::DROP => Word::Drop(own[0]),
            code::FORGET => Word::Forget(own[0]),
            literal if literal < code::CALL_BASE => Word::Literal(literal, own),
            call => Word::Call(op(call), own),
        })
    })
}

fn op(call: u16) -> OpId {
    OpId(u32::from(call - code::CALL_BASE))
}

/// How many words a literal takes, its code and type among them.
pub fn literal_words(code: u16) -> usize {
    if code == code::WIDE { 10 } else { 6 }
}

/// The operations that are called, in order.
pub fn calls<'w>(operations: &'w Operations, words: &'w [u16]) -> impl Iterator<Item = OpId> + 'w {
    steps(operations, words).filter_map(|step| match step {
        Word::Call(op, _) => Some(op),
        _ => None,
    })
}

/// How many calls into the crate under test there are before the step with this number.
pub fn subject_calls_before(operations: &Operations, words: &[u16], step: u32) -> u32 {
    let is_subject = |step: &Word<'_>| matches!(step, Word::Call(op, _) if operations.get(*op).is_subject());
    let calls = steps(operations, words).take(step as usize).filter(is_subject).count();
    u32::try_from(calls).unwrap_or(u32::MAX)
}

/// Whether a value is forgotten.
pub fn forgets(operations: &Operations, words: &[u16]) -> bool {
    steps(operations, words).any(|step| matches!(step, Word::Forget(_)))
}

/// The operation that the step with this number calls.
pub fn call_at(operations: &Operations, words: &[u16], step: u32) -> Option<OpId> {
    match steps(operations, words).nth(step as usize)? {
        Word::Call(op, _) => Some(op),
        _ => None,
    }
}

/// The sequence that the code stands for.
pub fn decode(operations: &Operations, bank: &Bank, words: &[u16]) -> Sequence {
    let mut sequence = Sequence::default();
    // By number of value: the step that made it, and its type.
    let mut made: Vec<(ValueId, TypeId)> = Vec::new();
    for step in steps(operations, words) {
        let of = |word: u16| made[usize::from(word & code::VALUE)];
        let (step, ty) = match step {
            Word::Drop(value) => (Step::Drop(of(value).0), None),
            Word::Forget(value) => (Step::Forget(of(value).0), None),
            Word::Literal(code, words) => {
                let ty = TypeId(u32::from(words[0]));
                (Step::Literal { ty, value: literal(operations.ty(ty), bank, code, &words[1..]) }, Some(ty))
            }
            Word::Call(op, words) => {
                let operation = operations.get(op);
                let args = operation.params.iter().zip(words).map(|(param, word)| {
                    let (value, ty) = of(*word);
                    Arg { value, how: how(param.take, *word, operations.ty(ty)) }
                });
                (Step::Call { op, args: args.collect() }, Some(operation.result))
            }
        };
        let value = sequence.push(step);
        made.extend(ty.map(|ty| (value, ty)));
    }
    sequence
}

/// How an argument is passed, by its word and its type.
fn how(take: Take, word: u16, ty: &Ty) -> How {
    match take {
        _ if word & code::MOVE != 0 => How::Move,
        Take::Value if matches!(ty, Ty::Ref { mutable: true, .. }) => How::ReborrowMut,
        Take::Value => How::Copy,
        Take::Shared if word & code::DEREF != 0 => How::Reborrow,
        Take::Shared => How::Ref,
        Take::Mut if word & code::DEREF != 0 => How::ReborrowMut,
        Take::Mut => How::RefMut,
    }
}

fn literal(ty: &Ty, bank: &Bank, code: u16, words: &[u16]) -> Literal {
    let bits = words.iter().rev().fold(0u128, |bits, word| (bits << 16) | u128::from(*word));
    #[expect(clippy::cast_possible_truncation, reason = "the halves of 64 bits")]
    let (low, high) = (bits as u32, (bits >> 32) as u32);
    match (code, ty) {
        (code::STR, _) => Literal::Str(String::from_utf8_lossy(bank.bytes((low, high))).into_owned()),
        (code::BYTES, _) => Literal::Bytes(bank.bytes((low, high)).to_vec()),
        (code::WIDE, _) => Literal::Int(bits.cast_signed()),
        (_, Ty::Prim(Prim::Bool)) => Literal::Bool(bits != 0),
        (_, Ty::Prim(Prim::Char)) => Literal::Char(char::from_u32(low).unwrap_or_default()),
        #[expect(clippy::cast_possible_truncation, reason = "there are 64 bits")]
        (_, Ty::Prim(Prim::F32 | Prim::F64)) => Literal::Float(bits as u64),
        #[expect(clippy::cast_possible_truncation, reason = "there are 64 bits")]
        (_, Ty::Prim(Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64 | Prim::Isize)) => {
            Literal::Int(i128::from((bits as u64).cast_signed()))
        }
        _ => Literal::Int(bits.cast_signed()),
    }
}

/// The literal that the words begin with.
pub fn read_literal(operations: &Operations, bank: &Bank, words: &[u16]) -> Literal {
    let ty = operations.ty(TypeId(u32::from(words[1])));
    literal(ty, bank, words[0], &words[2..literal_words(words[0])])
}

/// Appends a literal in code; `None` if the bank has no room for its text.
pub fn write_literal(
    operations: &Operations,
    ty: TypeId,
    value: &Literal,
    bank: &mut Bank,
    words: &mut Vec<u16>,
) -> Option<()> {
    let number = u16::try_from(ty.0).unwrap_or(u16::MAX);
    let placed = |place: Option<(u32, u32)>| {
        place.map(|(offset, length)| u128::from(offset) | (u128::from(length) << 32))
    };
    let (code, bits) = match value {
        Literal::Bool(value) => (code::INT, u128::from(*value)),
        Literal::Char(value) => (code::INT, u128::from(u32::from(*value))),
        Literal::Float(bits) => (code::INT, u128::from(*bits)),
        Literal::Int(value) => match operations.ty(ty) {
            Ty::Prim(Prim::I128 | Prim::U128) => (code::WIDE, value.cast_unsigned()),
            _ => (code::INT, value.cast_unsigned()),
        },
        Literal::Str(text) => (code::STR, placed(bank.place(text.as_bytes()))?),
        Literal::Bytes(bytes) => (code::BYTES, placed(bank.place(bytes))?),
    };
    words.extend_from_slice(&[code, number]);
    for word in 0..literal_words(code) - 2 {
        #[expect(clippy::cast_possible_truncation, reason = "word by word")]
        words.push((bits >> (16 * word)) as u16);
    }
    Some(())
}
