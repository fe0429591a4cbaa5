//! Plainer literals in the place of one: smaller numbers, shorter texts, characters and bytes that everybody reads.

use std::collections::HashSet;

use testwright_model::sequence::{Literal, Sequence, Step};
use testwright_model::{Prim, Ty};

use super::weight::of_literal;

/// Literals of the type that a reader would rather see, the plainest first. None of them leads back.
pub fn plainer(ty: &Ty, literal: &Literal) -> Vec<Literal> {
    let mut all: Vec<Literal> = match literal {
        Literal::Bool(_) => vec![Literal::Bool(false)],
        Literal::Char(_) => ['a', '0', ' '].map(Literal::Char).into(),
        Literal::Int(value) => {
            smaller(*value).into_iter().filter(|value| holds(ty, *value)).map(Literal::Int).collect()
        }
        Literal::Float(bits) => rounder(ty, *bits).into_iter().map(Literal::Float).collect(),
        Literal::Str(text) => {
            let chars: Vec<char> = text.chars().collect();
            let texts = shorter(&chars).into_iter().chain(with_plain(&chars, &['a', '0']));
            texts.map(|chars| Literal::Str(chars.into_iter().collect())).collect()
        }
        Literal::Bytes(bytes) => {
            let all = shorter(bytes).into_iter().chain(with_plain(bytes, &[0, 1]));
            all.map(Literal::Bytes).collect()
        }
    };
    let weight = of_literal(literal);
    let mut known = HashSet::new();
    all.retain(|other| of_literal(other) < weight && known.insert(other.clone()));
    all.sort_by_cached_key(of_literal);
    all
}

/// The sequence with half of each large number, text and byte string.
pub fn halved(sequence: &Sequence) -> Sequence {
    const LARGE: usize = 16;
    let mut halved = sequence.clone();
    for step in &mut halved.steps {
        let Step::Literal { value, .. } = step else { continue };
        match value {
            Literal::Int(value) if value.unsigned_abs() >= LARGE as u128 => *value /= 2,
            Literal::Str(text) if text.len() >= LARGE => {
                *text = text.chars().take(text.chars().count() / 2).collect();
            }
            Literal::Bytes(bytes) if bytes.len() >= LARGE => bytes.truncate(bytes.len() / 2),
            _ => {}
        }
    }
    halved
}

/// Numbers nearer to zero; the least one that does it is never more than some rounds away.
fn smaller(value: i128) -> Vec<i128> {
    let halves = (1..128).map(|shift| value / (1i128 << shift)).take_while(|part| *part != 0);
    let parts = [32, 16, 8, 4, 2, 1].map(|shift| value >> shift);
    let mut all: Vec<i128> = [0, 1, 2].into_iter().chain(parts).collect();
    all.extend(halves.map(|part| value - part));
    all.extend(value.checked_neg());
    all
}

/// Whether the type has the number: in the worker's code its lowest bits are another one.
fn holds(ty: &Ty, value: i128) -> bool {
    match ty {
        Ty::Prim(prim) if prim.bits() < 128 => {
            let least = if prim.is_signed() { i128::MIN >> (128 - prim.bits()) } else { 0 };
            value >= least && ty.largest().is_none_or(|most| value <= most)
        }
        _ => true,
    }
}

/// Zero, one, and without a fraction.
fn rounder(ty: &Ty, bits: u64) -> Vec<u64> {
    if let Ty::Prim(Prim::F32) = ty {
        let value = f32::from_bits(u32::try_from(bits).unwrap_or(0));
        return [0.0, 1.0, value.trunc(), value.abs(), 0.5]
            .map(|value| u64::from(f32::to_bits(value)))
            .into();
    }
    let value = f64::from_bits(bits);
    [0.0, 1.0, value.trunc(), value.abs(), 0.5].map(f64::to_bits).into()
}

/// Parts that are left out of a text, at most, beside halves and quarters.
const PARTS: usize = 24;

/// Nothing, then without parts: halves, quarters, down to single items.
fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    if items.is_empty() {
        return all;
    }
    all.push(Vec::new());
    let mut size = items.len() / 2;
    while size > 0 {
        let starts: Vec<usize> = (0..items.len()).step_by(size).collect();
        // Of a long text, only its large parts and its ends: the next round has a shorter one.
        if starts.len() <= PARTS {
            all.extend(starts.into_iter().map(|start| {
                let end = (start + size).min(items.len());
                [&items[..start], &items[end..]].concat()
            }));
        } else {
            all.extend([items[size..].to_vec(), items[..items.len() - size].to_vec()]);
        }
        size /= 2;
    }
    all
}

