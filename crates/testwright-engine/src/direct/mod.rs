//! The directed random strategy: legal sequences by picking operations and finding or making their arguments.
//!
//! It proposes and never runs. Every step goes through the [`Ledger`](testwright_model::Ledger), so that each proposal is also a legal program. With a
//! pool, proposals extend sequences that ran before ([`pool`]); without one they are random walks.

mod arguments;
pub mod bank;
pub mod choice;
mod code;
pub mod draft;
mod huge;
mod laws;
pub mod pool;
mod tables;

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_ground::reach::is_literal;
use testwright_learn::Dictionary;
use testwright_model::ledger::State;
use testwright_model::operation::{Operations, Origin, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, ValueId};
use testwright_model::{Literal, OpId, Ty};

use bank::Bank;
use choice::Choice;
use draft::{Draft, Fresh, Proposal};
use pool::{Pool, Site};

pub use code::{call_at, calls, decode, forgets, subject_calls_before};

use crate::wishes::Resolved;

/// What the strategy knows of the operations.
#[derive(Debug)]
pub struct Maker<'a> {
    operations: &'a Operations,
    /// Operations that make a value of the type, cheapest first.
    makers: ByType<Vec<OpId>>,
    /// Operations that take a value of the type or a borrow of one.
    takers: ByType<Vec<OpId>>,
    /// Of the takers, those of the subject.
    subject_takers: ByType<Vec<OpId>>,
    /// Of the makers, those that turn a text or byte string that is written out into a value: what has structure comes from there.
    from_text: ByType<Vec<OpId>>,
    /// How many steps it takes at least to make a value; [`NEVER`] if nothing makes one.
    cost: ByType<u32>,
    /// Whether values of the type can be written out.
    literals: ByType<bool>,
    /// By type, the types of references to it: shared and mutable ones.
    references: ByType<Vec<(TypeId, bool)>>,
    /// One list of operations for each callable of the subject, so that callables have equal chances.
    families: Vec<Vec<OpId>>,
    others: Vec<OpId>,
    /// Laws of the subject's types, by type.
    laws: Vec<Vec<OpId>>,
    dictionary: Dictionary,
    wishes: Resolved,
    /// Integers stay small, so that no capacity or length asked for costs more than the call.
    modest: bool,
}

/// One thing for each type, at the type's number: these are asked for many times a proposal.
#[derive(Debug)]
struct ByType<T>(Vec<T>);

impl<T: Clone> ByType<T> {
    fn new(operations: &Operations, of_each: T) -> Self {
        ByType(vec![of_each; operations.types.len()])
    }
}

impl<T> std::ops::Index<TypeId> for ByType<T> {
    type Output = T;

    fn index(&self, ty: TypeId) -> &T {
        &self.0[ty.0 as usize]
    }
}

impl<T> std::ops::IndexMut<TypeId> for ByType<T> {
    fn index_mut(&mut self, ty: TypeId) -> &mut T {
        &mut self.0[ty.0 as usize]
    }
}

const NEVER: u32 = u32::MAX;

/// What a proposal is made with.
#[derive(Debug)]
pub struct Means<'m> {
    pub rng: &'m mut Xoshiro256PlusPlus,
    pub bank: &'m mut Bank,
    pub choice: &'m Choice,
    pub pool: Option<&'m Pool>,
    /// Whether laws are checked.
    pub judging: bool,
    /// States to write over, so that each call does not ask for memory.
    pub spare: &'m mut Vec<State>,
    /// The same for code.
    pub buffers: &'m mut Vec<Vec<u16>>,
}

/// Arguments of arguments of arguments, at most.
const DEPTH: u32 = 8;
/// Calls that a proposal adds, apart from repetition.
const BURST: u32 = 10;
/// No sequence becomes longer.
const LONGEST: u32 = 300;
/// Counts for std's own operations, at most.
const MODEST: i128 = 300;
/// A repeated call is repeated so often at most.
const REPEATS: u32 = 100;
/// One in so many proposals is made for the sake of a law.
const LAWS: u32 = 4;
/// Literals that are changed at once, at most.
const VARIED: usize = 4;

/// What is learnt of a call while its arguments are found.
#[derive(Clone, Copy, Debug, Default)]
struct Notes {
    /// The classes of its literals.
    classes: u64,
    /// The fingerprint of its only argument.
    of: u64,
}

