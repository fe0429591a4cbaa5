//! The regression suite: tests that pass today and pin what the library does, as one file.
//!
//! Receives sequences with the facts to assert; hands back the file's text, the name of each test and how much it asserts.

use std::collections::{BTreeMap, HashSet};

use testwright_model::operation::Operations;
use testwright_model::sequence::Sequence;

use crate::body::{Printed, pinned};
use crate::paths::Imports;
use crate::pin::{Pin, quoted};
use crate::title::title;
use crate::tracked;

/// One passing test of the suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegressionTest {
    pub sequence: Sequence,
    pub pins: Vec<Pin>,
    /// The call that the test is named by; the last one if none is said. What follows it observes.
    pub about: Option<usize>,
    /// The documented panic that the last call raises: a part of its message.
    pub panics: Option<String>,
}

/// A printed suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteText {
    pub text: String,
    /// For each test, its name with its module, as `cargo test` shows it: `slab::insert_then_remove`.
    pub names: Vec<String>,
    /// For each test, how many assertions it has; an expected panic is one.
    pub assertions: Vec<usize>,
}

/// Calls are made because they are under test; which of them clippy would rather see replaced is not known here.
pub const ALLOWED: &str = "\
// Every call is here because it is under test, also where a shorter way exists.
#![allow(deprecated, clippy::complexity, clippy::perf, clippy::style)]
";

/// The complete file, with a module for each type.
pub fn regression_file(
    header: &str,
    operations: &Operations,
    tests: &[RegressionTest],
    imports: &Imports,
) -> SuiteText {
    let mut taken = HashSet::new();
    let mut suite = SuiteText::default();
    let mut modules: BTreeMap<String, Vec<Entry<'_>>> = BTreeMap::new();
    for test in tests {
        let title = title(operations, test);
        let name = title.choose(&mut taken);
        let printed = pinned(operations, &test.sequence, &test.pins, test.panics.is_some());
        suite.assertions.push(printed.assertions + usize::from(test.panics.is_some()));
        suite.names.push(format!("{}::{name}", title.module));
        modules.entry(title.module).or_default().push(Entry {
            name,
            printed,
            panics: test.panics.as_deref(),
        });
    }
    suite.text = header_text(header);
    suite.text.push_str(ALLOWED);
    let modules: Vec<String> =
        modules.iter().map(|(name, entries)| module_text(name, entries, imports)).collect();
    let modules = modules.join("\n");
    if modules.contains("use super::Tracked;") {
        suite.text.push_str(&format!("\n{}", tracked(modules.contains("Tracked::new("))));
    }
    suite.text.push_str(&format!("\n{modules}"));
    suite
}

/// A single test as a complete file that compiles alone; the body is the one that it has in a suite.
pub fn regression_single(
    header: &str,
    operations: &Operations,
    test: &RegressionTest,
    imports: &Imports,
) -> String {
    regression_file(header, operations, std::slice::from_ref(test), imports).text
}

struct Entry<'a> {
    name: String,
    printed: Printed,
    panics: Option<&'a str>,
}

/// The lines as inner documentation.
pub(crate) fn header_text(header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        text.push_str(&format!("//! {line}\n").replace("//! \n", "//!\n"));
    }
    text.push('\n');
    text
}

fn module_text(name: &str, entries: &[Entry<'_>], imports: &Imports) -> String {
    // Shortened together, so that a name means the same in all tests of the module.
    let bodies: Vec<&str> = entries.iter().map(|entry| entry.printed.body.as_str()).collect();
    let separator = "\u{0}\n";
    let (mut uses, text) = imports.shorten(&bodies.join(separator), &shared_traits(entries));
    if entries.iter().any(|entry| entry.printed.uses_tracked) {
        uses.insert(0, "super::Tracked".to_owned());
    }
    let mut out = format!("mod {name} {{\n");
    for path in &uses {
        out.push_str(&format!("    use {path};\n"));
    }
    for (index, (entry, body)) in entries.iter().zip(text.split(separator)).enumerate() {
        if index > 0 || !uses.is_empty() {
            out.push('\n');
        }
        let own: Vec<&String> =
            entry.printed.traits.iter().filter(|path| !is_imported(path, &uses)).collect();
        out.push_str(&test_text(entry, body, &own));
    }
    out.push_str("}\n");
    out
}

/// Traits that all tests need stand at the module's head. The others stay with their tests: a trait in scope can
/// change which method a call means.
fn shared_traits(entries: &[Entry<'_>]) -> Vec<String> {
    let Some((first, rest)) = entries.split_first() else { return Vec::new() };
    let is_shared = |path: &&String| rest.iter().all(|entry| entry.printed.traits.contains(path));
    first.printed.traits.iter().filter(is_shared).cloned().collect()
}

fn is_imported(path: &str, uses: &[String]) -> bool {
    uses.iter().any(|known| known.strip_suffix(" as _").unwrap_or(known) == path)
}

fn test_text(entry: &Entry<'_>, body: &str, traits: &[&String]) -> String {
    let mut out = String::from("    #[test]\n");
    if let Some(message) = entry.panics {
        out.push_str(&format!("    #[should_panic(expected = {})]\n", quoted(message)));
    }
    out.push_str(&format!("    fn {}() {{\n", entry.name));
    for path in traits {
        out.push_str(&format!("        use {path} as _;\n"));
    }
    if !traits.is_empty() {
        out.push('\n');
    }
    for line in body.lines() {
        out.push_str(&format!("        {line}\n"));
    }
    out.push_str("    }\n");
    out
}
