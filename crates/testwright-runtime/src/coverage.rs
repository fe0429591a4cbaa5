//! Coverage: reads the counters of the instrumented crates and tells which were reached for the first time.
//!
//! Receives nothing but the memory that the instrumentation reserves; hands counter numbers to the record. There may be two
//! kinds, numbered one behind the other: first the 64-bit counters of `-C instrument-coverage`, which make the line report but
//! leave out every branch whose count follows from others, then SanitizerCoverage's 8-bit counters, one an edge. Reading all
//! counters costs more than a short sequence, so while nothing new comes they are read once in a window of sequences.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use crate::libc;

const LARGEST_WINDOW: u32 = 64;
const LANES: usize = 8;
const ALL_SEEN: u64 = 0x0101_0101_0101_0101;

/// The binary's counters.
#[derive(Debug, Clone, Copy)]
pub struct Counters {
    words: *mut u64,
    word_count: usize,
    bytes: *mut u8,
    byte_count: usize,
}

#[derive(Debug)]
pub struct Coverage {
    counters: Counters,
    /// One byte a counter, as far as counted here.
    seen: *mut u8,
    /// Numbers found by the last look.
    found: *mut u32,
    found_count: usize,
    window: u32,
    /// Sequences since the last look.
    since: u32,
}

/// The address that the linker gave to a symbol, 0 if it does not exist.
macro_rules! address_of {
    ($symbol:literal) => {{
        let address: usize;
        // SAFETY: loads an address from the global offset table.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        address
    }};
}

impl Counters {
    /// Those of this binary, none if it is not instrumented.
    pub fn of_binary() -> Self {
        let words = address_of!("__start___llvm_prf_cnts");
        let bytes = address_of!("__start___sancov_cntrs");
        Counters {
            words: words as *mut u64,
            word_count: address_of!("__stop___llvm_prf_cnts").saturating_sub(words) / 8,
            bytes: bytes as *mut u8,
            byte_count: address_of!("__stop___sancov_cntrs").saturating_sub(bytes),
        }
    }

    pub fn count(&self) -> usize {
        self.word_count + self.byte_count
    }

    /// The first so many of them.
    fn limited(mut self, most: usize) -> Self {
        self.word_count = self.word_count.min(most);
        self.byte_count = self.byte_count.min(most - self.word_count);
        self
    }
}

impl Coverage {
    /// Reports as many counters as `seen` has room for; it is zero or as other workers left it.
    pub fn new(counters: Counters, seen: *mut u8, room: usize) -> Option<Self> {
        let counters = counters.limited(room);
        let found = libc::reserve(counters.count() * 4 + 64)?.cast();
        Some(Coverage { counters, seen, found, found_count: 0, window: 1, since: 0 })
    }

    /// The numbers that the last look found, ascending.
    pub fn found(&self) -> &[u32] {
        // SAFETY: `found` has room for every counter, and the first `found_count` are written.
        unsafe { core::slice::from_raw_parts(self.found, self.found_count) }
    }

