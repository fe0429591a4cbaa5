//! Which sequences become tests: the shortest that together reach every region, then those that show what none of these shows, without those
//! that neither reach nor show anything of their own.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::time::{Duration, Instant};

use testwright_emit::{Pin, RegressionTest, Strength, shows_insides, strength};
use testwright_model::operation::{Operations, TypeId};
use testwright_model::sequence::{Sequence, Step, ValueId};
use testwright_model::{Prim, Ty};

use super::Material;
use super::facts::{self, Catalogue, Fact, Told, concerns_subject, plain_path};
use super::lab::Lab;
use super::neighbours;
use super::observe::Observed;
use crate::EngineError;
use crate::minimise;
use crate::search::calls;

/// Steps of a sequence whose facts are looked at: all its values are printed.
const SHORT: usize = 120;
/// Sequences that are shortened for what they show, at most, and the time for it under a time budget.
const SHOWN: usize = 400;
const SHOW_TIME: Duration = Duration::from_secs(8);
/// Calls in a test that is there for what it shows, at most.
const CALLS: usize = 8;
/// Calls in a test that is there for what it reaches, at most: nobody reads a longer one.
const LONGEST: usize = 30;
/// Tests beside others that decide otherwise, in all and of one test.
const BOUNDARIES: usize = 60;
const SIDES: usize = 2;
/// Assertions in one test, at most.
const PINS: usize = 6;

/// A test that may enter the suite.
struct Candidate {
    test: RegressionTest,
    regions: Vec<u32>,
    facts: Vec<Fact>,
}

/// What a call decided, and on which path through the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Decision {
    call: String,
    path: u64,
    /// `true`, `None`, `Ok`, `Less`.
    word: String,
}

impl Decision {
    /// Of the call that the test is about, if that decides something.
    fn of(operations: &Operations, test: &RegressionTest, regions: &[u32]) -> Option<Decision> {
        let about = test.about?;
        let Step::Call { op, .. } = &test.sequence.steps[about] else { return None };
        let operation = operations.get(*op);
        let decides = match operations.ty(operation.result) {
            Ty::Prim(Prim::Bool) => true,
            Ty::Adt { path, .. } => {
                ["std::option::Option", "std::result::Result", "std::cmp::Ordering"].contains(&path.as_str())
            }
            _ => false,
        };
        let pin = test.pins.iter().find(|pin| !pin.left && pin.value.0 as usize == about)?;
        let call = plain_path(&operation.path);
        decides.then(|| Decision { call, path: signature(regions), word: word(&pin.text) })
    }

    fn fact(&self) -> Fact {
        let kind = format!("{} on path {:x}", self.word, self.path);
        Fact { path: self.call.clone(), leaves: false, kind }
    }
}

/// The first words of a text: what was decided, without what came with it.
fn word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '('))
        .filter(|c| !c.is_ascii_digit())
        .collect()
}

