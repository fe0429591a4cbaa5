//! One job of a campaign: a worker, a pool of its own; what earlier runs left is run again (`replay`), then batches of proposals until its share of the budget is
//! spent.
//!
//! Jobs do not share what they learn while they run, so that what one finds does not depend on another's pace.

mod batch;
mod branching;
mod excess;
mod harvest;
mod learning;
mod looking;
mod replay;
mod sharing;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_emit::report::CurvePoint;
use testwright_execute::{Batch, Ending, Execution, Phase, Worker, WorkerPlan};
use testwright_harness::Variant;
use testwright_model::OpId;
use testwright_model::ledger::State;
use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Sequence, Step};
use testwright_store::Stored;
use testwright_wire::record::want;

use crate::branch::{Figures, Tracer};
use crate::campaign::{Limit, Plan, Progress, Strategy};
use crate::curve::Curve;
use crate::direct::bank::Bank;
use crate::direct::choice::Choice;
use crate::direct::draft::{Draft, Proposal};
use crate::direct::pool::{Novelty, Pool};
use crate::direct::{self, Maker, Means};
use crate::judge::{Failure, Tier};
use crate::lengths::Lengths;
use crate::minimise::Making;
use crate::saving::Saver;
use crate::seen_before::SeenBefore;
use crate::workbench::Workbench;
use crate::{EngineError, encode};
use batch::{Done, Suspects};
use harvest::Harvest;

/// A failure as it was first seen.
#[derive(Clone, Debug)]
pub struct Seen {
    pub failure: Failure,
    /// How bad it is after a look at the source; that of the failure is what the judge says every time.
    pub tier: Tier,
    pub sequence: Sequence,
    /// The build that showed it.
    pub variant: Variant,
    pub at_s: f64,
    pub at_execution: u64,
    /// The same under the sanitizer, if another build showed it first: what depends on where things lie may not be seen again elsewhere.
    pub again: Option<Box<Seen>>,
}

/// What one job found out.
#[derive(Debug, Default)]
pub struct Learned {
    pub failures: BTreeMap<(String, String, String, u32), Seen>,
    pub dismissed: BTreeMap<(String, String), u64>,
    pub effects: BTreeMap<(String, &'static str, bool), u64>,
    /// Operations whose results depend on what ran before in the process.
    pub stateful: HashSet<OpId>,
    /// Sequences that reached something first, in order.
    pub corpus: Vec<Sequence>,
    /// Others that ran to their end, with values of all types and sizes: they may execute lines that the build which searched has no
    /// counters for.
    pub others: Vec<Sequence>,
    /// Of each type, some of the shortest ways to make a value.
    pub makers: Vec<Making>,
    pub choice: Choice,
    /// By operation: the shortest sequence that raises a documented panic, and its message.
    pub documented: BTreeMap<String, (Sequence, String)>,
    /// Sequences by the number of their calls into the crate, and how many of them panicked or died.
    pub by_length: Lengths,
    /// Different values, and values in the pool.
    pub distinct: usize,
    pub pool: usize,
    /// When something was last reached for the first time: seconds and executions.
    pub last_new: (f64, u64),
    /// Types of which a value was seen to change by a call on another.
    pub sharing: BTreeSet<TypeId>,
    /// Counters that were reached, of the last build that has any.
    pub edges: Vec<u32>,
    pub replayed: Replayed,
    /// What branch-directed generation met.
    pub branches: Figures,
    pub curve: Curve,
}

/// What became of the sequences of earlier runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replayed {
    /// How many were run again.
    pub sequences: u64,
    /// Those that the borrow rules do not allow any more.
    pub illegal: u64,
    /// The budget ended before all were run.
    pub cut_short: bool,
}

/// A build to search with, and from which part of the budget on.
#[derive(Debug)]
pub struct Stage {
    pub variant: Variant,
    /// `None` while it is being built, or if that failed.
    pub binary: Mutex<Option<PathBuf>>,
    /// Share of the budget after which it takes over.
    pub from: f64,
}

impl Stage {
    pub fn ready(variant: Variant, binary: PathBuf, from: f64) -> Self {
        Stage { variant, binary: Mutex::new(Some(binary)), from }
    }

