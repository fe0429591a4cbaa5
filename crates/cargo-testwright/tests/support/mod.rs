//! Runs the real binary on copies of fixtures, and keeps what it said.
//!
//! Copies lie at fixed places below cargo's folder for tests, one folder a case, so that what an earlier run has compiled
//! is found again.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// What one run of a program left.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A folder for one case, emptied at the start.
pub fn folder(case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases").join(case);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old case is removed");
    }
    fs::create_dir_all(&folder).expect("a folder for the case");
    folder
}

/// A copy of `fixtures/NAME` or `examples/NAME` in a fresh folder for the case.
pub fn fixture(case: &str, name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let from = ["fixtures", "examples"].map(|kind| repository.join(kind).join(name));
    let from = from.iter().find(|from| from.is_dir()).expect("such a fixture");
    let to = folder(case).join(name);
    copy(from, &to);
    to
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            if entry.file_name() != "target" {
                copy(&entry.path(), &target);
            }
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The place for what is built in between: shared by all cases, kept from run to run.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_cargo-testwright")
}

/// The tool, about to be run in a folder.
pub fn tool(folder: &Path, args: &[&str]) -> Command {
    let mut command = plain(program(), folder);
    command.args(args);
    command
}

/// Another program, in the same surroundings.
pub fn plain(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).env("TESTWRIGHT_CACHE", cache());
    // Else all cases would share one target folder, and the caller's wrapper would be in the way.
    for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTC_WRAPPER", "RUSTDOC", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}

pub fn run(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Run {
    /// Asserts the exit code, and that the words stand in what people read.
    #[track_caller]
    pub fn expect(self, code: i32, words: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "{self}");
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not said\n{self}");
        }
        assert!(!self.stderr.contains("panicked at"), "{self}");
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// A run under way, in a process group of its own as a terminal would have it.
pub struct UnderWay {
    pub child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl UnderWay {
    pub fn start(here: &Path, args: &[&str]) -> UnderWay {
        let mut command = tool(here, args);
        let mut child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        UnderWay { child, stderr, said: String::new() }
    }

    pub fn wait_for(&mut self, words: &str) {
        self.wait_until(words, |line| line.contains(words));
    }

    pub fn wait_until(&mut self, what: &str, is_said: impl Fn(&str) -> bool) {
        while !self.said.lines().last().is_some_and(&is_said) {
            let read = self.stderr.read_line(&mut self.said).expect("text");
            assert!(read > 0, "`{what}` was never said\n{}", self.said);
        }
    }

    /// `whom`: the process, or with a minus before it the group.
    pub fn interrupt(&self, group: bool) {
        let whom = if group { format!("-{}", self.child.id()) } else { self.child.id().to_string() };
        let sent = Command::new("sh").args(["-c", &format!("kill -INT {whom}")]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    }

    pub fn end(mut self) -> Run {
        let status = self.child.wait().expect("it ends");
        let mut stdout = String::new();
        std::io::Read::read_to_string(&mut self.child.stdout.take().expect("piped"), &mut stdout)
            .expect("text");
        std::io::Read::read_to_string(&mut self.stderr, &mut self.said).expect("text");
        Run { code: status.code(), stdout, stderr: self.said }
    }
}

/// Every file below a folder with its content.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let content = fs::read(&path).expect("a file");
                files.insert(path.strip_prefix(folder).expect("below").to_owned(), content);
            }
        }
    }
    files
}

pub fn json(path: &Path) -> serde_json::Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A shell script, executable.
pub fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, format!("#!/bin/sh\n{text}")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}
