//! The package under test with all that later steps must know about it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use cargo_metadata::{
    CrateType, Dependency as Dependable, DependencyKind, Metadata, Node, Package, PackageId, Target,
};

use crate::digest::Digest;
use crate::error::HarnessError;
use crate::wrapper::Plan;

#[derive(Debug, Clone)]
pub struct Subject {
    pub package: String,
    pub version: String,
    /// Name of the library in code: `num_bigint`.
    pub lib: String,
    pub package_id: String,
    pub manifest_path: PathBuf,
    /// The package's folder.
    pub root: PathBuf,
    pub edition: String,
    /// Features that are on, `default` and what it brings included.
    pub features: Vec<String>,
    /// Features that the package has and that are off.
    pub features_off: Vec<String>,
    /// The user's workspace; for a published crate the same as `root`.
    pub workspace_root: PathBuf,
    /// The user's lock file, if there is one.
    pub lock_file: Option<PathBuf>,
    /// The user's target folder.
    pub target_dir: PathBuf,
    pub published: bool,
    /// Every crate that the library is built on, by its name in code; the nearest one where two share a name.
    pub dependencies: BTreeMap<String, Dependency>,
    /// What the package's own tests are built on besides, by the names in code, with the versions that are asked for.
    pub dev_dependencies: BTreeMap<String, String>,
    /// `rustc -vV`.
    pub toolchain: String,
    /// The triple that the compiler runs on, and that we build for.
    pub host: String,
    /// Changes whenever anything that the library is built from changes: sources, versions, features, compiler.
    pub digest: String,
    /// How our own workspaces depend on it.
    pub(crate) recipe: Recipe,
}

/// What stands in the manifests of our workspaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recipe {
    pub default_features: bool,
    pub features: Vec<String>,
    /// The user's `[patch]` and `[replace]` tables, paths made absolute.
    pub patches: String,
    /// Versions to use; empty where cargo is to choose.
    pub lock: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub package: String,
    pub version: String,
    pub source: Source,
    /// The name that the subject's own code uses, if it is a direct dependency.
    pub direct: Option<String>,
    /// The subject is not built on it: what it has by default is not for the subject to choose.
    pub beside: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default registry.
    Registry,
    /// Another registry, by its index address.
    OtherRegistry(String),
    Git {
        url: String,
        /// `branch`, `tag` or `rev` with its value, as the manifest that asks for it says.
        reference: Option<(String, String)>,
    },
    Path(PathBuf),
}

impl Subject {
    /// The compiler wrapper's plan for plain commands.
    pub(crate) fn plan(&self) -> Plan {
        Plan { subject: self.root.clone(), ..Plan::default() }
    }

    /// The folder below the work folder that belongs to this package alone.
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}", self.package, self.version)
    }
}

/// The target that can be linked into Rust code, or why there is none.
pub(crate) fn library(package: &Package) -> Result<&Target, HarnessError> {
    let none = |reason: &str| HarnessError::NoLibrary {
        package: package.name.to_string(),
        reason: reason.to_owned(),
    };
    let linkable = |target: &&Target| {
        target
            .crate_types
            .iter()
            .any(|kind| matches!(kind, CrateType::Lib | CrateType::RLib | CrateType::DyLib))
            && (target.is_lib() || target.is_rlib() || target.is_dylib())
    };
    if let Some(target) = package.targets.iter().find(linkable) {
        return Ok(target);
    }
    if package.targets.iter().any(Target::is_proc_macro) {
        return Err(none("it is a procedural macro, which only the compiler can call"));
    }
    if package.targets.iter().any(|target| target.is_cdylib() || target.is_staticlib()) {
        return Err(none("its library is for other languages only (`cdylib` or `staticlib`)"));
    }
    Err(none("it has only binaries"))
}

pub(crate) fn in_code(name: &str) -> String {
    name.replace('-', "_")
}

/// What a package's own tests can name besides its dependencies.
pub(crate) fn dev_dependencies(package: &Package) -> BTreeMap<String, String> {
    let all = package.dependencies.iter();
    let dev = all.filter(|dep| dep.kind == DependencyKind::Development && dep.target.is_none());
    dev.filter(|dep| dep.rename.is_none()).map(|dep| (in_code(&dep.name), dep.req.to_string())).collect()
}

