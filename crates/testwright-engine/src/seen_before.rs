//! Which sequences were proposed before, in a fixed amount of memory.

/// A Bloom filter over encoded sequences: it never takes an old one for new, and a new one for old in about one case of a
/// hundred after ten million. All bits of a sequence are in one block, so that a question costs one look into memory.
#[derive(Debug)]
pub struct SeenBefore {
    blocks: Vec<[u64; WORDS]>,
}

const BLOCKS: u64 = 1 << 18;
const WORDS: usize = 8;
const HASHES: u32 = 4;

impl Default for SeenBefore {
    fn default() -> Self {
        SeenBefore { blocks: vec![[0; WORDS]; size(BLOCKS)] }
    }
}

/// A question that was announced: see [`SeenBefore::announce`].
#[derive(Clone, Copy, Debug)]
pub struct Announced(u64);

impl SeenBefore {
    /// Says that the words will be asked for, so that what is known of them is on its way from memory meanwhile.
    pub fn announce(&self, words: &[u16]) -> Announced {
        let hash = hash(words);
        fetch(&self.blocks[size(hash % BLOCKS)]);
        Announced(hash)
    }

    /// Whether the words are new; remembers them.
    pub fn is_new(&mut self, Announced(hash): Announced) -> bool {
        let block = &mut self.blocks[size(hash % BLOCKS)];
        let mut new = false;
        for round in 0..HASHES {
            // Nine bits each, from those that did not choose the block.
            let place = hash >> (20 + 9 * round);
            let (word, bit) = (&mut block[size(place >> 6) % WORDS], 1 << (place % 64));
            new |= *word & bit == 0;
            *word |= bit;
        }
        new
    }
}

/// Asks for a block without waiting for it.
fn fetch(block: &[u64; WORDS]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint about memory that is borrowed here; all x86-64 processors know it.
        #[expect(unsafe_code, reason = "there is no safe way to say this")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = block;
}

#[expect(clippy::cast_possible_truncation, reason = "the tool runs on 64 bits only")]
fn size(number: u64) -> usize {
    number as usize
}

/// Multiplies and folds sixteen words at a time in four lanes, which do not wait for each other.
fn hash(words: &[u16]) -> u64 {
    const LANES: usize = 4;
    let mut lanes =
        [0x9e37_79b9_7f4a_7c15, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];
    let (chunks, rest) = words.as_chunks::<{ 4 * LANES }>();
    for chunk in chunks {
        for (lane, words) in lanes.iter_mut().zip(chunk.as_chunks::<4>().0) {
            *lane = mixed(*lane, joined(words));
        }
    }
    let mut state = lanes.into_iter().fold(words.len() as u64, mixed);
    for words in rest.chunks(4) {
        state = mixed(state, joined(words));
    }
    mixed(state, 0)
}

fn joined(words: &[u16]) -> u64 {
    words.iter().rev().fold(0, |all, word| (all << 16) | u64::from(*word))
}

fn mixed(state: u64, value: u64) -> u64 {
    let wide = u128::from(state ^ value ^ 0xe703_7ed1_a0b4_28db) * 0xa076_1d64_78bd_642f;
    #[expect(clippy::cast_possible_truncation, reason = "folded")]
    let folded = (wide as u64) ^ ((wide >> 64) as u64);
    folded.rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_new_once() {
        let mut before = SeenBefore::default();
        let mut is_new = |words: &[u16]| {
            let announced = before.announce(words);
            before.is_new(announced)
        };
        assert!(is_new(&[1, 2, 3]));
        assert!(!is_new(&[1, 2, 3]));
        assert!(is_new(&[1, 2, 4]));
        assert!(is_new(&[1, 2]));
        let long: Vec<u16> = (0..100).collect();
        assert!(is_new(&long));
        for place in 0..long.len() {
            let mut other = long.clone();
            other[place] += 1;
            assert!(is_new(&other), "word {place} does not count");
        }
        assert!(!is_new(&long));
        let lost = (0..2u16)
            .flat_map(|high| (0..50_000u16).map(move |low| [high, low, 7]))
            .filter(|words| !is_new(words))
            .count();
        assert!(lost < 20, "{lost} new sequences were taken for old");
    }
}
