//! The few names of glibc and the kernel that the worker needs, and the gate for its own system calls.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::ffi::{c_char, c_int, c_void};

pub const PROT_READ_WRITE: usize = 3;
pub const MAP_SHARED: usize = 1;
pub const MAP_PRIVATE: usize = 2;
pub const MAP_ANONYMOUS: usize = 0x20;
pub const MAP_NORESERVE: usize = 0x4000;
pub const MAP_FIXED_NOREPLACE: usize = 0x10_0000;
pub const MADV_DONTNEED: usize = 4;

pub const SIGILL: c_int = 4;
pub const SIGTRAP: c_int = 5;
pub const SIGABRT: c_int = 6;
pub const SIGBUS: c_int = 7;
pub const SIGFPE: c_int = 8;
pub const SIGSEGV: c_int = 11;
pub const SIGKILL: c_int = 9;
pub const SIGXFSZ: c_int = 25;
pub const SIGPROF: c_int = 27;
pub const SIGSYS: c_int = 31;
pub const SIG_IGN: usize = 1;
pub const SIG_BLOCK: c_int = 0;
pub const SA_SIGINFO: c_int = 4;
pub const SA_ONSTACK: c_int = 0x0800_0000;
pub const SA_RESTART: c_int = 0x1000_0000;
pub const ITIMER_PROF: usize = 2;

pub const EPERM: isize = 1;
pub const EINTR: isize = 4;
pub const ENOSYS: isize = 38;
/// What a call returns that was refused: `-EACCES`, `-EPERM`, and `-EXDEV` where Landlock keeps a file in its folder.
pub const NOT_ALLOWED: isize = -13;
pub const NOT_PERMITTED: isize = -EPERM;
pub const OTHER_FOLDER: isize = -18;
pub const ETIMEDOUT: isize = 110;

pub const CLOCK_REALTIME: c_int = 0;
pub const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
pub const CLOCK_REALTIME_COARSE: c_int = 5;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const TIMER_ABSTIME: c_int = 1;

pub const FUTEX_WAIT: usize = 0;
pub const FUTEX_WAIT_BITSET: usize = 9;
pub const FUTEX_CLOCK_REALTIME: usize = 0x100;
pub const FUTEX_PRIVATE: usize = 0x80;

pub const PR_SET_PDEATHSIG: usize = 1;
pub const PR_SET_NO_NEW_PRIVS: usize = 38;

pub const RLIMIT_FSIZE: usize = 1;
pub const RLIMIT_CORE: usize = 4;
pub const RLIMIT_NOFILE: usize = 7;

pub const O_PATH_DIRECTORY_CLOEXEC: usize = 0o10_000_000 | 0o200_000 | 0o2_000_000;
pub const AT_FDCWD: usize = -100_isize as usize;

/// Numbers of the system calls that the worker itself makes.
pub mod nr {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const MMAP: usize = 9;
    pub const MADVISE: usize = 28;
    pub const PAUSE: usize = 34;
    pub const SETITIMER: usize = 38;
    pub const GETPID: usize = 39;
    pub const CLONE: usize = 56;
    pub const FORK: usize = 57;
    pub const VFORK: usize = 58;
    pub const PRCTL: usize = 157;
    pub const GETTID: usize = 186;
    pub const FUTEX: usize = 202;
    pub const CLOCK_GETTIME: usize = 228;
    pub const CLOCK_NANOSLEEP: usize = 230;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
    pub const PRLIMIT64: usize = 302;
    pub const SECCOMP: usize = 317;
    pub const CLOSE_RANGE: usize = 436;
    pub const LANDLOCK_CREATE_RULESET: usize = 444;
    pub const LANDLOCK_ADD_RULE: usize = 445;
    pub const LANDLOCK_RESTRICT_SELF: usize = 446;
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Timespec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Timeval {
    pub seconds: i64,
    pub microseconds: i64,
}

#[repr(C)]
#[derive(Debug)]
pub struct SigAction {
    pub handler: usize,
    pub mask: [u64; 16],
    pub flags: c_int,
    pub restorer: usize,
}

#[repr(C)]
#[derive(Debug)]
pub struct SigStack {
    pub base: *mut c_void,
    pub flags: c_int,
    pub size: usize,
}

/// The part of `siginfo_t` that handlers read.
#[repr(C)]
#[derive(Debug)]
pub struct SigInfo {
    pub signal: c_int,
    pub errno: c_int,
    pub code: c_int,
    pub padding: c_int,
    /// `si_addr`, or `si_call_addr` of SIGSYS.
    pub address: u64,
    /// `si_syscall` of SIGSYS.
    pub syscall: c_int,
}

/// The part of `ucontext_t` that handlers read and write.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    pub flags: u64,
    pub link: u64,
    pub stack: [u64; 3],
    pub registers: [u64; 23],
}

