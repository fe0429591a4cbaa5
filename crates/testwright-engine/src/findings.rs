//! From failures to findings: each is shortened, printed as a test, compiled, and seen to fail.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use testwright_emit::Imports;
use testwright_emit::report;
use testwright_execute::{Batch, Worker, WorkerPlan};
use testwright_harness::{Coverage, TestBench, Variant};
use testwright_model::operation::Operations;
use testwright_model::sequence::Sequence;

use crate::campaign::{Limit, Plan, Progress, Sanitizer, make_folder};
use crate::confirm::{Candidate, Confirmation, Confirmed, Confirmer, first_line};
use crate::judge::{FORBIDDEN, Failure, LEAK, Tier, Verdict, judge};
use crate::minimise::{self, Plainest};
use crate::search::{Seen, calls};
use crate::share::share;
use crate::workbench::{Tell, Workbench};
use crate::{EngineError, encode};

/// What became of the failures.
#[derive(Debug, Default)]
pub struct Found {
    pub findings: Vec<report::Finding>,
    /// The findings' tests, in the same order.
    pub tests: Vec<String>,
    /// Their shortened sequences, in the same order.
    pub sequences: Vec<Sequence>,
    /// Failures that no test shows: reason and operation.
    pub dismissed: BTreeMap<(String, String), u64>,
    /// What it took to shorten them.
    pub shorten_s: f64,
}

/// A shortened sequence, and how it fails.
type Short = (Sequence, Failure);

/// Candidates that are run to shorten one failure, at most.
const PATIENCE: usize = 6000;
/// And under a time budget, this part of it is spent on all failures together, but some time on each anyway.
const SHARE: u32 = 10;
const SOME_TIME: Duration = Duration::from_secs(1);
/// A candidate that hangs counts as so many.
const COST_OF_A_HANG: usize = 1000;
/// And any candidate for one.
const COST_OF_A_SUSPECT: usize = 100;

/// Shortens and confirms, the worst and earliest first.
pub fn settle(
    bench: &Workbench,
    plan: &Plan,
    progress: &Progress,
    failures: Vec<Seen>,
    scratch: &Path,
    tell: Tell<'_>,
) -> Result<Found, EngineError> {
    let mut found = Found::default();
    let mut failures = failures;
    failures.sort_by(|a, b| {
        let rank = |seen: &Seen| (seen.failure.tier, seen.failure.severity(), seen.at_execution);
        (rank(a), a.failure.key()).cmp(&(rank(b), b.failure.key()))
    });
    if failures.is_empty() {
        return Ok(found);
    }
    take_turns(&mut failures, 2 * plan.max_findings, |seen| {
        (seen.failure.tier, seen.failure.class.to_owned())
    });
    let mut names = HashSet::new();
    let mut shortened: Vec<(Seen, Sequence, usize, String)> = Vec::new();
    let began = Instant::now();
    let shortening = shorten_all(bench, plan, failures, scratch)?;
    // With a number of executions, the same must come out every time.
    if plan.is_timed() {
        found.shorten_s = began.elapsed().as_secs_f64();
    }
    for (mut seen, short) in shortening {
        let Some((short, failure)) = short else {
            *found.dismissed.entry(("not seen again".to_owned(), seen.failure.operation)).or_default() += 1;
            continue;
        };
        seen.failure = failure;
        if seen.failure.class == LEAK {
            // Which call leaks is clear only when it is short; several failures may be the same.
            let same = |other: &Failure| other.class == LEAK && other.operation == seen.failure.operation;
            if shortened.iter().any(|(other, ..)| same(&other.failure)) {
                continue;
            }
        }
        let original = subject_calls(&bench.operations, &seen.sequence);
        let name = unique_name(&seen.failure, &mut names);
        shortened.push((seen, short, original, name));
    }
    let subject = &bench.subject;
    let tests = TestBench::open(subject, &bench.foreign, "2021", &bench.places)?;
    let confirmer = Confirmer {
        bench: &tests,
        imports: Imports { lib: subject.lib.clone(), foreign: bench.foreign.clone() },
        scratch,
        header: format!(
            "Found by {} in {} {} with seed {}:\n`{}`",
            plan.tool, subject.package, subject.version, plan.seed, plan.command
        ),
        sanitizer: plan.sanitizer != Sanitizer::Never,
    };
    let candidates: Vec<Candidate<'_>> = shortened
        .iter()
        .map(|(seen, short, _, name)| Candidate {
            sequence: short,
            failure: &seen.failure,
            variant: seen.variant,
            name,
        })
        .collect();
    tell(&format!("confirming {} failures, each by a test of its own", candidates.len()));
    let stopping = || progress.stop.load(Ordering::SeqCst);
    let before = stopping();
    let mut confirmations = confirmer.confirm_all(&bench.operations, &candidates);
    // Cargo hears a Ctrl-C too and gives up; the findings are not to be lost by that.
    if !before && stopping() {
        confirmations = confirmer.confirm_all(&bench.operations, &candidates);
    }
    let mut proven: Vec<Proven> = Vec::new();
    for ((seen, short, original, _), confirmation) in shortened.iter().zip(confirmations?) {
        let operation = seen.failure.operation.clone();
        let reason = match confirmation {
            Confirmation::Confirmed(proof) => {
                let mut finding = finding(bench, seen, short, *original, &proof);
                // Two places of one operation may say the same.
                let same = proven.iter().filter(|(_, other, ..)| other.id.starts_with(&finding.id)).count();
                if same > 0 {
                    finding.id = format!("{}-{}", finding.id, same + 1);
                }
                if let Some(reason) = plan.accepted.get(&finding.id) {
                    let key = (format!("accepted ({}): {reason}", finding.id), operation);
                    *found.dismissed.entry(key).or_default() += 1;
                    continue;
                }
                proven.push((seen.failure.tier, finding, proof.source.clone(), short.clone()));
                continue;
            }
            Confirmation::DoesNotCompile(words) => {
                format!("its test does not compile: {}", first_line(&words))
            }
            Confirmation::Forbidden => FORBIDDEN.to_owned(),
            Confirmation::NotReproduced(instead) => {
                format!("not reproduced by its test ({instead}): {}", first_line(&seen.failure.message))
            }
        };
        *found.dismissed.entry((reason, operation)).or_default() += 1;
    }
    found.keep(proven, plan.max_findings, tell);
    Ok(found)
}

