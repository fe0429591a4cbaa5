//! A published crate, downloaded through cargo and unpacked into the work folder, yanked versions included.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::cargo::{Cargo, Outcome};
use crate::error::HarnessError;
use crate::files;
use crate::manifest;
use crate::metadata;
use crate::places::Places;

#[derive(Debug)]
pub(crate) struct Fetched {
    pub manifest: PathBuf,
    /// The versions of its dependencies that cargo chose.
    pub lock: String,
    /// The lock file in the package, if its author put one there.
    pub packaged_lock: Option<String>,
}

/// So many yanked dependencies of a crate are pinned one by one before we give up.
const PINS: usize = 12;

pub(crate) fn fetch(name: &str, version: Option<&str>, places: &Places) -> Result<Fetched, HarnessError> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Err(HarnessError::usage(
            format!("`{name}` is not a crate's name"),
            "write `--crate NAME@VERSION` or `--crate NAME`",
        ));
    }
    if let Some(version) = version {
        if !version.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(HarnessError::usage(
                format!("`{version}` is not a version"),
                "write it like `1.2.3`",
            ));
        }
        let folder = places.work.join(format!("{name}-{version}"));
        if let Ok(lock) = files::read(&folder.join("fetched.lock")) {
            return Ok(unpacked(&folder, lock));
        }
    }
    download(name, version, places)
}

fn unpacked(folder: &Path, lock: String) -> Fetched {
    let root = folder.join("subject");
    Fetched {
        packaged_lock: files::read(&root.join("Cargo.lock")).ok(),
        manifest: root.join("Cargo.toml"),
        lock,
    }
}

fn download(name: &str, version: Option<&str>, places: &Places) -> Result<Fetched, HarnessError> {
    let scratch = Scratch { folder: places.work.join("fetch").join(name), places };
    let outcome = scratch.resolve(name, version)?;
    let metadata = metadata::parse(&outcome)?;
    let package = metadata
        .packages
        .iter()
        .filter(|package| package.name == name && package.source.is_some())
        .max_by_key(|package| version.is_some_and(|version| package.version.to_string() == version))
        .ok_or_else(|| HarnessError::internal(format!("cargo resolved no `{name}`")))?;
    let folder = places.work.join(format!("{}-{}", package.name, package.version));
    let root = folder.join("subject");
    files::remove_folder(&root)?;
    let source = package.manifest_path.parent().unwrap_or(&package.manifest_path);
    files::copy_folder(source.as_std_path(), &root)?;
    let text = files::read(&root.join("Cargo.toml"))?;
    files::write(&root.join("Cargo.toml"), standalone(&text)?.as_bytes())?;
    let lock = files::read(&scratch.folder.join("Cargo.lock"))?;
    files::write(&folder.join("fetched.lock"), lock.as_bytes())?;
    Ok(unpacked(&folder, lock))
}

/// A package that depends on the crate, so that cargo finds and downloads it.
struct Scratch<'a> {
    folder: PathBuf,
    places: &'a Places,
}

impl Scratch<'_> {
    fn resolve(&self, name: &str, version: Option<&str>) -> Result<Outcome, HarnessError> {
        let mut requirement = version.map_or("*".to_owned(), |version| format!("={version}"));
        let mut pins: BTreeMap<String, String> = BTreeMap::new();
        let mut source = String::new();
        loop {
            let outcome = self.attempt(name, &requirement, &lock_text(&pins, &source))?;
            if outcome.success {
                return Ok(outcome);
            }
            if let Some((package, yanked)) = yanked(&outcome.stderr)
                && pins.len() < PINS
                && !pins.contains_key(&package)
            {
                // Cargo takes a yanked version that a lock file names already.
                if source.is_empty() {
                    source = self.registry(name)?;
                }
                pins.insert(package, yanked);
                continue;
            }
            // A crate that has only prereleases must be asked for one by name.
            if requirement == "*"
                && let Some(newest) = known(&outcome.stderr).first()
            {
                requirement = format!("={newest}");
                continue;
            }
            return Err(refusal(name, version, &outcome));
        }
    }

    fn attempt(&self, name: &str, requirement: &str, lock: &str) -> Result<Outcome, HarnessError> {
        let mut text = manifest::package("testwright-fetch", "2021");
        let _ = write!(text, "\n[workspace]\n\n[dependencies]\n{name} = {}\n", manifest::quote(requirement));
        files::write(&self.folder.join("Cargo.toml"), text.as_bytes())?;
        files::write(&self.folder.join("src/lib.rs"), b"")?;
        files::write(&self.folder.join("Cargo.lock"), lock.as_bytes())?;
        Cargo::new(self.places, "metadata", &self.folder).args(["--format-version", "1"]).run()
    }

    /// How cargo writes the default registry into a lock file, learned from a lock file that it makes.
    fn registry(&self, name: &str) -> Result<String, HarnessError> {
        for package in [name, "cfg-if", "libc"] {
            if self.attempt(package, "*", "")?.success {
                let lock = files::read(&self.folder.join("Cargo.lock"))?;
                if let Some(line) = lock.lines().find_map(|line| line.strip_prefix("source = ")) {
                    return Ok(line.to_owned());
                }
            }
        }
        Err(HarnessError::environment(
            format!("`{name}` is yanked and the registry's address cannot be found out"),
            "check the network",
        ))
    }
}

