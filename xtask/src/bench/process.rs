//! What the kernel tells about a running process: time on the processor, time in the queue for it, peak memory, children.

use std::collections::BTreeMap;
use std::fs;

/// Nanoseconds of some threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    pub running: u64,
    /// Ready to run, but others had the processor.
    pub queued: u64,
}

/// Adds up the times of threads that come and go.
#[derive(Debug, Default)]
pub struct Meter {
    last: BTreeMap<u32, Times>,
    spent: BTreeMap<u32, Times>,
    started: bool,
}

impl Meter {
    /// Takes the present times. What was there at the first sample counts from then on, what comes later from its beginning.
    pub fn sample(&mut self, present: impl IntoIterator<Item = (u32, Times)>) {
        for (id, now) in present {
            let base = if self.started { Times::default() } else { now };
            let last = self.last.insert(id, now).unwrap_or(base);
            // A number that is used again starts at nothing.
            let last = if last.running > now.running { Times::default() } else { last };
            let spent = self.spent.entry(id).or_default();
            spent.running += now.running - last.running;
            spent.queued += now.queued.saturating_sub(last.queued);
        }
        self.started = true;
    }

    pub fn total(&self) -> Times {
        self.spent.values().fold(Times::default(), |sum, times| Times {
            running: sum.running + times.running,
            queued: sum.queued + times.queued,
        })
    }

    pub fn busiest(&self) -> Times {
        self.spent.values().copied().max_by_key(|times| times.running).unwrap_or_default()
    }
}

/// The times of a process's threads.
pub fn threads(process: u32) -> Vec<(u32, Times)> {
    thread_ids(process)
        .into_iter()
        .filter_map(|thread| Some((thread, times(&format!("/proc/{process}/task/{thread}/schedstat"))?)))
        .collect()
}

/// A process's children, those left out whose program has one of these names.
pub fn children(process: u32, without: &[&str]) -> Vec<u32> {
    let mut found = Vec::new();
    for thread in thread_ids(process) {
        let Ok(children) = fs::read_to_string(format!("/proc/{process}/task/{thread}/children")) else {
            continue;
        };
        for child in children.split_whitespace().filter_map(|number| number.parse().ok()) {
            let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
            if !without.contains(&name.trim_end()) {
                found.push(child);
            }
        }
    }
    found
}

/// The largest memory that the process had resident so far, in KiB.
pub fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processes that ran or wanted to, on average over the last minute.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

fn thread_ids(process: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn times(path: &str) -> Option<Times> {
    let text = fs::read_to_string(path).ok()?;
    let mut numbers = text.split_whitespace().map_while(|number| number.parse().ok());
    Some(Times { running: numbers.next()?, queued: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn at(running: u64) -> Times {
        Times { running, queued: 0 }
    }

    #[test]
    fn what_was_there_counts_from_the_first_sample_and_the_rest_from_its_birth() {
        let mut meter = Meter::default();
        meter.sample([(1, at(100))]);
        meter.sample([(1, at(130)), (2, at(5))]);
        meter.sample([(2, at(7))]);
        assert_eq!(meter.total(), at(37));
        assert_eq!(meter.busiest(), at(30));
    }

    #[test]
    fn a_number_that_is_used_again_is_another_thread() {
        let mut meter = Meter::default();
        meter.sample([]);
        meter.sample([(1, at(50))]);
        meter.sample([(1, at(3))]);
        assert_eq!(meter.total(), at(53));
    }

    #[test]
    fn this_process_has_memory_and_threads() {
        assert!(peak_memory(std::process::id()).is_some_and(|peak| peak > 100));
        assert!(!threads(std::process::id()).is_empty());
    }

    #[test]
    fn work_of_another_thread_is_seen() {
        let mut meter = Meter::default();
        meter.sample(threads(std::process::id()));
        let (ready, done) = (channel::<()>(), channel::<()>());
        let worker = std::thread::spawn(move || {
            let mut number = 1u64;
            for _ in 0..50_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
            ready.0.send(()).expect("somebody waits");
            let _ = done.1.recv();
        });
        ready.1.recv().expect("the worker counts");
        meter.sample(threads(std::process::id()));
        assert!(meter.total().running > 1_000_000, "{:?}", meter.total());
        drop(done.0);
        worker.join().expect("the worker ends");
    }
}
