//! Which functions and lines of the crate under test were executed.
//!
//! Receives a worker's binary, compiled with `-C instrument-coverage`, the crate's own library file, and how often each counter
//! was reached; hands on a [`Cover`]. Runs nothing. A [`Map`] is read once for a binary and serves any number of counts.

mod branches;
mod bytes;
mod counters;
mod error;
mod map;
mod mapping;
mod merge;

use std::collections::BTreeMap;

pub use branches::{Branches, Side, Taken};
pub use error::CoverError;
pub use map::Map;
pub use merge::Package;

/// What was executed of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cover {
    /// Every function definition once, by file and line.
    pub functions: Vec<FunctionCover>,
    /// Every file with code, by name.
    pub files: Vec<FileCover>,
}

/// One `fn` of the source with all its instances. A closure is a part of the function around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCover {
    /// The path in code; empty if the binary does not tell.
    pub name: String,
    /// Relative to the package's folder.
    pub file: String,
    pub line: u32,
    pub hit: bool,
}

/// Those lines of a file that hold code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCover {
    /// Relative to the package's folder.
    pub file: String,
    /// Whether each line was executed, at least in part.
    pub lines: BTreeMap<u32, bool>,
}

impl Cover {
    pub fn functions_hit(&self) -> usize {
        self.functions.iter().filter(|function| function.hit).count()
    }

    pub fn functions_total(&self) -> usize {
        self.functions.len()
    }

    pub fn lines_hit(&self) -> usize {
        self.files.iter().flat_map(|file| file.lines.values()).filter(|hit| **hit).count()
    }

    pub fn lines_total(&self) -> usize {
        self.files.iter().map(|file| file.lines.len()).sum()
    }

    /// Functions that nothing has reached.
    pub fn missed(&self) -> impl Iterator<Item = &FunctionCover> {
        self.functions.iter().filter(|function| !function.hit)
    }
}