/// One number for a set of regions, the same in every run.
fn signature(regions: &[u32]) -> u64 {
    regions.iter().fold(0xcbf2_9ce4_8422_2325, |hash, region| {
        (hash ^ u64::from(*region)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Material<'_> {
    /// The tests, each as short as it still reaches or shows what is its own.
    pub(super) fn choose(
        &self,
        lab: &mut Lab<'_>,
        corpus: &[Sequence],
        reached: &[Option<Vec<u32>>],
    ) -> Result<Vec<RegressionTest>, EngineError> {
        let most = self.plan.max_tests;
        let mut chosen = Vec::new();
        for sequence in self.by_region(lab, corpus, reached)? {
            chosen.extend(self.candidate(lab, &sequence)?);
        }
        let whole: Vec<&Sequence> =
            corpus.iter().zip(reached).filter(|(_, reached)| reached.is_some()).map(|(one, _)| one).collect();
        self.by_fact(lab, &whole, &mut chosen)?;
        self.by_boundary(lab, &mut chosen)?;
        let mut tests = without_redundant(chosen);
        tests.truncate(most);
        self.add_panics(lab, &mut tests)?;
        // For comparisons, also what is not as plain as can be.
        for sequence in crate::diff::varied(&self.bench.operations, &whole, self.plan.varied) {
            let candidate = self.candidate(lab, sequence)?.map(|candidate| candidate.test);
            tests.extend(candidate.filter(|test| tests.iter().all(|other| other.sequence != test.sequence)));
        }
        Ok(tests)
    }

    /// The smallest sequences that together reach every region, each as short as it still reaches its own.
    fn by_region(
        &self,
        lab: &mut Lab<'_>,
        corpus: &[Sequence],
        reached: &[Option<Vec<u32>>],
    ) -> Result<Vec<Sequence>, EngineError> {
        let mut chosen: Vec<Sequence> = Vec::new();
        let mut known: HashSet<u32> = HashSet::new();
        let mut called: HashSet<String> = HashSet::new();
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
            let new_call = paths(sequence).into_iter().find(|path| !called.contains(&plain_path(path)));
            if needed.is_empty() && new_call.is_none() {
                continue;
            }
            let short = lab.shorten(sequence, &needed, new_call)?;
            for path in paths(&short) {
                called.insert(plain_path(path));
            }
            known.extend(lab.reached(std::slice::from_ref(&short))?.into_iter().flatten().flatten());
            if calls(&short).count() <= LONGEST && !chosen.contains(&short) {
                chosen.push(short);
            }
        }
        Ok(chosen)
    }

    /// Adds tests for what calls were seen to do and none of the tests shows.
    fn by_fact(
        &self,
        lab: &mut Lab<'_>,
        corpus: &[&Sequence],
        chosen: &mut Vec<Candidate>,
    ) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        let until = self.plan.is_timed().then(|| Instant::now() + SHOW_TIME);
        let late = || until.is_some_and(|until| Instant::now() > until);
        let mut catalogue = Catalogue::default();
        let short: Vec<&&Sequence> = corpus.iter().filter(|sequence| sequence.len() <= SHORT).collect();
        for part in short.chunks(50) {
            if late() {
                break;
            }
            let asked: Vec<_> =
                part.iter().map(|one| ((**one).clone(), facts::lent(operations, one))).collect();
            for ((sequence, _), told) in asked.iter().zip(lab.told(&asked)?) {
                let Some(told) = told else { continue };
                for (step, fact) in facts::of(operations, sequence, &told) {
                    catalogue.offer(fact, step + 1, || minimise::slice(operations, sequence, step));
                }
            }
        }
        let mut shown: HashSet<Fact> = chosen.iter().flat_map(|one| one.facts.iter().cloned()).collect();
        for (fact, sequence) in catalogue.chosen().into_iter().take(SHOWN) {
            if shown.contains(&fact) || late() {
                continue;
            }
            let Some(short) = lab.shorten_fact(&sequence, &fact)? else { continue };
            // Nobody reads more to see one value.
            if calls(&short).count() > CALLS {
                continue;
            }
            let Some(candidate) = self.candidate(lab, &short)? else { continue };
            if candidate.facts.iter().any(|fact| !shown.contains(fact)) {
                shown.extend(candidate.facts.iter().cloned());
                chosen.push(candidate);
            }
        }
        Ok(())
    }

    /// Adds neighbours of tests in which the call that the test is about decides otherwise on the same path.
    fn by_boundary(&self, lab: &mut Lab<'_>, chosen: &mut Vec<Candidate>) -> Result<(), EngineError> {
        let operations = &self.bench.operations;
        let until = self.plan.is_timed().then(|| Instant::now() + SHOW_TIME);
        let mut decided: HashSet<Decision> = HashSet::new();
        decided.extend(chosen.iter().filter_map(|one| Decision::of(operations, &one.test, &one.regions)));
        let texts = neighbours::texts(chosen.iter().map(|one| &one.test.sequence));
        let mut added: Vec<Candidate> = Vec::new();
        for one in chosen.iter_mut() {
            if until.is_some_and(|until| Instant::now() > until) || added.len() >= BOUNDARIES {
                break;
            }
            let Some(decision) = Decision::of(operations, &one.test, &one.regions) else { continue };
            let mut taken = 0;
            // Only what takes the same path is looked at more closely.
            let near = neighbours::of(&one.test.sequence, &texts);
            let reached = lab.reached(&near)?;
            let before = added.len();
            for (sequence, reached) in near.into_iter().zip(reached) {
                if taken == SIDES || reached.is_none_or(|reached| signature(&reached) != decision.path) {
                    continue;
                }
                let test = RegressionTest { sequence, ..one.test.clone() };
                let Some(mut candidate) = self.retold(lab, test, &decision)? else { continue };
                let Some(other) = Decision::of(operations, &candidate.test, &candidate.regions) else {
                    continue;
                };
                if decided.insert(other.clone()) {
                    taken += 1;
                    candidate.facts.push(other.fact());
                    added.push(candidate);
                }
            }
            if added.len() > before {
                // The other side of it must stay too.
                one.facts.push(decision.fact());
            }
        }
        chosen.extend(added);
        Ok(())
    }

    /// The same test with another literal, if it decides otherwise.
    fn retold(
        &self,
        lab: &mut Lab<'_>,
        test: RegressionTest,
        decision: &Decision,
    ) -> Result<Option<Candidate>, EngineError> {
        let operations = &self.bench.operations;
        let end = test.sequence.len().saturating_sub(1);
        let left: Vec<_> = test.pins.iter().filter(|pin| pin.left).map(|pin| (end, pin.value)).collect();
        let observed = Observed { sequence: test.sequence, about: test.about, before: end + 1, left };
        let Some((told, left)) = tell(lab, &observed)? else { return Ok(None) };
        let kind = test.about.and_then(|about| told.made.get(about)?.as_deref()).map(word);
        if kind.is_none_or(|kind| kind == decision.word) {
            return Ok(None);
        }
        let reached = lab.reached(std::slice::from_ref(&observed.sequence))?;
        let Some(Some(regions)) = reached.into_iter().next() else { return Ok(None) };
        let mut pins = pins(operations, &observed, &told, &left);
        pins.retain(|pin| test.pins.iter().any(|old| (old.value, old.left) == (pin.value, pin.left)));
        let facts = pinned_facts(operations, &observed, &told, &pins);
        let test = RegressionTest { sequence: observed.sequence, pins, about: test.about, panics: None };
        Ok(Some(Candidate { test, regions, facts }))
    }

    /// The test of a sequence, with observers; `None` if it does not run to its end every time or acts on the world outside.
    fn candidate(&self, lab: &mut Lab<'_>, sequence: &Sequence) -> Result<Option<Candidate>, EngineError> {
        let operations = &self.bench.operations;
        let observed = Observed::of(operations, &self.bench.usable, sequence);
        for observed in [observed, Observed::plainly(operations, sequence)] {
            let Some((told, left)) = tell(lab, &observed)? else { continue };
            let reached = lab.reached(std::slice::from_ref(&observed.sequence))?;
            let Some(Some(regions)) = reached.into_iter().next() else { continue };
            let pins = pins(operations, &observed, &told, &left);
            let facts = pinned_facts(operations, &observed, &told, &pins);
            let Observed { sequence, about, .. } = observed;
            let test = RegressionTest { sequence, pins, about, panics: None };
            return Ok(Some(Candidate { test, regions, facts }));
        }
        Ok(None)
    }

    /// Documented panics, as far as there is room.
    fn add_panics(&self, lab: &mut Lab<'_>, tests: &mut Vec<RegressionTest>) -> Result<(), EngineError> {
        let room = self.plan.max_tests.saturating_sub(tests.len());
        for (sequence, message) in self.panics.iter().take(room) {
            let first = message.lines().next().unwrap_or("");
            // Nothing to expect: such a test would take any panic.
            if first.is_empty() || first.contains("0x") {
                continue;
            }
            if let Some(sequence) = lab.shorten_panic(sequence, message)? {
                let panics = Some(first.to_owned());
                tests.push(RegressionTest { sequence, panics, ..RegressionTest::default() });
            }
        }
        Ok(())
    }
}

/// A value that is left at the end, with its text.
type Left = (usize, ValueId, Option<String>);

/// What the values look like when they are made and behind the calls that change them, and at the end.
fn tell(lab: &mut Lab<'_>, observed: &Observed) -> Result<Option<(Told, Vec<Left>)>, EngineError> {
    let mut asked = facts::lent(lab.operations, &observed.sequence);
    let changed = asked.len();
    asked.extend(&observed.left);
    let told = lab.steady(&observed.sequence, &asked)?;
    Ok(told.map(|mut told| {
        let left = told.left.split_off(changed);
        (told, left)
    }))
}

/// The facts that a test asserts: results of the crate's own calls, and what is left of what they were lent.
fn pins(operations: &Operations, observed: &Observed, told: &Told, at_end: &[Left]) -> Vec<Pin> {
    let Observed { sequence, about, before, .. } = observed;
    let step = |value: ValueId| value.0 as usize;
    let ty = |value: ValueId| type_of(operations, sequence, value);
    let mut pins = Vec::new();
    for (index, text) in told.made.iter().enumerate() {
        let (Some(text), true) = (text, concerns_subject(operations, sequence, index)) else { continue };
        let value = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
        if strength(operations, ty(value), text) > Strength::Nothing
            && !prints_insides(operations, sequence, index, text)
        {
            pins.push(Pin { value, text: text.clone(), left: false });
        }
    }
    // A plain value says more than a text; the whole of a value is told of the call that the test is about, if nobody observes it.
    let is_observed = |value: ValueId| {
        (*before..sequence.len()).any(|observer| {
            sequence.steps[observer].uses().first() == Some(&value)
                && pins.iter().any(|pin| step(pin.value) == observer)
        })
    };
    let told_well = |pin: &Pin| {
        is_plain(operations.ty(ty(pin.value))) || (Some(step(pin.value)) == *about && !is_observed(pin.value))
    };
    let kept: Vec<Pin> = pins.iter().filter(|pin| told_well(pin)).cloned().collect();
    let mut left = Vec::new();
    for (_, value, text) in at_end {
        let Some(text) = text else { continue };
        let strength = strength(operations, ty(*value), text);
        let same = told.made.get(step(*value)).is_some_and(|made| made.as_ref() == Some(text));
        let said = same && kept.iter().any(|pin| pin.value == *value);
        if !said && (strength == Strength::Value || strength == Strength::Text && !is_observed(*value)) {
            left.push(Pin { value: *value, text: text.clone(), left: true });
        }
    }
    let mut pins = kept;
    // The last ones tell most.
    let surplus = (pins.len() + left.len()).saturating_sub(PINS).min(pins.len());
    pins.drain(..surplus);
    pins.extend(left);
    pins
}

/// A `Debug` text of private parts, asked for by a call.
fn prints_insides(operations: &Operations, sequence: &Sequence, step: usize, text: &str) -> bool {
    matches!(&sequence.steps[step], Step::Call { op, .. } if operations.get(*op).path.ends_with(" as Debug>::fmt"))
        // The text is that of a string.
        && shows_insides(text.trim_matches('"'))
}

/// What the test asserts, as facts; what a call changed is one if it, or what observers say of it, is asserted.
fn pinned_facts(operations: &Operations, observed: &Observed, told: &Told, pins: &[Pin]) -> Vec<Fact> {
    let sequence = &observed.sequence;
    let is_pinned = |step: usize| pins.iter().any(|pin| !pin.left && pin.value.0 as usize == step);
    let is_shown = |step: usize| {
        let last =
            |value: ValueId| told.left.iter().rfind(|(_, other, _)| *other == value).map(|(step, ..)| *step);
        let observers = observed.before..sequence.len();
        let mut values = observers
            .filter(|step| is_pinned(*step))
            .filter_map(|step| sequence.steps[step].uses().first().copied());
        let mut left = pins.iter().filter(|pin| pin.left).map(|pin| pin.value);
        values.any(|value| last(value) == Some(step)) || left.any(|value| last(value) == Some(step))
    };
    let mut found: Vec<Fact> = facts::of(operations, sequence, told)
        .into_iter()
        .filter(|(step, fact)| if fact.leaves { is_shown(*step) } else { is_pinned(*step) })
        .map(|(_, fact)| fact)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The tests without those whose regions are reached, and whose facts are shown by others.
fn without_redundant(candidates: Vec<Candidate>) -> Vec<RegressionTest> {
    let mut regions: HashMap<u32, usize> = HashMap::new();
    let mut facts: HashMap<&Fact, usize> = HashMap::new();
    for candidate in &candidates {
        count(&mut regions, candidate.regions.iter().copied());
        count(&mut facts, candidate.facts.iter());
    }
    let mut kept = vec![true; candidates.len()];
    // The longest first: what they do is more likely to be done by shorter ones than the other way round.
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(candidates[*index].test.sequence.len()), *index));
    for index in order {
        let candidate = &candidates[index];
        let reached = candidate.regions.iter().all(|region| regions[region] > 1);
        if reached && candidate.facts.iter().all(|fact| facts[fact] > 1) {
            kept[index] = false;
            candidate.regions.iter().for_each(|region| *regions.entry(*region).or_default() -= 1);
            candidate.facts.iter().for_each(|fact| *facts.entry(fact).or_default() -= 1);
        }
    }
    candidates.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(candidate, _)| candidate.test).collect()
}

