//! The tool itself, built and run as a user runs it: flags in, its report out.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use testwright_emit::report::Report;

#[derive(Debug)]
pub struct Tool {
    binary: PathBuf,
}

impl Tool {
    /// Builds the tool in the profile, and finds it in the folder, of the program that runs now.
    pub fn build() -> anyhow::Result<Tool> {
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--release", "--package", "cargo-testwright"])
            .status()
            .context("cannot start cargo")?;
        if !status.success() {
            bail!("the tool does not build: see above");
        }
        let folder = std::env::current_exe()?.parent().context("a program is in a folder")?.to_owned();
        let binary = folder.join("cargo-testwright");
        if !binary.is_file() {
            bail!("{} is not there: start this with `cargo xtask`", binary.display());
        }
        Ok(Tool { binary })
    }

    /// Runs `generate` with these flags and hands back its report; `out` is where everything is written.
    pub fn generate(&self, out: &Path, flags: &[String]) -> anyhow::Result<Report> {
        report(self.command().arg("--out").arg(out).args(flags))
    }

    /// The same, with tests written into the package; `target` is cargo's folder meanwhile.
    pub fn generate_in_package(&self, target: &Path, flags: &[&str]) -> anyhow::Result<Report> {
        report(self.command().env("CARGO_TARGET_DIR", target).args(flags))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["testwright", "generate", "--message-format", "json"]);
        command
    }
}

fn report(command: &mut Command) -> anyhow::Result<Report> {
    let output =
        command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    // 1: bugs were found.
    if !matches!(output.status.code(), Some(0 | 1)) {
        let errors = String::from_utf8_lossy(&output.stderr);
        let flags: Vec<_> = command.get_args().map(|flag| flag.to_string_lossy()).collect();
        bail!("{} ended with {}:\n{errors}", flags.join(" "), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the report cannot be read")
}
