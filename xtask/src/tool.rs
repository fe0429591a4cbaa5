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
        let output = Command::new(&self.binary)
            .args(["testwright", "generate", "--message-format", "json", "--out"])
            .arg(out)
            .args(flags)
            .output()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        // 1: bugs were found.
        if !matches!(output.status.code(), Some(0 | 1)) {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("generate {} ended with {}:\n{errors}", flags.join(" "), output.status);
        }
        serde_json::from_slice(&output.stdout).context("the report cannot be read")
    }
}
