//! How long the crate alone takes to build, the measure for our own build times.

use std::time::Instant;

use crate::cargo::Cargo;
use crate::diagnosis;
use crate::error::HarnessError;
use crate::places::Places;
use crate::probe;
use crate::subject::Subject;

/// Seconds of a plain `cargo build` of the crate and its dependencies in a fresh target folder.
pub fn crate_build_seconds(subject: &Subject, places: &Places) -> Result<f64, HarnessError> {
    let fresh = tempfile::Builder::new()
        .prefix("fresh-")
        .tempdir_in(&places.work)
        .map_err(|error| HarnessError::io("cannot write to", &places.work, &error))?;
    let manifest = probe::folder(places, &subject.package, &subject.version).join("Cargo.toml");
    let start = Instant::now();
    let outcome = Cargo::new(places, "build", &subject.root)
        .manifest(&manifest)
        .args(["--message-format=json", "--lib", "--package", &subject.package_id])
        .arg("--target-dir")
        .arg(fresh.path())
        .run()?;
    if outcome.success {
        return Ok(start.elapsed().as_secs_f64());
    }
    Err(diagnosis::does_not_build(&subject.package, &outcome))
}
