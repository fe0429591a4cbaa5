//! Whose a file is, by its first hundred bytes: a file that is not ours is never handed to `SQLite`, which may write beside it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::StoreError;

/// The name that our databases carry in their header.
pub(crate) const APPLICATION: u32 = 0x7477_7267;
/// The tables as they are now.
pub(crate) const SCHEMA: u32 = 1;

const MAGIC: &[u8] = b"SQLite format 3\0";

/// What stands where a campaign file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No file, or one without a byte in it, as a run leaves it that was killed right at its start.
    Nothing,
    Campaign,
}

/// Looks at a file without changing anything; an error if it is not one of ours.
pub fn inspect(path: &Path) -> Result<Found, StoreError> {
    let access =
        |error: std::io::Error| StoreError::Access { path: path.to_owned(), words: error.to_string() };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(access(error)),
    };
    if !file.metadata().map_err(access)?.is_file() {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let mut header = Vec::new();
    file.take(100).read_to_end(&mut header).map_err(access)?;
    if header.is_empty() {
        return Ok(Found::Nothing);
    }
    let number = |at: usize| {
        header.get(at..at + 4).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")))
    };
    if !header.starts_with(MAGIC) || number(68) != Some(APPLICATION) {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    match number(60) {
        Some(SCHEMA) => Ok(Found::Campaign),
        schema => Err(StoreError::OtherSchema { path: path.to_owned(), schema: schema.unwrap_or(0) }),
    }
}