    pub fn pending(variant: Variant, from: f64) -> Self {
        Stage { variant, binary: Mutex::new(None), from }
    }

    pub fn set(&self, binary: PathBuf) {
        *self.binary.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(binary);
    }

    pub fn get(&self) -> Option<PathBuf> {
        self.binary.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// Sequences in a batch.
const BATCH: usize = 400;
/// A batch of this size comes first: nothing is known yet about how long sequences take.
const FIRST_BATCH: usize = 8;
/// Under a time budget, a batch should not take longer.
const BATCH_TIME: Duration = Duration::from_millis(250);
/// So many batches at first, and then one in so many, are compared with runs in fresh processes.
const STEADINESS: (u64, u64) = (16, 96);
/// Sequences of a batch that are compared, at most: under a time budget batches start small, and each fresh process is time lost.
const COMPARED: usize = 3;
const COMPARED_UNTIMED: usize = 60;
/// Sequences with state that outlives them, run in a process of their own each: so many of a batch at least, and not many more,
/// because a process costs as much as a hundred sequences.
const ISOLATED: usize = 4;
/// One batch in so many is looked at closely: texts of results.
const CLOSE: u64 = 40;
/// Merits fade after so many batches.
const FADE: u64 = 10;
/// A sequence that allocates more bytes than this is not extended.
const HEAVY: u64 = 1 << 17;
/// One that allocates more than this costs as much as thousands of calls: its literals are avoided.
const WASTEFUL: u64 = 1 << 20;
/// A sequence that takes so many times the ticks of the processor's clock that so many calls usually take is slow.
const SLOW: u64 = 3;
/// Ticks of a call are counted in parts of so many.
const FRACTION: u64 = 64;
/// The ticks of a usual call, where no ticks are to be had.
const TICKS_OF_A_CALL: u64 = 500;
/// All slow ones together should take no more than one part in so many of the time.
const SLOW_SHARE: u64 = 8;
/// But never one that takes less than this, some tens of microseconds.
const QUICK: u64 = 60_000;
/// Without anything new for so long, the search may be at its plateau.
const FLAT: Duration = Duration::from_secs(10);
const FLAT_EXECUTIONS: u64 = 20_000;
/// How often a proposal is tried for an operation that was never called.
const TRIES: u32 = 6;

/// Calls with very many items begin when this part of the budget is spent, and each operation that takes so many is given them so often.
const MANY_FROM: f64 = 0.15;
const MANY_TURNS: usize = 3;

/// Sequences before the first law is checked: what a plain call reaches is to be reached by one.
const UNJUDGED: u64 = 2000;

/// Sequences beside those that reached something, which are looked at in the end, by all jobs together.
const OTHERS: usize = 1500;

/// Why a batch is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Search,
    /// To have again what an earlier run had: these executions were counted there.
    Replay,
}

/// What a search makes proposals with; a macro, because the maker and the draft are borrowed beside it.
macro_rules! means {
    ($search:expr) => {
        Means {
            rng: &mut $search.rng,
            bank: &mut $search.bank,
            choice: &$search.learned.choice,
            pool: Some(&$search.pool),
            judging: $search.executions > UNJUDGED,
            spare: &mut $search.spare,
            buffers: &mut $search.buffers,
        }
    };
}

#[derive(Debug)]
pub struct Search<'a> {
    bench: &'a Workbench,
    plan: &'a Plan,
    progress: &'a Progress,
    job: usize,
    scratch: &'a Path,
    stages: &'a [Stage],
    start: Instant,
    maker: Maker<'a>,
    rng: Xoshiro256PlusPlus,
    bank: Bank,
    spare: Vec<State>,
    pool: Pool,
    before: SeenBefore,
    learned: Learned,
    /// Operations to be called once with very many items, and as which argument.
    many: Vec<(OpId, usize)>,
    /// Operations that were never called, with the tries left.
    due: Vec<(OpId, u32)>,
    compared: HashSet<OpId>,
    worker: Worker,
    stage: usize,
    restarts: u64,
    executions: u64,
    batches: u64,
    /// The ticks that a call usually takes, in parts of [`FRACTION`], slow sequences left out: a moving mean.
    usual: u64,
    /// Ticks of late, and those of slow sequences among them.
    ticks: (u64, u64),
    /// Sequences of the last batch that ran to their end and have literals, to be run again with others.
    templates: Vec<Proposal>,
    harvest: Harvest,
    draft: Draft<'a>,
    buffers: Vec<Vec<u16>>,
    /// What is handed to the worker, written over each time.
    batch: Batch,
    past: &'a Stored,
    /// Sequences that failed in earlier runs; each build is tried with them.
    recalled: Vec<Proposal>,
    /// By operation and argument: from which number on the pool's sequences were given up for this build.
    shed: HashMap<(OpId, usize), i128>,
    /// Sequences one of which reached something first; to be found out after the batch.
    suspects: Vec<Suspects>,
    /// The build for branch-directed generation, if there is to be one.
    tracing: Option<&'a Path>,
    tracer: Option<Tracer<'a>>,
    /// Phases of it that are over.
    phases: usize,
    /// Sequences to run next.
    wanted: Vec<Proposal>,
    saver: Option<Saver>,
}

