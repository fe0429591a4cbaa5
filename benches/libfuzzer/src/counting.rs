//! Counts calls into the crate under test: results of calls come in and go out unchanged; at the process's end the total is printed.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Operations of one input, at most.
pub const OPERATIONS: usize = 20;

static CALLS: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Instant> = OnceLock::new();

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

/// To be called once, before the first input.
pub fn start() {
    START.get_or_init(Instant::now);
    // SAFETY: `print` has the type that `atexit` wants and does not unwind.
    unsafe { atexit(print) };
}

/// One call was made, with this result. There is one thread: no locked instruction is needed, which would cost as much as a call.
#[inline(always)]
pub fn counted<T>(result: T) -> T {
    CALLS.store(CALLS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    black_box(result)
}

extern "C" fn print() {
    let seconds = START.get().map_or(0.0, |start| start.elapsed().as_secs_f64());
    println!("calls {} seconds {seconds:.3}", CALLS.load(Ordering::Relaxed));
}
