//! A campaign: the builds, the search by all jobs, then findings and the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use testwright_emit::report::{self, Report};
use testwright_harness::Variant;
use testwright_model::OpId;
use testwright_model::sequence::Sequence;
use testwright_store::{Store, Stored, Totals};

use crate::EngineError;
use crate::findings::{self, Found};
use crate::saving::{Saver, write_all};
use crate::search::{Learned, Search, Stage, calls};
use crate::suite::{Material, Single, Suite};
use crate::unsafe_code::has_unsafe_code;
use crate::workbench::{Tell, Workbench};

/// What the user asked for, resolved.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one wish of the user's, none excludes another")]
pub struct Plan {
    pub limit: Limit,
    pub seed: u64,
    pub jobs: usize,
    pub max_findings: usize,
    pub sanitizer: Sanitizer,
    pub strategy: Strategy,
    /// Stop when nothing new has come for a while, before the budget is spent.
    pub until_plateau: bool,
    /// Findings that the author accepts, by id, with the reason.
    pub accepted: BTreeMap<String, String>,
    /// Tests in the regression suite, at most; 0 for none.
    pub max_tests: usize,
    /// Tests beyond those, of sequences as they were found.
    pub varied: usize,
    /// Where the campaign is kept; `None`: nowhere.
    pub campaign_file: Option<PathBuf>,
    /// Go on with the campaign that is there.
    pub resume: bool,
    /// The command line, for the headers of tests.
    pub command: String,
    pub tool: String,
    pub deny_undocumented: bool,
    /// Also tell what plain delta debugging makes of the findings.
    pub compare_shortening: bool,
}

impl Plan {
    /// Whether the budget is a time, so that what is slow may be left out.
    pub fn is_timed(&self) -> bool {
        matches!(self.limit, Limit::Time(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Time(Duration),
    Executions(u64),
    /// Calls into the crate under test, made by one job.
    Calls(u64),
}

/// Whether builds under `AddressSanitizer` are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sanitizer {
    Never,
    /// To confirm; and to search if the crate has unsafe code.
    #[default]
    Auto,
    Always,
}

/// Where proposals come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Extends sequences whose values are new.
    #[default]
    Directed,
    /// Extends every legal sequence.
    BottomUp,
    /// Starts from nothing each time.
    RandomWalk,
}

/// The end of a campaign.
#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    /// The findings' tests, in the report's order.
    pub tests: Vec<String>,
    /// The regression suite as a file; empty if there is none.
    pub suite: String,
    /// Its tests one by one.
    pub singles: Vec<Single>,
}

/// Live figures, for a progress line.
#[derive(Debug, Default)]
pub struct Progress {
    pub sequences: AtomicU64,
    pub calls: AtomicU64,
    pub illegal: AtomicU64,
    pub edges: AtomicU64,
    pub edges_total: AtomicU64,
    pub restarts: AtomicU64,
    pub failures: AtomicU64,
    pub pool: AtomicU64,
    pub stop: AtomicBool,
}

impl Progress {
    /// The figures for another campaign; whether it is to stop stays.
    pub fn start_over(&self) {
        let figures = [
            &self.sequences,
            &self.calls,
            &self.illegal,
            &self.edges,
            &self.edges_total,
            &self.restarts,
            &self.failures,
            &self.pool,
        ];
        for figure in figures {
            figure.store(0, Ordering::Relaxed);
        }
    }
}

#[derive(Debug)]
pub struct Campaign<'a> {
    pub bench: &'a mut Workbench,
    pub plan: Plan,
    pub progress: &'a Progress,
}

/// Under a shorter budget one build is enough.
const LONG_ENOUGH: Duration = Duration::from_secs(8);
/// Under a shorter budget, branches are left to chance.
const TRACED: Duration = Duration::from_secs(30);
/// From this part of the budget on, the search goes on under the sanitizer.
const SANITIZED_FROM: f64 = 0.6;

