//! From failures to findings: each is shortened, printed as a test, compiled, and seen to fail.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::Ordering;

use testwright_emit::Imports;
use testwright_emit::report;
use testwright_harness::TestBench;
use testwright_model::operation::{Operations, Origin};
use testwright_model::sequence::{Sequence, Step};

use crate::EngineError;
use crate::campaign::{Limit, Plan, Progress, Sanitizer};
use crate::confirm::{Candidate, Confirmation, Confirmed, Confirmer, TIMEOUT, first_line};
use crate::judge::{FORBIDDEN, Failure, LEAK, Tier};
use crate::search::{Learned, Seen, calls};
use crate::second_look::SecondLook;
use crate::shorten::{Case, Shortener};
use crate::workbench::{Tell, Workbench};

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

/// Failures are tried in so many rounds, at most: where some of the first are not confirmed, others take their place.
const ROUNDS: usize = 3;

/// Hangs that are confirmed however short the search was.
const SOME_HANGS: usize = 4;

/// Shortens and confirms, the worst and earliest first.
pub fn settle(
    bench: &Workbench,
    plan: &Plan,
    progress: &Progress,
    learned: &mut Learned,
    scratch: &Path,
    tell: Tell<'_>,
) -> Result<Found, EngineError> {
    let mut found = Found::default();
    let mut failures: Vec<Seen> = std::mem::take(&mut learned.failures).into_values().collect();
    let mut look = SecondLook::new(&bench.subject.root);
    for seen in &mut failures {
        seen.tier = look.tier(&seen.failure);
    }
    failures.sort_by(|a, b| {
        let rank = |seen: &Seen| (seen.tier, seen.failure.severity(), seen.at_execution);
        (rank(a), a.failure.key()).cmp(&(rank(b), b.failure.key()))
    });
    if failures.is_empty() {
        return Ok(found);
    }
    let mut elsewhere = seen_elsewhere(&bench.operations, &mut failures);
    let subject = &bench.subject;
    let tests = TestBench::open(subject, &bench.foreign, "2021", &bench.places)?;
    let confirmer = Confirmer {
        bench: &tests,
        imports: Imports { lib: subject.lib.clone(), foreign: bench.foreign.clone() },
        subject,
        scratch,
        header: format!(
            "Found by {} in {} {} with seed {}:\n`{}`",
            plan.tool, subject.package, subject.version, plan.seed, plan.command
        ),
        sanitizer: plan.sanitizer != Sanitizer::Never,
    };
    let mut shortener = Shortener::new(bench, plan, &learned.makers, scratch);
    let mut round =
        Round { bench, plan, progress, confirmer, names: HashSet::new(), proven: Vec::new(), hangs: 0 };
    // Nothing is cut down that would find no room.
    for _ in 0..ROUNDS {
        if failures.is_empty() {
            failures = round.not_proven(std::mem::take(&mut elsewhere), &mut found);
        }
        let room = plan.max_findings.saturating_sub(round.proven.len());
        let some = take_turns(&mut failures, room, Kind::of);
        if some.is_empty() {
            break;
        }
        let mut cases = shortener.shorten(some, !failures.is_empty())?;
        if plan.compare_shortening {
            shortener.compare(&mut cases)?;
        }
        failures.extend(round.confirm(cases, &mut found, tell)?);
    }
    // With a number of executions, the same must come out every time.
    if plan.is_timed() {
        found.shorten_s = shortener.spent.as_secs_f64();
    }
    failures.extend(round.not_proven(elsewhere, &mut found));
    if !failures.is_empty() {
        tell(&format!("{} more failures were seen than --max-findings lets through", failures.len()));
    }
    for seen in failures {
        let key = ("more failures than --max-findings lets through".to_owned(), seen.failure.operation);
        *found.dismissed.entry(key).or_default() += 1;
    }
    let mut proven = round.proven;
    proven.sort_by_key(|proven| proven.rank);
    for Proven { finding, test, sequence, .. } in proven {
        found.findings.push(finding);
        found.tests.push(test);
        found.sequences.push(sequence);
    }
    Ok(found)
}

