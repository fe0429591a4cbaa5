//! A sequence in the making, checked by the borrow rules and encoded at the same time.

use std::sync::Arc;

use rand::seq::IndexedRandom;
use testwright_execute::Batch;
use testwright_model::ledger::{Act, State};
use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Ledger, Literal, OpId};
use testwright_wire::code;

use super::Means;
use super::bank::Bank;
use super::code::{decode, read_literal, write_literal};
use super::pool::{Entry, Shape, Site, Used};

/// Values that a sequence makes at most: their numbers must fit into the worker's code.
const MOST_VALUES: u32 = 16_000;
/// Words of its code at most, some room left for the last step.
const MOST_WORDS: usize = 60_000;
/// How deep drops that need other drops before them are followed.
const DROPS_OF_DROPS: u32 = 6;
/// Arguments that count as recent.
const RECENT: usize = 8;
/// Values that are kept in view.
const VIEW: usize = 24;

/// Its buffers are used again from one proposal to the next.
#[derive(Debug)]
pub struct Draft<'a> {
    operations: &'a Operations,
    words: Vec<u16>,
    places: Vec<u16>,
    sites: Vec<Site>,
    pub ledger: Ledger<'a>,
    pub calls: u32,
    /// Of them, those into the crate under test.
    subject_calls: u32,
    /// The calls that are not from the pool.
    pub fresh: Vec<Fresh>,
    /// Their arguments, one call's after the other's.
    args: Vec<Arg>,
    /// Values of the pool that they were given.
    pub used: Vec<Used>,
    /// What the next call is to be about, wherever it fits.
    pub focus: Option<ValueId>,
    /// With more values in view than this, some are forgotten.
    crowd: usize,
}

/// A call that a proposal adds.
#[derive(Clone, Copy, Debug)]
pub struct Fresh {
    pub op: OpId,
    pub value: ValueId,
    /// The classes of its literal arguments: see `choice`.
    pub classes: u64,
    /// The fingerprint of its only argument, if that is known.
    pub of: u64,
    /// Where its arguments are in the draft.
    args: usize,
}

/// Lengths to go back to.
#[derive(Debug)]
pub struct Mark<'a> {
    words: usize,
    places: usize,
    sites: usize,
    fresh: usize,
    args: usize,
    used: usize,
    calls: u32,
    subject_calls: u32,
    ledger: Ledger<'a>,
}

impl Mark<'_> {
    /// What it was made from, to be used again.
    pub fn into_state(self) -> State {
        self.ledger.into_state()
    }
}

impl<'a> Draft<'a> {
    pub fn new(operations: &'a Operations) -> Self {
        Draft {
            operations,
            words: Vec::new(),
            places: Vec::new(),
            sites: Vec::new(),
            ledger: Ledger::new(operations),
            calls: 0,
            subject_calls: 0,
            fresh: Vec::new(),
            args: Vec::new(),
            used: Vec::new(),
            focus: None,
            crowd: 2 * VIEW,
        }
    }

    /// Makes it empty; `words` are written over.
    pub fn clear(&mut self, words: Vec<u16>) {
        self.words = words;
        self.words.clear();
        self.places.clear();
        self.sites.clear();
        self.fresh.clear();
        self.args.clear();
        self.used.clear();
        (self.calls, self.subject_calls) = (0, 0);
        self.crowd = 2 * VIEW;
        self.ledger.clear();
    }

