//! A package's folder → the texts to read: its Rust files and the code blocks of its README.
//!
//! The package is foreign: links are not followed, special files not opened, and the amount is limited.

use std::fs::{self, DirEntry, File};
use std::io::Read;
use std::path::{Path, PathBuf};

const MOST_FILES: usize = 2000;
const MOST_BYTES: u64 = 40 << 20;
/// Folders inside folders; deeper ones are a trap.
const MOST_DEPTH: usize = 32;

/// One file's text.
#[derive(Clone, Debug)]
pub struct Source {
    pub text: String,
    /// Whether the code shows how the library is used, instead of being the library.
    pub shows_use: bool,
}

/// Calls `see` with every Rust file of the package that can be read: `src` first, so that the limits cost what matters less.
pub fn rust_files(root: &Path, see: &mut dyn FnMut(Source)) {
    let mut files = 0;
    let mut left = MOST_BYTES;
    for top in ["src", "tests", "examples", "benches"] {
        let mut paths = Vec::new();
        if let Ok(kind) = fs::symlink_metadata(root.join(top)) {
            if kind.is_dir() {
                walk(&root.join(top), 0, &mut paths);
            }
        }
        for path in paths {
            if files == MOST_FILES {
                return;
            }
            let Some(text) = read(&path, left) else { continue };
            files += 1;
            left -= text.len() as u64;
            let inside = path.strip_prefix(root.join("src")).unwrap_or(&path);
            let shows_use = top != "src" || is_test_file(inside);
            see(Source { text, shows_use });
        }
    }
}

/// The README's text, if there is one.
pub fn readme(root: &Path) -> Option<String> {
    let path = root.join("README.md");
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    read(&path, MOST_BYTES)
}

fn walk(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<DirEntry> = entries.flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth < MOST_DEPTH && !is_output(&path) {
            walk(&path, depth + 1, paths);
        } else if kind.is_file() && is_rust(&path) {
            paths.push(path);
        }
        // Files that cannot be read do not count, but a flood of them ends here.
        if paths.len() >= 2 * MOST_FILES {
            return;
        }
    }
}

/// Rust files, but for our own: what one run writes must not change the next.
fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("testwright_"))
}

/// A `target` folder, unless it is the module `target` of somebody's sources.
fn is_output(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "target")
        && !(path.join("mod.rs").exists() || path.with_extension("rs").exists())
}

fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "test.rs")))
}

fn read(path: &Path, room: u64) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(room + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= room).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_output_folders_are_left_out() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path();
        for (path, text) in [
            ("outside/secret.rs", "secret"),
            ("package/src/b.rs", "b"),
            ("package/src/a/tests.rs", "a"),
            ("package/src/notes.txt", "notes"),
            ("package/tests/one/target/debug/out.rs", "out"),
            ("package/tests/t.rs", "t"),
            ("package/tests/testwright_findings.rs", "ours"),
            ("package/build.rs", "build"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a file in a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        fs::write(root.join("package/src/c.rs"), [0xff, 0xfe]).expect("a file");
        #[cfg(unix)]
        for (from, to) in [("outside", "package/src/linked"), ("outside/secret.rs", "package/src/linked.rs")]
        {
            std::os::unix::fs::symlink(root.join(from), root.join(to)).expect("a link");
        }
        let mut seen = Vec::new();
        rust_files(&root.join("package"), &mut |source| seen.push((source.text, source.shows_use)));
        assert_eq!(seen, [("a".to_owned(), true), ("b".to_owned(), false), ("t".to_owned(), true)]);
        assert_eq!(readme(&root.join("package")), None);
    }
}
