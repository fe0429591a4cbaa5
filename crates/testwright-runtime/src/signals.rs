//! Signals: deaths that can be seen coming, the CPU clock that ends hangs, and calls that the sandbox traps.
//!
//! Handlers run on their own stack, allocate nothing and take no lock. They hand what they saw to `death` or `effects`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use testwright_wire::layout::{death as kind, phase, Header};
use testwright_wire::record::effect;

use crate::death::{self, die, LastWords};
use crate::libc::{self, nr, register, Context, SigAction, SigInfo, SigStack};
use crate::seccomp::trap;
use crate::{allocator, effects, landlock, panic, steady};

/// How often the CPU clock ticks.
const TICK_MICROSECONDS: usize = 10_000;
const ALTERNATE_STACK: usize = 64 << 10;
/// A fault so close to the stack pointer, or to the stack's end, is an overflow.
const NEAR: u64 = 64 << 10;

static STACK_END: AtomicU64 = AtomicU64::new(0);
static LANDLOCK_VERSION: AtomicUsize = AtomicUsize::new(0);

/// Puts all handlers in place.
pub fn install() {
    LANDLOCK_VERSION.store(landlock::version(), Relaxed);
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP] {
        handle(signal, on_fault as *const () as usize);
    }
    handle(libc::SIGABRT, on_abort as *const () as usize);
    handle(libc::SIGSYS, on_trap as *const () as usize);
    handle(libc::SIGPROF, on_tick as *const () as usize);
    // A file that grows too large is an error of the write, not the end.
    handle(libc::SIGXFSZ, libc::SIG_IGN);
    // SAFETY: the handler does not return; without a filter it is the only witness of an exit.
    unsafe { libc::on_exit(on_exit, core::ptr::null_mut()) };
}

fn handle(signal: c_int, handler: usize) {
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    let action = SigAction { handler, mask: [0; 16], flags, restorer: 0 };
    // SAFETY: the handlers have the signature that SA_SIGINFO asks for.
    unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) };
}

/// Gives this thread a stack for handlers, and remembers where its own stack ends.
pub fn adopt_thread() -> Option<()> {
    let base = libc::reserve(ALTERNATE_STACK)?;
    let stack = SigStack { base: base.cast(), flags: 0, size: ALTERNATE_STACK };
    let mut attributes = [0_u64; 8];
    let (mut end, mut size) = (0, 0);
    // SAFETY: 64 bytes are at least what glibc's thread attributes take; the new stack is never unmapped.
    unsafe {
        libc::sigaltstack(&stack, core::ptr::null_mut());
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            libc::pthread_attr_getstack(&attributes, &mut end, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
        }
    }
    STACK_END.store(end as u64, Relaxed);
    Some(())
}

/// Keeps the CPU clock's ticks away from this thread.
pub fn ignore_ticks() {
    let mut set = [0_u64; 16];
    set[0] = 1 << (libc::SIGPROF - 1);
    // SAFETY: a complete signal set.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, core::ptr::null_mut()) };
}

/// Starts the CPU clock.
pub fn start_clock() {
    let interval = [0, TICK_MICROSECONDS, 0, TICK_MICROSECONDS];
    // SAFETY: an itimerval is four words.
    unsafe { libc::call(nr::SETITIMER, [libc::ITIMER_PROF, interval.as_ptr() as usize, 0, 0, 0, 0]) };
}

unsafe extern "C" fn on_fault(signal: c_int, info: *const SigInfo, context: *const Context) {
    let registers = &(*context).registers;
    let address = (*info).address;
    let mut last = LastWords::new(kind::FAULT, "");
    last.signal = signal;
    last.detail = address;
    let stack = STACK_END.load(Relaxed);
    // `si_code` > 0: the kernel raised it, so the address is one.
    let near = |place: u64| address < place.saturating_add(NEAR) && address > place.saturating_sub(NEAR);
    const UD2: u16 = 0x0b0f;
    let code = registers[register::RIP] as *const u16;
    if signal == libc::SIGILL && (*info).code > 0 && code.read_unaligned() == UD2 {
        last.kind = kind::ABORT;
        last.message = b"the program stopped itself (abort intrinsic)";
        with_note(&mut last);
    } else if signal == libc::SIGSEGV
        && (*info).code > 0
        && (stack != 0 && near(stack) || near(registers[register::RSP]))
    {
        last.kind = kind::STACK_OVERFLOW;
        last.message = b"stack overflow";
    }
    die(&last)
}

/// Bytes that no test is granted.
const MUCH: u64 = 4 << 30;

unsafe extern "C" fn on_abort(signal: c_int, _: *const SigInfo, _: *const Context) {
    let mut last = LastWords::new(kind::ABORT, "abort");
    last.signal = signal;
    if let Some(size) = allocator::refused() {
        last.kind = kind::OUT_OF_MEMORY;
        last.detail = size;
        // The two are told apart: a test has so much memory that it may well be granted the first.
        last.message = if size < MUCH {
            b"an allocation was refused because of the memory limit"
        } else {
            b"an allocation of 4 GiB or more was refused"
        };
    } else {
        with_note(&mut last);
    }
    die(&last)
}

