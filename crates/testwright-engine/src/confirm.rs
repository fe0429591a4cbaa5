//! A finding exists only when its printed test, compiled by the user's compiler and run in a process of its own, shows it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_emit::{Broken, Imports, Placing, Printed};
use testwright_execute::launcher::{self, ExitKind, TestRun};
use testwright_harness::{Confirm, Subject, TestBench, TestSource, Variant};
use testwright_model::law;
use testwright_model::operation::Operations;
use testwright_model::sequence::Sequence;

use crate::EngineError;
use crate::findings::package_path;
use crate::judge::{Failure, LEAK, is_said_to_be_forbidden};
use crate::share::share;

/// CPU time for one test.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A test that was seen to fail as it says.
#[derive(Clone, Debug)]
pub struct Confirmed {
    pub name: String,
    pub source: String,
    pub confirm: Confirm,
}

#[derive(Clone, Debug)]
pub enum Confirmation {
    Confirmed(Box<Confirmed>),
    /// The compiler does not take the printed program.
    DoesNotCompile(String),
    /// It compiles, and does something else.
    NotReproduced(String),
    /// It does what a precondition forbids.
    Forbidden,
}

/// What all tests of a campaign share.
#[derive(Debug)]
pub struct Confirmer<'a> {
    pub bench: &'a TestBench,
    pub imports: Imports,
    pub subject: &'a Subject,
    pub scratch: &'a Path,
    /// Lines above each test: tool, seed, command.
    pub header: String,
    /// Whether the sanitizer may be tried.
    pub sanitizer: bool,
}

/// A failure whose test is to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub sequence: &'a Sequence,
    pub failure: &'a Failure,
    /// The build that showed it.
    pub variant: Variant,
    pub name: &'a str,
}

