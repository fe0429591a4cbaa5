//! A crate that tests name and that the subject is not built on: resolved beside the subject, whose own versions stay as they are.

use cargo_metadata::Metadata;

use crate::cargo::Cargo;
use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::manifest;
use crate::metadata;
use crate::places::Places;
use crate::subject::{self, Dependency, Subject, library};

/// What is asked for where the package itself does not say.
const ANY: &str = "1";
/// From this version on `serde_json` is built on `serde_core`, whose traits are others than those of an older `serde`.
const BEFORE_CORE: &str = ", <1.0.144";

impl Subject {
    /// Whether tests in the subject's own package can name the crate.
    pub fn tests_can_name(&self, name: &str) -> bool {
        let direct = |dependency: &Dependency| dependency.direct.as_deref() == Some(name);
        self.lib == name
            || self.dev_dependencies.contains_key(name)
            || self.dependencies.get(name).is_some_and(direct)
    }
}

/// Makes the crate one that wrappers and tests can name. On an error the subject is as it was.
pub fn add_beside(subject: &mut Subject, name: &str, places: &Places) -> Result<(), HarnessError> {
    let known = subject.dependencies.get(name).is_some_and(|dependency| dependency.package == name);
    if known || subject.lib == name {
        return Ok(());
    }
    let mut asked = subject.dev_dependencies.get(name).map_or(ANY, String::as_str).to_owned();
    if name == "serde_json" && !subject.dependencies.contains_key("serde_core") {
        asked.push_str(BEFORE_CORE);
    }
    let text = manifest::package("testwright-beside", "2021")
        + &manifest::dependencies(subject, &[])?
        + &format!("{name} = {}\n", manifest::quote(&asked));
    let key = Digest::new().text(&subject.digest).text(&text).text(&subject.recipe.lock).finish();
    let root = places.work.join(subject.folder()).join(format!("beside-{}", &key[..16]));
    let _guard = places.lock("lock")?;
    files::write_if_changed(&root.join("Cargo.toml"), &manifest::workspace(&["beside"], &subject.recipe))?;
    files::write_if_changed(&root.join("beside/Cargo.toml"), &text)?;
    files::write_if_changed(&root.join("beside/src/lib.rs"), "")?;
    let lock = root.join("Cargo.lock");
    if !lock.exists() {
        files::write(&lock, subject.recipe.lock.as_bytes())?;
    }
    files::forget_old(&root, "beside-");
    let manifest = root.join("Cargo.toml");
    let refused = |rendered: String| HarnessError::DoesNotBuild { package: name.to_owned(), rendered };
    let outcome = metadata::resolved(&manifest, &subject.root, &subject.host, places)?;
    if !outcome.success {
        return Err(refused(outcome.error_text()));
    }
    let metadata = metadata::parse(&outcome)?;
    let (id, dependency) =
        found(&metadata, name).ok_or_else(|| refused("cargo resolved it to nothing".to_owned()))?;
    let kept = |own: &Dependency| {
        let mut all = metadata.packages.iter();
        all.any(|package| *package.name == own.package && package.version.to_string() == own.version)
    };
    if !subject.dependencies.values().all(kept) {
        return Err(refused("it does not go with the versions that the crate is built on".to_owned()));
    }
    // A version for newer compilers is resolved, too.
    let outcome = Cargo::new(places, "check", &subject.root)
        .manifest(&manifest)
        .args(["--package", &id])
        .compiles(&subject.host, subject.plan(), &places.build())
        .run()?;
    if !outcome.success {
        return Err(refused(outcome.error_text()));
    }
    subject.recipe.lock = files::read(&lock)?;
    // What an earlier version was compiled with is not taken for what this one is.
    subject.digest = Digest::new().text(&subject.digest).text(&id).finish();
    subject.dependencies.insert(name.to_owned(), dependency);
    Ok(())
}

/// The package that our own one calls so.
fn found(metadata: &Metadata, name: &str) -> Option<(String, Dependency)> {
    let ours = metadata.packages.iter().find(|package| *package.name == "testwright-beside")?;
    let node = metadata.resolve.as_ref()?.nodes.iter().find(|node| node.id == ours.id)?;
    let dep = node.deps.iter().find(|dep| dep.name == name)?;
    let package = metadata.packages.iter().find(|package| package.id == dep.pkg)?;
    library(package).ok()?;
    let dependency = Dependency {
        package: package.name.to_string(),
        version: package.version.to_string(),
        source: subject::source(package),
        direct: None,
        beside: true,
    };
    Some((package.id.repr.clone(), dependency))
}