/// Takes out the panics of std's operations at places where another operation was seen to panic as badly: an iterator that panics when it
/// is dropped does so behind `min`, `last` and `count` alike.
fn seen_elsewhere(operations: &Operations, failures: &mut Vec<Seen>) -> Vec<Seen> {
    let is_std = |seen: &Seen| {
        let step = seen.sequence.steps.get(seen.failure.step);
        matches!(step, Some(Step::Call { op, .. }) if operations.get(*op).origin == Origin::Std)
    };
    let mut worst: BTreeMap<(&str, String, u32), Tier> = BTreeMap::new();
    // Whether a place is known for as much, and from now on it is.
    let mut is_known = |seen: &Seen| {
        let place = (seen.failure.class, seen.failure.file.clone(), seen.failure.line);
        let before = worst.get(&place).copied();
        worst.insert(place, before.map_or(seen.tier, |tier| tier.min(seen.tier)));
        before.is_some_and(|tier| tier <= seen.tier)
    };
    for seen in failures.iter().filter(|seen| !is_std(seen)) {
        is_known(seen);
    }
    let has_place = |seen: &Seen| !seen.failure.file.is_empty();
    let (again, kept) = std::mem::take(failures)
        .into_iter()
        .partition(|seen| is_std(seen) && has_place(seen) && is_known(seen));
    *failures = kept;
    again
}

/// A finding, its test, its sequence, and its place among others.
struct Proven {
    rank: (Tier, u8, u64),
    finding: report::Finding,
    test: String,
    sequence: Sequence,
}

/// The operations that leak alone: their leak came down to one call.
fn leakers<'f>(
    operations: &Operations,
    shortened: impl Iterator<Item = &'f (Sequence, Failure)>,
) -> HashSet<String> {
    let alone = |short: &Sequence| subject_calls(operations, short) == 1;
    let leaks = shortened.filter(|(short, failure)| failure.class == LEAK && alone(short));
    leaks.map(|(_, failure)| failure.operation.clone()).collect()
}

/// Whether a sequence of several calls has one of these operations among them.
fn calls_one_of(operations: &Operations, sequence: &Sequence, paths: &HashSet<String>) -> bool {
    subject_calls(operations, sequence) > 1
        && calls(sequence).any(|op| paths.contains(&operations.get(op).path))
}

/// A failure as it was found, and what was done to it.
struct Original {
    calls: usize,
    shortening: Option<report::Shortening>,
}

/// What the rounds share.
struct Round<'a> {
    bench: &'a Workbench,
    plan: &'a Plan,
    progress: &'a Progress,
    confirmer: Confirmer<'a>,
    names: HashSet<String>,
    proven: Vec<Proven>,
    /// Calls without an end that were met.
    hangs: usize,
}

