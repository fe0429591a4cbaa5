//! Strings: harvested ones whole, changed, joined and in pieces, beside generic ones.

mod alphabet;
mod mutate;
mod nested;
mod piece;
mod tiny;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::favoured_index;
use super::harvest::MOST_LENGTH;
use super::ring::Ring;
use alphabet::Alphabet;
use nested::Nested;
use piece::{Piece, SEPARATORS};

const GENERIC: [&str; 36] = [
    "",
    "",
    "a",
    "b",
    "ab",
    "abc",
    "A",
    "hello",
    "abcdefghijklmnopqrstuvwxyz",
    "0",
    "1",
    "-1",
    "+1",
    "1.0",
    "1/0",
    "0x10",
    "1e9",
    "NaN",
    "true",
    "null",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\0",
    "a b",
    " a ",
    "x=1",
    "/",
    ".",
    "..",
    "é",
    "日本",
    "😀",
    "e\u{301}",
    "\u{feff}a",
];

#[derive(Clone, Debug)]
pub struct Texts {
    /// Best first.
    pieces: Vec<Piece>,
    learnt: Ring<Piece>,
    /// For each of the separators, where it is: piece and offset.
    places: Vec<Vec<(usize, usize)>>,
    alphabet: Alphabet,
    nested: Nested,
}

impl Texts {
    pub fn new(texts: &[String], chars: &[char]) -> Self {
        let pieces: Vec<Piece> = texts.iter().map(|text| Piece::new(text)).collect();
        let mut places = vec![Vec::new(); SEPARATORS.len()];
        for (index, piece) in pieces.iter().enumerate() {
            for (separator, offset) in &piece.separators {
                places[*separator].push((index, *offset));
            }
        }
        let all = texts.iter().flat_map(|text| text.chars()).chain(chars.iter().copied());
        let alphabet = Alphabet::new(all);
        let nested = Nested::new(&pieces);
        Texts { pieces, learnt: Ring::new(), places, alphabet, nested }
    }

    pub fn learn(&mut self, text: &str) {
        let known = |pieces: &[Piece]| {
            pieces.iter().any(|piece| piece.text.len() == text.len() && *piece.text == *text)
        };
        if !text.is_empty()
            && text.len() <= MOST_LENGTH
            && !known(self.learnt.values())
            && !known(&self.pieces)
        {
            self.learnt.push(Piece::new(text));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.learnt.values().is_empty()
    }

    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> String {
        let Some(piece) = self.piece(rng) else { return self.draw_generic(rng) };
        match rng.random_range(0..100u32) {
            0..40 => piece.text.to_string(),
            40..60 => mutate::mutate(piece, &self.alphabet, rng),
            60..72 => self.splice(piece, rng),
            72..90 => tiny::tiny(piece, &self.alphabet, rng),
            90..98 => (*GENERIC.choose(rng).unwrap_or(&"")).to_owned(),
            _ => self.nested.draw(Some(piece), rng),
        }
    }

    /// Without strings to start from: generic ones, and the characters that the code names.
    fn draw_generic(&self, rng: &mut Xoshiro256PlusPlus) -> String {
        match rng.random_range(0..20u32) {
            0..12 => (*GENERIC.choose(rng).unwrap_or(&"")).to_owned(),
            12..14 => {
                let (first, second) =
                    (GENERIC.choose(rng).unwrap_or(&""), GENERIC.choose(rng).unwrap_or(&""));
                joined(&[first, second])
            }
            14..19 => tiny::of_alphabet(&self.alphabet, rng),
            _ => self.nested.draw(None, rng),
        }
    }

    fn piece(&self, rng: &mut Xoshiro256PlusPlus) -> Option<&Piece> {
        let learnt = self.learnt.values();
        if self.pieces.is_empty() || (!learnt.is_empty() && rng.random_range(0..3u32) == 0) {
            learnt.choose(rng)
        } else {
            self.pieces.get(favoured_index(self.pieces.len(), rng))
        }
    }

    /// The begin of one string and the end of another, cut at a separator that both have: where a grammar would join them.
    fn splice(&self, piece: &Piece, rng: &mut Xoshiro256PlusPlus) -> String {
        let Some(&(separator, cut)) = piece.separators.choose(rng) else {
            return self.concatenation(piece, rng);
        };
        let Some(&(other, other_cut)) = self.places[separator].choose(rng) else {
            return self.concatenation(piece, rng);
        };
        let other = &*self.pieces[other].text;
        if rng.random() {
            joined(&[&piece.text[..cut], &other[other_cut..]])
        } else {
            joined(&[&other[..other_cut], &piece.text[cut..]])
        }
    }

    /// Two strings without a common separator: one after the other.
    fn concatenation(&self, piece: &Piece, rng: &mut Xoshiro256PlusPlus) -> String {
        let other = self.piece(rng).map_or("", |other| &*other.text);
        let mut between = [0; 4];
        let between =
            if rng.random() { "" } else { self.alphabet.punctuation(rng).encode_utf8(&mut between) as &str };
        joined(&[&piece.text, between, other])
    }
}

/// The parts as one string, allocated once.
fn joined(parts: &[&str]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        text.push_str(part);
    }
    text
}
