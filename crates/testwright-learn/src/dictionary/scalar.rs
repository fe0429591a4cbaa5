//! Floats and characters.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::Prim;

use super::decode::Int;
use super::favoured;

/// Every length in UTF-8, a mark without a letter, and letters whose other case is longer.
pub const MULTI_BYTE: [char; 10] =
    ['é', 'ß', 'İ', '日', '\u{2028}', '😀', '\u{301}', '\u{feff}', '\u{80}', '\u{10ffff}'];

const FLOATS: [f64; 26] = [
    0.0,
    0.0,
    1.0,
    1.0,
    2.0,
    -1.0,
    0.5,
    -0.5,
    3.25,
    0.1,
    10.0,
    100.0,
    -0.0,
    1e-10,
    1e10,
    1e300,
    9_007_199_254_740_993.0,
    16_777_217.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    f64::MAX,
    f64::MIN,
    5e-324,
];

#[derive(Clone, Debug)]
pub struct Floats {
    harvested: Vec<f64>,
}

impl Floats {
    pub fn new(floats: &[u64], ints: &[Int]) -> Self {
        let mut harvested: Vec<f64> = floats.iter().map(|bits| f64::from_bits(*bits)).collect();
        harvested.extend(ints.iter().filter(|int| !int.is_wide()).take(64).map(|int| int.value as f64));
        Floats { harvested }
    }

    /// The bits of a number of this type.
    pub fn draw(&self, prim: Prim, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let value = match rng.random_range(0..10u32) {
            0..3 if !self.harvested.is_empty() => favoured(&self.harvested, rng),
            0..3 => f64::from(rng.random_range(-20..20)),
            3 => f64::from(rng.random_range(0..1000)) / 8.0,
            _ => *FLOATS.choose(rng).unwrap_or(&0.0),
        };
        #[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is wanted")]
        let bits = if prim == Prim::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
        bits
    }
}

#[derive(Clone, Debug)]
pub struct Chars {
    harvested: Vec<char>,
}

impl Chars {
    pub fn new(harvested: Vec<char>) -> Self {
        Chars { harvested }
    }

    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> char {
        match rng.random_range(0..20u32) {
            0..6 if !self.harvested.is_empty() => favoured(&self.harvested, rng),
            0..8 => char::from(rng.random_range(b'a'..=b'z')),
            8..10 => char::from(rng.random_range(b'A'..=b'Z')),
            10..13 => char::from(rng.random_range(b'0'..=b'9')),
            13..15 => char::from(rng.random_range(b' '..=b'~')),
            15 => *[' ', '\t', '\n', '\r', '\u{a0}', '\u{3000}'].choose(rng).unwrap_or(&' '),
            16 => *['\0', '\x7f', '\x1b'].choose(rng).unwrap_or(&'\0'),
            _ => *MULTI_BYTE.choose(rng).unwrap_or(&'é'),
        }
    }
}
