//! Small changes to a package's source, as `cargo mutants` lists them: their order, and the source with one of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Mutant {
    /// File, place and what is replaced with what.
    pub name: String,
    /// Relative to the package's folder.
    pub file: String,
    pub span: Span,
    /// Constants lie outside of functions.
    #[serde(default)]
    pub function: Option<Function>,
    pub replacement: String,
    #[serde(default)]
    pub diff: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Function {
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Span {
    pub start: Position,
    /// Just past the last character.
    pub end: Position,
}

/// Both from 1 on; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Mutant {
    /// Whether its function, or its file where there is none, holds one of the lines with code. What constants are made of is
    /// none of these lines.
    pub fn is_compiled(&self, lines: &BTreeSet<(String, u32)>) -> bool {
        let (first, last) = self
            .function
            .map_or((0, u32::MAX), |function| (function.span.start.line, function.span.end.line));
        lines.range((self.file.clone(), first)..=(self.file.clone(), last)).next().is_some()
    }

    /// The file's text with this change.
    pub fn applied(&self, source: &str) -> Option<String> {
        let (start, end) = (offset(source, self.span.start)?, offset(source, self.span.end)?);
        Some([source.get(..start)?, &self.replacement, source.get(end..)?].concat())
    }
}

fn offset(source: &str, position: Position) -> Option<usize> {
    let (line, column) = (position.line.checked_sub(1)?, position.column.checked_sub(1)?);
    let before: usize = source.split_inclusive('\n').take(line as usize).map(str::len).sum();
    let rest = source.get(before..)?;
    let mut places = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    Some(before + places.nth(column as usize)?)
}

/// All mutants of the package.
pub fn list(package: &Path) -> anyhow::Result<Vec<Mutant>> {
    let output = Command::new("cargo")
        .args(["mutants", "--list", "--json", "--diff", "--no-config", "--dir"])
        .arg(package)
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("no such command") {
            bail!("cargo-mutants is not installed: `cargo install --locked cargo-mutants`");
        }
        bail!("cargo mutants --list ended with {}:\n{errors}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the list of cargo mutants cannot be read")
}

/// The order in which mutants are tried, the same on every machine.
pub fn shuffled(mut mutants: Vec<Mutant>, seed: u64) -> Vec<Mutant> {
    mutants.sort_by(|one, other| one.name.cmp(&other.name));
    mutants.dedup_by(|one, other| one.name == other.name);
    mutants.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    mutants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str, start: (u32, u32), end: (u32, u32), replacement: &str) -> Mutant {
        let position = |(line, column)| Position { line, column };
        Mutant {
            name: name.to_owned(),
            file: "src/lib.rs".to_owned(),
            span: Span { start: position(start), end: position(end) },
            function: None,
            replacement: replacement.to_owned(),
            diff: String::new(),
        }
    }

    #[test]
    fn a_part_of_a_line_is_replaced() {
        let source = "fn f() {\n    \"é\"; a == b\n}\n";
        assert_eq!(
            mutant("", (2, 12), (2, 14), "!=").applied(source).as_deref(),
            Some("fn f() {\n    \"é\"; a != b\n}\n")
        );
    }

    #[test]
    fn a_body_of_several_lines_is_replaced() {
        let source = "fn f() {\n    one();\n    two()\n}";
        assert_eq!(mutant("", (2, 5), (3, 10), "()").applied(source).as_deref(), Some("fn f() {\n    ()\n}"));
        assert_eq!(mutant("", (4, 2), (4, 2), "!").applied(source).as_deref(), Some(&*format!("{source}!")));
    }

    #[test]
    fn places_that_the_file_does_not_have_are_refused() {
        assert_eq!(mutant("", (9, 1), (9, 2), "").applied("fn f() {}\n"), None);
        assert_eq!(mutant("", (1, 40), (1, 41), "").applied("fn f() {}\n"), None);
        assert_eq!(mutant("", (0, 1), (1, 1), "").applied("fn f() {}\n"), None);
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let names = |mutants: &[Mutant]| mutants.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let some: Vec<Mutant> =
            "abcdefgh".chars().map(|c| mutant(&c.to_string(), (1, 1), (1, 1), "")).collect();
        let mut turned = some.clone();
        turned.reverse();
        let order = names(&shuffled(some.clone(), 0));
        assert_eq!(order, names(&shuffled(turned, 0)));
        assert_eq!(order.concat(), "dafegbch");
        assert_ne!(order, names(&shuffled(some, 1)));
    }

    #[test]
    fn functions_that_no_feature_compiles_are_known_by_their_lines() {
        let function = |first, last| {
            let span = mutant("", (first, 1), (last, 2), "").span;
            Mutant { function: Some(Function { span }), ..mutant("", (first, 1), (first, 1), "") }
        };
        let lines = BTreeSet::from([("src/lib.rs".to_owned(), 10)]);
        assert!(function(8, 10).is_compiled(&lines) && !function(11, 12).is_compiled(&lines));
        assert!(mutant("", (1, 1), (1, 2), "").is_compiled(&lines), "a constant of a compiled file");
        let other = Mutant { file: "src/serde.rs".to_owned(), ..function(8, 10) };
        assert!(!other.is_compiled(&lines));
    }

    #[test]
    fn the_list_of_cargo_mutants_is_read() {
        let text = r#"[{"diff": "-a\n+b\n", "file": "src/lib.rs", "function": {"function_name": "f", "span": {"start": {"line": 1, "column": 1}, "end": {"line": 4, "column": 1}}}, "genre": "BinaryOperator",
            "name": "src/lib.rs:3:7: replace + with - in f", "package": "p", "replacement": "-",
            "span": {"start": {"line": 3, "column": 7}, "end": {"line": 3, "column": 8}}}]"#;
        let read: Vec<Mutant> = serde_json::from_str(text).unwrap();
        assert_eq!(read[0].applied("\n\n a -  + b").as_deref(), Some("\n\n a -  - b"));
    }
}
