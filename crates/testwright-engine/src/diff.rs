//! What one version of a library does and another does not: the tests of the one, run with the other.
//!
//! Receives regression tests that passed with the first version under every build; hands back those that do not compile with the second,
//! and those that fail with it, each seen to fail by itself twice. And findings' tests, which failed with the first; hands back those that
//! pass with the second.

use std::path::Path;

use testwright_execute::launcher::TestRun;
use testwright_harness::{Confirm, Places, Subject, TestBench, TestSource};

use crate::EngineError;
use crate::confirm::{PASSED, TIMEOUT, first_line, run_test};
use crate::suite::{Single, failures, inner, unfinished};

/// The outcome for one direction.
#[derive(Debug, Default)]
pub struct Differences {
    pub changed: Vec<Changed>,
    pub gone: Vec<Gone>,
    /// Tests that pass with both.
    pub same: usize,
}

/// A behaviour that the other version does not have.
#[derive(Debug)]
pub struct Changed {
    pub name: String,
    pub source: String,
    /// What the other version does.
    pub seen: String,
}

/// A test that the other version's API does not allow.
#[derive(Debug)]
pub struct Gone {
    pub name: String,
    /// The compiler's words.
    pub words: String,
}

/// Tests that end the whole process are taken out one by one, so many at most.
const DEADLY: usize = 20;

/// Runs the tests with another version.
pub fn differences(
    other: &Subject,
    foreign: &[String],
    places: &Places,
    tests: &[Single],
    scratch: &Path,
) -> Result<Differences, EngineError> {
    let mut found = Differences::default();
    if tests.is_empty() {
        return Ok(found);
    }
    let bench = TestBench::open(other, foreign, "2021", places)?;
    let items: Vec<String> = tests.iter().map(|test| inner(&test.text)).collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, verdict) in bench.check_bulk(&items)?.into_iter().enumerate() {
        match verdict {
            Ok(()) => open.push(index),
            Err(words) => found.gone.push(Gone { name: tests[index].name.clone(), words }),
        }
    }
    let suspects = suspects(&bench, &items, open.clone(), scratch)?;
    let sources: Vec<TestSource> = suspects
        .iter()
        .map(|index| TestSource {
            name: tests[*index].name.replace("::", "_"),
            text: tests[*index].text.clone(),
        })
        .collect();
    for (index, built) in suspects.iter().zip(bench.compile(&sources, Confirm::debug())?) {
        let Ok(executable) = built else { continue };
        let runs = [run_test(&executable, TIMEOUT, scratch)?, run_test(&executable, TIMEOUT, scratch)?];
        if runs.iter().all(|run| run.exit != PASSED) {
            let Single { name, text } = tests[*index].clone();
            found.changed.push(Changed { name, source: text, seen: told(&runs[0]) });
        }
    }
    found.same = open.len() - found.changed.len();
    Ok(found)
}

/// Of tests that fail with one version, each with what that does, those that pass with another, twice.
pub fn mended(
    other: &Subject,
    foreign: &[String],
    places: &Places,
    tests: &[(Single, String)],
    scratch: &Path,
) -> Result<Vec<Changed>, EngineError> {
    let mut found = Vec::new();
    if tests.is_empty() {
        return Ok(found);
    }
    let bench = TestBench::open(other, foreign, "2021", places)?;
    let source =
        |(test, _): &(Single, String)| TestSource { name: test.name.clone(), text: test.text.clone() };
    let sources: Vec<TestSource> = tests.iter().map(source).collect();
    for ((test, message), built) in tests.iter().zip(bench.compile(&sources, Confirm::debug())?) {
        let Ok(executable) = built else { continue };
        let runs = [run_test(&executable, TIMEOUT, scratch)?, run_test(&executable, TIMEOUT, scratch)?];
        if runs.iter().all(|run| run.exit == PASSED) {
            let Single { name, text } = test.clone();
            found.push(Changed { name, source: text, seen: first_line(message) });
        }
    }
    Ok(found)
}

/// The tests that do not pass when all of them run in one process.
fn suspects(
    bench: &TestBench,
    items: &[String],
    mut open: Vec<usize>,
    scratch: &Path,
) -> Result<Vec<usize>, EngineError> {
    let mut found = Vec::new();
    for _ in 0..DEADLY {
        if open.is_empty() {
            break;
        }
        let mut text = "#![allow(warnings)]\n".to_owned();
        let mut names = Vec::new();
        for index in &open {
            text.push_str(&format!("mod test_{index} {{\n{}\n}}\n", items[*index].trim_end()));
            names.push(format!("test_{index}::{}", function_name(&items[*index])));
        }
        let source = TestSource { name: "testwright_diff".to_owned(), text };
        let built = bench.compile(std::slice::from_ref(&source), Confirm::debug())?;
        // Lints that stop a build show only now.
        let Some(Ok(executable)) = built.into_iter().next() else { return Ok(open) };
        let run = run_test(&executable, TIMEOUT * 6, scratch)?;
        if run.exit == PASSED {
            break;
        }
        let ended = run.stdout.contains("test result:");
        let failed = if ended { failures(&run.stdout, &names) } else { unfinished(&run.stdout, &names) };
        if failed.is_empty() {
            break;
        }
        found.extend(failed.iter().map(|place| open[*place]));
        if ended {
            break;
        }
        open = open.into_iter().enumerate().filter(|(at, _)| !failed.contains(at)).map(|(_, i)| i).collect();
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The name of the test function in a file with one test, its modules before it.
fn function_name(item: &str) -> String {
    let mut modules = Vec::new();
    for line in item.lines().map(str::trim_start) {
        if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            modules.push(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("fn ") {
            if let Some((name, "")) = rest.split_once("() {") {
                modules.push(name.to_owned());
                break;
            }
        }
    }
    modules.join("::")
}

/// What a run says of its end, in one line.
fn told(run: &TestRun) -> String {
    let output = format!("{}\n{}", run.stdout, run.stderr);
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at ")).skip(1);
    let Some(message) = lines.next() else {
        return match run.exit {
            testwright_execute::launcher::ExitKind::TimedOut => "does not end".to_owned(),
            exit => format!("ends with {exit:?}"),
        };
    };
    let sides: Vec<&str> = lines
        .take(2)
        .map(str::trim)
        .filter(|line| line.starts_with("left:") || line.starts_with("right:"))
        .collect();
    let message = first_line(message);
    if sides.is_empty() { message } else { first_line(&format!("{message}; {}", sides.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn the_test_is_found_below_its_modules() {
        let item = "use a::B;\nmod slab {\n    #[test]\n    fn insert_then_remove() {\n        let x = 1;\n    }\n}\n";
        assert_eq!(function_name(item), "slab::insert_then_remove");
        assert_eq!(function_name("#[test]\nfn plain() {\n}\n"), "plain");
    }
}
