//! Runs a whole program, such as an emitted test, in a sandbox of its own and tells how it ended.
//!
//! Time is CPU time first; a program also runs out of time if all its threads sleep for as long. Output is kept in bounds and
//! always drained, so that a program which floods its pipes neither blocks nor fills memory.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::process::{make_scratch, timespec};
use crate::sandbox::Sandbox;
use crate::spawn;
use crate::vitals::vitals;
use crate::watchdog::{Diagnosis, Pulse, Watchdog};
use crate::{ExecuteError, Limits};

/// Bytes of each stream that are kept by default.
const OUTPUT: usize = 128 << 10;
/// Address space by default: enough for any honest test, and far from what a machine has.
const MEMORY: u64 = 4 << 30;
/// Read at once.
const CHUNK: usize = 16 << 10;
/// Chunks that a pipe can still hold when its writers are dead, with some to spare.
const LEFT: usize = 128;

/// A program to run, and what it may use.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The only folder that may be written to; made if it is missing, and the program's current folder.
    pub scratch: PathBuf,
    /// CPU time, and time asleep.
    pub timeout: Duration,
    /// Address space; [`Launch::new`] leaves it open for programs under a sanitizer, which reserve terabytes.
    pub memory: Option<u64>,
    /// Added to a nearly empty environment.
    pub environment: Vec<(String, String)>,
    /// Bytes of each stream that are kept: half from its beginning, half from its end.
    pub output: usize,
    /// Run without a complete sandbox if the kernel offers none.
    pub allow_unguarded: bool,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    pub exit: ExitKind,
    pub stdout: String,
    pub stderr: String,
    /// Something of the output was left out.
    pub cut: bool,
    /// CPU time of the program itself, to the kernel's tick.
    pub cpu: Duration,
    pub wall: Duration,
    /// Whether the sandbox was complete.
    pub guarded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitKind {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// Runs `program` in a complete sandbox with default bounds.
pub fn run_confirmed(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    timeout: Duration,
    scratch: &Path,
) -> Result<TestRun, ExecuteError> {
    let mut launch = Launch::new(program, scratch, timeout);
    launch.arguments = arguments.iter().map(|argument| argument.as_ref().to_owned()).collect();
    launch.run()
}

impl Launch {
    pub fn new(program: impl Into<PathBuf>, scratch: impl Into<PathBuf>, timeout: Duration) -> Self {
        let program = program.into();
        Launch {
            memory: (!is_sanitized(&program)).then_some(MEMORY),
            program,
            arguments: Vec::new(),
            scratch: scratch.into(),
            timeout,
            environment: Vec::new(),
            output: OUTPUT,
            allow_unguarded: false,
        }
    }

    /// Runs the program to its end. Whatever it started has ended too when this returns.
    pub fn run(&self) -> Result<TestRun, ExecuteError> {
        let scratch = make_scratch(&self.scratch)?;
        let sandbox = Sandbox::new(&scratch, self.timeout, self.memory, self.allow_unguarded)?;
        let guarded = sandbox.is_complete();
        let began = Instant::now();
        let mut running = Running::start(self, &scratch, sandbox)?;
        let timed_out = running.watch(self.timeout)?;
        let cpu = vitals(running.pid).map_or(Duration::ZERO, |vitals| vitals.cpu);
        let status = running.end().map_err(|source| self.failed(source))?;
        running.drain();
        let exit = match (timed_out, status.code(), status.signal()) {
            (true, ..) | (_, _, Some(libc::SIGXCPU)) => ExitKind::TimedOut,
            (_, Some(code), _) => ExitKind::Code(code),
            (_, _, signal) => ExitKind::Signal(signal.unwrap_or(0)),
        };
        let [stdout, stderr] = &running.captures;
        Ok(TestRun {
            exit,
            stdout: stdout.text(),
            stderr: stderr.text(),
            cut: stdout.dropped + stderr.dropped > 0,
            cpu,
            wall: began.elapsed(),
            guarded,
        })
    }

    fn failed(&self, source: std::io::Error) -> ExecuteError {
        ExecuteError::Launch { program: self.program.clone(), source }
    }
}

/// Whether `AddressSanitizer` is linked into the program. One that cannot be read will not start either.
fn is_sanitized(program: &Path) -> bool {
    const SIGN: &[u8] = b"__asan_init";
    let bytes = std::fs::read(program).unwrap_or_default();
    bytes.windows(SIGN.len()).any(|window| window == SIGN)
}

/// The program while it runs; dropped, it is killed with all it started.
struct Running {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    captures: [Capture; 2],
    ended: bool,
}

impl Running {
    fn start(launch: &Launch, scratch: &Path, sandbox: Sandbox) -> Result<Self, ExecuteError> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .current_dir(scratch)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("RUST_BACKTRACE", "0")
            .env("TMPDIR", scratch)
            .env("HOME", scratch)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        sandbox.put_around(&mut command);
        let mut child = spawn::patiently(|| command.spawn()).map_err(|source| launch.failed(source))?;
        let pid = Pid::from_child(&child);
        let stdout = child.stdout.take().map(OwnedFd::from).expect("it is piped");
        let stderr = child.stderr.take().map(OwnedFd::from).expect("it is piped");
        let pidfd = pidfd_open(pid, PidfdFlags::empty());
        let captures = [stdout, stderr].map(|pipe| Capture::new(pipe, launch.output));
        match pidfd {
            Ok(pidfd) => Ok(Running { child, pid, pidfd, captures, ended: false }),
            Err(errno) => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                Err(launch.failed(errno.into()))
            }
        }
    }

    /// Reads output until the program ends (false) or its time is over (true).
    fn watch(&mut self, timeout: Duration) -> Result<bool, ExecuteError> {
        let limits = Limits { call: timeout, sequence: timeout, blocked: timeout, ..Limits::default() };
        let mut watchdog = Watchdog::new(limits, Instant::now());
        let mut looked = Instant::now();
        // A program has no steps: all the time counts for one.
        let pulse = Pulse { sequence: (0, 0, 0), step: (0, 0, 0) };
        loop {
            let mut watched = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
            watched.extend(self.captures.iter().filter_map(Capture::poll));
            match poll(&mut watched, Some(&timespec(watchdog.interval()))) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(ExecuteError::system("wait for a program")(errno)),
            }
            if !watched[0].revents().is_empty() {
                return Ok(false);
            }
            for capture in &mut self.captures {
                capture.read();
            }
            if looked.elapsed() < watchdog.interval() {
                continue;
            }
            looked = Instant::now();
            let Some(vitals) = vitals(self.pid) else { continue };
            if vitals.cpu > timeout || watchdog.look(looked, pulse, vitals) != Diagnosis::Fine {
                return Ok(true);
            }
        }
    }

    /// Ends the program and all that is in its group, and reaps it.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        let _ = kill_process_group(self.pid, Signal::KILL);
        let status = self.child.wait()?;
        self.ended = true;
        Ok(status)
    }

    /// What still lies in the pipes. Somebody may hold them open still, so it does not wait for their end.
    fn drain(&mut self) {
        for capture in &mut self.captures {
            for _ in 0..LEFT {
                if !capture.read() {
                    break;
                }
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

/// One output stream: its beginning, its end, and how much lay between.
struct Capture {
    pipe: Option<std::fs::File>,
    head: Vec<u8>,
    tail: Vec<u8>,
    half: usize,
    dropped: usize,
}

impl Capture {
    fn new(pipe: OwnedFd, room: usize) -> Self {
        // A pipe that stays blocking would only be read when poll says that there is something.
        let _ = fcntl_setfl(&pipe, OFlags::NONBLOCK);
        Capture { pipe: Some(pipe.into()), head: Vec::new(), tail: Vec::new(), half: room / 2, dropped: 0 }
    }

    fn poll(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN))
    }

    /// Reads once; false if there is nothing to read now.
    fn read(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        let mut chunk = [0; CHUNK];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.keep(&chunk[..count]);
                return true;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return true,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => self.pipe = None,
        }
        false
    }

    fn keep(&mut self, bytes: &[u8]) {
        let first = bytes.len().min(self.half - self.head.len());
        self.head.extend_from_slice(&bytes[..first]);
        self.tail.extend_from_slice(&bytes[first..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.dropped += over;
        self.tail.drain(..over);
    }

    fn text(&self) -> String {
        if self.dropped == 0 {
            let whole = [&self.head[..], &self.tail[..]].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        format!("{head}\n[{} bytes left out]\n{tail}", self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_keeps_its_beginning_and_its_end() {
        let (pipe, _) = rustix::pipe::pipe().unwrap();
        let mut capture = Capture::new(pipe, 8);
        capture.keep(b"abcde");
        assert_eq!(capture.text(), "abcde");
        capture.keep(b"fghijkl");
        assert_eq!(capture.text(), "abcd\n[4 bytes left out]\nijkl");
    }
}