impl<'a> Maker<'a> {
    pub fn new(operations: &'a Operations, usable: &HashSet<OpId>) -> Self {
        let mut references = ByType::new(operations, Vec::new());
        let mut literals = ByType::new(operations, false);
        for (ty, id) in operations.types.iter().zip(0..) {
            literals[TypeId(id)] = is_literal(ty);
            if let Ty::Ref { mutable, to, .. } = ty {
                if let Some(target) = operations.find_type(to) {
                    references[target].push((TypeId(id), *mutable));
                }
            }
        }
        let mut maker = Maker {
            operations,
            makers: ByType::new(operations, Vec::new()),
            takers: ByType::new(operations, Vec::new()),
            subject_takers: ByType::new(operations, Vec::new()),
            from_text: ByType::new(operations, Vec::new()),
            cost: ByType::new(operations, NEVER),
            literals,
            references,
            families: Vec::new(),
            others: Vec::new(),
            laws: Vec::new(),
            dictionary: Dictionary::default(),
            wishes: Resolved::default(),
            modest: false,
        };
        let mut ids: Vec<OpId> = usable.iter().copied().collect();
        ids.sort_unstable();
        let mut laws: BTreeMap<TypeId, Vec<OpId>> = BTreeMap::new();
        ids.retain(|id| {
            let operation = operations.get(*id);
            if operation.law().is_some() {
                laws.entry(operation.params[0].ty).or_default().push(*id);
            }
            operation.law().is_none()
        });
        maker.laws = laws.into_values().collect();
        maker.costs(&ids);
        maker.index_takers(&ids);
        let mut families: HashMap<u32, Vec<OpId>> = HashMap::new();
        for id in ids {
            match operations.get(id).origin {
                Origin::Subject(callable) => families.entry(callable).or_default().push(id),
                _ => maker.others.push(id),
            }
        }
        let mut families: Vec<(u32, Vec<OpId>)> = families.into_iter().collect();
        families.sort_unstable();
        maker.families = families.into_iter().map(|(_, family)| family).collect();
        maker
    }

    /// With these operations of the subject as goals; others are called only for arguments.
    #[must_use]
    pub fn with_goals(mut self, goals: &HashSet<OpId>) -> Self {
        for family in &mut self.families {
            family.retain(|id| goals.contains(id));
        }
        self.families.retain(|family| !family.is_empty());
        for laws in &mut self.laws {
            laws.retain(|id| goals.contains(id));
        }
        self.laws.retain(|laws| !laws.is_empty());
        self
    }

    /// With literals from the crate's own code.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Dictionary) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// As the crate's author wants it.
    #[must_use]
    pub fn with_wishes(mut self, wishes: &Resolved) -> Self {
        for (ty, makers) in &wishes.factories {
            self.makers[*ty].clone_from(makers);
            self.from_text[*ty].retain(|op| makers.contains(op));
        }
        self.wishes = wishes.clone();
        self
    }

    /// Empties the draft, but for the calls that come before all others.
    fn start(&self, draft: &mut Draft<'a>, means: &mut Means<'_>) {
        draft.clear(means.buffers.pop().unwrap_or_default());
        for op in &self.wishes.setup {
            self.call(draft, means, *op, DEPTH);
        }
    }

    /// A text that the crate itself made.
    pub fn learn_text(&mut self, text: &str) {
        self.dictionary.learn_text(text);
    }

