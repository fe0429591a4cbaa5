//! Scratch crates and sources for the tests of this package.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use testwright_harness::{FeatureChoice, HarnessSource, OperationSource, Places, Selection, Subject, locate};

/// A package in a scratch folder, and a work folder beside it.
pub struct Bed {
    folder: TempDir,
}

impl Bed {
    pub fn new(files: &[(&str, &str)]) -> Bed {
        let bed = Bed { folder: tempfile::tempdir().expect("a scratch folder") };
        for (name, text) in files {
            bed.write(name, text);
        }
        bed
    }

    /// A copy of a package of the repository.
    pub fn copy_of(package: &str) -> Bed {
        let bed = Bed::new(&[]);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(package);
        copy(&from, &bed.root());
        bed
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("package")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("below the root")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub fn places(&self) -> Places {
        places(&self.folder.path().join("work"))
    }

    pub fn selection(&self) -> Selection {
        Selection::Local {
            manifest_path: Some(self.root().join("Cargo.toml")),
            package: None,
            features: FeatureChoice::default(),
        }
    }

    pub fn locate(&self) -> Subject {
        locate(&self.selection(), &self.places()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every file of the package with its content.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        walk(&self.root(), &mut files);
        files
    }
}

pub fn places(work: &Path) -> Places {
    let mut places = Places::at(work).expect("writable");
    places.wrapper = env!("CARGO_BIN_EXE_testwright-wrapper").into();
    places
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("writable");
        }
    }
}

fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.insert(path.clone(), fs::read(&path).expect("readable"));
        }
    }
}

pub fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
}

/// Operations whose wrappers write the value of an expression; `{N}` in texts stands for the number.
pub struct Draft {
    pub source: HarnessSource,
}

impl Draft {
    pub fn new(types: &[&str]) -> Draft {
        let types = types.iter().map(|ty| (*ty).to_owned()).collect();
        Draft { source: HarnessSource { types, ..HarnessSource::default() } }
    }

    /// Adds an operation without arguments; returns its number.
    pub fn make(&mut self, result: usize, expression: &str, checks: &[&str]) -> usize {
        let number = self.source.operations.len();
        let ty = &self.source.types[result];
        let wrapper = format!(
            "unsafe fn w{number}(a: *const *mut u8, r: *mut u8) {{\n    r.cast::<{ty}>().write({expression});\n}}"
        );
        let checks = checks.iter().map(|body| format!("fn check_{number}() {{\n    {body}\n}}")).collect();
        self.source.operations.push(OperationSource {
            wrapper,
            arity: 0,
            result,
            types: vec![result],
            checks,
        });
        number
    }
}
