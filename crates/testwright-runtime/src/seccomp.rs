//! The system call filter: harmless calls pass, the rest raises SIGSYS with the kind of effect it would have had.
//!
//! Hands [`trap`] codes to the SIGSYS handler in `signals`. Written as classic BPF by hand; calls that always pass come first
//! and look at the number only, so that the kernel can cache the answer.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use testwright_wire::descriptor;
use testwright_wire::record::effect;

use crate::libc::{self, nr};

/// What the filter tells the handler: an effect's kind, with [`REISSUE`](trap::REISSUE), or one of the others.
pub mod trap {
    /// Make the call for the code under test: Landlock judges it.
    pub const REISSUE: u16 = 0x100;
    /// `exit_group`: the process is made to end.
    pub const EXIT: u16 = 0x200;
    /// `getrandom`.
    pub const ENTROPY: u16 = 0x201;
    /// Say that it was done: handlers of signals that the worker needs.
    pub const PRETEND: u16 = 0x202;
    /// Opening a file to read: Landlock judges it, and only a refusal is worth a note.
    pub const READ: u16 = 0x203;
}

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const TRAP: u32 = 0x0003_0000;
const KILL: u32 = 0x8000_0000;
const FILES_REISSUE: u32 = TRAP | effect::FILES | trap::REISSUE as u32;
const ARCH_X86_64: u32 = 0xc000_003e;
const X32: u32 = 0x4000_0000;

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const HAS_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Offsets in what the kernel shows to the filter.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const POINTER: u32 = 8;
const fn argument(place: u32) -> u32 {
    16 + 8 * place
}

/// Harmless whatever the arguments.
#[rustfmt::skip]
const HARMLESS: &[u32] = &[
    // On descriptors: read, write, fstat, poll, lseek, pread64, pwrite64, readv, writev, pipe, select, dup, sendfile,
    // flock, fsync, fdatasync, ftruncate, getdents, getdents64, fadvise64, pselect6, ppoll, splice, tee, sync_file_range,
    // fallocate, pipe2, preadv, pwritev, syncfs, copy_file_range, preadv2, pwritev2.
    0, 1, 5, 7, 8, 17, 18, 19, 20, 22, 23, 32, 40,
    73, 74, 75, 77, 78, 217, 221, 270, 271, 275, 276, 277,
    285, 293, 295, 296, 306, 326, 327, 328,
    // epoll_create, epoll_wait, epoll_ctl, epoll_pwait, eventfd, eventfd2, epoll_create1, epoll_pwait2.
    213, 232, 233, 281, 284, 290, 291, 441,
    // Asking about files: stat, lstat, access, getcwd, readlink, statfs, fstatfs, getxattr and its like, newfstatat, readlinkat,
    // faccessat, statx, faccessat2.
    4, 6, 21, 79, 89, 137, 138, 191, 192, 193, 194, 195, 196, 262, 267,
    269, 332, 439,
    // Memory: mmap, mprotect, munmap, brk, mremap, msync, mincore, madvise, mlock, munlock, mlock2.
    9, 10, 11, 12, 25, 26, 27, 28, 149, 150, 325,
    // Signals of its own: rt_sigprocmask, rt_sigreturn, pause, rt_sigpending, rt_sigtimedwait, rt_sigsuspend, sigaltstack.
    14, 15, 34, 127, 128, 130, 131,
    // Threads: sched_yield, exit, arch_prctl, gettid, futex, sched_getaffinity, set_tid_address, restart_syscall,
    // set_robust_list, get_robust_list, getcpu, membarrier, rseq, futex_waitv.
    24, 60, 158, 186, 202, 204, 218, 219, 273, 274, 309, 324, 334, 449,
    // Time: nanosleep, getitimer, gettimeofday, times, time, clock_gettime, clock_getres, clock_nanosleep.
    35, 36, 96, 100, 201, 228, 229, 230,
    // Asking about itself: getpid, uname, getrlimit, getrusage, sysinfo, get*id, getgroups, getres*id, getpgid, getsid, capget,
    // getpriority, sched_getparam, sched_getscheduler, sched_get_priority_max, _min, sched_rr_get_interval.
    39, 63, 97, 98, 99, 102, 104, 107, 108, 110, 111, 115, 118, 120, 121, 124, 125,
    140, 143, 145, 146, 147, 148,
];

