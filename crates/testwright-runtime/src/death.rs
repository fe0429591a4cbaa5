//! The worker's last words: fills in the shared [`Death`] and ends the process.
//!
//! Receives what the signal handlers, the allocator, the ledger and the start saw; the tool reads it.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed, Ordering::Release};

use testwright_wire::layout::{death, Header, MESSAGE};

use crate::libc::{self, nr};
use crate::text::Fixed;

/// The exit status of a worker that left last words.
const STATUS: usize = 86;

static HEADER: AtomicPtr<Header> = AtomicPtr::new(core::ptr::null_mut());
/// The thread that is writing last words.
static WRITER: AtomicI64 = AtomicI64::new(0);

/// From here on last words go to this header.
pub fn attach(header: *mut Header) {
    HEADER.store(header, Release);
}

/// The first byte of the shared memory.
pub fn shared() -> *mut u8 {
    HEADER.load(Relaxed).cast()
}

pub fn header() -> Option<&'static Header> {
    // SAFETY: null, or the shared mapping, which is never unmapped.
    unsafe { HEADER.load(Relaxed).as_ref() }
}

/// Calls made so far: stamps what belongs to one call.
pub fn calls() -> u64 {
    header().map_or(0, |header| header.progress.calls.load(Relaxed))
}

#[derive(Debug)]
pub struct LastWords<'a> {
    /// One of [`death`].
    pub kind: u32,
    pub signal: i32,
    pub detail: u64,
    pub message: &'a [u8],
    pub file: &'a [u8],
    pub line: u32,
}

impl<'a> LastWords<'a> {
    pub fn new(kind: u32, message: &'a str) -> Self {
        LastWords { kind, signal: 0, detail: 0, message: message.as_bytes(), file: &[], line: 0 }
    }
}

/// Ends the process; safe to call in signal handlers and with any lock held. Only the first caller is heard.
pub fn die(last: &LastWords<'_>) -> ! {
    // SAFETY: neither call takes pointers.
    let thread = unsafe { libc::call(nr::GETTID, [0; 6]) } as i64;
    match WRITER.compare_exchange(0, thread, Relaxed, Relaxed) {
        Ok(_) => write(last),
        // A fault while writing: what is there must do.
        Err(writer) if writer == thread => {}
        Err(_) => loop {
            // SAFETY: no arguments; the writer ends the process.
            unsafe { libc::call(nr::PAUSE, [0; 6]) };
        },
    }
    exit(STATUS)
}

/// Ends the process without last words.
pub fn exit(status: usize) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { libc::call(nr::EXIT_GROUP, [status, 0, 0, 0, 0, 0]) };
    }
}

fn write(last: &LastWords<'_>) {
    let Some(header) = header() else {
        let line: [&[u8]; 3] = [b"testwright worker: ", last.message, b"\n"];
        for part in line {
            // SAFETY: the slice is valid; a failing write changes nothing.
            unsafe { libc::call(nr::WRITE, [2, part.as_ptr() as usize, part.len(), 0, 0, 0]) };
        }
        return;
    };
    let words = &header.death;
    words.signal.store(last.signal as u32, Relaxed);
    words.detail.store(last.detail, Relaxed);
    words.line.store(last.line, Relaxed);
    let message = last.message.len().min(MESSAGE);
    let file = last.file.len().min(words.file.len());
    // SAFETY: both lengths fit, and this thread alone writes there (see `WRITER`).
    unsafe {
        core::ptr::copy_nonoverlapping(last.message.as_ptr(), words.message[0].get(), message);
        core::ptr::copy_nonoverlapping(last.file.as_ptr(), words.file[0].get(), file);
    }
    words.message_len.store(message as u32, Relaxed);
    words.file_len.store(file as u32, Relaxed);
    words.kind.store(last.kind, Release);
}

/// A memory error that was seen before it did more harm.
pub fn memory_error(what: fmt::Arguments<'_>) -> ! {
    formatted(death::MEMORY, what)
}

/// The worker cannot start.
pub fn cannot_start(why: fmt::Arguments<'_>) -> ! {
    formatted(death::START, why)
}

fn formatted(kind: u32, what: fmt::Arguments<'_>) -> ! {
    let mut message = Fixed::<MESSAGE>::new();
    let _ = message.write_fmt(what);
    let mut last = LastWords::new(kind, "");
    last.message = message.as_bytes();
    die(&last)
}