    /// Where the draft is now; `spare` is written over.
    pub fn mark(&self, mut spare: State) -> Mark<'a> {
        spare.clone_from(self.ledger.state());
        Mark {
            words: self.words.len(),
            places: self.places.len(),
            sites: self.sites.len(),
            fresh: self.fresh.len(),
            args: self.args.len(),
            used: self.used.len(),
            calls: self.calls,
            subject_calls: self.subject_calls,
            ledger: Ledger::resume(self.operations, spare),
        }
    }

    /// Goes back; the state that is given up can be used again.
    pub fn go_back(&mut self, mark: Mark<'a>) -> State {
        self.words.truncate(mark.words);
        self.places.truncate(mark.places);
        self.sites.truncate(mark.sites);
        self.fresh.truncate(mark.fresh);
        self.args.truncate(mark.args);
        self.used.truncate(mark.used);
        self.calls = mark.calls;
        self.subject_calls = mark.subject_calls;
        std::mem::replace(&mut self.ledger, mark.ledger).into_state()
    }

    fn is_full(&self) -> bool {
        self.ledger.made() >= MOST_VALUES || self.words.len() >= MOST_WORDS
    }

    /// Whether there is room for a pool sequence.
    pub fn has_room_for(&self, entry: &Entry) -> bool {
        self.words.len() + entry.words.len() < MOST_WORDS
    }

    /// Where the next word goes.
    fn at(&self) -> u16 {
        u16::try_from(self.words.len()).expect("a draft is full long before")
    }

    /// The arguments of a new call.
    pub fn args(&self, fresh: &Fresh) -> &[Arg] {
        &self.args[fresh.args..fresh.args + self.operations.get(fresh.op).params.len()]
    }

    /// Appends a pool sequence; the number that its first step has here.
    pub fn absorb(&mut self, entry: &Entry) -> u32 {
        let shape = &entry.shape;
        let (steps, made) = (self.ledger.steps(), self.ledger.made());
        let base = self.at();
        self.words.extend_from_slice(&entry.words);
        let number = u16::try_from(made).unwrap_or(u16::MAX);
        if number > 0 {
            let words = &mut self.words[usize::from(base)..];
            for place in &shape.places {
                words[usize::from(*place)] += number;
            }
        }
        self.places.extend(shape.places.iter().map(|place| place + base));
        self.sites.extend(shape.sites.iter().map(|site| site.moved(base, number)));
        self.calls += shape.calls;
        self.subject_calls += shape.subject_calls;
        self.ledger.absorb(&shape.state);
        steps
    }

    /// Appends a call, after the drops that it needs. `of` is the fingerprint of its only argument, if that is known.
    pub fn call(&mut self, op: OpId, args: &[Arg], classes: u64, of: u64) -> Option<ValueId> {
        let value = self.act(Act::Call(op, args), code::DROP, DROPS_OF_DROPS)?;
        let first = self.args.len();
        self.args.extend_from_slice(args);
        self.fresh.push(Fresh { op, value, classes, of, args: first });
        Some(value)
    }

    /// Appends a literal, which is meant for this parameter of an operation.
    pub fn literal(
        &mut self,
        ty: TypeId,
        value: &Literal,
        wanted: Option<(OpId, usize)>,
        bank: &mut Bank,
    ) -> Option<ValueId> {
        if self.is_full() {
            return None;
        }
        let (at, number) = (self.at(), self.ledger.made());
        write_literal(self.operations, ty, value, bank, &mut self.words)?;
        // A literal uses nothing, so nothing forbids it.
        self.ledger.act_or_drops(Act::Literal(ty)).ok()?;
        self.sites.push(Site::new(at, number, wanted));
        Some(self.made())
    }

    /// How many literals there are.
    pub fn literals(&self) -> usize {
        self.sites.len()
    }

    /// A literal by its number, with its code.
    pub fn literal_at(&self, index: usize) -> Option<(Site, &[u16])> {
        let site = *self.sites.get(index)?;
        Some((site, &self.words[usize::from(site.at)..]))
    }

    /// The literal that an alive value is, if it was written out.
    pub fn literal_of(&self, value: ValueId, bank: &Bank) -> Option<Literal> {
        let number = self.ledger.number(value)?;
        let index = self.sites.binary_search_by_key(&number, |site| site.number()).ok()?;
        let (_, words) = self.literal_at(index)?;
        Some(read_literal(self.operations, bank, words))
    }

    /// Writes another literal of the same type in the place of one.
    pub fn rewrite(&mut self, site: Site, literal: &[u16]) {
        let at = usize::from(site.at);
        self.words[at..at + literal.len()].copy_from_slice(literal);
    }

    /// The arguments of the last new calls, the last first; some may be gone.
    pub fn recent(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.args.iter().rev().take(RECENT).map(|arg| arg.value)
    }

    /// A literal of this type that the draft has already.
    pub fn known_literal(&self, ty: TypeId, means: &mut Means<'_>) -> Option<Literal> {
        (0..3).find_map(|_| {
            let words = &self.words[usize::from(self.sites.choose(means.rng)?.at)..];
            (u32::from(words[1]) == ty.0).then(|| read_literal(self.operations, means.bank, words))
        })
    }

    /// Drops or forgets a value.
    pub fn end(&mut self, value: ValueId, forget: bool) -> Option<()> {
        let code = if forget { code::FORGET } else { code::DROP };
        self.act(Act::End(value), code, DROPS_OF_DROPS).map(|_| ())
    }

    /// `left`: values that hold each other would have to be dropped one before the other, for ever.
    fn act(&mut self, act: Act<'_>, ending: u16, left: u32) -> Option<ValueId> {
        if self.is_full() {
            return None;
        }
        let start = (self.words.len(), self.places.len());
        let drops = if self.encode(act, ending) { self.ledger.act_or_drops(act).ok() } else { None };
        if drops.as_ref().is_none_or(|drops| !drops.is_empty()) {
            self.words.truncate(start.0);
            self.places.truncate(start.1);
            let left = left.checked_sub(1)?;
            for value in drops? {
                // One drop may end others.
                if self.ledger.is_alive(value) {
                    self.act(Act::End(value), code::DROP, left)?;
                }
            }
            return self.act(act, ending, left);
        }
        if let Act::Call(op, _) = act {
            self.calls += 1;
            self.subject_calls += u32::from(self.operations.get(op).is_subject());
        }
        Some(self.made())
    }

    /// The step that was taken last.
    fn made(&mut self) -> ValueId {
        if self.ledger.in_view() > self.crowd {
            self.ledger.forget_idle(VIEW);
            // Some cannot be forgotten, and it takes time to find that out.
            self.crowd = self.ledger.in_view() + VIEW;
        }
        ValueId(self.ledger.steps() - 1)
    }

    fn encode(&mut self, act: Act<'_>, ending: u16) -> bool {
        match act {
            Act::Call(op, args) => {
                let operation = self.operations.get(op);
                self.words.push(code::CALL_BASE + u16::try_from(op.0).unwrap_or(u16::MAX));
                for (param, arg) in operation.params.iter().zip(args) {
                    let bits = match (arg.how, param.take) {
                        (How::Move, _) => code::MOVE,
                        (How::Reborrow | How::ReborrowMut, Take::Shared | Take::Mut) => code::DEREF,
                        _ => 0,
                    };
                    if !self.value_word(arg.value, bits) {
                        return false;
                    }
                }
                true
            }
            Act::End(value) => {
                self.words.push(ending);
                self.value_word(value, 0)
            }
            Act::Literal(_) | Act::Closure(_) => false,
        }
    }

    fn value_word(&mut self, value: ValueId, bits: u16) -> bool {
        let Some(number) = self.number(value) else { return false };
        self.places.push(self.at());
        self.words.push(number | bits);
        true
    }

    fn number(&self, value: ValueId) -> Option<u16> {
        let number = self.ledger.number(value)?;
        Some(u16::try_from(number).unwrap_or(code::VALUE) & code::VALUE)
    }

    /// The sequence as steps, with the drops that the end of the scope would do in the wrong order.
    pub fn finished(&self, bank: &Bank) -> Sequence {
        let mut sequence = decode(self.operations, bank, &self.words);
        for value in self.ledger.drops_at_end() {
            sequence.push(Step::Drop(value));
        }
        sequence
    }

    /// A sequence that ran in an earlier run, with every call as a new one; `None` if it is not legal as it stands.
    pub fn retrace(operations: &'a Operations, sequence: &Sequence, bank: &mut Bank) -> Option<Self> {
        let mut draft = Draft::new(operations);
        for step in &sequence.steps {
            if draft.is_full() {
                return None;
            }
            // Nothing is forgotten on the way: what the steps use was in view where they were first joined.
            let legal = draft.ledger.drops_before(step).is_ok_and(|drops| drops.is_empty());
            let encoded = match step {
                _ if !legal => false,
                Step::Literal { ty, value } => {
                    draft.sites.push(Site::new(draft.at(), draft.ledger.made(), None));
                    write_literal(operations, *ty, value, bank, &mut draft.words).is_some()
                }
                Step::Forget(_) => draft.encode(step.into(), code::FORGET),
                _ => draft.encode(step.into(), code::DROP),
            };
            if !encoded {
                return None;
            }
            draft.ledger.step(step).ok()?;
            if let Step::Call { op, args } = step {
                let (value, first) = (ValueId(draft.ledger.steps() - 1), draft.args.len());
                draft.args.extend_from_slice(args);
                draft.fresh.push(Fresh { op: *op, value, classes: 0, of: 0, args: first });
                draft.calls += 1;
                draft.subject_calls += u32::from(operations.get(*op).is_subject());
            }
        }
        (draft.calls > 0).then_some(draft)
    }

    /// A proposal from the draft, which observes what the new calls made and changed.
    ///
    /// Takes the code with it; nothing can be added any more.
    pub fn propose(&mut self) -> Proposal {
        let mut observed: Vec<ValueId> = Vec::with_capacity(OBSERVED);
        for fresh in self.fresh.iter().rev() {
            let changed = self.args(fresh).iter().filter(|arg| matches!(arg.how, How::RefMut));
            for value in changed.map(|arg| arg.value).chain([fresh.value]) {
                if observed.len() < OBSERVED && !observed.contains(&value) && self.ledger.is_alive(value) {
                    observed.push(value);
                }
            }
        }
        self.propose_observing(&observed)
    }

    /// A proposal which observes these values, as far as they are alive.
    pub fn propose_observing(&mut self, observed: &[ValueId]) -> Proposal {
        let observed = observed
            .iter()
            .copied()
            .filter_map(|value| {
                Some(Observed { value, number: self.number(value)?, ty: self.ledger.ty(value) })
            })
            .take(OBSERVED)
            .collect();
        let drops = self.ledger.drops_at_end();
        let drops = drops.into_iter().filter_map(|value| Some((value, self.number(value)?))).collect();
        self.ledger.forget_idle(VIEW);
        let shape = Shape {
            places: self.places.as_slice().into(),
            sites: self.sites.as_slice().into(),
            calls: self.calls,
            subject_calls: self.subject_calls,
            state: self.ledger.state().clone(),
        };
        Proposal {
            shape: Arc::new(shape),
            words: std::mem::take(&mut self.words),
            aim: Arc::new(Aim { observed, drops, fresh: self.fresh.clone(), used: self.used.clone() }),
            varied: Vec::new(),
        }
    }
}

