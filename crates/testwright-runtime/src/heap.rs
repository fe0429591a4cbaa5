//! The checking heap: size classes in one reserved range, each block with a header before and a canary behind.
//!
//! Receives requests with their layouts; hands out memory filled with a pattern, and a [`Fault`] where a caller broke a rule.
//! Freed blocks are filled with poison and wait until their sequence ends, or in a short queue, so that a later write is seen.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::alloc::Layout;
use core::fmt;
use core::mem::size_of;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::libc;
use crate::lock::SpinLock;

const FRESH: u8 = 0xa5;
const POISON: u8 = 0xdd;
const ALIVE: u64 = 0x616c_6976_6562_6c6b;
const FREED: u64 = 0x6672_6565_6462_6c6b;
const CANARY: u64 = 0xc0de_cafe_f00d_5eed;
const CANARY_BYTES: usize = 8;
const HEADER: usize = size_of::<Tag>();
/// Blocks up to this size are filled and poisoned whole, larger ones this much at each end.
const WHOLE: usize = 2048;
/// From this size on freed blocks go back to the system at once.
const LARGE: usize = 1 << 20;
const PAGE: usize = 4096;
const CLASSES: usize = 46 * 4;
const LARGEST: usize = 1 << 45;
const LARGEST_ALIGN: usize = 1 << 30;
const QUEUE: usize = 256;
/// Bytes that may wait in the queue.
const QUEUE_BYTES: usize = 4 << 20;
/// Address spaces tried, largest first.
const RANGES: [usize; 4] = [64 << 30, 16 << 30, 4 << 30, 1 << 30];

/// Stands before each block, next to its first byte.
#[repr(C)]
struct Tag {
    /// [`ALIVE`] or [`FREED`], mixed with the block's address.
    mark: u64,
    size: usize,
    /// Of the free block behind this one in its class.
    next: *mut Tag,
    /// How far before the tag the class's piece starts.
    offset: u32,
    class: u16,
    align_log2: u8,
}

/// A rule of allocation that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    DoubleFree,
    NeverAllocated,
    OtherLayout { size: usize, align: usize, allocated_size: usize, allocated_align: usize },
    WriteBehind { size: usize },
    WriteToFreed { size: usize },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DoubleFree => write!(f, "double free"),
            Fault::NeverAllocated => write!(f, "free of a pointer that was never allocated"),
            Fault::OtherLayout { size, align, allocated_size, allocated_align } => write!(
                f,
                "freed with another layout than allocated: size {size}, align {align}; allocated: size {allocated_size}, align {allocated_align}"
            ),
            Fault::WriteBehind { size } => write!(f, "write past the end of a heap block of {size} bytes"),
            Fault::WriteToFreed { size } => write!(f, "write to freed memory, in a block of {size} bytes"),
        }
    }
}

pub struct Heap {
    state: SpinLock<State>,
    /// Bytes handed out and not freed.
    live: AtomicU64,
    /// All bytes that were ever handed out.
    total: AtomicU64,
    limit: AtomicU64,
}

struct State {
    start: usize,
    next: usize,
    end: usize,
    free: [*mut Tag; CLASSES],
    queue: [*mut Tag; QUEUE],
    /// Blocks that ever entered and left the queue; places are these modulo its length.
    entered: usize,
    left: usize,
    waiting_bytes: usize,
}

// SAFETY: the pointers lead into the heap's own range, used under its lock.
unsafe impl Send for State {}

impl Heap {
    pub const fn new() -> Self {
        Heap {
            state: SpinLock::new(State {
                start: 0,
                next: 0,
                end: 0,
                free: [core::ptr::null_mut(); CLASSES],
                queue: [core::ptr::null_mut(); QUEUE],
                entered: 0,
                left: 0,
                waiting_bytes: 0,
            }),
            live: AtomicU64::new(0),
            total: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
        }
    }

