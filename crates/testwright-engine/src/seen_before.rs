//! Which sequences were proposed before, in a fixed amount of memory.

/// A Bloom filter over encoded sequences: it never takes an old one for new, and a new one for old in less than one case of a
/// hundred after ten million.
#[derive(Debug)]
pub struct SeenBefore {
    bits: Vec<u64>,
}

const BITS: u64 = 1 << 27;
const HASHES: u64 = 3;

impl Default for SeenBefore {
    fn default() -> Self {
        SeenBefore { bits: vec![0; (BITS / 64) as usize] }
    }
}

impl SeenBefore {
    /// Whether the words are new; remembers them.
    pub fn is_new(&mut self, words: &[u16]) -> bool {
        let hash = hash(words);
        let (first, step) = (hash, (hash >> 32) | 1);
        let mut new = false;
        for round in 0..HASHES {
            let bit = first.wrapping_add(step.wrapping_mul(round)) % BITS;
            let word = &mut self.bits[(bit / 64) as usize];
            new |= *word & (1 << (bit % 64)) == 0;
            *word |= 1 << (bit % 64);
        }
        new
    }
}

/// Multiplies and folds four words at a time.
fn hash(words: &[u16]) -> u64 {
    let mut state: u64 = words.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut mix = |value: u64| {
        let wide = u128::from(state ^ value ^ 0xe703_7ed1_a0b4_28db) * 0xa076_1d64_78bd_642f;
        #[expect(clippy::cast_possible_truncation, reason = "folded")]
        let folded = (wide as u64) ^ ((wide >> 64) as u64);
        state = folded.rotate_left(23);
    };
    for chunk in words.chunks(4) {
        mix(chunk.iter().fold(0, |all, word| (all << 16) | u64::from(*word)));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_new_once() {
        let mut before = SeenBefore::default();
        assert!(before.is_new(&[1, 2, 3]));
        assert!(!before.is_new(&[1, 2, 3]));
        assert!(before.is_new(&[1, 2, 4]));
        assert!(before.is_new(&[1, 2]));
        let lost = (0..2u16)
            .flat_map(|high| (0..50_000u16).map(move |low| [high, low, 7]))
            .filter(|words| !before.is_new(words))
            .count();
        assert!(lost < 20, "{lost} new sequences were taken for old");
    }
}