    /// A literal of a sequence that reached something new: others like it may reach more.
    pub fn learn_literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Str(text) => self.dictionary.learn_text(text),
            Literal::Bytes(bytes) => self.dictionary.learn_bytes(bytes),
            _ => {}
        }
    }

    /// With small integers only.
    #[must_use]
    pub fn modest(mut self) -> Self {
        self.modest = true;
        self
    }

    /// A legal sequence of about `length` calls of the subject; if `goal` is given, it ends with that operation.
    pub fn sequence(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        length: usize,
        goal: Option<OpId>,
    ) -> Option<Sequence> {
        let (choice, mut bank) = (Choice::new(self.operations.operations.len()), Bank::default());
        let mut means = Means {
            rng,
            bank: &mut bank,
            choice: &choice,
            pool: None,
            judging: false,
            spare: &mut Vec::new(),
            buffers: &mut Vec::new(),
        };
        let mut draft = Draft::new(self.operations);
        self.start(&mut draft, &mut means);
        self.walk(&mut draft, &mut means, length);
        if let Some(goal) = goal {
            (0..20).find_map(|_| self.call(&mut draft, &mut means, goal, DEPTH))?;
        }
        let sequence = draft.finished(&bank);
        (!sequence.is_empty()).then_some(sequence)
    }

    fn walk(&self, draft: &mut Draft<'a>, means: &mut Means<'_>, length: usize) {
        let mut tries = 0;
        let mut calls = 0;
        while calls < length && tries < 4 * length {
            tries += 1;
            let op = self.pick(means);
            if self.call(draft, means, op, DEPTH).is_some() {
                calls += 1;
            }
        }
    }

    /// A sequence from nothing, a random walk.
    pub fn propose_walk(&self, draft: &mut Draft<'a>, means: &mut Means<'_>) -> Option<Proposal> {
        self.start(draft, means);
        let length = means.rng.random_range(1..=16);
        self.walk(draft, means, length);
        (draft.calls > 0).then(|| draft.propose())
    }

    /// A proposal that begins with `goal`, or with an operation that is due.
    pub fn propose(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        goal: Option<OpId>,
    ) -> Option<Proposal> {
        self.start(draft, means);
        if means.judging
            && goal.is_none()
            && means.rng.random_ratio(1, LAWS)
            && self.judge_values(draft, means).is_some()
        {
            return Some(draft.propose());
        }
        let first = goal.unwrap_or_else(|| self.pick(means));
        self.call(draft, means, first, DEPTH)?;
        let mut more = 0;
        while more < BURST && means.rng.random_bool(0.65) {
            more += 1;
            let next = if means.rng.random_bool(0.8) { self.follow(draft, means) } else { None };
            let next = next.unwrap_or_else(|| self.pick(means));
            if means.rng.random_ratio(1, 10) {
                self.end(draft, means);
            }
            self.call(draft, means, next, DEPTH);
        }
        if means.rng.random_ratio(1, 8) {
            self.repeat(draft, means);
        }
        Some(draft.propose())
    }

    /// A sequence that ran to its end, with other literals here and there; `None` if it has none to change.
    pub fn vary(&self, of: &Proposal, means: &mut Means<'_>) -> Option<Proposal> {
        let shape = &of.shape;
        if shape.sites.is_empty() {
            return None;
        }
        let mut words = means.buffers.pop().unwrap_or_default();
        words.clone_from(&of.words);
        let mut varied = Vec::with_capacity(VARIED);
        let mut written = Vec::new();
        let times = means.rng.random_range(1..=VARIED.min(shape.sites.len()));
        for _ in 0..times {
            let site = shape.sites.choose(means.rng)?;
            let at = usize::from(site.at);
            let length = code::literal_words(words[at]);
            let ty = TypeId(u32::from(words[at + 1]));
            // Now and then as another literal of the type: keys that are put in and taken out, indices that meet.
            let other = shape.sites.choose(means.rng).map(|other| usize::from(other.at)).filter(|other| {
                words[*other..*other + 2] == words[at..at + 2] && means.rng.random_ratio(1, 3)
            });
            let near =
                if means.rng.random_ratio(1, 4) { self.near(&words[at..], *site, means) } else { None };
            let literal = match (near, other, site.wanted()) {
                (Some(near), _, _) => near,
                (_, Some(other), _) => code::read_literal(self.operations, means.bank, &words[other..]),
                (_, _, Some((op, index))) => self.literal_for(op, index, ty, means),
                _ => self.literal(ty, means),
            };
            let (op, index) = site.wanted().unwrap_or((OpId(0), usize::MAX));
            if means.choice.avoids(op, index, &literal, means.rng) {
                continue;
            }
            written.clear();
            code::write_literal(self.operations, ty, &literal, means.bank, &mut written)?;
            words[at..at + length].copy_from_slice(&written);
            varied.push((op, choice::class_bits(index, &literal)));
        }
        if varied.is_empty() {
            return None;
        }
        Some(Proposal { shape: shape.clone(), words, aim: of.aim.clone(), varied })
    }

    /// A literal that is next to the one written here.
    fn near(&self, words: &[u16], site: Site, means: &mut Means<'_>) -> Option<Literal> {
        let counts = site.wanted().is_some_and(|(op, index)| self.is_count(op, index));
        if self.modest || counts || means.bank.is_full() {
            return None;
        }
        let ty = self.operations.ty(TypeId(u32::from(words[1])));
        let written = code::read_literal(self.operations, means.bank, words);
        Some(match testwright_learn::nearby(&written, ty, means.rng)? {
            Literal::Int(value) => Literal::Int(self.wishes.clamp(value)),
            near => near,
        })
    }

    /// Drops a value, or now and then forgets it: what was made from it, or lent by it, has to bear that.
    fn end(&self, draft: &mut Draft<'a>, means: &mut Means<'_>) {
        let droppable = |(value, ty)| self.operations.abilities(ty).needs_drop.then_some(value);
        if let Some(value) = any(draft.ledger.alive().filter_map(droppable), means.rng) {
            draft.end(value, means.rng.random_ratio(1, 6));
        }
    }

    /// An operation of the subject: of a few drawn ones, that which has been exercised least for what it brought.
    fn pick(&self, means: &mut Means<'_>) -> OpId {
        let subject = !self.families.is_empty() && (self.others.is_empty() || means.rng.random_bool(0.85));
        for _ in 0..8 {
            let mut best: Option<OpId> = None;
            let draws = means.rng.random_range(1..=3);
            for _ in 0..draws {
                let op = if subject {
                    let family = self.families.choose(means.rng).expect("not empty");
                    *family.choose(means.rng).expect("families are not empty")
                } else {
                    *self.others.choose(means.rng).expect("there is an operation")
                };
                if best.is_none_or(|best| means.choice.weight(op) < means.choice.weight(best)) {
                    best = Some(op);
                }
            }
            if let Some(op) = best.filter(|op| means.choice.dares(*op, means.rng)) {
                return op;
            }
        }
        *self.families.iter().flatten().chain(&self.others).next().expect("there is an operation")
    }

    /// An operation that does something with a value at hand.
    fn follow(&self, draft: &Draft<'a>, means: &mut Means<'_>) -> Option<OpId> {
        // std's own are a means to an end.
        let table = if means.rng.random_bool(0.9) { &self.subject_takers } else { &self.takers };
        let at_hand = draft.ledger.alive().map(|(_, ty)| &table[ty]);
        let takers = any(at_hand.filter(|takers| !takers.is_empty()), means.rng)?;
        let (one, other) = (*takers.choose(means.rng)?, *takers.choose(means.rng)?);
        let better = if means.choice.weight(one) <= means.choice.weight(other) { one } else { other };
        Some(better).filter(|op| means.choice.dares(*op, means.rng))
    }

    /// Repeats the last new calls, if one is of the subject: with the same arguments where they are still there, else with others.
    /// Mostly one that changes something: a hundred values that are made alike bring no more than one.
    fn repeat(&self, draft: &mut Draft<'a>, means: &mut Means<'_>) {
        let changes = means.rng.random_ratio(7, 8);
        let fits = |call: &Fresh| {
            let mut ways = draft.args(call).iter().map(|arg| arg.how);
            self.operations.get(call.op).is_subject() && (!changes || ways.any(How::is_mut))
        };
        let Some(back) = draft.fresh.iter().rev().take(3).position(fits) else { return };
        let span = means.rng.random_range(back + 1..=3).min(draft.fresh.len());
        let times = means.rng.random_range(1..=REPEATS);
        let mut renamed: Vec<(ValueId, ValueId)> = Vec::with_capacity(span);
        for _ in 0..times {
            if draft.calls > LONGEST || draft.fresh.len() < span {
                return;
            }
            let from = draft.fresh.len() - span;
            let calls: [Option<Fresh>; 3] =
                std::array::from_fn(|place| draft.fresh[from..].get(place).copied());
            renamed.clear();
            for call in calls.into_iter().flatten() {
                // What a failed try leaves behind, a literal or so, does no harm.
                let Some(value) = self.again(draft, means, &call, &renamed) else { return };
                renamed.push((call.value, value));
            }
        }
    }

    fn again(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        call: &Fresh,
        renamed: &[(ValueId, ValueId)],
    ) -> Option<ValueId> {
        let mut notes = Notes { classes: call.classes, of: 0 };
        let params = &self.operations.get(call.op).params;
        let mut args = Vec::with_capacity(params.len());
        for (index, param) in params.iter().enumerate() {
            let arg = draft.args(call)[index];
            let value = renamed.iter().find(|(old, _)| *old == arg.value).map_or(arg.value, |(_, new)| *new);
            let literal = self.literals[param.ty];
            let keep = draft.ledger.is_alive(value) && !(literal && means.rng.random_bool(0.5));
            if keep {
                args.push(Arg { value, how: arg.how });
            } else {
                notes.classes = 0;
                args.push(self.argument(draft, means, call.op, index, &args, &mut notes, 3)?);
            }
        }
        draft.call(call.op, &args, notes.classes, notes.of)
    }

    /// Appends a call with all that it needs; leaves the draft as it was if that fails.
    fn call(&self, draft: &mut Draft<'a>, means: &mut Means<'_>, op: OpId, depth: u32) -> Option<ValueId> {
        let mark = draft.mark(means.spare.pop().unwrap_or_default());
        let made = self.try_call(draft, means, op, depth);
        means.spare.push(if made.is_none() { draft.go_back(mark) } else { mark.into_state() });
        made
    }

    fn try_call(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        depth: u32,
    ) -> Option<ValueId> {
        let operation = self.operations.get(op);
        let mut args: Vec<Arg> = Vec::with_capacity(operation.params.len());
        let mut notes = Notes::default();
        for index in 0..operation.params.len() {
            let arg = self.argument(draft, means, op, index, &args, &mut notes, depth)?;
            args.push(arg);
        }
        draft.call(op, &args, notes.classes, notes.of)
    }
}

/// One of the items, each as likely as the others: they are counted first, which costs less than a number drawn for each.
fn any<T>(mut items: impl Iterator<Item = T> + Clone, rng: &mut Xoshiro256PlusPlus) -> Option<T> {
    let count = items.clone().count();
    if count == 0 { None } else { items.nth(rng.random_range(0..count)) }
}
