//! Makes a worker's process: descriptors in their places, nothing else inherited, a process group of its own.
//!
//! It calls `posix_spawn` rather than fork: the tool may hold gigabytes, and copying its page tables at every restart would
//! cost more than the restart itself.
#![expect(unsafe_code, reason = "std cannot place descriptors without forking")]

use std::ffi::{CString, c_char, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use rustix::process::Pid;
use testwright_wire::descriptor;

/// Descriptors to be handed over must not be lower, so that none is overwritten before it is placed.
pub(crate) const LOWEST: RawFd = 16;

/// How often a program that is busy is tried again, and after what time.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// What the new process gets.
#[derive(Debug)]
pub(crate) struct Outfit<'a> {
    pub binary: &'a Path,
    pub folder: &'a Path,
    pub environment: &'a [(String, String)],
    /// All of them at least [`LOWEST`].
    pub shared: BorrowedFd<'a>,
    pub command: BorrowedFd<'a>,
    pub event: BorrowedFd<'a>,
}

/// Tries again for a while if the program is busy: while one thread writes a program, a process that another thread is just starting
/// holds it open for writing too, until that one runs its own.
pub(crate) fn patiently<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..TRIES {
        match start() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    start()
}

/// Starts the process; it leads a process group of its own.
pub(crate) fn spawn(outfit: &Outfit<'_>) -> io::Result<Pid> {
    let binary = c_string(outfit.binary.as_os_str().as_bytes())?;
    let variables = outfit
        .environment
        .iter()
        .map(|(name, value)| c_string(format!("{name}={value}").as_bytes()))
        .collect::<io::Result<Vec<_>>>()?;
    let arguments = [binary.as_ptr().cast_mut(), ptr::null_mut()];
    let mut environment: Vec<*mut c_char> = variables.iter().map(|text| text.as_ptr().cast_mut()).collect();
    environment.push(ptr::null_mut());

    let mut actions = FileActions::new()?;
    for inherited in inherited() {
        actions.close(inherited)?;
    }
    actions.null_at(0, libc::O_RDONLY)?;
    actions.null_at(1, libc::O_WRONLY)?;
    actions.null_at(2, libc::O_WRONLY)?;
    let placed = [
        (outfit.shared, descriptor::SHARED),
        (outfit.command, descriptor::COMMAND),
        (outfit.event, descriptor::EVENT),
    ];
    for (source, place) in placed {
        debug_assert!(source.as_raw_fd() >= LOWEST, "it would be overwritten");
        actions.place(source.as_raw_fd(), place)?;
    }
    actions.enter(&c_string(outfit.folder.as_os_str().as_bytes())?)?;
    let attributes = Attributes::new()?;

    let mut pid = 0;
    // SAFETY: every pointer is to a live, initialised object; the two arrays end with a null.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            binary.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Ok(Pid::from_raw(pid).expect("a new process has a number"))
}

/// Descriptors of ours that would go over to any child: those we were started with (a shell's, make's, cargo's).
/// What std and this crate open does not.
fn inherited() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&descriptor: &RawFd| {
            // SAFETY: asking for the flags of a number that is no descriptor any more just fails.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            descriptor > 2 && flags >= 0 && flags & libc::FD_CLOEXEC == 0
        })
        .collect()
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

/// These functions return their error instead of setting `errno`.
fn check(error: c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: it initialises what it is given, or fails.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: just initialised.
        Ok(FileActions(unsafe { actions.assume_init() }))
    }

    fn close(&mut self, descriptor: RawFd) -> io::Result<()> {
        // SAFETY: initialised by `new`.
        check(unsafe { libc::posix_spawn_file_actions_addclose(&raw mut self.0, descriptor) })
    }

    fn null_at(&mut self, place: RawFd, mode: c_int) -> io::Result<()> {
        // SAFETY: initialised by `new`; the path is copied.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(&raw mut self.0, place, c"/dev/null".as_ptr(), mode, 0)
        })
    }

    fn place(&mut self, source: RawFd, place: RawFd) -> io::Result<()> {
        // SAFETY: initialised by `new`.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, source, place) })
    }

    fn enter(&mut self, folder: &CString) -> io::Result<()> {
        // SAFETY: initialised by `new`; the path is copied.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, folder.as_ptr()) })
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    /// A new process group, no signal blocked, and those that tools ignore or handle back at their defaults.
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it initialises what it is given, or fails.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: just initialised.
        let mut attributes = Attributes(unsafe { attributes.assume_init() });
        let flags = libc::POSIX_SPAWN_SETPGROUP | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        let flags = c_short::try_from(flags).expect("three low bits");
        let mut signals = MaybeUninit::uninit();
        // SAFETY: all of them work on the initialised attributes, or initialise the set before it is used.
        unsafe {
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
            check(libc::posix_spawnattr_setpgroup(&raw mut attributes.0, 0))?;
            libc::sigemptyset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, signals.as_ptr()))?;
            for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD] {
                libc::sigaddset(signals.as_mut_ptr(), signal);
            }
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, signals.as_ptr()))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, destroyed once.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_program_is_tried_again_and_nothing_else_is() {
        let mut tries = 0;
        let mut fail = |kind: io::ErrorKind, times: u32| {
            tries = 0;
            let outcome = patiently(|| {
                tries += 1;
                if tries <= times { Err(io::Error::from(kind)) } else { Ok(()) }
            });
            (outcome.is_ok(), tries)
        };
        assert_eq!(fail(io::ErrorKind::ExecutableFileBusy, 2), (true, 3));
        assert_eq!(fail(io::ErrorKind::NotFound, 1), (false, 1));
        assert_eq!(fail(io::ErrorKind::ExecutableFileBusy, u32::MAX), (false, TRIES + 1));
    }
}
