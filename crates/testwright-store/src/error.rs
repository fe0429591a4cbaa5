//! What can be wrong with a campaign file, with exit codes and advice.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no campaign to go on with: {0} does not exist")]
    Missing(PathBuf),
    #[error("{0} is not a campaign file of testwright's")]
    Foreign(PathBuf),
    #[error("{path} is a campaign of the crate `{stored}`, not of `{wanted}`")]
    OtherCrate { path: PathBuf, stored: String, wanted: String },
    #[error("{path} was written by another version of testwright (its schema is {schema})")]
    OtherSchema { path: PathBuf, schema: u32 },
    #[error("the campaign file {path} is damaged: {words}")]
    Damaged { path: PathBuf, words: String },
    #[error("the campaign file {0} is in use by another program")]
    Busy(PathBuf),
    #[error("cannot write or read the campaign file {path}: {words}")]
    Access { path: PathBuf, words: String },
}

impl StoreError {
    /// The tool's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            StoreError::Missing(_)
            | StoreError::Foreign(_)
            | StoreError::OtherCrate { .. }
            | StoreError::OtherSchema { .. } => 2,
            StoreError::Damaged { .. } | StoreError::Busy(_) | StoreError::Access { .. } => 6,
        }
    }

    pub fn advice(&self) -> String {
        match self {
            StoreError::Missing(_) => {
                "run once without --resume; a campaign with --out DIR is resumed with the same --out"
            }
            StoreError::Foreign(_) | StoreError::OtherSchema { .. } | StoreError::Damaged { .. } => {
                "it is left as it is; delete it, or choose another folder with --out DIR"
            }
            StoreError::OtherCrate { .. } => {
                "run without --resume to begin anew in its place, or choose another folder with --out DIR"
            }
            StoreError::Busy(_) => {
                "wait until the other run has ended, or choose another folder with --out DIR"
            }
            StoreError::Access { .. } => {
                "is there room on the disk, and may the folder be written? --out DIR chooses another one"
            }
        }
        .to_owned()
    }

    /// The file itself is to blame, rather than the disk it is on.
    pub fn is_about_content(&self) -> bool {
        !matches!(self, StoreError::Access { .. })
    }

    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let words = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::Foreign(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(path),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::OutOfMemory,
            ) => StoreError::Access { path, words },
            _ => StoreError::Damaged { path, words },
        }
    }
}
