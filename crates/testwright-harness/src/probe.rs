//! A small workspace of ours that depends on the subject: cargo resolves, checks and documents there, so that the user's tree
//! stays as it is.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use crate::error::HarnessError;
use crate::files;
use crate::manifest;
use crate::metadata;
use crate::places::Places;
use crate::subject::{Recipe, in_code, library};

#[derive(Debug)]
pub(crate) struct Probe {
    pub manifest: PathBuf,
    pub metadata: Metadata,
    /// The versions that cargo settled on.
    pub lock: String,
}

/// The probe's folder for a package.
pub(crate) fn folder(places: &Places, name: &str, version: &str) -> PathBuf {
    places.work.join(format!("{name}-{version}")).join("probe")
}

/// Writes the probe and lets cargo resolve it. `from` is where cargo starts, see [`crate::cargo::Cargo::new`].
pub(crate) fn resolve(
    package: &Package,
    recipe: &Recipe,
    from: &Path,
    host: &str,
    places: &Places,
) -> Result<Probe, HarnessError> {
    let folder = folder(places, &package.name, &package.version.to_string());
    let root = package.manifest_path.parent().unwrap_or(&package.manifest_path);
    let lib = in_code(&library(package)?.name);
    let mut text = manifest::package("testwright-probe", "2021");
    text.push_str("\n[dependencies]\n");
    text.push_str(&manifest::on_path(&lib, &package.name, root.as_std_path(), recipe)?);
    files::write_if_changed(&folder.join("Cargo.toml"), &manifest::workspace(&["probe"], recipe))?;
    files::write_if_changed(&folder.join("probe/Cargo.toml"), &text)?;
    files::write_if_changed(&folder.join("probe/src/lib.rs"), "")?;
    let lock = folder.join("Cargo.lock");
    if !recipe.lock.is_empty() {
        files::write(&lock, recipe.lock.as_bytes())?;
    }
    let manifest = folder.join("Cargo.toml");
    let outcome = metadata::resolved(&manifest, from, host, places)?;
    if !outcome.success {
        return Err(HarnessError::DoesNotBuild {
            package: package.name.to_string(),
            rendered: outcome.error_text(),
        });
    }
    let metadata = metadata::parse(&outcome)?;
    Ok(Probe { manifest, metadata, lock: files::read(&lock)? })
}