/// Values whose fingerprints a proposal asks for, at most.
const OBSERVED: usize = 5;

#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub value: ValueId,
    pub ty: TypeId,
    number: u16,
}

/// A sequence to run, and what to look at.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub shape: Arc<Shape>,
    /// Its code, as in an [`Entry`].
    pub words: Vec<u16>,
    /// What it was made for; shared by those that differ in their literals only.
    pub aim: Arc<Aim>,
    /// The literals that differ from a sequence that ran before: for which operation they are meant, and their classes.
    /// Empty in a sequence of its own.
    pub varied: Vec<(OpId, u64)>,
}

#[derive(Debug)]
pub struct Aim {
    pub observed: Vec<Observed>,
    /// Values to drop at the very end, in this order.
    drops: Vec<(ValueId, u16)>,
    pub fresh: Vec<Fresh>,
    pub used: Vec<Used>,
}

impl Proposal {
    /// Whether it is another's sequence with other literals.
    pub fn is_variant(&self) -> bool {
        !self.varied.is_empty()
    }

    /// Whether the step is a call that the proposal adds to what ran before.
    pub fn is_fresh(&self, step: u32) -> bool {
        self.aim.fresh.iter().any(|fresh| fresh.value.0 == step)
    }

    /// The sequence, to be kept.
    pub fn entry(&self) -> Entry {
        Entry { shape: Arc::clone(&self.shape), words: self.words.as_slice().into() }
    }

