//! Lists the sources of wire and runtime, so that they travel inside the tool's binary.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const PACKAGES: [&str; 2] = ["testwright-wire", "testwright-runtime"];

fn main() -> Result<(), Box<dyn Error>> {
    let crates = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..").canonicalize()?;
    let mut text = String::from("pub const FILES: &[(&str, &str)] = &[\n");
    for package in PACKAGES {
        let root = crates.join(package);
        let mut files = vec![root.join("Cargo.toml")];
        walk(&root.join("src"), &mut files)?;
        files.sort();
        for file in files {
            println!("cargo:rerun-if-changed={}", file.display());
            let name = file.strip_prefix(&crates)?;
            let [name, file] = [name, &file].map(|path| path.display().to_string());
            writeln!(text, "    ({name:?}, include_str!({file:?})),")?;
        }
    }
    text.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("files.rs"), text)?;
    Ok(())
}

/// Adds the Rust files below `folder`; the folder itself is watched for new ones.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
