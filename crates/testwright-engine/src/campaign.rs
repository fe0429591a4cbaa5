//! The loop: propose, run, judge, until the budget is spent; then shorten, confirm and report.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_emit::Imports;
use testwright_emit::report::{self, Report};
use testwright_execute::{Batch, EffectKind, Execution, Worker};
use testwright_harness::{TestBench, Variant};
use testwright_model::OpId;
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step};
use testwright_wire::record::want;

use crate::confirm::{Confirmation, Confirmer, first_line};
use crate::direct::Maker;
use crate::judge::{Failure, Tier, Verdict, judge};
use crate::workbench::{Tell, Workbench};
use crate::{EngineError, encode, minimise};

/// What the user asked for, resolved.
#[derive(Clone, Debug)]
pub struct Plan {
    pub limit: Limit,
    pub seed: u64,
    pub jobs: usize,
    pub max_findings: usize,
    pub sanitizer: bool,
    /// The command line, for the headers of tests.
    pub command: String,
    pub tool: String,
    pub deny_undocumented: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Time(Duration),
    Executions(u64),
}

/// The end of a campaign.
#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    /// The findings' tests, in the report's order.
    pub tests: Vec<String>,
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
    pub stop: AtomicBool,
}

#[derive(Debug)]
pub struct Campaign<'a> {
    pub bench: &'a mut Workbench,
    pub plan: Plan,
    pub progress: &'a Progress,
}

/// A failure as it was first seen.
#[derive(Clone, Debug)]
struct Seen {
    failure: Failure,
    sequence: Sequence,
    at_s: f64,
    at_execution: u64,
}

#[derive(Debug, Default)]
struct Learned {
    failures: BTreeMap<(String, String, String, u32), Seen>,
    dismissed: BTreeMap<(String, String), u64>,
    effects: BTreeMap<(String, &'static str, bool), u64>,
    /// Operations whose results depend on what ran before in the process.
    stateful: HashSet<OpId>,
}

/// Sequences in a batch.
const BATCH: usize = 200;
/// One batch in so many is compared with runs in fresh processes; so are those that call what was never compared.
const STEADINESS: u64 = 24;
/// A batch of this size comes first: nothing is known yet about how long sequences take.
const FIRST_BATCH: usize = 8;
/// Under a time budget, a batch should not take longer.
const BATCH_TIME: Duration = Duration::from_millis(250);

impl Campaign<'_> {
    pub fn run(&mut self, tell: Tell<'_>) -> Result<Outcome, EngineError> {
        let start = Instant::now();
        let scratch = self.bench.places.work.join("scratch");
        make_folder(&scratch)?;
        tell("building the worker");
        let quick = matches!(self.plan.limit, Limit::Time(_));
        let variant = if quick { Variant::quick() } else { Variant::fast() };
        let built = self.bench.build(&variant)?;
        let build_s = start.elapsed().as_secs_f64();
        tell(&format!("worker ready after {build_s:.1} s; searching"));
        // The first worker tells about the types; workers of the jobs are started by their own threads.
        drop(self.bench.start_worker(built.binary.clone(), scratch.clone(), true)?);
        let learned = Mutex::new(Learned::default());
        let searching = Instant::now();
        let newer: Mutex<Option<PathBuf>> = Mutex::new(None);
        std::thread::scope(|scope| -> Result<(), EngineError> {
            if quick {
                let (harness, newer) = (&self.bench.harness, &newer);
                let short = matches!(self.plan.limit, Limit::Time(limit) if limit < Duration::from_secs(8));
                if !short {
                    scope.spawn(move || {
                        if let Ok(fast) = harness.build(&Variant::fast()) {
                            *newer.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                                Some(fast.binary);
                        }
                    });
                }
            }
            let handles: Vec<_> = (0..self.plan.jobs)
                .map(|job| {
                    let campaign = &*self;
                    let (built, scratch, learned, newer) = (&built.binary, &scratch, &learned, &newer);
                    scope.spawn(move || campaign.search(job, built, newer, scratch, learned, searching))
                })
                .collect();
            for handle in handles {
                handle.join().map_err(|_| EngineError::Internal("a search thread panicked".to_owned()))??;
            }
            Ok(())
        })?;
        let searched = searching.elapsed().as_secs_f64();
        tell("confirming what was found");
        let learned = learned.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.finish(learned, &scratch, start, searched, build_s, tell)
    }

