//! A string with the places where it can be cut or changed, found once.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What parts of most small languages stand between.
pub const SEPARATORS: &[u8] = b" ./:-,;=@#?&{}()[]<>\"'\n";

#[derive(Clone, Debug)]
pub struct Piece {
    /// Never empty.
    pub text: Box<str>,
    /// Number of the separator, offset.
    pub separators: Box<[(usize, usize)]>,
    /// Runs of digits: begin, end.
    pub digits: Box<[(usize, usize)]>,
}

impl Piece {
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let separators = bytes
            .iter()
            .enumerate()
            .filter_map(|(offset, byte)| {
                SEPARATORS.iter().position(|separator| separator == byte).map(|number| (number, offset))
            })
            .collect();
        let mut digits: Vec<(usize, usize)> = Vec::new();
        for (offset, _) in bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
            match digits.last_mut() {
                Some((_, end)) if *end == offset => *end += 1,
                _ => digits.push((offset, offset + 1)),
            }
        }
        Piece { text: text.into(), separators, digits: digits.into() }
    }

    /// Some character: where it begins, and itself.
    pub fn any(&self, rng: &mut Xoshiro256PlusPlus) -> (usize, char) {
        let mut at = rng.random_range(0..self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        (at, self.text[at..].chars().next().unwrap_or('a'))
    }

    /// A few characters as they follow each other.
    pub fn window(&self, most: usize, rng: &mut Xoshiro256PlusPlus) -> &str {
        let (start, _) = self.any(rng);
        let rest = &self.text[start..];
        let count = rng.random_range(1..=most);
        rest.char_indices().nth(count).map_or(rest, |(end, _)| &rest[..end])
    }
}