fn lock_text(pins: &BTreeMap<String, String>, source: &str) -> String {
    if pins.is_empty() {
        return String::new();
    }
    let mut text = "version = 3\n".to_owned();
    for (name, version) in pins {
        let _ =
            write!(text, "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = {source}\n");
    }
    text
}

/// The package and version of "failed to select a version for the requirement `a = "=1.0"`, version 1.0.0 is yanked".
fn yanked(stderr: &str) -> Option<(String, String)> {
    let name = stderr.split("for the requirement `").nth(1)?.split(" = ").next()?.to_owned();
    let line = stderr.lines().find(|line| line.contains("yanked"))?;
    let version = line
        .split([' ', ',', '`'])
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?
        .to_owned();
    Some((name, version))
}

/// The versions of "candidate versions found which didn't match: 0.4.12, 0.4.11, ...".
fn known(stderr: &str) -> Vec<String> {
    let Some(list) = stderr.split("found which didn't match: ").nth(1) else { return Vec::new() };
    let list = list.lines().next().unwrap_or_default();
    list.split(", ").map(str::trim).filter(|word| *word != "...").map(str::to_owned).collect()
}

fn refusal(name: &str, version: Option<&str>, outcome: &Outcome) -> HarnessError {
    let text = outcome.error_text();
    if text.contains(&format!("no matching package named `{name}`")) || text.contains("package name must") {
        return HarnessError::UnknownCrate { name: name.to_owned(), version: None, known: Vec::new() };
    }
    if text.contains(&format!("for the requirement `{name} ="))
        || text.contains(&format!("searched package named `{name}`"))
    {
        return HarnessError::UnknownCrate {
            name: name.to_owned(),
            version: version.map(str::to_owned),
            known: known(&text),
        };
    }
    HarnessError::DoesNotBuild { package: name.to_owned(), rendered: text }
}

/// The manifest of a package that stands alone: without targets other than its library and without what only its author's tree has.
fn standalone(text: &str) -> Result<String, HarnessError> {
    let mut manifest: Table = text.parse().map_err(|error| HarnessError::DoesNotBuild {
        package: "the downloaded crate".to_owned(),
        rendered: format!("its Cargo.toml cannot be read: {error}"),
    })?;
    for section in [
        "bin",
        "bench",
        "test",
        "example",
        "profile",
        "patch",
        "replace",
        "badges",
        "cargo-features",
        "lints",
    ] {
        manifest.remove(section);
    }
    for name in ["package", "project"] {
        if let Some(Value::Table(package)) = manifest.get_mut(name) {
            package.remove("workspace");
            package.remove("default-run");
            for kind in ["autotests", "autobenches", "autoexamples"] {
                package.insert(kind.to_owned(), Value::Boolean(false));
            }
        }
    }
    without_paths(&mut manifest);
    manifest.insert("workspace".to_owned(), Value::Table(Table::new()));
    Ok(manifest.to_string())
}

/// Old packages still name the folders of their author's machine; the registry's versions are meant.
fn without_paths(table: &mut Table) {
    for (key, value) in table.iter_mut() {
        let Value::Table(inner) = value else { continue };
        if key.ends_with("dependencies") {
            inner.retain(|_, dependency| match dependency {
                Value::Table(dependency) => {
                    dependency.remove("path").is_none() || dependency.contains_key("version")
                }
                _ => true,
            });
        } else if key == "target" {
            for (_, platform) in inner.iter_mut() {
                if let Value::Table(platform) = platform {
                    without_paths(platform);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_words_about_yanked_and_unknown_versions() {
        let text = "error: failed to select a version for the requirement `a-b = \"=1.0.0\"`\n  version 1.0.0 is yanked\n";
        assert_eq!(yanked(text), Some(("a-b".to_owned(), "1.0.0".to_owned())));
        let text = "candidate versions found which didn't match: 0.4.12, 0.4.11, ...\nlocation";
        assert_eq!(known(text), ["0.4.12", "0.4.11"]);
    }

    #[test]
    fn a_manifest_loses_what_hinders() {
        let text = "[package]\nname = \"a\"\nworkspace = \"..\"\n[dependencies]\nb = { version = \"1\", path = \"../b\" }\n\
                    [dev-dependencies]\nc = { path = \"c\" }\n[[bench]]\nname = \"x\"\n[target.'cfg(unix)'.dependencies]\nd = { path = \"d\", version = \"2\" }\n";
        let cleaned = standalone(text).expect("valid");
        assert!(
            !cleaned.contains("path") && !cleaned.contains("bench]") && !cleaned.contains("c = "),
            "{cleaned}"
        );
        assert!(!cleaned.contains("workspace = \"..\"") && cleaned.contains("[workspace]"), "{cleaned}");
    }
}