    /// One job: a worker, a generator of its own, batches until the budget is spent.
    fn search(
        &self,
        job: usize,
        binary: &Path,
        newer: &Mutex<Option<PathBuf>>,
        scratch: &Path,
        learned: &Mutex<Learned>,
        start: Instant,
    ) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        let maker = Maker::new(operations, &self.bench.usable);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(
            self.plan.seed.wrapping_mul(1_000_003).wrapping_add(job as u64),
        );
        let mut current = binary.to_owned();
        let mut worker = self.worker(&current, scratch, job)?;
        let mut batches = 0u64;
        let share = |total: u64| total.div_ceil(self.plan.jobs as u64);
        let mut done = 0u64;
        let mut memory = Memory::default();
        let mut restarts = 0;
        let mut room = if matches!(self.plan.limit, Limit::Time(_)) { FIRST_BATCH } else { BATCH };
        loop {
            let over = match self.plan.limit {
                Limit::Time(limit) => start.elapsed() >= limit,
                Limit::Executions(total) => done >= share(total),
            };
            if over || self.progress.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let fast = newer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
            if let Some(fast) = fast.filter(|fast| *fast != current) {
                current = fast;
                worker = self.worker(&current, scratch, job)?;
                restarts = 0;
                // Another build has other counters.
                self.progress.edges.store(0, Ordering::Relaxed);
            }
            let size = match self.plan.limit {
                Limit::Executions(total) => BATCH.min(usize::try_from(share(total) - done).unwrap_or(BATCH)),
                Limit::Time(_) => room,
            };
            let mut sequences = Vec::with_capacity(size);
            while sequences.len() < size {
                let length = 1 + (rng_length(&mut rng) % 16);
                if let Some(sequence) = maker.sequence(&mut rng, length, None) {
                    if memory.takes(&sequence, &mut rng) {
                        sequences.push(sequence);
                    }
                }
            }
            done += sequences.len() as u64;
            let began = Instant::now();
            self.run_batch(&mut worker, &sequences, learned, start, &mut memory)?;
            if matches!(self.plan.limit, Limit::Time(_)) {
                let took = began.elapsed();
                room = if took > BATCH_TIME { (room / 4).max(1) } else { (room * 2).min(BATCH) };
            }
            batches += 1;
            self.compare_with_fresh(
                &mut worker,
                &sequences,
                learned,
                &mut memory,
                batches.is_multiple_of(STEADINESS),
            )?;
            let now = worker.statistics().restarts;
            self.progress.restarts.fetch_add(now.saturating_sub(restarts), Ordering::Relaxed);
            restarts = now;
            self.progress.edges.fetch_max(worker.seen_count() as u64, Ordering::Relaxed);
            self.progress.edges_total.store(worker.catalogue().counters_total, Ordering::Relaxed);
        }
    }

    #[expect(clippy::unused_self, reason = "reads as what the campaign does")]
    fn worker(&self, binary: &Path, scratch: &Path, job: usize) -> Result<Worker, EngineError> {
        let folder = scratch.join(format!("job-{job}"));
        make_folder(&folder)?;
        let plan = testwright_execute::WorkerPlan::new(binary, folder);
        Ok(Worker::start(plan)?)
    }

    fn run_batch(
        &self,
        worker: &mut Worker,
        sequences: &[Sequence],
        learned: &Mutex<Learned>,
        start: Instant,
        memory: &mut Memory,
    ) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        let stateful = lock(learned).stateful.clone();
        let (fresh, usual): (Vec<&Sequence>, Vec<&Sequence>) = sequences
            .iter()
            .partition(|sequence| !stateful.is_empty() && calls(sequence).any(|op| stateful.contains(&op)));
        for (part, isolated) in [(usual, false), (fresh, true)] {
            let mut batch = Batch::new(0);
            let mut encoded = Vec::new();
            for sequence in part {
                if encode::append(operations, sequence, worker, &mut batch) {
                    encoded.push(sequence);
                }
            }
            if batch.is_empty() {
                continue;
            }
            let outcome = if isolated { worker.run_fresh(&batch)? } else { worker.run(&batch)? };
            self.progress.calls.fetch_add(outcome.calls, Ordering::Relaxed);
            let before = self.progress.sequences.fetch_add(encoded.len() as u64, Ordering::Relaxed);
            for (index, (sequence, execution)) in encoded.iter().zip(&outcome.executions).enumerate() {
                self.learn(sequence, execution, before + index as u64, learned, start);
                memory.remember(sequence, execution);
            }
        }
        Ok(())
    }

    fn learn(
        &self,
        sequence: &Sequence,
        execution: &Execution,
        number: u64,
        learned: &Mutex<Learned>,
        start: Instant,
    ) {
        let operations = &self.bench.operations;
        if let Some(details) = &execution.details {
            for effect in &details.effects {
                let op = match sequence.steps.get(effect.step as usize) {
                    Some(Step::Call { op, .. }) => operations.get(*op).path.clone(),
                    _ => "end of a sequence".to_owned(),
                };
                *lock(learned).effects.entry((op, kind_name(effect.kind), effect.allowed)).or_default() += 1;
            }
        }
        match judge(operations, sequence, execution) {
            Verdict::Passes => {}
            Verdict::Illegal(reason) => {
                self.progress.illegal.fetch_add(1, Ordering::Relaxed);
                let op = match sequence.steps.get(execution.step as usize) {
                    Some(Step::Call { op, .. }) => operations.get(*op).path.clone(),
                    _ => String::new(),
                };
                *lock(learned).dismissed.entry((reason.to_owned(), op)).or_default() += 1;
            }
            Verdict::Failing(failure) => {
                let mut learned = lock(learned);
                let seen = Seen {
                    sequence: sequence.clone(),
                    at_s: start.elapsed().as_secs_f64(),
                    at_execution: number,
                    failure,
                };
                let known = learned.failures.entry(seen.failure.key()).or_insert_with(|| {
                    self.progress.failures.fetch_add(1, Ordering::Relaxed);
                    seen.clone()
                });
                // A shorter way to the same failure is a better start.
                if seen.sequence.len() < known.sequence.len() {
                    known.sequence = seen.sequence;
                    known.failure = seen.failure;
                }
            }
        }
    }

    /// Runs a few sequences here and in fresh processes: results that differ come from state that outlives a sequence.
    fn compare_with_fresh(
        &self,
        worker: &mut Worker,
        sequences: &[Sequence],
        learned: &Mutex<Learned>,
        memory: &mut Memory,
        any: bool,
    ) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        // Each runs twice in the old process: the second run sees what the first left behind, whatever died in between.
        let (mut twice, mut once) = (Batch::new(want::RESULTS), Batch::new(want::RESULTS));
        let mut encoded = Vec::new();
        for sequence in sequences.iter().rev() {
            if encoded.len() == COMPARED {
                break;
            }
            let due = any || calls(sequence).any(|op| !memory.compared.contains(&op));
            if !due || memory.kills(sequence) {
                continue;
            }
            if encode::append(operations, sequence, worker, &mut once)
                && encode::append(operations, sequence, worker, &mut twice)
                && encode::append(operations, sequence, worker, &mut twice)
            {
                memory.compared.extend(calls(sequence));
                encoded.push(sequence);
            }
        }
        if encoded.is_empty() {
            return Ok(());
        }
        let worn = worker.run(&twice)?;
        let fresh = worker.run_fresh(&once)?;
        let worn = worn.executions.iter().skip(1).step_by(2);
        for (sequence, (worn, fresh)) in encoded.iter().zip(worn.zip(&fresh.executions)) {
            let results =
                |execution: &Execution| execution.details.as_ref().map(|details| details.results.clone());
            let (Some(worn), Some(fresh)) = (results(worn), results(fresh)) else { continue };
            let differs = worn.iter().zip(&fresh).position(|(worn, fresh)| worn != fresh);
            let made = sequence.steps.iter().filter(|step| step.makes_value());
            if let Some(Step::Call { op, .. }) = differs.and_then(|value| made.clone().nth(value)) {
                let path = operations.get(*op).path.clone();
                let mut learned = lock(learned);
                if learned.stateful.insert(*op) {
                    *learned.effects.entry((path, "state", true)).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "the end of a campaign, in the order in which it happens")]
    fn finish(
        &self,
        learned: Learned,
        scratch: &Path,
        start: Instant,
        searched: f64,
        build_s: f64,
        tell: Tell<'_>,
    ) -> Result<Outcome, EngineError> {
        let subject = &self.bench.subject;
        let operations = &self.bench.operations;
        let mut dismissed = learned.dismissed;
        let mut findings = Vec::new();
        let mut tests = Vec::new();
        let mut names = HashSet::new();
        if !learned.failures.is_empty() {
            let bench = TestBench::open(subject, &self.bench.foreign, "2021", &self.bench.places)?;
            let confirmer = Confirmer {
                bench: &bench,
                imports: Imports { lib: subject.lib.clone(), foreign: self.bench.foreign.clone() },
                scratch,
                header: format!(
                    "Found by {} in {} {} with seed {}:\n`{}`",
                    self.plan.tool, subject.package, subject.version, self.plan.seed, self.plan.command
                ),
                sanitizer: self.plan.sanitizer,
            };
            let built = self.bench.harness.build(&Variant::quick())?;
            let mut worker = self.worker(&built.binary, scratch, 0)?;
            let mut failures: Vec<Seen> = learned.failures.into_values().collect();
            failures.sort_by_key(|a| (a.failure.tier, a.at_execution));
            for seen in failures {
                if findings.len() >= self.plan.max_findings {
                    break;
                }
                let original = subject_calls(operations, &seen.sequence);
                let Some(short) = shorten(operations, &seen, &mut worker)? else {
                    *dismissed.entry(("not seen again".to_owned(), seen.failure.operation)).or_default() += 1;
                    continue;
                };
                let name = unique_name(&seen.failure, &mut names);
                tell(&format!("confirming {name}"));
                let stopping = || self.progress.stop.load(Ordering::SeqCst);
                let attempt = || confirmer.confirm(operations, &short, &seen.failure, &name);
                let before = stopping();
                let mut confirmation = attempt();
                // Cargo hears a Ctrl-C too and gives up; the finding is not to be lost by that.
                if !before && stopping() && !matches!(confirmation, Ok(Confirmation::Confirmed(_))) {
                    confirmation = attempt();
                }
                match confirmation? {
                    Confirmation::Confirmed(proof) => {
                        tests.push(proof.source.clone());
                        findings.push(self.finding(&seen, &short, original, &proof));
                    }
                    Confirmation::DoesNotCompile(words) => {
                        let reason = format!("its test does not compile: {}", first_line(&words));
                        *dismissed.entry((reason, seen.failure.operation)).or_default() += 1;
                    }
                    Confirmation::NotReproduced(instead) => {
                        let reason = format!(
                            "not reproduced by its test ({instead}): {}",
                            first_line(&seen.failure.message)
                        );
                        *dismissed.entry((reason, seen.failure.operation)).or_default() += 1;
                    }
                }
            }
        }
        let progress = self.progress;
        let calls = progress.calls.load(Ordering::Relaxed);
        let bugs = findings.iter().any(|finding: &report::Finding| finding.tier == Tier::Bug.name());
        let interrupted = progress.stop.load(Ordering::Relaxed);
        let exit = if interrupted {
            130
        } else {
            u8::from(bugs || (self.plan.deny_undocumented && !findings.is_empty()))
        };
        let report = Report {
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
                sequences: progress.sequences.load(Ordering::Relaxed),
                calls,
                calls_per_s: if searched > 0.0 { (calls as f64 / searched).round() } else { 0.0 },
                illegal: progress.illegal.load(Ordering::Relaxed),
                restarts: progress.restarts.load(Ordering::Relaxed),
            },
            coverage: report::Coverage {
                edges_hit: progress.edges.load(Ordering::Relaxed),
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
            regression: report::Regression::default(),
            contracts: Vec::new(),
        };
        Ok(Outcome { report, tests })
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
            items: bench.callables.len() + bench.skipped.len(),
            operations: bench.usable.len(),
            skipped,
        }
    }

    fn finding(
        &self,
        seen: &Seen,
        short: &Sequence,
        original_calls: usize,
        confirmed: &crate::confirm::Confirmed,
    ) -> report::Finding {
        let failure = &seen.failure;
        let location = (!failure.file.is_empty()).then(|| report::Location {
            file: package_path(&failure.file, &self.bench.subject),
            line: failure.line,
        });
        let function = location.as_ref().map_or("", |location| location.file.as_str());
        report::Finding {
            id: finding_id(failure.class, &failure.operation, function, &failure.message),
            tier: failure.tier.name().to_owned(),
            class: failure.class.to_owned(),
            operation: failure.operation.clone(),
            message: failure.message.clone(),
            location,
            strategy: "random".to_owned(),
            calls: subject_calls(&self.bench.operations, short),
            original_calls,
            first_seen_s: (seen.at_s * 1000.0).round() / 1000.0,
            first_seen_execution: seen.at_execution,
            confirm: report::Confirm {
                overflow_checks: confirmed.confirm.overflow_checks,
                debug_assertions: confirmed.confirm.debug_assertions,
                opt_level: confirmed.confirm.opt_level,
                sanitizer: if confirmed.confirm.sanitizer { "address" } else { "none" }.to_owned(),
            },
            test: report::Test {
                name: confirmed.name.clone(),
                file: "tests/testwright_findings.rs".to_owned(),
                source: confirmed.source.clone(),
            },
        }
    }
}