/// A finding of a tier, its test, and its sequence.
type Proven = (Tier, report::Finding, String, Sequence);

impl Found {
    /// Takes over findings, so many at most; how many more there were is told.
    fn keep(&mut self, mut proven: Vec<Proven>, most: usize, tell: Tell<'_>) {
        let all = proven.len();
        take_turns(&mut proven, most, |(tier, finding, ..)| (*tier, finding.class.clone()));
        if all > most {
            tell(&format!("{} more findings were confirmed than --max-findings lets through", all - most));
        }
        for (_, finding, test, sequence) in proven {
            self.findings.push(finding);
            self.tests.push(test);
            self.sequences.push(sequence);
        }
    }
}

/// Leaves so many at most, of each tier and class in turn: fifty overflows are not to hide the only broken law. The order of what is left
/// stays as it is.
fn take_turns<T>(all: &mut Vec<T>, most: usize, kind: impl Fn(&T) -> (Tier, String)) {
    let mut turns: BTreeMap<(Tier, String), usize> = BTreeMap::new();
    let mut ranked: Vec<(Tier, usize, usize)> = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let kind = kind(one);
        let tier = kind.0;
        let turn = turns.entry(kind).or_default();
        ranked.push((tier, *turn, index));
        *turn += 1;
    }
    ranked.sort_unstable();
    let kept: HashSet<usize> = ranked.into_iter().take(most).map(|(.., index)| index).collect();
    let mut index = 0;
    all.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
}

/// Shortens all failures, several at a time; in the order in which they came.
fn shorten_all(
    bench: &Workbench,
    plan: &Plan,
    failures: Vec<Seen>,
    scratch: &Path,
) -> Result<Vec<(Seen, Option<Short>)>, EngineError> {
    let plainest = Plainest::of(&bench.operations, &bench.usable);
    let time = match plan.limit {
        Limit::Time(budget) => {
            let number = u32::try_from(failures.len()).unwrap_or(u32::MAX).max(1);
            Some(SOME_TIME.max(budget / SHARE / number))
        }
        Limit::Executions(_) => None,
    };
    let own = |job: usize| (job, BTreeMap::<Variant, Worker>::new());
    let short = share(plan.jobs, failures.len(), own, |(job, workers), index| {
        let seen = &failures[index];
        let variant = quick_of(seen.variant);
        let worker = match workers.entry(variant) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let built = bench.harness.build(&variant)?;
                let mut order = WorkerPlan::new(built.binary, scratch.join(format!("shorten-{job}")));
                order.coverage = false;
                order.limits.memory = crate::search::MEMORY;
                make_folder(&order.scratch)?;
                entry.insert(Worker::start(order)?)
            }
        };
        shorten(&bench.operations, &plainest, seen, worker, time)
    })?;
    Ok(failures.into_iter().zip(short).collect())
}

/// The build that compiles soonest and shows the same.
fn quick_of(variant: Variant) -> Variant {
    let counted = variant.counts() && !variant.sanitizer;
    let coverage = if counted { Coverage::Lines } else { Coverage::Off };
    Variant { opt_level: 0, coverage, ..variant }
}

