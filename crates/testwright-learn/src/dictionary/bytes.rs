//! Byte strings: harvested ones whole, changed and joined, strings as bytes, and made-up records.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::decode::Int;
use super::favoured_index;
use super::harvest::MOST_LENGTH;
use super::ring::Ring;
use super::text::Texts;

/// Values of length fields that a reader should doubt.
const FIELDS: [u64; 9] = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fff_ffff, u64::MAX];

#[derive(Clone, Debug)]
pub struct Bytes {
    /// Best first, none empty.
    pieces: Vec<Box<[u8]>>,
    learnt: Ring<Box<[u8]>>,
    /// Small numbers that the code names, as tags of records.
    tags: Vec<u8>,
}

impl Bytes {
    pub fn new(pieces: Vec<Vec<u8>>, ints: &[Int]) -> Self {
        Bytes {
            pieces: pieces.into_iter().map(Into::into).collect(),
            learnt: Ring::new(),
            tags: ints.iter().filter_map(|int| u8::try_from(int.value).ok()).collect(),
        }
    }

    pub fn learn(&mut self, bytes: &[u8]) {
        let known = |pieces: &[Box<[u8]>]| pieces.iter().any(|piece| **piece == *bytes);
        if !bytes.is_empty()
            && bytes.len() <= MOST_LENGTH
            && !known(self.learnt.values())
            && !known(&self.pieces)
        {
            self.learnt.push(bytes.into());
        }
    }

    pub fn draw(&self, texts: &Texts, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let Some(piece) = self.piece(rng) else {
            return match rng.random_range(0..10u32) {
                0..5 if !texts.is_empty() => of_text(texts, rng),
                0..2 => of_text(texts, rng),
                2..8 => generic(rng),
                _ => self.record(rng),
            };
        };
        match rng.random_range(0..100u32) {
            0..25 => piece.to_vec(),
            25..45 => mutated(piece, rng),
            45..58 => self.extended(piece, rng),
            58..70 => self.splice(piece, rng),
            70..82 => of_text(texts, rng),
            82..92 => generic(rng),
            _ => self.record(rng),
        }
    }

    fn piece(&self, rng: &mut Xoshiro256PlusPlus) -> Option<&[u8]> {
        let learnt = self.learnt.values();
        if self.pieces.is_empty() || (!learnt.is_empty() && rng.random_range(0..3u32) == 0) {
            learnt.choose(rng).map(|piece| &**piece)
        } else {
            self.pieces.get(favoured_index(self.pieces.len(), rng)).map(|piece| &**piece)
        }
    }

    /// A beginning that readers know, and then what may come in a file: numbers, tags, padding up to the size of a header.
    fn extended(&self, piece: &[u8], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let mut bytes = piece.to_vec();
        for _ in 0..rng.random_range(1..=4u32) {
            match rng.random_range(0..10u32) {
                0..4 => {
                    let width = *[1, 2, 4, 4, 8].choose(rng).unwrap_or(&4);
                    let value = if rng.random() {
                        rng.random_range(0..128)
                    } else {
                        *FIELDS.choose(rng).unwrap_or(&0)
                    };
                    push_field(&mut bytes, value, width, rng.random());
                }
                4..6 => bytes.extend_from_slice(self.piece(rng).unwrap_or_default()),
                6 => bytes.push(self.tag(rng)),
                7 => {
                    let size = *[16, 32, 64, 128].choose(rng).unwrap_or(&16);
                    let filler = if rng.random() { 0 } else { rng.random() };
                    if bytes.len() < size {
                        bytes.resize(size, filler);
                    }
                }
                _ => bytes.extend(generic(rng)),
            }
        }
        bytes.truncate(2 * MOST_LENGTH);
        bytes
    }

    fn splice(&self, piece: &[u8], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let other = self.piece(rng).unwrap_or_default();
        let cut = rng.random_range(0..=piece.len());
        // Half of the time at the same distance, where formats with fixed places agree.
        let other_cut = if rng.random() { cut.min(other.len()) } else { rng.random_range(0..=other.len()) };
        let mut bytes = Vec::with_capacity(cut + other.len() - other_cut);
        bytes.extend_from_slice(&piece[..cut]);
        bytes.extend_from_slice(&other[other_cut..]);
        bytes
    }

