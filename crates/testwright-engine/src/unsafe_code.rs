//! Whether a package has unsafe code of its own: only then is it worth searching under a sanitizer.

use std::path::Path;

/// Reads the sources below `src`; macros that expand to unsafe code elsewhere are not seen.
pub fn has_unsafe_code(root: &Path) -> bool {
    let mut open = vec![root.join("src")];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && std::fs::read_to_string(&path).is_ok_and(|text| text.lines().any(is_unsafe))
            {
                return true;
            }
        }
    }
    false
}

fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    ["unsafe {", "unsafe{", "unsafe fn", "unsafe impl", "unsafe extern"]
        .iter()
        .any(|sign| code.contains(sign))
        || code.trim_end().ends_with("unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_attributes_are_not_unsafe_code() {
        assert!(is_unsafe("    let x = unsafe { *p };"));
        assert!(is_unsafe("unsafe impl Send for X {}"));
        assert!(!is_unsafe("// unsafe { }"));
        assert!(!is_unsafe("#![forbid(unsafe_code)]"));
    }
}
