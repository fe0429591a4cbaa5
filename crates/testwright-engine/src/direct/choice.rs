//! Which operation to call next, and which literals to leave alone, by what calls have brought so far.

use std::collections::HashMap;

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::operation::Operations;
use testwright_model::{Literal, OpId};

use crate::quick::{QuickMap, QuickSet};

/// How the calls of one operation went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Calls that proposals added, not those of sequences that were only extended.
    pub calls: u64,
    pub panics: u64,
    /// Of the calls that were looked at closely: how many, and how many gave `Ok` or `Some`.
    pub looked: u64,
    pub good: u64,
    /// What it lately brought: new coverage counts most; halves with time.
    pub credit: f32,
}

impl Tally {
    /// Adds another job's figures.
    pub fn join(&mut self, other: &Tally) {
        self.calls += other.calls;
        self.panics += other.panics;
        self.looked += other.looked;
        self.good += other.good;
    }
}

/// Everything learned about operations.
#[derive(Debug, Default)]
pub struct Choice {
    tallies: Vec<Tally>,
    /// By callable: how many workers it ended.
    deaths: Vec<u32>,
    /// By callable, argument and class of literal: calls and panics.
    literals: QuickMap<(u32, u32)>,
    /// Operations with the fingerprint of an only argument at which they panicked.
    refused: QuickSet,
    /// The callable of each operation, for what all its groundings share.
    callables: Vec<u32>,
    /// By callable and argument: the numbers that took a lot of time and memory.
    wasteful: QuickMap<Wasteful>,
    /// By callable and argument, where a number came from other calls: how often, and what that cost in usual sequences.
    computed: QuickMap<(u32, u64)>,
    /// Slow sequences take more than their share of the time.
    strained: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wasteful {
    /// The smallest class of them.
    from: u8,
    /// How many workers they ended.
    deaths: u32,
}

impl Wasteful {
    /// Each worker that it ended makes a number rarer, but never impossible: one in some thousands finds what only it finds.
    fn dares(self, rng: &mut Xoshiro256PlusPlus) -> bool {
        self.deaths == 0 || rng.random_ratio(1, self.deaths.saturating_pow(2).min(4096))
    }
}

/// Literal arguments of a call that are told apart.
const ARGUMENTS: u8 = 8;
/// Values that operations refuse, as many as are remembered.
const REFUSED: usize = 200_000;

/// The arguments that have a class, with it.
fn each(classes: u64) -> impl Iterator<Item = (u8, u8)> {
    let class = move |argument: u8| u8::try_from((classes >> (8 * argument)) & 0xff).unwrap_or(0);
    (0..ARGUMENTS).map(move |argument| (argument, class(argument))).filter(|(_, class)| *class != 0)
}

fn place(of: u32, argument: u8, class: u8) -> u64 {
    u64::from(of) << 16 | u64::from(argument) << 8 | u64::from(class)
}

fn of_value(op: OpId, fingerprint: u64) -> u64 {
    fingerprint.rotate_left(17) ^ u64::from(op.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Choice {
    pub fn new(operations: usize) -> Self {
        Choice {
            tallies: vec![Tally::default(); operations],
            deaths: vec![0; operations],
            literals: QuickMap::default(),
            refused: QuickSet::default(),
            callables: (0..u32::try_from(operations).unwrap_or(u32::MAX)).collect(),
            wasteful: QuickMap::default(),
            computed: QuickMap::default(),
            strained: false,
        }
    }

    /// For these operations; the groundings of one callable share what is learnt about waste, deaths and literals.
    pub fn of(operations: &Operations) -> Self {
        let mut choice = Choice::new(operations.operations.len());
        let mut first: HashMap<&str, u32> = HashMap::new();
        for (callable, operation) in choice.callables.iter_mut().zip(&operations.operations) {
            *callable = *first.entry(&operation.path).or_insert(*callable);
        }
        choice
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.tallies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }

    pub fn tally(&self, op: OpId) -> &Tally {
        &self.tallies[op.0 as usize]
    }

    pub fn tally_mut(&mut self, op: OpId) -> &mut Tally {
        &mut self.tallies[op.0 as usize]
    }

    /// The lower, the sooner an operation should be called.
    pub fn weight(&self, op: OpId) -> f32 {
        let tally = self.tally(op);
        #[expect(clippy::cast_precision_loss, reason = "only compared")]
        let (calls, panics) = (tally.calls as f32, tally.panics as f32);
        // A panic costs as much as many calls.
        (calls + 6.0 * panics) / (1.0 + tally.credit)
    }

    fn callable(&self, op: OpId) -> u32 {
        self.callables[op.0 as usize]
    }

    /// All groundings of the operation's callable.
    pub fn alike(&self, op: OpId) -> Vec<OpId> {
        let of_callable =
            (0..).map(OpId).zip(&self.callables).filter(|(_, callable)| **callable == self.callable(op));
        of_callable.map(|(op, _)| op).collect()
    }

    /// Whether the operation ended a worker, as any grounding of its callable.
    pub fn kills(&self, op: OpId) -> bool {
        self.deaths[self.callable(op) as usize] > 0
    }

    /// Whether an operation that ended workers is worth another one: ever more rarely.
    pub fn dares(&self, op: OpId, rng: &mut Xoshiro256PlusPlus) -> bool {
        let deaths = self.deaths[self.callable(op) as usize];
        deaths < 2 || rng.random_ratio(1, deaths.saturating_pow(3).min(4096))
    }

    /// A call completed, or panicked.
    pub fn record(&mut self, op: OpId, classes: u64, panicked: bool) {
        let tally = self.tally_mut(op);
        tally.calls += 1;
        tally.panics += u64::from(panicked);
        if classes != 0 {
            self.note(op, classes, panicked);
        }
    }

    /// How a call with literals of these classes went, whose operation is counted elsewhere.
    pub fn note(&mut self, op: OpId, classes: u64, panicked: bool) {
        let callable = self.callable(op);
        for (argument, class) in each(classes).filter(|(_, class)| *class != COMPUTED) {
            let seen = self.literals.entry(place(callable, argument, class)).or_default();
            seen.0 += 1;
            seen.1 += u32::from(panicked);
        }
    }

    /// An operation panicked when its only argument was this.
    pub fn refuse(&mut self, op: OpId, fingerprint: u64) {
        if fingerprint != 0 && self.refused.len() < REFUSED {
            self.refused.insert(of_value(op, fingerprint));
        }
    }

    /// Whether it is known that the operation panics with this as its only argument.
    pub fn refuses(&self, op: OpId, fingerprint: u64) -> bool {
        fingerprint != 0 && self.refused.contains(&of_value(op, fingerprint))
    }

    /// Whether the operation panics often.
    pub fn is_risky(&self, op: OpId) -> bool {
        let tally = self.tally(op);
        tally.panics > 8 && tally.panics * 4 > tally.calls
    }

    /// What a sequence with this call cost, in usual sequences: counts for its computed numbers, whose size nobody knows.
    pub fn charge(&mut self, op: OpId, classes: u64, cost: u64) {
        let callable = self.callable(op);
        for (argument, _) in each(classes).filter(|(_, class)| *class == COMPUTED) {
            let (calls, costs) = self.computed.entry(place(callable, argument, 0)).or_default();
            *calls += 1;
            *costs += cost.min(DEATH);
        }
    }

    /// Whether a number that other calls make may be this argument: the more it costs on average, the more rarely.
    pub fn affords(&self, op: OpId, argument: usize, rng: &mut Xoshiro256PlusPlus) -> bool {
        let Ok(argument) = u8::try_from(argument) else { return true };
        let Some((calls, costs)) = self.computed.get(&place(self.callable(op), argument, 0)) else {
            return true;
        };
        let fair = CHEAP * (u64::from(*calls) + 8);
        *costs <= fair || rng.random_range(0..*costs) < fair
    }

    /// A call took a lot of time and memory: its literals are to be avoided.
    pub fn record_waste(&mut self, op: OpId, classes: u64) {
        let callable = self.callable(op);
        for (argument, class) in each(classes) {
            if LARGE.contains(&class) {
                let known = self.wasteful.entry(place(callable, argument, 0));
                let known = known.or_insert(Wasteful { from: class, deaths: 0 });
                known.from = class.min(known.from);
            }
        }
    }

    /// The same if it ended its worker.
    pub fn record_fatal(&mut self, op: OpId, classes: u64) {
        self.record_waste(op, classes);
        let callable = self.callable(op);
        for (argument, _) in each(classes).filter(|(_, class)| LARGE.contains(class)) {
            if let Some(known) = self.wasteful.get_mut(&place(callable, argument, 0)) {
                known.deaths += 1;
            }
        }
    }

    /// A call ended its worker, which costs as much as thousands of calls.
    pub fn record_death(&mut self, op: OpId, classes: u64) {
        let callable = self.callable(op);
        self.deaths[callable as usize] += 1;
        self.record_fatal(op, classes);
        self.record_excess(op, classes);
    }

    /// The same if a number is to blame rather than the operation.
    pub fn record_excess(&mut self, op: OpId, classes: u64) {
        self.charge(op, classes, DEATH);
        for _ in 0..8 {
            self.record(op, classes, true);
        }
    }

    pub fn reward(&mut self, op: OpId, amount: f32) {
        let tally = self.tally_mut(op);
        tally.credit = (tally.credit + amount).min(64.0);
    }

    /// Whether slow sequences take more than their share of the time: what makes them slow is then avoided all the more.
    pub fn set_strained(&mut self, strained: bool) {
        self.strained = strained;
    }

    /// Old merits fade.
    pub fn fade(&mut self) {
        for tally in &mut self.tallies {
            tally.credit *= 0.9;
        }
    }

    /// Whether to draw another literal instead of this one: it nearly always panicked there.
    pub fn avoids(&self, op: OpId, argument: usize, literal: &Literal, rng: &mut Xoshiro256PlusPlus) -> bool {
        let Ok(argument) = u8::try_from(argument) else { return false };
        let (callable, class) = (self.callable(op), class(literal));
        let wasteful =
            if LARGE.contains(&class) { self.wasteful.get(&place(callable, argument, 0)) } else { None };
        if let Some(wasteful) = wasteful.filter(|wasteful| wasteful.from <= class) {
            let avoided = match class {
                _ if SOME.contains(&class) && self.strained => 0.9,
                _ if SOME.contains(&class) => 0.5,
                _ if self.strained => 0.995,
                _ if AFFORDABLE.contains(&class) => 0.85,
                _ => 0.98,
            };
            if rng.random_bool(avoided) || !wasteful.dares(rng) {
                return true;
            }
        }
        let Some((calls, panics)) = self.literals.get(&place(callable, argument, class)) else {
            return false;
        };
        *calls >= 12 && u64::from(*panics) * 10 > u64::from(*calls) * 6 && rng.random_bool(0.92)
    }
}

/// The class of a literal as an argument's part of [`super::draft::Fresh::classes`].
pub fn class_bits(argument: usize, literal: &Literal) -> u64 {
    if argument < ARGUMENTS as usize { u64::from(class(literal)) << (8 * argument) } else { 0 }
}

/// An argument's class if it is a number that other calls made.
const COMPUTED: u8 = 254;
/// What a sequence may cost on average, in usual sequences.
const CHEAP: u64 = 2;
/// What the end of a worker costs, in usual sequences; nothing counts for more.
pub const DEATH: u64 = 1000;

/// As [`class_bits`], of a number that other calls made.
pub fn computed_bits(argument: usize) -> u64 {
    if argument < ARGUMENTS as usize { u64::from(COMPUTED) << (8 * argument) } else { 0 }
}

/// Classes of numbers up to 2^19: deep recursion and long loops show there, at a price that can be paid now and then.
const AFFORDABLE: std::ops::RangeInclusive<u8> = 31..=33;
/// Classes of numbers from 2^10 to 2^13, which take some time where each stands for an element.
const SOME: std::ops::RangeInclusive<u8> = 29..=30;
/// Classes of numbers from 2^10 on.
const LARGE: std::ops::RangeInclusive<u8> = 29..=88;

/// Literals of a class tend to do the same: numbers of one size, texts of one length.
fn class(literal: &Literal) -> u8 {
    let size = |number: u128| u8::try_from(128 - number.leading_zeros()).unwrap_or(0);
    match literal {
        Literal::Bool(value) => 1 + u8::from(*value),
        Literal::Char(value) => 8 + u8::try_from(value.len_utf8()).unwrap_or(0),
        Literal::Int(value) if *value < 0 => 100 + size(value.unsigned_abs()).min(100) / 8,
        Literal::Int(value) => match *value {
            0..=4 => 16 + u8::try_from(*value).unwrap_or(0),
            other => 24 + size(other.cast_unsigned()) / 2,
        },
        Literal::Float(_) => 15,
        Literal::Str(text) => 220 + size(text.len() as u128).min(20),
        Literal::Bytes(bytes) => 220 + size(bytes.len() as u128).min(20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const OP: OpId = OpId(0);

    #[test]
    fn literals_that_panic_are_avoided_and_others_are_not() {
        let mut choice = Choice::new(1);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (bad, good) = (Literal::Int(200), Literal::Int(1));
        for _ in 0..40 {
            choice.record(OP, class_bits(1, &bad), true);
            choice.record(OP, class_bits(1, &good), false);
        }
        let mut avoided =
            |literal: &Literal| (0..200).filter(|_| choice.avoids(OP, 1, literal, &mut rng)).count();
        assert!(avoided(&bad) > 150);
        assert_eq!(avoided(&good), 0);
    }

    #[test]
    fn numbers_above_a_wasteful_one_are_avoided() {
        let mut choice = Choice::new(1);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        choice.record_waste(OP, class_bits(0, &Literal::Int(1 << 20)));
        let mut avoided =
            |value: i128| (0..200).filter(|_| choice.avoids(OP, 0, &Literal::Int(value), &mut rng)).count();
        assert!(avoided(1 << 40) > 180);
        assert!(avoided(1 << 20) > 180);
        assert_eq!(avoided(1 << 15), 0);
        assert_eq!(avoided(3), 0);
    }

    #[test]
    fn numbers_that_end_workers_become_ever_rarer() {
        let mut choice = Choice::new(1);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (large, small) = (Literal::Int(1 << 40), Literal::Int(3));
        let mut taken = |choice: &Choice, literal: &Literal| {
            (0..20_000).filter(|_| !choice.avoids(OP, 0, literal, &mut rng)).count()
        };
        choice.record_fatal(OP, class_bits(0, &large));
        let after_one = taken(&choice, &large);
        for _ in 0..9 {
            choice.record_fatal(OP, class_bits(0, &large));
        }
        let after_ten = taken(&choice, &large);
        assert!((300..500).contains(&after_one) && after_ten < 15, "{after_one} {after_ten}");
        assert_eq!(taken(&choice, &small), 20_000);
    }

    #[test]
    fn computed_numbers_are_used_as_often_as_they_can_be_afforded() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut afforded = |cost: u64| {
            let mut choice = Choice::new(1);
            for _ in 0..50 {
                choice.charge(OP, computed_bits(1), cost);
            }
            assert!((0..200).all(|_| choice.affords(OP, 0, &mut rng)), "the other argument");
            (0..200).filter(|_| choice.affords(OP, 1, &mut rng)).count()
        };
        assert_eq!(afforded(1), 200);
        assert!((80..150).contains(&afforded(4)));
        assert!(afforded(100) < 20);
    }

    #[test]
    fn what_ends_workers_is_called_ever_more_rarely() {
        let mut choice = Choice::new(1);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!((0..50).all(|_| choice.dares(OP, &mut rng)));
        for _ in 0..10 {
            choice.record_death(OP, 0);
        }
        assert!((0..200).filter(|_| choice.dares(OP, &mut rng)).count() < 20);
    }

    #[test]
    fn what_brought_something_comes_sooner() {
        let mut choice = Choice::new(2);
        for op in [OpId(0), OpId(1)] {
            for _ in 0..10 {
                choice.record(op, 0, false);
            }
        }
        choice.reward(OpId(1), 2.0);
        assert!(choice.weight(OpId(1)) < choice.weight(OpId(0)));
    }
}
