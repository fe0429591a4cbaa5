//! The one setting of the user's cargo that we replace and must therefore honour: the compiler wrapper.

use std::path::{Path, PathBuf};

/// The wrapper that cargo would use in `folder`: from the environment, else from the configuration files.
pub(crate) fn rustc_wrapper(folder: &Path) -> Option<PathBuf> {
    for name in ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"] {
        if let Some(value) = std::env::var_os(name) {
            // Empty means: none, whatever the files say.
            return (!value.is_empty()).then(|| value.into());
        }
    }
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    for folder in folders {
        for name in ["config", "config.toml"] {
            if let Some(wrapper) = read(&folder.join(name)) {
                return (!wrapper.is_empty()).then(|| resolve(&wrapper, &folder));
            }
        }
    }
    None
}

fn read(file: &Path) -> Option<String> {
    let table: toml::Table = std::fs::read_to_string(file).ok()?.parse().ok()?;
    Some(table.get("build")?.get("rustc-wrapper")?.as_str()?.to_owned())
}

/// A path with a slash is relative to the folder that holds `.cargo`; a bare name is looked for on the PATH.
fn resolve(wrapper: &str, folder: &Path) -> PathBuf {
    let path = PathBuf::from(wrapper);
    if path.is_absolute() || !wrapper.contains('/') {
        return path;
    }
    folder.parent().unwrap_or(folder).join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_names_and_relative_paths() {
        assert_eq!(resolve("sccache", Path::new("/p/.cargo")), PathBuf::from("sccache"));
        assert_eq!(resolve("tools/w", Path::new("/p/.cargo")), PathBuf::from("/p/tools/w"));
    }
}
