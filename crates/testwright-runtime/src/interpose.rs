//! Functions of libc that the worker binary replaces: entropy, clocks, sleeping, starting threads and processes.
//!
//! [`interpose!`](crate::interpose) puts them into the generated binary; where it does not stand, libc's own are used.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use testwright_wire::record::{effect, flag};

use crate::libc::{self, nr, ThreadStart, Timespec, Timeval};
use crate::{effects, steady};

/// A wait for another thread lasts at most so long; then the time that was asked for has passed.
const LONGEST_WAIT: u64 = 20_000_000;

/// Whether the interpreter runs: threads started before are the worker's own.
static RUNNING: AtomicBool = AtomicBool::new(false);

pub(crate) fn begin() {
    RUNNING.store(true, Relaxed);
}

/// Defines the replaced functions under libc's names.
#[macro_export]
macro_rules! interpose {
    () => {
        mod testwright_interposed {
            use ::core::ffi::{c_int, c_void};
            use $crate::interpose as own;

            #[no_mangle]
            unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, _: u32) -> isize {
                own::random(buffer, length)
            }
            #[no_mangle]
            unsafe extern "C" fn getentropy(buffer: *mut c_void, length: usize) -> c_int {
                own::random(buffer, length);
                0
            }
            #[no_mangle]
            unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut c_void) -> c_int {
                own::clock(clock, time)
            }
            #[no_mangle]
            unsafe extern "C" fn gettimeofday(time: *mut c_void, _: *mut c_void) -> c_int {
                own::time_of_day(time)
            }
            #[no_mangle]
            unsafe extern "C" fn time(time: *mut i64) -> i64 {
                own::seconds(time)
            }
            #[no_mangle]
            unsafe extern "C" fn nanosleep(wanted: *const c_void, left: *mut c_void) -> c_int {
                own::sleep(0, 0, wanted, left)
            }
            #[no_mangle]
            unsafe extern "C" fn clock_nanosleep(
                clock: c_int,
                flags: c_int,
                wanted: *const c_void,
                left: *mut c_void,
            ) -> c_int {
                own::sleep(clock, flags, wanted, left)
            }
            #[no_mangle]
            unsafe extern "C" fn usleep(microseconds: u32) -> c_int {
                own::pass(microseconds as u64 * 1000);
                0
            }
            #[no_mangle]
            unsafe extern "C" fn sleep(seconds: u32) -> u32 {
                own::pass(seconds as u64 * 1_000_000_000);
                0
            }
            // Callers pass what the call takes; on x86-64 that looks the same as passing six.
            #[no_mangle]
            unsafe extern "C" fn syscall(
                number: usize,
                a: usize,
                b: usize,
                c: usize,
                d: usize,
                e: usize,
                f: usize,
            ) -> isize {
                own::system_call(number, [a, b, c, d, e, f])
            }
            #[no_mangle]
            unsafe extern "C" fn fork() -> c_int {
                own::refuse_process(own::FORK)
            }
            #[no_mangle]
            unsafe extern "C" fn vfork() -> c_int {
                own::refuse_process(own::VFORK)
            }
            #[no_mangle]
            unsafe extern "C" fn posix_spawn(
                _: *mut c_int,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
            ) -> c_int {
                own::refuse_process(own::VFORK);
                own::NOT_PERMITTED
            }
            #[no_mangle]
            unsafe extern "C" fn posix_spawnp(
                _: *mut c_int,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
                _: *const c_void,
            ) -> c_int {
                own::refuse_process(own::VFORK);
                own::NOT_PERMITTED
            }
            #[cfg(testwright_traced)]
            #[no_mangle]
            unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, length: usize) -> c_int {
                $crate::compares::texts(left, right, length)
            }
            #[cfg(testwright_traced)]
            #[no_mangle]
            unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> c_int {
                $crate::compares::texts(left, right, length)
            }
            // SanitizerCoverage announces its counters, which are found by their section.
            #[cfg(not(testwright_asan))]
            #[no_mangle]
            extern "C" fn __sanitizer_cov_8bit_counters_init(_: *const u8, _: *const u8) {}
            // The sanitizer must see threads itself.
            #[cfg(not(testwright_asan))]
            #[no_mangle]
            unsafe extern "C" fn pthread_create(
                thread: *mut c_void,
                attributes: *const c_void,
                start: extern "C" fn(*mut c_void) -> *mut c_void,
                argument: *mut c_void,
            ) -> c_int {
                own::create_thread(thread, attributes, start, argument)
            }
            // What is left to the worker's own handlers, and nothing that reads files or symbolises.
            #[cfg(testwright_asan)]
            #[no_mangle]
            extern "C" fn __asan_default_options() -> *const u8 {
                own::SANITIZER_OPTIONS.as_ptr()
            }
        }
    };
}

pub const SANITIZER_OPTIONS: &str = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:use_sigaltstack=0:symbolize=0:print_legend=0:allocator_may_return_null=1:detect_stack_use_after_return=0:quarantine_size_mb=4:thread_local_quarantine_size_kb=256:malloc_context_size=1\0";

pub const FORK: u32 = nr::FORK as u32;
pub const VFORK: u32 = nr::VFORK as u32;
pub const NOT_PERMITTED: c_int = libc::EPERM as c_int;

