//! Texts and byte strings that sequences refer to, at the places that they have in every worker of a search.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_execute::{Worker, place_after};

/// Hands out places in the literal area before any worker holds the bytes; [`Bank::sync`] writes them.
#[derive(Debug, Default)]
pub struct Bank {
    /// An image of the area.
    area: Vec<u8>,
    /// Offset and length of each literal.
    places: Vec<(u32, u32)>,
    /// By hash, the place; of two literals with one hash the second is not found again, which does no harm.
    known: HashMap<u64, u32>,
    hasher: RandomState,
    /// How much of the area the worker has.
    synced: usize,
}

/// More different literals than this are not made: old ones are used again.
const MOST: usize = 1_500_000;
/// Nor more bytes of them; the workers' area has room for more.
const BYTES: usize = 56 << 20;
/// One that is longer than this may not fit any more when the bank counts as full.
const MARGIN: usize = 64 << 10;

impl Bank {
    /// Where the bytes lie; `None` if there is no room for new ones.
    pub fn place(&mut self, bytes: &[u8]) -> Option<(u32, u32)> {
        let hash = self.hasher.hash_one(bytes);
        if let Some(index) = self.known.get(&hash) {
            let place = self.places[*index as usize];
            if self.bytes(place) == bytes {
                return Some(place);
            }
        }
        let start = place_after(u32::try_from(self.area.len()).ok()?)? as usize;
        if self.places.len() >= MOST || start + bytes.len() > BYTES {
            return None;
        }
        self.area.resize(start, 0);
        let place = (u32::try_from(self.area.len()).ok()?, u32::try_from(bytes.len()).ok()?);
        self.known.insert(hash, u32::try_from(self.places.len()).ok()?);
        self.area.extend_from_slice(bytes);
        self.places.push(place);
        Some(place)
    }

    /// What lies at a place that was handed out.
    pub fn bytes(&self, (offset, length): (u32, u32)) -> &[u8] {
        &self.area[offset as usize..(offset + length) as usize]
    }

    /// Some literal that is known already.
    pub fn any(&self, rng: &mut Xoshiro256PlusPlus) -> Option<&[u8]> {
        if self.places.is_empty() {
            return None;
        }
        Some(self.bytes(self.places[rng.random_range(0..self.places.len())]))
    }

    pub fn is_full(&self) -> bool {
        self.places.len() >= MOST || self.area.len() + MARGIN > BYTES
    }

    /// Gives the worker the literals that it does not have yet.
    pub fn sync(&mut self, worker: &mut Worker) {
        worker.write_literals(self.synced, &self.area[self.synced..]);
        self.synced = self.area.len();
    }

    /// A new worker has none of them.
    pub fn start_over(&mut self) {
        self.synced = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_have_one_place() {
        let mut bank = Bank::default();
        assert_eq!(bank.place(b"abc"), Some((1, 3)));
        assert_eq!(bank.place(b"de"), Some((9, 2)));
        assert_eq!(bank.place(b"abc"), Some((1, 3)));
        assert_eq!(bank.place(b""), Some((17, 0)));
        assert!(!bank.is_full());
        assert_eq!(bank.place(&vec![7; BYTES]), None, "more than there is room for");
    }
}
