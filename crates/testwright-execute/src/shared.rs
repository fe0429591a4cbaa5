//! The shared memory file: makes it, maps it, and is the only place that touches it.
//!
//! The other side runs foreign code and may scribble anywhere in it at any time. Therefore nothing here hands out a plain
//! reference into it: numbers are atomics, areas are copied in and out, and the places of areas are remembered on this side.
#![expect(
    unsafe_code,
    reason = "memory shared with another process has to be mapped and read through pointers"
)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use testwright_wire::layout::{Area, Header, MAGIC, MESSAGE, SLOTS, SlotHead, SlotPlace, TypeInfo, option};

use crate::{ExecuteError, Limits, Rooms, WorkerPlan, spawn};

const ALIGN: u64 = 64;
const FILE_NAME: usize = 512;

/// Shared memory with its header filled in.
#[derive(Debug)]
pub(crate) struct Shared {
    base: NonNull<u8>,
    bytes: usize,
    file: OwnedFd,
    places: Places,
}

// SAFETY: the mapping belongs to this value alone; it is unmapped once, when the value is dropped, on whichever thread.
unsafe impl Send for Shared {}

#[derive(Debug, Clone, Copy)]
struct Places {
    catalogue: Area,
    seen: Area,
    literals: Area,
    slots: [SlotPlace; SLOTS],
    end: u64,
}

/// What `Header::death` holds, copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LastWords {
    pub kind: u32,
    pub signal: u32,
    pub detail: u64,
    pub line: u32,
    pub message: String,
    pub file: String,
}

impl Shared {
    pub fn new(plan: &WorkerPlan) -> Result<Self, ExecuteError> {
        let places = Places::new(&plan.rooms);
        let failed = ExecuteError::system("make shared memory");
        let (file, base) = Self::map(places.end).map_err(failed)?;
        let bytes = usize::try_from(places.end).expect("it was mapped");
        let shared = Shared { base, bytes, file, places };
        shared.fill_header(plan);
        Ok(shared)
    }

    fn map(bytes: u64) -> rustix::io::Result<(OwnedFd, NonNull<u8>)> {
        let file = memfd_create("testwright", MemfdFlags::CLOEXEC)?;
        let file = fcntl_dupfd_cloexec(&file, spawn::LOWEST)?;
        ftruncate(&file, bytes)?;
        let length = usize::try_from(bytes).map_err(|_| rustix::io::Errno::NOMEM)?;
        // SAFETY: a new mapping at an address of the kernel's choice replaces no other.
        let base = unsafe {
            mmap(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)?
        };
        Ok((file, NonNull::new(base.cast()).expect("the kernel does not map at 0")))
    }

    fn fill_header(&self, plan: &WorkerPlan) {
        let Limits { call, sequence, memory, .. } = plan.limits;
        let mut options = 0;
        if plan.coverage {
            options |= option::COVERAGE;
        }
        if plan.allow_unguarded {
            options |= option::ALLOW_UNGUARDED;
        }
        let header = self.base.cast::<Header>().as_ptr();
        // SAFETY: the mapping starts with room for a header, page-aligned; no worker is running yet.
        unsafe {
            (*header).magic = MAGIC;
            (*header).version = testwright_wire::VERSION;
            (*header).options = options;
            (*header).call_limit_ms = u32::try_from(call.as_millis()).unwrap_or(u32::MAX);
            (*header).sequence_limit_ms = u32::try_from(sequence.as_millis()).unwrap_or(u32::MAX);
            (*header).memory_limit = memory;
            (*header).catalogue = self.places.catalogue;
            (*header).seen = self.places.seen;
            (*header).literals = self.places.literals;
            (*header).slots = self.places.slots;
        }
    }

    /// The header. Only its atomics may be read: the rest is this side's own word, which the other may have overwritten.
    pub fn header(&self) -> &Header {
        // SAFETY: mapped and aligned for as long as `self`; only atomics are used while a worker runs.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    pub fn slot(&self, slot: usize) -> &SlotHead {
        // SAFETY: a `SlotHead` is all atomics and lies inside the mapping at a multiple of 64.
        unsafe { self.at(self.places.slots[slot].head).cast::<SlotHead>().as_ref() }
    }

    /// One byte a counter, for as many as there is room.
    pub fn seen(&self) -> &[AtomicU8] {
        let Area { offset, bytes } = self.places.seen;
        // SAFETY: inside the mapping, and atomics may be shared.
        unsafe { NonNull::slice_from_raw_parts(self.at(offset).cast(), size(bytes)).as_ref() }
    }