impl Round<'_> {
    /// Tries the tests of shortened failures; reasons for those that are no findings go to `found`. Hands back what another build may
    /// show of those that were not seen again.
    fn confirm(
        &mut self,
        cases: Vec<Case>,
        found: &mut Found,
        tell: Tell<'_>,
    ) -> Result<Vec<Seen>, EngineError> {
        let operations = &self.bench.operations;
        let mut others = Vec::new();
        let mut shortened: Vec<(Seen, Sequence, Original, String)> = Vec::new();
        let mut leakers = leakers(operations, cases.iter().filter_map(|case| case.short.as_ref()));
        let alone = |finding: &report::Finding| finding.class == LEAK && finding.calls == 1;
        let proven = self.proven.iter().map(|proven| &proven.finding).filter(|finding| alone(finding));
        leakers.extend(proven.map(|finding| finding.operation.clone()));
        for Case { mut seen, short, effort, plain, .. } in cases {
            let Some((short, failure)) = short else {
                if let Some(again) = seen.again {
                    others.push(*again);
                    continue;
                }
                let key = ("not seen again".to_owned(), seen.failure.operation);
                *found.dismissed.entry(key).or_default() += 1;
                continue;
            };
            seen.failure = failure;
            if seen.failure.class == "hang" {
                self.hangs += 1;
                if self.hangs > most_hangs(self.plan) {
                    let key = ("more hangs than there is time to confirm".to_owned(), seen.failure.operation);
                    *found.dismissed.entry(key).or_default() += 1;
                    continue;
                }
            }
            if seen.failure.class == LEAK {
                // Which call leaks is clear only when it is short; several failures may be the same.
                let same =
                    |class: &str, operation: &str| class == LEAK && operation == seen.failure.operation;
                let now =
                    shortened.iter().any(|(other, ..)| same(other.failure.class, &other.failure.operation));
                let before =
                    self.proven.iter().any(|proven| same(&proven.finding.class, &proven.finding.operation));
                if now || before {
                    continue;
                }
                // Mostly one that there was no time to shorten.
                if calls_one_of(operations, &short, &leakers) {
                    let key = ("a leak beside a call that leaks alone".to_owned(), seen.failure.operation);
                    *found.dismissed.entry(key).or_default() += 1;
                    continue;
                }
            }
            // Those that there was no time for are as long as their slices.
            let effort =
                report::Effort { calls: subject_calls(operations, &short), steps: short.len(), ..effort };
            let calls = subject_calls(operations, &seen.sequence);
            let original =
                Original { calls, shortening: plain.map(|plain| report::Shortening { ours: effort, plain }) };
            let name = unique_name(&seen.failure, &mut self.names);
            shortened.push((seen, short, original, name));
        }
        let candidates: Vec<Candidate<'_>> = shortened
            .iter()
            .map(|(seen, short, _, name)| Candidate {
                sequence: short,
                failure: &seen.failure,
                variant: seen.variant,
                name,
            })
            .collect();
        if candidates.is_empty() {
            return Ok(others);
        }
        tell(&format!("confirming {} failures, each by a test of its own", candidates.len()));
        let stopping = || self.progress.stop.load(Ordering::SeqCst);
        let before = stopping();
        let mut confirmations = self.confirmer.confirm_all(operations, &candidates);
        // Cargo hears a Ctrl-C too and gives up; the findings are not to be lost by that.
        if !before && stopping() {
            confirmations = self.confirmer.confirm_all(operations, &candidates);
        }
        for ((seen, short, original, _), confirmation) in shortened.iter().zip(confirmations?) {
            let reason = match confirmation {
                Confirmation::Confirmed(proof) => match self.prove(seen, short, original, &proof) {
                    Ok(()) => continue,
                    Err(accepted) => accepted,
                },
                Confirmation::DoesNotCompile(words) => {
                    format!("its test does not compile: {}", first_line(&words))
                }
                Confirmation::Forbidden => FORBIDDEN.to_owned(),
                Confirmation::NotReproduced(instead) => {
                    format!("not reproduced by its test ({instead}): {}", first_line(&seen.failure.message))
                }
            };
            *found.dismissed.entry((reason, seen.failure.operation.clone())).or_default() += 1;
        }
        Ok(others)
    }

    /// Those of the failures at whose places nothing was proven; the others are counted.
    fn not_proven(&self, failures: Vec<Seen>, found: &mut Found) -> Vec<Seen> {
        let is_proven = |seen: &Seen| {
            let file = package_path(&seen.failure.file, &self.bench.subject);
            self.proven.iter().map(|proven| &proven.finding).any(|finding| {
                let same = |place: &report::Location| place.file == file && place.line == seen.failure.line;
                finding.class == seen.failure.class && finding.location.as_ref().is_some_and(same)
            })
        };
        let (known, others): (Vec<_>, Vec<_>) = failures.into_iter().partition(is_proven);
        for seen in known {
            let key = ("a panic at the place of a finding".to_owned(), seen.failure.operation);
            *found.dismissed.entry(key).or_default() += 1;
        }
        others
    }

    /// Takes over a finding; the reason if the author accepts it.
    fn prove(
        &mut self,
        seen: &Seen,
        short: &Sequence,
        original: &Original,
        proof: &Confirmed,
    ) -> Result<(), String> {
        let mut finding = finding(self.bench, seen, short, original, proof);
        // Two places of one operation may say the same.
        let same = self.proven.iter().filter(|other| other.finding.id.starts_with(&finding.id)).count();
        if same > 0 {
            finding.id = format!("{}-{}", finding.id, same + 1);
        }
        if let Some(reason) = self.plan.accepted.get(&finding.id) {
            return Err(format!("accepted ({}): {reason}", finding.id));
        }
        let rank = (seen.tier, seen.failure.severity(), seen.at_execution);
        self.proven.push(Proven { rank, finding, test: proof.source.clone(), sequence: short.clone() });
        Ok(())
    }
}

