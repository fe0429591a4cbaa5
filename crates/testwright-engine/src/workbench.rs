//! Down the pipe once: the subject found, its API read and grounded, the harness pruned and built.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use testwright_discover::Options;
use testwright_execute::{Worker, WorkerPlan};
use testwright_ground::{Grounded, Place, Reason};
use testwright_harness::{
    Built, Harness, HarnessSource, OperationSource, Places, Selection, Subject, Variant,
};
use testwright_learn::Dictionary;
use testwright_model::api::Skipped;
use testwright_model::contract::Contract;
use testwright_model::law::{Added, Law};
use testwright_model::operation::{Abilities, Operations};
use testwright_model::{Api, OpId};
use testwright_wire::layout::ability;

use crate::EngineError;
use crate::beside;
use crate::contract;
use crate::foreign;
use crate::novelty::{self, NoveltyOf};
use crate::wishes::{Resolved, Wishes};

/// Values of more bytes are not made: to move one costs as much as thousands of calls.
const LARGE: u32 = 32 << 10;
/// More parameters than the worker passes.
const MAX_ARITY: usize = 32;

/// Everything that a campaign works with.
#[derive(Debug)]
pub struct Workbench {
    pub subject: Subject,
    pub places: Places,
    pub operations: Operations,
    /// Operations that can be called.
    pub usable: HashSet<OpId>,
    /// Those of the subject's that the search is about; `None`: all of them.
    pub goals: Option<HashSet<OpId>>,
    /// What the crate's author wants of the search.
    pub wishes: Resolved,
    pub callables: Vec<CallableFact>,
    pub skipped: Vec<Skipped>,
    pub foreign: Vec<String>,
    pub harness: Harness,
    pub timing: Timing,
    /// Literals of the crate's own code.
    pub dictionary: Dictionary,
    /// What the crate's author demands of its functions and types.
    pub contracts: Vec<Contract>,
}

/// What became of one callable definition of the subject.
#[derive(Clone, Debug)]
pub struct CallableFact {
    pub path: String,
    pub kind: CallableKind,
    pub operations: Vec<OpId>,
    /// Why it has no operation.
    pub reason: Option<Reason>,
    pub file: Option<(String, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallableKind {
    /// Free functions, inherent methods, methods that the subject's traits provide.
    Inherent,
    TraitImpl,
}

/// Seconds of each part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub locate: f64,
    pub rustdoc: f64,
    pub ground: f64,
    pub check: f64,
    pub rounds: u32,
}

/// Says what is going on; lines for people.
pub type Tell<'a> = &'a dyn Fn(&str);

pub fn discover(
    selection: &Selection,
    places: &Places,
    tell: Tell<'_>,
) -> Result<(Subject, Api, Timing), EngineError> {
    let mut timing = Timing::default();
    let start = Instant::now();
    tell("looking for the crate");
    let subject = testwright_harness::locate(selection, places)?;
    timing.locate = start.elapsed().as_secs_f64();
    let start = Instant::now();
    tell(&format!("reading the API of {} {}", subject.package, subject.version));
    let json = testwright_harness::rustdoc_json(&subject, places)?;
    let read = |public| {
        let options = Options { version: subject.version.clone(), include_hidden: false, public };
        Ok::<_, EngineError>(testwright_discover::read(&json, &options)?)
    };
    let api = foreign::settle(&subject, read(BTreeMap::new())?, &read, places, tell)?;
    timing.rustdoc = start.elapsed().as_secs_f64();
    Ok((subject, api, timing))
}

/// Goes down the pipe up to the pruned harness.
pub fn prepare(
    selection: &Selection,
    places: Places,
    budget: usize,
    tell: Tell<'_>,
) -> Result<Workbench, EngineError> {
    prepare_with(selection, places, budget, &|_| Ok(Demands::default()), tell)
}

/// What is asked for beside the crate's own API: what its author demands of it, and of the search.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    pub laws: Vec<Added>,
    pub contracts: Vec<Contract>,
    /// How values of single types are told apart.
    pub novelty: Vec<NoveltyOf>,
    /// Whether sequences go on behind panics.
    pub past_panics: bool,
    /// Whether tests go to a package of ours, which may depend on more than the crate's own does.
    pub own_package: bool,
}

/// What is asked for, once it is known which package it is about.
pub type DemandsOf<'a> = &'a dyn Fn(&Subject) -> Result<Demands, EngineError>;