    /// Counts a sequence; whether it is time to look.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.since += 1;
        self.since >= self.window
    }

    /// Looks for counters that nobody has seen. Returns how many sequences they may come from, 0 if there are none.
    pub fn look(&mut self, adapt: bool) -> u32 {
        let since = core::mem::take(&mut self.since);
        self.collect(true);
        if adapt {
            self.window = if self.found_count > 0 { 1 } else { (self.window * 2).min(LARGEST_WINDOW) };
        }
        if self.found_count > 0 {
            since
        } else {
            0
        }
    }

    /// Marks what the last look found as seen.
    pub fn mark(&mut self) {
        for place in 0..self.found_count {
            // SAFETY: found numbers are counters', for which the map has room. Other workers write the same 1.
            unsafe { self.seen.add(*self.found.add(place) as usize).write_volatile(1) };
        }
    }

    /// Sets all counters to 0.
    pub fn zero(&mut self) {
        let Counters { words, word_count, bytes, byte_count } = self.counters;
        // SAFETY: so many counters lie there; without any the pointers are not used.
        unsafe {
            if word_count > 0 {
                words.write_bytes(0, word_count);
            }
            if byte_count > 0 {
                bytes.write_bytes(0, byte_count);
            }
        }
    }

    /// Finds all counters that are not 0.
    pub fn reached(&mut self) {
        self.collect(false);
    }

    /// The counters of `-C instrument-coverage` that are not 0, with their numbers. A thread that code under test left
    /// running may reach more of them from one reading to the next.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let Counters { words, word_count, .. } = self.counters;
        (0..word_count)
            // SAFETY: so many counters lie there.
            .map(move |place| (place as u64, unsafe { words.add(place).read_volatile() }))
            .filter(|&(_, count)| count != 0)
    }

    fn collect(&mut self, only_new: bool) {
        self.found_count = 0;
        let Counters { words, word_count, bytes, byte_count } = self.counters;
        // SAFETY: groups are read only where all their lanes exist, and single counters below the counts.
        unsafe {
            self.collect_kind(
                0,
                word_count,
                only_new,
                |place| *words.add(place) != 0,
                |place| {
                    let lanes = &*words.add(place).cast::<[u64; LANES]>();
                    if lanes.iter().fold(0, |all, lane| all | lane) == 0 {
                        return 0;
                    }
                    (0..LANES).fold(0, |reached, lane| reached | u64::from(lanes[lane] != 0) << (8 * lane))
                },
            );
            self.collect_kind(
                word_count,
                byte_count,
                only_new,
                |place| *bytes.add(place) != 0,
                |place| {
                    let lanes = bytes.add(place).cast::<u64>().read_unaligned();
                    // The top bit of each byte that is not 0, moved to its lowest.
                    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
                    ((((lanes & LOW) + LOW) | lanes) >> 7) & ALL_SEEN
                },
            );
        }
    }

    /// Looks at `count` counters whose numbers start at `first`: singly by `one`, in groups by `group`, which answers with a
    /// byte of 1 for each that is not 0.
    #[inline]
    unsafe fn collect_kind(
        &mut self,
        first: usize,
        count: usize,
        only_new: bool,
        one: impl Fn(usize) -> bool,
        group: impl Fn(usize) -> u64,
    ) {
        let mut place = 0;
        while place + LANES <= count {
            let seen = if only_new { self.seen.add(first + place).cast::<u64>().read_unaligned() } else { 0 };
            if seen != ALL_SEEN {
                let mut new = group(place) & !seen;
                while new != 0 {
                    self.push(first + place + new.trailing_zeros() as usize / 8);
                    new &= new - 1;
                }
            }
            place += LANES;
        }
        while place < count {
            if one(place) && (!only_new || *self.seen.add(first + place) == 0) {
                self.push(first + place);
            }
            place += 1;
        }
    }

    unsafe fn push(&mut self, counter: usize) {
        self.found.add(self.found_count).write(counter as u32);
        self.found_count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_new_counters_once_and_widens_its_window() {
        let (mut words, mut bytes, mut seen) = (vec![0_u64; 21], vec![0_u8; 20], vec![0_u8; 40]);
        let (first, second) = (words.as_mut_ptr(), bytes.as_mut_ptr());
        let counters = Counters { words: first, word_count: 21, bytes: second, byte_count: 20 };
        let mut coverage = Coverage::new(counters, seen.as_mut_ptr(), 40).expect("memory");
        assert_eq!(coverage.counters.count(), 40, "as many as can be marked");
        // SAFETY: the vectors are that long, and live until the end.
        let set = |place: usize, value: u8| unsafe {
            if place < 21 {
                first.add(place).write(u64::from(value) << 40);
            } else {
                second.add(place - 21).write(value);
            }
        };
        for place in [3, 16, 20, 21, 28, 38, 40] {
            set(place, if place == 28 { 0x80 } else { 1 });
        }
        assert!(coverage.is_due());
        assert_eq!(coverage.look(true), 1);
        assert_eq!(coverage.found(), [3, 16, 20, 21, 28, 38]);
        coverage.mark();
        for due_after in [1, 2, 4, 8, 16, 32, 64, 64] {
            for _ in 1..due_after {
                assert!(!coverage.is_due());
            }
            assert!(coverage.is_due());
            assert_eq!(coverage.look(true), 0);
        }
        set(4, 1);
        set(29, 1);
        assert!(!coverage.is_due());
        assert_eq!(coverage.look(true), 1);
        assert_eq!(coverage.found(), [4, 29]);
        coverage.reached();
        assert_eq!(coverage.found(), [3, 4, 16, 20, 21, 28, 29, 38]);
        let counts: Vec<_> = coverage.counts().collect();
        assert_eq!(counts, [3, 4, 16, 20].map(|place| (place, 1 << 40)), "the bytes are not counts");
        coverage.zero();
        coverage.reached();
        assert!(coverage.found().is_empty());
    }
}
