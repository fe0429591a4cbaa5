//! rustdoc's JSON as far as it is needed: receives the text, hands on a [`Crate`]. The only place that knows the format.
//!
//! The structures are our own, not those of one `rustdoc-types` release, so that one build reads all formats in [`SUPPORTED`]:
//! what was added later is ignored, what was absent earlier has a default, and kinds unknown to us are kept by name.

mod item;
mod tolerant;
mod ty;

use std::collections::HashMap;
use std::ops::RangeInclusive;

use serde::Deserialize;

pub use item::*;
pub use ty::*;

use crate::DiscoverError;

/// Formats whose differences are known. 51 made generic arguments optional, 54 made attributes structured; the rest only added.
pub const SUPPORTED: RangeInclusive<u32> = 45..=61;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(transparent)]
pub struct Id(pub u32);

#[derive(Debug, Deserialize)]
pub struct Crate {
    pub root: Id,
    pub index: HashMap<Id, Item>,
    pub paths: HashMap<Id, Summary>,
}

/// Where an item is defined, for local and foreign items.
#[derive(Debug, Deserialize)]
pub struct Summary {
    #[serde(default)]
    pub crate_id: u32,
    pub path: Vec<String>,
    pub kind: String,
}

#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

pub fn parse(json: &str) -> Result<Crate, DiscoverError> {
    let Version { format_version: found } = serde_json::from_str(json).map_err(DiscoverError::NotJson)?;
    if !SUPPORTED.contains(&found) {
        return Err(DiscoverError::Format { found, supported: SUPPORTED });
    }
    serde_json::from_str(json).map_err(|error| DiscoverError::Shape { format: found, error })
}

impl Crate {
    /// An item of this crate; copies of foreign impls' items are in the index too and are not given.
    pub fn local(&self, id: Id) -> Option<&Item> {
        self.index.get(&id).filter(|item| item.crate_id == 0)
    }
}