/// Sequences of a batch that are compared with fresh processes, at most.
const COMPARED: usize = 6;

/// What one job knows about operations. It is the job's own, so that it does not depend on the others' pace.
#[derive(Debug, Default)]
struct Memory {
    /// How often a call ended its worker.
    deaths: std::collections::HashMap<OpId, u32>,
    /// Operations that were compared with fresh processes.
    compared: HashSet<OpId>,
}

impl Memory {
    fn remember(&mut self, sequence: &Sequence, execution: &Execution) {
        if let (true, Some(Step::Call { op, .. })) =
            (execution.died(), sequence.steps.get(execution.step as usize))
        {
            *self.deaths.entry(*op).or_default() += 1;
        }
    }

    fn kills(&self, sequence: &Sequence) -> bool {
        calls(sequence).any(|op| self.deaths.contains_key(&op))
    }

    /// Whether a sequence is worth running: what has ended workers before is called ever more rarely.
    fn takes(&self, sequence: &Sequence, rng: &mut Xoshiro256PlusPlus) -> bool {
        use rand::Rng;
        let deaths = calls(sequence).filter_map(|op| self.deaths.get(&op)).max().copied().unwrap_or(0);
        deaths < 2 || rng.random_ratio(1, deaths.saturating_mul(deaths).min(1024))
    }
}

