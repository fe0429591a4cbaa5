//! The text of our generated manifests.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::HarnessError;
use crate::subject::{Dependency, Recipe, Source, Subject};

/// Profile settings that every workspace of ours shares, so that what one has compiled serves the others. Variants
/// change them on the command line.
pub(crate) const PROFILE: &str = r#"
[profile.dev]
opt-level = 0
debug = 0
debug-assertions = true
overflow-checks = true
incremental = false
codegen-units = 16
panic = "unwind"
lto = "off"

[profile.dev.build-override]
opt-level = 0
debug = 0
debug-assertions = false
overflow-checks = false
"#;

/// The root manifest of a workspace of ours.
pub(crate) fn workspace(members: &[&str], recipe: &Recipe) -> String {
    let members: Vec<String> = members.iter().map(|member| quote(member)).collect();
    format!(
        "[workspace]\nresolver = \"2\"\nmembers = [{}]\n{PROFILE}\n{}",
        members.join(", "),
        recipe.patches
    )
}

/// The head of a package of ours, up to its dependencies.
pub(crate) fn package(name: &str, edition: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\
         autobins = false\nautoexamples = false\nautobenches = false\n"
    )
}

/// The line of a dependency on a package that lies in `root`, by its name in code.
pub(crate) fn on_path(
    name: &str,
    package: &str,
    root: &Path,
    recipe: &Recipe,
) -> Result<String, HarnessError> {
    let features: Vec<String> = recipe.features.iter().map(|feature| quote(feature)).collect();
    Ok(format!(
        "{name} = {{ package = {}, path = {}, default-features = {}, features = [{}] }}\n",
        quote(package),
        quote(text(root)?),
        recipe.default_features,
        features.join(", ")
    ))
}

/// The `[dependencies]` section for the subject and some crates around it. A crate that the subject is not built on is left
/// out: the compiler then rejects what names it.
pub(crate) fn dependencies(subject: &Subject, foreign: &[String]) -> Result<String, HarnessError> {
    let mut lines = "\n[dependencies]\n".to_owned();
    lines.push_str(&on_path(&subject.lib, &subject.package, &subject.root, &subject.recipe)?);
    for name in foreign.iter().filter(|name| **name != subject.lib) {
        if let Some(dependency) = subject.dependencies.get(name) {
            lines.push_str(&foreign_line(name, dependency)?);
        }
    }
    Ok(lines)
}

/// Exactly the version that the subject uses, with no feature that it would not switch on itself; what is beside it as its author made it.
fn foreign_line(name: &str, dependency: &Dependency) -> Result<String, HarnessError> {
    let mut line = format!(
        "{name} = {{ package = {}, default-features = {}, ",
        quote(&dependency.package),
        dependency.beside
    );
    let version = quote(&format!("={}", dependency.version));
    match &dependency.source {
        Source::Registry => write!(line, "version = {version}"),
        Source::OtherRegistry(index) => {
            write!(line, "version = {version}, registry-index = {}", quote(index))
        }
        // The lock file holds the revision; the reference must be the manifest's, or cargo sees two crates.
        Source::Git { url, reference: None } => write!(line, "git = {}", quote(url)),
        Source::Git { url, reference: Some((kind, value)) } => {
            write!(line, "git = {}, {kind} = {}", quote(url), quote(value))
        }
        Source::Path(root) => write!(line, "path = {}", quote(text(root)?)),
    }
    .map_err(|error| HarnessError::internal(error.to_string()))?;
    line.push_str(" }\n");
    Ok(line)
}

pub(crate) fn quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}

pub(crate) fn text(path: &Path) -> Result<&str, HarnessError> {
    path.to_str().ok_or_else(|| {
        HarnessError::environment(
            format!("`{}` is not Unicode, which cargo's manifests must be", path.display()),
            "move the package to another folder",
        )
    })
}
