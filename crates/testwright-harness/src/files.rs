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

/// Copies a program in one step: a program that runs keeps its own file, and half a copy is never seen.
pub fn copy(from: &Path, to: &Path) -> Result<(), HarnessError> {
    let folder = to.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let fail = |error: io::Error| HarnessError::io("cannot write", to, &error);
    let half = tempfile::Builder::new().prefix(".tw").tempfile_in(folder).map_err(fail)?.into_temp_path();
    fs::copy(from, &half).map_err(fail)?;
    half.persist(to).map_err(|error| fail(error.error))
}

/// Moves a program to a folder on the same disk, in one step.
pub fn take(from: &Path, to: &Path) -> Result<(), HarnessError> {
    fs::rename(from, to).map_err(|error| HarnessError::io("cannot write", to, &error))
}

/// Removes the files of a folder whose names start with one of the prefixes.
pub fn remove_starting(folder: &Path, prefixes: &[&str]) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        if prefixes.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            // What cannot be removed costs space alone.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes the oldest files of a folder until the rest takes no more than `bytes`.
pub fn keep_newest(folder: &Path, bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.metadata().ok().map(|data| (data, entry.path())))
        .filter(|(data, _)| data.is_file())
        .filter_map(|(data, path)| Some((data.modified().ok()?, path, data.len())))
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, _, size)| size).sum();
    for (_, path, size) in files {
        if total <= bytes {
            return;
        }
        // Another run may just have removed it.
        let _ = fs::remove_file(path);
        total -= size;
    }
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

/// Removes the neighbours of `current` whose names start alike, but for the last few.
pub fn forget_old(current: &Path, prefix: &str) {
    const KEPT: usize = 4;
    let Some(folder) = current.parent() else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut old: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix) && entry.path() != current)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    old.sort();
    let surplus = old.len().saturating_sub(KEPT - 1);
    for (_, path) in old.into_iter().take(surplus) {
        // Another run may just have removed it.
        let _ = remove_folder(&path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_oldest_files_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for (age, name) in ["new", "middle", "old"].iter().enumerate() {
            let file = fs::File::create(folder.path().join(name)).expect("a file");
            file.set_len(100).expect("a length");
            let past = Duration::from_mins(1 + age as u64);
            file.set_modified(SystemTime::now() - past).expect("a time");
        }
        let left = || {
            let mut names: Vec<_> = fs::read_dir(folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
                .collect();
            names.sort();
            names
        };
        keep_newest(folder.path(), 300);
        assert_eq!(left(), ["middle", "new", "old"]);
        keep_newest(folder.path(), 299);
        assert_eq!(left(), ["middle", "new"]);
        keep_newest(folder.path(), 0);
        assert!(left().is_empty());
    }
}