/// To confirm a hang is to wait for its end in vain. Under a time budget, that is not to take longer than the search.
fn most_hangs(plan: &Plan) -> usize {
    let Limit::Time(budget) = plan.limit else { return usize::MAX };
    let one_after_the_other = budget.as_secs() / TIMEOUT.as_secs();
    (usize::try_from(one_after_the_other).unwrap_or(usize::MAX)).saturating_mul(plan.jobs).max(SOME_HANGS)
}

/// What failures have in common that take turns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    tier: Tier,
    class: String,
    /// Without its numbers.
    message: String,
}

impl Kind {
    fn of(seen: &Seen) -> Self {
        let failure = &seen.failure;
        let message = failure.message.chars().filter(|c| !c.is_ascii_digit()).collect();
        Kind { tier: seen.tier, class: failure.class.to_owned(), message }
    }
}

/// Takes so many at most, of each tier, message and class in turn: fifty overflows are not to hide the only broken law, nor is one
/// assertion that thirty functions share to hide another. The order stays as it is.
fn take_turns<T>(all: &mut Vec<T>, most: usize, kind: impl Fn(&T) -> Kind) -> Vec<T> {
    let mut turns: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut of_class: BTreeMap<(Tier, String), usize> = BTreeMap::new();
    let mut ranked: Vec<(Tier, usize, usize, usize)> = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let kind = kind(one);
        let tier = kind.tier;
        let in_class = of_class.entry((tier, kind.class.clone())).or_default();
        let turn = turns.entry(kind).or_default();
        ranked.push((tier, *turn, *in_class, index));
        *turn += 1;
        *in_class += 1;
    }
    ranked.sort_unstable();
    let chosen: HashSet<usize> = ranked.into_iter().take(most).map(|(.., index)| index).collect();
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for (index, one) in std::mem::take(all).into_iter().enumerate() {
        if chosen.contains(&index) { &mut taken } else { &mut left }.push(one);
    }
    *all = left;
    taken
}

