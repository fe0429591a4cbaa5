//! Puts a program that is about to be executed into a sandbox: it may read and execute, write only into its scratch
//! folder, open no socket, signal nobody outside, and use so much CPU time, memory and disk.
//!
//! Landlock's rules and the seccomp filter are made in this process; between fork and exec they are only put in force.
#![expect(unsafe_code, reason = "std offers the moment between fork and exec only to unsafe code")]

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::ExecuteError;

/// The newest rules that are asked for; an older kernel enforces those it knows.
const NEWEST: ABI = ABI::V6;
/// Largest file that may be written.
const FILE_SIZE: u64 = 256 << 20;

/// Protections, ready to be put in force.
#[derive(Debug)]
pub(crate) struct Sandbox {
    rules: Option<RulesetCreated>,
    filter: Option<BpfProgram>,
    limits: Vec<(Resource, u64)>,
}

impl Sandbox {
    /// Without `allow_unguarded`, a kernel that lacks a protection is an error.
    pub fn new(
        scratch: &Path,
        cpu: Duration,
        memory: Option<u64>,
        allow_unguarded: bool,
    ) -> Result<Self, ExecuteError> {
        let rules = rules(scratch).ok();
        let filter = filter();
        for (missing, stands) in [("Landlock", rules.is_some()), ("seccomp filters", filter.is_some())] {
            if !stands && !allow_unguarded {
                return Err(ExecuteError::Unguarded { missing });
            }
        }
        let mut limits =
            vec![(Resource::Cpu, cpu.as_secs() + 2), (Resource::Fsize, FILE_SIZE), (Resource::Core, 0)];
        limits.extend(memory.map(|bytes| (Resource::As, bytes)));
        Ok(Sandbox { rules, filter, limits })
    }

    /// Whether every protection stands.
    pub fn is_complete(&self) -> bool {
        self.rules.is_some() && self.filter.is_some()
    }

    /// The program runs in the sandbox, and dies if the thread that waits for it does.
    pub fn put_around(mut self, command: &mut Command) {
        let enter = move || self.enter();
        // SAFETY: between fork and exec only system calls are made; nothing is allocated, locked or formatted.
        unsafe { command.pre_exec(enter) };
    }

    fn enter(&mut self) -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        for &(resource, limit) in &self.limits {
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
        // The tool itself was started with descriptors that go over to children: a shell's, make's, cargo's.
        // SAFETY: it only marks descriptors to be closed at exec; a kernel older than Landlock refuses, with no harm.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        let refused = || io::Error::from_raw_os_error(libc::EPERM);
        if let Some(rules) = self.rules.take() {
            rules.restrict_self().map_err(|_| refused())?;
        }
        if let Some(filter) = &self.filter {
            seccompiler::apply_filter(filter).map_err(|_| refused())?;
        }
        Ok(())
    }
}

fn rules(scratch: &Path) -> Result<RulesetCreated, RulesetError> {
    let beneath = |path: &Path, access| {
        // A path that cannot be opened gets no rule: less is allowed, not more.
        PathFd::new(path).ok().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, access)))
    };
    let written = [
        beneath(Path::new("/"), AccessFs::from_read(NEWEST)),
        beneath(scratch, AccessFs::from_all(NEWEST)),
        beneath(Path::new("/dev/null"), AccessFs::from_file(NEWEST)),
    ];
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(written.into_iter().flatten())
}

fn filter() -> Option<BpfProgram> {
    let available = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").ok()?;
    available.split_whitespace().find(|&action| action == "errno")?;
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    let mut rules: BTreeMap<i64, _> = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    for &(call, conditions) in REFUSED_IF {
        let conditions = conditions.iter().map(|&(argument, value, equal)| {
            let compare = if equal { SeccompCmpOp::Eq } else { SeccompCmpOp::Ne };
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
        });
        let rule = SeccompRule::new(conditions.collect::<Result<_, _>>().ok()?).ok()?;
        rules.entry(call).or_default().push(rule);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).ok()?.try_into().ok()
}

/// Of an argument: its place, a value, and whether it is that or not.
type Condition = (u8, u64, bool);

/// System calls that fail if all of these hold of their arguments.
const REFUSED_IF: &[(i64, &[Condition])] = &[
    // Signals through a descriptor's owner.
    (libc::SYS_fcntl, &[(1, 8, true)]),
    (libc::SYS_fcntl, &[(1, 10, true)]),
    (libc::SYS_fcntl, &[(1, 15, true)]),
    // One end of a pair that sends to somebody else.
    (libc::SYS_sendto, &[(5, 0, false)]),
    // Limits and processors of other processes.
    (libc::SYS_prlimit64, &[(0, 0, false)]),
    (libc::SYS_sched_setaffinity, &[(0, 0, false)]),
    (libc::SYS_sched_setscheduler, &[(0, 0, false)]),
    (libc::SYS_sched_setparam, &[(0, 0, false)]),
    (libc::SYS_sched_setattr, &[(0, 0, false)]),
];

/// System calls that fail. `socketpair` and `tgkill` stay: a pair reaches nobody else, and `abort` needs the other.
/// `setsid` and `setpgid` would let a child outlive its group's end; `io_uring` would go around this list. What changes a
/// file's mode, owner, times or attributes through a descriptor needs no more than reading, so Landlock does not stop it.
const REFUSED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_utimensat,
    libc::SYS_fsetxattr,
    libc::SYS_fremovexattr,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_fchownat,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];
