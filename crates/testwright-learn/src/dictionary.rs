//! Literals for generated calls, learnt from the package's own code.
//!
//! A parser is got past only by something like its language. The code that tests and documents it is full of examples, and
//! the code that implements it names its words, so both are read once ([`Dictionary::harvest`]) and then drawn from:
//! whole, changed a little, joined, and cut into pieces. Every draw depends on the generator and on what was read and
//! learnt before, on nothing else.

mod blocks;
mod bytes;
mod collect;
mod context;
mod decode;
mod harvest;
mod int;
mod ring;
mod scalar;
mod sources;
mod text;

use std::path::Path;
use std::thread;

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::{Literal, Prim, Ty};

use bytes::Bytes;
use harvest::Harvest;
use int::Ints;
use scalar::{Chars, Floats};
use text::Texts;

/// How many values of each kind are kept.
const MOST_TEXTS: usize = 400;
const MOST_BYTES: usize = 200;
const MOST_INTS: usize = 200;
const MOST_FLOATS: usize = 64;
const MOST_CHARS: usize = 64;

/// What was learnt, arranged for fast draws.
#[derive(Clone, Debug)]
pub struct Dictionary {
    ints: Ints,
    floats: Floats,
    chars: Chars,
    texts: Texts,
    bytes: Bytes,
}

impl Dictionary {
    /// Reads the package in the folder `root` and, like examples in its documents, the code texts `extra`.
    ///
    /// What cannot be read or is not Rust is passed over: an empty dictionary still gives literals.
    pub fn harvest(root: &Path, extra: &[String]) -> Self {
        let read = || {
            let mut harvest = Harvest::new();
            harvest.package(root);
            for code in extra {
                harvest.code(code, true);
            }
            Dictionary::new(harvest)
        };
        // The lexer may keep every text it has seen until its thread ends, so it gets a thread that does.
        thread::scope(|scope| scope.spawn(read).join()).unwrap_or_else(|_| Dictionary::default())
    }

    fn new(harvest: Harvest) -> Self {
        let ints = harvest.ints.select(MOST_INTS);
        let chars = harvest.chars.select(MOST_CHARS);
        let bytes = harvest.bytes.select(MOST_BYTES);
        Dictionary {
            floats: Floats::new(&harvest.floats.select(MOST_FLOATS), &ints),
            texts: Texts::new(&harvest.texts.select(MOST_TEXTS), &chars),
            bytes: Bytes::new(bytes, &ints),
            ints: Ints::new(&ints),
            chars: Chars::new(chars),
        }
    }

    /// A literal of a type that can have one: a primitive, `&str` or `&[u8]`.
    pub fn literal(&self, ty: &Ty, rng: &mut Xoshiro256PlusPlus) -> Literal {
        match ty {
            Ty::Prim(Prim::Bool) => Literal::Bool(rng.random()),
            Ty::Prim(Prim::Char) => Literal::Char(self.char(rng)),
            Ty::Prim(prim @ (Prim::F32 | Prim::F64)) => Literal::Float(self.float(*prim, rng)),
            Ty::Prim(prim) => Literal::Int(self.int(*prim, rng)),
            Ty::Ref { to, .. } if **to == Ty::Str => Literal::Str(self.text(rng)),
            _ => Literal::Bytes(self.bytes(rng)),
        }
    }

    /// A number of an integer type, as its two's complement in 128 bits.
    pub fn int(&self, prim: Prim, rng: &mut Xoshiro256PlusPlus) -> i128 {
        self.ints.draw(prim, rng)
    }

    /// The bits of a number of type `f32` or `f64`.
    pub fn float(&self, prim: Prim, rng: &mut Xoshiro256PlusPlus) -> u64 {
        self.floats.draw(prim, rng)
    }

    pub fn char(&self, rng: &mut Xoshiro256PlusPlus) -> char {
        self.chars.draw(rng)
    }

    pub fn text(&self, rng: &mut Xoshiro256PlusPlus) -> String {
        self.texts.draw(rng)
    }

    pub fn bytes(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        self.bytes.draw(&self.texts, rng)
    }

    /// Takes in a string that was seen at run time, such as what a parsed value prints. The newest few hundred are kept.
    pub fn learn_text(&mut self, text: &str) {
        self.texts.learn(text);
    }

    /// Takes in a byte string that was seen at run time.
    pub fn learn_bytes(&mut self, bytes: &[u8]) {
        self.bytes.learn(bytes);
    }
}

/// Knows nothing: gives generic literals.
impl Default for Dictionary {
    fn default() -> Self {
        Dictionary::new(Harvest::new())
    }
}

/// One of the values, which are ordered best first: half of the draws prefer the front.
fn favoured<T: Copy>(values: &[T], rng: &mut Xoshiro256PlusPlus) -> T {
    values[favoured_index(values.len(), rng)]
}

fn favoured_index(length: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    let end = if rng.random() { rng.random_range(0..length) + 1 } else { length };
    rng.random_range(0..end)
}

#[cfg(test)]
mod tests;
