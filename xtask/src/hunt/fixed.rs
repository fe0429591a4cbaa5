//! A finding's test with another version of the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use testwright_emit::report::{Confirm, Finding};
use testwright_execute::launcher::{ExitKind, Launch};
use toml::Table;

use super::rule::{Bug, FixedVerdict};

/// Processor time for one test.
const LIMIT: Duration = Duration::from_secs(120);
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A package that depends on the fixed version, and otherwise on what the tool's own package does.
#[derive(Debug)]
pub struct Fixed {
    root: PathBuf,
}

impl Fixed {
    /// `like` is the folder that the tool wrote.
    pub fn new(root: PathBuf, bug: &Bug, version: &str, like: &Path) -> anyhow::Result<Fixed> {
        if root.exists() {
            std::fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        }
        std::fs::create_dir_all(root.join("src"))?;
        std::fs::create_dir_all(root.join("tests"))?;
        std::fs::write(root.join("src/lib.rs"), "")?;
        let model = std::fs::read_to_string(like.join("Cargo.toml")).unwrap_or_default();
        std::fs::write(root.join("Cargo.toml"), manifest(&model, bug, version))?;
        Ok(Fixed { root })
    }

    pub fn run(&self, finding: &Finding) -> anyhow::Result<FixedVerdict> {
        std::fs::write(self.root.join("tests/finding.rs"), &finding.test.source)?;
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.root)
            .args(["test", "--test", "finding", "--no-run", "--message-format=json"])
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .envs(profile(&finding.confirm));
        if is_sanitized(&finding.confirm) {
            command
                .args(["--target", TARGET])
                .envs([("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")]);
        }
        let output = command.output().context("cannot start cargo")?;
        if !output.status.success() {
            return Ok(FixedVerdict::DoesNotCompile);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let program = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .context("cargo names no test program")?;
        let mut launch = Launch::new(program, self.root.join("scratch"), LIMIT);
        launch.arguments = ["--include-ignored", "--test-threads=1"].map(Into::into).to_vec();
        let run = launch.run()?;
        Ok(verdict(run.exit, &run.stdout))
    }
}

fn verdict(exit: ExitKind, output: &str) -> FixedVerdict {
    let running = output.lines().filter_map(|line| line.strip_prefix("running ")?.split(' ').next());
    let tests: usize = running.filter_map(|count| count.parse::<usize>().ok()).sum();
    match (exit, tests) {
        (ExitKind::Code(0), 0) => FixedVerdict::NoTest,
        (ExitKind::Code(0), _) => FixedVerdict::Passes,
        _ => FixedVerdict::Fails,
    }
}

/// The model's manifest with the crate at that version; one of its own if the model has none or does not name the crate.
fn manifest(model: &str, bug: &Bug, version: &str) -> String {
    let mut wanted = Table::new();
    wanted.insert("version".to_owned(), format!("={version}").into());
    let features = bug.features();
    if !features.is_empty() {
        wanted.insert("features".to_owned(), features.into());
    }
    let mut manifest: Table = model.parse().unwrap_or_default();
    if let Some(dependency) = manifest
        .get_mut("dependencies")
        .and_then(toml::Value::as_table_mut)
        .and_then(|dependencies| dependencies.get_mut(&bug.krate))
    {
        *dependency = wanted.into();
        return manifest.to_string();
    }
    let mut manifest: Table =
        "[package]\nname = \"check\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n"
            .parse()
            .expect("it is TOML");
    manifest.insert("dependencies".to_owned(), Table::from_iter([(bug.krate.clone(), wanted.into())]).into());
    manifest.to_string()
}

/// The build under which the finding was confirmed.
fn profile(confirm: &Confirm) -> Vec<(String, String)> {
    let settings = [
        ("OVERFLOW_CHECKS", confirm.overflow_checks.to_string()),
        ("DEBUG_ASSERTIONS", confirm.debug_assertions.to_string()),
        ("OPT_LEVEL", confirm.opt_level.to_string()),
    ];
    let both = ["DEV", "TEST"].into_iter();
    both.flat_map(|profile| {
        settings.clone().map(|(name, value)| (format!("CARGO_PROFILE_{profile}_{name}"), value))
    })
    .collect()
}

fn is_sanitized(confirm: &Confirm) -> bool {
    !matches!(confirm.sanitizer.as_str(), "" | "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_manifest_is_used_with_the_other_version() {
        let bug = Bug { krate: "a-b".to_owned(), features: Some("x,y".to_owned()), ..Bug::default() };
        let model = "[package]\nname = \"m\"\n[workspace]\n[dependencies.a-b]\nversion = \"=1.0.0\"\ndefault-features = false\n\
                     [dependencies]\nother = \"1\"\n";
        let changed: Table = manifest(model, &bug, "1.0.1").parse().unwrap();
        assert_eq!(changed["package"]["name"].as_str(), Some("m"));
        assert_eq!(changed["dependencies"]["a-b"]["version"].as_str(), Some("=1.0.1"));
        assert_eq!(changed["dependencies"]["a-b"]["features"].as_array().map(Vec::len), Some(2));
        assert_eq!(changed["dependencies"]["other"].as_str(), Some("1"));
        let own: Table = manifest("", &bug, "1.0.1").parse().unwrap();
        assert_eq!(own["dependencies"]["a-b"]["version"].as_str(), Some("=1.0.1"));
    }

    #[test]
    fn a_run_without_tests_proves_nothing() {
        assert_eq!(verdict(ExitKind::Code(0), "\nrunning 1 test\n"), FixedVerdict::Passes);
        assert_eq!(verdict(ExitKind::Code(0), "\nrunning 0 tests\n"), FixedVerdict::NoTest);
        assert_eq!(verdict(ExitKind::Code(101), "\nrunning 1 test\n"), FixedVerdict::Fails);
        assert_eq!(verdict(ExitKind::TimedOut, "running 1 test\n"), FixedVerdict::Fails);
    }
}
