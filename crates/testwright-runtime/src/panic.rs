//! The panic hook: keeps message and place of the last panic, prints nothing and symbolises nothing.
//!
//! The interpreter asks for the note when a panic has left a call; the abort handler asks for it when the process is about to
//! end. Panics of other threads are kept apart.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::any::Any;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::panic::Location;

use testwright_wire::layout::MESSAGE;
use testwright_wire::record::flag;

use crate::lock::SpinLock;
use crate::text::Fixed;
use crate::{death, effects};

/// What std says when a panic meets a place that it may not leave; the panic before tells more.
const STOPPED: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];
/// What std's checks of unsafe functions say.
pub const UNSAFE_PRECONDITION: &[u8] = b"unsafe precondition(s) violated";

#[derive(Debug)]
pub struct Note {
    pub message: Fixed<MESSAGE>,
    pub file: Fixed<512>,
    pub line: u32,
    pub column: u32,
    /// The call it happened in, plus 1; 0 while nothing is noted.
    call: u64,
}

impl Note {
    const fn new() -> Self {
        Note { message: Fixed::new(), file: Fixed::new(), line: 0, column: 0, call: 0 }
    }

    fn fill(&mut self, message: &str, place: Option<&Location<'_>>) {
        let call = death::calls() + 1;
        if let (true, Some(stop)) =
            (self.call == call, STOPPED.iter().find(|stop| message.starts_with(**stop)))
        {
            let before = core::mem::replace(&mut self.message, Fixed::new());
            self.message.push(stop);
            self.message.push(": ");
            self.message.push(core::str::from_utf8(before.as_bytes()).unwrap_or_default());
            return;
        }
        self.call = call;
        self.message.clear();
        self.message.push(message);
        self.file.clear();
        self.line = place.map_or(0, Location::line);
        self.column = place.map_or(0, Location::column);
        self.file.push(place.map_or("", Location::file));
    }
}

struct Own(UnsafeCell<Note>);

// SAFETY: written by the interpreter's thread only; others read it when they end the process.
unsafe impl Sync for Own {}

static OWN: Own = Own(UnsafeCell::new(Note::new()));
static OTHER: SpinLock<Note> = SpinLock::new(Note::new());
/// Panics of the interpreter's thread since the start.
static RAISED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static INTERPRETER: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread runs the sequences.
pub fn adopt_thread() {
    INTERPRETER.with(|interpreter| interpreter.set(true));
}

/// Installs the hook; again if the code under test has put its own in its place.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let message = message_of(info.payload());
        if INTERPRETER.with(Cell::get) {
            RAISED.fetch_add(1, Relaxed);
            // SAFETY: this is the interpreter's thread, and no reference to the note lives across a call.
            unsafe { (*OWN.0.get()).fill(message, info.location()) };
        } else {
            effects::flag(flag::THREAD_PANICKED);
            OTHER.with(|note| note.fill(message, info.location()));
        }
    }));
}

/// How many panics the interpreter's thread has raised.
#[inline]
pub fn raised() -> u64 {
    RAISED.load(Relaxed)
}

/// The note of a panic that has left a call, given its payload.
///
/// `hooked` says whether the hook ran: a panic that was carried here from another thread raises none.
pub fn escaped(payload: &(dyn Any + Send), hooked: bool) -> &'static Note {
    let message = message_of(payload);
    // SAFETY: called on the interpreter's thread, between calls.
    let note = unsafe { &mut *OWN.0.get() };
    let matches = |note: &Note| {
        let kept = note.message.as_bytes();
        message.as_bytes().starts_with(kept) && (kept.len() == message.len() || kept.len() > MESSAGE - 4)
    };
    if hooked && matches(note) {
        return note;
    }
    if !hooked {
        install();
    }
    let carried = OTHER.with(|other| {
        if matches(other) {
            core::mem::swap(note, other);
            return true;
        }
        false
    });
    if !carried {
        note.fill(message, None);
    }
    note
}

/// The note of the present call's panic, for the abort handler.
pub fn present() -> Option<&'static Note> {
    // SAFETY: the process ends, nobody writes any more (or what is read is cut short).
    let note = unsafe { &*OWN.0.get() };
    (note.call == death::calls() + 1).then_some(note)
}

fn message_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "Box<dyn Any>"
    }
}

/// Drops a payload, whose destructor may panic in turn; how often it did.
pub fn discard(payload: Box<dyn Any + Send>) -> u64 {
    let dropping = std::panic::AssertUnwindSafe(|| drop(payload));
    match std::panic::catch_unwind(dropping) {
        Ok(()) => 0,
        Err(second) => {
            core::mem::forget(second);
            1
        }
    }
}
