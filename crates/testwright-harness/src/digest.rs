//! Cache keys: FNV-1a in 128 bits, the same on every machine and in every version of the tool.

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Files above this size count by size and time of change.
const LARGE: u64 = 4 << 20;

#[derive(Debug, Clone)]
pub struct Digest(u128);

impl Digest {
    pub fn new() -> Self {
        Digest(OFFSET)
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
        self
    }

    /// The text and its length, so that neighbours cannot be mistaken for one another.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(&(text.len() as u64).to_le_bytes()).bytes(text.as_bytes())
    }

    pub fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }

    /// Every file of a package that its library may be made of: not its tests, benches and examples, not hidden
    /// files, not packages and caches inside it.
    pub fn package(&mut self, root: &Path) -> io::Result<()> {
        self.folder(root, root)
    }

    fn folder(&mut self, root: &Path, folder: &Path) -> io::Result<()> {
        let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let top = folder == root;
            if name.starts_with('.') || (top && matches!(&*name, "Cargo.lock" | "testwright.toml")) {
                continue;
            }
            let Ok(facts) = fs::metadata(&path) else { continue };
            if facts.is_dir() {
                let aside = matches!(&*name, "target" | "tests" | "benches" | "examples");
                let foreign = ["Cargo.toml", "CACHEDIR.TAG"].iter().any(|name| path.join(name).exists());
                let skipped = (top && aside) || foreign || entry.file_type()?.is_symlink();
                if !skipped {
                    self.folder(root, &path)?;
                }
                continue;
            }
            self.text(&path.strip_prefix(root).unwrap_or(&path).to_string_lossy());
            if facts.len() > LARGE {
                let changed = facts.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                self.bytes(&facts.len().to_le_bytes()).bytes(&changed.as_nanos().to_le_bytes());
            } else {
                let content = fs::read(&path)?;
                self.bytes(&(content.len() as u64).to_le_bytes()).bytes(&content);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_value_of_the_algorithm() {
        assert_eq!(Digest::new().bytes(b"a").finish(), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn tests_of_a_package_do_not_count_and_sources_do() {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let digest = || {
            let mut digest = Digest::new();
            digest.package(dir.path()).expect("readable");
            digest.finish()
        };
        for folder in ["src/tests", "tests"] {
            fs::create_dir_all(dir.path().join(folder)).expect("writable");
        }
        let empty = digest();
        fs::write(dir.path().join("tests/a.rs"), "x").expect("writable");
        assert_eq!(digest(), empty);
        fs::write(dir.path().join("src/tests/a.rs"), "x").expect("writable");
        assert_ne!(digest(), empty);
    }
}
