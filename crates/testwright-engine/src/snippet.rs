//! The crate's own lines around a finding's place, as they are when the report is written.

use std::path::Path;

use testwright_emit::report::{Finding, SourceLine};

/// Lines on each side of the one that is meant.
const AROUND: u32 = 2;
/// Longer lines are cut; a generated file may be one line.
const LONGEST: usize = 200;

/// Fills in the snippets of findings whose place is in the package `name`, which is in `root`. A file that cannot be read leaves none.
pub fn fill(findings: &mut [Finding], name: &str, root: &Path) {
    for finding in findings {
        let Some(place) = &finding.location else { continue };
        let Some(inside) = place.file.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        let Ok(text) = std::fs::read_to_string(root.join(inside)) else { continue };
        finding.snippet = around(&text, place.line);
    }
}

fn around(text: &str, line: u32) -> Vec<SourceLine> {
    let first = line.saturating_sub(AROUND).max(1);
    let numbered = (1_u32..).zip(text.lines());
    let near = numbered.filter(|(number, _)| (first..=line.saturating_add(AROUND)).contains(number));
    let lines: Vec<SourceLine> =
        near.map(|(line, text)| SourceLine { line, text: text.chars().take(LONGEST).collect() }).collect();
    // A file that is shorter now than it was says nothing of the place.
    if lines.iter().any(|one| one.line == line) { lines } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_emit::report::Location;

    #[test]
    fn five_lines_or_as_many_as_there_are() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
        let numbers = |line| around(text, line).iter().map(|line| line.line).collect::<Vec<_>>();
        assert_eq!(numbers(3), [1, 2, 3, 4, 5]);
        assert_eq!(numbers(1), [1, 2, 3]);
        assert_eq!(numbers(6), [4, 5, 6]);
        assert!(numbers(7).is_empty() && numbers(0).is_empty());
        assert_eq!(around(text, 2)[1].text, "two");
    }

    #[test]
    fn places_outside_of_the_package_have_none() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let finding = |file: &str| Finding {
            location: Some(Location { file: file.to_owned(), line: 1 }),
            ..Finding::default()
        };
        let mut findings = [
            finding("engine/src/snippet.rs"),
            finding("std/alloc/src/vec.rs"),
            finding("engine/src/none.rs"),
        ];
        fill(&mut findings, "engine", root);
        assert_eq!(findings.each_ref().map(|finding| finding.snippet.len()), [3, 0, 0]);
    }
}
