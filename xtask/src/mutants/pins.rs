//! What the tests of an emitted suite assert, read from its text.

use std::collections::{BTreeSet, HashMap};

/// For each test, with its module, its assertions, the same for values of all names that differ by a number.
pub fn of_tests(suite: &str) -> HashMap<String, BTreeSet<String>> {
    let mut found: HashMap<String, BTreeSet<String>> = HashMap::new();
    let (mut module, mut test, mut statement, mut panics) =
        (String::new(), None, String::new(), String::new());
    for line in suite.lines() {
        if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            name.clone_into(&mut module);
        } else if let Some(attribute) = line.strip_prefix("    #[should_panic") {
            attribute.clone_into(&mut panics);
        } else if let Some(name) = line.strip_prefix("    fn ").and_then(|rest| rest.strip_suffix("() {")) {
            test = Some(format!("{module}::{name}"));
        } else if line == "    }" {
            if let (Some(name), false) = (test.take(), panics.is_empty()) {
                // The last call is the one that panics.
                found.entry(name).or_default().insert(format!("{panics} {statement}"));
            }
            statement.clear();
            panics.clear();
        } else if let Some(name) = &test {
            if statement.ends_with(';') {
                statement.clear();
            }
            statement.push_str(line.trim());
            let complete = statement.ends_with(';');
            if complete && (statement.starts_with("assert") || statement.ends_with(".unwrap();")) {
                found.entry(name.clone()).or_default().insert(unnumbered(&statement));
            }
        }
    }
    found
}

/// Names without the numbers at their ends.
fn unnumbered(statement: &str) -> String {
    let mut out = String::new();
    let mut after_letter = false;
    for c in statement.chars() {
        if !(after_letter && c.is_ascii_digit()) {
            after_letter = c.is_alphabetic() || c == '_';
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "\
mod slab {
    #[test]
    fn one() {
        let slab2 = Slab::new();
        assert_eq!(
            slab2.len(),
            0
        );
        slab2.try_clear().unwrap();
    }

    #[test]
    #[should_panic(expected = \"no\")]
    fn two() {
        let slab = Slab::new();
        let _ = slab.remove(0);
    }
}
";

    #[test]
    fn assertions_are_read_by_test() {
        let found = of_tests(SUITE);
        let of = |name: &str| found[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("slab::one"), ["assert_eq!(slab.len(),0);", "slab.try_clear().unwrap();"]);
        assert_eq!(of("slab::two"), ["(expected = \"no\")] let _ = slab.remove(0);"]);
    }
}