impl Campaign<'_> {
    pub fn run(&mut self, tell: Tell<'_>) -> Result<Outcome, EngineError> {
        let start = Instant::now();
        let scratch = self.bench.places.work.join("scratch");
        make_folder(&scratch)?;
        let kept = crate::past::open(&self.plan, self.bench)?;
        tell("building the worker");
        let timed = self.plan.is_timed();
        // It is there soonest, and the one that counts lines.
        let quick = self.bench.build(&Variant::quick())?.binary;
        let mut stages = if timed {
            vec![Stage::ready(Variant::quick(), quick.clone(), 0.0)]
        } else {
            vec![Stage::ready(Variant::fast(), self.bench.build(&Variant::fast())?.binary, 0.0)]
        };
        if let Limit::Time(limit) = self.plan.limit {
            if limit >= LONG_ENOUGH {
                stages.push(Stage::pending(Variant::fast(), 0.0));
            }
        }
        let long = !matches!(self.plan.limit, Limit::Time(limit) if limit < LONG_ENOUGH);
        let sanitizes = match self.plan.sanitizer {
            Sanitizer::Never => false,
            Sanitizer::Auto => long && has_unsafe_code(&self.bench.subject.root),
            Sanitizer::Always => true,
        };
        if sanitizes {
            let stage = Stage::pending(Variant::sanitized(), SANITIZED_FROM);
            if !timed {
                // What is run must not depend on when a build is ready.
                if let Ok(built) = self.bench.harness.build(&stage.variant) {
                    stage.set(built.binary);
                }
            }
            stages.push(stage);
        }
        let tracing = self.traces().then_some(quick.as_path());
        let build_s = start.elapsed().as_secs_f64();
        tell(&format!("worker ready after {build_s:.1} s; searching"));
        // The first worker tells about the types; workers of the jobs are started by their own threads.
        drop(self.bench.start_worker(quick.clone(), scratch.clone(), true)?);
        let (store, past) = crate::past::begin(kept, &self.plan, self.bench, tell)?;
        self.progress.sequences.store(past.totals.executions, Ordering::Relaxed);
        self.progress.calls.store(past.totals.calls, Ordering::Relaxed);
        let searching = Instant::now();
        let learned = self.search(&stages, tracing, &scratch, searching, &past, store, tell);
        self.bench.harness.want_builds(true);
        let (learned, store) = learned?;
        let searched = searching.elapsed().as_secs_f64();
        let mut learned = merge(learned);
        let mut found =
            findings::settle(self.bench, &self.plan, self.progress, &mut learned, &scratch, tell)?;
        crate::past::date(&mut found.findings, &past);
        if let Some(store) = store {
            let ending = crate::past::ending(&learned, &found, &past, self.totals(&past, searched));
            let whole = ending.whole && !self.progress.stop.load(Ordering::Relaxed);
            crate::past::finish(store, &testwright_store::Ending { whole, ..ending }, tell);
        }
        if let Some(trouble) = &learned.branches.trouble {
            tell(&format!("looking at branches ended early: {trouble}"));
        }
        let suite = self.suite(&mut learned, &quick, &scratch, tell);
        Ok(self.outcome(learned, found, suite, &past, start, searched, build_s))
    }

    /// The regression suite, and what was executed; if that fails there is none, which a line says.
    fn suite(&self, learned: &mut Learned, binary: &Path, scratch: &Path, tell: Tell<'_>) -> Suite {
        let is_steady = |sequence: &Sequence| !calls(sequence).any(|op| learned.stateful.contains(&op));
        let [corpus, others] = [&learned.corpus, &learned.others]
            .map(|all| all.iter().filter(|sequence| is_steady(sequence)).cloned().collect());
        let material = Material {
            bench: self.bench,
            plan: &self.plan,
            binary,
            scratch,
            corpus,
            others,
            panics: std::mem::take(&mut learned.documented).into_values().collect(),
        };
        material.suite(tell).unwrap_or_else(|error| {
            tell(&format!("no regression suite: {error}"));
            Suite::default()
        })
    }

    /// Whether there is time for branch-directed generation.
    fn traces(&self) -> bool {
        // Not where executions are counted: what is compared differs from run to run, addresses for one, and so would the tests.
        matches!(self.plan.limit, Limit::Time(limit) if limit >= TRACED)
            && self.plan.strategy == Strategy::Directed
    }

    /// All jobs to their end, while the builds that are not there yet are made.
    #[expect(clippy::too_many_arguments, reason = "what all jobs share")]
    fn search(
        &self,
        stages: &[Stage],
        tracing: Option<&Path>,
        scratch: &Path,
        searching: Instant,
        past: &Stored,
        store: Option<Store>,
        tell: Tell<'_>,
    ) -> Result<(Vec<Learned>, Option<Store>), EngineError> {
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let totals = move || self.totals(past, searching.elapsed().as_secs_f64());
            let writer = store.map(|store| scope.spawn(move || write_all(store, &receiver, totals)));
            let harness = &self.bench.harness;
            if self.plan.is_timed() {
                scope.spawn(move || {
                    for stage in &stages[1..] {
                        if let Ok(built) = harness.build(&stage.variant) {
                            stage.set(built.binary);
                        }
                    }
                });
            }
            let handles: Vec<_> = (0..self.plan.jobs)
                .map(|job| {
                    let campaign = &*self;
                    let saver = writer.is_some().then(|| Saver::new(sender.clone(), job));
                    scope.spawn(move || {
                        let (bench, plan, progress) = (&*campaign.bench, &campaign.plan, campaign.progress);
                        Search::new(
                            bench, plan, progress, job, scratch, stages, tracing, searching, past, saver,
                        )?
                        .run()
                    })
                })
                .collect();
            drop(sender);
            let learned: Vec<_> = handles
                .into_iter()
                .map(|handle| {
                    handle.join().map_err(|_| EngineError::Internal("a search thread panicked".to_owned()))?
                })
                .collect();
            // A build that is not ready now is of no use any more.
            harness.want_builds(false);
            let learned = learned.into_iter().collect::<Result<Vec<Learned>, EngineError>>()?;
            let store = match writer.map(std::thread::ScopedJoinHandle::join) {
                None => None,
                Some(Ok(Ok(store))) => Some(store),
                Some(Ok(Err(error))) => {
                    tell(&format!("warning: {error}; the search went on without it"));
                    None
                }
                Some(Err(_)) => return Err(EngineError::Internal("the writing thread panicked".to_owned())),
            };
            Ok((learned, store))
        })
    }

    /// How much was done in all runs until now.
    fn totals(&self, past: &Stored, searched: f64) -> Totals {
        Totals {
            executions: self.progress.sequences.load(Ordering::Relaxed),
            calls: self.progress.calls.load(Ordering::Relaxed),
            seconds: past.totals.seconds + searched,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "everything that the report tells about")]
    fn outcome(
        &self,
        learned: Learned,
        found: Found,
        suite: Suite,
        past: &Stored,
        start: Instant,
        searched: f64,
        build_s: f64,
    ) -> Outcome {
        let subject = &self.bench.subject;
        let operations = self.operation_figures(&learned);
        let last_new = crate::past::last_new(&learned, past);
        let Found { findings, tests, dismissed: unconfirmed, shorten_s, .. } = found;
        let (demanded, known) = (&self.bench.contracts, &self.bench.operations);
        let contracts = crate::contract::figures(demanded, known, &learned.choice, &findings);
        let mut dismissed = learned.dismissed;
        for (key, count) in unconfirmed {
            *dismissed.entry(key).or_default() += count;
        }
        let progress = self.progress;
        let totals = self.totals(past, searched);
        let denied =
            |finding: &report::Finding| finding.is_bug() || self.plan.deny_undocumented && !finding.is_hint();
        let interrupted = progress.stop.load(Ordering::Relaxed);
        let exit = match () {
            () if interrupted => 130,
            () if totals.calls == 0 && findings.is_empty() => crate::uncalled::EXIT,
            () => u8::from(findings.iter().any(denied)),
        };
        let mut report = Report {
            schema: 1,
            krate: report::CrateName { name: subject.package.clone(), version: subject.version.clone() },
            compiler: subject.toolchain.lines().next().unwrap_or("").to_owned(),
            tool: self.plan.tool.clone(),
            seed: self.plan.seed,
            elapsed_s: start.elapsed().as_secs_f64(),
            build_s,
            exit,
            interrupted,
            api: self.api_figures(),
            executions: report::Executions {
                sequences: totals.executions,
                calls: totals.calls,
                calls_per_s: if totals.seconds > 0.0 {
                    (totals.calls as f64 / totals.seconds).round()
                } else {
                    0.0
                },
                illegal: progress.illegal.load(Ordering::Relaxed),
                restarts: progress.restarts.load(Ordering::Relaxed),
            },
            search: report::Search {
                seconds: totals.seconds,
                last_new_s: last_new.0,
                shorten_s,
                last_new_execution: last_new.1,
                distinct_values: learned.distinct,
                pool: learned.pool,
                resumed: self.plan.resume,
                earlier_runs: past.runs,
                earlier_executions: past.totals.executions,
                replayed: learned.replayed.sequences,
                lost: past.lost + learned.replayed.illegal,
                by_length: learned.by_length.figures(),
                branches: learned.branches.report(),
                sharing: learned.sharing.iter().map(|ty| self.bench.operations.ty(*ty).to_string()).collect(),
                curve: learned.curve.points(),
            },
            operations,
            coverage: report::Coverage {
                edges_hit: learned.edges.len() as u64,
                edges_total: progress.edges_total.load(Ordering::Relaxed),
                ..report::Coverage::default()
            },
            findings,
            dismissed: dismissed
                .into_iter()
                .map(|((reason, operation), count)| report::Dismissed { reason, operation, count })
                .collect(),
            effects: learned
                .effects
                .into_iter()
                .map(|((operation, kind, allowed), count)| report::Effect {
                    operation,
                    kind: kind.to_owned(),
                    allowed,
                    count,
                })
                .collect(),
            regression: report::Regression {
                tests: suite.tests,
                assertions: suite.assertions,
                file: (suite.tests > 0).then(|| "tests/testwright_regression.rs".to_owned()),
                dropped_unstable: suite.dropped_unstable,
            },
            contracts,
        };
        if let Some(cover) = &suite.cover {
            crate::cover::fill(&mut report.coverage, cover);
        }
        crate::snippet::fill(&mut report.findings, &subject.package, &subject.root);
        Outcome { report, tests, suite: suite.text, singles: suite.singles }
    }

    fn api_figures(&self) -> report::ApiFigures {
        let bench = &self.bench;
        let mut skipped: Vec<report::SkippedItem> = bench
            .skipped
            .iter()
            .map(|item| report::SkippedItem { path: item.path.clone(), reason: item.reason.clone() })
            .collect();
        for fact in &bench.callables {
            if let Some(reason) = &fact.reason {
                skipped.push(report::SkippedItem { path: fact.path.clone(), reason: reason.to_string() });
            }
        }
        report::ApiFigures {
            items: bench.callables.len()
                + bench.skipped.iter().filter(|item| item.kind != crate::beside::LAW).count(),
            operations: bench.usable.len(),
            skipped,
        }
    }

    /// How the calls of each operation of the crate went.
    fn operation_figures(&self, learned: &Learned) -> Vec<report::OperationFigures> {
        let mut by_path: BTreeMap<&str, report::OperationFigures> = BTreeMap::new();
        for id in self.bench.operations.ids() {
            let operation = self.bench.operations.get(id);
            if !operation.is_subject() || !self.bench.usable.contains(&id) {
                continue;
            }
            let tally = learned.choice.tally(id);
            let figures = by_path.entry(&operation.path).or_insert_with(|| report::OperationFigures {
                operation: operation.path.clone(),
                ..report::OperationFigures::default()
            });
            figures.calls += tally.calls;
            figures.panics += tally.panics;
            figures.looked += tally.looked;
            figures.good += tally.good;
        }
        by_path
            .into_values()
            .map(|mut figures| {
                figures.never_succeeded =
                    figures.calls == figures.panics || (figures.looked >= 8 && figures.good == 0);
                figures
            })
            .collect()
    }
}