    pub fn live(&self) -> u64 {
        self.live.load(Relaxed)
    }

    /// Bytes that were handed out so far, freed ones included.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Refuses requests that would take more than this at once.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Relaxed);
    }

    /// Adds to the total, which begins again after its end. A demand that is refused counts as work too: without a limit it would be.
    fn count(&self, size: usize) {
        self.total.store(self.total.load(Relaxed).wrapping_add(size as u64), Relaxed);
    }

    /// Null if the limit or the address space does not allow it.
    pub fn allocate(&self, layout: Layout, zeroed: bool) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        if size > LARGEST || align > LARGEST_ALIGN {
            self.state.with(|_| self.count(LARGEST));
            return core::ptr::null_mut();
        }
        let slack = if align > 16 { align } else { 0 };
        let (class, piece) = class_of(size + HEADER + CANARY_BYTES + slack);
        let (address, fresh) = self.state.with(|state| {
            let live = self.live.load(Relaxed) + size as u64;
            if live > self.limit.load(Relaxed) {
                self.count(size);
                return (0, false);
            }
            let Some((start, fresh)) = state.piece(class, piece) else { return (0, false) };
            self.live.store(live, Relaxed);
            self.count(size);
            let address = (start + HEADER + align.max(16) - 1) & !(align.max(16) - 1);
            // SAFETY: header, block and canary lie in the piece that was just taken.
            unsafe {
                let tag = tag_of(address);
                tag.write(Tag {
                    mark: ALIVE ^ address as u64,
                    size,
                    next: core::ptr::null_mut(),
                    offset: (tag as usize - start) as u32,
                    class: class as u16,
                    align_log2: align.trailing_zeros() as u8,
                });
            }
            (address, fresh)
        });
        let block = address as *mut u8;
        if block.is_null() {
            return block;
        }
        // SAFETY: as above, and the block belongs to this caller alone now.
        unsafe {
            if !zeroed {
                block.write_bytes(FRESH, if size > WHOLE { WHOLE / 2 } else { size });
            } else if !fresh {
                block.write_bytes(0, size);
            }
            set_canary(block, size);
        }
        block
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// None: what is wrong with the arguments is the answer. The block must not be used afterwards.
    pub unsafe fn free(&self, block: *mut u8, layout: Layout) -> Result<(), Fault> {
        self.state.with(|state| {
            let tag = state.living(block, layout)?;
            let size = (*tag).size;
            (*tag).mark = FREED ^ block as u64;
            self.live.store(self.live.load(Relaxed) - size as u64, Relaxed);
            state.retire(tag, block, size)
        })
    }

    /// Makes a block larger or smaller. Growth always moves it, so that pointers to the old place show.
    ///
    /// # Safety
    /// As for [`Heap::free`].
    pub unsafe fn resize(&self, block: *mut u8, layout: Layout, size: usize) -> Result<*mut u8, Fault> {
        if size <= layout.size() {
            return self.state.with(|state| {
                let tag = state.living(block, layout)?;
                (*tag).size = size;
                self.live.store(self.live.load(Relaxed) - (layout.size() - size) as u64, Relaxed);
                set_canary(block, size);
                Ok(block)
            });
        }
        self.state.with(|state| state.living(block, layout).map(|_| ()))?;
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
            return Ok(core::ptr::null_mut());
        };
        let new = self.allocate(wanted, false);
        if !new.is_null() {
            core::ptr::copy_nonoverlapping(block, new, layout.size());
            self.free(block, layout)?;
        }
        Ok(new)
    }

    /// Looks at all blocks that wait, and lets them be used again: what ends here leaves nothing behind that could write to
    /// them, and the next user finds them in the processor's cache.
    pub fn check_freed(&self) -> Result<(), Fault> {
        self.state.with(|state| {
            while state.left < state.entered {
                // SAFETY: blocks in the queue keep their tags and memory.
                unsafe { state.release_oldest()? };
            }
            Ok(())
        })
    }
}

