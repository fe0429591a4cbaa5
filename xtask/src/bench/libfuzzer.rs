//! Builds and runs the fuzz targets of `benches/libfuzzer`: a crate's name in, calls and processor time out.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use super::process::{self, Meter};

/// What `cargo fuzz` passes, without a sanitizer and without tracing of comparisons, which would both slow the target down.
const FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table";
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Bytes of an input, at most: twenty operations need fewer.
const LONGEST: u32 = 256;

#[derive(Debug)]
pub struct Targets {
    folder: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct Fuzzed {
    pub calls: u64,
    pub seconds: f64,
    /// Seconds on the processor.
    pub processor: f64,
    /// Inputs.
    pub runs: u64,
}

impl Targets {
    /// Builds the targets; the error is for people, who may go on without them.
    pub fn build() -> anyhow::Result<Self> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let there =
            Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !there.is_ok_and(|status| status.success()) {
            bail!("`{compiler}` does not run: install a C++ compiler or name one in CXX");
        }
        let folder = std::env::current_dir()?.join("target/libfuzzer");
        // With a target named, build scripts are not instrumented.
        let status = Command::new("cargo")
            .args(["build", "--release", "--quiet", "--target", TARGET, "--target-dir"])
            .arg(&folder)
            .current_dir("benches/libfuzzer")
            .env("RUSTFLAGS", FLAGS)
            .status()
            .context("cannot start cargo")?;
        if !status.success() {
            bail!("benches/libfuzzer does not build");
        }
        Ok(Targets { folder: folder.join(TARGET).join("release") })
    }

    /// `None` if there is no target for the crate.
    pub fn run(&self, name: &str, seconds: u64) -> anyhow::Result<Option<Fuzzed>> {
        let program = self.folder.join(name);
        if !program.exists() {
            return Ok(None);
        }
        let child = Command::new(&program)
            .args([format!("-max_total_time={seconds}"), format!("-max_len={LONGEST}"), "-seed=1".to_owned()])
            .arg("-print_final_stats=1")
            .current_dir(&self.folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let number = child.id();
        let watcher = std::thread::spawn(move || {
            let mut meter = Meter::default();
            meter.sample([]);
            // The last look is at most this long before the end.
            while let found @ [_, ..] = process::threads(number).as_slice() {
                meter.sample(found.iter().copied());
                std::thread::sleep(Duration::from_millis(20));
            }
            meter.total()
        });
        let output = child.wait_with_output()?;
        let times = watcher.join().unwrap_or_default();
        let (told, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            let from = log.find("panicked at").unwrap_or(0);
            bail!(
                "the fuzz target {name} failed: {}",
                log[from..].lines().take(3).collect::<Vec<_>>().join(" ")
            );
        }
        let word = |text: &str, after: &str| {
            let mut words = text.split_whitespace().skip_while(|word| *word != after);
            words
                .nth(1)
                .map(str::to_owned)
                .with_context(|| format!("the fuzz target {name} printed no `{after}`"))
        };
        Ok(Some(Fuzzed {
            calls: word(&told, "calls")?.parse()?,
            seconds: word(&told, "seconds")?.parse()?,
            processor: times.running as f64 / 1e9,
            runs: word(&log, "stat::number_of_executed_units:")?.parse()?,
        }))
    }
}
