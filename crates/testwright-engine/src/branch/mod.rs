//! Branch-directed generation: sequences that reach a branch but take one side of it only are run again in a build that tells what
//! was compared, and with other literals until the other side is taken.
//!
//! Receives the corpus of a search; hands back sequences that took a side for the first time, or panicked where none did. It runs
//! what it tries itself, in a worker of its own, because only that build tells about branches and comparisons.

mod edits;
mod shapes;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_cover::{Branches, Map, Package, Side, Taken};
use testwright_emit::report;
use testwright_execute::{Batch, Ending, Execution, Worker};
use testwright_model::operation::Operations;
use testwright_model::sequence::Sequence;
use testwright_wire::record::{Compare, want};

use crate::{EngineError, Workbench, encode};
use edits::{Edit, Trace};
use shapes::shapes;

/// Sequences in a batch: what they compare must have room in one answer.
const BATCH: usize = 16;
/// The same where only counts are asked for.
const MEASURED: usize = 100;
/// Sequences that are known to reach a branch, as many as are remembered.
const WITNESSES: usize = 3;
/// Edits of edits of edits, at most.
const DEPTH: u32 = 6;
/// Sequences that came closer to something and wait to be edited, at most.
const PROMISING: usize = 48;
/// A text that was compared with so many others is one of the crate's own.
const SEVERAL: usize = 3;
/// A longer sequence is no witness: each of its edits costs as much as itself.
const LONGEST: usize = 150;

/// What became of the branches.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub taken: BTreeSet<Side>,
    /// Branches with a side that nothing had taken, whose witnesses were edited.
    pub tried: BTreeSet<u32>,
    /// Of them, those whose other side an edit took.
    pub flipped: BTreeSet<u32>,
    /// Where each branch stands; empty if nothing was traced.
    pub places: BTreeMap<u32, (String, u32)>,
    pub executions: u64,
    /// Why a phase ended early, if one did.
    pub trouble: Option<String>,
}

impl Figures {
    /// Adds another job's.
    pub fn join(&mut self, other: Figures) {
        self.taken.extend(other.taken);
        self.tried.extend(other.tried);
        self.flipped.extend(other.flipped);
        self.places.extend(other.places);
        self.executions += other.executions;
        self.trouble = self.trouble.take().or(other.trouble);
    }

    /// Branches of which one side alone was taken, with whether that is the one where the condition holds.
    fn frontiers(&self) -> BTreeMap<u32, bool> {
        let mut sides: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
        for (branch, side) in &self.taken {
            sides.entry(*branch).or_default().push(*side);
        }
        sides
            .into_iter()
            .filter(|(_, taken)| taken.len() == 1)
            .map(|(branch, taken)| (branch, taken[0]))
            .collect()
    }

    /// For the report; `None` if nothing was traced.
    pub fn report(&self) -> Option<report::Branches> {
        if self.places.is_empty() {
            return None;
        }
        let frontiers = self.frontiers();
        let reached: BTreeSet<u32> = self.taken.iter().map(|(branch, _)| *branch).collect();
        let frontier = |(branch, holds): (&u32, &bool)| {
            let (file, line) = self.places.get(branch)?.clone();
            Some(report::Frontier { file, line, holds: *holds, tried: self.tried.contains(branch) })
        };
        let mut one_sided: Vec<report::Frontier> = frontiers.iter().filter_map(frontier).collect();
        one_sided.sort();
        Some(report::Branches {
            total: self.places.len(),
            reached: reached.len(),
            both: reached.len() - frontiers.len(),
            tried: self.tried.len(),
            flipped: self.flipped.len(),
            executions: self.executions,
            one_sided,
        })
    }
}

/// A sequence of the corpus that reaches branches.
#[derive(Debug)]
struct Witness {
    sequence: Sequence,
    reached: Vec<u32>,
    edited: bool,
}

