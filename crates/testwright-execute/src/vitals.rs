//! Reads from `/proc` whether a process is working, and how much it has worked.

use std::fs;
use std::time::Duration;

use rustix::process::Pid;

/// Signs of life of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vitals {
    /// CPU time of all its threads, dead ones included, to the kernel's tick.
    pub cpu: Duration,
    /// Every thread sleeps. A thread that waits for a processor, a disk or a debugger does not.
    pub asleep: bool,
}

/// `None` if the process is gone.
pub(crate) fn vitals(pid: Pid) -> Option<Vitals> {
    let folder = format!("/proc/{}", pid.as_raw_pid());
    let (_, cpu) = stat(&fs::read_to_string(format!("{folder}/stat")).ok()?)?;
    let mut asleep = true;
    for thread in fs::read_dir(format!("{folder}/task")).ok()? {
        // A thread may end while the folder is read.
        let Some(text) = thread.ok().and_then(|thread| fs::read_to_string(thread.path().join("stat")).ok())
        else {
            continue;
        };
        asleep &= stat(&text).is_some_and(|(state, _)| matches!(state, b'S' | b'Z' | b'X'));
    }
    Some(Vitals { cpu, asleep })
}

/// State and CPU time from a line of `/proc/PID/stat`. The name in parentheses may hold anything, so fields count from its end.
fn stat(line: &str) -> Option<(u8, Duration)> {
    let fields = &line[line.rfind(')')? + 1..];
    let mut fields = fields.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let user: u64 = fields.nth(10)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    Some((state, Duration::from_millis((user + system) * 1000 / ticks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        let line = "7 (a) S (b) R 1 7 7 0 -1 4194560 99 0 0 0 200 100 0 0 20 0 1 0 5 1 1";
        let ticks = rustix::param::clock_ticks_per_second();
        assert_eq!(stat(line), Some((b'R', Duration::from_millis(300 * 1000 / ticks))));
    }

    #[test]
    fn this_process_is_at_work() {
        let vitals = vitals(rustix::process::getpid()).unwrap();
        assert!(!vitals.asleep);
    }
}