const FILES_REISSUED: &[u32] = &[
    76,  // truncate
    82,  // rename
    83,  // mkdir
    84,  // rmdir
    85,  // creat
    86,  // link
    87,  // unlink
    88,  // symlink
    91,  // fchmod
    133, // mknod
    258, // mkdirat
    259, // mknodat
    263, // unlinkat
    264, // renameat
    265, // linkat
    266, // symlinkat
    316, // renameat2
];
/// chdir, fchdir, chmod, chown and its like, umask, utime and its like, chroot, setxattr and its like, openat2. Landlock does
/// not judge them (or the filter cannot), so nobody makes them.
const FILES_REFUSED: &[u32] = &[
    80, 81, 90, 92, 93, 94, 95, 132, 161, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 437, 452,
    463, 466,
];
/// socket, connect, accept, sendto, recvfrom, sendmsg, recvmsg, shutdown, bind, listen, getsockname, getpeername, socketpair,
/// setsockopt, getsockopt, accept4, recvmmsg, sendmmsg.
const NETWORK: &[u32] = &[41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 288, 299, 307];
/// fork, vfork, execve, wait4, ptrace, waitid, process_vm_readv, process_vm_writev, execveat.
const PROCESS: &[u32] = &[57, 58, 59, 61, 101, 247, 310, 311, 322];
/// kill, rt_sigqueueinfo, tkill, tgkill of others, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open, pidfd_getfd.
const SIGNAL: &[u32] = &[62, 129, 200, 234, 297, 424, 434, 438];

const OPEN: u32 = 2;
const CLOSE: u32 = 3;
const RT_SIGACTION: u32 = 13;
const IOCTL: u32 = 16;
const DUP2: u32 = 33;
const CLONE: u32 = 56;
const FCNTL: u32 = 72;
const PRCTL: u32 = 157;
const TGKILL: u32 = 234;
const OPENAT: u32 = 257;
const DUP3: u32 = 292;
const PRLIMIT64: u32 = 302;
const GETRANDOM: u32 = 318;
const CLONE3: u32 = 435;

/// O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, and what tells O_TMPFILE from O_DIRECTORY.
const WRITING: u32 = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20_000_000;
const CLONE_THREAD: u32 = 0x1_0000;
/// TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
const ASKING_IOCTLS: &[u32] = &[0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451];
/// F_SETOWN, F_SETSIG, F_SETOWN_EX: a pipe that sends signals to whom one likes.
const SIGNAL_FCNTLS: &[u32] = &[8, 10, 15];
/// PR_SET_NAME, PR_GET_NAME, and naming of anonymous memory.
const HARMLESS_PRCTLS: &[u32] = &[15, 16, 0x5356_4d41];
/// These stay open.
const OWN_DESCRIPTORS: [u32; 3] =
    [descriptor::SHARED as u32, descriptor::COMMAND as u32, descriptor::EVENT as u32];
/// Handlers of these stay as they are.
const OWN_SIGNALS: [i32; 9] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGXFSZ,
    libc::SIGPROF,
    libc::SIGSYS,
];

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Instruction {
    code: u16,
    yes: u8,
    no: u8,
    value: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// Puts the filter in place for this thread and those it will start. Needs `no_new_privs`.
pub fn enter() -> Result<(), &'static str> {
    let filter = filter(libc::gate_address(), own_pid());
    let program = Program { length: filter.len() as u16, instructions: filter.as_ptr() };
    const MODE_FILTER: usize = 1;
    // SAFETY: the program and its instructions outlive the call.
    let result =
        unsafe { libc::call(nr::SECCOMP, [MODE_FILTER, 0, core::ptr::addr_of!(program) as usize, 0, 0, 0]) };
    if result == 0 {
        Ok(())
    } else {
        Err("the kernel takes no system call filter")
    }
}

fn own_pid() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::call(nr::GETPID, [0; 6]) as u32 }
}

