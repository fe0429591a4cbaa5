//! `testwright.toml` beside the package's manifest, committed with it: what the author accepts, and wishes of the search.
//!
//! ```toml
//! [accept]
//! dea65e6c = "callers check the capacity first"
//!
//! [generate]
//! setup = ["my_crate::init"]
//! least = 0
//! most = 100_000
//!
//! [factories]
//! Connection = ["Connection::in_memory"]
//!
//! [novelty]
//! Clock = "off"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use testwright_engine::wishes::Wishes;

/// The whole file; what it may hold besides is for others to read.
#[derive(Debug, Default, Deserialize)]
pub struct Configuration {
    /// Reasons by finding.
    #[serde(default)]
    pub accept: BTreeMap<String, String>,
    #[serde(default)]
    generate: Generate,
    #[serde(default)]
    factories: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    novelty: BTreeMap<String, Novelty>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generate {
    #[serde(default)]
    setup: Vec<String>,
    least: Option<i64>,
    most: Option<i64>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Novelty {
    /// By the value's text or hash, as everywhere.
    Value,
    /// Each value counts as new.
    Off,
}

impl Configuration {
    pub fn wishes(&self) -> Wishes {
        Wishes {
            setup: self.generate.setup.clone(),
            least: self.generate.least.map(i128::from),
            most: self.generate.most.map(i128::from),
            factories: self.factories.clone(),
            without_novelty: self
                .novelty
                .iter()
                .filter(|(_, novelty)| **novelty == Novelty::Off)
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

/// An empty one if there is no file.
pub fn read(root: &Path) -> anyhow::Result<Configuration> {
    let path = root.join("testwright.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).with_context(|| format!("cannot read {}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Configuration::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn parse(text: &str) -> anyhow::Result<Configuration> {
    let file: Configuration = toml::from_str(text)?;
    for (id, reason) in &file.accept {
        anyhow::ensure!(!reason.trim().is_empty(), "finding {id} is accepted without a reason; write one");
    }
    if let (Some(least), Some(most)) = (file.generate.least, file.generate.most) {
        anyhow::ensure!(least <= most, "no number is at least {least} and at most {most}");
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_needs_its_reason() {
        let accepted = parse("[accept]\ndea65e6c = \"callers check\"\n").unwrap().accept;
        assert_eq!(accepted.get("dea65e6c").map(String::as_str), Some("callers check"));
        assert!(parse("[accept]\ndea65e6c = \" \"\n").is_err());
        assert!(parse("accept = 3").is_err());
        assert!(parse("").unwrap().accept.is_empty());
    }

    #[test]
    fn wishes_are_read_and_nonsense_is_refused() {
        let text = "[generate]\nsetup = [\"a::init\"]\nmost = 9\n[factories]\nC = [\"C::new\"]\n[novelty]\nC = \"off\"\nD = \"value\"\n";
        let wishes = parse(text).unwrap().wishes();
        assert_eq!((wishes.least, wishes.most), (None, Some(9)));
        assert_eq!(wishes.setup, ["a::init"]);
        assert_eq!(wishes.factories["C"], ["C::new"]);
        assert_eq!(wishes.without_novelty, ["C"]);
        assert!(parse("[generate]\nleast = 3\nmost = 2\n").is_err());
        assert!(parse("[generate]\nsmallest = 3\n").is_err());
        assert!(parse("[novelty]\nC = \"sometimes\"\n").is_err());
    }
}