    /// The seen map, eight counters a word. Its room is a multiple of eight.
    pub fn seen_words(&self) -> &[AtomicU64] {
        let Area { offset, bytes } = self.places.seen;
        // SAFETY: inside the mapping at a multiple of 64, and atomics may be shared.
        unsafe { NonNull::slice_from_raw_parts(self.at(offset).cast(), size(bytes) / 8).as_ref() }
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub fn request_room(&self) -> usize {
        size(self.places.slots[0].request.bytes) / 2
    }

    pub fn response_room(&self) -> usize {
        size(self.places.slots[0].response.bytes)
    }

    pub fn literal_room(&self) -> usize {
        size(self.places.literals.bytes)
    }

    pub fn write_request(&self, slot: usize, words: &[u16]) {
        assert!(words.len() <= self.request_room(), "the caller has checked the room");
        let place = self.at(self.places.slots[slot].request.offset).cast::<u16>();
        // SAFETY: the room was checked, the place is aligned, and private memory does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), place.as_ptr(), words.len()) }
    }

    pub fn write_literal(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.literal_room(), "the caller has checked the room");
        let place = self.at(self.places.literals.offset + offset as u64);
        // SAFETY: the room was checked, and private memory does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len()) }
    }

    /// Copies the first bytes of a slot's response.
    pub fn read_response(&self, slot: usize, bytes: usize, into: &mut Vec<u8>) {
        let bytes = bytes.min(self.response_room());
        self.read(self.places.slots[slot].response.offset, bytes, into);
    }

    pub fn types(&self, count: u32) -> Vec<TypeInfo> {
        let room = self.places.catalogue.bytes / size_of::<TypeInfo>() as u64;
        let count = u64::from(count).min(room);
        let first = self.at(self.places.catalogue.offset).cast::<TypeInfo>();
        // SAFETY: so many records lie inside the mapping, aligned, and any bits make a `TypeInfo`.
        (0..size(count)).map(|index| unsafe { first.add(index).read_volatile() }).collect()
    }

    pub fn last_words(&self) -> LastWords {
        let death = &self.header().death;
        let text = |first: *const u8, length: u32, room: usize| {
            let mut bytes = Vec::new();
            let offset = first as usize - self.base.as_ptr() as usize;
            self.read(offset as u64, (length as usize).min(room), &mut bytes);
            crate::decode::text(&bytes)
        };
        LastWords {
            kind: death.kind.load(Ordering::Acquire),
            signal: death.signal.load(Ordering::Relaxed),
            detail: death.detail.load(Ordering::Relaxed),
            line: death.line.load(Ordering::Relaxed),
            message: text(death.message[0].get(), death.message_len.load(Ordering::Relaxed), MESSAGE),
            file: text(death.file[0].get(), death.file_len.load(Ordering::Relaxed), FILE_NAME),
        }
    }

    /// Wipes what a dead worker left in the header, before the next one starts.
    pub fn wipe(&self) {
        let Header { operations, types, counters, guards, steady, progress, death, .. } = self.header();
        let own = [operations, types, guards, steady, &progress.word, &progress.step, &progress.phase];
        let note = [&death.signal, &death.line, &death.message_len, &death.file_len, &death.kind];
        for number in own.into_iter().chain(note) {
            number.store(0, Ordering::Relaxed);
        }
        // Nobody may be taken for the sequence that ran before any did.
        for number in [&progress.slot, &progress.sequence] {
            number.store(u32::MAX, Ordering::Relaxed);
        }
        for number in [counters, &progress.calls, &progress.started, &death.detail] {
            number.store(0, Ordering::Relaxed);
        }
    }

    fn read(&self, offset: u64, bytes: usize, into: &mut Vec<u8>) {
        assert!(size(offset) + bytes <= self.bytes, "areas lie inside the mapping");
        into.clear();
        into.reserve(bytes);
        // SAFETY: source and destination have room for so many bytes and do not overlap; all of them are then written.
        unsafe {
            ptr::copy_nonoverlapping(self.at(offset).as_ptr(), into.as_mut_ptr(), bytes);
            into.set_len(bytes);
        }
    }

    fn at(&self, offset: u64) -> NonNull<u8> {
        let offset = size(offset);
        assert!(offset <= self.bytes, "areas lie inside the mapping");
        // SAFETY: inside the mapping, as was just checked.
        unsafe { self.base.add(offset) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and every reference into it borrows `self`. A failure leaves it mapped.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

impl Places {
    fn new(rooms: &Rooms) -> Self {
        let mut end = (size_of::<Header>() as u64).next_multiple_of(ALIGN);
        let mut area = |bytes: u64| {
            let place = Area { offset: end, bytes: bytes.next_multiple_of(ALIGN) };
            end += place.bytes;
            place
        };
        let catalogue = area(u64::from(rooms.types) * size_of::<TypeInfo>() as u64);
        let seen = area(rooms.counters.into());
        let literals = area(rooms.literals.into());
        let slots = [(); SLOTS].map(|()| SlotPlace {
            head: area(size_of::<SlotHead>() as u64).offset,
            request: area(u64::from(rooms.request_words) * 2),
            response: area(rooms.response.into()),
        });
        Places { catalogue, seen, literals, slots, end }
    }
}

fn size(number: u64) -> usize {
    usize::try_from(number).expect("the mapping fits the address space")
}