impl Confirmer<'_> {
    /// Tries each candidate's test under the plainest build first; one compilation serves all that are open.
    pub fn confirm_all(
        &self,
        operations: &Operations,
        candidates: &[Candidate<'_>],
    ) -> Result<Vec<Confirmation>, EngineError> {
        let printed: Vec<Printed> =
            candidates.iter().map(|candidate| print(operations, candidate, Placing::Constant)).collect();
        let mut verdicts: Vec<Option<Confirmation>> = vec![None; candidates.len()];
        let settings: Vec<Vec<Setting>> =
            candidates.iter().map(|candidate| self.settings(candidate)).collect();
        let mut all: Vec<Setting> = Vec::new();
        for setting in settings.iter().flatten() {
            if !all.contains(setting) {
                all.push(*setting);
            }
        }
        // Those that one candidate has and another has not may come between; each tries its own in order.
        all.sort_by_key(|(confirm, placing)| {
            (*placing != Placing::Unaligned, confirm.sanitizer, *placing == Placing::Heap)
        });
        for (confirm, placing) in all {
            let open: Vec<usize> = (0..candidates.len())
                .filter(|index| {
                    settings[*index].contains(&(confirm, placing))
                        && !matches!(
                            verdicts[*index],
                            Some(
                                Confirmation::Confirmed(_)
                                    | Confirmation::DoesNotCompile(_)
                                    | Confirmation::Forbidden
                            )
                        )
                })
                .collect();
            if open.is_empty() {
                continue;
            }
            let tests: Vec<TestSource> = open
                .iter()
                .map(|index| {
                    let candidate = &candidates[*index];
                    let placed =
                        (placing != Placing::Constant).then(|| print(operations, candidate, placing));
                    let printed = placed.as_ref().unwrap_or(&printed[*index]);
                    let text = self.source(candidate.name, candidate.failure, printed, confirm);
                    TestSource { name: candidate.name.to_owned(), text }
                })
                .collect();
            let compiled = self.bench.compile(&tests, confirm)?;
            let tries: Vec<_> = open.into_iter().zip(tests.into_iter().zip(compiled)).collect();
            for (index, verdict) in self.verdicts(candidates, &tries, confirm)? {
                verdicts[index] = Some(verdict);
            }
        }
        let never = || Confirmation::NotReproduced("was not run".to_owned());
        Ok(verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(never)).collect())
    }

    /// Runs compiled tests, several at a time: one that hangs is waited for.
    fn verdicts(
        &self,
        candidates: &[Candidate<'_>],
        tries: &[(usize, Try)],
        confirm: Confirm,
    ) -> Result<Vec<(usize, Confirmation)>, EngineError> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let own = |job: usize| self.scratch.join(format!("confirm-{job}"));
        share(jobs, tries.len(), own, |scratch, at| {
            let (index, test) = &tries[at];
            Ok((*index, verdict(&candidates[*index], test, confirm, scratch)?))
        })
    }

    /// The builds to try, and where texts lie in them; the plain one first.
    fn settings(&self, candidate: &Candidate<'_>) -> Vec<Setting> {
        let failure = candidate.failure;
        let unchecked = Confirm { overflow_checks: false, debug_assertions: false, ..Confirm::debug() };
        let memory = failure.class == "memory";
        // The alignment of a constant is left to chance.
        let plain = if failure.message.contains("aligned") { Placing::Unaligned } else { Placing::Constant };
        let mut all = vec![(Confirm::debug(), plain)];
        if memory || !candidate.variant.overflow_checks {
            all.push((unchecked, plain));
        }
        if memory && self.sanitizer {
            for placing in [plain, Placing::Heap] {
                all.push((Confirm { sanitizer: true, ..Confirm::debug() }, placing));
                all.push((Confirm { sanitizer: true, ..unchecked }, placing));
            }
        }
        all
    }

    fn source(&self, name: &str, failure: &Failure, printed: &Printed, confirm: Confirm) -> String {
        let mut header = self.header.clone();
        header.push('\n');
        header.push_str(&format!("{}\n", told(failure, &package_path(&failure.file, self.subject))));
        if let Some(law) = law::of_class(failure.class) {
            header.push_str(&format!("Demanded by {}.\n", law.source));
        }
        if confirm != Confirm::debug() {
            header.push_str(&format!(
                "Shows with overflow checks {}, debug assertions {}, opt-level {}{}.\n",
                on(confirm.overflow_checks),
                on(confirm.debug_assertions),
                confirm.opt_level,
                if confirm.sanitizer { ", under AddressSanitizer" } else { "" }
            ));
        }
        let ignore =
            format!("#[ignore = {:?}]", format!("testwright finding: {}", first_line(&failure.message)));
        let counts = failure.class == LEAK;
        let source = testwright_emit::test_file(&header, name, &[ignore], printed, &self.imports, counts);
        testwright_emit::tidy(&source)
    }
}

/// The test's statements, with the contract that it breaks.
fn print(operations: &Operations, candidate: &Candidate<'_>, placing: Placing) -> Printed {
    let Candidate { sequence, failure, .. } = candidate;
    let broken = failure.is_contract().then_some(Broken { step: failure.step, says: &failure.message });
    testwright_emit::body_placing(operations, sequence, placing, broken)
}

/// A test, and what the compiler made of it.
type Try = (TestSource, Result<PathBuf, String>);

fn verdict(
    candidate: &Candidate<'_>,
    (test, compiled): &Try,
    confirm: Confirm,
    scratch: &Path,
) -> Result<Confirmation, EngineError> {
    let executable = match compiled {
        Ok(executable) => executable,
        Err(words) => return Ok(Confirmation::DoesNotCompile(words.clone())),
    };
    let run = run_test(executable, TIMEOUT, scratch)?;
    if is_said_to_be_forbidden(&candidate.failure.operation, &format!("{}\n{}", run.stdout, run.stderr)) {
        return Ok(Confirmation::Forbidden);
    }
    Ok(match shows(candidate.failure, &run) {
        Ok(()) => {
            let TestSource { name, text } = test.clone();
            Confirmation::Confirmed(Box::new(Confirmed { name, source: text, confirm }))
        }
        Err(seen) => Confirmation::NotReproduced(seen),
    })
}

