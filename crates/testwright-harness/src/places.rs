//! Where our own files go: the folder that may be written, and the programs and limits that every cargo command shares.

use std::path::{Path, PathBuf};
use std::{env, io};

use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::metadata;
use crate::selection::Selection;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Everything that we write goes below it.
    pub work: PathBuf,
    /// The program that cargo starts as compiler wrapper: one that calls [`crate::act_as_rustc_wrapper`] first.
    pub wrapper: PathBuf,
    /// Never ask the network.
    pub offline: bool,
    /// How many compilers may run at once; `None` leaves it to cargo.
    pub jobs: Option<usize>,
}

impl Places {
    /// The folder for a selection: `target/testwright` of the package, or of `out` for a published crate. The
    /// environment variable `TESTWRIGHT_CACHE` comes first; where the package's own tree cannot be written, a folder in
    /// the user's cache takes its place.
    pub fn for_selection(selection: &Selection, out: &Path) -> Result<Places, HarnessError> {
        let wanted = match selection {
            Selection::Published { .. } => absolute(out)?.join("target/testwright"),
            Selection::Local { manifest_path, .. } => {
                let places = Places::unwritten(PathBuf::new())?;
                metadata::without_dependencies(manifest_path.as_deref(), &places)?
                    .target_directory
                    .as_std_path()
                    .join("testwright")
            }
        };
        if env::var_os("TESTWRIGHT_CACHE").is_some_and(|folder| !folder.is_empty()) {
            return Places::at(cache_for(&wanted)?);
        }
        match writable(&wanted) {
            Ok(()) => Places::at(wanted),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Places::at(cache_for(&wanted)?)
            }
            Err(error) => Err(HarnessError::io("cannot write to", &wanted, &error)),
        }
    }

    /// A folder of the caller's choice.
    pub fn at(work: impl Into<PathBuf>) -> Result<Places, HarnessError> {
        let places = Places::unwritten(absolute(&work.into())?)?;
        writable(&places.work).map_err(|error| HarnessError::io("cannot write to", &places.work, &error))?;
        Ok(places)
    }

    fn unwritten(work: PathBuf) -> Result<Places, HarnessError> {
        let wrapper = env::current_exe().map_err(|error| {
            HarnessError::environment(format!("the tool's own program cannot be found: {error}"), "is /proc mounted?")
        })?;
        Ok(Places { work, wrapper, offline: false, jobs: None })
    }

    /// Cargo's target folder for everything that we compile.
    pub(crate) fn build(&self) -> PathBuf {
        self.work.join("build")
    }
}

fn absolute(path: &Path) -> Result<PathBuf, HarnessError> {
    std::path::absolute(path).map_err(|error| HarnessError::io("cannot find", path, &error))
}

fn writable(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder).map(drop)
}

/// The folder in the user's cache that stands for one that cannot be written.
fn cache_for(wanted: &Path) -> Result<PathBuf, HarnessError> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("TESTWRIGHT_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("testwright")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/testwright")))
        .ok_or_else(|| {
            HarnessError::environment(
                format!("`{}` cannot be written and there is no home folder", wanted.display()),
                "name a work folder with TESTWRIGHT_CACHE",
            )
        })?;
    let key = Digest::new().text(&wanted.to_string_lossy()).finish();
    let folder = cache.join(&key[..16]);
    files::make_folder(&folder)?;
    Ok(folder)
}
