//! What the calls of a sequence did besides returning: effects on the world, threads, panics elsewhere.
//!
//! Written by signal handlers and interposed functions on any thread; the interpreter reads and clears it after each sequence.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use testwright_wire::record::Effect;

use crate::death;

/// So many effects of a sequence are kept; repetitions of the last one count once.
const ROOM: usize = 64;

/// Bits of [`record::flag`](testwright_wire::record::flag) that rare events set.
static FLAGS: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);
/// `step` and `kind` in the first word, `call` and `allowed` in the second.
static EFFECTS: [[AtomicU64; 2]; ROOM] = {
    #[allow(clippy::declare_interior_mutable_const)]
    const NONE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
    [NONE; ROOM]
};

pub fn flag(bit: u16) {
    FLAGS.fetch_or(u32::from(bit), Relaxed);
}

/// Notes an effect at the present step.
pub fn note(kind: u32, call: u32, allowed: bool) {
    let step = death::header().map_or(0, |header| header.progress.step.load(Relaxed));
    let words = [u64::from(step) | u64::from(kind) << 32, u64::from(call) | u64::from(allowed) << 32];
    let count = COUNT.load(Relaxed) as usize;
    if count > 0 && count <= ROOM && (0..2).all(|i| EFFECTS[count - 1][i].load(Relaxed) == words[i]) {
        return;
    }
    let place = COUNT.fetch_add(1, Relaxed) as usize;
    if let Some(entry) = EFFECTS.get(place) {
        entry[0].store(words[0], Relaxed);
        entry[1].store(words[1], Relaxed);
    }
    flag(testwright_wire::record::flag::EFFECTS);
}

/// The flags since the last call, which are cleared.
#[inline]
pub fn take_flags() -> u16 {
    if FLAGS.load(Relaxed) == 0 {
        0
    } else {
        FLAGS.swap(0, Relaxed) as u16
    }
}

/// The effects noted since the last [`clear`].
pub fn noted() -> impl Iterator<Item = Effect> {
    let count = (COUNT.load(Relaxed) as usize).min(ROOM);
    EFFECTS[..count].iter().map(|entry| {
        let (first, second) = (entry[0].load(Relaxed), entry[1].load(Relaxed));
        Effect {
            step: first as u32,
            kind: (first >> 32) as u32,
            call: second as u32,
            allowed: (second >> 32) as u32,
        }
    })
}

pub fn clear() {
    COUNT.store(0, Relaxed);
}
