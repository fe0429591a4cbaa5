//! The size of a value, as far as its fingerprint tells it: in the lowest bits, two classes for each power of two of what was
//! hashed.

/// As many as the lowest bits can tell apart. Class 0 is that of values without a fingerprint.
pub const CLASSES: usize = 32;

/// A fingerprint that tells how many words (of a `Debug` text: bytes) were hashed; never 0.
pub const fn with_class(hash: u64, words: u32) -> u64 {
    let words = if words == 0 { 1 } else { words };
    let power = words.ilog2();
    let upper_half = if power == 0 { 0 } else { words >> (power - 1) & 1 };
    let class = 2 * power + upper_half + 1;
    let most = CLASSES as u32 - 1;
    hash & !(most as u64) | (if class < most { class } else { most }) as u64
}

pub const fn class(fingerprint: u64) -> usize {
    (fingerprint % CLASSES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_with_the_size() {
        let of = |words| class(with_class(u64::MAX, words));
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(of), [1, 1, 3, 4, 5, 5, 6, 6, 7]);
        assert_eq!([u32::MAX, 1 << 15].map(of), [CLASSES - 1; 2]);
        assert_eq!(with_class(u64::MAX, 5) | 31, u64::MAX, "the rest is the hash's");
    }
}
