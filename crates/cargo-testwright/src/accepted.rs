//! Findings that the author has accepted: `testwright.toml` beside the package's manifest, committed with it.
//!
//! ```toml
//! [accept]
//! dea65e6c = "callers check the capacity first"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

/// The whole file; what it may hold besides is for others to read.
#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    accept: BTreeMap<String, String>,
}

/// Reasons by finding; none if there is no file.
pub fn read(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = root.join("testwright.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).with_context(|| format!("cannot read {}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn parse(text: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let file: File = toml::from_str(text)?;
    for (id, reason) in &file.accept {
        anyhow::ensure!(!reason.trim().is_empty(), "finding {id} is accepted without a reason; write one");
    }
    Ok(file.accept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_needs_its_reason() {
        let accepted = parse("[accept]\ndea65e6c = \"callers check\"\n").unwrap();
        assert_eq!(accepted.get("dea65e6c").map(String::as_str), Some("callers check"));
        assert!(parse("[accept]\ndea65e6c = \" \"\n").is_err());
        assert!(parse("accept = 3").is_err());
        assert!(parse("").unwrap().is_empty());
    }
}
