//! Files of the work folder: written whole, only when they change, with errors that say what to do.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::HarnessError;

/// Writes `text` unless the file holds it already, so that its time of change stays what it was.
pub fn write_if_changed(path: &Path, text: &str) -> Result<(), HarnessError> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    write(path, text.as_bytes())
}

/// Replaces the file in one step: a reader sees the old content or the new one.
pub fn write(path: &Path, content: &[u8]) -> Result<(), HarnessError> {
    let fail = |error: io::Error| HarnessError::io("cannot write", path, &error);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(".tw").tempfile_in(folder).map_err(fail)?;
    file.write_all(content).map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

pub fn make_folder(path: &Path) -> Result<(), HarnessError> {
    fs::create_dir_all(path).map_err(|error| HarnessError::io("cannot make the folder", path, &error))
}

pub fn read(path: &Path) -> Result<String, HarnessError> {
    fs::read_to_string(path).map_err(|error| HarnessError::io("cannot read", path, &error))
}

pub fn copy(from: &Path, to: &Path) -> Result<(), HarnessError> {
    if let Some(folder) = to.parent() {
        make_folder(folder)?;
    }
    // A running program's file cannot be overwritten, but it can be replaced.
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(HarnessError::io("cannot replace", to, &error));
        }
        _ => {}
    }
    fs::copy(from, to).map_err(|error| HarnessError::io("cannot write", to, &error))?;
    Ok(())
}

/// Copies a folder without what steers cargo and git; every file becomes writable.
pub fn copy_folder(from: &Path, to: &Path) -> Result<(), HarnessError> {
    make_folder(to)?;
    let entries = fs::read_dir(from).map_err(|error| HarnessError::io("cannot read", from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| HarnessError::io("cannot read", from, &error))?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.starts_with(".cargo") || text.starts_with(".git") || text.starts_with("rust-toolchain") {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            copy_folder(&path, &to.join(&name))?;
        } else {
            let content = fs::read(&path).map_err(|error| HarnessError::io("cannot read", &path, &error))?;
            write(&to.join(&name), &content)?;
        }
    }
    Ok(())
}

/// Removes a folder of ours if it is there.
pub fn remove_folder(path: &Path) -> Result<(), HarnessError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(HarnessError::io("cannot remove", path, &error))
        }
        _ => Ok(()),
    }
}
