//! Landlock: the worker may read and write its scratch folder and nothing else, and reach no network.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use crate::libc::{self, nr};

/// Rights over files that each version of Landlock knows; the place is the version minus one.
const FILE_RIGHTS: [u64; 5] = [(1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1];
/// Not even in the scratch folder: executing, character devices, sockets, block devices, device control.
const NEVER: u64 = 1 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 15;
/// Binding and connecting TCP sockets, since version 4.
const NETWORK_RIGHTS: u64 = 3;
/// Abstract unix sockets and signals to processes outside, since version 6.
const SCOPES: u64 = 3;

const VERSION_QUERY: usize = 1;
const RULE_PATH_BENEATH: usize = 1;

#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    folder: i32,
}

/// The version that the kernel offers, 0 if none.
pub fn version() -> usize {
    // SAFETY: a query without attributes.
    unsafe { libc::call(nr::LANDLOCK_CREATE_RULESET, [0, 0, VERSION_QUERY, 0, 0, 0]) }.max(0) as usize
}

/// Confines this thread and those it will start to `scratch`, a path that ends in a zero byte. Needs `no_new_privs`.
pub fn enter(scratch: &[u8]) -> Result<(), &'static str> {
    let version = version();
    if version == 0 {
        return Err("the kernel offers no Landlock");
    }
    let files = FILE_RIGHTS[version.min(FILE_RIGHTS.len()) - 1];
    let rules = Ruleset {
        files,
        network: if version >= 4 { NETWORK_RIGHTS } else { 0 },
        scopes: if version >= 6 { SCOPES } else { 0 },
    };
    let known = match version {
        0..=3 => 8,
        4 | 5 => 16,
        _ => 24,
    };
    // SAFETY: the structures are those of the kernel's interface, and outlive the calls.
    unsafe {
        let attributes = core::ptr::addr_of!(rules) as usize;
        let ruleset = libc::call(nr::LANDLOCK_CREATE_RULESET, [attributes, known, 0, 0, 0, 0]);
        if ruleset < 0 {
            return Err("Landlock takes no rules");
        }
        let path = scratch.as_ptr() as usize;
        let folder = libc::call(nr::OPENAT, [libc::AT_FDCWD, path, libc::O_PATH_DIRECTORY_CLOEXEC, 0, 0, 0]);
        if folder < 0 {
            return Err("the scratch folder cannot be opened");
        }
        let rule = PathBeneath { allowed: files & !NEVER, folder: folder as i32 };
        let rule = core::ptr::addr_of!(rule) as usize;
        let added = libc::call(nr::LANDLOCK_ADD_RULE, [ruleset as usize, RULE_PATH_BENEATH, rule, 0, 0, 0]);
        let entered = libc::call(nr::LANDLOCK_RESTRICT_SELF, [ruleset as usize, 0, 0, 0, 0, 0]);
        for descriptor in [ruleset, folder] {
            libc::call(nr::CLOSE, [descriptor as usize, 0, 0, 0, 0, 0]);
        }
        if added < 0 || entered < 0 {
            return Err("Landlock refuses the rules");
        }
    }
    Ok(())
}
