//! The regression suite: few short tests that together execute what the search reached, each pinning what its calls gave.
//!
//! Receives the sequences that reached something first; hands on tests that were compiled and that passed, in processes of
//! their own, in debug and in release, under other hash seeds. What does not is dropped and counted.

mod choose;
mod facts;
mod lab;
mod neighbours;
mod observe;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use testwright_cover::{Cover, Map, Package};
use testwright_emit::{Imports, RegressionTest, regression_file, regression_single, tidy};
use testwright_execute::{Worker, WorkerPlan};
use testwright_harness::{Confirm, TestBench, TestSource};
use testwright_model::sequence::Sequence;

use crate::EngineError;
use crate::campaign::Plan;
use crate::confirm::{PASSED, run_test};
use crate::minimise::{self, Plainest};
use crate::search::{HANG_UNTIMED, MEMORY, calls};
use crate::workbench::{Tell, Workbench};
use lab::Lab;

/// A suite as it is written, and what was left out of it.
#[derive(Debug, Default)]
pub struct Suite {
    pub text: String,
    pub tests: usize,
    pub assertions: usize,
    pub dropped_unstable: usize,
    /// What the corpus executed of the crate.
    pub cover: Option<Cover>,
    /// Its tests one by one.
    pub singles: Vec<Single>,
}

/// One test of a suite as a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    /// With its module.
    pub name: String,
    pub text: String,
}

/// Sequences of the corpus that are looked at, at most; later ones reached ever less.
const CORPUS: usize = 3000;
/// Runs of each test beyond the first, each with hash seeds of its own.
const RERUNS: usize = 2;

/// CPU time of a call in a test, at most, under a time budget: what takes longer is no test to run before each release, and a corpus may have dozens of such
/// calls, each of which is waited for.
const SOON: Duration = Duration::from_millis(40);

/// What tests of the suite are made from.
#[derive(Debug)]
pub struct Material<'a> {
    pub bench: &'a Workbench,
    pub plan: &'a Plan,
    /// A worker with coverage.
    pub binary: &'a Path,
    pub scratch: &'a Path,
    /// Sequences that reached something first.
    pub corpus: Vec<Sequence>,
    /// Some that need not have; see [`Learned::others`](crate::search::Learned::others).
    pub others: Vec<Sequence>,
    /// Documented panics that were seen: sequence and message.
    pub panics: Vec<(Sequence, String)>,
}

