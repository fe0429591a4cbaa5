//! Sources of chance, made steady: entropy and clocks that start afresh with each sequence.
//!
//! The interposed functions and the trapped `getrandom` call draw from here; the interpreter resets it.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::libc::{self, Timespec};

/// 2024-01-01T00:00:00Z.
const EPOCH: u64 = 1_704_067_200;
/// The other clocks start here, shortly after a boot.
const UPTIME: u64 = 10;

static DRAWN: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
static READINGS: AtomicU64 = AtomicU64::new(0);

/// Back to the start of both streams.
#[inline]
pub fn reset() {
    DRAWN.store(0, Relaxed);
    NANOSECONDS.store(0, Relaxed);
    READINGS.store(0, Relaxed);
}

/// Fills memory from the fixed stream (splitmix64).
pub fn fill(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        let mut word = DRAWN.fetch_add(1, Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
}

/// The time on a clock. Each reading moves it by a microsecond, and by more after many, so that loops that wait for an hour end.
pub fn read_clock(clock: i32) -> Timespec {
    let readings = READINGS.fetch_add(1, Relaxed);
    let step = 1000 + readings / 1024 * 1000;
    let now = NANOSECONDS.fetch_add(step, Relaxed).wrapping_add(step);
    let now = now.wrapping_add(start_of(clock));
    Timespec { seconds: (now / 1_000_000_000) as i64, nanoseconds: (now % 1_000_000_000) as i64 }
}

/// Nanoseconds until a point on a clock, which is not moved by the question.
pub fn until(clock: i32, nanoseconds: u64) -> u64 {
    nanoseconds.saturating_sub(start_of(clock).wrapping_add(NANOSECONDS.load(Relaxed)))
}

fn start_of(clock: i32) -> u64 {
    let seconds =
        if clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_REALTIME_COARSE { EPOCH } else { UPTIME };
    seconds * 1_000_000_000
}

/// Time passes without anybody waiting.
pub fn pass(nanoseconds: u64) {
    // Stay far from the end of `i64` seconds: nothing sleeps longer than a century.
    NANOSECONDS.fetch_add(nanoseconds.min(100 * 365 * 86_400 * 1_000_000_000), Relaxed);
}

/// How much was drawn and read since the reset.
pub fn uses() -> (u64, u64) {
    (DRAWN.load(Relaxed), READINGS.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, because the streams are the process's.
    #[test]
    fn streams_repeat_after_a_reset() {
        reset();
        let (mut first, mut second) = ([0; 20], [0; 20]);
        fill(&mut first);
        let time = read_clock(1);
        pass(5_000_000_000);
        assert_eq!(read_clock(1).seconds - time.seconds, 5);
        assert!(until(1, 20_000_000_000) < 5_000_000_000 && until(1, 11_000_000_000) == 0);
        assert!(read_clock(0).seconds > EPOCH as i64);
        reset();
        fill(&mut second);
        assert_eq!(first, second);
        assert_eq!(read_clock(1).nanoseconds, time.nanoseconds);
    }
}
