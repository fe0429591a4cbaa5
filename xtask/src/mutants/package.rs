//! A published package as a package of its own, with the tests that its author published, and its test programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;
use toml::Table;

use crate::subjects::Listed;

/// The test target that the tool writes.
pub const OURS: &str = "testwright_regression";

/// A package on disk, and where cargo builds it.
#[derive(Debug, Clone)]
pub struct Package {
    pub root: PathBuf,
    pub target: PathBuf,
}

/// What one build gave.
#[derive(Debug, Clone)]
pub struct Built {
    pub programs: Vec<Program>,
    /// The library as others link it.
    pub library: Option<PathBuf>,
}

/// A test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The name of its target.
    pub name: String,
    pub path: PathBuf,
}

impl Program {
    pub fn is_ours(&self) -> bool {
        self.name == OURS
    }
}

/// Flags of all builds: a lint must not make a mutant unviable.
pub const PLAIN: &str = "--cap-lints=allow";
/// The coverage map is read only if its names are not compressed.
pub const COVERAGE: &str =
    "--cap-lints=allow -Cinstrument-coverage -Cllvm-args=-enable-name-compression=false";

impl Package {
    /// Copies what cargo downloads for the crate to `root`, in the place of what is there.
    pub fn published(listed: &Listed, base: &Path) -> anyhow::Result<Package> {
        let package = Package { root: base.join("package"), target: base.join("target-0") };
        let source = fetched(listed, &base.join("fetch"))?;
        replace_folder(&source, &package.root)?;
        let manifest = package.root.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
        std::fs::write(&manifest, alone(&text)?)?;
        Ok(package)
    }

    /// Another copy, as this one is now, with a target folder of its own.
    pub fn copied(&self, base: &Path, number: usize) -> anyhow::Result<Package> {
        let copy = Package {
            root: base.join(format!("package-{number}")),
            target: base.join(format!("target-{number}")),
        };
        replace_folder(&self.root, &copy.root)?;
        Ok(copy)
    }

    /// Builds the tests of the library and all test targets, or the library's own alone; `Err` holds what the compiler says.
    pub fn build(&self, flags: &str) -> anyhow::Result<Result<Built, String>> {
        let output = Command::new("cargo")
            .current_dir(&self.root)
            .args(["test", "--no-run", "--lib", "--tests", "--message-format=json"])
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", flags)
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(Ok(built(&String::from_utf8_lossy(&output.stdout))))
    }
}

/// The test programs and the library that cargo's messages name.
fn built(messages: &str) -> Built {
    let mut built = Built { programs: Vec::new(), library: None };
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        if let (Some(path), Some(name), true) = (
            message["executable"].as_str(),
            message["target"]["name"].as_str(),
            message["profile"]["test"] == true,
        ) {
            built.programs.push(Program { name: name.to_owned(), path: PathBuf::from(path) });
        } else if message["manifest_path"].as_str().is_some_and(|path| !path.contains("/registry/")) {
            let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            built.library =
                files.map(PathBuf::from).find(|path| path.extension().is_some_and(|it| it == "rlib"));
        }
    }
    built
}

/// The folder that cargo unpacked the crate to.
fn fetched(listed: &Listed, scratch: &Path) -> anyhow::Result<PathBuf> {
    let Listed { name, version, .. } = listed;
    std::fs::create_dir_all(scratch.join("src"))?;
    std::fs::write(scratch.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"={version}\"\n"
    );
    std::fs::write(scratch.join("Cargo.toml"), manifest)?;
    let output = Command::new("cargo")
        .current_dir(scratch)
        .args(["metadata", "--format-version", "1"])
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo does not find {name} {version}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo's metadata")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == **name && package["version"] == **version)
        .find_map(|package| package["manifest_path"].as_str());
    Ok(Path::new(manifest.context("cargo resolved another version")?).with_file_name(""))
}

/// The manifest of a package that stands alone, with the author's tests and with those that are put beside them.
fn alone(text: &str) -> anyhow::Result<String> {
    let mut manifest: Table = text.parse().context("the package's manifest cannot be read")?;
    for section in ["bench", "example", "profile", "patch", "lints"] {
        manifest.remove(section);
    }
    if let Some(toml::Value::Table(package)) = manifest.get_mut("package") {
        package.remove("workspace");
        // Published manifests name all targets and forbid others.
        for (kind, found) in [("autotests", true), ("autobenches", false), ("autoexamples", false)] {
            package.insert(kind.to_owned(), toml::Value::Boolean(found));
        }
    }
    manifest.insert("workspace".to_owned(), toml::Value::Table(Table::new()));
    Ok(manifest.to_string())
}

fn replace_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| to.display().to_string())?;
    }
    copy_folder(from, to)
}

/// Not what steers cargo in the author's tree.
fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name();
        if name == ".cargo" || name.to_string_lossy().starts_with("rust-toolchain") || name == "target" {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::write(&target, std::fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_are_put_beside_the_authors_are_found() {
        let text = "[package]\nname = \"a\"\nautotests = false\nworkspace = \"..\"\n[[test]]\nname = \"t\"\npath = \"tests/t.rs\"\n\
                    [[bench]]\nname = \"b\"\n[profile.dev]\ndebug = 2\n";
        let manifest: Table = alone(text).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["autotests"].as_bool(), Some(true));
        assert!(manifest.contains_key("test") && manifest.contains_key("workspace"));
        assert!(!manifest.contains_key("bench") && !manifest.contains_key("profile"));
        assert!(manifest["package"].get("workspace").is_none());
    }

    #[test]
    fn programs_and_the_library_are_read_from_cargos_messages() {
        let messages = r#"
{"reason":"compiler-artifact","manifest_path":"/c/registry/src/x/memchr/Cargo.toml","target":{"name":"memchr"},"profile":{"test":false},"filenames":["/t/libmemchr.rlib"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/package/Cargo.toml","target":{"name":"a"},"profile":{"test":false},"filenames":["/t/liba.rlib","/t/liba.rmeta"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/package/Cargo.toml","target":{"name":"a"},"profile":{"test":true},"filenames":["/t/a-1"],"executable":"/t/a-1"}
{"reason":"compiler-artifact","manifest_path":"/w/package/Cargo.toml","target":{"name":"testwright_regression"},"profile":{"test":true},"filenames":["/t/r-1"],"executable":"/t/r-1"}
{"reason":"build-finished","success":true}"#;
        let built = built(messages);
        assert_eq!(built.library, Some(PathBuf::from("/t/liba.rlib")));
        assert_eq!(built.programs.iter().map(Program::is_ours).collect::<Vec<_>>(), [false, true]);
    }
}
