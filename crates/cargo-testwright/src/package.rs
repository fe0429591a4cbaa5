//! The package that `--out` makes: a manifest of ours around the tests, complete enough for `cargo test` in it.

use std::fmt::Write as _;
use std::path::Path;

use testwright_engine::Workbench;
use testwright_harness::{Dependency, Source};

use crate::exit::Usage;
use crate::output;

/// The first line of a manifest of ours; another manifest is never replaced.
const MARK: &str = "# Written by cargo-testwright";

/// Refuses a folder that holds a package of somebody else's, and one that cannot be written, before time is spent on it.
pub fn claim(folder: &Path) -> anyhow::Result<()> {
    refuse_foreign(folder)?;
    output::writable(folder)
}

/// Refuses a folder that holds a package of somebody else's.
pub fn refuse_foreign(folder: &Path) -> Result<(), Usage> {
    let manifest = folder.join("Cargo.toml");
    if manifest.exists() && !std::fs::read_to_string(&manifest).is_ok_and(|text| text.starts_with(MARK)) {
        return Err(Usage(format!(
            "{} holds a package that is not testwright's; --out needs a folder of its own",
            folder.display()
        )));
    }
    Ok(())
}

pub fn write(folder: &Path, bench: &Workbench) -> anyhow::Result<()> {
    output::write(&folder.join("Cargo.toml"), &manifest(bench))?;
    let library = folder.join("src/lib.rs");
    if library.exists() {
        Ok(())
    } else {
        output::write(&library, "//! Empty: the tests are all there is.\n")
    }
}

fn manifest(bench: &Workbench) -> String {
    let subject = &bench.subject;
    let mut text = format!(
        "{MARK}; holds nothing but its tests.\n[package]\nname = \"testwright-{}\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n[workspace]\n\n[dependencies]\n",
        subject.package
    );
    let place = if subject.published {
        format!("version = {}", quote(&format!("={}", subject.version)))
    } else {
        format!("path = {}", quote(&subject.root.to_string_lossy()))
    };
    let features: Vec<String> = subject
        .features
        .iter()
        .filter(|feature| *feature != "default")
        .map(|feature| quote(feature))
        .collect();
    let default = subject.features.iter().any(|feature| feature == "default");
    let _ = writeln!(
        text,
        "{} = {{ {place}, default-features = {default}, features = [{}] }}",
        subject.package,
        features.join(", ")
    );
    for name in bench.foreign.iter().filter(|name| **name != subject.lib) {
        if let Some(dependency) = subject.dependencies.get(name) {
            let _ = writeln!(text, "{name} = {}", foreign(dependency));
        }
    }
    text
}

/// Exactly the version that the subject uses, with no feature that it would not switch on itself; what is beside it as its author made it.
fn foreign(dependency: &Dependency) -> String {
    let version = quote(&format!("={}", dependency.version));
    let place = match &dependency.source {
        Source::Registry => format!("version = {version}"),
        Source::OtherRegistry(index) => format!("version = {version}, registry-index = {}", quote(index)),
        Source::Git { url, reference: None } => format!("git = {}", quote(url)),
        Source::Git { url, reference: Some((kind, value)) } => {
            format!("git = {}, {kind} = {}", quote(url), quote(value))
        }
        Source::Path(root) => format!("path = {}", quote(&root.to_string_lossy())),
    };
    format!(
        "{{ package = {}, {place}, default-features = {} }}",
        quote(&dependency.package),
        dependency.beside
    )
}

/// As TOML and JSON both write it.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