impl Material<'_> {
    pub fn suite(self, tell: Tell<'_>) -> Result<Suite, EngineError> {
        let mut map = Map::of_binary(self.binary)?;
        if let Some(library) = self.bench.harness.library(self.binary) {
            map.add_library(&library)?;
        }
        let package = Package::new(&self.bench.subject.root, &self.bench.places.work);
        let branches = map.branches(&package);
        let plainest = Plainest::of(&self.bench.operations, &self.bench.usable);
        let mut lab = Lab {
            operations: &self.bench.operations,
            plainest: &plainest,
            branches: &branches,
            worker: self.worker()?,
            sums: vec![0; map.counters()],
        };
        let operations = &self.bench.operations;
        let in_order = |sequences: &[Sequence]| {
            let mut all: Vec<Sequence> =
                sequences.iter().map(|sequence| minimise::without_laws(operations, sequence)).collect();
            all.retain(|sequence| calls(sequence).next().is_some());
            all.sort_by_key(|sequence| (sequence.len(), calls(sequence).map(|op| op.0).collect::<Vec<_>>()));
            all.dedup();
            all
        };
        let mut corpus = in_order(&self.corpus);
        corpus.truncate(CORPUS);
        corpus.extend(in_order(&self.others));
        let reached = lab.reached(&corpus)?;
        let cover = map.cover(&lab.sums, &package);
        let mut suite = Suite { cover: Some(cover), ..Suite::default() };
        if self.plan.max_tests == 0 {
            return Ok(suite);
        }
        tell("choosing tests for the regression suite");
        let tests = self.choose(&mut lab, &corpus, &reached)?;
        self.confirm(tests, &mut suite, tell)?;
        Ok(suite)
    }

    fn worker(&self) -> Result<Worker, EngineError> {
        let mut plan = WorkerPlan::new(self.binary, self.scratch.join("suite"));
        plan.limits.memory = MEMORY;
        plan.limits.call = if self.plan.is_timed() { SOON } else { HANG_UNTIMED };
        plan.limits.sequence = plan.limits.call * 2;
        crate::campaign::make_folder(&plan.scratch)?;
        Ok(Worker::start(plan)?)
    }

    /// Compiles each test, runs it again and again, and keeps those that always pass.
    fn confirm(
        &self,
        tests: Vec<RegressionTest>,
        suite: &mut Suite,
        tell: Tell<'_>,
    ) -> Result<(), EngineError> {
        if tests.is_empty() {
            return Ok(());
        }
        let bench = self.bench;
        tell(&format!("compiling and running {} regression tests", tests.len()));
        let subject = &bench.subject;
        let bench_tests = TestBench::open(subject, &bench.foreign, "2021", &bench.places)?;
        let imports = Imports { lib: subject.lib.clone(), foreign: bench.foreign.clone() };
        let singles: Vec<String> = tests
            .iter()
            .map(|test| regression_single("One test.", &bench.operations, test, &imports))
            .collect();
        let compiled = bench_tests.check_bulk(&singles.iter().map(|text| inner(text)).collect::<Vec<_>>())?;
        let mut kept: Vec<RegressionTest> =
            tests.into_iter().zip(&compiled).filter(|(_, ok)| ok.is_ok()).map(|(test, _)| test).collect();
        suite.dropped_unstable = compiled.iter().filter(|ok| ok.is_err()).count();
        let header = header(self.plan, bench);
        // A round removes what failed; the next must be clean under every build.
        for _ in 0..4 {
            if kept.is_empty() {
                return Ok(());
            }
            let file = regression_file(&header, &bench.operations, &kept, &imports);
            let text = tidy(&file.text);
            let mut failed: BTreeSet<usize> = BTreeSet::new();
            for confirm in [Confirm::debug(), Confirm::release()] {
                let source = TestSource { name: "testwright_regression".to_owned(), text: text.clone() };
                let built = bench_tests.compile(std::slice::from_ref(&source), confirm)?;
                let executable = match built.into_iter().next() {
                    Some(Ok(executable)) => executable,
                    other => {
                        tell(&format!("the regression suite does not compile: {other:?}"));
                        return Ok(());
                    }
                };
                for _ in 0..=RERUNS {
                    let run = run_test(&executable, crate::confirm::TIMEOUT * 3, self.scratch)?;
                    if run.exit != PASSED {
                        failed.extend(failures(&run.stdout, &file.names));
                        if failed.is_empty() {
                            // It died: what had not been told is under suspicion.
                            failed.extend(unfinished(&run.stdout, &file.names));
                        }
                    }
                }
            }
            if failed.is_empty() {
                suite.tests = kept.len();
                suite.assertions = file.assertions.iter().sum();
                suite.text = text;
                let single = |test| regression_single("One test.", &bench.operations, test, &imports);
                suite.singles = file
                    .names
                    .into_iter()
                    .zip(&kept)
                    .map(|(name, test)| Single { name, text: single(test) })
                    .collect();
                return Ok(());
            }
            suite.dropped_unstable += failed.len();
            kept = kept
                .into_iter()
                .enumerate()
                .filter(|(index, _)| !failed.contains(index))
                .map(|(_, test)| test)
                .collect();
        }
        suite.dropped_unstable += kept.len();
        Ok(())
    }
}

/// The items of a file without what only a file's head may have.
pub(crate) fn inner(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("//!") && !line.starts_with("#!["))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn header(plan: &Plan, bench: &Workbench) -> String {
    format!(
        "Written by {}: what {} {} does today. Generated with seed {}:\n`{}`",
        plan.tool, bench.subject.package, bench.subject.version, plan.seed, plan.command
    )
}

/// The tests that the output says failed.
pub(crate) fn failures(output: &str, names: &[String]) -> BTreeSet<usize> {
    let failed = output.lines().filter_map(|line| {
        let name = line.strip_prefix("test ")?.split(" ... ").next()?.split(" - should panic").next()?;
        (line.ends_with("FAILED") || !line.ends_with("ok")).then_some(name.trim())
    });
    failed.filter_map(|name| names.iter().position(|known| known == name)).collect()
}

/// The tests that the output does not say passed.
pub(crate) fn unfinished(output: &str, names: &[String]) -> BTreeSet<usize> {
    let passed: HashSet<&str> = output
        .lines()
        .filter(|line| line.ends_with("ok"))
        .filter_map(|line| line.strip_prefix("test ")?.split(" ... ").next())
        .map(|name| name.split(" - should panic").next().unwrap_or(name).trim())
        .collect();
    (0..names.len()).filter(|index| !passed.contains(names[*index].as_str())).take(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 3 tests\ntest slab::insert_works ... ok\ntest slab::remove_panics - should panic ... FAILED\n";

    fn names() -> Vec<String> {
        ["slab::insert_works", "slab::remove_panics", "slab::drain_works"].map(str::to_owned).to_vec()
    }

    #[test]
    fn failed_tests_are_found_by_name() {
        assert_eq!(failures(OUTPUT, &names()), BTreeSet::from([1]));
        assert_eq!(failures("test slab::insert_works ... ok\n", &names()), BTreeSet::new());
    }

    #[test]
    fn after_a_death_the_first_untold_test_is_suspected() {
        assert_eq!(unfinished("test slab::insert_works ... ok\n", &names()), BTreeSet::from([1]));
        assert_eq!(unfinished("", &names()), BTreeSet::from([0]));
    }

    #[test]
    fn a_files_head_is_left_out() {
        assert_eq!(inner("//! Head.\n#![allow(x)]\nmod a {}\n"), "mod a {}\n");
    }
}
