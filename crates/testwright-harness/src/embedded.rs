//! The sources of wire and runtime, embedded at build time, and their way into the work folder.

use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files::write_if_changed;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Changes with every change of wire or runtime.
pub fn digest() -> String {
    let mut digest = Digest::new();
    for (name, text) in FILES {
        digest.text(name).text(text);
    }
    digest.finish()
}

/// Writes both packages next to each other below `work`; returns the folder that holds them. What stands there
/// already is left alone, so that cargo does not compile it again.
pub fn unpack(work: &Path) -> Result<PathBuf, HarnessError> {
    let folder = work.join(format!("runtime-{}", &digest()[..12]));
    for (name, text) in FILES {
        write_if_changed(&folder.join(name), text)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_packages_are_inside() {
        for wanted in [
            "testwright-wire/Cargo.toml",
            "testwright-wire/src/lib.rs",
            "testwright-runtime/Cargo.toml",
            "testwright-runtime/src/lib.rs",
        ] {
            assert!(FILES.iter().any(|(name, _)| *name == wanted), "{wanted}");
        }
    }
}
