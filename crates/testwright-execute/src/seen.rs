//! The seen map: which coverage counters any sequence has reached, shared with the worker and outliving its processes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Worker;

impl Worker {
    /// How many counters some sequence has reached.
    pub fn seen_count(&self) -> usize {
        let count = |word: u64| (word & 0x0101_0101_0101_0101).count_ones() as usize;
        self.seen_words().iter().map(|word| count(word.load(Ordering::Relaxed))).sum()
    }

    pub fn is_seen(&self, counter: u32) -> bool {
        self.shared.seen().get(counter as usize).is_some_and(|seen| seen.load(Ordering::Relaxed) != 0)
    }

    /// Every counter that some sequence has reached, ascending.
    pub fn seen_counters(&self) -> Vec<u32> {
        (0..self.catalogue.counters).filter(|&counter| self.is_seen(counter)).collect()
    }

    /// Marks counters as reached (as another worker's, or an earlier campaign's) or as not reached.
    pub fn set_seen(&mut self, counters: &[u32], reached: bool) {
        for &counter in counters {
            if let Some(seen) = self.shared.seen().get(counter as usize) {
                seen.store(reached.into(), Ordering::Relaxed);
            }
        }
    }

    pub fn clear_seen(&mut self) {
        for word in self.seen_words() {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// The part that the binary has counters for: merely looking at the rest would make the kernel fill it in.
    fn seen_words(&self) -> &[AtomicU64] {
        &self.shared.seen_words()[..self.catalogue.counters.div_ceil(8) as usize]
    }
}
