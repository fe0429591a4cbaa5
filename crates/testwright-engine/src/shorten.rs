//! Cuts down the failures of a campaign: each is seen again, sliced, and simplified as long as it fails in the same way.
//!
//! Receives failures as the search saw them, and hands on each with the plainest sequence that was found. All of it together has one
//! purse: under a time budget a part of that, else a number of candidates for each.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use testwright_emit::report::Effort;
use testwright_execute::{Batch, Worker, WorkerPlan};
use testwright_harness::{Coverage, Variant};
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step};
use testwright_wire::record::want;

use crate::campaign::{Limit, Plan, make_folder};
use crate::findings::subject_calls;
use crate::judge::{Failure, LEAK, Verdict, judge};
use crate::minimise::{self, Making, Plainest};
use crate::search::Seen;
use crate::workbench::Workbench;
use crate::{EngineError, encode};

/// Candidates that are run for one failure, at most.
const PATIENCE: usize = 6000;
/// Texts are written out in sequences of so many steps at most: each is a question of its own.
const SHORT: usize = 60;
/// Where executions are counted, one in so many more is run for all failures together, but so many for each at least.
const PART: u64 = 10;
const SOME_PATIENCE: usize = 1500;
/// Under a time budget, one part in so many is spent on all failures together; under a very short one, so long.
const SHARE: f64 = 0.08;
const SOME_TIME: Duration = Duration::from_millis(400);
/// Of that, those that come first leave so much to others if there are any: some will not be confirmed.
const FIRST: f64 = 0.75;
/// A candidate that hangs counts as so many.
const COST_OF_A_HANG: usize = 1000;
/// And any candidate for one.
const COST_OF_A_SUSPECT: usize = 100;
/// CPU time of a call that seems to be endless, and how long one may sleep, under a time budget. Confirmation gives far more.
const HANG: Duration = Duration::from_millis(200);
const BLOCKED: Duration = Duration::from_millis(500);
/// The same for all other failures, whose candidates have no reason to take long: a batch of those that do must not take it all.
const LONG: Duration = Duration::from_millis(40);
/// Candidates in a batch; under a time budget fewer, and how long one may take.
const BATCH: usize = 200;
const TIMED_BATCH: usize = 32;
const FIRST_BATCH: usize = 8;
const BATCH_TIME: Duration = Duration::from_millis(10);

/// A failure and what became of it.
#[derive(Debug)]
pub struct Case {
    pub seen: Seen,
    /// The plainest sequence that was found, and how it fails: numbers in the message may be others now. `None` if it does not come
    /// again.
    pub short: Option<(Sequence, Failure)>,
    /// What it took; what is left is counted by whoever reports it.
    pub effort: Effort,
    /// What plain delta debugging makes of it, if that was asked for.
    pub plain: Option<Effort>,
    order: usize,
    begun: bool,
}

#[derive(Debug)]
pub struct Shortener<'a> {
    bench: &'a Workbench,
    plan: &'a Plan,
    scratch: &'a Path,
    plainest: Plainest,
    /// Time that is left for all failures together; `None` if it does not count.
    left: Option<Duration>,
    pub spent: Duration,
}

impl<'a> Shortener<'a> {
    pub fn new(bench: &'a Workbench, plan: &'a Plan, makers: &[Making], scratch: &'a Path) -> Self {
        let operations = &bench.operations;
        let left = match plan.limit {
            Limit::Time(budget) => Some(SOME_TIME.max(budget.mul_f64(SHARE))),
            Limit::Executions(_) | Limit::Calls(_) => None,
        };
        let plainest = Plainest::of(operations, &bench.usable).with_makers(operations, makers);
        Shortener { bench, plan, scratch, plainest, left, spent: Duration::ZERO }
    }