#[derive(Debug)]
pub struct Tracer<'a> {
    operations: &'a Operations,
    worker: Worker,
    branches: Branches,
    figures: Figures,
    witnesses: Vec<Witness>,
    /// Sequences of the corpus that are known.
    measured: usize,
    /// Places of comparisons, and which side was larger there.
    relations: HashSet<(u64, std::cmp::Ordering)>,
    /// By place: how close the two sides came.
    closest: HashMap<u64, u64>,
    /// Texts that were compared, each with some of those that it was compared with.
    spans: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    handed_out: BTreeSet<Vec<u8>>,
    panics: HashSet<(String, u32)>,
    regions: HashSet<u32>,
}

impl<'a> Tracer<'a> {
    pub fn new(bench: &'a Workbench, binary: &Path, worker: Worker) -> Result<Self, EngineError> {
        let package = Package::new(&bench.subject.root, &bench.places.work);
        let branches = Map::of_binary(binary)?.branches(&package);
        let place = |branch: u32| {
            let place = branches.place(branch);
            (branch, (place.file.clone(), place.start.0))
        };
        let places = (0..u32::try_from(branches.len()).unwrap_or(0)).map(place).collect();
        Ok(Tracer {
            operations: &bench.operations,
            worker,
            branches,
            figures: Figures { places, ..Figures::default() },
            witnesses: Vec::new(),
            measured: 0,
            relations: HashSet::new(),
            closest: HashMap::new(),
            spans: BTreeMap::new(),
            handed_out: BTreeSet::new(),
            panics: HashSet::new(),
            regions: HashSet::new(),
        })
    }

    /// How many sequences it ran.
    pub fn executions(&self) -> u64 {
        self.figures.executions
    }

    pub fn figures(self) -> Figures {
        self.figures
    }

    /// Texts that several others were compared with, and that were not handed out before: the crate knows them, and they are worth
    /// trying elsewhere too.
    pub fn learned_texts(&mut self) -> Vec<Vec<u8>> {
        let known = self.spans.iter().filter(|(_, others)| others.len() >= SEVERAL).map(|(text, _)| text);
        let new: Vec<Vec<u8>> = known.filter(|text| !self.handed_out.contains(*text)).cloned().collect();
        self.handed_out.extend(new.iter().cloned());
        new
    }

