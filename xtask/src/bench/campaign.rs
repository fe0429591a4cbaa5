//! Runs the tool as a user does, and watches it: flags in, the report and what the kernel saw of the process out.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use testwright_emit::report::Report;

use super::process::{self, Meter};
use crate::subjects::Listed;

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// Programs that the tool starts besides workers.
const NOT_WORKERS: [&str; 4] = ["cargo", "rustc", "rustdoc", "cargo-testwrigh"];

#[derive(Debug)]
pub struct Tool {
    program: PathBuf,
    out: PathBuf,
    /// Whether the tool and all that it starts share one processor.
    confined: bool,
}

#[derive(Debug)]
pub struct Watched {
    pub report: Report,
    /// During the search: the tool's threads, and those of its workers.
    pub tool: Meter,
    pub workers: Meter,
    /// Worker processes that were seen.
    pub processes: usize,
    /// How long the search was watched.
    pub searched: Duration,
    /// KiB.
    pub peak: u64,
}

/// What is known while a campaign runs.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub sequences: u64,
    pub peak: u64,
}

/// What the tool's own lines have told so far.
#[derive(Debug, Default)]
struct Told {
    searching: Option<Instant>,
    sequences: u64,
}

impl Tool {
    /// The tool of this repository, built as this program was.
    pub fn build() -> anyhow::Result<Self> {
        let built =
            Command::new("cargo").args(["build", "--release", "--quiet", "-p", "cargo-testwright"]).status();
        if !built.context("cannot start cargo")?.success() {
            bail!("cargo-testwright does not build");
        }
        let program = std::env::current_exe()?.with_file_name("cargo-testwright");
        if !program.exists() {
            bail!("{} is not there: start this with `cargo xtask bench`", program.display());
        }
        Ok(Tool { program, out: std::env::current_dir()?.join("target/xtask/bench"), confined: false })
    }

    /// The same tool with another folder to work in, so that a long campaign can go on beside others.
    pub fn elsewhere(&self, folder: &str) -> Self {
        Tool { program: self.program.clone(), out: self.out.join(folder), confined: false }
    }

    /// The same tool on a single processor.
    pub fn confined(&self) -> Self {
        Tool { program: self.program.clone(), out: self.out.clone(), confined: true }
    }

    /// One campaign on a published crate, without tests in the end.
    pub fn generate(&self, listed: &Listed, flags: &[&str]) -> anyhow::Result<Watched> {
        self.watch(listed, flags, Duration::MAX, &mut |_| {})
    }

    /// The same; the search is watched until `limit`, and `each` hears of every look at the process.
    pub fn watch(
        &self,
        listed: &Listed,
        flags: &[&str],
        limit: Duration,
        each: &mut dyn FnMut(Moment),
    ) -> anyhow::Result<Watched> {
        let name = format!("{}@{}", listed.name, listed.version);
        // One folder a crate, so that the worker is compiled once.
        let out = self.out.join(&listed.name);
        let report = out.join("report.json");
        if report.exists() {
            std::fs::remove_file(&report)?;
        }
        let mut command = Command::new(if self.confined { Path::new("taskset") } else { &self.program });
        if self.confined {
            command.args(["--cpu-list", "0"]).arg(&self.program);
        }
        let mut child = command
            .args(["generate", "--crate", &name, "--seed", "0", "--max-tests", "0"])
            .args(flags)
            .arg("--out")
            .arg(&out)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let told = Arc::new(Mutex::new(Told::default()));
        let lines = BufReader::new(child.stderr.take().context("standard error is a pipe")?).lines();
        let listener = {
            let told = Arc::clone(&told);
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| hear(&line, &told)))
        };
        let (mut tool, mut workers) = (Meter::default(), Meter::default());
        let (mut searched, mut peak) = (Duration::ZERO, 0);
        let mut processes = BTreeSet::new();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            peak = process::peak_memory(child.id()).unwrap_or(0).max(peak);
            let (since, sequences) = {
                let told = told.lock().unwrap_or_else(PoisonError::into_inner);
                (told.searching, told.sequences)
            };
            if let Some(since) = since.filter(|since| since.elapsed() < limit) {
                tool.sample(process::threads(child.id()));
                let present = process::children(child.id(), &NOT_WORKERS);
                // The calls are made by a thread of their own.
                workers.sample(present.iter().flat_map(|worker| process::threads(*worker)));
                processes.extend(present);
                searched = since.elapsed();
            }
            each(Moment { sequences, peak });
            std::thread::sleep(LOOK);
        };
        let _ = listener.join();
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("the campaign on {name} with {flags:?} ended with {status}: run it by hand to see why");
        }
        Ok(Watched { report: read(&report)?, tool, workers, processes: processes.len(), searched, peak })
    }
}

fn hear(line: &str, told: &Mutex<Told>) {
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    if line.ends_with("; searching") {
        told.searching = Some(Instant::now());
    }
    if let Some((before, _)) = line.split_once(" sequences, ") {
        told.sequences = before.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap_or(0);
    }
}

fn read(path: &Path) -> anyhow::Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("no report at {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no report", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_understood() {
        let told = Mutex::new(Told::default());
        hear("worker ready after 15.2 s; searching", &told);
        hear("  30s  14632 sequences, 917992 calls, 9293 of 18105 edges, pool 5994, 0 failures seen", &told);
        let told = told.into_inner().unwrap();
        assert!(told.searching.is_some());
        assert_eq!(told.sequences, 14632);
    }
}
