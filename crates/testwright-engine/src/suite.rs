//! The regression suite: few short tests that together execute what the search reached, each pinning what its calls gave.
//!
//! Receives the sequences that reached something first; hands on tests that were compiled and that passed, in processes of
//! their own, in debug and in release, under other hash seeds. What does not is dropped and counted.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use testwright_cover::{Branches, Cover, Map, Package};
use testwright_emit::{Imports, Pin, RegressionTest, regression_file, regression_single, tidy};
use testwright_execute::{Batch, Ending, Execution, Worker, WorkerPlan};
use testwright_harness::{Confirm, TestBench, TestSource};
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step, ValueId};
use testwright_wire::record::want;

use crate::campaign::Plan;
use crate::confirm::{PASSED, run_test};
use crate::minimise::{self, Plainest};
use crate::search::{HANG_UNTIMED, MEMORY, calls};
use crate::workbench::{Tell, Workbench};
use crate::{EngineError, encode};

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

/// Bytes that the sequence of a test may allocate in all.
const MODEST: u64 = 16 << 20;
/// Sequences of the corpus that are looked at, at most; later ones reached ever less.
const CORPUS: usize = 3000;
/// Candidates that are run to shorten one test.
const PATIENCE: usize = 400;
/// Sequences in a batch: their counts must have room in one answer.
const BATCH: usize = 50;
/// Assertions in one test, at most.
const PINS: usize = 6;
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
        let tests = self.pin(&mut lab, tests)?;
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

    /// The smallest sequences that together reach every region, each as short as it still reaches its own.
    fn choose(
        &self,
        lab: &mut Lab<'_>,
        corpus: &[Sequence],
        reached: &[Option<Vec<u32>>],
    ) -> Result<Vec<Sequence>, EngineError> {
        let mut chosen: Vec<Sequence> = Vec::new();
        let mut known: HashSet<u32> = HashSet::new();
        let mut called: HashSet<String> = HashSet::new();
        // An impl for arrays of thirty lengths is one thing to test.
        let plain = |path: &str| path.replace(|c: char| c.is_ascii_digit(), "");
        let operations = &self.bench.operations;
        for (sequence, reached) in corpus.iter().zip(reached) {
            let Some(reached) = reached else { continue };
            if chosen.len() >= self.plan.max_tests {
                break;
            }
            let needed: Vec<u32> = reached.iter().filter(|region| !known.contains(region)).copied().collect();
            let paths = |sequence: &Sequence| -> Vec<&str> {
                let subject = calls(sequence).map(|op| operations.get(op)).filter(|op| op.is_subject());
                subject.map(|op| op.path.as_str()).collect()
            };
            let new_call = paths(sequence).into_iter().find(|path| !called.contains(&plain(path)));
            if needed.is_empty() && new_call.is_none() {
                continue;
            }
            let short = lab.shorten(sequence, &needed, new_call)?;
            for path in paths(&short) {
                called.insert(plain(path));
            }
            known.extend(lab.reached(std::slice::from_ref(&short))?.into_iter().flatten().flatten());
            if !chosen.contains(&short) {
                chosen.push(short);
            }
        }
        let ran = reached.iter().map(Option::is_some);
        crate::diff::vary(operations, corpus, ran, self.plan.varied, &mut chosen);
        Ok(chosen)
    }

    /// The facts that each test asserts: results of the crate's own calls that are the same every time.
    fn pin(&self, lab: &mut Lab<'_>, chosen: Vec<Sequence>) -> Result<Vec<RegressionTest>, EngineError> {
        let operations = &self.bench.operations;
        let mut tests = Vec::new();
        for sequence in chosen {
            let sequence = observed(operations, &self.bench.usable, &sequence);
            let Some(told) = lab.texts(&sequence)? else { continue };
            let mut pins = Vec::new();
            let made = sequence.steps.iter().enumerate().filter(|(_, step)| step.makes_value());
            for ((index, step), text) in made.zip(told) {
                let (Step::Call { op, .. }, Some(text)) = (step, text) else { continue };
                if operations.get(*op).is_subject() {
                    pins.push(Pin { value: ValueId(u32::try_from(index).unwrap_or(0)), text });
                }
            }
            // A plain value says more than a text; the whole of a value is told at the end at most.
            let last = pins.last().map(|pin| pin.value);
            let plain = |pin: &Pin| is_plain(operations, &sequence, pin.value);
            if pins.iter().any(plain) {
                pins.retain(|pin| plain(pin) || Some(pin.value) == last);
            } else {
                pins.retain(|pin| Some(pin.value) == last);
            }
            // The last ones tell most.
            let surplus = pins.len().saturating_sub(PINS);
            pins.drain(..surplus);
            tests.push(RegressionTest { sequence, pins, panics: None });
        }
        let room = self.plan.max_tests.saturating_sub(tests.len());
        for (sequence, message) in self.panics.iter().take(room) {
            let first = message.lines().next().unwrap_or("");
            // Nothing to expect: such a test would take any panic.
            if first.is_empty() || first.contains("0x") {
                continue;
            }
            if let Some(sequence) = lab.shorten_panic(sequence, message)? {
                tests.push(RegressionTest { sequence, pins: Vec::new(), panics: Some(first.to_owned()) });
            }
        }
        Ok(tests)
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

/// The sequence with calls of plain observers at its end: what is left of the crate's own values is told too.
fn observed(
    operations: &Operations,
    usable: &HashSet<testwright_model::OpId>,
    sequence: &Sequence,
) -> Sequence {
    use testwright_model::operation::Take;
    use testwright_model::sequence::{Arg, How};
    let Ok(ledger) = testwright_model::Ledger::replay(operations, &sequence.steps) else {
        return sequence.clone();
    };
    // The subject's own value that was changed last.
    let changed = sequence.steps.iter().rev().find_map(|step| match step {
        Step::Call { op, args } if operations.get(*op).is_subject() => {
            args.iter().find(|arg| arg.how == How::RefMut).map(|arg| arg.value)
        }
        _ => None,
    });
    let Some(value) = changed.filter(|value| ledger.is_alive(*value)) else { return sequence.clone() };
    let ty = ledger.ty(value);
    let mut observers: Vec<testwright_model::OpId> = operations
        .ids()
        .filter(|id| usable.contains(id))
        .filter(|id| {
            let operation = operations.get(*id);
            operation.is_subject()
                && operation.panics.is_none()
                && matches!(operation.params.as_slice(), [param] if param.take == Take::Shared && param.ty == ty)
                && testwright_ground::reach::is_literal(operations.ty(operation.result))
                && !operation.borrows()
                && !operation.path.starts_with('<')
        })
        .collect();
    observers.sort_by_key(|id| {
        let path = &operations.get(*id).path;
        (!path.ends_with("::len"), !path.ends_with("::is_empty"), path.clone())
    });
    let mut steps = sequence.steps.clone();
    for op in observers.into_iter().take(2) {
        steps.push(Step::Call { op, args: vec![Arg { value, how: How::Ref }] });
    }
    crate::repair::repair(operations, &steps).unwrap_or_else(|| sequence.clone())
}

/// Whether the value is of a type that prints as a literal: a number, a text, or an `Option` or the like.
fn is_plain(operations: &Operations, sequence: &Sequence, value: ValueId) -> bool {
    let Some(Step::Call { op, .. }) = sequence.steps.get(value.0 as usize) else { return false };
    match operations.ty(operations.get(*op).result) {
        testwright_model::Ty::Adt { path, .. } => {
            ["std::option::Option", "std::result::Result", "std::string::String", "std::vec::Vec"]
                .contains(&path.as_str())
        }
        testwright_model::Ty::Dyn { .. } => false,
        _ => true,
    }
}

/// The last step that is a call.
fn last_call(sequence: &Sequence) -> Option<usize> {
    sequence.steps.iter().rposition(|step| matches!(step, Step::Call { .. }))
}

/// A worker that tells what sequences reach.
struct Lab<'a> {
    operations: &'a Operations,
    plainest: &'a Plainest,
    branches: &'a Branches,
    worker: Worker,
    /// How often each counter was reached by the corpus.
    sums: Vec<u64>,
}

