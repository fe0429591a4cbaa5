//! Hash tables for keys that are numbers of our own making, asked several times a call: no attacker chooses them, so a
//! multiplication does.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub type QuickMap<V> = HashMap<u64, V, BuildHasherDefault<Quick>>;
pub type QuickSet = HashSet<u64, BuildHasherDefault<Quick>>;

#[derive(Clone, Copy, Debug, Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let wide = u128::from(self.0 ^ value) * 0x9e37_79b9_7f4a_7c15;
        #[expect(clippy::cast_possible_truncation, reason = "folded")]
        let folded = (wide as u64) ^ ((wide >> 64) as u64);
        self.0 = folded;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