/// With plain items in the place of all, and of single ones.
fn with_plain<T: Copy + PartialEq>(items: &[T], plain: &[T]) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    for plain in plain {
        all.push(vec![*plain; items.len()]);
        for index in (0..items.len()).take(PARTS).filter(|index| items[*index] != *plain) {
            let mut other = items.to_vec();
            other[index] = *plain;
            all.push(other);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use testwright_model::operation::TypeId;

    use super::*;

    #[test]
    fn only_what_is_large_is_halved() {
        let of = |value: Literal| Sequence { steps: vec![Step::Literal { ty: TypeId(0), value }] };
        assert_eq!(halved(&of(Literal::Int(-1000))), of(Literal::Int(-500)));
        assert_eq!(halved(&of(Literal::Int(9))), of(Literal::Int(9)));
        let texts = ["ä".repeat(20), "ä".repeat(10)].map(Literal::Str).map(of);
        assert_eq!(halved(&texts[0]), texts[1]);
        assert_eq!(halved(&of(Literal::Bytes(vec![7; 17]))), of(Literal::Bytes(vec![7; 8])));
    }

    /// The literal that is left when the plainest that passes is taken again and again, and in how many rounds.
    fn settle(ty: &Ty, from: Literal, passes: impl Fn(&Literal) -> bool) -> (Literal, usize) {
        let (mut best, mut rounds) = (from, 0);
        while let Some(next) = plainer(ty, &best).into_iter().find(&passes) {
            best = next;
            rounds += 1;
        }
        (best, rounds)
    }

    #[test]
    fn numbers_come_down_to_the_least_one_in_few_rounds() {
        let ty = Ty::Prim(Prim::I64);
        let above = |least: i128| move |literal: &Literal| matches!(literal, Literal::Int(v) if *v >= least);
        for least in [0, 1, 37, 1000, 123_456_789] {
            let (found, rounds) = settle(&ty, Literal::Int(i128::from(i64::MAX)), above(least));
            assert_eq!(found, Literal::Int(least));
            assert!(rounds < 30, "{rounds} for {least}");
        }
        let negative = |literal: &Literal| matches!(literal, Literal::Int(value) if *value <= -300);
        assert_eq!(settle(&ty, Literal::Int(-5000), negative).0, Literal::Int(-300));
        assert_eq!(settle(&ty, Literal::Int(-7), |l| l.clone() != Literal::Int(0)).0, Literal::Int(1));
    }

    #[test]
    fn the_least_number_of_a_type_stays_as_it_is() {
        for (prim, least) in [(Prim::I8, i128::from(i8::MIN)), (Prim::I64, i128::from(i64::MIN))] {
            let ty = Ty::Prim(prim);
            assert!(plainer(&ty, &Literal::Int(least)).iter().all(|other| *other != Literal::Int(-least)));
            let (settled, _) = settle(&ty, Literal::Int(least), |value| *value == Literal::Int(least));
            assert_eq!(settled, Literal::Int(least));
        }
        let fails_below = |value: &Literal| matches!(value, Literal::Int(value) if *value < -5);
        assert_eq!(settle(&Ty::Prim(Prim::I8), Literal::Int(-128), fails_below).0, Literal::Int(-6));
    }

    #[test]
    fn texts_keep_what_is_needed_and_the_rest_is_plain() {
        let ty = Ty::Str;
        let text = |text: &str| Literal::Str(text.to_owned());
        let has = |needle: &'static str| move |literal: &Literal| matches!(literal, Literal::Str(text) if text.contains(needle));
        assert_eq!(settle(&ty, text("a long ñ text with a needle: é!"), has("é")).0, text("é"));
        let five = |literal: &Literal| matches!(literal, Literal::Str(text) if text.chars().count() >= 3);
        assert_eq!(settle(&ty, text("Zürich?"), five).0, text("aaa"));
        let bytes = |literal: &Literal| matches!(literal, Literal::Bytes(bytes) if bytes.get(3) == Some(&9));
        let found = settle(&ty, Literal::Bytes(vec![7, 8, 200, 9, 9, 9, 14, 3]), bytes).0;
        assert_eq!(found, Literal::Bytes(vec![0, 0, 0, 9]));
    }

    #[test]
    fn flags_characters_and_floats_are_made_plain_too() {
        let any = |_: &Literal| true;
        let none = Literal::Int(0);
        assert_eq!(settle(&Ty::Prim(Prim::Bool), Literal::Bool(true), any).0, Literal::Bool(false));
        assert_eq!(settle(&Ty::Prim(Prim::Char), Literal::Char('\u{301}'), any).0, Literal::Char('a'));
        let float = |value: f64| Literal::Float(value.to_bits());
        let f64 = Ty::Prim(Prim::F64);
        assert_eq!(settle(&f64, float(-17.3), any).0, float(0.0));
        let large = |l: &Literal| matches!(l, Literal::Float(bits) if f64::from_bits(*bits) > 2.0);
        assert_eq!(settle(&f64, float(3.7), large).0, float(3.0));
        let half = Literal::Float(u64::from(0.7_f32.to_bits()));
        let small = |l: &Literal| matches!(l, Literal::Float(bits) if *bits != 0 && *bits < 0x3f80_0000);
        assert_eq!(settle(&Ty::Prim(Prim::F32), half, small).0, Literal::Float(u64::from(0.5_f32.to_bits())));
        assert!(plainer(&f64, &none).is_empty());
    }
}