    /// Edits the witnesses of branches that were taken one way only, until then. The sequences that brought something.
    pub fn phase(
        &mut self,
        corpus: &[Sequence],
        until: Instant,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Vec<Sequence>, EngineError> {
        let mut found = Vec::new();
        self.measure(corpus)?;
        while Instant::now() < until {
            let Some(next) = self.next_witness() else { break };
            self.witnesses[next].edited = true;
            let frontiers = self.figures.frontiers();
            let reached = &self.witnesses[next].reached;
            self.figures.tried.extend(reached.iter().filter(|branch| frontiers.contains_key(branch)));
            let mut open = VecDeque::from([(edits::split(&self.witnesses[next].sequence), 0)]);
            while let Some((sequence, depth)) = open.pop_front() {
                if Instant::now() >= until {
                    break;
                }
                for promising in self.explore(&sequence, rng, &mut found)? {
                    if depth < DEPTH && open.len() < PROMISING {
                        open.push_back((promising, depth + 1));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Runs what is new in the corpus and notes which branches it reaches.
    pub fn measure(&mut self, corpus: &[Sequence]) -> Result<(), EngineError> {
        let fresh: Vec<Sequence> = corpus.iter().skip(self.measured).cloned().collect();
        self.measured = corpus.len();
        for part in fresh.chunks(MEASURED) {
            let executions = self.run(part, want::COUNTS)?;
            for (sequence, execution) in part.iter().zip(executions) {
                let taken = self.taken(execution.as_ref());
                self.figures.taken.extend(&taken.sides);
                self.regions.extend(&taken.regions);
                self.remember(sequence, &taken);
            }
        }
        Ok(())
    }

    /// Those of other sequences that take a side, or reach a region, that nothing did: an optimised build has no edge for some.
    pub fn look_at(&mut self, sequences: &[Sequence]) -> Result<Vec<Sequence>, EngineError> {
        let mut found = Vec::new();
        for part in sequences.chunks(MEASURED) {
            let executions = self.run(part, want::COUNTS)?;
            for (sequence, execution) in part.iter().zip(executions) {
                let taken = self.taken(execution.as_ref());
                if self.is_new(&taken) {
                    self.figures.taken.extend(&taken.sides);
                    self.regions.extend(&taken.regions);
                    found.push(sequence.clone());
                }
            }
        }
        Ok(found)
    }

    fn is_new(&self, taken: &Taken) -> bool {
        taken.sides.iter().any(|side| !self.figures.taken.contains(side))
            || taken.regions.iter().any(|region| !self.regions.contains(region))
    }

    fn remember(&mut self, sequence: &Sequence, taken: &Taken) {
        let mut reached: Vec<u32> = taken.sides.iter().map(|(branch, _)| *branch).collect();
        reached.dedup();
        if !taken.regions.is_empty() && sequence.len() <= LONGEST {
            self.witnesses.push(Witness { sequence: sequence.clone(), reached, edited: false });
        }
    }

    fn taken(&self, execution: Option<&Execution>) -> Taken {
        let details = execution.and_then(|execution| execution.details.as_ref());
        details.map(|details| self.branches.taken(&details.counts)).unwrap_or_default()
    }

    /// The shortest witness, not edited yet, of a branch for which few were; then any: what `match` does is no branch to the
    /// compiler.
    fn next_witness(&self) -> Option<usize> {
        let frontiers = self.figures.frontiers();
        let mut edited: BTreeMap<u32, usize> = BTreeMap::new();
        for witness in self.witnesses.iter().filter(|witness| witness.edited) {
            for branch in &witness.reached {
                *edited.entry(*branch).or_default() += 1;
            }
        }
        let wanted = |witness: &Witness| {
            let times = |branch: &u32| edited.get(branch).copied().unwrap_or(0);
            let open = witness.reached.iter().filter(|branch| frontiers.contains_key(branch));
            open.map(times).min().unwrap_or(WITNESSES).min(WITNESSES)
        };
        let open = self.witnesses.iter().enumerate().filter(|(_, witness)| !witness.edited);
        open.map(|(index, witness)| (wanted(witness), witness.sequence.len(), index))
            .min()
            .map(|(_, _, index)| index)
    }

    /// Edits one sequence in many ways; those that came closer to something.
    fn explore(
        &mut self,
        sequence: &Sequence,
        rng: &mut Xoshiro256PlusPlus,
        found: &mut Vec<Sequence>,
    ) -> Result<Vec<Sequence>, EngineError> {
        let mut moves: Vec<(usize, i128, Edit)> = Vec::new();
        for step in edits::literals(sequence) {
            for by in edits::PROBES {
                let edit = edits::probe(self.operations, sequence, step, by);
                moves.extend(edit.map(|edit| (step, by, edit)));
            }
        }
        let own = [sequence.clone()];
        let changed = moves.iter().map(|(_, _, edit)| edits::edited(sequence, edit));
        let runs: Vec<Sequence> = own.into_iter().chain(changed).collect();
        let mut traces = Vec::with_capacity(runs.len());
        for part in runs.chunks(BATCH) {
            traces.extend(self.run(part, want::COMPARES)?.into_iter().map(trace_of));
        }
        let mut traces = traces.into_iter();
        let Some(trace) = traces.next() else { return Ok(Vec::new()) };
        self.note(&trace);
        let mut probes: HashMap<usize, Vec<(i128, Vec<Compare>)>> = HashMap::new();
        for ((step, by, edit), moved) in moves.iter().zip(traces) {
            // A number at the end of its range was moved downwards.
            let by = if is_larger(sequence, edit) { *by } else { -*by };
            probes.entry(*step).or_default().push((by, moved.compares));
        }
        let edits = edits::edits(self.operations, sequence, &trace, &probes, rng);
        let edited = edits.iter().map(|edit| edits::edited(sequence, edit));
        let edited: Vec<Sequence> = edited.chain(shapes(self.operations, sequence, rng)).collect();
        let mut promising = Vec::new();
        for part in edited.chunks(BATCH) {
            let executions = self.run(part, want::COUNTS | want::COMPARES)?;
            for (edited, execution) in part.iter().zip(executions) {
                let taken = self.taken(execution.as_ref());
                let news: Vec<Side> =
                    taken.sides.iter().filter(|side| !self.figures.taken.contains(side)).copied().collect();
                let is_new = self.is_new(&taken);
                if self.is_new_failure(execution.as_ref()) || is_new {
                    let tried = &self.figures.tried;
                    let flips =
                        news.iter().map(|(branch, _)| *branch).filter(|branch| tried.contains(branch));
                    self.figures.flipped.extend(flips.collect::<Vec<u32>>());
                    self.figures.taken.extend(&taken.sides);
                    self.regions.extend(&taken.regions);
                    self.remember(edited, &taken);
                    found.push(edited.clone());
                }
                if self.note(&trace_of(execution)) {
                    promising.push(edited.clone());
                }
            }
        }
        Ok(promising)
    }

    /// Whether a run ended in a panic where none was seen, or took its worker with it for the first time there.
    fn is_new_failure(&mut self, execution: Option<&Execution>) -> bool {
        let Some(execution) = execution else { return false };
        if execution.ending == Ending::Completed {
            return false;
        }
        let place = execution.panic().map(|panic| (panic.file.clone(), panic.line));
        let place = place.unwrap_or_else(|| (format!("{:?}", execution.ending), execution.step));
        self.panics.insert(place)
    }

    /// Remembers what was compared; whether it went another way than ever before, or came a good deal closer.
    fn note(&mut self, trace: &Trace) -> bool {
        let mut news = false;
        for compare in &trace.compares {
            news |= self.relations.insert((compare.site, compare.left.cmp(&compare.right)));
            let now = edits::distance(compare);
            let closest = self.closest.entry(compare.site).or_insert(now);
            if now < *closest / 2 {
                *closest = now;
                news = true;
            }
        }
        for (one, other) in trace.spans.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
            news |= !self.spans.contains_key(one);
            let others = self.spans.entry(one.clone()).or_default();
            if others.len() < SEVERAL {
                others.insert(other.clone());
            }
        }
        news
    }

    /// One execution each; `None` for those for whose literals the worker has no room.
    fn run(&mut self, sequences: &[Sequence], wants: u32) -> Result<Vec<Option<Execution>>, EngineError> {
        let mut batch = Batch::new(wants | want::SCAN_EACH);
        let mut places = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let fits = encode::append(self.operations, sequence, &mut self.worker, &mut batch);
            places.push(fits);
        }
        self.figures.executions += sequences.len() as u64;
        let outcome = if batch.is_empty() { Vec::new() } else { self.worker.run(&batch)?.executions };
        let mut executions = outcome.into_iter();
        Ok(places.iter().map(|fits| if *fits { executions.next() } else { None }).collect())
    }
}

fn trace_of(execution: Option<Execution>) -> Trace {
    let details =
        execution.and_then(|execution| execution.details).map(|details| *details).unwrap_or_default();
    Trace { compares: details.compares, spans: details.spans }
}

fn is_larger(sequence: &Sequence, edit: &Edit) -> bool {
    use testwright_model::Literal::Int;
    use testwright_model::sequence::Step;
    edit.iter().all(|(step, literal)| match (&sequence.steps[*step], literal) {
        (Step::Literal { value: Int(old), .. }, Int(new)) => new > old,
        _ => true,
    })
}
