//! One worker process: its pipes, its death, and the certainty that nothing of it stays behind.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open, waitpid,
};

use crate::shared::Shared;
use crate::spawn::{self, Outfit};
use crate::{ExecuteError, WorkerPlan};

/// Between the end of the pipe and the end of the process lies only the kernel's tidying up.
const DYING: Duration = Duration::from_secs(5);

/// A running worker, or a dead one that has not been reaped.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    pidfd: OwnedFd,
    command: OwnedFd,
    event: OwnedFd,
    reaped: bool,
}

/// How a process ended, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(i32),
    Signalled(i32),
}

impl std::fmt::Display for Status {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Status::Exited(code) => write!(formatter, "exit code {code}"),
            Status::Signalled(signal) => write!(formatter, "signal {signal}"),
        }
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The worker wrote this byte.
    Said(u8),
    /// The process is dead, or has lost its voice and must be taken for dead.
    Gone,
    /// Nothing happened in the time given.
    Nothing,
}

impl Process {
    pub fn spawn(plan: &WorkerPlan, shared: &Shared) -> Result<Self, ExecuteError> {
        let failed = || ExecuteError::system("make a pipe");
        let (command_end, command) = pipe_with(PipeFlags::CLOEXEC).map_err(failed())?;
        let (event, event_end) = pipe_with(PipeFlags::CLOEXEC).map_err(failed())?;
        let command_end = fcntl_dupfd_cloexec(&command_end, spawn::LOWEST).map_err(failed())?;
        let event_end = fcntl_dupfd_cloexec(&event_end, spawn::LOWEST).map_err(failed())?;
        let mut environment = vec![
            ("RUST_BACKTRACE".to_owned(), "0".to_owned()),
            ("TESTWRIGHT_SCRATCH".to_owned(), plan.scratch.to_string_lossy().into_owned()),
            // As the launcher gives them to tests.
            ("HOME".to_owned(), plan.scratch.to_string_lossy().into_owned()),
            ("TMPDIR".to_owned(), plan.scratch.to_string_lossy().into_owned()),
        ];
        environment.extend_from_slice(&plan.environment);
        let outfit = Outfit {
            binary: &plan.binary,
            folder: &plan.scratch,
            environment: &environment,
            shared: shared.file(),
            command: command_end.as_fd(),
            event: event_end.as_fd(),
        };
        let pid = spawn::patiently(|| spawn::spawn(&outfit))
            .map_err(|source| ExecuteError::Spawn { binary: plan.binary.clone(), source })?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Process { pid, pidfd, command, event, reaped: false }),
            Err(errno) => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::empty());
                Err(ExecuteError::system("watch a process (Linux 5.3 or newer is needed)")(errno))
            }
        }
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Lets the worker run a slot. Fails if it is dead.
    pub fn order(&self, slot: u8) -> Result<(), Errno> {
        loop {
            match write(&self.command, &[slot]) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Waits for a sign of life or death.
    pub fn wait(&self, limit: Duration) -> Result<Wake, ExecuteError> {
        let failed = ExecuteError::system("wait for a worker");
        let mut watched = [PollFd::new(&self.event, PollFlags::IN), PollFd::new(&self.pidfd, PollFlags::IN)];
        match poll(&mut watched, Some(&timespec(limit))) {
            Ok(0) | Err(Errno::INTR) => return Ok(Wake::Nothing),
            Ok(_) => {}
            Err(errno) => return Err(failed(errno)),
        }
        // What was said before the death comes first.
        if !watched[0].revents().is_empty() {
            let mut byte = [0];
            match read(&self.event, &mut byte) {
                Ok(1..) => return Ok(Wake::Said(byte[0])),
                Ok(0) => return Ok(Wake::Gone),
                Err(Errno::INTR) => return Ok(Wake::Nothing),
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(Wake::Gone)
    }

    pub fn kill(&self) {
        if !self.reaped {
            // The group may be empty of others, and the worker dead already: both are what is wanted.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    /// Waits for the death of a process that is [`Wake::Gone`], and ends whatever it started.
    pub fn bury(mut self) -> Result<Status, ExecuteError> {
        let end = Instant::now() + DYING;
        while Instant::now() < end {
            let mut watched = [PollFd::new(&self.pidfd, PollFlags::IN)];
            let rest = end.saturating_duration_since(Instant::now());
            if matches!(poll(&mut watched, Some(&timespec(rest))), Ok(1..)) {
                break;
            }
        }
        self.reap().map_err(ExecuteError::system("reap a worker"))
    }

    /// Kills the group while the leader's number still stands for it, then reaps the leader. A leader that was dead keeps
    /// the status it died with.
    fn reap(&mut self) -> Result<Status, Errno> {
        self.kill();
        loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => {
                    self.reaped = true;
                    let signal = status.terminating_signal().map(Status::Signalled);
                    return Ok(signal.unwrap_or(Status::Exited(status.exit_status().unwrap_or(0))));
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.reap();
        }
    }
}

pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}

/// Makes the folder that foreign code may write to.
pub(crate) fn make_scratch(folder: &std::path::Path) -> Result<std::path::PathBuf, ExecuteError> {
    let failed = |source: io::Error| ExecuteError::Scratch { folder: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::canonicalize(folder).map_err(failed)
}
