//! A sequence as 16-bit words, the only program the worker runs.
//!
//! ```text
//! sequence := LENGTH step*            LENGTH counts the words of all steps
//! step     := CALL_BASE+operation argument*      as many arguments as the operation takes
//!           | INT type word×4         an integer, bool, char or float of at most 64 bits
//!           | WIDE type word×8        i128, u128
//!           | STR type offset×2 length×2      a `&'static str` in the literal area
//!           | BYTES type offset×2 length×2    a `&'static [u8]` there
//!           | DROP value              runs the destructor, the value is gone
//!           | FORGET value            the value is gone, its destructor does not run
//!           | OBSERVE value           its fingerprint goes into the answer
//! argument := value index, with the bits below
//! ```
//! Every step but DROP, FORGET and OBSERVE makes one value; values are numbered from 0 in order, and so are steps (all of them).
//! LENGTH is two words, low first. Multi-word numbers are little endian.

pub const DROP: u16 = 0;
pub const FORGET: u16 = 1;
pub const INT: u16 = 2;
pub const WIDE: u16 = 3;
pub const STR: u16 = 4;
pub const BYTES: u16 = 5;
pub const OBSERVE: u16 = 6;
/// The first operation's code. Codes in between are free for closures and repetition.
pub const CALL_BASE: u16 = 16;

/// The argument is moved out of its cell.
pub const MOVE: u16 = 0x8000;
/// The cell holds a thin reference; the callee gets what it points to.
pub const DEREF: u16 = 0x4000;
/// The value's number.
pub const VALUE: u16 = 0x3fff;
/// So many values may a sequence make.
pub const MAX_VALUES: usize = VALUE as usize + 1;
/// So many operations can a worker hold.
pub const MAX_OPERATIONS: usize = (u16::MAX - CALL_BASE) as usize;

/// Appends one sequence to a batch.
#[derive(Debug)]
pub struct Encoder<'a> {
    words: &'a mut Vec<u16>,
    start: usize,
}

impl<'a> Encoder<'a> {
    pub fn new(words: &'a mut Vec<u16>) -> Self {
        let start = words.len();
        words.extend_from_slice(&[0, 0]);
        Encoder { words, start }
    }

    pub fn call(&mut self, operation: u16) {
        self.words.push(CALL_BASE + operation);
    }

    /// One argument of the call begun last; `bits` are [`MOVE`] and [`DEREF`].
    pub fn argument(&mut self, value: u16, bits: u16) {
        self.words.push((value & VALUE) | bits);
    }

    pub fn int(&mut self, ty: u16, value: u64) {
        self.words.extend_from_slice(&[INT, ty]);
        self.number(u128::from(value), 4);
    }

    pub fn wide(&mut self, ty: u16, value: u128) {
        self.words.extend_from_slice(&[WIDE, ty]);
        self.number(value, 8);
    }

    /// `code` is [`STR`] or [`BYTES`].
    pub fn literal(&mut self, code: u16, ty: u16, offset: u32, length: u32) {
        self.words.extend_from_slice(&[code, ty]);
        self.number(u128::from(offset) | (u128::from(length) << 32), 4);
    }

    pub fn end_of(&mut self, code: u16, value: u16) {
        self.words.extend_from_slice(&[code, value & VALUE]);
    }

    /// Closes the sequence; returns how many words it takes.
    pub fn finish(self) -> usize {
        let length = self.words.len() - self.start - 2;
        self.words[self.start] = length as u16;
        self.words[self.start + 1] = (length >> 16) as u16;
        length + 2
    }

    fn number(&mut self, value: u128, words: u32) {
        for i in 0..words {
            self.words.push((value >> (16 * i)) as u16);
        }
    }
}
