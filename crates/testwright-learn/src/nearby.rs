//! Literals next to a given one: where two values are nearly the same, comparisons and laws go wrong.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::{Literal, Prim, Ty};

/// Texts and bytes that are changed do not grow past this.
const LONGEST: usize = 64;

/// A literal of type `ty` that differs from this one in one small thing; `None` if there is no telling.
pub fn nearby(literal: &Literal, ty: &Ty, rng: &mut Xoshiro256PlusPlus) -> Option<Literal> {
    Some(match literal {
        Literal::Bool(value) => Literal::Bool(!value),
        Literal::Char(value) => Literal::Char(near_char(*value, rng)),
        Literal::Int(value) => Literal::Int(near_int(*value, ty, rng)?),
        Literal::Float(_) => return None,
        Literal::Str(text) => Literal::Str(near_text(text, rng)),
        Literal::Bytes(bytes) => Literal::Bytes(near_bytes(bytes, rng)),
    })
}

/// What lies on the other side of a number, as far away as the one next to it.
pub fn opposite(of: &Literal, near: &Literal, ty: &Ty) -> Option<Literal> {
    let (Literal::Int(of), Literal::Int(near), Ty::Prim(prim)) = (of, near, ty) else { return None };
    Some(Literal::Int(wrapped(of.wrapping_mul(2).wrapping_sub(*near), *prim)))
}

/// One more or less, the other sign, half of the type's range away, doubled or halved.
fn near_int(value: i128, ty: &Ty, rng: &mut Xoshiro256PlusPlus) -> Option<i128> {
    let Ty::Prim(prim) = ty else { return None };
    let half = 1i128.checked_shl(prim.bits() - 1)?;
    let near = match rng.random_range(0..6) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        2 => value.wrapping_neg(),
        3 => value.wrapping_add(half),
        4 => value.wrapping_mul(2),
        _ => value / 2,
    };
    Some(wrapped(near, *prim))
}

/// The number as the type has it, going round where it does not fit.
fn wrapped(value: i128, prim: Prim) -> i128 {
    let unused = 128 - prim.bits();
    if prim.is_signed() {
        value << unused >> unused
    } else {
        ((value << unused).cast_unsigned() >> unused).cast_signed()
    }
}

fn near_char(value: char, rng: &mut Xoshiro256PlusPlus) -> char {
    let next = char::from_u32(u32::from(value) + 1).unwrap_or('a');
    match rng.random_range(0..2) {
        0 if value.is_ascii_alphabetic() => other_case(value),
        _ => next,
    }
}

fn other_case(value: char) -> char {
    if value.is_ascii_lowercase() { value.to_ascii_uppercase() } else { value.to_ascii_lowercase() }
}

/// A letter in the other case, one character more, fewer or twice, an insignificant zero or space.
fn near_text(text: &str, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let letters: Vec<usize> = (0..chars.len()).filter(|at| chars[*at].is_ascii_alphabetic()).collect();
    let at = if chars.is_empty() { 0 } else { rng.random_range(0..chars.len()) };
    match rng.random_range(0..6) {
        0 | 1 if !letters.is_empty() => {
            let letter = *letters.choose(rng).expect("there are some");
            chars[letter] = other_case(chars[letter]);
        }
        2 if !chars.is_empty() => {
            chars.remove(at);
        }
        3 if !chars.is_empty() && chars.len() < LONGEST => chars.insert(at, chars[at]),
        4 if chars.len() < LONGEST => chars.push(*['0', ' ', '.', '/'].choose(rng).expect("there are some")),
        _ if chars.len() < LONGEST => {
            chars.insert(0, *['0', ' ', '+', '-'].choose(rng).expect("there are some"));
        }
        _ => {
            chars.pop();
        }
    }
    chars.into_iter().collect()
}

fn near_bytes(bytes: &[u8], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = if bytes.is_empty() { 0 } else { rng.random_range(0..bytes.len()) };
    match rng.random_range(0..3) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << rng.random_range(0..8),
        1 if bytes.len() < LONGEST => bytes.insert(at, 0),
        _ => {
            bytes.pop();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::SeedableRng;

    use super::*;

    fn some_near(literal: &Literal, ty: &Ty) -> HashSet<String> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        (0..200).filter_map(|_| nearby(literal, ty, &mut rng)).map(|near| format!("{near:?}")).collect()
    }

    #[test]
    fn the_other_side_of_a_number_is_as_far_away() {
        let opposite = |of, near| opposite(&Literal::Int(of), &Literal::Int(near), &Ty::Prim(Prim::U8));
        assert_eq!(opposite(5, 6), Some(Literal::Int(4)));
        assert_eq!(opposite(0, 1), Some(Literal::Int(255)));
    }

    #[test]
    fn numbers_stay_in_their_type() {
        let near = some_near(&Literal::Int(255), &Ty::Prim(Prim::U8));
        let expected = ["Int(0)", "Int(254)", "Int(1)", "Int(127)"].map(str::to_owned);
        assert_eq!(near, HashSet::from(expected));
        let near = some_near(&Literal::Int(127), &Ty::Prim(Prim::I8));
        assert!(near.contains("Int(-128)") && near.contains("Int(-127)"), "{near:?}");
    }

    #[test]
    fn texts_change_in_case_and_length() {
        let near = some_near(&Literal::Str("ab".to_owned()), &Ty::Str);
        for expected in ["Ab", "aB", "a", "b", "aab", "ab0", " ab"] {
            assert!(near.contains(&format!("Str({expected:?})")), "{expected} not in {near:?}");
        }
        assert!(!some_near(&Literal::Str(String::new()), &Ty::Str).is_empty());
        assert!(!some_near(&Literal::Bytes(Vec::new()), &Ty::Str).is_empty());
    }
}
