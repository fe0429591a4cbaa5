//! One small change to a string: near enough to get past a parser's first checks, wrong enough to meet its later ones.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::alphabet::{Alphabet, multi_byte};
use super::joined;
use super::piece::Piece;

/// Numbers around the ends of integer types, and one that fits none.
const NUMBERS: [&str; 20] = [
    "0",
    "00",
    "1",
    "9",
    "-1",
    "99",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
];

pub fn mutate(piece: &Piece, alphabet: &Alphabet, rng: &mut Xoshiro256PlusPlus) -> String {
    let text = &*piece.text;
    let (at, old) = piece.any(rng);
    let after = at + old.len_utf8();
    let mut buffer = [0; 4];
    match rng.random_range(0..12u32) {
        0..3 if !piece.digits.is_empty() => {
            let (start, end) = *piece.digits.choose(rng).unwrap_or(&(0, 0));
            let number = NUMBERS.choose(rng).unwrap_or(&"0");
            joined(&[&text[..start], number, &text[end..]])
        }
        3 => {
            let start = piece.digits.choose(rng).map_or(0, |(start, _)| *start);
            joined(&[&text[..start], "-", &text[start..]])
        }
        4 if !piece.separators.is_empty() => {
            let offset = piece.separators.choose(rng).map_or(0, |(_, offset)| *offset);
            joined(&[&text[..=offset], &text[offset..]])
        }
        0 | 5 => joined(&[&text[..at], &text[after..]]),
        1 | 6 => joined(&[&text[..after], &text[at..]]),
        2 | 7 => joined(&[&text[..at], alphabet.any(rng).encode_utf8(&mut buffer), &text[after..]]),
        4 | 8 => joined(&[&text[..at], alphabet.any(rng).encode_utf8(&mut buffer), &text[at..]]),
        9 => joined(&[&text[..at], multi_byte(rng).encode_utf8(&mut buffer), &text[after..]]),
        10 => text[..at].to_owned(),
        _ => text[at..].to_owned(),
    }
}