    /// The classes of the literals that it brings, by the operation that they are meant for.
    pub fn literals(&self) -> impl Iterator<Item = (OpId, u64)> + '_ {
        let fresh = self.aim.fresh.iter().filter(|_| !self.is_variant());
        fresh.map(|fresh| (fresh.op, fresh.classes)).chain(self.varied.iter().copied())
    }

    /// Appends the proposal's code.
    pub fn add_to(&self, batch: &mut Batch) {
        let Batch { starts, words, .. } = batch;
        starts.push(u32::try_from(words.len()).unwrap_or(u32::MAX));
        let length = self.words.len() + 2 * (self.aim.observed.len() + self.aim.drops.len());
        #[expect(clippy::cast_possible_truncation, reason = "word by word")]
        words.extend_from_slice(&[length as u16, (length >> 16) as u16]);
        words.extend_from_slice(&self.words);
        for observed in &self.aim.observed {
            words.extend_from_slice(&[code::OBSERVE, observed.number]);
        }
        for (_, number) in &self.aim.drops {
            words.extend_from_slice(&[code::DROP, *number]);
        }
    }

    /// The steps as run; observations are not among them.
    pub fn sequence(&self, operations: &Operations, bank: &Bank) -> Sequence {
        let mut sequence = decode(operations, bank, &self.words);
        for (value, _) in &self.aim.drops {
            sequence.push(Step::Drop(*value));
        }
        sequence
    }

    /// The worker counts observations as steps; the number of a step in [`Proposal::sequence`].
    pub fn step(&self, executed: u32) -> u32 {
        let steps = self.shape.state.steps();
        let observed = u32::try_from(self.aim.observed.len()).unwrap_or(0);
        if executed < steps { executed } else { executed.saturating_sub(observed).max(steps) }
    }
}
