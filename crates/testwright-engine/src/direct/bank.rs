//! Texts and byte strings that sequences refer to, at the places that they have in every worker of a search.

use std::collections::HashMap;

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_execute::Worker;

/// Hands out places in the literal area before any worker holds the bytes; [`Bank::sync`] writes them.
#[derive(Debug, Default)]
pub struct Bank {
    places: HashMap<Box<[u8]>, u32>,
    order: Vec<Box<[u8]>>,
    end: u32,
    synced: usize,
}

/// More different literals than this are not made: old ones are used again.
const MOST: usize = 100_000;
/// Nor more bytes of them.
const BYTES: u32 = 24 << 20;

impl Bank {
    /// Where the bytes lie; `None` if there is no room for new ones.
    pub fn place(&mut self, bytes: &[u8]) -> Option<(u32, u32)> {
        let length = u32::try_from(bytes.len()).ok()?;
        if let Some(offset) = self.places.get(bytes) {
            return Some((*offset, length));
        }
        if self.order.len() >= MOST || self.end + length > BYTES {
            return None;
        }
        let offset = self.end;
        self.end += length;
        self.places.insert(bytes.into(), offset);
        self.order.push(bytes.into());
        Some((offset, length))
    }

    /// Some literal that is known already.
    pub fn any(&self, rng: &mut Xoshiro256PlusPlus) -> Option<&[u8]> {
        if self.order.is_empty() {
            return None;
        }
        Some(&self.order[rng.random_range(0..self.order.len())])
    }

    pub fn is_full(&self) -> bool {
        self.order.len() >= MOST || self.end + (64 << 10) > BYTES
    }

    /// Gives the worker the literals that it does not have yet.
    pub fn sync(&mut self, worker: &mut Worker) {
        for bytes in &self.order[self.synced..] {
            let place = worker.literal(bytes);
            debug_assert_eq!(place.map(|(offset, _)| offset), self.places.get(bytes).copied());
        }
        self.synced = self.order.len();
    }

    /// A new worker has none of them.
    pub fn start_over(&mut self) {
        self.synced = 0;
    }
}
