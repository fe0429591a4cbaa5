//! The worker's global allocator: the checking heap, or under AddressSanitizer the system's with a count.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::death;

/// The program's allocator in a worker, see [`global_allocator!`](crate::global_allocator).
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

/// The size that was refused last, and the call it was refused in.
static REFUSED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn note_refusal(size: usize) {
    REFUSED[0].store(size as u64, Relaxed);
    REFUSED[1].store(death::calls() + 1, Relaxed);
}

/// The size that the present call asked for in vain.
pub fn refused() -> Option<u64> {
    (REFUSED[1].load(Relaxed) == death::calls() + 1).then(|| REFUSED[0].load(Relaxed))
}

#[cfg(not(testwright_asan))]
mod checking {
    use super::{death, note_refusal, Allocator, GlobalAlloc, Layout};
    use crate::heap::{Fault, Heap};

    static HEAP: Heap = Heap::new();
    pub const CHECKING: bool = true;

    #[inline]
    pub fn live() -> u64 {
        HEAP.live()
    }

    #[inline]
    pub fn total() -> u64 {
        HEAP.total()
    }

    pub fn set_limit(bytes: u64) {
        HEAP.set_limit(bytes);
    }

    /// Ends the process if something wrote to memory freed since the last check.
    pub fn check() {
        if let Err(fault) = HEAP.check_freed() {
            report(fault);
        }
    }

    #[cold]
    fn report(fault: Fault) -> ! {
        death::memory_error(format_args!("{fault}"))
    }

    fn allocate(layout: Layout, zeroed: bool) -> *mut u8 {
        let block = HEAP.allocate(layout, zeroed);
        if block.is_null() {
            note_refusal(layout.size());
        }
        block
    }

    // SAFETY: `Heap` hands out blocks that fit their layouts and do not overlap.
    unsafe impl GlobalAlloc for Allocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            allocate(layout, false)
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            allocate(layout, true)
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            if let Err(fault) = HEAP.free(block, layout) {
                report(fault);
            }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            match HEAP.resize(block, layout, size) {
                Ok(new) => {
                    if new.is_null() {
                        note_refusal(size);
                    }
                    new
                }
                Err(fault) => report(fault),
            }
        }
    }
}

#[cfg(testwright_asan)]
mod counting {
    use super::{note_refusal, Allocator, AtomicU64, GlobalAlloc, Layout, Relaxed};
    use std::alloc::System;

    static LIVE: AtomicU64 = AtomicU64::new(0);
    static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
    static TOTAL: AtomicU64 = AtomicU64::new(0);
    pub const CHECKING: bool = false;

    pub fn total() -> u64 {
        TOTAL.load(Relaxed)
    }

    pub fn live() -> u64 {
        LIVE.load(Relaxed)
    }

    pub fn set_limit(bytes: u64) {
        LIMIT.store(bytes, Relaxed);
    }

    /// The sanitizer looks at each access.
    pub fn check() {}

    fn counted(more: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
        let fits =
            LIVE.load(Relaxed).checked_add(more as u64).is_some_and(|live| live <= LIMIT.load(Relaxed));
        let block = if fits { allocate() } else { core::ptr::null_mut() };
        if block.is_null() {
            note_refusal(more);
            TOTAL.fetch_add(more as u64, Relaxed);
        } else {
            LIVE.fetch_add(more as u64, Relaxed);
            TOTAL.fetch_add(more as u64, Relaxed);
        }
        block
    }

    // SAFETY: the system's allocator does the work.
    unsafe impl GlobalAlloc for Allocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            counted(layout.size(), || System.alloc(layout))
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            counted(layout.size(), || System.alloc_zeroed(layout))
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            LIVE.fetch_sub(layout.size() as u64, Relaxed);
            System.dealloc(block, layout);
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            let new = counted(size, || System.realloc(block, layout, size));
            if !new.is_null() {
                LIVE.fetch_sub(layout.size() as u64, Relaxed);
            }
            new
        }
    }
}

#[cfg(not(testwright_asan))]
pub use checking::{check, live, set_limit, total, CHECKING};
#[cfg(testwright_asan)]
pub use counting::{check, live, set_limit, total, CHECKING};
