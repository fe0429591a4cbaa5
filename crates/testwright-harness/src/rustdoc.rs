//! The subject's rustdoc JSON, made with the user's compiler in a workspace of ours.

use crate::cargo::{self, Cargo};
use crate::diagnosis;
use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::places::Places;
use crate::probe;
use crate::subject::Subject;
use crate::wrapper::Plan;

/// The JSON text. The unstable output is switched on for the one rustdoc process, through our wrapper: no build script sees it.
pub fn rustdoc_json(subject: &Subject, places: &Places) -> Result<String, HarnessError> {
    let key = Digest::new().text(env!("CARGO_PKG_VERSION")).text(&subject.digest).finish();
    let folder = places.work.join(subject.folder());
    let cached = folder.join("api.json");
    let stamp = folder.join("api.key");
    if files::read(&stamp).is_ok_and(|old| old == key)
        && let Ok(text) = files::read(&cached)
    {
        return Ok(text);
    }
    let _guard = places.lock("lock")?;
    let manifest = probe::folder(places, &subject.package, &subject.version).join("Cargo.toml");
    let plan = Plan { rustdoc: Some(cargo::rustdoc()), ..subject.plan() };
    let outcome = Cargo::new(places, "rustdoc", &subject.root)
        .manifest(&manifest)
        .args(["--message-format=json", "--lib", "--package", &subject.package_id])
        .compiles(&subject.host, plan, &places.build())
        .run()?;
    if !outcome.success {
        return Err(diagnosis::does_not_build(&subject.package, &outcome));
    }
    let made = places.build().join(&subject.host).join("doc").join(format!("{}.json", subject.lib));
    let text = files::read(&made)?;
    files::write(&cached, text.as_bytes())?;
    files::write(&stamp, key.as_bytes())?;
    Ok(text)
}
