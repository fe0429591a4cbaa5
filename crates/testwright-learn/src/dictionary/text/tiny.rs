//! Very short strings from the characters of harvested ones: what is left of a language when its words are taken out.
//!
//! `{#}` and `m://` are valid beginnings of everything and complete examples of nothing; parsers that cut at fixed distances meet
//! their mistakes here.

use rand::{Rng, RngCore};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::alphabet::Alphabet;
use super::joined;
use super::piece::{Piece, SEPARATORS};

const MOST: usize = 6;
/// Characters of a skeleton.
const MOST_BONES: usize = 12;

pub fn tiny(piece: &Piece, alphabet: &Alphabet, rng: &mut Xoshiro256PlusPlus) -> String {
    match rng.random_range(0..10u32) {
        0..2 => piece.window(MOST, rng).to_owned(),
        2..5 => of_piece(piece, rng),
        5..7 => of_alphabet(alphabet, rng),
        7 => {
            let (first, second) = (piece.window(3, rng), piece.window(3, rng));
            joined(&[first, second])
        }
        _ => skeleton(piece, rng),
    }
}

/// Characters of one string, its separators half of the time.
fn of_piece(piece: &Piece, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut text = String::with_capacity(MOST * 4);
    for _ in 0..rng.random_range(1..=MOST) {
        if !piece.separators.is_empty() && rng.random() {
            let (number, _) = piece.separators[rng.random_range(0..piece.separators.len())];
            text.push(char::from(SEPARATORS[number]));
        } else {
            text.push(piece.any(rng).1);
        }
    }
    text
}

/// Characters of all strings.
pub fn of_alphabet(alphabet: &Alphabet, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut text = String::with_capacity(MOST * 4);
    for _ in 0..rng.random_range(1..=MOST) {
        text.push(alphabet.any(rng));
    }
    text
}

/// The string's marks in their order with words of one letter or none between them; some marks are missing.
fn skeleton(piece: &Piece, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut text = String::with_capacity(MOST_BONES * 4);
    let start = if rng.random() { 0 } else { piece.any(rng).0 };
    let mut chances = rng.next_u64();
    let mut in_word = false;
    let mut bones = 0;
    for c in piece.text[start..].chars() {
        let word = c.is_alphanumeric();
        if word && in_word {
            continue;
        }
        in_word = word;
        let keep = if word { chances & 1 == 0 } else { chances & 3 != 0 };
        chances = chances.rotate_right(5);
        if keep {
            text.push(c);
            bones += 1;
            if bones == MOST_BONES {
                break;
            }
        }
    }
    text
}