    /// Cuts down all of these, several at a time; in the order in which they came. `more`: others may follow.
    pub fn shorten(&mut self, failures: Vec<Seen>, more: bool) -> Result<Vec<Case>, EngineError> {
        let began = Instant::now();
        let until = self.left.map(|left| began + if more { left.mul_f64(FIRST) } else { left });
        let number = failures.len();
        let mut cases: Vec<Case> = failures
            .into_iter()
            .enumerate()
            .map(|(order, seen)| {
                let (effort, plain) = (Effort::default(), None);
                Case { seen, short: None, effort, plain, order, begun: false }
            })
            .collect();
        // The cheap ones first: what they leave is for the others.
        cases.sort_by_key(|case| (Cost::of(&case.seen.failure), case.seen.sequence.len(), case.order));
        let queue = Queue { open: Mutex::new(cases.into()), done: Mutex::new(Vec::with_capacity(number)) };
        let patience = self.patience(number);
        let (this, queue) = (&*self, &queue);
        std::thread::scope(|scope| {
            let jobs = this.plan.jobs.clamp(1, number.max(1));
            let threads: Vec<_> = (0..jobs)
                .map(|job| scope.spawn(move || this.work(queue, job, jobs, until, patience)))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| EngineError::Internal("a shortening thread panicked".to_owned()))?
            })
        })?;
        let took = began.elapsed();
        self.spent += took;
        self.left = self.left.map(|left| left.saturating_sub(took));
        let mut cases = std::mem::take(&mut *lock(&queue.done));
        cases.sort_by_key(|case| case.order);
        Ok(cases)
    }

    fn patience(&self, failures: usize) -> usize {
        match self.plan.limit {
            Limit::Time(_) | Limit::Calls(_) => PATIENCE,
            Limit::Executions(all) => {
                let each = all / PART / failures.max(1) as u64;
                usize::try_from(each).unwrap_or(PATIENCE).clamp(SOME_PATIENCE, PATIENCE)
            }
        }
    }

    /// One thread's part: takes a case, gives it its share of the time that is left, and puts it back if that was not enough.
    fn work(
        &self,
        queue: &Queue,
        job: usize,
        jobs: usize,
        until: Option<Instant>,
        patience: usize,
    ) -> Result<(), EngineError> {
        let mut workers: Workers = BTreeMap::new();
        loop {
            let (mut case, others) = {
                let mut open = lock(&queue.open);
                let Some(case) = open.pop_front() else { return Ok(()) };
                (case, open.len())
            };
            let now = Instant::now();
            let share = until.map(|until| {
                let left = until.saturating_duration_since(now).mul_f64(jobs as f64 / (others + 1) as f64);
                (now + left).min(until)
            });
            let worker = self.worker(&mut workers, &case.seen, job)?;
            let unfinished = self.cut(&mut case, worker, share, patience)?;
            if unfinished && until.is_some_and(|until| Instant::now() < until) {
                lock(&queue.open).push_back(case);
            } else {
                lock(&queue.done).push(case);
            }
        }
    }

    fn worker<'w>(
        &self,
        workers: &'w mut Workers,
        seen: &Seen,
        job: usize,
    ) -> Result<&'w mut Worker, EngineError> {
        // What ended a process may have worked long before, and does so longer in a build that is quick to make.
        let (variant, slow) = (quick_of(seen.variant), Cost::of(&seen.failure) != Cost::Run);
        Ok(match workers.entry((variant, slow)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let built = self.bench.harness.build(&variant)?;
                let mut order = WorkerPlan::new(built.binary, self.scratch.join(format!("shorten-{job}")));
                order.coverage = false;
                order.limits.memory = crate::search::MEMORY;
                if self.plan.is_timed() {
                    order.limits.call = if slow { HANG } else { LONG };
                    order.limits.sequence = order.limits.call * 2;
                    order.limits.blocked = BLOCKED;
                }
                make_folder(&order.scratch)?;
                entry.insert(Worker::start(order)?)
            }
        })
    }

    /// What plain delta debugging makes of the same failures, each with all its patience and as much time as it takes.
    pub fn compare(&self, cases: &mut [Case]) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        let mut workers = BTreeMap::new();
        for case in cases.iter_mut().filter(|case| case.short.is_some()) {
            let worker = self.worker(&mut workers, &case.seen, 0)?;
            let began = Instant::now();
            let mut inquiry = Inquiry::new(operations, worker, &case.seen.failure, None, PATIENCE);
            let start = case.seen.sequence.clone();
            let short = minimise::delta_debug(operations, start, &mut |some| inquiry.ask(some));
            let (calls, steps) = (subject_calls(operations, &short), short.len());
            let (executions, seconds) = (inquiry.asked, self.seconds(began));
            inquiry.end()?;
            case.plain = Some(Effort { calls, steps, executions, seconds });
        }
        Ok(())
    }

    /// Seconds since then; none where executions are counted and the same must come out every time.
    fn seconds(&self, began: Instant) -> f64 {
        if self.plan.is_timed() { began.elapsed().as_secs_f64() } else { 0.0 }
    }

    /// Cuts a case down for some time; whether there was too little of it.
    fn cut(
        &self,
        case: &mut Case,
        worker: &mut Worker,
        until: Option<Instant>,
        patience: usize,
    ) -> Result<bool, EngineError> {
        let operations = &self.bench.operations;
        let began = Instant::now();
        let mut inquiry = Inquiry::new(operations, worker, &case.seen.failure, until, patience);
        if !case.begun {
            case.begun = true;
            let seen = &case.seen;
            let slice = minimise::slice(operations, &seen.sequence, seen.failure.step);
            if inquiry.cost == Cost::Hang && inquiry.is_late() {
                // To see it again takes the time of all others together; its test will show whether it is one.
                let start = slice.unwrap_or_else(|| seen.sequence.clone());
                let step = start.len().saturating_sub(1);
                case.short = Some((start, Failure { step, ..seen.failure.clone() }));
                return Ok(false);
            }
            // All others are seen again, whatever time it is.
            for start in slice.into_iter().chain([seen.sequence.clone()]) {
                if let Some(failure) = inquiry.once(&start)? {
                    let start = inquiry.written_out(start)?;
                    case.short = Some((start, inquiry.shown.clone().unwrap_or(failure)));
                    break;
                }
            }
        }
        let Some((start, _)) = &case.short else { return Ok(false) };
        // Candidates take time to think of, too.
        if inquiry.is_late() {
            return Ok(true);
        }
        let start = start.clone();
        let mut short = minimise::simplify(operations, &self.plainest, start, &mut |some| inquiry.ask(some));
        // What was too long at first may be short enough now.
        let written = inquiry.written_out(short.clone())?;
        if written != short {
            short = minimise::simplify(operations, &self.plainest, written, &mut |some| inquiry.ask(some));
        }
        let unfinished = inquiry.unfinished;
        if unfinished {
            short = inquiry.sliced(short)?;
        }
        case.effort.executions += inquiry.asked;
        case.effort.seconds += self.seconds(began);
        if let Some(failure) = inquiry.end()? {
            case.short = Some((short, failure));
        }
        Ok(unfinished)
    }
}

