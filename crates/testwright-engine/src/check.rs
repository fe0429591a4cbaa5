//! Whether a regression suite that was written earlier still holds.

use std::path::Path;

use testwright_harness::{Confirm, Places, Subject, TestBench, TestSource};

use crate::EngineError;
use crate::confirm::{PASSED, TIMEOUT, first_line, run_test};

/// What became of a suite.
#[derive(Debug, Default)]
pub struct Checked {
    pub tests: usize,
    /// Tests that do not hold any more, each with the reason.
    pub broken: Vec<(String, String)>,
}

/// Compiles the suite as a user's package would, and runs it in the sandbox.
pub fn check(subject: &Subject, places: &Places, text: &str, scratch: &Path) -> Result<Checked, EngineError> {
    let foreign: Vec<String> =
        subject.dependencies.keys().filter(|name| text.contains(&format!("{name}::"))).cloned().collect();
    let bench = TestBench::open(subject, &foreign, "2021", places)?;
    let source = TestSource { name: "testwright_regression".to_owned(), text: text.to_owned() };
    let mut checked = Checked { tests: text.matches("#[test]").count(), ..Checked::default() };
    let built = bench.compile(std::slice::from_ref(&source), Confirm::debug())?;
    match built.into_iter().next() {
        Some(Ok(executable)) => {
            let run = run_test(&executable, TIMEOUT * 6, scratch)?;
            if run.exit != PASSED {
                checked.broken = failed(&run.stdout, &run.stderr);
                if checked.broken.is_empty() {
                    checked.broken.push(("the suite".to_owned(), format!("ends with {:?}", run.exit)));
                }
            }
        }
        Some(Err(errors)) => checked.broken = rejected(text, &errors),
        None => {}
    }
    Ok(checked)
}

/// The tests that a run says failed, with the first line of what each said.
fn failed(stdout: &str, stderr: &str) -> Vec<(String, String)> {
    let said = |name: &str| {
        let head = format!("thread '{name}'");
        let mut lines =
            stderr.lines().skip_while(|line| !(line.starts_with(&head) && line.contains("panicked at")));
        lines.nth(1).map_or_else(|| "does not panic any more".to_owned(), first_line)
    };
    let names = stdout.lines().filter_map(|line| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.split(" - should panic").next().unwrap_or(name))
    });
    names.map(|name| (name.to_owned(), said(name))).collect()
}

/// The tests that the compiler does not take, with its words.
fn rejected(text: &str, errors: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut words = "does not compile";
    for line in errors.lines() {
        if line.starts_with("error") {
            words = line;
        }
        let place =
            line.trim_start().strip_prefix("--> ").and_then(|place| place.rsplit(':').nth(1)?.parse().ok());
        let Some(number): Option<usize> = place else { continue };
        let name = test_at(&lines, number).unwrap_or_else(|| "the suite".to_owned());
        if words.starts_with("error") && !found.iter().any(|(known, _)| *known == name) {
            found.push((name, first_line(words)));
        }
    }
    if found.is_empty() {
        found.push(("the suite".to_owned(), first_line(words)));
    }
    found
}

/// The test that a line belongs to, with its module.
fn test_at(lines: &[&str], number: usize) -> Option<String> {
    let before = lines.get(..number)?;
    let named = |prefix: &str, end: &str| {
        before.iter().rev().find_map(|line| {
            let name = line.trim_start().strip_prefix(prefix)?.split(end).next()?;
            Some(name.trim_end_matches(" {").to_owned())
        })
    };
    let function = named("fn ", "(")?;
    Some(named("mod ", " {").map_or(function.clone(), |module| format!("{module}::{function}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_tests_are_told_with_their_words() {
        let stdout = "running 3 tests\n\
            test slab::a ... ok\n\
            test slab::b ... FAILED\n\
            test slab::c - should panic ... FAILED\n\
            \n\
            test result: FAILED. 1 passed; 2 failed\n";
        let stderr = "\nthread 'slab::b' (7) panicked at x.rs:1:2:\nassertion failed\nnote: run with\n";
        let told = failed(stdout, stderr);
        assert_eq!(told[0], ("slab::b".to_owned(), "assertion failed".to_owned()));
        assert_eq!(told[1], ("slab::c".to_owned(), "does not panic any more".to_owned()));
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn what_does_not_compile_is_told_by_test() {
        let text = "mod slab {\n    #[test]\n    fn a() {\n        gone();\n    }\n}\n";
        let errors = "error[E0425]: cannot find function `gone` in this scope\n --> tests/x.rs:4:9\n  |\n";
        let told = rejected(text, errors);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, "slab::a");
        assert!(told[0].1.contains("cannot find function `gone`"), "{told:?}");
    }
}