/// What all jobs found out, in the order of the jobs.
fn merge(all: Vec<Learned>) -> Learned {
    let mut all = all.into_iter();
    let mut merged = all.next().unwrap_or_default();
    for learned in all {
        for (key, seen) in learned.failures {
            match merged.failures.get_mut(&key) {
                Some(known) if known.sequence.len() <= seen.sequence.len() => {}
                _ => drop(merged.failures.insert(key, seen)),
            }
        }
        for (key, count) in learned.dismissed {
            *merged.dismissed.entry(key).or_default() += count;
        }
        for (key, count) in learned.effects {
            *merged.effects.entry(key).or_default() += count;
        }
        for (op, (sequence, message)) in learned.documented {
            let known = merged.documented.get(&op);
            if known.is_none_or(|(known, _)| sequence.len() < known.len()) {
                merged.documented.insert(op, (sequence, message));
            }
        }
        merged.stateful.extend(learned.stateful);
        merged.sharing.extend(learned.sharing);
        for op in 0..u32::try_from(learned.choice.len()).unwrap_or(0) {
            merged.choice.tally_mut(OpId(op)).join(learned.choice.tally(OpId(op)));
        }
        merged.by_length.join(&learned.by_length);
        merged.corpus.extend(learned.corpus);
        merged.others.extend(learned.others);
        merged.makers.extend(learned.makers);
        merged.replayed.sequences += learned.replayed.sequences;
        merged.replayed.illegal += learned.replayed.illegal;
        merged.replayed.cut_short |= learned.replayed.cut_short;
        merged.distinct += learned.distinct;
        merged.pool += learned.pool;
        merged.edges.extend(learned.edges);
        merged.branches.join(learned.branches);
        // Each by itself: which job is ahead is a matter of chance, its number of executions is not.
        let (seconds, executions) = learned.last_new;
        merged.last_new = (merged.last_new.0.max(seconds), merged.last_new.1.max(executions));
    }
    merged.edges.sort_unstable();
    merged.edges.dedup();
    merged
}

pub(crate) fn make_folder(path: &Path) -> Result<(), EngineError> {
    std::fs::create_dir_all(path).map_err(|source| EngineError::Write { path: path.to_owned(), source })
}