/// By build, and whether calls may take long.
type Workers = BTreeMap<(Variant, bool), Worker>;

#[derive(Debug)]
struct Queue {
    open: Mutex<VecDeque<Case>>,
    done: Mutex<Vec<Case>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What it takes to see a failure again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cost {
    /// The time of some calls.
    Run,
    /// A process.
    Process,
    /// All the time that a call may take.
    Hang,
}

impl Cost {
    fn of(failure: &Failure) -> Self {
        let unwinds = matches!(failure.class, "panic" | LEAK)
            || failure.class.starts_with("law:")
            || failure.is_contract();
        match failure.class {
            // To ask for all memory takes time too.
            "hang" | "out-of-memory" => Cost::Hang,
            _ if !unwinds && failure.file.is_empty() => Cost::Process,
            _ => Cost::Run,
        }
    }
}

/// Candidates are run, and those that fail as the failure does are told.
#[derive(Debug)]
struct Inquiry<'a> {
    operations: &'a Operations,
    worker: &'a mut Worker,
    failure: &'a Failure,
    cost: Cost,
    until: Option<Instant>,
    patience: usize,
    batch: usize,
    /// Candidates that were run.
    asked: usize,
    /// How the last candidate that did it failed.
    shown: Option<Failure>,
    /// There was no time for some.
    unfinished: bool,
    error: Option<EngineError>,
}

