//! Repetitions: what opens is opened again and again, to find recursion without a limit and counters that are too narrow.

use std::collections::BTreeSet;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::piece::Piece;

const UNITS: [&str; 14] = ["(", "[", "{", "<", "<a>", "-", "!", "a", "0", "/", "../", " ", "é", "\n"];
/// So many of them stand first among those that are repeated often.
const USUAL: usize = 7;
/// Deep ones are long, so there are few different ones: whoever keeps every literal can.
const MOST_DEEP: usize = 32;
/// Enough for a parser that recurses at each unit to run out of stack.
const DEEP: usize = 20_000;

#[derive(Clone, Debug)]
pub struct Nested {
    /// What deep strings are made of.
    deep: Vec<Box<str>>,
}

impl Nested {
    pub fn new(pieces: &[Piece]) -> Self {
        let mut units: Vec<&str> = UNITS[..USUAL].to_vec();
        // The beginnings of strings are where their nesting begins.
        for piece in pieces {
            for length in [1, 2, 3] {
                if let Some((end, _)) = piece.text.char_indices().nth(length) {
                    units.push(&piece.text[..end]);
                }
            }
        }
        let mut seen = BTreeSet::new();
        units.retain(|unit| seen.insert(*unit) && !unit.chars().all(char::is_alphanumeric));
        units.truncate(MOST_DEEP);
        Nested { deep: units.into_iter().map(Into::into).collect() }
    }

    pub fn draw(&self, piece: Option<&Piece>, rng: &mut Xoshiro256PlusPlus) -> String {
        let generic = UNITS.choose(rng).unwrap_or(&"(");
        if rng.random_range(0..24u32) == 0 {
            // Half of the time what opens something in most languages.
            let usual = self.deep.len().min(USUAL);
            let units = if rng.random() { &self.deep[..usual] } else { &self.deep[..] };
            return units.choose(rng).map_or_else(String::new, |unit| unit.repeat(DEEP));
        }
        let times = rng.random_range(2..=64);
        match piece {
            Some(piece) if rng.random() => piece.window(4, rng).repeat(times),
            _ => {
                let mut text = generic.repeat(times);
                if let (Some(closing), true) = (closing(generic), rng.random()) {
                    text.extend(std::iter::repeat_n(closing, times));
                }
                text
            }
        }
    }
}

fn closing(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "(" => ")",
        "[" => "]",
        "{" => "}",
        "<" => ">",
        "<a>" => "</a>",
        _ => return None,
    })
}
