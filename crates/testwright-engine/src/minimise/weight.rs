//! How much a reader has to read: of two sequences that do the same, the lighter is kept.

use testwright_model::operation::Operations;
use testwright_model::sequence::{Literal, Sequence, Step};

/// The rank of calls that are not known to be plain.
pub const SOME: u8 = 2;

/// Compared part by part: calls, those into the crate twice; steps; calls that are not plain; literals; how far back arguments are.
pub type Weight = (usize, usize, usize, u128, usize);

pub fn weight(operations: &Operations, sequence: &Sequence) -> Weight {
    let (mut calls, mut plain, mut literals, mut back) = (0, 0, 0u128, 0);
    for step in &sequence.steps {
        match step {
            Step::Call { op, args } => {
                let operation = operations.get(*op);
                calls += if operation.is_subject() { 2 } else { 1 };
                plain += usize::from(if args.is_empty() { rank(&operation.path) } else { SOME });
                back += args.iter().map(|arg| arg.value.0 as usize).sum::<usize>();
            }
            Step::Literal { value, .. } => literals = literals.saturating_add(of_literal(value)),
            _ => {}
        }
    }
    (calls, sequence.len(), plain, literals, back)
}

/// How plain a call without arguments is, by its name.
pub fn rank(path: &str) -> u8 {
    match path.rsplit("::").next() {
        // The second is `()`, which also comes from calls that do something.
        Some("new" | "(…)") => 0,
        Some("default") => 1,
        _ => SOME,
    }
}

/// The plainest is 0. A character or byte more weighs more than any other character or byte.
pub fn of_literal(literal: &Literal) -> u128 {
    match literal {
        Literal::Bool(value) => u128::from(*value),
        Literal::Char(value) => of_char(*value),
        // Of two equally far from zero, the one without a sign.
        Literal::Int(value) => value.unsigned_abs().saturating_mul(2) + u128::from(*value < 0),
        // Its type is not known here; both kinds have all bits unset in `0.0`, and few set in what is written in few digits.
        Literal::Float(bits) => of_float(*bits),
        Literal::Str(text) => text.chars().map(|c| 10 + of_char(c)).sum(),
        Literal::Bytes(bytes) => bytes.iter().map(|byte| 10 + of_byte(*byte)).sum(),
    }
}

fn of_char(c: char) -> u128 {
    match c {
        'a' => 0,
        '0' => 1,
        _ if c.is_ascii_alphanumeric() => 2,
        ' '..='~' => 3,
        _ if c.is_ascii() => 4,
        _ => 5,
    }
}

fn of_byte(byte: u8) -> u128 {
    match byte {
        0 => 0,
        1 => 1,
        _ => 2,
    }
}

fn of_float(bits: u64) -> u128 {
    const ONES: [u64; 2] = [0x3f80_0000, 0x3ff0_0000_0000_0000];
    match bits {
        0 => 0,
        _ if ONES.contains(&bits) => 1,
        _ => 2 + u128::from(bits.count_ones()),
    }
}