/// Goes down the pipe up to the pruned harness, with laws and contracts of the crate's author.
pub fn prepare_with(
    selection: &Selection,
    places: Places,
    budget: usize,
    demands: DemandsOf<'_>,
    tell: Tell<'_>,
) -> Result<Workbench, EngineError> {
    let (mut subject, api, mut timing) = discover(selection, &places, tell)?;
    let Demands { laws, contracts, novelty, past_panics, own_package } = demands(&subject)?;
    let added: Vec<(Added, &'static Law)> =
        laws.into_iter().map(|added| (added.clone(), added.law())).collect();
    let start = Instant::now();
    let mut grounded = testwright_ground::ground_with(&api, budget, &added);
    grounded.retain_reachable();
    timing.ground = start.elapsed().as_secs_f64();
    ensure_calls(&grounded, &api)?;
    let mut laws_left_out = beside::settle(&mut grounded, &mut subject, own_package, &places, tell);
    contract::enter(&mut grounded, &api, &contracts)?;
    if past_panics {
        let left_out = grounded.catch_panics(budget);
        if left_out > 0 {
            tell(&format!("no room for {left_out} calls with a caught panic; --operations gives more"));
        }
    }
    let mut source = source(&grounded, &api);
    let told_apart = novelty::apply(&novelty, &grounded.operations, &mut source)?;
    tell(&format!("checking {} operations with the compiler", source.operations.len()));
    let start = Instant::now();
    let mut harness = testwright_harness::prepare(&subject, &source, &places)?;
    let suspects = contract::suspects(&grounded.operations, harness.pruned());
    if !suspects.is_empty() {
        let compile = |grounded: &Grounded<'_>| {
            let harness = testwright_harness::prepare(&subject, &self::source(grounded, &api), &places)?;
            Ok(harness.pruned().clone())
        };
        return Err(contract::accuse(&mut grounded, &contracts, &suspects, compile)?);
    }
    if contract::relax(&mut grounded.operations, harness.pruned()) {
        source = self::source(&grounded, &api);
        novelty::apply(&novelty, &grounded.operations, &mut source)?;
        harness = testwright_harness::prepare(&subject, &source, &places)?;
    }
    timing.check = start.elapsed().as_secs_f64();
    timing.rounds = harness.pruned().rounds;

    let rejected: BTreeMap<OpId, Reason> = harness
        .pruned()
        .rejected
        .iter()
        .map(|(index, words)| (op_id(*index), Reason::Rejected(words.clone())))
        .collect();
    for (index, chosen) in harness.pruned().chosen_check.iter().enumerate() {
        let form = &mut grounded.operations.operations[index].form;
        form.only_full = *chosen == Some(1) && !form.short.is_empty();
    }
    grounded.reject(&rejected);
    let (_, usable) =
        testwright_ground::reach::reachable(&grounded.operations, |id| !rejected.contains_key(&id));
    let unreachable: BTreeMap<OpId, Reason> = grounded
        .operations
        .ids()
        .filter(|id| !usable.contains(id) && !rejected.contains_key(id))
        .map(|id| (id, Reason::NoMaker("value that only rejected operations make".to_owned())))
        .collect();
    grounded.reject(&unreachable);
    laws_left_out.extend(beside::rejected(&grounded.operations, &usable, &rejected));
    contract::check(&contracts, &grounded.operations, &usable, &rejected)?;
    for (added, law) in &added {
        check_law(added, law, &grounded.operations, &usable, &rejected)?;
    }
    novelty::check(&told_apart, &harness.pruned().rejected_types)?;
    let callables = grounded.callables.iter().map(fact).collect();
    let operations = grounded.operations;
    let dictionary = Dictionary::harvest(&subject.root, &[]);
    Ok(Workbench {
        dictionary,
        subject,
        places,
        operations,
        usable,
        goals: None,
        wishes: Resolved::default(),
        callables,
        skipped: api.skipped.iter().cloned().chain(laws_left_out).collect(),
        foreign: source.foreign,
        harness,
        timing,
        contracts,
    })
}

/// Whether there is anything to call, as [`prepare`] would see it, before anything is compiled for it.
pub fn look_for_calls(selection: &Selection, places: &Places, budget: usize) -> Result<(), EngineError> {
    let (_, api, _) = discover(selection, places, &|_| {})?;
    let mut grounded = testwright_ground::ground_with(&api, budget, &[]);
    grounded.retain_reachable();
    ensure_calls(&grounded, &api)
}

fn ensure_calls(grounded: &Grounded<'_>, api: &Api) -> Result<(), EngineError> {
    if grounded.callables.iter().all(|callable| callable.operations.is_empty()) {
        return Err(EngineError::Nothing(nothing(grounded, api)));
    }
    Ok(())
}

/// A law that no value can be judged by is a mistake of its author's.
fn check_law(
    added: &Added,
    law: &Law,
    operations: &Operations,
    usable: &HashSet<OpId>,
    rejected: &BTreeMap<OpId, Reason>,
) -> Result<(), EngineError> {
    let is_it = |id: &OpId| operations.get(*id).law().is_some_and(|own| own.class == law.class);
    if usable.iter().any(is_it) {
        return Ok(());
    }
    let why = match rejected.iter().find(|(id, _)| is_it(id)) {
        Some((_, reason)) => reason.to_string(),
        None => format!("no value of type `{}` is made", added.ty),
    };
    Err(EngineError::Wish(format!("{}: law `{}` cannot be used: {why}", added.place, added.name)))
}

