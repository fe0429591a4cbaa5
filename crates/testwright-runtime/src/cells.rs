//! The cells of a sequence: one bump arena whose cells never move.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use crate::libc;

/// Address space of the arena; pages are committed when touched.
const BYTES: usize = 256 << 20;
/// Where it lies if the place is free, so that addresses repeat.
const PLACE: usize = 0x1100_0000_0000;
/// More than this is given back to the system after a sequence.
const KEPT: usize = 4 << 20;

#[derive(Debug)]
pub struct Arena {
    base: usize,
    next: usize,
    end: usize,
}

impl Arena {
    pub fn new() -> Option<Self> {
        let base = libc::reserve_at(Some(PLACE), BYTES)? as usize;
        Some(Arena { base, next: base, end: base + BYTES })
    }

    /// A cell of `size` bytes; `mask` is its alignment minus one.
    #[inline]
    pub fn cell(&mut self, size: usize, mask: usize) -> Option<*mut u8> {
        let cell = (self.next + mask) & !mask;
        let next = cell.checked_add(size)?;
        if next > self.end {
            return None;
        }
        self.next = next;
        Some(cell as *mut u8)
    }

    /// All cells are free again; nothing may live in them.
    #[inline]
    pub fn reset(&mut self) {
        if self.next - self.base > KEPT {
            let start = self.base + KEPT;
            // SAFETY: the range lies in the arena, starts at a page, and no cell in it is used any more.
            unsafe {
                libc::call(libc::nr::MADVISE, [start, self.next - start, libc::MADV_DONTNEED, 0, 0, 0])
            };
        }
        self.next = self.base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_bounded() {
        let mut arena = Arena::new().expect("address space");
        let first = arena.cell(1, 0).expect("room") as usize;
        let page = arena.cell(0, 4095).expect("room") as usize;
        assert_eq!(page % 4096, 0);
        assert!(page > first);
        assert!(arena.cell(BYTES, 0).is_none());
        assert!(arena.cell(usize::MAX - 8, 7).is_none());
        arena.reset();
        assert_eq!(arena.cell(8, 7).expect("room") as usize, first);
    }
}
