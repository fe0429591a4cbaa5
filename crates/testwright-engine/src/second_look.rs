//! A second look at failures, with the source that they stand in: the judge knows the function that was called, not the one that panicked.
//!
//! Reads each file once. One that cannot be read or understood leaves a failure as it was judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::judge::place::{function_at, tier_in};
use crate::judge::{Failure, Tier};

/// Larger files are generated ones.
const LARGEST: u64 = 4 << 20;

#[derive(Debug)]
pub struct SecondLook<'a> {
    root: &'a Path,
    texts: BTreeMap<PathBuf, Option<String>>,
}

impl<'a> SecondLook<'a> {
    /// `root`: the folder of the package under test.
    pub fn new(root: &'a Path) -> Self {
        SecondLook { root, texts: BTreeMap::new() }
    }

    pub fn tier(&mut self, failure: &Failure) -> Tier {
        if failure.tier != Tier::Bug || failure.file.is_empty() {
            return failure.tier;
        }
        let path = self.root.join(&failure.file);
        let own = path.starts_with(self.root);
        // Where a panic says that it stands is for the crate to say; nothing else is opened for that.
        if !own && !failure.file.contains("/registry/src/") {
            return failure.tier;
        }
        let text = self.texts.entry(path).or_insert_with_key(|path| read(path));
        let function = text.as_deref().and_then(|text| function_at(text, failure.line));
        function.map_or(failure.tier, |function| tier_in(failure, &function, own))
    }
}

fn read(path: &Path) -> Option<String> {
    let known = std::fs::metadata(path).ok()?;
    if !known.is_file() || known.len() > LARGEST {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_looked_for_where_the_panic_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let dependency = folder.path().join("registry/src/index/dep-1.0.0/src/lib.rs");
        let own = folder.path().join("own/src/lib.rs");
        for file in [&dependency, &own] {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "fn f(a: u8) {\n    assert!(a > 0);\n}\n").expect("a file");
        }
        let elsewhere = folder.path().join("lib.rs");
        std::fs::copy(&own, &elsewhere).expect("a file");
        let root = folder.path().join("own");
        let mut look = SecondLook::new(&root);
        let mut tier = |file: &Path, line| {
            look.tier(&Failure {
                tier: Tier::Bug,
                class: "panic",
                operation: "own::g".to_owned(),
                step: 0,
                message: "assertion failed: a > 0".to_owned(),
                file: file.to_str().expect("Unicode").to_owned(),
                line,
            })
        };
        for file in [Path::new("src/lib.rs"), &own] {
            assert_eq!(tier(file, 2), Tier::UndocumentedPanic, "{}", file.display());
        }
        assert_eq!(tier(&dependency, 2), Tier::Bug, "what a dependency was given is the crate's own doing");
        assert_eq!(tier(&own, 20), Tier::Bug);
        for file in [Path::new("src/none.rs"), Path::new("src"), &elsewhere] {
            assert_eq!(tier(file, 2), Tier::Bug, "{}", file.display());
        }
    }
}
