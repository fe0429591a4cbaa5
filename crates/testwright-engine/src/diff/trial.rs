//! Many small tests with one version of a library, in one process: which compile, which pass, and what the others say.

use std::collections::BTreeSet;
use std::path::PathBuf;

use testwright_execute::launcher::{ExitKind, TestRun, run_confirmed};
use testwright_harness::{Confirm, TestBench, TestSource};

use crate::EngineError;
use crate::confirm::{PASSED, TIMEOUT, first_line};
use crate::suite::{failures, inner, unfinished};

/// Tests that end the whole process are taken out one by one, so many at most.
const DEADLY: usize = 20;
/// Tests in one process: more output than a process may leave would say nothing of the last ones.
const PART: usize = 100;
/// The file that tests are put into; panics in it are those of assertions.
const FILE: &str = "testwright_diff";

/// A version of the library, ready to be given tests.
#[derive(Debug)]
pub struct Trial {
    pub bench: TestBench,
    pub scratch: PathBuf,
    /// The library's name in the tests, and here.
    pub rename: (String, String),
}

/// How a test went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(Told),
    /// The compiler's words.
    DoesNotCompile(String),
    /// Too many others ended the process.
    NotRun,
}

/// What a failing test says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub how: How,
    /// One line.
    pub message: String,
    /// The two sides of `assert_eq!`.
    pub sides: Option<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// An assertion of the test itself.
    Assertion,
    /// A panic of the library.
    Panic,
    /// No panic where one was expected.
    NoPanic,
    /// A panic with other words than those expected.
    OtherPanic,
    /// The process came to an end.
    Death,
    /// It did not end.
    Hang,
}

impl Outcome {
    pub fn failure(&self) -> Option<&Told> {
        if let Outcome::Failed(told) = self { Some(told) } else { None }
    }
}

impl Trial {
    /// Runs complete test files, each with one test.
    pub fn run(&self, texts: &[String]) -> Result<Vec<Outcome>, EngineError> {
        let mut all = Vec::with_capacity(texts.len());
        for part in texts.chunks(PART) {
            all.extend(self.run_part(part)?);
        }
        Ok(all)
    }

    fn run_part(&self, texts: &[String]) -> Result<Vec<Outcome>, EngineError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let [own, here] = [&self.rename.0, &self.rename.1].map(|library| format!("{library}::"));
        let items: Vec<String> = texts.iter().map(|text| inner(&text.replace(&own, &here))).collect();
        let mut outcomes = vec![Outcome::NotRun; texts.len()];
        let mut open = Vec::new();
        for (index, verdict) in self.bench.check_bulk(&items)?.into_iter().enumerate() {
            match verdict {
                Ok(()) => open.push(index),
                Err(words) => outcomes[index] = Outcome::DoesNotCompile(words),
            }
        }
        for _ in 0..DEADLY {
            if open.is_empty() {
                break;
            }
            let (text, names) = joined(&items, &open);
            let source = TestSource { name: FILE.to_owned(), text };
            let built = self.bench.compile(std::slice::from_ref(&source), Confirm::debug())?;
            // Lints that stop a build show only now.
            let Some(Ok(executable)) = built.into_iter().next() else { break };
            // Output is kept apart, test by test.
            let arguments = ["--include-ignored", "--test-threads=1"];
            let run = run_confirmed(&executable, &arguments, TIMEOUT * 6, &self.scratch)?;
            if run.exit == PASSED || run.stdout.contains("test result:") {
                let failed = failures(&run.stdout, &names);
                for (place, index) in open.iter().enumerate() {
                    let section = section(&run.stdout, &names[place]);
                    outcomes[*index] = match failed.contains(&place) {
                        true if section.is_empty() => Outcome::NotRun,
                        true => Outcome::Failed(told(section)),
                        false => Outcome::Passed,
                    };
                }
                break;
            }
            let last: BTreeSet<usize> = unfinished(&run.stdout, &names);
            let Some(place) = last.first() else { break };
            outcomes[open.remove(*place)] = Outcome::Failed(death(&run));
        }
        Ok(outcomes)
    }
}

/// The tests as one file, and their names in it.
fn joined(items: &[String], chosen: &[usize]) -> (String, Vec<String>) {
    let mut text = "#![allow(warnings)]\n".to_owned();
    let mut names = Vec::new();
    for index in chosen {
        text.push_str(&format!("mod test_{index} {{\n{}\n}}\n", items[*index].trim_end()));
        names.push(format!("test_{index}::{}", function_name(&items[*index])));
    }
    (text, names)
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

/// What the output says of one test that failed.
fn section<'a>(output: &'a str, name: &str) -> &'a str {
    let from = output.find(&format!("---- {name} stdout ----")).unwrap_or(output.len());
    let rest = &output[from..];
    rest.find("\n\n---- ").or_else(|| rest.find("\n\nfailures:")).map_or(rest, |end| &rest[..end])
}

fn told(section: &str) -> Told {
    let message = |how: How, message: &str, sides| Told { how, message: first_line(message), sides };
    if section.contains("note: test did not panic as expected") {
        return message(How::NoPanic, "does not panic", None);
    }
    let mut lines = section.lines().skip_while(|line| !line.contains("panicked at "));
    let place = lines.next().unwrap_or_default();
    let says = lines.next().unwrap_or("fails without a word");
    if section.contains("note: panic did not contain expected string") {
        return message(How::OtherPanic, says, None);
    }
    let side = |line: Option<&str>, name: &str| Some(line?.trim().strip_prefix(name)?.trim().to_owned());
    let sides = side(lines.next(), "left:").zip(side(lines.next(), "right:"));
    let how = if place.contains(FILE) { How::Assertion } else { How::Panic };
    message(how, says, sides)
}

fn death(run: &TestRun) -> Told {
    let (how, message) = match run.exit {
        ExitKind::TimedOut => (How::Hang, "does not end".to_owned()),
        ExitKind::Signal(signal) => (How::Death, format!("ends the process by signal {signal}")),
        ExitKind::Code(code) => (How::Death, format!("ends the process with code {code}")),
    };
    Told { how, message, sides: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_found_below_its_modules() {
        let item = "use a::B;\nmod slab {\n    #[test]\n    fn insert_then_remove() {\n        let x = 1;\n    }\n}\n";
        assert_eq!(function_name(item), "slab::insert_then_remove");
        assert_eq!(function_name("#[test]\nfn plain() {\n}\n"), "plain");
    }

    #[test]
    fn each_test_is_told_by_its_own_words() {
        let output = "failures:\n\n---- test_1::a stdout ----\n\nthread 'main' (7) panicked at tests/testwright_diff_0a.rs:5:1:\nassertion `left == right` failed\n  left: 2\n right: Some(1)\n\n\
                      ---- test_2::b stdout ----\n\nthread 'main' (7) panicked at src/lib.rs:9:2:\nindex out of bounds\nnote: run with\n\n\
                      ---- test_3::c stdout ----\nnote: test did not panic as expected at x:1:1\n\nfailures:\n    test_1::a\n";
        let told = |name: &str| told(section(output, name));
        assert_eq!(told("test_1::a").sides, Some(("2".to_owned(), "Some(1)".to_owned())));
        assert_eq!(told("test_1::a").how, How::Assertion);
        assert_eq!(
            (told("test_2::b").how, told("test_2::b").message.as_str()),
            (How::Panic, "index out of bounds")
        );
        assert_eq!(told("test_3::c").how, How::NoPanic);
    }
}