fn lock(learned: &Mutex<Learned>) -> std::sync::MutexGuard<'_, Learned> {
    learned.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn rng_length(rng: &mut Xoshiro256PlusPlus) -> usize {
    use rand::Rng;
    rng.random_range(0..1024)
}

fn calls(sequence: &Sequence) -> impl Iterator<Item = OpId> + '_ {
    sequence.steps.iter().filter_map(|step| match step {
        Step::Call { op, .. } => Some(*op),
        _ => None,
    })
}

/// Calls into the crate under test.
fn subject_calls(operations: &Operations, sequence: &Sequence) -> usize {
    calls(sequence).filter(|op| operations.get(*op).is_subject()).count()
}

/// The shortest sequence found that fails in the same way, or `None` if the failure does not come again.
fn shorten(
    operations: &Operations,
    seen: &Seen,
    worker: &mut Worker,
) -> Result<Option<Sequence>, EngineError> {
    let key = seen.failure.key();
    let mut error = None;
    let mut same = |candidates: &[Sequence]| -> Vec<bool> {
        let mut verdicts = vec![false; candidates.len()];
        if error.is_some() {
            return verdicts;
        }
        let mut batch = Batch::new(0);
        let mut numbers = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            if encode::append(operations, candidate, worker, &mut batch) {
                numbers.push(index);
            }
        }
        if batch.is_empty() {
            return verdicts;
        }
        match worker.run(&batch) {
            Ok(outcome) => {
                for (index, execution) in numbers.into_iter().zip(&outcome.executions) {
                    verdicts[index] = matches!(
                        judge(operations, &candidates[index], execution),
                        Verdict::Failing(failure) if failure.key() == key
                    );
                }
            }
            Err(why) => error = Some(why),
        }
        verdicts
    };
    let again = same(std::slice::from_ref(&seen.sequence));
    let short = if again.first() == Some(&true) {
        Some(minimise::remove_calls(operations, seen.sequence.clone(), &mut same))
    } else {
        None
    };
    match error {
        Some(error) => Err(error.into()),
        None => Ok(short),
    }
}

