//! From a selection to the [`Subject`]: finds the package, resolves it in a workspace of ours, and makes sure that it compiles.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use crate::cargo::{self, Cargo};
use crate::diagnosis;
use crate::error::HarnessError;
use crate::files;
use crate::members;
use crate::metadata;
use crate::patches;
use crate::places::Places;
use crate::probe::{self, Probe};
use crate::published;
use crate::selection::{FeatureChoice, Selection};
use crate::subject::{self, Recipe, Subject, in_code};

/// Finds what the user selected. Nothing is written outside `places.work`.
pub fn locate(selection: &Selection, places: &Places) -> Result<Subject, HarnessError> {
    let _guard = places.lock("lock")?;
    match selection {
        Selection::Local { manifest_path, package, features } => {
            let metadata = metadata::without_dependencies(manifest_path.as_deref(), places)?;
            let package = choose(&metadata, manifest_path.as_deref(), package.as_deref())?;
            let root = metadata.workspace_root.as_std_path();
            let mut origin = Origin::local(&metadata);
            origin.recipe.patches = patches::of_workspace(root)?;
            if let Some(lock) = &origin.lock_file {
                origin.recipe.lock = files::read(lock)?;
            }
            complete(package, features, origin, places)
        }
        Selection::Published { name, version, features } => {
            let fetched = published::fetch(name, version.as_deref(), places)?;
            let metadata = metadata::without_dependencies(Some(&fetched.manifest), places)?;
            let package = choose(&metadata, Some(&fetched.manifest), None)?;
            let origin = |lock: &str| Origin {
                published: true,
                lock_file: None,
                recipe: Recipe { lock: lock.to_owned(), ..Recipe::default() },
                ..Origin::local(&metadata)
            };
            let first = complete(package, features, origin(&fetched.lock), places);
            match (first, fetched.packaged_lock) {
                // Newer dependencies may not fit; the author's own versions did.
                (Err(error @ HarnessError::DoesNotBuild { .. }), Some(lock)) => {
                    complete(package, features, origin(&lock), places).map_err(|_| error)
                }
                (first, _) => first,
            }
        }
    }
}

/// What is known of a package from where it comes from.
#[derive(Debug, Clone)]
struct Origin {
    workspace_root: PathBuf,
    target_dir: PathBuf,
    lock_file: Option<PathBuf>,
    published: bool,
    recipe: Recipe,
}

impl Origin {
    fn local(metadata: &Metadata) -> Origin {
        let workspace_root: PathBuf = metadata.workspace_root.clone().into();
        let lock = workspace_root.join("Cargo.lock");
        Origin {
            lock_file: lock.exists().then_some(lock),
            workspace_root,
            target_dir: metadata.target_directory.clone().into(),
            published: false,
            recipe: Recipe::default(),
        }
    }
}

fn complete(
    package: &Package,
    features: &FeatureChoice,
    origin: Origin,
    places: &Places,
) -> Result<Subject, HarnessError> {
    let target = subject::library(package)?;
    let root: PathBuf = package.manifest_path.parent().unwrap_or(&package.manifest_path).into();
    let toolchain = cargo::compiler_version(&root)?;
    let host = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or_else(|| HarnessError::environment("`rustc -vV` names no host", "check the toolchain"))?
        .to_owned();
    let mut recipe = origin.recipe;
    recipe.default_features = !features.no_default;
    recipe.features = features.resolve(package)?;
    let Probe { manifest, metadata, lock } = probe::resolve(package, &recipe, &root, &host, places)?;
    recipe.lock = lock;
    let resolved = metadata
        .packages
        .iter()
        .find(|candidate| candidate.source.is_none() && candidate.manifest_path == package.manifest_path)
        .ok_or_else(|| HarnessError::internal(format!("`{}` is not in its own resolution", package.name)))?;
    let on: Vec<String> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| &resolve.nodes)
        .filter(|node| node.id == resolved.id)
        .flat_map(|node| node.features.iter().map(ToString::to_string))
        .collect();
    let lib = in_code(&target.name);
    let mut dependencies = subject::dependencies(&metadata, &resolved.id);
    // An older version of itself cannot be named beside it.
    dependencies.remove(&lib);
    let subject = Subject {
        package: package.name.to_string(),
        version: package.version.to_string(),
        lib,
        package_id: resolved.id.repr.clone(),
        manifest_path: package.manifest_path.clone().into(),
        edition: package.edition.as_str().to_owned(),
        features_off: package.features.keys().filter(|feature| !on.contains(feature)).cloned().collect(),
        features: on,
        workspace_root: origin.workspace_root,
        lock_file: origin.lock_file,
        target_dir: origin.target_dir,
        published: origin.published,
        dependencies,
        dev_dependencies: subject::dev_dependencies(package),
        digest: subject::digest(&metadata, &resolved.id, &toolchain)?,
        toolchain,
        host,
        root,
        recipe,
    };
    check(&subject, &manifest, places)?;
    Ok(subject)
}

/// The crate alone must compile; what is compiled here serves the later steps.
fn check(subject: &Subject, manifest: &Path, places: &Places) -> Result<(), HarnessError> {
    let outcome = Cargo::new(places, "check", &subject.root)
        .manifest(manifest)
        .args(["--message-format=json", "--lib", "--package", &subject.package_id])
        .compiles(&subject.host, subject.plan(), &places.build())
        .run()?;
    if outcome.success {
        return Ok(());
    }
    Err(diagnosis::does_not_build(&subject.package, &outcome))
}

/// The package that is meant: by name, or the one whose manifest is nearest.
fn choose<'a>(
    metadata: &'a Metadata,
    manifest: Option<&Path>,
    name: Option<&str>,
) -> Result<&'a Package, HarnessError> {
    let members = metadata.workspace_packages();
    let names = || members::names(&members);
    if let Some(name) = name {
        return members.iter().find(|package| members::is_meant(package, name)).copied().ok_or_else(|| {
            HarnessError::usage(
                format!("there is no package `{name}` in this workspace"),
                format!("its packages are: {}", names()),
            )
        });
    }
    let nearest = nearest_manifest(manifest);
    if let Some(package) = members.iter().find(|package| {
        nearest.as_ref().is_some_and(|path| same_file(path, package.manifest_path.as_std_path()))
    }) {
        return Ok(package);
    }
    if let [only] = members.as_slice() {
        return Ok(only);
    }
    Err(HarnessError::usage(
        "this is a workspace of several packages",
        format!("choose one with `--package`: {}", names()),
    ))
}

fn nearest_manifest(given: Option<&Path>) -> Option<PathBuf> {
    match given {
        Some(path) => Some(path.to_owned()),
        None => std::env::current_dir()
            .ok()?
            .ancestors()
            .map(|folder| folder.join("Cargo.toml"))
            .find(|manifest| manifest.exists()),
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
