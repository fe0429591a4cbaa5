//! The sandbox: what the worker gives up before it runs foreign code.
//!
//! Receives the scratch folder; hands back which protections stand.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use testwright_wire::{descriptor, layout::guard};

use crate::libc::{self, nr};
use crate::{landlock, seccomp};

/// Open files, bytes a file, core dumps.
const LIMITS: [(usize, u64); 3] =
    [(libc::RLIMIT_NOFILE, 64), (libc::RLIMIT_FSIZE, 64 << 20), (libc::RLIMIT_CORE, 0)];

/// Protections that stand (bits of [`guard`]), and why one does not.
#[derive(Debug)]
pub struct Guards {
    pub bits: u32,
    pub missing: Option<&'static str>,
}

/// Enters it, as far as the kernel goes along. `scratch` ends in a zero byte.
pub fn enter(scratch: &[u8]) -> Guards {
    close_others();
    // SAFETY: numbers only.
    unsafe {
        libc::call(nr::PRCTL, [libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0, 0, 0, 0]);
        libc::call(nr::PRCTL, [libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0]);
    }
    let mut guards = Guards { bits: 0, missing: None };
    let steps = [
        (guard::LIMITS, limit()),
        (guard::LANDLOCK, landlock::enter(scratch)),
        (guard::SECCOMP, seccomp::enter()),
    ];
    for (bit, outcome) in steps {
        match outcome {
            Ok(()) => guards.bits |= bit,
            Err(why) => guards.missing = Some(why),
        }
    }
    guards
}

fn close_others() {
    let first = descriptor::EVENT as usize + 1;
    // SAFETY: nothing in this process uses descriptors beyond the wire's.
    unsafe {
        if libc::call(nr::CLOSE_RANGE, [first, u32::MAX as usize, 0, 0, 0, 0]) < 0 {
            for other in first..4096 {
                libc::call(nr::CLOSE, [other, 0, 0, 0, 0, 0]);
            }
        }
    }
}

fn limit() -> Result<(), &'static str> {
    for (resource, most) in LIMITS {
        let mut limits = [0_u64; 2];
        // SAFETY: the kernel reads or writes two u64 for this process.
        let set = unsafe {
            libc::call(nr::PRLIMIT64, [0, resource, 0, limits.as_mut_ptr() as usize, 0, 0]);
            limits = [most.min(limits[1]); 2];
            libc::call(nr::PRLIMIT64, [0, resource, limits.as_ptr() as usize, 0, 0, 0])
        };
        if set < 0 {
            return Err("resource limits cannot be lowered");
        }
    }
    Ok(())
}