fn kind_name(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Network => "network",
        EffectKind::Files => "files",
        EffectKind::Process => "process",
        EffectKind::Signal => "signal",
        EffectKind::Other => "other",
        EffectKind::Thread => "thread",
        EffectKind::Sleep => "sleep",
    }
}

/// `push_panics`, `get_mut_overflows` …
fn unique_name(failure: &Failure, names: &mut HashSet<String>) -> String {
    let call: String = failure
        .operation
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { ' ' })
        .collect::<String>()
        .split_whitespace()
        .filter(|word| *word != "as")
        .collect::<Vec<_>>()
        .join("_");
    let does = match failure.class {
        "overflow" => "overflows",
        "index" => "goes_out_of_bounds",
        "unwrap" => "unwraps_nothing",
        "abort" if failure.message.starts_with("the process was made to exit") => "exits",
        "abort" => "aborts",
        "hang" => "does_not_end",
        "stack-overflow" => "overflows_the_stack",
        "out-of-memory" => "runs_out_of_memory",
        "memory" => "breaks_memory_safety",
        "leak" => "leaks",
        _ => "panics",
    };
    let base = format!("{call}_{does}");
    let mut name = base.clone();
    let mut number = 2;
    while !names.insert(name.clone()) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// A place in the source, by package: `slab/src/lib.rs`.
fn package_path(file: &str, subject: &testwright_harness::Subject) -> String {
    let path = Path::new(file);
    if let Ok(inside) = path.strip_prefix(&subject.root) {
        return format!("{}/{}", subject.package, inside.display());
    }
    if path.is_relative() {
        return format!("{}/{file}", subject.package);
    }
    if let Some((_, inside)) = file.split_once("/registry/src/") {
        return inside.split_once('/').map_or(inside, |(_, rest)| rest).to_owned();
    }
    if let Some((_, inside)) = file.split_once("/library/") {
        return format!("std/{inside}");
    }
    file.to_owned()
}

/// An id that survives shifts of lines: numbers in the message do not count.
fn finding_id(class: &str, operation: &str, file: &str, message: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let message: String = message.chars().filter(|c| !c.is_ascii_digit()).collect();
    for part in [class, operation, file, &message] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

fn make_folder(path: &Path) -> Result<(), EngineError> {
    std::fs::create_dir_all(path).map_err(|source| EngineError::Write { path: path.to_owned(), source })
}
