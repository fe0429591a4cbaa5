//! Lists of crates, and the way from a name to a workbench.

use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;
use testwright_engine::Workbench;
use testwright_harness::{FeatureChoice, Places, Selection};

use crate::Choice;

#[derive(Debug, Clone, Deserialize)]
pub struct Listed {
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub features: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct List {
    #[serde(rename = "crate")]
    crates: Vec<Listed>,
}

/// The chosen crates; `--only name@version` needs no list.
pub fn chosen(choice: &Choice) -> anyhow::Result<Vec<Listed>> {
    let direct: Vec<Listed> = choice.only.iter().filter_map(|text| with_version(text).ok()).collect();
    if !direct.is_empty() {
        return Ok(direct);
    }
    let text = std::fs::read_to_string(&choice.list)
        .with_context(|| format!("cannot read {}", choice.list.display()))?;
    let mut list: List = toml::from_str(&text).with_context(|| format!("{}", choice.list.display()))?;
    if !choice.only.is_empty() {
        list.crates.retain(|listed| choice.only.contains(&listed.name));
    }
    Ok(list.crates)
}

/// `name@version`.
pub fn with_version(text: &str) -> Result<Listed, String> {
    let (name, version) = text.split_once('@').ok_or("write it as NAME@VERSION")?;
    Ok(Listed { name: name.to_owned(), version: version.to_owned(), features: Vec::new() })
}

pub fn selection(listed: &Listed) -> Selection {
    let features = FeatureChoice { features: listed.features.clone(), ..FeatureChoice::default() };
    Selection::Published { name: listed.name.clone(), version: Some(listed.version.clone()), features }
}

pub fn places(listed: &Listed) -> anyhow::Result<Places> {
    let folder = PathBuf::from("target/xtask").join(format!("{}-{}", listed.name, listed.version));
    Ok(Places::at(folder)?)
}

pub fn workbench(listed: &Listed) -> anyhow::Result<Workbench> {
    Ok(testwright_engine::prepare(&selection(listed), places(listed)?, 3000, &|_| {})?)
}