/// Notes the wish for a process, which is not granted.
pub fn refuse_process(call: u32) -> c_int {
    effects::note(effect::PROCESS, call, false);
    // SAFETY: this thread's own.
    unsafe { *libc::__errno_location() = NOT_PERMITTED };
    -1
}

/// # Safety
/// `buffer` must take `length` bytes, as for libc's function of the same purpose; so for those below.
pub unsafe fn random(buffer: *mut c_void, length: usize) -> isize {
    if length > 0 {
        steady::fill(core::slice::from_raw_parts_mut(buffer.cast(), length));
    }
    length as isize
}

/// # Safety
/// See [`random`].
pub unsafe fn clock(clock: c_int, time: *mut c_void) -> c_int {
    time.cast::<Timespec>().write(steady::read_clock(clock));
    0
}

/// # Safety
/// See [`random`].
pub unsafe fn time_of_day(time: *mut c_void) -> c_int {
    if !time.is_null() {
        let now = steady::read_clock(libc::CLOCK_REALTIME);
        time.cast::<Timeval>().write(Timeval { seconds: now.seconds, microseconds: now.nanoseconds / 1000 });
    }
    0
}

/// # Safety
/// See [`random`].
pub unsafe fn seconds(time: *mut i64) -> i64 {
    let now = steady::read_clock(libc::CLOCK_REALTIME).seconds;
    if !time.is_null() {
        time.write(now);
    }
    now
}

/// # Safety
/// See [`random`].
pub unsafe fn sleep(clock: c_int, flags: c_int, wanted: *const c_void, left: *mut c_void) -> c_int {
    let wanted = nanoseconds(wanted.cast::<Timespec>().read());
    if flags & libc::TIMER_ABSTIME != 0 {
        pass(steady::until(clock, wanted));
    } else {
        pass(wanted);
        if !left.is_null() {
            left.cast::<Timespec>().write(Timespec { seconds: 0, nanoseconds: 0 });
        }
    }
    0
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.seconds)
        .unwrap_or(0)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.nanoseconds as u64)
}

/// libc's `syscall`, by which std waits for other threads; deadlines there are those of the worker's clock.
///
/// # Safety
/// The arguments must be what the call takes.
pub unsafe fn system_call(number: usize, arguments: [usize; 6]) -> isize {
    let [_, operation, _, time, ..] = arguments;
    let waits = matches!(operation & 0x7f, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
    let result = if number == nr::FUTEX && waits && time != 0 {
        wait(arguments)
    } else {
        libc::judged_call(number, arguments)
    };
    if result < 0 && result > -4096 {
        *libc::__errno_location() = -result as c_int;
        return -1;
    }
    result
}

/// A wait with a time limit: really waits for a moment, so that other threads get their turn, then lets the time pass.
unsafe fn wait(arguments: [usize; 6]) -> isize {
    let [word, operation, value, time, ..] = arguments;
    let wanted = nanoseconds((time as *const Timespec).read());
    let wanted = match operation & 0x7f {
        libc::FUTEX_WAIT => wanted,
        _ if operation & libc::FUTEX_CLOCK_REALTIME != 0 => steady::until(libc::CLOCK_REALTIME, wanted),
        _ => steady::until(libc::CLOCK_MONOTONIC, wanted),
    };
    let moment = Timespec { seconds: 0, nanoseconds: wanted.min(LONGEST_WAIT) as i64 };
    let operation = libc::FUTEX_WAIT | operation & libc::FUTEX_PRIVATE;
    let arguments = [word, operation, value, core::ptr::addr_of!(moment) as usize, 0, 0];
    let result = libc::judged_call(nr::FUTEX, arguments);
    if result == -libc::ETIMEDOUT {
        pass(wanted);
    }
    result
}

/// Sleeps without waiting.
pub fn pass(nanoseconds: u64) {
    effects::note(effect::SLEEP, nr::CLOCK_NANOSLEEP as u32, true);
    steady::pass(nanoseconds);
}

/// # Safety
/// See [`random`].
pub unsafe fn create_thread(
    thread: *mut c_void,
    attributes: *const c_void,
    start: ThreadStart,
    argument: *mut c_void,
) -> c_int {
    type Create = unsafe extern "C" fn(*mut c_void, *const c_void, ThreadStart, *mut c_void) -> c_int;
    static REAL: AtomicUsize = AtomicUsize::new(0);
    const AGAIN: c_int = 11;

    let mut real = REAL.load(Relaxed);
    if real == 0 {
        real = libc::dlsym(libc::RTLD_NEXT, b"pthread_create\0".as_ptr().cast()) as usize;
        REAL.store(real, Relaxed);
    }
    if real == 0 {
        return AGAIN;
    }
    if RUNNING.load(Relaxed) {
        effects::flag(flag::THREADS);
        effects::note(effect::THREAD, nr::CLONE as u32, true);
    }
    let real = core::mem::transmute::<usize, Create>(real);
    real(thread, attributes, start, argument)
}

/// Whether libc's names lead here: entropy, then clocks.
pub(crate) fn in_place() -> (bool, bool) {
    let before = steady::uses();
    let mut bytes = [0_u8; 8];
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: both write what they are given.
    unsafe {
        libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0);
        libc::clock_gettime(libc::CLOCK_REALTIME, &mut time);
    }
    let after = steady::uses();
    (after.0 > before.0, after.1 > before.1)
}