    /// Tag, length, content, as so many formats have it; the length is not always true, and one record may hold another.
    fn record(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24);
        let outer = rng.random_range(0..4u32) == 0;
        if outer {
            bytes.extend([self.tag(rng), 0]);
        }
        let length = rng.random_range(0..=6u8);
        bytes.push(self.tag(rng));
        match rng.random_range(0..8u32) {
            0..4 => bytes.push(length),
            4 => bytes.push(length + 1),
            5 => bytes.push(*[0, 0x7f, 0x80, 0xff].choose(rng).unwrap_or(&0)),
            6 => bytes.extend([0x81, length]),
            // Length of a length, as in DER: up to eight bytes.
            _ => {
                let width = rng.random_range(1..=8u8);
                bytes.push(0x80 | width);
                bytes.resize(bytes.len() + usize::from(width), if rng.random() { 0xff } else { 0 });
            }
        }
        for _ in 0..length {
            bytes.push(if rng.random() { self.tag(rng) } else { rng.random() });
        }
        if outer {
            bytes[1] = u8::try_from(bytes.len() - 2).unwrap_or(u8::MAX);
        }
        bytes
    }

    fn tag(&self, rng: &mut Xoshiro256PlusPlus) -> u8 {
        match self.tags.choose(rng) {
            Some(tag) if rng.random_range(0..4u32) > 0 => *tag,
            _ => rng.random_range(0..=0x31),
        }
    }
}

/// A string's bytes; now and then no longer UTF-8.
fn of_text(texts: &Texts, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let bytes = texts.draw(rng).into_bytes();
    // Only short ones: a change to a long one would be a new long literal.
    if rng.random_range(0..4u32) == 0 && bytes.len() <= 2 * MOST_LENGTH {
        mutated(&bytes, rng)
    } else {
        bytes
    }
}

fn generic(rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let length = *[0, 1, 1, 2, 2, 3, 4, 8, 16, 32].choose(rng).unwrap_or(&0);
    let mut bytes = vec![0; length];
    match rng.random_range(0..4u32) {
        0 => {}
        1 => bytes.fill(0xff),
        _ => {
            for byte in &mut bytes {
                *byte = if rng.random() { rng.random_range(0..4) } else { rng.random() };
            }
        }
    }
    bytes
}

/// One small change.
fn mutated(piece: &[u8], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(piece.len() + 1);
    if piece.is_empty() {
        bytes.push(rng.random());
        return bytes;
    }
    let at = rng.random_range(0..piece.len());
    match rng.random_range(0..10u32) {
        0 => bytes.extend_from_slice(&piece[..at]),
        1 => bytes.extend_from_slice(&piece[at..]),
        2 => {
            bytes.extend_from_slice(&piece[..at]);
            bytes.push(*[0, 1, 0x7f, 0x80, 0xc3, 0xff].choose(rng).unwrap_or(&0));
            bytes.extend_from_slice(&piece[at..]);
        }
        3 => {
            bytes.extend_from_slice(&piece[..at]);
            bytes.extend_from_slice(&piece[at + 1..]);
        }
        4..7 => {
            bytes.extend_from_slice(piece);
            bytes[at] = match rng.random_range(0..3u32) {
                0 => piece[at] ^ (1 << rng.random_range(0..8u32)),
                1 => piece[at].wrapping_add(1),
                _ => *[0, 1, 0x7f, 0x80, 0xff].choose(rng).unwrap_or(&0),
            };
        }
        _ => {
            bytes.extend_from_slice(piece);
            field(&mut bytes[at..], rng);
        }
    }
    bytes
}

/// Appends a number in so many bytes.
fn push_field(bytes: &mut Vec<u8>, value: u64, width: usize, little: bool) {
    if little {
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    } else {
        bytes.extend_from_slice(&value.to_be_bytes()[8 - width..]);
    }
}

/// Writes a number over the first bytes as a length field might have it.
fn field(bytes: &mut [u8], rng: &mut Xoshiro256PlusPlus) {
    let width = (*[1, 2, 4, 8].choose(rng).unwrap_or(&1)).min(bytes.len());
    let value = *FIELDS.choose(rng).unwrap_or(&0);
    let mut number = Vec::with_capacity(8);
    push_field(&mut number, value, width, rng.random());
    bytes[..width].copy_from_slice(&number);
}
