//! What can go wrong between a selection and a built worker, each with its exit code and advice.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HarnessError {
    /// The user named something that is not there.
    #[error("{message}")]
    Usage { message: String, advice: Option<String> },
    /// The crate under test or one of its dependencies does not compile. `rendered` holds the compiler's own words.
    #[error("`{package}` does not build:\n{rendered}")]
    DoesNotBuild { package: String, rendered: String },
    #[error("`{package}` has no library to test: {reason}")]
    NoLibrary { package: String, reason: String },
    #[error("{}", unknown(name, version.as_deref()))]
    UnknownCrate { name: String, version: Option<String>, known: Vec<String> },
    /// Network, disk, permissions, toolchain.
    #[error("{message}")]
    Environment { message: String, advice: Option<String> },
    /// Our own fault.
    #[error("internal error: {message}")]
    Internal { message: String },
}

fn unknown(name: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("the registry has no version {version} of `{name}`"),
        None => format!("the registry has no crate `{name}`"),
    }
}

impl HarnessError {
    pub fn exit_code(&self) -> u8 {
        match self {
            HarnessError::Usage { .. } => 2,
            HarnessError::DoesNotBuild { .. } => 3,
            HarnessError::NoLibrary { .. } => 4,
            HarnessError::UnknownCrate { .. } | HarnessError::Environment { .. } => 6,
            HarnessError::Internal { .. } => 70,
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> Option<String> {
        match self {
            HarnessError::Usage { advice, .. } | HarnessError::Environment { advice, .. } => advice.clone(),
            HarnessError::DoesNotBuild { .. } => {
                Some("make `cargo build` pass with the same features, then run this again".to_owned())
            }
            HarnessError::NoLibrary { .. } => {
                Some("only library targets can be tested: choose another package with `--package`".to_owned())
            }
            HarnessError::UnknownCrate { known, .. } if known.is_empty() => {
                Some("check the spelling of the name".to_owned())
            }
            HarnessError::UnknownCrate { known, .. } => {
                let mut text = "versions there are: ".to_owned();
                for (i, version) in known.iter().enumerate() {
                    let _ = write!(text, "{}{version}", if i > 0 { ", " } else { "" });
                }
                Some(text)
            }
            HarnessError::Internal { .. } => {
                Some("please report this with the command and the crate that led to it".to_owned())
            }
        }
    }

    pub(crate) fn usage(message: impl Into<String>, advice: impl Into<String>) -> Self {
        HarnessError::Usage { message: message.into(), advice: Some(advice.into()) }
    }

    pub(crate) fn environment(message: impl Into<String>, advice: impl Into<String>) -> Self {
        HarnessError::Environment { message: message.into(), advice: Some(advice.into()) }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        HarnessError::Internal { message: message.into() }
    }

    /// `what` reads "cannot write".
    pub(crate) fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        let message = format!("{what} `{}`: {error}", path.display());
        let advice = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some disk space, ",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "make the folder writable, "
            }
            _ => "",
        };
        HarnessError::environment(
            message,
            format!("{advice}or name another work folder with TESTWRIGHT_CACHE").trim_start_matches("or "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_comes_with_advice() {
        let error =
            HarnessError::io("cannot write", Path::new("/x"), &io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(error.exit_code(), 6);
        assert!(error.advice().is_some_and(|advice| advice.starts_with("free some disk space")));
    }
}