fn filter(gate: u64, pid: u32) -> Vec<Instruction> {
    let mut f = Filter(Vec::with_capacity(600));
    f.load(ARCH);
    f.unless_equal(ARCH_X86_64, KILL);
    f.load(NUMBER);
    f.test(AT_LEAST, X32, TRAP | effect::OTHER);
    for &number in HARMLESS {
        f.test(EQUAL, number, ALLOW);
    }

    // Through the gate: load and compare both halves, four instructions and the answer.
    f.load(POINTER);
    f.push(EQUAL, gate as u32, 0, 3);
    f.load(POINTER + 4);
    f.push(EQUAL, (gate >> 32) as u32, 0, 1);
    f.answer(ALLOW);
    f.load(NUMBER);

    f.when(CLONE, |f| {
        f.load(argument(0));
        f.test(HAS_BITS, CLONE_THREAD, ALLOW);
        // No trap: libc blocks all signals around this call, and a trap that is blocked kills. `interpose` notes the effect.
        f.answer(ERRNO | libc::EPERM as u32);
    });
    for (number, flags) in [(OPEN, 1), (OPENAT, 2)] {
        f.when(number, |f| {
            f.load(argument(flags));
            f.test(HAS_BITS, WRITING, FILES_REISSUE);
            f.answer(TRAP | u32::from(trap::READ));
        });
    }
    for (number, replaced) in [(CLOSE, 0), (DUP2, 1), (DUP3, 1)] {
        f.when(number, |f| {
            f.load(argument(replaced));
            f.any_of(&OWN_DESCRIPTORS, TRAP | effect::OTHER);
            f.answer(ALLOW);
        });
    }
    f.when(FCNTL, |f| {
        f.load(argument(1));
        f.any_of(SIGNAL_FCNTLS, TRAP | effect::SIGNAL);
        f.answer(ALLOW);
    });
    f.when(IOCTL, |f| {
        f.load(argument(1));
        f.any_of(ASKING_IOCTLS, ALLOW);
        f.answer(TRAP | effect::OTHER);
    });
    f.when(PRCTL, |f| {
        f.load(argument(0));
        f.any_of(HARMLESS_PRCTLS, ALLOW);
        f.answer(TRAP | effect::OTHER);
    });
    f.when(PRLIMIT64, |f| {
        for half in [0, 4] {
            f.load(argument(2) + half);
            f.unless_equal(0, TRAP | effect::OTHER);
        }
        f.answer(ALLOW);
    });
    f.when(TGKILL, |f| {
        f.load(argument(0));
        f.test(EQUAL, pid, ALLOW);
        f.answer(TRAP | effect::SIGNAL);
    });
    f.when(RT_SIGACTION, |f| {
        f.load(argument(0));
        for signal in OWN_SIGNALS {
            f.when(signal as u32, |f| {
                f.load(argument(1));
                f.unless_equal(0, TRAP | u32::from(trap::PRETEND));
                f.load(argument(1) + 4);
                f.unless_equal(0, TRAP | u32::from(trap::PRETEND));
                f.answer(ALLOW);
            });
        }
        f.answer(ALLOW);
    });
    f.test(EQUAL, CLONE3, ERRNO | libc::ENOSYS as u32);
    f.test(EQUAL, GETRANDOM, TRAP | u32::from(trap::ENTROPY));
    f.test(EQUAL, nr::EXIT_GROUP as u32, TRAP | u32::from(trap::EXIT));
    f.any_of(FILES_REISSUED, FILES_REISSUE);
    f.any_of(FILES_REFUSED, TRAP | effect::FILES);
    f.any_of(NETWORK, TRAP | effect::NETWORK);
    f.any_of(PROCESS, TRAP | effect::PROCESS);
    f.any_of(SIGNAL, TRAP | effect::SIGNAL);
    f.answer(TRAP | effect::OTHER);
    f.0
}

struct Filter(Vec<Instruction>);

impl Filter {
    fn push(&mut self, code: u16, value: u32, yes: u8, no: u8) {
        self.0.push(Instruction { code, yes, no, value });
    }

    fn load(&mut self, offset: u32) {
        self.push(LOAD, offset, 0, 0);
    }

    fn answer(&mut self, answer: u32) {
        self.push(RETURN, answer, 0, 0);
    }

    /// The answer if the loaded word passes the test.
    fn test(&mut self, test: u16, value: u32, answer: u32) {
        self.push(test, value, 0, 1);
        self.answer(answer);
    }

    fn unless_equal(&mut self, value: u32, answer: u32) {
        self.push(EQUAL, value, 1, 0);
        self.answer(answer);
    }

