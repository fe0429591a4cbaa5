//! What can go wrong, with exit codes and advice.

use testwright_cover::CoverError;
use testwright_discover::DiscoverError;
use testwright_execute::ExecuteError;
use testwright_harness::HarnessError;
use testwright_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Harness(#[from] HarnessError),
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Cover(#[from] CoverError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The crate offers nothing that can be called.
    #[error("{0}")]
    Nothing(String),
    /// What the crate's author wrote down cannot be done.
    #[error("{0}")]
    Wish(String),
    #[error("{0}")]
    Internal(String),
    #[error("cannot write {path}")]
    Write { path: std::path::PathBuf, source: std::io::Error },
}

impl EngineError {
    /// The tool's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            EngineError::Harness(error) => error.exit_code(),
            EngineError::Store(error) => error.exit_code(),
            EngineError::Discover(_)
            | EngineError::Execute(_)
            | EngineError::Cover(_)
            | EngineError::Write { .. } => 6,
            EngineError::Wish(_) => 2,
            EngineError::Nothing(_) => 4,
            EngineError::Internal(_) => 70,
        }
    }

    pub fn advice(&self) -> Option<String> {
        match self {
            EngineError::Harness(error) => error.advice(),
            EngineError::Store(error) => Some(error.advice()),
            EngineError::Nothing(_) => {
                Some("`cargo testwright list` shows every item and why it was left out".to_owned())
            }
            EngineError::Write { .. } => Some(
                "is there room on the disk, and may the folder be written? --out DIR chooses another one"
                    .to_owned(),
            ),
            EngineError::Discover(_)
            | EngineError::Execute(_)
            | EngineError::Cover(_)
            | EngineError::Wish(_)
            | EngineError::Internal(_) => None,
        }
    }
}
