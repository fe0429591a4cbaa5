//! The fixed hash behind fingerprints: fast, the same in every process, and blind to addresses.

use core::fmt;
use core::hash::Hasher;

use testwright_wire::size;

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xa076_1d64_78bd_642f;

/// Addresses of the worker lie here, plain numbers hardly ever. What hashes a pointer hashes a `usize` in this range, which
/// differs from run to run, so all of them count as the same.
const ADDRESSES: core::ops::Range<u64> = 0x1000_0000_0000..0x8000_0000_0000;

/// So many hexadecimal digits after `0x` make an address in a `Debug` text.
const ADDRESS_DIGITS: u32 = 11;

#[derive(Debug, Clone, Copy)]
pub struct Fingerprint {
    state: u64,
    /// How much was hashed.
    words: u32,
}

impl Fingerprint {
    pub const fn new() -> Self {
        Fingerprint { state: SEED, words: 0 }
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word).wrapping_mul(u128::from(FACTOR));
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(SEED);
        self.words = self.words.wrapping_add(1);
    }
}

impl Hasher for Fingerprint {
    /// With the size class of what was hashed; never 0, which stands for "none".
    fn finish(&self) -> u64 {
        let mut last = *self;
        last.mix(SEED >> 1);
        size::with_class(last.state, last.words)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_u128(&mut self, value: u128) {
        self.mix(value as u64);
        self.mix((value >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        let value = value as u64;
        self.mix(if ADDRESSES.contains(&value) { ADDRESSES.start } else { value });
    }
}

/// Hashes a `Debug` text as it is written; addresses in it (`0x` and many digits) count as the same.
#[derive(Debug)]
pub struct TextFingerprint {
    hash: Fingerprint,
    /// The state behind `0x`, while its digits are read.
    before_digits: Fingerprint,
    digits: Digits,
    written: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    None,
    Zero,
    Read(u32),
}

impl TextFingerprint {
    /// A text this long is told from another by its first part.
    const LIMIT: usize = 1 << 20;

    pub const fn new() -> Self {
        TextFingerprint {
            hash: Fingerprint::new(),
            before_digits: Fingerprint::new(),
            digits: Digits::None,
            written: 0,
        }
    }

    pub fn finish(mut self) -> u64 {
        self.leave_digits();
        self.hash.finish()
    }

    /// Whether an error was returned because the text is too long.
    pub fn gave_up(&self) -> bool {
        self.written > Self::LIMIT
    }

    fn leave_digits(&mut self) {
        if matches!(self.digits, Digits::Read(count) if count >= ADDRESS_DIGITS) {
            self.hash = self.before_digits;
        }
        self.digits = Digits::None;
    }
}

impl fmt::Write for TextFingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.written += text.len();
        if self.gave_up() {
            return Err(fmt::Error);
        }
        for &byte in text.as_bytes() {
            match self.digits {
                Digits::Read(count) if byte.is_ascii_hexdigit() => self.digits = Digits::Read(count + 1),
                Digits::Zero if byte == b'x' => {
                    self.hash.write_u8(byte);
                    self.before_digits = self.hash;
                    self.digits = Digits::Read(0);
                    continue;
                }
                _ => {
                    self.leave_digits();
                    if byte == b'0' {
                        self.digits = Digits::Zero;
                    }
                }
            }
            self.hash.write_u8(byte);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write;

    fn of_text(text: &str) -> u64 {
        let mut writer = TextFingerprint::new();
        writer.write_str(text).expect("short");
        writer.finish()
    }

    #[test]
    fn addresses_in_texts_count_as_the_same() {
        assert_eq!(of_text("P(0x7f12345678a0, 1)"), of_text("P(0x7f12345678b8, 1)"));
        assert_ne!(of_text("P(0x10, 1)"), of_text("P(0x20, 1)"));
        assert_ne!(of_text("P(0x7f12345678a0, 1)"), of_text("P(0x7f12345678a0, 2)"));
    }

    #[test]
    fn fingerprints_tell_the_size() {
        let class = |text: &str| size::class(of_text(text));
        assert!(class("{}") < class("{1: 2}") && class("{1: 2}") < class("{1: 2, 3: 4, 5: 6}"));
        assert_eq!(class("{1: 2}"), class("{3: 4}"));
    }

    #[test]
    fn pieces_do_not_matter_in_texts() {
        let mut writer = TextFingerprint::new();
        for piece in ["ab", "0", "x1", "2", "c"] {
            writer.write_str(piece).expect("short");
        }
        assert_eq!(writer.finish(), of_text("ab0x12c"));
    }

    #[test]
    fn addresses_hash_as_the_same() {
        let of = |value: usize| {
            let mut hasher = Fingerprint::new();
            hasher.write_usize(value);
            hasher.finish()
        };
        assert_eq!(of(0x7f00_0000_0010), of(0x5555_0000_0000));
        assert_ne!(of(1), of(2));
    }
}