/// A build, and where texts and byte strings lie in it.
type Setting = (Confirm, Placing);

/// How a test program ends when everything passes.
pub const PASSED: ExitKind = ExitKind::Code(0);

/// Runs a compiled test file, ignored tests included, in a sandbox.
pub fn run_test(executable: &Path, timeout: Duration, scratch: &Path) -> Result<TestRun, EngineError> {
    let arguments = ["--include-ignored", "--test-threads=1", "--nocapture"];
    Ok(launcher::run_confirmed(executable, &arguments, timeout, scratch)?)
}

fn on(flag: bool) -> &'static str {
    if flag { "on" } else { "off" }
}

/// What is wrong, with the values that the message tells, and where.
fn told(failure: &Failure, file: &str) -> String {
    let mut text = format!("{}: {}", failure.class, plain(&first_line(&failure.message)));
    for line in failure.message.lines().skip(1).filter(|line| !line.trim().is_empty()).take(VALUES) {
        text.push_str(&format!("\n  {}", plain(first_line(line).trim())));
    }
    text.push_str(&format!("\nIn `{}`", failure.operation));
    if !file.is_empty() {
        text.push_str(&format!(", at {file}:{}", failure.line));
    }
    text.push('.');
    text
}

/// Lines of a message behind its first, at most: `left: …` and `right: …`.
const VALUES: usize = 4;

/// Fit for a comment.
fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(160).collect()
}

/// Whether the run shows the failure; otherwise what was seen.
fn shows(failure: &Failure, run: &TestRun) -> Result<(), String> {
    let output = format!("{}\n{}", run.stdout, run.stderr);
    let seen = match run.exit {
        ExitKind::Code(0) => "it passed".to_owned(),
        ExitKind::Code(code) => format!("it ended with code {code}"),
        ExitKind::Signal(signal) => format!("it ended by signal {signal}"),
        ExitKind::TimedOut => format!("it did not end in {} s", TIMEOUT.as_secs()),
    };
    let right = match failure.class {
        "hang" => run.exit == ExitKind::TimedOut,
        "stack-overflow" => output.contains("overflowed its stack") || output.contains("stack-overflow"),
        "out-of-memory" => matches!(run.exit, ExitKind::Signal(_)) && output.contains("memory allocation"),
        "memory" => {
            matches!(run.exit, ExitKind::Signal(_))
                || output.contains("AddressSanitizer")
                || output.contains("unsafe precondition")
                || output.contains("pointer dereference")
        }
        "abort" => {
            let left = failure.message.starts_with("the process was made to exit");
            matches!(run.exit, ExitKind::Signal(_)) || (left && !output.contains("test result:"))
        }
        // Unwinding may drop a second value that panics: the message is the same, the end an abort.
        _ => {
            matches!(run.exit, ExitKind::Code(101) | ExitKind::Signal(6))
                && output.contains(&first_line(&failure.message))
        }
    };
    if right { Ok(()) } else { Err(seen) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Tier;

    #[test]
    fn the_comment_tells_what_with_which_values_and_where() {
        let failure = Failure {
            tier: Tier::Bug,
            class: "panic",
            operation: "Queue::push".to_owned(),
            step: 1,
            message: "assertion failed: a\rb\n  left: 1\n right: 2\n".to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 58,
        };
        assert_eq!(
            told(&failure, "queue/src/lib.rs"),
            "panic: assertion failed: a\\rb\n  left: 1\n  right: 2\nIn `Queue::push`, at queue/src/lib.rs:58."
        );
        assert!(told(&failure, "").ends_with("\nIn `Queue::push`."), "memory errors have no place");
    }
}