impl Lab<'_> {
    /// The regions that each sequence reaches; `None` for those that do not run to their end or act on the world outside.
    fn reached(&mut self, sequences: &[Sequence]) -> Result<Vec<Option<Vec<u32>>>, EngineError> {
        let mut all = Vec::with_capacity(sequences.len());
        for part in sequences.chunks(BATCH) {
            let executions = self.run(part, want::COUNTS)?;
            for execution in executions {
                let Some(execution) = execution else {
                    all.push(None);
                    continue;
                };
                // What touches the world outside, or sleeps, is no test to leave in somebody's package.
                let pure = execution.details.as_ref().is_none_or(|details| details.effects.is_empty());
                let counts = execution.details.map(|details| details.counts).unwrap_or_default();
                for (counter, count) in &counts {
                    if let Some(sum) = self.sums.get_mut(*counter as usize) {
                        *sum = sum.saturating_add(*count);
                    }
                }
                // What asks for much memory gets it in one place and not in another.
                let modest = execution.allocated <= MODEST;
                let completed = pure && modest && execution.ending == Ending::Completed;
                all.push(completed.then(|| self.branches.taken(&counts).regions));
            }
        }
        Ok(all)
    }

    /// Runs sequences; `None` for those that cannot be encoded.
    fn run(&mut self, sequences: &[Sequence], wants: u32) -> Result<Vec<Option<Execution>>, EngineError> {
        let mut batch = Batch::new(wants);
        let encoded: Vec<bool> = sequences
            .iter()
            .map(|sequence| encode::append(self.operations, sequence, &mut self.worker, &mut batch))
            .collect();
        if batch.is_empty() {
            return Ok(vec![None; sequences.len()]);
        }
        let mut executions = self.worker.run(&batch)?.executions.into_iter();
        Ok(encoded.into_iter().map(|encoded| if encoded { executions.next() } else { None }).collect())
    }

    /// Without what is not needed to reach the regions and to make the call.
    fn shorten(
        &mut self,
        sequence: &Sequence,
        needed: &[u32],
        call: Option<&str>,
    ) -> Result<Sequence, EngineError> {
        let (operations, plainest) = (self.operations, self.plainest);
        let mut inquiry = Inquiry::default();
        let calls_it = |candidate: &Sequence| {
            call.is_none_or(|path| calls(candidate).any(|op| operations.get(op).path == path))
        };
        let has_all = |reached: Vec<u32>| needed.iter().all(|region| reached.binary_search(region).is_ok());
        let short = minimise::simplify(operations, plainest, sequence.clone(), &mut |candidates| {
            inquiry.ask(candidates, |candidates| {
                let reached =
                    self.reached(candidates)?.into_iter().map(|reached| reached.is_some_and(has_all));
                Ok(candidates
                    .iter()
                    .zip(reached)
                    .map(|(candidate, same)| same && calls_it(candidate))
                    .collect())
            })
        });
        inquiry.end(short)
    }

    /// Without what the panic does not need; `None` if it does not come again.
    fn shorten_panic(&mut self, sequence: &Sequence, message: &str) -> Result<Option<Sequence>, EngineError> {
        let (operations, plainest) = (self.operations, self.plainest);
        let mut inquiry = Inquiry::default();
        let panics = |candidate: &Sequence, execution: &Execution| {
            // The last step raises it: nothing behind a panic is ever run.
            execution.ending == Ending::Panicked
                && execution.panic().is_some_and(|panic| panic.message == message)
                && last_call(candidate) == Some(execution.step as usize)
        };
        let mut same = |candidates: &[Sequence]| {
            inquiry.ask(candidates, |candidates| {
                let executions = self.run(candidates, 0)?;
                let all = candidates.iter().zip(&executions);
                Ok(all.map(|(one, run)| run.as_ref().is_some_and(|run| panics(one, run))).collect())
            })
        };
        let mut cut = sequence.clone();
        while cut.steps.last().is_some_and(|step| !matches!(step, Step::Call { .. })) {
            cut.steps.pop();
        }
        let again = same(std::slice::from_ref(&cut)) == [true];
        let short = again.then(|| minimise::simplify(operations, plainest, cut, &mut same));
        inquiry.end(short)
    }

    /// The `Debug` texts of all values, those that differ in a second run left out; `None` if it does not run to its end.
    fn texts(&mut self, sequence: &Sequence) -> Result<Option<Vec<Option<String>>>, EngineError> {
        let twice = [sequence.clone(), sequence.clone()];
        let mut runs = Vec::new();
        for execution in self.run(&twice, want::TEXTS)?.into_iter().flatten() {
            if execution.ending != Ending::Completed {
                return Ok(None);
            }
            runs.push(execution.details.map(|details| details.texts).unwrap_or_default());
        }
        let [first, second] = runs.as_slice() else { return Ok(None) };
        let steady =
            first.iter().zip(second).map(|(one, other)| if one == other { one.clone() } else { None });
        // A text that was cut says nothing about the end.
        Ok(Some(steady.map(|text| text.filter(|text| text.len() < 1000)).collect()))
    }
}

/// Questions about candidates, as long as there is patience and nothing goes wrong.
struct Inquiry {
    patience: usize,
    error: Option<EngineError>,
}

impl Default for Inquiry {
    fn default() -> Self {
        Inquiry { patience: PATIENCE, error: None }
    }
}

impl Inquiry {
    fn ask(
        &mut self,
        candidates: &[Sequence],
        question: impl FnOnce(&[Sequence]) -> Result<Vec<bool>, EngineError>,
    ) -> Vec<bool> {
        let tried = if self.error.is_some() { 0 } else { candidates.len().min(self.patience) };
        self.patience -= tried;
        let mut verdicts = question(&candidates[..tried]).unwrap_or_else(|error| {
            self.error = Some(error);
            Vec::new()
        });
        verdicts.resize(candidates.len(), false);
        verdicts
    }

    /// What came of it, unless something went wrong on the way.
    fn end<T>(self, found: T) -> Result<T, EngineError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }
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