fn finding(
    bench: &Workbench,
    seen: &Seen,
    short: &Sequence,
    original_calls: usize,
    confirmed: &Confirmed,
) -> report::Finding {
    let failure = &seen.failure;
    let location = (!failure.file.is_empty())
        .then(|| report::Location { file: package_path(&failure.file, &bench.subject), line: failure.line });
    let function = location.as_ref().map_or("", |location| location.file.as_str());
    report::Finding {
        id: finding_id(failure.class, &failure.operation, function, &failure.message),
        tier: failure.tier.name().to_owned(),
        class: failure.class.to_owned(),
        operation: failure.operation.clone(),
        message: failure.message.clone(),
        location,
        strategy: "directed".to_owned(),
        calls: subject_calls(&bench.operations, short),
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
        ..report::Finding::default()
    }
}

/// Calls into the crate under test.
pub fn subject_calls(operations: &Operations, sequence: &Sequence) -> usize {
    calls(sequence).filter(|op| operations.get(*op).is_subject()).count()
}

/// The plainest sequence found in that time that fails in the same way, and its own failure, because numbers in the message may be
/// others now; `None` if the failure does not come again.
fn shorten(
    operations: &Operations,
    plainest: &Plainest,
    seen: &Seen,
    worker: &mut Worker,
    time: Option<Duration>,
) -> Result<Option<Short>, EngineError> {
    let (mut error, mut shown) = (None, None);
    // To ask for all memory takes time too.
    let hangs = matches!(seen.failure.class, "hang" | "out-of-memory");
    let unwinds = matches!(seen.failure.class, "panic" | LEAK)
        || seen.failure.class.starts_with("law:")
        || seen.failure.is_contract();
    let dies = !unwinds && seen.failure.file.is_empty();
    let chunk_size = if hangs {
        1
    } else if dies {
        8
    } else {
        200
    };
    let mut patience = PATIENCE;
    let began = Instant::now();
    let mut same = |candidates: &[Sequence]| -> Vec<bool> {
        let mut verdicts = vec![false; candidates.len()];
        if error.is_some() {
            return verdicts;
        }
        // The shortest come first, and the first that does it is taken: what costs a process or a whole time limit is
        // not run for the others.
        for (part, chunk) in candidates.chunks(chunk_size).enumerate() {
            // Candidates of a hang that do not hang may still take nearly as long.
            let cost = chunk.len() * if hangs { COST_OF_A_SUSPECT } else { 1 };
            if patience < cost || time.is_some_and(|time| began.elapsed() > time) {
                break;
            }
            patience -= cost;
            match failing(operations, chunk, worker, &seen.failure) {
                Ok(found) => {
                    for (place, failure) in found.iter().enumerate() {
                        verdicts[part * chunk_size + place] = failure.is_some();
                    }
                    // The first that does it is the one that is taken.
                    if let Some(failure) = found.into_iter().flatten().next() {
                        shown = Some(failure);
                        // A success is what costs.
                        patience = patience.saturating_sub(if hangs { COST_OF_A_HANG } else { 0 });
                        break;
                    }
                }
                Err(why) => {
                    error = Some(why);
                    break;
                }
            }
        }
        verdicts
    };
    let mut again = |sequence: &Sequence| same(std::slice::from_ref(sequence)) == [true];
    let slice = minimise::slice(operations, &seen.sequence, seen.failure.step);
    let start = slice.filter(&mut again).or_else(|| Some(seen.sequence.clone()).filter(&mut again));
    let short = start.map(|start| minimise::simplify(operations, plainest, start, &mut same));
    match error {
        Some(error) => Err(error),
        None => Ok(short.zip(shown)),
    }
}

/// Which of the candidates fail in the same way, and as badly: a plainer argument may be one that nobody should give.
fn failing(
    operations: &Operations,
    candidates: &[Sequence],
    worker: &mut Worker,
    seen: &Failure,
) -> Result<Vec<Option<Failure>>, EngineError> {
    let mut verdicts = vec![None; candidates.len()];
    let mut batch = Batch::new(0);
    let mut numbers = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if encode::append(operations, candidate, worker, &mut batch) {
            numbers.push(index);
        }
    }
    if batch.is_empty() {
        return Ok(verdicts);
    }
    for (index, execution) in numbers.into_iter().zip(&worker.run(&batch)?.executions) {
        if let Verdict::Failing(failure) = judge(operations, &candidates[index], execution) {
            let same = failure.key() == seen.key() || failure.class == LEAK && seen.class == LEAK;
            verdicts[index] = Some(failure).filter(|failure| same && failure.tier == seen.tier);
        }
    }
    Ok(verdicts)
}

/// A name for the finding's test that no other has.
pub fn unique_name(failure: &Failure, names: &mut HashSet<String>) -> String {
    let base = testwright_emit::finding_name(&failure.operation, failure.class, &failure.message);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_one_of_its_class_is_kept() {
        let kind = |class: &&str| {
            let tier = if class.starts_with('u') { Tier::UndocumentedPanic } else { Tier::Bug };
            (tier, (*class).to_owned())
        };
        let mut all = vec!["panic", "panic", "panic", "ub", "law"];
        take_turns(&mut all, 3, kind);
        assert_eq!(all, ["panic", "panic", "law"]);
        take_turns(&mut all, 3, kind);
        assert_eq!(all.len(), 3);
    }
}