/// Adds the panic of the present call.
fn with_note(last: &mut LastWords<'_>) {
    if let Some(note) = panic::present() {
        if note.message.as_bytes().starts_with(panic::UNSAFE_PRECONDITION) {
            last.kind = kind::MEMORY;
        }
        last.message = note.message.as_bytes();
        last.file = note.file.as_bytes();
        last.line = note.line;
    }
}

extern "C" fn on_exit(status: c_int, _: *mut c_void) {
    exited(status as u64)
}

fn exited(status: u64) -> ! {
    let mut last = LastWords::new(kind::EXIT, "the process was made to exit");
    last.detail = status;
    die(&last)
}

/// What the clock saw at its last ticks: the call and the sequence that ran, and the CPU time when each was first seen.
static CALL_SEEN: [AtomicU64; 3] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
static SEQUENCE_SEEN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

unsafe extern "C" fn on_tick(_: c_int, _: *const SigInfo, _: *const Context) {
    let Some(header) = death::header() else { return };
    let now = libc::cpu_microseconds();
    let progress = &header.progress;
    let (started, calls) = (progress.started.load(Relaxed), progress.calls.load(Relaxed));
    let (step, phase) = (progress.step.load(Relaxed), progress.phase.load(Relaxed));
    if phase == phase::IDLE || phase == phase::OWN {
        CALL_SEEN[2].store(now, Relaxed);
        SEQUENCE_SEEN[1].store(now, Relaxed);
        return;
    }
    let place = u64::from(step) << 32 | u64::from(phase);
    if CALL_SEEN[0].swap(calls, Relaxed) != calls || CALL_SEEN[1].swap(place, Relaxed) != place {
        CALL_SEEN[1].store(place, Relaxed);
        CALL_SEEN[2].store(now, Relaxed);
    }
    if SEQUENCE_SEEN[0].swap(started, Relaxed) != started {
        SEQUENCE_SEEN[1].store(now, Relaxed);
    }
    judge_time(header, now);
}

fn judge_time(header: &Header, now: u64) {
    let limits = [
        (header.call_limit_ms, CALL_SEEN[2].load(Relaxed), "call"),
        (header.sequence_limit_ms, SEQUENCE_SEEN[1].load(Relaxed), "sequence"),
    ];
    for (limit, since, what) in limits {
        let used = now.saturating_sub(since) / 1000;
        if limit != 0 && used > u64::from(limit) {
            let mut last = LastWords::new(kind::HANG, what);
            last.signal = libc::SIGPROF;
            last.detail = used;
            die(&last);
        }
    }
}

unsafe extern "C" fn on_trap(_: c_int, info: *const SigInfo, context: *mut Context) {
    let registers = &mut (*context).registers;
    let number = (*info).syscall as usize;
    let code = (*info).errno as u16;
    let arguments = [register::RDI, register::RSI, register::RDX, register::R10, register::R8, register::R9]
        .map(|place| registers[place] as usize);
    let result = match code {
        trap::EXIT => exited(arguments[0] as u64),
        trap::PRETEND => 0,
        trap::READ => {
            let result = libc::call(number, arguments);
            if is_refusal(result) {
                effects::note(effect::FILES, number as u32, false);
            }
            result
        }
        trap::ENTROPY => {
            if arguments[1] > 0 {
                steady::fill(core::slice::from_raw_parts_mut(arguments[0] as *mut u8, arguments[1]));
            }
            arguments[1] as isize
        }
        _ => {
            let reissue = code & trap::REISSUE != 0 && judged_by_landlock(number, &arguments);
            let result = if reissue { libc::call(number, arguments) } else { -libc::EPERM };
            effects::note(u32::from(code & !trap::REISSUE), number as u32, !is_refusal(result));
            result
        }
    };
    registers[register::RAX] = result as u64;
}

/// Whether the sandbox did not let it: a file that is missing, or there already, is something else.
fn is_refusal(result: isize) -> bool {
    matches!(result, libc::NOT_ALLOWED | libc::NOT_PERMITTED | libc::OTHER_FOLDER)
}

/// Whether Landlock confines the call to the scratch folder: before its third version it did not judge truncation, and what
/// it let the program open it lets it change.
fn judged_by_landlock(number: usize, arguments: &[usize; 6]) -> bool {
    const TRUNCATE: usize = 76;
    const FCHMOD: usize = 91;
    const OPEN: usize = 2;
    const O_TRUNC: usize = 0o1000;
    let truncates = match number {
        TRUNCATE => true,
        OPEN => arguments[1] & O_TRUNC != 0,
        nr::OPENAT => arguments[2] & O_TRUNC != 0,
        _ => false,
    };
    match LANDLOCK_VERSION.load(Relaxed) {
        0 => false,
        _ if number == FCHMOD => arguments[0] > testwright_wire::descriptor::EVENT as usize,
        1 | 2 => !truncates,
        _ => true,
    }
}

/// The kinds of effects fit the bits that the filter hands over.
const _: () = assert!(effect::SLEEP < trap::REISSUE as u32);