fn fact(callable: &testwright_ground::Callable<'_>) -> CallableFact {
    CallableFact {
        path: callable.function.path.clone(),
        kind: match callable.place {
            Place::TraitImpl(_) => CallableKind::TraitImpl,
            _ => CallableKind::Inherent,
        },
        operations: callable.operations.clone(),
        reason: callable.operations.is_empty().then(|| {
            callable
                .refusal
                .clone()
                .unwrap_or_else(|| Reason::NoReceiver("no value of it is made".to_owned()))
        }),
        file: callable.function.span.as_ref().map(|span| (span.file.clone(), span.line)),
    }
}

fn op_id(index: usize) -> OpId {
    OpId(u32::try_from(index).expect("fewer than 2^32 operations"))
}

fn nothing(grounded: &Grounded<'_>, api: &Api) -> String {
    if grounded.callables.is_empty() {
        format!("{} has no public functions", api.lib)
    } else {
        format!(
            "none of the {} public functions of {} can be called by generated code",
            grounded.callables.len(),
            api.lib
        )
    }
}

fn source(grounded: &Grounded<'_>, api: &Api) -> HarnessSource {
    let operations = grounded
        .operations
        .ids()
        .map(|id| {
            let operation = grounded.operations.get(id);
            let text = grounded.text(id);
            let mut types: Vec<usize> = operation.params.iter().map(|param| param.ty.0 as usize).collect();
            types.push(operation.result.0 as usize);
            OperationSource {
                wrapper: text.wrapper,
                arity: u8::try_from(operation.params.len().min(MAX_ARITY)).unwrap_or(0),
                result: operation.result.0 as usize,
                types,
                checks: text.checks,
            }
        })
        .collect();
    HarnessSource {
        operations,
        types: grounded.type_texts(),
        foreign: testwright_ground::foreign_crates(api, &grounded.operations),
        prelude: grounded.prelude(),
    }
}

impl Workbench {
    /// Builds a worker binary; operations that only code generation rejects are taken out.
    pub fn build(&mut self, variant: &Variant) -> Result<Built, EngineError> {
        let built = self.harness.build(variant)?;
        let late: BTreeMap<OpId, Reason> = built
            .rejected_late
            .iter()
            .map(|(index, words)| (op_id(*index), Reason::Rejected(words.clone())))
            .collect();
        let rejected = &self.harness.pruned().rejected;
        let (_, usable) = testwright_ground::reach::reachable(&self.operations, |id| {
            !late.contains_key(&id) && !rejected.contains_key(&(id.0 as usize))
        });
        for callable in &mut self.callables {
            let had = !callable.operations.is_empty();
            let why = callable.operations.iter().find_map(|id| late.get(id)).cloned();
            callable.operations.retain(|id| usable.contains(id));
            if had && callable.operations.is_empty() {
                callable.reason = why;
            }
        }
        self.usable = usable;
        Ok(built)
    }

    /// Keeps only wanted operations of the subject as goals of the search, and never uses the banned ones. How many are left.
    pub fn restrict(&mut self, wanted: impl Fn(&str) -> bool, banned: impl Fn(&str) -> bool) -> usize {
        let operations = &self.operations;
        let about_subject = |id: OpId| operations.get(id).is_subject() || operations.get(id).law().is_some();
        self.usable.retain(|id| !(about_subject(*id) && banned(&operations.get(*id).path)));
        let goals: HashSet<OpId> = self
            .usable
            .iter()
            .copied()
            .filter(|id| about_subject(*id) && wanted(&operations.get(*id).path))
            .collect();
        let left = goals.iter().filter(|id| operations.get(**id).is_subject()).count();
        self.goals = Some(goals);
        left
    }

    /// Takes over what the crate's author wants of the search.
    pub fn heed(&mut self, wishes: &Wishes) -> Result<(), EngineError> {
        self.wishes = wishes.resolve(&self.operations, &self.usable)?;
        Ok(())
    }

    /// Starts a worker and takes over what the compiler told it about the types. Operations that make very large values
    /// are not used from then on.
    pub fn start_worker(
        &mut self,
        binary: PathBuf,
        scratch: PathBuf,
        coverage: bool,
    ) -> Result<Worker, EngineError> {
        let mut plan = WorkerPlan::new(binary, scratch);
        plan.coverage = coverage;
        let worker = Worker::start(plan)?;
        for (slot, info) in self.operations.abilities.iter_mut().zip(&worker.catalogue().types) {
            let has = |bit| info.abilities & bit != 0;
            *slot = Abilities {
                needs_drop: has(ability::NEEDS_DROP),
                copy: has(ability::COPY),
                clone: has(ability::CLONE),
                eq: has(ability::EQ),
                ord: has(ability::ORD),
                hash: has(ability::HASH),
                debug: has(ability::DEBUG),
                display: has(ability::DISPLAY),
                default: has(ability::DEFAULT),
            };
        }
        let types = &worker.catalogue().types;
        let operations = &self.operations;
        let is_large = |id: &OpId| {
            types.get(operations.get(*id).result.0 as usize).is_some_and(|info| info.size > LARGE)
        };
        self.usable.retain(|id| !is_large(id));
        Ok(worker)
    }
}
