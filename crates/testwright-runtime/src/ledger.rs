//! The drop ledger: values that know whether they are alive, so that a double drop or a read of a dead value is seen.
//!
//! The crate under test stores [`Tracked`] values in its containers; the interpreter asks [`alive`] before and after a sequence.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use crate::lock::SpinLock;
use crate::memory_error;

/// So many values can be alive at once; more are handed out without being tracked.
const ENTRIES: usize = 1 << 20;
const UNTRACKED: u32 = u32::MAX - 1;

/// The stamp of the value that is alive under this number, 0 if none is.
static STAMPS: [AtomicU32; ENTRIES] = {
    #[allow(clippy::declare_interior_mutable_const)]
    const NONE: AtomicU32 = AtomicU32::new(0);
    [NONE; ENTRIES]
};
static ALIVE: AtomicI32 = AtomicI32::new(0);
static NUMBERS: SpinLock<Numbers> =
    SpinLock::new(Numbers { next: [0; ENTRIES], free: 0, unused: 0, stamp: 0 });

struct Numbers {
    /// The free number behind this one, plus 1.
    next: [u32; ENTRIES],
    /// The first free number, plus 1.
    free: u32,
    /// From here on no number was ever used.
    unused: u32,
    /// The last stamp given.
    stamp: u32,
}

/// How many tracked values are alive. (Elsewhere than on Linux nobody asks.)
#[allow(dead_code)]
#[inline]
pub fn alive() -> i32 {
    ALIVE.load(Relaxed)
}

/// Does something that keeps values on purpose: those that it makes do not count as alive.
pub fn uncounted(work: impl FnOnce()) {
    let before = alive();
    work();
    ALIVE.store(before, Relaxed);
}

fn enter() -> (u32, u32) {
    let (number, stamp) = NUMBERS.with(|numbers| {
        numbers.stamp = numbers.stamp.wrapping_add(1).max(1);
        let number = if numbers.free != 0 {
            let number = numbers.free - 1;
            numbers.free = numbers.next[number as usize];
            number
        } else if (numbers.unused as usize) < ENTRIES {
            numbers.unused += 1;
            numbers.unused - 1
        } else {
            UNTRACKED
        };
        (number, numbers.stamp)
    });
    if let Some(entry) = STAMPS.get(number as usize) {
        entry.store(stamp, Relaxed);
    }
    ALIVE.fetch_add(1, Relaxed);
    (number, stamp)
}

fn leave(number: u32, stamp: u32) {
    if number != UNTRACKED {
        let entry = STAMPS.get(number as usize);
        let left = stamp != 0
            && entry.is_some_and(|entry| entry.compare_exchange(stamp, 0, Relaxed, Relaxed).is_ok());
        if !left {
            if existed(number, stamp) {
                memory_error(format_args!("a value was dropped twice"));
            }
            memory_error(format_args!("a value that never existed was dropped"));
        }
        NUMBERS.with(|numbers| {
            numbers.next[number as usize] = numbers.free;
            numbers.free = number + 1;
        });
    }
    ALIVE.fetch_sub(1, Relaxed);
}

fn existed(number: u32, stamp: u32) -> bool {
    stamp != 0 && NUMBERS.with(|numbers| number < numbers.unused && stamp <= numbers.stamp)
}

/// A small owned integer whose life is kept in the ledger.
pub struct Tracked {
    value: Box<i32>,
    number: u32,
    stamp: u32,
}

impl Tracked {
    pub fn new(value: i32) -> Self {
        let (number, stamp) = enter();
        Tracked { value: Box::new(value), number, stamp }
    }

    /// The integer; reading it from a value that is not alive is a memory error.
    pub fn get(&self) -> i32 {
        let alive = self.number == UNTRACKED
            || self.stamp != 0
                && STAMPS.get(self.number as usize).is_some_and(|entry| entry.load(Relaxed) == self.stamp);
        if !alive {
            if existed(self.number, self.stamp) {
                memory_error(format_args!("a value was used after it was dropped"));
            }
            memory_error(format_args!("a value that never existed was used"));
        }
        *self.value
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        leave(self.number, self.stamp);
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        Tracked::new(self.get())
    }
}

impl Default for Tracked {
    fn default() -> Self {
        Tracked::new(0)
    }
}

impl fmt::Debug for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracked").field(&self.get()).finish()
    }
}

impl PartialEq for Tracked {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Tracked {}

impl PartialOrd for Tracked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tracked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl Hash for Tracked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, because the count of living values is the process's.
    #[test]
    fn ledger_knows_the_living_and_the_dead() {
        let before = alive();
        let one = Tracked::new(5);
        let two = one.clone();
        assert_eq!(one, two);
        assert_eq!(alive() - before, 2);
        let (number, stamp) = (one.number, one.stamp);
        drop(one);
        assert_eq!(alive() - before, 1);
        assert!(existed(number, stamp));
        let three = Tracked::new(6);
        assert_eq!(three.number, number, "numbers are used again");
        assert_ne!(three.stamp, stamp);
        assert_eq!(format!("{three:?}"), "Tracked(6)");
        assert!(!existed(0xa5a5_a5a5, 0xa5a5_a5a5));
        assert!(!existed(0, 0));
        drop((two, three));
        assert_eq!(alive(), before);
    }
}
