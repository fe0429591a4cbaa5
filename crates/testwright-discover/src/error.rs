//! Why a documentation file could not be read, and what the user can do about it.

use std::ops::RangeInclusive;

#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("the documentation has rustdoc format {found}, this tool reads {} to {}: {}", supported.start(), supported.end(), advice(*found, supported))]
    Format { found: u32, supported: RangeInclusive<u32> },
    #[error("the documentation is not rustdoc JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    #[error("the documentation (rustdoc format {format}) is not of the shape that format has: {error}")]
    Shape { format: u32, error: serde_json::Error },
    #[error("the documentation has no root module")]
    NoRoot,
}

fn advice(found: u32, supported: &RangeInclusive<u32>) -> &'static str {
    if found < *supported.start() {
        "the compiler is too old for it; use Rust 1.90 or newer (`rustup update stable`)"
    } else {
        "the compiler is newer than it knows; update the tool, or choose an older compiler (`cargo +1.95.0 …`)"
    }
}