/// Places in [`Context::registers`].
pub mod register {
    pub const R8: usize = 0;
    pub const R9: usize = 1;
    pub const R10: usize = 2;
    pub const RDI: usize = 8;
    pub const RSI: usize = 9;
    pub const RDX: usize = 12;
    pub const RAX: usize = 13;
    pub const RSP: usize = 15;
    pub const RIP: usize = 16;
}

#[repr(C)]
#[derive(Debug)]
pub struct ProgramHeader {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}
pub const PT_TLS: u32 = 7;

#[repr(C)]
#[derive(Debug)]
pub struct LoadedObject {
    pub base: u64,
    pub name: *const c_char,
    pub headers: *const ProgramHeader,
    pub header_count: u16,
}

pub const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;

pub type ThreadStart = extern "C" fn(*mut c_void) -> *mut c_void;

extern "C" {
    pub fn sigaction(signal: c_int, action: *const SigAction, old: *mut SigAction) -> c_int;
    pub fn sigaltstack(stack: *const SigStack, old: *mut SigStack) -> c_int;
    pub fn pthread_sigmask(how: c_int, set: *const [u64; 16], old: *mut [u64; 16]) -> c_int;
    pub fn pthread_self() -> usize;
    pub fn pthread_getattr_np(thread: usize, attributes: *mut [u64; 8]) -> c_int;
    pub fn pthread_attr_getstack(attributes: *const [u64; 8], base: *mut usize, size: *mut usize) -> c_int;
    pub fn pthread_attr_destroy(attributes: *mut [u64; 8]) -> c_int;
    pub fn __errno_location() -> *mut c_int;
    pub fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dl_iterate_phdr(
        call: unsafe extern "C" fn(*const LoadedObject, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    // Linked to the worker's own where `interpose!` stands; asked once to see whether it does.
    pub fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    pub fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize;

    fn testwright_gate(nr: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    static testwright_gate_end: u8;
}

// The filter lets every call pass whose instruction pointer is `testwright_gate_end`.
core::arch::global_asm!(
    ".pushsection .text.testwright_gate,\"ax\",@progbits",
    ".globl testwright_gate",
    ".hidden testwright_gate",
    ".type testwright_gate,@function",
    "testwright_gate:",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, qword ptr [rsp + 8]",
    "syscall",
    ".globl testwright_gate_end",
    ".hidden testwright_gate_end",
    "testwright_gate_end:",
    "ret",
    ".size testwright_gate, . - testwright_gate",
    ".popsection",
);

/// Makes a system call that the sandbox does not judge; a negative result is `-errno`.
///
/// # Safety
/// The arguments must be what the kernel expects for that call, and pointers among them valid.
pub unsafe fn call(nr: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    testwright_gate(nr, a, b, c, d, e, f)
}

/// Makes a system call that the sandbox judges, for the code under test.
///
/// # Safety
/// As for [`call`].
pub unsafe fn judged_call(nr: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    core::arch::asm!(
        "syscall",
        inlateout("rax") nr as isize => result,
        in("rdi") a,
        in("rsi") b,
        in("rdx") c,
        in("r10") d,
        in("r8") e,
        in("r9") f,
        lateout("rcx") _,
        lateout("r11") _,
        options(nostack),
    );
    result
}

/// The instruction pointer that the kernel sees for calls through the gate.
pub fn gate_address() -> u64 {
    // SAFETY: only the address is taken; newer compilers know that this is safe.
    #[allow(unused_unsafe)]
    unsafe {
        core::ptr::addr_of!(testwright_gate_end) as u64
    }
}

/// Fresh zeroed memory that is committed when touched.
pub fn reserve(bytes: usize) -> Option<*mut u8> {
    reserve_at(None, bytes)
}

/// The same at a certain place if it is free, else anywhere.
pub fn reserve_at(place: Option<usize>, bytes: usize) -> Option<*mut u8> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    let fixed = place.map(|place| (place, flags | MAP_FIXED_NOREPLACE));
    for (address, flags) in fixed.into_iter().chain([(0, flags)]) {
        // SAFETY: an anonymous mapping that replaces nothing.
        let result = unsafe { call(nr::MMAP, [address, bytes, PROT_READ_WRITE, flags, usize::MAX, 0]) };
        if result > 0 {
            return Some(result as *mut u8);
        }
    }
    None
}

/// CPU time of the whole process in microseconds.
pub fn cpu_microseconds() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the kernel writes one timespec.
    unsafe {
        call(
            nr::CLOCK_GETTIME,
            [CLOCK_PROCESS_CPUTIME_ID, core::ptr::addr_of_mut!(time) as usize, 0, 0, 0, 0],
        )
    };
    time.seconds as u64 * 1_000_000 + time.nanoseconds as u64 / 1000
}
