//! The members of a workspace: which of them are meant, and which of the features asked for each of them has.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::Package;

use crate::error::HarnessError;
use crate::metadata;
use crate::places::Places;
use crate::selection::{FeatureChoice, own_name};
use crate::subject;

/// A package of the workspace, as `cargo metadata` knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub version: String,
    /// Those of the features asked for that it has.
    pub features: FeatureChoice,
    /// Why it has no library that could be tested.
    pub no_library: Option<HarnessError>,
}

/// The members that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// By name.
    pub chosen: Vec<Member>,
    /// Whether the workspace is one package alone.
    pub single: bool,
}

/// All packages of the workspace around `manifest_path`, or around the current folder, but those to exclude.
pub fn members(
    manifest_path: Option<&Path>,
    exclude: &[String],
    features: &FeatureChoice,
) -> Result<Members, HarnessError> {
    let metadata = metadata::without_dependencies(manifest_path, &Places::nowhere()?)?;
    let mut packages = metadata.workspace_packages();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(unknown) = exclude.iter().find(|spec| !packages.iter().any(|package| is_meant(package, spec)))
    {
        return Err(HarnessError::usage(
            format!("there is no package `{unknown}` in this workspace to exclude"),
            format!("its packages are: {}", names(&packages)),
        ));
    }
    let single = packages.len() == 1;
    packages.retain(|package| !exclude.iter().any(|spec| is_meant(package, spec)));
    let mut unknown: BTreeSet<String> = features.names().map(str::to_owned).collect();
    let mut chosen = Vec::new();
    for package in &packages {
        let known: Vec<String> =
            features.names().filter(|name| has_feature(package, name)).map(str::to_owned).collect();
        unknown.retain(|name| !known.contains(name));
        chosen.push(Member {
            name: package.name.to_string(),
            version: package.version.to_string(),
            features: FeatureChoice { features: known, ..features.clone() },
            no_library: subject::library(package).err(),
        });
    }
    match unknown.first() {
        // With all of them on, names say nothing.
        Some(feature) if !chosen.is_empty() && !features.all => Err(HarnessError::usage(
            format!("no member of the workspace has a feature `{feature}`"),
            format!(
                "they are: {}",
                packages.iter().map(|package| offer(package)).collect::<Vec<_>>().join("; ")
            ),
        )),
        _ => Ok(Members { chosen, single }),
    }
}

/// `NAME` or `NAME@VERSION`.
pub(crate) fn is_meant(package: &Package, spec: &str) -> bool {
    package.name == spec || format!("{}@{}", package.name, package.version) == spec
}

pub(crate) fn names(packages: &[&Package]) -> String {
    packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn has_feature(package: &Package, name: &str) -> bool {
    package.features.contains_key(own_name(package, name))
}

fn offer(package: &Package) -> String {
    let known: Vec<&str> = package.features.keys().map(String::as_str).collect();
    match known.as_slice() {
        [] => format!("{} without features", package.name),
        known => format!("{} with {}", package.name, known.join(", ")),
    }
}