impl<'a> Inquiry<'a> {
    fn new(
        operations: &'a Operations,
        worker: &'a mut Worker,
        failure: &'a Failure,
        until: Option<Instant>,
        patience: usize,
    ) -> Self {
        let cost = Cost::of(failure);
        let batch = match cost {
            Cost::Run if until.is_some() => FIRST_BATCH,
            Cost::Run => BATCH,
            Cost::Process => 8,
            Cost::Hang => 1,
        };
        let (shown, unfinished, error) = (None, false, None);
        let asked = 0;
        Inquiry { operations, worker, failure, cost, until, patience, batch, asked, shown, unfinished, error }
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn once(&mut self, sequence: &Sequence) -> Result<Option<Failure>, EngineError> {
        Ok(self.failing(std::slice::from_ref(sequence))?.pop().flatten())
    }

    /// The sequence with texts that calls made written out, where it still does it: a reader sees what was given, and it can be cut down.
    fn written_out(&mut self, mut sequence: Sequence) -> Result<Sequence, EngineError> {
        if self.cost != Cost::Run || sequence.len() > SHORT {
            return Ok(sequence);
        }
        for (step, text) in self.texts(&sequence)?.into_iter().rev() {
            let Some(written) = Making::of_text(self.operations, &text) else { break };
            let Some(candidate) = written.in_place_of(self.operations, &sequence, step) else { continue };
            if let Some(failure) = self.once(&candidate)? {
                self.shown = Some(failure);
                sequence = candidate;
            }
        }
        Ok(sequence)
    }

    /// The texts of the strings that calls of the crate make, by step.
    fn texts(&mut self, sequence: &Sequence) -> Result<Vec<(usize, String)>, EngineError> {
        let makes_text = |step: &Step| {
            matches!(step, Step::Call { op, .. } if self.operations.get(*op).is_subject()
                && minimise::is_string(self.operations.ty(self.operations.get(*op).result)))
        };
        let mut batch = Batch::new(want::TEXTS);
        if !sequence.steps.iter().any(makes_text)
            || !encode::append(self.operations, sequence, self.worker, &mut batch)
        {
            return Ok(Vec::new());
        }
        let executions = self.worker.run(&batch)?.executions;
        let shown = executions.first().and_then(|execution| execution.details.as_ref());
        let made = sequence.steps.iter().enumerate().filter(|(_, step)| step.makes_value());
        let texts = made.zip(shown.map_or(&[][..], |details| &details.texts));
        Ok(texts
            .filter(|((_, step), _)| makes_text(step))
            .filter_map(|((index, _), text)| {
                let literal = syn::parse_str::<syn::LitStr>(text.as_deref()?).ok()?;
                Some((index, literal.value()))
            })
            .collect())
    }

    /// The last sequence that did it without what no step of it needs any more: one run, where there was no time to leave out this and
    /// that.
    fn sliced(&mut self, sequence: Sequence) -> Result<Sequence, EngineError> {
        let Some(shown) = self.shown.as_ref().filter(|_| self.cost != Cost::Hang) else {
            return Ok(sequence);
        };
        let lean = minimise::slice(self.operations, &sequence, shown.step);
        let Some(lean) = lean.filter(|lean| lean.len() < sequence.len()) else { return Ok(sequence) };
        let Some(failure) = self.once(&lean)? else { return Ok(sequence) };
        self.shown = Some(failure);
        Ok(lean)
    }

    /// Which candidates do it. The lightest come first, and the first that does it is taken: what costs a process or a whole time
    /// limit is not run for the others.
    fn ask(&mut self, candidates: &[Sequence]) -> Vec<bool> {
        let mut verdicts = vec![false; candidates.len()];
        let mut at = 0;
        while at < candidates.len() && self.error.is_none() {
            let part = &candidates[at..(at + self.batch).min(candidates.len())];
            // Candidates of a hang that do not hang may still take nearly as long.
            let cost = part.len() * if self.cost == Cost::Hang { COST_OF_A_SUSPECT } else { 1 };
            if self.is_late() || self.patience < cost {
                self.unfinished |= self.patience >= cost;
                break;
            }
            self.patience -= cost;
            let began = Instant::now();
            match self.failing(part).and_then(|found| self.with_margin(part, found)) {
                Ok(found) => {
                    for (place, failure) in found.iter().enumerate() {
                        verdicts[at + place] = failure.is_some();
                    }
                    at += part.len();
                    if let Some(failure) = found.into_iter().flatten().next() {
                        self.shown = Some(failure);
                        // A success is what costs.
                        let cost = if self.cost == Cost::Hang { COST_OF_A_HANG } else { 0 };
                        self.patience = self.patience.saturating_sub(cost);
                        break;
                    }
                }
                Err(error) => self.error = Some(error),
            }
            if self.until.is_some() && self.cost == Cost::Run {
                let slow = began.elapsed() > BATCH_TIME;
                self.batch = if slow { (self.batch / 4).max(1) } else { (self.batch * 2).min(TIMED_BATCH) };
            }
        }
        verdicts
    }

    /// Without those that overflow the stack by a hair: how much a call takes differs from build to build, and this one takes most.
    fn with_margin(
        &mut self,
        candidates: &[Sequence],
        mut found: Vec<Option<Failure>>,
    ) -> Result<Vec<Option<Failure>>, EngineError> {
        if self.failure.class != "stack-overflow" {
            return Ok(found);
        }
        for (candidate, failure) in candidates.iter().zip(&mut found) {
            if failure.is_some() {
                if self.once(&minimise::halved(candidate))?.is_some() {
                    break;
                }
                *failure = None;
            }
        }
        Ok(found)
    }

    fn end(self) -> Result<Option<Failure>, EngineError> {
        self.error.map_or(Ok(self.shown), Err)
    }

    /// How each candidate fails, if it does so in the same way and as badly: a plainer argument may be one that nobody should give.
    fn failing(&mut self, candidates: &[Sequence]) -> Result<Vec<Option<Failure>>, EngineError> {
        self.asked += candidates.len();
        let mut verdicts = vec![None; candidates.len()];
        let mut batch = Batch::new(0);
        let mut numbers = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            if encode::append(self.operations, candidate, self.worker, &mut batch) {
                numbers.push(index);
            }
        }
        if batch.is_empty() {
            return Ok(verdicts);
        }
        for (index, execution) in numbers.into_iter().zip(&self.worker.run(&batch)?.executions) {
            if let Verdict::Failing(failure) = judge(self.operations, &candidates[index], execution) {
                let seen = self.failure;
                let same = failure.key() == seen.key() || failure.class == LEAK && seen.class == LEAK;
                verdicts[index] = Some(failure).filter(|failure| same && failure.tier == seen.tier);
            }
        }
        Ok(verdicts)
    }
}

/// The build that compiles soonest and shows the same.
fn quick_of(variant: Variant) -> Variant {
    let counted = variant.counts() && !variant.sanitizer;
    let coverage = if counted { Coverage::Lines } else { Coverage::Off };
    Variant { opt_level: 0, coverage, ..variant }
}
