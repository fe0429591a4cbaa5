//! A package in a scratch folder, for printed suites to be compiled and run in.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Package {
    folder: PathBuf,
}

impl Package {
    pub fn new(name: &str, source: &str) -> Self {
        let package = Package { folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) };
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2021\"\n\n[workspace]\n");
        package.write("Cargo.toml", &manifest);
        package.write("src/lib.rs", source);
        package
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Everything that cargo prints.
    pub fn cargo(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .output()
            .expect("cargo runs");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// Writes the suite, runs its tests, all of which must pass without a warning, and asks clippy, without the line
    /// that tells it to leave the calls as they are.
    pub fn accepts(&self, text: &str, tests: usize) {
        let file = "tests/testwright_regression.rs";
        self.write(file, text);
        let words = self.cargo(&["test", "--offline", "--test", "testwright_regression"]);
        assert!(words.contains(&format!("{tests} passed; 0 failed")), "{text}\n{words}");
        assert!(!words.contains("warning"), "{text}\n{words}");
        let (before, after) = text.split_once("#![allow").expect("the line");
        let (_, after) = after.split_once('\n').expect("its end");
        self.write(file, &format!("{before}{after}"));
        if self.cargo(&["clippy", "--version"]).starts_with("clippy ") {
            let arguments =
                ["clippy", "--offline", "--test", "testwright_regression", "--", "-D", "warnings"];
            let words = self.cargo(&arguments);
            assert!(words.contains("Finished"), "{text}\n{words}");
        }
    }
}