fn finding(
    bench: &Workbench,
    seen: &Seen,
    short: &Sequence,
    original: &Original,
    confirmed: &Confirmed,
) -> report::Finding {
    let failure = &seen.failure;
    let location = (!failure.file.is_empty())
        .then(|| report::Location { file: package_path(&failure.file, &bench.subject), line: failure.line });
    let function = location.as_ref().map_or("", |location| location.file.as_str());
    report::Finding {
        id: finding_id(failure.class, &failure.operation, function, &failure.message),
        tier: seen.tier.name().to_owned(),
        confidence: seen.tier.confidence().to_owned(),
        class: failure.class.to_owned(),
        operation: failure.operation.clone(),
        message: failure.message.clone(),
        location,
        strategy: "directed".to_owned(),
        calls: subject_calls(&bench.operations, short),
        original_calls: original.calls,
        shortening: original.shortening.clone(),
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
pub fn package_path(file: &str, subject: &testwright_harness::Subject) -> String {
    if file.is_empty() {
        return String::new();
    }
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
    use testwright_harness::Variant;
    use testwright_model::OpId;
    use testwright_model::operation::Operation;

    use super::*;
    use crate::invented;

    #[test]
    fn the_only_one_of_its_kind_is_kept() {
        let kind = |one: &&str| {
            let (class, message) = one.split_once(' ').unwrap_or((one, ""));
            let tier = if class.starts_with('u') { Tier::UndocumentedPanic } else { Tier::Bug };
            Kind { tier, class: class.to_owned(), message: message.to_owned() }
        };
        let mut all = vec!["panic a", "panic a", "panic a", "ub", "law", "panic b"];
        assert_eq!(take_turns(&mut all, 3, kind), ["panic a", "law", "panic b"]);
        assert_eq!(all, ["panic a", "panic a", "ub"], "the others are left");
        assert_eq!(take_turns(&mut all, 3, kind), ["panic a", "panic a", "ub"]);
        assert!(all.is_empty());
    }

    #[test]
    fn a_leak_that_was_not_shortened_is_that_of_a_call_which_leaks_alone() {
        let mut operations = Operations::default();
        for path in ["Bag::new", "Bag::leaky", "Bag::len"] {
            operations.operations.push(invented::operation(path, &[], 0));
        }
        let sequence = |ops: &[u32]| {
            let steps = ops.iter().map(|op| Step::Call { op: OpId(*op), args: Vec::new() }).collect();
            Sequence { steps }
        };
        let leak = |ops: &[u32], operation: &str| {
            let failure = Failure {
                tier: Tier::Bug,
                class: LEAK,
                operation: operation.to_owned(),
                step: 0,
                message: String::new(),
                file: String::new(),
                line: 0,
            };
            (sequence(ops), failure)
        };
        let shortened = [leak(&[1], "Bag::leaky"), leak(&[0, 2], "Bag::len")];
        let leakers = leakers(&operations, shortened.iter());
        assert_eq!(leakers, HashSet::from(["Bag::leaky".to_owned()]), "the other takes two calls");
        assert!(calls_one_of(&operations, &sequence(&[0, 1, 2]), &leakers));
        assert!(!calls_one_of(&operations, &sequence(&[1]), &leakers), "it is that leak itself");
        assert!(!calls_one_of(&operations, &sequence(&[0, 2]), &leakers));
    }

    #[test]
    fn panics_of_std_at_a_place_of_the_subjects_are_put_aside() {
        let mut operations = Operations::default();
        let std = |path: &str| Operation { origin: Origin::Std, ..invented::operation(path, &[], 0) };
        operations.operations =
            vec![std("Iterator::min"), std("Iterator::last"), invented::operation("Splice::next", &[], 0)];
        let seen = |op: u32, line| Seen {
            failure: Failure {
                tier: Tier::Bug,
                class: "panic",
                operation: operations.get(OpId(op)).path.clone(),
                step: 0,
                message: String::new(),
                file: "src/lib.rs".to_owned(),
                line,
            },
            tier: Tier::Bug,
            sequence: Sequence { steps: vec![Step::Call { op: OpId(op), args: Vec::new() }] },
            variant: Variant::quick(),
            at_s: 0.0,
            at_execution: 0,
            again: None,
        };
        let mut failures = vec![seen(0, 7), seen(1, 7), seen(2, 7), seen(0, 8), seen(1, 8)];
        let others = seen_elsewhere(&operations, &mut failures);
        let places = |all: &[Seen]| -> Vec<(String, u32)> {
            all.iter().map(|seen| (seen.failure.operation.clone(), seen.failure.line)).collect()
        };
        assert_eq!(places(&failures), [("Splice::next".to_owned(), 7), ("Iterator::min".to_owned(), 8)]);
        let undocumented = Seen { tier: Tier::UndocumentedPanic, ..seen(2, 7) };
        assert!(
            seen_elsewhere(&operations, &mut vec![seen(0, 7), undocumented]).is_empty(),
            "std's is worse"
        );
        let put_aside = [("Iterator::min", 7), ("Iterator::last", 7), ("Iterator::last", 8)];
        assert_eq!(places(&others), put_aside.map(|(path, line)| (path.to_owned(), line)));
    }
}
