//! Where our own files go: the folder that may be written, and the programs and limits that every cargo command shares.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{env, io};

use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::metadata;
use crate::selection::Selection;

#[derive(Debug, Clone)]
pub struct Places {
    /// Everything that we write goes below it.
    pub work: PathBuf,
    /// The program that cargo starts as compiler wrapper: one that calls [`crate::act_as_rustc_wrapper`] first.
    pub wrapper: PathBuf,
    /// Never ask the network.
    pub offline: bool,
    /// How many compilers may run at once; `None` leaves it to cargo.
    pub jobs: Option<usize>,
    /// Set while nobody waits for builds any more: a cargo that runs is stopped, none is started.
    pub(crate) unwanted: Arc<AtomicBool>,
}

impl Places {
    /// The folder for a selection: `target/testwright` of the package, or of `out` for a published crate. The
    /// environment variable `TESTWRIGHT_CACHE` comes first; where the package's own tree cannot be written, a folder in
    /// the user's cache takes its place.
    pub fn for_selection(selection: &Selection, out: &Path) -> Result<Places, HarnessError> {
        let wanted = match selection {
            Selection::Published { .. } => absolute(out)?.join("target/testwright"),
            Selection::Local { manifest_path, .. } => {
                metadata::without_dependencies(manifest_path.as_deref(), &Places::nowhere()?)?
                    .target_directory
                    .as_std_path()
                    .join("testwright")
            }
        };
        Places::at(first_writable(wanted, &|name| env::var_os(name))?)
    }

    /// A folder of the caller's choice.
    pub fn at(work: impl Into<PathBuf>) -> Result<Places, HarnessError> {
        let places = Places::unwritten(absolute(&work.into())?)?;
        writable(&places.work).map_err(|error| HarnessError::io("cannot write to", &places.work, &error))?;
        // The sign by which backups, and our own cache keys, leave such folders out.
        files::write_if_changed(
            &places.work.join("CACHEDIR.TAG"),
            "Signature: 8a477f597d28d172789f06886806bc55\n# Made by testwright; may be removed at any time.\n",
        )?;
        Ok(places)
    }

    /// For questions to cargo that leave nothing behind.
    pub(crate) fn nowhere() -> Result<Places, HarnessError> {
        Places::unwritten(PathBuf::new())
    }

    fn unwritten(work: PathBuf) -> Result<Places, HarnessError> {
        let wrapper = env::current_exe().map_err(|error| {
            HarnessError::environment(
                format!("the tool's own program cannot be found: {error}"),
                "is /proc mounted?",
            )
        })?;
        Ok(Places { work, wrapper, offline: false, jobs: None, unwanted: Arc::default() })
    }

    /// Cargo's target folder for the subject, the harness and their documentation.
    pub(crate) fn build(&self) -> PathBuf {
        self.work.join("build")
    }

    /// Cargo's target folder for emitted tests.
    pub(crate) fn bench(&self) -> PathBuf {
        self.work.join("build-bench")
    }

    /// Keeps other runs of the tool off what the named lock guards, until it is dropped.
    pub(crate) fn lock(&self, name: &str) -> Result<File, HarnessError> {
        let path = self.work.join(name);
        let fail = |error: io::Error| HarnessError::io("cannot lock", &path, &error);
        let file = File::create(&path).map_err(fail)?;
        file.lock().map_err(fail)?;
        Ok(file)
    }
}

fn absolute(path: &Path) -> Result<PathBuf, HarnessError> {
    std::path::absolute(path).map_err(|error| HarnessError::io("cannot find", path, &error))
}

fn writable(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder).map(drop)
}

/// `wanted` if it can be written and the user names no other folder, else one in the user's cache that stands for it.
fn first_writable(
    wanted: PathBuf,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, HarnessError> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let explicit = named("TESTWRIGHT_CACHE");
    if explicit.is_none() {
        match writable(&wanted) {
            Ok(()) => return Ok(wanted),
            Err(error) if is_forbidden(&error) => {}
            Err(error) => return Err(HarnessError::io("cannot write to", &wanted, &error)),
        }
    }
    let cache = explicit
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("testwright")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/testwright")))
        .ok_or_else(|| {
            HarnessError::environment(
                format!("`{}` cannot be written and there is no home folder", wanted.display()),
                "name a work folder with TESTWRIGHT_CACHE",
            )
        })?;
    let key = Digest::new().text(&wanted.to_string_lossy()).finish();
    Ok(cache.join(&key[..16]))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_cannot_be_written_leads_to_the_cache() {
        // Nobody can make folders there, root included.
        let wanted = PathBuf::from("/sys/kernel/testwright");
        let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
        let folder = first_writable(wanted.clone(), &variable).expect("a cache");
        assert!(folder.starts_with("/home/me/.cache/testwright"), "{}", folder.display());
        let error = first_writable(wanted, &|_| None).expect_err("nowhere to write");
        assert_eq!(error.exit_code(), 6);
    }

    #[test]
    fn the_users_own_choice_comes_first() {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let wanted = dir.path().join("target/testwright");
        let folder = first_writable(wanted.clone(), &|_| None).expect("writable");
        assert_eq!(folder, wanted);
        let variable = |name: &str| (name == "TESTWRIGHT_CACHE").then(|| OsString::from("/cache"));
        assert!(first_writable(wanted, &variable).expect("a cache").starts_with("/cache"));
    }
}