impl State {
    /// Memory for a class: its start, and whether it is still zero.
    fn piece(&mut self, class: usize, bytes: usize) -> Option<(usize, bool)> {
        let free = self.free[class];
        if !free.is_null() {
            // SAFETY: tags in the free lists are the heap's own.
            unsafe {
                self.free[class] = (*free).next;
                let start = free as usize - (*free).offset as usize;
                // The next block may start elsewhere, and find this tag in its zeroed memory.
                free.cast::<u8>().write_bytes(0, HEADER);
                return Some((start, bytes >= LARGE));
            }
        }
        if self.start == 0 {
            self.reserve()?;
        }
        let start = if bytes >= LARGE { (self.next + PAGE - 1) & !(PAGE - 1) } else { self.next };
        let next = start.checked_add(bytes)?;
        if next > self.end {
            return None;
        }
        self.next = next;
        Some((start, true))
    }

    fn reserve(&mut self) -> Option<()> {
        /// Where the heap lies if the place is free, so that addresses repeat.
        const PLACE: usize = 0x2000_0000_0000;
        let (start, bytes) =
            RANGES.iter().find_map(|&bytes| Some((libc::reserve_at(Some(PLACE), bytes)?, bytes)))?;
        self.start = start as usize;
        self.next = self.start;
        self.end = self.start + bytes;
        Some(())
    }

    /// The tag of a block that is alive and was allocated with this layout.
    #[inline]
    unsafe fn living(&self, block: *mut u8, layout: Layout) -> Result<*mut Tag, Fault> {
        let address = block as usize;
        if address % 16 != 0 || address < self.start + HEADER || address >= self.next {
            return Err(Fault::NeverAllocated);
        }
        let tag = tag_of(address);
        let mark = (*tag).mark ^ address as u64;
        if mark != ALIVE {
            return Err(if mark == FREED { Fault::DoubleFree } else { Fault::NeverAllocated });
        }
        let (allocated_size, allocated_align) = ((*tag).size, 1 << (*tag).align_log2);
        let (size, align) = (layout.size(), layout.align());
        if size != allocated_size || align != allocated_align {
            return Err(Fault::OtherLayout { size, align, allocated_size, allocated_align });
        }
        if block.add(size).cast::<u64>().read_unaligned() != CANARY {
            return Err(Fault::WriteBehind { size });
        }
        Ok(tag)
    }

    unsafe fn retire(&mut self, tag: *mut Tag, block: *mut u8, size: usize) -> Result<(), Fault> {
        if size >= LARGE {
            self.recycle(tag);
            return Ok(());
        }
        if size <= WHOLE {
            block.write_bytes(POISON, size);
        } else {
            block.write_bytes(POISON, WHOLE / 2);
            block.add(size - WHOLE / 2).write_bytes(POISON, WHOLE / 2);
        }
        while self.entered - self.left >= QUEUE || self.waiting_bytes + size > QUEUE_BYTES {
            self.release_oldest()?;
        }
        self.queue[self.entered % QUEUE] = tag;
        self.entered += 1;
        self.waiting_bytes += size;
        Ok(())
    }

    /// Checks the block that waits longest, and ends its wait.
    #[inline]
    unsafe fn release_oldest(&mut self) -> Result<(), Fault> {
        let oldest = self.queue[self.left % QUEUE];
        check_poison(oldest)?;
        self.left += 1;
        self.waiting_bytes -= (*oldest).size;
        self.recycle(oldest);
        Ok(())
    }

    unsafe fn recycle(&mut self, tag: *mut Tag) {
        let class = (*tag).class as usize;
        let bytes = bytes_of(class);
        if bytes >= LARGE {
            let start = tag as usize - (*tag).offset as usize;
            let kept = tag.read();
            let pages = bytes & !(PAGE - 1);
            libc::call(libc::nr::MADVISE, [start, pages, libc::MADV_DONTNEED, 0, 0, 0]);
            // The rest of the last page is small.
            ((start + pages) as *mut u8).write_bytes(0, bytes - pages);
            tag.write(kept);
        }
        (*tag).next = self.free[class];
        self.free[class] = tag;
    }
}

