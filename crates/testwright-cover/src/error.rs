//! Why there are no figures.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum CoverError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} is not an object file: {source}")]
    Object { path: PathBuf, source: object::Error },
    /// Another layout than those known here, of a newer compiler.
    #[error("{path}: section {section} is not understood")]
    Unknown { path: PathBuf, section: &'static str },
}
