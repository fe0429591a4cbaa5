//! The user's `[patch]` and `[replace]` tables, which hold for a whole workspace and so must be repeated in ours.

use std::path::Path;

use toml::{Table, Value};

use crate::error::HarnessError;
use crate::files;

/// The tables as text, relative paths made absolute; empty if the workspace has none.
pub(crate) fn of_workspace(root: &Path) -> Result<String, HarnessError> {
    let text = files::read(&root.join("Cargo.toml"))?;
    // Cargo has read the file before us, so a parse error here means a syntax that holds no patches for us.
    let Ok(manifest) = text.parse::<Table>() else { return Ok(String::new()) };
    let mut kept = Table::new();
    for name in ["patch", "replace"] {
        if let Some(table) = manifest.get(name) {
            let mut table = table.clone();
            make_absolute(&mut table, root);
            kept.insert(name.to_owned(), table);
        }
    }
    Ok(if kept.is_empty() { String::new() } else { kept.to_string() })
}

fn make_absolute(value: &mut Value, root: &Path) {
    let Value::Table(table) = value else { return };
    for (key, inner) in table.iter_mut() {
        match inner {
            Value::String(path) if key == "path" => *path = root.join(&*path).to_string_lossy().into_owned(),
            _ => make_absolute(inner, root),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute() {
        let dir = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(
            dir.path().join("Cargo.toml"),
            "[workspace]\n[patch.some-registry]\nfoo = { path = 'vendored/foo' }\n",
        )
        .expect("writable");
        let text = of_workspace(dir.path()).expect("readable");
        assert!(
            text.contains(&format!("path = \"{}\"", dir.path().join("vendored/foo").display())),
            "{text}"
        );
    }
}
