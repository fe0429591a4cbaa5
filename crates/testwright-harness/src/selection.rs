//! What the user asks to test, before anything is known about it.

use std::path::PathBuf;

use cargo_metadata::Package;

use crate::error::HarnessError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// A package on this machine; without a path, the one around the current folder.
    Local { manifest_path: Option<PathBuf>, package: Option<String>, features: FeatureChoice },
    /// A published one, yanked versions included; without a version, the newest.
    Published { name: String, version: Option<String>, features: FeatureChoice },
}

impl Selection {
    pub fn features(&self) -> &FeatureChoice {
        match self {
            Selection::Local { features, .. } | Selection::Published { features, .. } => features,
        }
    }
}

/// The features to switch on, in cargo's terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureChoice {
    pub features: Vec<String>,
    pub all: bool,
    pub no_default: bool,
}

impl FeatureChoice {
    /// What was asked for by name; like cargo, `--features "a b,c"` is taken apart.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.features.iter().flat_map(|text| text.split([',', ' '])).filter(|text| !text.is_empty())
    }

    /// The features to write into a dependency on `package`: each of them one that it has.
    pub(crate) fn resolve(&self, package: &Package) -> Result<Vec<String>, HarnessError> {
        if self.all {
            return Ok(package.features.keys().cloned().collect());
        }
        let mut chosen = Vec::new();
        for feature in self.names() {
            let feature = own_name(package, feature);
            if !package.features.contains_key(feature) {
                let known: Vec<&str> = package.features.keys().map(String::as_str).collect();
                let advice = if feature.contains('/') {
                    "features of dependencies can only be switched on in the package's own Cargo.toml"
                        .to_owned()
                } else if known.is_empty() {
                    "it has no features".to_owned()
                } else {
                    format!("it has: {}", known.join(", "))
                };
                return Err(HarnessError::usage(
                    format!("package `{}` has no feature `{feature}`", package.name),
                    advice,
                ));
            }
            chosen.push(feature.to_owned());
        }
        chosen.sort();
        chosen.dedup();
        Ok(chosen)
    }
}

/// What the package itself calls a feature that may be given as `PACKAGE/FEATURE`.
pub(crate) fn own_name<'a>(package: &Package, feature: &'a str) -> &'a str {
    feature.strip_prefix(package.name.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(feature)
}