fn tag_of(address: usize) -> *mut Tag {
    (address - HEADER) as *mut Tag
}

unsafe fn set_canary(block: *mut u8, size: usize) {
    block.add(size).cast::<u64>().write_unaligned(CANARY);
}

unsafe fn check_poison(tag: *mut Tag) -> Result<(), Fault> {
    let size = (*tag).size;
    let block = tag.cast::<u8>().add(HEADER);
    let intact = if size <= WHOLE {
        is_poison(core::slice::from_raw_parts(block, size))
    } else {
        is_poison(core::slice::from_raw_parts(block, WHOLE / 2))
            && is_poison(core::slice::from_raw_parts(block.add(size - WHOLE / 2), WHOLE / 2))
    };
    if intact && (*tag).mark == FREED ^ block as u64 {
        Ok(())
    } else {
        Err(Fault::WriteToFreed { size })
    }
}

fn is_poison(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |difference, byte| difference | (byte ^ POISON)) == 0
}

/// Four classes to each doubling, from 64 bytes: the class and its size.
fn class_of(bytes: usize) -> (usize, usize) {
    let last = bytes.max(64) - 1;
    let exponent = (usize::BITS - 1 - last.leading_zeros()) as usize;
    let shift = exponent - 2;
    let class = (exponent - 5) * 4 + ((last >> shift) & 3);
    (class, ((last >> shift) + 1) << shift)
}