/// The crates below `subject`, nearest first where names meet.
pub(crate) fn dependencies(metadata: &Metadata, subject: &PackageId) -> BTreeMap<String, Dependency> {
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let nodes: BTreeMap<&PackageId, &Node> =
        metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)).collect();
    let mut found = BTreeMap::new();
    let mut waiting = VecDeque::from([subject]);
    let mut seen = vec![subject];
    while let Some(id) = waiting.pop_front() {
        let Some(node) = nodes.get(id) else { continue };
        for dep in &node.deps {
            if !dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
                || seen.contains(&&dep.pkg)
                || packages.get(id).is_some_and(|package| is_off(package, node, &dep.name))
            {
                continue;
            }
            seen.push(&dep.pkg);
            waiting.push_back(&dep.pkg);
            let Some(package) = packages.get(&dep.pkg) else { continue };
            let Ok(target) = library(package) else { continue };
            let dependency = Dependency {
                package: package.name.to_string(),
                version: package.version.to_string(),
                source: source(package),
                direct: (id == subject).then(|| dep.name.clone()),
                beside: false,
            };
            // A renamed one can be meant by either name; with two versions of one crate only the new names tell them apart.
            if id == subject {
                found.entry(dep.name.clone()).or_insert_with(|| dependency.clone());
            }
            found.entry(in_code(&target.name)).or_insert(dependency);
        }
    }
    found
}

/// Whether a dependency is one that no feature in use asks for. Cargo resolves those of `name?/feature` too, and does not build them.
fn is_off(package: &Package, node: &Node, name: &str) -> bool {
    let called = |dep: &Dependable| dep.rename.clone().unwrap_or_else(|| dep.name.clone());
    let is_it = |dep: &&Dependable| dep.kind == DependencyKind::Normal && in_code(&called(dep)) == name;
    let own: Vec<_> = package.dependencies.iter().filter(is_it).collect();
    let Some(asked) = own.first().map(|dep| called(dep)) else { return false };
    let asks = |value: &String| {
        value.strip_prefix("dep:").or(value.split_once('/').map(|(name, _)| name)) == Some(asked.as_str())
    };
    let values = node.features.iter().filter_map(|feature| package.features.get(feature.as_str())).flatten();
    own.iter().all(|dep| dep.optional) && !values.into_iter().any(asks)
}

pub(crate) fn source(package: &Package) -> Source {
    let folder = || Source::Path(package.manifest_path.parent().map(Into::into).unwrap_or_default());
    let Some(source) = &package.source else { return folder() };
    if source.is_crates_io() {
        return Source::Registry;
    }
    if let Some(address) = source.repr.strip_prefix("git+") {
        let address = address.split('#').next().unwrap_or(address);
        let (url, query) = address.split_once('?').unwrap_or((address, ""));
        let reference =
            query.split_once('=').map(|(kind, value)| (kind.to_owned(), value.replace("%2F", "/")));
        return Source::Git { url: url.to_owned(), reference };
    }
    match source.repr.strip_prefix("registry+").or(source.repr.starts_with("sparse+").then_some(&source.repr))
    {
        Some(index) => Source::OtherRegistry(index.to_owned()),
        None => folder(),
    }
}

/// Covers the sources of all packages that lie on this machine and the versions of all others.
pub(crate) fn digest(
    metadata: &Metadata,
    subject: &PackageId,
    toolchain: &str,
) -> Result<String, HarnessError> {
    let mut digest = Digest::new();
    digest.text(toolchain).text(&subject.repr);
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        digest.text(&std::env::var(name).unwrap_or_default());
    }
    for package in &metadata.packages {
        digest.text(&package.id.repr);
        if package.source.is_none() && !package.name.starts_with("testwright-probe") {
            let root = package.manifest_path.parent().unwrap_or(&package.manifest_path).as_std_path();
            digest.package(root).map_err(|error| HarnessError::io("cannot read", root, &error))?;
        }
    }
    for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
        for feature in &node.features {
            digest.text(&format!("{} {feature}", node.id.repr));
        }
    }
    Ok(digest.finish())
}
