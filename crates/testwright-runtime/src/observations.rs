//! What a sequence's values look like: fingerprints and `Debug` texts, taken where the tool asks for them.
//!
//! Runs `Hash` and `Debug` of the crate under test, so each method may panic; then [`Observations::under_way`] says at which value.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::fmt;

use testwright_wire::code::MAX_VALUES;
use testwright_wire::record::{want, TEXT_LIMIT};

use crate::libc;
use crate::types::Type;

/// How much of a `Debug` text is listened to before it is told to stop.
const TEXT_PATIENCE: usize = 64 * TEXT_LIMIT;
/// Room for the texts of one sequence.
const TEXT_ROOM: usize = 64 << 20;

#[derive(Debug)]
pub struct Observations {
    /// The value that is observed at this moment.
    pub under_way: Option<u32>,
    fingerprints: *mut u64,
    fingerprint_count: usize,
    results: *mut u64,
    result_count: usize,
    observed: *mut u64,
    observed_count: usize,
    texts: *mut u8,
    texts_length: usize,
    /// The texts of the sequence did not fit.
    pub texts_full: bool,
}

impl Observations {
    pub fn new() -> Option<Self> {
        Some(Observations {
            under_way: None,
            fingerprints: libc::reserve(MAX_VALUES * 8)?.cast(),
            fingerprint_count: 0,
            results: libc::reserve(MAX_VALUES * 8)?.cast(),
            result_count: 0,
            observed: libc::reserve(MAX_VALUES * 8)?.cast(),
            observed_count: 0,
            texts: libc::reserve(TEXT_ROOM)?,
            texts_length: 0,
            texts_full: false,
        })
    }

    #[inline]
    pub fn clear(&mut self) {
        self.under_way = None;
        self.fingerprint_count = 0;
        self.result_count = 0;
        self.observed_count = 0;
        self.texts_length = 0;
        self.texts_full = false;
    }

    /// Fingerprints at the end, one a value.
    pub fn fingerprints(&self) -> &[u64] {
        // SAFETY: so many are written.
        unsafe { core::slice::from_raw_parts(self.fingerprints, self.fingerprint_count) }
    }

    /// Fingerprints when made, one a value.
    pub fn results(&self) -> &[u64] {
        // SAFETY: so many are written.
        unsafe { core::slice::from_raw_parts(self.results, self.result_count) }
    }

    /// Fingerprints that were asked for singly, in that order.
    pub fn observed(&self) -> &[u64] {
        // SAFETY: so many are written.
        unsafe { core::slice::from_raw_parts(self.observed, self.observed_count) }
    }

    /// The content of a texts section.
    pub fn texts(&self) -> &[u8] {
        // SAFETY: so many bytes are written.
        unsafe { core::slice::from_raw_parts(self.texts, self.texts_length) }
    }

    /// Observes a value that was just made.
    ///
    /// # Safety
    /// The cell must hold a value of the type; numbers come in order, below `MAX_VALUES`. So for [`Observations::left`].
    pub unsafe fn made(&mut self, number: usize, cell: *const u8, ty: &Type, wants: u32) {
        self.under_way = Some(number as u32);
        if wants & want::RESULTS != 0 {
            let result = ty.fingerprint.map_or(0, |fingerprint| fingerprint(cell));
            self.results.add(number).write(result);
            self.result_count = number + 1;
        }
        if wants & want::TEXTS != 0 {
            self.take_text(cell, ty);
        }
        self.under_way = None;
    }

    /// Observes what is left of a value at the end; the cell is null if it is gone.
    ///
    /// # Safety
    /// See [`Observations::made`].
    pub unsafe fn left(&mut self, number: usize, cell: *const u8, ty: &Type) {
        self.under_way = Some(number as u32);
        let fingerprint = match ty.fingerprint {
            Some(fingerprint) if !cell.is_null() => fingerprint(cell),
            _ => 0,
        };
        self.fingerprints.add(number).write(fingerprint);
        self.fingerprint_count = number + 1;
        self.under_way = None;
    }

    /// Observes one value; more than there is room for are not kept.
    ///
    /// # Safety
    /// See [`Observations::made`].
    pub unsafe fn asked(&mut self, number: usize, cell: *const u8, ty: &Type) {
        self.under_way = Some(number as u32);
        let fingerprint = ty.novelty.map_or(0, |fingerprint| fingerprint(cell));
        if self.observed_count < MAX_VALUES {
            self.observed.add(self.observed_count).write(fingerprint);
            self.observed_count += 1;
        }
        self.under_way = None;
    }

    /// Takes the text of a value that was made before.
    ///
    /// # Safety
    /// See [`Observations::made`].
    pub unsafe fn text_again(&mut self, number: usize, cell: *const u8, ty: &Type) {
        self.under_way = Some(number as u32);
        self.take_text(cell, ty);
        self.under_way = None;
    }

    unsafe fn take_text(&mut self, cell: *const u8, ty: &Type) {
        if self.texts_full || self.texts_length + 4 + TEXT_LIMIT > TEXT_ROOM {
            self.texts_full = true;
            return;
        }
        let length = self.texts.add(self.texts_length);
        let mut sink = TextSink { start: length.add(4), kept: 0, heard: 0 };
        self.texts_length += 4;
        let Some(text) = ty.text else {
            length.cast::<u32>().write_unaligned(u32::MAX);
            return;
        };
        // An error of the type's own `Debug` leaves what it wrote before.
        let _ = text(cell, &mut sink);
        length.cast::<u32>().write_unaligned(sink.kept as u32);
        self.texts_length += sink.kept;
    }
}

/// Keeps the first part of a text, listens to more, and stops one that does not end.
struct TextSink {
    start: *mut u8,
    kept: usize,
    heard: usize,
}

impl fmt::Write for TextSink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.heard == self.kept {
            let mut take = text.len().min(TEXT_LIMIT - self.kept);
            while !text.is_char_boundary(take) {
                take -= 1;
            }
            // SAFETY: the caller has reserved `TEXT_LIMIT` bytes there.
            unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), self.start.add(self.kept), take) };
            self.kept += take;
        }
        self.heard += text.len();
        if self.heard > TEXT_PATIENCE {
            return Err(fmt::Error);
        }
        Ok(())
    }
}