fn bytes_of(class: usize) -> usize {
    let shift = class / 4 + 5 - 2;
    (4 + class % 4 + 1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn classes_fit_and_do_not_waste_much() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, (1 << 33) - 5]) {
            let (class, size) = class_of(bytes);
            assert!(size >= bytes && (bytes < 64 || size <= bytes + bytes / 4 + 1), "{bytes} {size}");
            assert_eq!(bytes_of(class), size);
            assert_eq!(size % 16, 0);
            assert!(class < CLASSES);
        }
        assert!(class_of(2 * LARGEST + 64).0 < CLASSES);
    }

    #[test]
    fn memory_is_filled_aligned_and_counted() {
        let heap = Heap::new();
        for align in [1, 8, 64, 4096, 1 << 16] {
            for size in [1, 40, 5000, 300_000] {
                let block = heap.allocate(layout(size, align), false);
                assert_eq!(block as usize % align, 0);
                assert_eq!(heap.live(), size as u64);
                // SAFETY: the block has `size` bytes and is freed once.
                unsafe {
                    assert_eq!(*block, FRESH);
                    block.write_bytes(1, size);
                    heap.free(block, layout(size, align)).expect("a living block");
                    let zeroed = heap.allocate(layout(size, align), true);
                    assert!(core::slice::from_raw_parts(zeroed, size).iter().all(|&byte| byte == 0));
                    zeroed.write_bytes(7, size);
                    heap.free(zeroed, layout(size, align)).expect("a living block");
                }
            }
        }
        assert_eq!(heap.live(), 0);
        assert_eq!(heap.check_freed(), Ok(()));
    }

    #[test]
    fn recycled_large_blocks_are_zero_again() {
        let heap = Heap::new();
        let wanted = layout(1 << 20, 8);
        let first = heap.allocate(wanted, false);
        // SAFETY: a block of that size.
        unsafe {
            first.write_bytes(3, 1 << 20);
            heap.free(first, wanted).expect("living");
            assert_eq!(heap.free(first, wanted), Err(Fault::DoubleFree));
            let again = heap.allocate(wanted, true);
            assert_eq!(again, first);
            assert!(core::slice::from_raw_parts(again, 1 << 20).iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn what_is_refused_is_counted_for_ever() {
        let heap = Heap::new();
        heap.set_limit(1 << 20);
        // So often that the total begins again.
        for _ in 0..600_000 {
            let before = heap.total();
            for size in [2 << 20, LARGEST, LARGEST + 1, isize::MAX as usize] {
                assert!(heap.allocate(layout(size, 1), false).is_null());
            }
            let counted = (2 << 20) + 3 * LARGEST as u64;
            assert_eq!(heap.total().wrapping_sub(before), counted);
        }
    }

    #[test]
    fn broken_rules_are_seen() {
        let heap = Heap::new();
        let wanted = layout(24, 8);
        // SAFETY: the blocks stay mapped; breaking the rules is the test.
        unsafe {
            let block = heap.allocate(wanted, false);
            heap.free(block, wanted).expect("living");
            assert_eq!(heap.free(block, wanted), Err(Fault::DoubleFree));

            let block = heap.allocate(wanted, false);
            assert_eq!(
                heap.free(block, layout(16, 4)),
                Err(Fault::OtherLayout { size: 16, align: 4, allocated_size: 24, allocated_align: 8 })
            );
            assert_eq!(heap.free(block.add(8), wanted), Err(Fault::NeverAllocated));
            assert_eq!(heap.free(block.add(16), wanted), Err(Fault::NeverAllocated));
            let mut local = 0_u64;
            assert_eq!(heap.free(core::ptr::addr_of_mut!(local).cast(), wanted), Err(Fault::NeverAllocated));

            block.add(24).write(0);
            assert_eq!(heap.free(block, wanted), Err(Fault::WriteBehind { size: 24 }));

            let block = heap.allocate(wanted, false);
            heap.free(block, wanted).expect("living");
            assert_eq!(heap.check_freed(), Ok(()));
            let block = heap.allocate(wanted, false);
            heap.free(block, wanted).expect("living");
            block.add(3).write(1);
            assert_eq!(heap.check_freed(), Err(Fault::WriteToFreed { size: 24 }));
        }
    }

    #[test]
    fn writes_to_freed_memory_show_when_the_queue_turns() {
        let heap = Heap::new();
        let wanted = layout(100, 4);
        // SAFETY: as above.
        unsafe {
            let stale = heap.allocate(wanted, false);
            heap.free(stale, wanted).expect("living");
            stale.write(0);
            let turned = (0..=QUEUE).find_map(|_| heap.free(heap.allocate(wanted, false), wanted).err());
            assert_eq!(turned, Some(Fault::WriteToFreed { size: 100 }));
        }
    }

    #[test]
    fn resizing_keeps_contents_and_moves_on_growth() {
        let heap = Heap::new();
        // SAFETY: sizes and layouts match.
        unsafe {
            let block = heap.allocate(layout(10, 1), false);
            block.write_bytes(9, 10);
            let grown = heap.resize(block, layout(10, 1), 20).expect("living");
            assert_ne!(grown, block);
            assert_eq!((*grown.add(9), *grown.add(10)), (9, FRESH));
            let shrunk = heap.resize(grown, layout(20, 1), 5).expect("living");
            assert_eq!(shrunk, grown);
            assert_eq!(heap.live(), 5);
            assert_eq!(heap.resize(block, layout(10, 1), 20), Err(Fault::DoubleFree));
            heap.free(shrunk, layout(5, 1)).expect("living");
        }
    }

    #[test]
    fn limit_is_kept() {
        let heap = Heap::new();
        heap.set_limit(1000);
        assert!(heap.allocate(layout(1001, 1), false).is_null());
        assert!(!heap.allocate(layout(999, 1), false).is_null());
        assert!(heap.allocate(layout(2, 1), false).is_null());
        heap.set_limit(u64::MAX);
        assert!(heap.allocate(layout(1 << 44, 1), false).is_null(), "more than there is address space");
    }
}
