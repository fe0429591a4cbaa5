//! `cargo metadata`, asked so that it writes nothing into the user's tree.

use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::cargo::{Cargo, Outcome};
use crate::error::HarnessError;
use crate::places::Places;

/// The packages of a workspace; without their dependencies, because resolving these would make a lock file.
pub(crate) fn without_dependencies(
    manifest: Option<&Path>,
    places: &Places,
) -> Result<Metadata, HarnessError> {
    let here =
        |path: &Path| std::path::absolute(path).map_err(|error| HarnessError::io("cannot use", path, &error));
    let manifest = manifest.map(here).transpose()?;
    // Configuration is that of the package's folder, from wherever it is named.
    let folder = match manifest.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir()) {
        Some(folder) => folder.to_owned(),
        None => here(Path::new("."))?,
    };
    let mut command = Cargo::new(places, "metadata", &folder).args(["--format-version", "1", "--no-deps"]);
    if let Some(manifest) = &manifest {
        command = command.manifest(manifest);
    }
    let outcome = command.run()?;
    if outcome.success {
        return parse(&outcome);
    }
    let text = outcome.error_text();
    let shown = manifest.map_or_else(|| folder.display().to_string(), |path| path.display().to_string());
    if text.contains("could not find `Cargo.toml`")
        || text.contains("does not exist")
        || text.contains("must be a path to a Cargo.toml")
    {
        return Err(HarnessError::usage(
            format!("no package at `{shown}`: {}", text.trim_start_matches("error: ")),
            "run in a package's folder, or name one with `--manifest-path path/to/Cargo.toml`",
        ));
    }
    Err(HarnessError::DoesNotBuild { package: shown, rendered: text })
}

/// Everything that one of our own workspaces depends on.
pub(crate) fn resolved(
    manifest: &Path,
    folder: &Path,
    host: &str,
    places: &Places,
) -> Result<Outcome, HarnessError> {
    Cargo::new(places, "metadata", folder)
        .args(["--format-version", "1", "--filter-platform", host])
        .manifest(manifest)
        .run()
}

pub(crate) fn parse(outcome: &Outcome) -> Result<Metadata, HarnessError> {
    MetadataCommand::parse(&outcome.stdout).map_err(|error| HarnessError::Environment {
        message: format!("cargo's metadata cannot be read: {error}"),
        advice: Some("this cargo may be too new for this version of the tool: look for an update".to_owned()),
    })
}
