//! The characters of a package's strings, marks apart from letters: marks are few and steer a parser.

use std::collections::BTreeSet;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::scalar::MULTI_BYTE;
use super::piece::SEPARATORS;

#[derive(Clone, Debug)]
pub struct Alphabet {
    marks: Vec<char>,
    letters: Vec<char>,
}

impl Alphabet {
    /// Where nothing was seen, the usual ones.
    pub fn new(chars: impl Iterator<Item = char>) -> Self {
        let all: BTreeSet<char> = chars.collect();
        let (mut letters, mut marks): (Vec<char>, Vec<char>) =
            all.into_iter().partition(|c| c.is_alphanumeric());
        if marks.is_empty() {
            marks = SEPARATORS.iter().map(|byte| char::from(*byte)).collect();
        }
        if letters.is_empty() {
            letters = vec!['a', 'b', 'x', '0', '1'];
        }
        Alphabet { marks, letters }
    }

    pub fn punctuation(&self, rng: &mut Xoshiro256PlusPlus) -> char {
        *self.marks.choose(rng).unwrap_or(&' ')
    }

    pub fn any(&self, rng: &mut Xoshiro256PlusPlus) -> char {
        match rng.random_range(0..20u32) {
            0..10 => self.punctuation(rng),
            10..16 => *self.letters.choose(rng).unwrap_or(&'a'),
            16..19 => *['0', '1', '9'].choose(rng).unwrap_or(&'0'),
            _ => multi_byte(rng),
        }
    }
}

pub fn multi_byte(rng: &mut Xoshiro256PlusPlus) -> char {
    *MULTI_BYTE.choose(rng).unwrap_or(&'é')
}