    fn any_of(&mut self, values: &[u32], answer: u32) {
        for &value in values {
            self.test(EQUAL, value, answer);
        }
    }

    /// The rules for one value; they must end with an answer.
    fn when(&mut self, value: u32, rules: impl FnOnce(&mut Self)) {
        let jump = self.0.len();
        self.push(EQUAL, value, 0, 0);
        rules(self);
        self.0[jump].no = u8::try_from(self.0.len() - jump - 1).expect("a block of rules is short");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do, for the instructions used here.
    fn judge(filter: &[Instruction], number: u32, pointer: u64, arguments: [u64; 6]) -> u32 {
        let mut data = vec![number, ARCH_X86_64, pointer as u32, (pointer >> 32) as u32];
        data.extend(arguments.iter().flat_map(|&argument| [argument as u32, (argument >> 32) as u32]));
        let (mut at, mut loaded) = (0, 0);
        loop {
            let Instruction { code, yes, no, value } = filter[at];
            at += 1;
            let holds = match code {
                LOAD => {
                    loaded = data[value as usize / 4];
                    continue;
                }
                RETURN => return value,
                EQUAL => loaded == value,
                AT_LEAST => loaded >= value,
                HAS_BITS => loaded & value != 0,
                _ => unreachable!("unknown instruction"),
            };
            at += usize::from(if holds { yes } else { no });
        }
    }

    #[test]
    fn calls_are_judged_by_number_arguments_and_place() {
        let gate = 0x5555_1234_5678;
        let filter = filter(gate, 77);
        assert!(filter.len() < 4096);
        let with = |number, arguments: &[u64]| {
            let mut all = [0; 6];
            all[..arguments.len()].copy_from_slice(arguments);
            judge(&filter, number, 1, all)
        };
        assert_eq!(with(0, &[]), ALLOW);
        assert_eq!(with(41, &[2, 1]), TRAP | effect::NETWORK);
        assert_eq!(with(CLONE, &[0x3d_0f00]), ALLOW, "a thread");
        assert_eq!(with(CLONE, &[17]), ERRNO | 1, "a fork");
        assert_eq!(with(CLONE3, &[]), ERRNO | 38);
        assert_eq!(with(OPENAT, &[0, 0, 0o2_000_000]), TRAP | u32::from(trap::READ));
        assert_eq!(with(OPENAT, &[0, 0, 0o2_000_101]), FILES_REISSUE);
        assert_eq!(with(OPEN, &[0, 0o2]), FILES_REISSUE);
        assert_eq!(with(TGKILL, &[77, 5, 6]), ALLOW);
        assert_eq!(with(TGKILL, &[78, 5, 6]), TRAP | effect::SIGNAL);
        assert_eq!(with(PRLIMIT64, &[0, 7, 0]), ALLOW);
        assert_eq!(with(PRLIMIT64, &[0, 7, 1 << 40]), TRAP | effect::OTHER);
        assert_eq!(with(RT_SIGACTION, &[11, 1 << 33]), TRAP | u32::from(trap::PRETEND));
        assert_eq!(with(RT_SIGACTION, &[11, 0]), ALLOW);
        assert_eq!(with(RT_SIGACTION, &[10, 1]), ALLOW);
        assert_eq!(with(FCNTL, &[5, 1]), ALLOW);
        assert_eq!(with(FCNTL, &[5, 8]), TRAP | effect::SIGNAL);
        assert_eq!(with(CLOSE, &[4]), TRAP | effect::OTHER);
        assert_eq!(with(CLOSE, &[9]), ALLOW);
        assert_eq!(with(87, &[]), FILES_REISSUE);
        assert_eq!(with(90, &[]), TRAP | effect::FILES);
        assert_eq!(with(59, &[]), TRAP | effect::PROCESS);
        assert_eq!(with(62, &[]), TRAP | effect::SIGNAL);
        assert_eq!(with(425, &[]), TRAP | effect::OTHER, "io_uring");
        assert_eq!(with(231, &[]), TRAP | u32::from(trap::EXIT));
        assert_eq!(with(X32 | 1, &[]), TRAP | effect::OTHER);
        assert_eq!(judge(&filter, 231, gate, [0; 6]), ALLOW);
        assert_eq!(judge(&filter, 62, gate + 2, [0; 6]), TRAP | effect::SIGNAL);
    }
}
