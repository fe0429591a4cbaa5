//! Writes the records of a batch into the response area: head and sections, complete before the tool may see them.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::mem::{size_of, size_of_val};
use core::sync::atomic::Ordering::{Relaxed, Release};

use testwright_wire::layout::SlotHead;
use testwright_wire::record::{status, Compare, Head};

pub const HEAD: usize = size_of::<Head>();

#[derive(Debug)]
pub struct Response<'a> {
    slot: &'a SlotHead,
    base: *mut u8,
    /// End of what sections may take; behind it lies room for the heads of the sequences to come.
    end: usize,
    /// Start of the present record.
    start: usize,
    next: usize,
    /// Something did not fit.
    pub full: bool,
}

impl<'a> Response<'a> {
    /// Continues behind the records that are there.
    ///
    /// # Safety
    /// `base` must point to `bytes` bytes, 8-byte aligned, that nobody else writes.
    pub unsafe fn new(slot: &'a SlotHead, base: *mut u8, bytes: usize) -> Self {
        let start = slot.answered.load(Relaxed) as usize;
        Response { slot, base, end: bytes & !7, start, next: start, full: false }
    }

    /// Starts a record; `to_come` more follow. False if there is no room for its head.
    #[inline]
    pub fn begin(&mut self, bytes: usize, to_come: usize) -> bool {
        self.end = (bytes & !7).saturating_sub(to_come * HEAD);
        self.next = self.start + HEAD;
        self.full = self.next > self.end;
        self.next <= bytes
    }

    /// Starts a section of so many bytes, which [`Response::put`] then fills; if there is no room nothing is written.
    pub fn section(&mut self, tag: u32, bytes: usize) -> bool {
        let padded = 8 + ((bytes + 7) & !7);
        if self.full || self.next + padded > self.end {
            self.full = true;
            return false;
        }
        self.put(&tag.to_le_bytes());
        self.put(&(bytes as u32).to_le_bytes());
        true
    }

    /// Fills the section that was started.
    pub fn put(&mut self, bytes: &[u8]) {
        // SAFETY: `section` has made sure of the room.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(self.next), bytes.len()) };
        self.next += bytes.len();
    }

    /// Ends the section.
    pub fn pad(&mut self) {
        while self.next % 8 != 0 {
            self.put(&[0]);
        }
    }

    /// A section whose content lies ready.
    pub fn whole(&mut self, tag: u32, content: &[u8]) -> bool {
        let fits = self.section(tag, content.len());
        if fits {
            self.put(content);
            self.pad();
        }
        fits
    }

    /// Completes the record. What did not fit makes it a truncated one, without sections.
    #[inline]
    pub fn finish(&mut self, mut head: Head) {
        if self.full {
            self.next = self.start + HEAD;
            head.status = status::TRUNCATED;
        }
        head.sections = (self.next - self.start - HEAD) as u32;
        // SAFETY: `begin` has made sure of the room, and records start at multiples of 8.
        unsafe { self.base.add(self.start).cast::<Head>().write(head) };
        self.start = self.next;
        self.slot.finished.store(self.slot.finished.load(Relaxed) + 1, Relaxed);
        self.slot.answered.store(self.start as u32, Release);
    }
}

/// Plain numbers as bytes.
pub fn bytes_of<T: Number>(numbers: &[T]) -> &[u8] {
    // SAFETY: the numbers have no padding, and every byte is initialised.
    unsafe { core::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Types without padding.
pub trait Number {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for Compare {}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_wire::record::sections;

    fn head(sequence: u32) -> Head {
        Head {
            sequence,
            status: 0,
            flags: 0,
            step: 0,
            calls: 0,
            kept_bytes: 0,
            allocated: 0,
            ticks: 0,
            kept_values: 0,
            sections: 0,
        }
    }

    #[test]
    fn records_that_do_not_fit_are_truncated() {
        // SAFETY: all fields are atomics, for which 0 is a value.
        let slot: SlotHead = unsafe { core::mem::zeroed() };
        let mut area = vec![0_u64; 23];
        // SAFETY: the area is 184 bytes.
        let mut response = unsafe { Response::new(&slot, area.as_mut_ptr().cast(), 184) };
        assert!(response.begin(184, 2));
        assert!(response.whole(7, b"abc"));
        response.finish(head(0));
        assert_eq!(slot.answered.load(Relaxed), 64);
        assert!(response.begin(184, 1));
        assert!(!response.whole(7, &[1; 20]));
        response.finish(head(1));
        assert!(response.begin(184, 0));
        response.finish(head(2));
        assert!(!response.begin(184, 0));
        assert_eq!((slot.answered.load(Relaxed), slot.finished.load(Relaxed)), (160, 3));
        let bytes: Vec<u8> = area.iter().flat_map(|word| word.to_le_bytes()).collect();
        let found: Vec<_> = sections(&bytes[HEAD..64]).collect();
        assert_eq!((found.len(), found[0].tag, found[0].content), (1, 7, &b"abc"[..]));
        assert_eq!(bytes[64 + 4], status::TRUNCATED as u8);
    }
}
