//! The one place that starts cargo (and asks the compiler for its version): captures output, tells network and disk trouble
//! from the rest, and hands the compiler wrapper its plan.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use cargo_metadata::Message;

use crate::error::HarnessError;
use crate::places::Places;
use crate::user_config;
use crate::wrapper::{Plan, VARIABLE};

/// Between two looks at a running cargo.
const PATIENCE: Duration = Duration::from_millis(5);

/// What a finished cargo command left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        Message::parse_stream(self.stdout.as_bytes()).filter_map(Result::ok)
    }

    /// Cargo's own error without the lines about what it was doing.
    pub fn error_text(&self) -> String {
        match self.stderr.find("error: ") {
            Some(at) => self.stderr[at..].trim_end().to_owned(),
            None => self.stderr.trim_end().to_owned(),
        }
    }
}

/// One cargo command under construction.
#[derive(Debug)]
pub(crate) struct Cargo<'a> {
    places: &'a Places,
    args: Vec<OsString>,
    folder: PathBuf,
    plan: Option<Plan>,
}

impl<'a> Cargo<'a> {
    /// `folder` is where cargo starts: its configuration and the toolchain file are looked for from there.
    pub fn new(places: &'a Places, subcommand: &str, folder: &Path) -> Self {
        Cargo { places, args: vec![subcommand.into()], folder: folder.to_owned(), plan: None }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn manifest(self, path: &Path) -> Self {
        self.arg("--manifest-path").arg(path)
    }

    /// Compiles into a target folder of ours, for the host alone whatever the user's configuration says, through our wrapper.
    pub fn compiles(mut self, host: &str, plan: Plan, target_dir: &Path) -> Self {
        self.plan = Some(plan);
        let wide = self.arg("--target").arg(host).arg("--target-dir").arg(target_dir);
        match wide.places.jobs {
            Some(jobs) => wide.arg("--jobs").arg(jobs.to_string()),
            None => wide,
        }
    }

    /// Runs it; if the network is missing, runs it again on what is on the disk.
    pub fn run(&self) -> Result<Outcome, HarnessError> {
        let outcome = self.run_once(self.places.offline)?;
        if outcome.success || !is_network_trouble(&outcome.stderr) {
            return Ok(outcome);
        }
        if !self.places.offline {
            let again = self.run_once(true)?;
            if again.success || !is_network_trouble(&again.stderr) {
                return Ok(again);
            }
        }
        Err(HarnessError::environment(
            format!("the package registry cannot be reached:\n{}", outcome.error_text()),
            "check the network or a proxy; with all dependencies in cargo's cache no network is needed",
        ))
    }

    fn run_once(&self, offline: bool) -> Result<Outcome, HarnessError> {
        let mut command = command(&program(), &self.folder)?;
        command.args(&self.args).env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never");
        command.env_remove("RUSTC_WORKSPACE_WRAPPER");
        if offline {
            command.arg("--offline");
        }
        if let Some(plan) = &self.plan {
            let plan = Plan { inner: user_config::rustc_wrapper(&self.folder), ..plan.clone() };
            let text = serde_json::to_string(&plan)
                .map_err(|error| HarnessError::internal(format!("a path is not Unicode: {error}")))?;
            command.env("RUSTC_WRAPPER", &self.places.wrapper).env(VARIABLE, text);
            if plan.rustdoc.is_some() {
                command.env("RUSTDOC", &self.places.wrapper).env("CARGO_ENCODED_RUSTDOCFLAGS", "");
            }
        }
        let output = self.output(command)?;
        let outcome = Outcome {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        if !outcome.success && [&outcome.stderr, &outcome.stdout].iter().any(|text| is_full_disk(text)) {
            return Err(HarnessError::environment(
                format!("the disk is full:\n{}", outcome.error_text()),
                "free some disk space, or name another work folder with TESTWRIGHT_CACHE",
            ));
        }
        Ok(outcome)
    }

    /// Waits for the command, or stops it when it is not wanted any more. The compilers that cargo started end with it.
    fn output(&self, mut command: Command) -> Result<Output, HarnessError> {
        let fail = |error: io::Error| start_error("cargo", &error);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(fail)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            let stdout = scope.spawn(|| read_all(stdout));
            let stderr = scope.spawn(|| read_all(stderr));
            let status = loop {
                if let Some(status) = child.try_wait().map_err(fail)? {
                    break status;
                }
                if self.places.unwanted.load(Relaxed) {
                    // It may have ended in the meantime.
                    let _ = child.kill();
                    child.wait().map_err(fail)?;
                    return Err(HarnessError::internal("a build was stopped because nobody waited for it"));
                }
                std::thread::sleep(PATIENCE);
            };
            let read = |text: std::thread::ScopedJoinHandle<'_, Vec<u8>>| text.join().unwrap_or_default();
            Ok(Output { status, stdout: read(stdout), stderr: read(stderr) })
        })
    }
}

fn read_all(from: Option<impl io::Read>) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(mut from) = from {
        // What could be read is what there is to report.
        let _ = from.read_to_end(&mut text);
    }
    text
}

/// `rustc -vV` of the compiler that cargo will use in `folder`.
pub(crate) fn compiler_version(folder: &Path) -> Result<String, HarnessError> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = command(&program, folder)?
        .arg("-vV")
        .output()
        .map_err(|error| start_error(&program.to_string_lossy(), &error))?;
    if !output.status.success() {
        return Err(HarnessError::environment(
            format!("the compiler does not start: {}", String::from_utf8_lossy(&output.stderr).trim()),
            "check the toolchain with `rustc -vV`",
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The real rustdoc, for the wrapper.
pub(crate) fn rustdoc() -> PathBuf {
    std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()).into()
}

fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A command without what an outer cargo tells the program that it runs.
fn command(program: &OsStr, folder: &Path) -> Result<Command, HarnessError> {
    if std::env::var_os(VARIABLE).is_some() {
        // Otherwise each compiler call would start the tool anew, which would start cargo.
        return Err(HarnessError::internal("started as a compiler wrapper, but did not act as one"));
    }
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_MANIFEST_")
            || text.starts_with("CARGO_BIN_")
            || matches!(
                &*text,
                "CARGO_PRIMARY_PACKAGE" | "CARGO_CRATE_NAME" | "CARGO_TARGET_TMPDIR" | "OUT_DIR"
            )
        {
            command.env_remove(&name);
        }
    }
    Ok(command)
}

fn start_error(program: &str, error: &io::Error) -> HarnessError {
    HarnessError::environment(
        format!("cannot start `{program}`: {error}"),
        "a Rust toolchain with cargo and rustc must be on the PATH",
    )
}

fn is_full_disk(text: &str) -> bool {
    text.contains("No space left on device") || text.contains("Disk quota exceeded")
}

fn is_network_trouble(stderr: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "Could not resolve host",
        "Couldn't resolve host",
        "Could not connect",
        "Couldn't connect",
        "Failed to connect",
        "spurious network error",
        "network failure seems to have happened",
        "Timeout was reached",
        "failed to download from",
        "you're using offline mode",
    ];
    SIGNS.iter().any(|sign| stderr.contains(sign))
}