fn count<T: Eq + Hash>(times: &mut HashMap<T, usize>, items: impl Iterator<Item = T>) {
    for item in items {
        *times.entry(item).or_default() += 1;
    }
}

fn type_of(operations: &Operations, sequence: &Sequence, value: ValueId) -> TypeId {
    match sequence.steps.get(value.0 as usize) {
        Some(Step::Call { op, .. }) => operations.get(*op).result,
        Some(Step::Literal { ty, .. }) => *ty,
        _ => TypeId(0),
    }
}

/// Whether values of the type print as literals: a number, a text, or an `Option` or the like.
fn is_plain(ty: &Ty) -> bool {
    match ty {
        Ty::Adt { path, .. } => [
            "std::option::Option",
            "std::result::Result",
            "std::string::String",
            "std::vec::Vec",
            "std::cmp::Ordering",
        ]
        .contains(&path.as_str()),
        Ty::Dyn { .. } => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(length: usize, regions: &[u32], kinds: &[&str]) -> Candidate {
        let fact = |kind: &&str| Fact { path: "f".to_owned(), leaves: false, kind: (*kind).to_owned() };
        let sequence = Sequence { steps: vec![Step::Drop(ValueId(0)); length] };
        Candidate {
            test: RegressionTest { sequence, ..RegressionTest::default() },
            regions: regions.to_vec(),
            facts: kinds.iter().map(fact).collect(),
        }
    }

    #[test]
    fn a_test_stays_for_what_it_reaches_or_shows() {
        let lengths = |candidates| -> Vec<usize> {
            without_redundant(candidates).iter().map(|test| test.sequence.len()).collect()
        };
        // The second shows what the first does not, the third neither reaches nor shows anything of its own.
        let shown =
            vec![candidate(1, &[1], &["0"]), candidate(2, &[1], &["1"]), candidate(3, &[1], &["0", "1"])];
        assert_eq!(lengths(shown), [1, 2]);
        assert_eq!(lengths(vec![candidate(1, &[1], &["0"]), candidate(2, &[1, 2], &["0"])]), [2]);
        assert_eq!(lengths(vec![candidate(1, &[1], &["0"]), candidate(1, &[1], &["0"])]), [1]);
    }
}