impl<'a> Search<'a> {
    /// Starts the job's worker, in the thread that will run it.
    #[expect(clippy::too_many_arguments, reason = "what all jobs share, and the job's own")]
    pub fn new(
        bench: &'a Workbench,
        plan: &'a Plan,
        progress: &'a Progress,
        job: usize,
        scratch: &'a Path,
        stages: &'a [Stage],
        tracing: Option<&'a Path>,
        start: Instant,
        past: &'a Stored,
        saver: Option<Saver>,
    ) -> Result<Self, EngineError> {
        let operations = &bench.operations;
        let binary = stages[0].get().ok_or_else(|| EngineError::Internal("no worker to start".to_owned()))?;
        let worker = start_worker(&binary, scratch, job, plan, stages[0].variant)?;
        let novelty = if plan.strategy == Strategy::BottomUp { Novelty::Off } else { Novelty::Fingerprint };
        let mut maker = Maker::new(operations, &bench.usable)
            .with_dictionary(bench.dictionary.clone())
            .with_wishes(&bench.wishes);
        if let Some(goals) = &bench.goals {
            maker = maker.with_goals(goals);
        }
        let goals = bench.goals.as_ref().unwrap_or(&bench.usable);
        let calls = goals.iter().filter(|op| operations.get(**op).law().is_none());
        let mut due: Vec<(OpId, u32)> = calls.map(|op| (*op, TRIES)).collect();
        due.sort_unstable_by(|a, b| b.cmp(a));
        let mut many = Vec::new();
        if plan.strategy == Strategy::Directed {
            let takers = maker.takers_of_many();
            let (turns, jobs) = (MANY_TURNS * takers.len(), plan.jobs.max(1));
            many = takers.into_iter().cycle().take(turns).skip(job).step_by(jobs).collect();
        }
        Ok(Search {
            bench,
            plan,
            progress,
            job,
            scratch,
            stages,
            start,
            maker,
            // Another stream in each run, else a resumed one would propose the same again.
            rng: Xoshiro256PlusPlus::seed_from_u64(
                plan.seed
                    .wrapping_mul(1_000_003)
                    .wrapping_add(job as u64)
                    .wrapping_add(past.runs.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            ),
            bank: Bank::default(),
            spare: Vec::new(),
            pool: Pool::new(operations.types.len(), novelty).indifferent_to(&bench.wishes.without_novelty),
            before: SeenBefore::default(),
            learned: Learned { choice: Choice::of(operations), ..Learned::default() },
            many,
            due,
            compared: HashSet::new(),
            worker,
            stage: 0,
            restarts: 0,
            executions: 0,
            batches: 0,
            usual: FRACTION * TICKS_OF_A_CALL,
            ticks: (0, 0),
            templates: Vec::new(),
            harvest: Harvest::default(),
            draft: Draft::new(operations),
            buffers: Vec::new(),
            batch: Batch::new(0),
            past,
            recalled: Vec::new(),
            shed: HashMap::new(),
            suspects: Vec::new(),
            tracing,
            tracer: None,
            phases: 0,
            wanted: Vec::new(),
            saver,
        })
    }

    /// Batches until the budget is spent or someone says stop. The job's thread and its worker take turns, so that a job is the work of
    /// one processor.
    pub fn run(mut self) -> Result<Learned, EngineError> {
        let timed = self.plan.is_timed();
        let mut room = if timed { FIRST_BATCH } else { BATCH };
        self.replay()?;
        while let Some(left) = self.left() {
            let size = usize::try_from(left).map_or(room, |left| left.min(room));
            let proposals = self.propose(size);
            let done = self.execute(proposals, Purpose::Search)?;
            if timed {
                room = if done.took > BATCH_TIME { (room / 4).max(1) } else { (room * 2).min(BATCH) };
            }
            self.settle(done)?;
            self.credit_suspects()?;
            self.change_stage()?;
            if self.is_branch_time() && self.left().is_some() {
                self.direct_at_branches();
            }
        }
        self.save_all();
        let others = self.pool.spread(OTHERS / self.plan.jobs.max(1));
        let decoded =
            others.iter().map(|entry| direct::decode(&self.bench.operations, &self.bank, &entry.words));
        self.learned.others = decoded.collect();
        self.learned.makers = self.makers();
        self.learned.distinct = self.pool.distinct();
        self.learned.pool = self.pool.len();
        self.note_edges();
        self.count_branches();
        Ok(self.learned)
    }

    /// Learns from a batch, and now and then looks at it more closely.
    fn settle(&mut self, done: Done) -> Result<(), EngineError> {
        let next = self.batches + 1;
        let compares = next <= STEADINESS.0 || next.is_multiple_of(STEADINESS.1);
        let looks = next.is_multiple_of(CLOSE);
        // What is learnt from takes the proposals' code away.
        let proposals = if compares || looks { done.proposals.clone() } else { Vec::new() };
        self.learn_from(done);
        if compares {
            self.compare_with_fresh(&proposals)?;
            self.look_for_sharing(&proposals)?;
        }
        if looks {
            self.look_closely(&proposals)?;
        }
        Ok(())
    }

    fn learn_from(&mut self, done: Done) {
        let firsts = self.learned.corpus.len() + self.suspects.len();
        let good = self.learn_batch(&done);
        // A build without counters reaches nothing first, which tells nothing.
        if self.stages[self.stage].variant.counts() {
            self.harvest.add(good.len(), self.learned.corpus.len() + self.suspects.len() - firsts);
        }
        self.batches += 1;
        self.choose_templates(done.proposals, good);
        self.learned.choice.set_strained(self.ticks.1 * SLOW_SHARE > self.ticks.0);
        self.ticks = (self.ticks.0 / 2, self.ticks.1 / 2);
        if self.batches.is_multiple_of(FADE) {
            self.learned.choice.fade();
        }
        self.tell();
        self.save_now_and_then();
    }

    /// Executions that are left of this job's share; `None` if the budget is spent.
    fn left(&self) -> Option<u64> {
        if self.progress.stop.load(Ordering::Relaxed) || (self.plan.until_plateau && self.is_flat()) {
            return None;
        }
        match self.plan.limit {
            Limit::Time(limit) => (self.start.elapsed() < limit).then_some(u64::MAX),
            Limit::Executions(_) => self.share().checked_sub(self.executions).filter(|left| *left > 0),
            Limit::Calls(total) => (self.calls() < total).then_some(u64::MAX),
        }
    }

    /// Calls that all jobs made until now.
    fn calls(&self) -> u64 {
        self.progress.calls.load(Ordering::Relaxed)
    }

    /// Nothing was reached for the first time in the last half of the search, and not for a while.
    fn is_flat(&self) -> bool {
        let (at_s, at_execution) = self.learned.last_new;
        match self.plan.limit {
            Limit::Time(_) => {
                let now = self.start.elapsed().as_secs_f64();
                now - at_s > f64::max(FLAT.as_secs_f64(), now / 2.0)
            }
            Limit::Executions(_) | Limit::Calls(_) => {
                self.executions - at_execution.min(self.executions) > FLAT_EXECUTIONS.max(self.executions / 2)
            }
        }
    }

    fn share(&self) -> u64 {
        match self.plan.limit {
            Limit::Time(_) | Limit::Calls(_) => u64::MAX,
            Limit::Executions(total) => total.div_ceil(self.plan.jobs as u64),
        }
    }

    /// The part of the budget that is spent.
    fn spent(&self) -> f64 {
        match self.plan.limit {
            Limit::Time(limit) => self.start.elapsed().as_secs_f64() / limit.as_secs_f64().max(0.001),
            Limit::Executions(_) => self.executions as f64 / self.share() as f64,
            Limit::Calls(total) => self.calls() as f64 / total as f64,
        }
    }

    fn note_edges(&mut self) {
        if self.stages[self.stage].variant.counts() {
            self.learned.edges = self.worker.seen_counters();
        }
    }

    /// Another build whose time has come, if it is there.
    fn next_stage(&self) -> Option<usize> {
        let spent = self.spent();
        (self.stage + 1..self.stages.len())
            .rev()
            .find(|next| self.stages[*next].from <= spent && self.stages[*next].get().is_some())
    }

    /// Goes on with another build when its time has come and it is there.
    fn change_stage(&mut self) -> Result<(), EngineError> {
        let Some(next) = self.next_stage() else { return Ok(()) };
        let Some(binary) = self.stages[next].get() else { return Ok(()) };
        self.note_edges();
        let variant = self.stages[next].variant;
        self.worker = start_worker(&binary, self.scratch, self.job, self.plan, variant)?;
        self.bank.start_over();
        self.shed.clear();
        self.stage = next;
        self.restarts = 0;
        if variant.counts() {
            // Another build has other counters: what reached something reaches it again.
            self.progress.edges.store(0, Ordering::Relaxed);
            let corpus = std::mem::take(&mut self.learned.corpus);
            let mut batch = Batch::new(want::SCAN_EACH);
            for sequence in &corpus {
                encode::append(&self.bench.operations, sequence, &mut self.worker, &mut batch);
            }
            // Literals of the corpus come first in this worker, so the bank's own places would differ.
            self.worker.run(&batch)?;
            let seen = self.worker.seen_counters();
            self.worker = start_worker(&binary, self.scratch, self.job, self.plan, variant)?;
            self.worker.set_seen(&seen, true);
            self.learned.corpus = corpus;
        }
        self.recall()
    }

    fn propose(&mut self, size: usize) -> Vec<Proposal> {
        let mut proposals = self.wanted.split_off(self.wanted.len().saturating_sub(size));
        let mut misses = 0;
        if proposals.len() < size && !self.many.is_empty() && self.spent() >= MANY_FROM {
            proposals.extend(self.propose_many());
        }
        let mut last = None;
        while proposals.len() + usize::from(last.is_some()) < size && misses < 20 * size {
            let varies = !self.templates.is_empty() && self.rng.random_bool(self.harvest.variants());
            let goal = if varies { None } else { self.goal() };
            let mut means = means!(self);
            let proposal = if varies {
                let template = self.templates.choose(means.rng).expect("there are some");
                self.maker.vary(template, &mut means)
            } else if self.plan.strategy == Strategy::RandomWalk {
                means.pool = None;
                self.maker.propose_walk(&mut self.draft, &mut means)
            } else {
                self.maker.propose(&mut self.draft, &mut means, goal)
            };
            let announced = proposal.map(|proposal| (self.before.announce(&proposal.words), proposal));
            misses += usize::from(announced.is_none());
            // Whether one is new is asked when the next is made: the answer takes its time.
            if let Some((announced, proposal)) = std::mem::replace(&mut last, announced) {
                if self.before.is_new(announced) {
                    proposals.push(proposal);
                } else {
                    misses += 1;
                }
            }
        }
        proposals.extend(last.filter(|(announced, _)| self.before.is_new(*announced)).map(|(_, last)| last));
        proposals
    }

    /// The next call with very many items.
    fn propose_many(&mut self) -> Option<Proposal> {
        let (op, index) = self.many.pop()?;
        let mut means = means!(self);
        self.maker.propose_many(&mut self.draft, &mut means, op, index)
    }

    /// An operation that was never called, now and then.
    fn goal(&mut self) -> Option<OpId> {
        if self.plan.strategy != Strategy::Directed || self.executions.is_multiple_of(2) && self.batches > 4 {
            return None;
        }
        loop {
            let (op, tries) = self.due.pop()?;
            if self.learned.choice.tally(op).calls > 0 {
                continue;
            }
            if tries > 1 {
                let at = self.due.len() / 2;
                self.due.insert(at, (op, tries - 1));
            }
            return Some(op);
        }
    }

    /// Keeps those that can be varied; the others' code is written over.
    fn choose_templates(&mut self, proposals: Vec<Proposal>, good: Vec<bool>) {
        let old = std::mem::take(&mut self.templates);
        self.buffers.extend(old.into_iter().map(|proposal| proposal.words));
        for (proposal, good) in proposals.into_iter().zip(good) {
            if good && self.plan.strategy == Strategy::Directed && !proposal.shape.sites.is_empty() {
                self.templates.push(proposal);
            } else {
                self.buffers.push(proposal.words);
            }
        }
        self.buffers.truncate(2 * BATCH);
    }

    fn tell(&mut self) {
        let (reached, failures) = (self.learned.corpus.len(), self.learned.failures.len());
        self.learned.curve.add(CurvePoint { executions: self.executions, reached, failures });
        let now = self.worker.statistics().restarts;
        self.progress.restarts.fetch_add(now.saturating_sub(self.restarts), Ordering::Relaxed);
        self.restarts = now;
        if self.stages[self.stage].variant.counts() {
            self.progress.edges.fetch_max(self.worker.seen_count() as u64, Ordering::Relaxed);
            self.progress.edges_total.store(self.worker.catalogue().counters_total, Ordering::Relaxed);
        }
        if self.job == 0 {
            self.progress.pool.store(self.pool.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Bytes that code under test may hold at once. Filling much more takes the time of a million calls; whether a demand is
/// really too much is seen when its test is confirmed, under a far larger limit.
pub const MEMORY: u64 = 40 << 20;

/// CPU time of a call that is suspected to be endless, under a time budget. Whether it is will be seen when it is shortened and
/// confirmed, with far more time.
const HANG: Duration = Duration::from_millis(25);

/// The same where executions are counted: a call that nearly takes it ends one way today and another way tomorrow, so there
/// should be none.
pub const HANG_UNTIMED: Duration = Duration::from_millis(600);

/// A worker in its own scratch folder, for one of the plan's jobs.
pub fn start_worker(
    binary: &Path,
    scratch: &Path,
    job: usize,
    plan: &Plan,
    variant: Variant,
) -> Result<Worker, EngineError> {
    let folder = scratch.join(format!("job-{job}"));
    crate::campaign::make_folder(&folder)?;
    let hang = if plan.is_timed() { HANG } else { HANG_UNTIMED };
    let mut plan = WorkerPlan::new(binary, folder);
    plan.coverage = variant.counts();
    plan.limits.memory = MEMORY;
    plan.limits.call = hang;
    plan.limits.sequence = hang * 2;
    Ok(Worker::start(plan)?)
}

fn completed(execution: &Execution) -> bool {
    execution.ending == Ending::Completed
}

/// How many calls into the crate under test were made.
fn subject_calls(operations: &Operations, proposal: &Proposal, execution: &Execution) -> u32 {
    if execution.phase == Phase::Call {
        direct::subject_calls_before(operations, &proposal.words, proposal.step(execution.step) + 1)
    } else {
        proposal.shape.subject_calls
    }
}

/// The operations that a sequence calls.
pub fn calls(sequence: &Sequence) -> impl Iterator<Item = OpId> + '_ {
    sequence.steps.iter().filter_map(|step| match step {
        Step::Call { op, .. } => Some(*op),
        _ => None,
    })
}
