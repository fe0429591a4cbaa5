//! The pool: sequences worth extending, by the types of the values that they offer.
//!
//! An [`Entry`] never changes. It is kept as worker code: to join it to another is to copy words and to move the value numbers in
//! them, which takes less time than to follow shared parts. Sequences that differ in their literals only share their [`Shape`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::OpId;
use testwright_model::ledger::State;
use testwright_model::operation::TypeId;
use testwright_model::sequence::ValueId;
use testwright_wire::{code, size};

use crate::quick::QuickSet;

/// A sequence that ran to its end.
#[derive(Clone, Debug)]
pub struct Entry {
    pub shape: Arc<Shape>,
    /// The steps in the worker's code, without length, final drops and observations.
    pub words: Arc<[u16]>,
}

impl Entry {
    /// Whether a text or byte string is written out in it.
    pub fn has_text(&self) -> bool {
        self.shape
            .sites
            .iter()
            .any(|site| matches!(self.words[usize::from(site.at)], code::STR | code::BYTES))
    }
}

/// All of a sequence but its literals.
#[derive(Debug)]
pub struct Shape {
    /// Where in the code the value numbers are.
    pub places: Box<[u16]>,
    /// Where in it the literals are.
    pub sites: Box<[Site]>,
    /// The borrow rules' state at its end.
    pub state: State,
    pub calls: u32,
    /// Of them, those into the crate under test.
    pub subject_calls: u32,
}

/// A literal of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The word that it begins with.
    pub at: u16,
    /// How many values are made before it.
    number: u16,
    /// The argument of an operation that it was made for; small, because entries have many.
    argument: u8,
    op: u16,
}

impl Site {
    pub fn new(at: u16, number: u32, wanted: Option<(OpId, usize)>) -> Self {
        let fits = wanted.and_then(|(op, argument)| {
            Some((u16::try_from(op.0).ok()?, u8::try_from(argument).ok().filter(|at| *at < NOBODY)?))
        });
        let (op, argument) = fits.unwrap_or((0, NOBODY));
        Site { at, number: u16::try_from(number).unwrap_or(u16::MAX), argument, op }
    }

    /// The same in code with so many words before it, which make so many values.
    #[must_use]
    pub fn moved(self, by: u16, made: u16) -> Self {
        Site { at: self.at + by, number: self.number.saturating_add(made), ..self }
    }

    /// How many values are made before it.
    pub fn number(self) -> u32 {
        u32::from(self.number)
    }

    /// The operation that it was made for, and which argument.
    pub fn wanted(self) -> Option<(OpId, usize)> {
        (self.argument != NOBODY).then(|| (OpId(u32::from(self.op)), usize::from(self.argument)))
    }
}

/// No argument has this number.
const NOBODY: u8 = u8::MAX;

/// A value that an entry offers.
#[derive(Clone, Debug)]
pub struct Offer {
    pub entry: Entry,
    pub value: ValueId,
    /// 0 if it is not known.
    pub fingerprint: u64,
    /// What it takes to run the entry: of two offers, the cheaper is mostly taken, and the dearer makes room.
    cost: u64,
    /// What the last slow sequence that used it took, in usual ones: a length of millions costs nothing until it is used.
    burden: u32,
}

/// An offer that a proposal took.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub ty: TypeId,
    pub place: u32,
    /// Tells whether the offer at the place is still the one.
    pub fingerprint: u64,
}

impl Offer {
    pub fn new(entry: Entry, value: ValueId, fingerprint: u64, cost: u64) -> Self {
        Offer { entry, value, fingerprint, cost, burden: 0 }
    }
}

/// How values are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// A value joins only if no value ever made had its fingerprint.
    Fingerprint,
    /// Every value of a legal sequence joins.
    Off,
}

/// Values of one type by the size class in their fingerprints: the many small ones that are easily made leave room for the
/// others. Those without a fingerprint, and those that reached something first, have a class of their own.
type BySize = [Vec<Offer>; size::CLASSES];

#[derive(Debug)]
pub struct Pool {
    by_type: Vec<BySize>,
    /// For each type, a bit for each class that has values.
    filled: Vec<u32>,
    /// For each type, how many offers there ever were.
    offered: Vec<u64>,
    len: usize,
    known: QuickSet,
    /// For each type, how many of its values are known.
    known_of: Vec<u32>,
    novelty: Novelty,
    /// Types whose values all count as new.
    indifferent: HashSet<TypeId>,
}

/// Values of one type and class that are kept at most.
const PER_CLASS: usize = 100;
/// Values of all types that are kept at most, as long as each class has its [`FEW`].
const ALL: usize = 40_000;
const FEW: usize = 8;
/// Values without a fingerprint that are kept for sure; later ones replace others rarely.
const BLIND: u64 = 64;
/// Fingerprints that are remembered; past that, nothing is new by its fingerprint alone.
const KNOWN: usize = 3_000_000;
/// The same of one type, so that numbers and texts, of which there is no end, leave room for the others.
const KNOWN_OF_TYPE: u32 = 300_000;

impl Pool {
    pub fn new(types: usize, novelty: Novelty) -> Self {
        Pool {
            by_type: vec![BySize::default(); types],
            filled: vec![0; types],
            offered: vec![0; types],
            len: 0,
            known: QuickSet::default(),
            known_of: vec![0; types],
            novelty,
            indifferent: HashSet::new(),
        }
    }

    /// All values of these types count as new.
    #[must_use]
    pub fn indifferent_to(mut self, types: &HashSet<TypeId>) -> Self {
        self.indifferent.clone_from(types);
        self
    }

    /// How many values are offered.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many different values were seen.
    pub fn distinct(&self) -> usize {
        self.known.len()
    }

    /// Whether a value with this fingerprint is worth keeping; remembers it.
    pub fn is_new(&mut self, ty: TypeId, fingerprint: u64, rng: &mut Xoshiro256PlusPlus) -> bool {
        let off = self.novelty == Novelty::Off || self.indifferent.contains(&ty);
        if fingerprint == 0 {
            return off || self.offered[ty.0 as usize] < BLIND || rng.random_ratio(1, 64);
        }
        let mixed = fingerprint ^ u64::from(ty.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Different values are counted even where they do not matter, so that strategies can be compared.
        let of_type = &mut self.known_of[ty.0 as usize];
        let new = *of_type < KNOWN_OF_TYPE && self.known.len() < KNOWN && self.known.insert(mixed);
        *of_type += u32::from(new);
        off || new
    }

    pub fn offer(&mut self, ty: TypeId, offer: Offer, rng: &mut Xoshiro256PlusPlus) {
        let class = size::class(offer.fingerprint);
        let offers = &mut self.by_type[ty.0 as usize][class];
        self.filled[ty.0 as usize] |= 1 << class;
        self.offered[ty.0 as usize] += 1;
        let room = if self.len < ALL { PER_CLASS } else { FEW };
        if offers.len() < room {
            offers.push(offer);
            self.len += 1;
            return;
        }
        let (one, other) = (rng.random_range(0..offers.len()), rng.random_range(0..offers.len()));
        let dearer = if offers[one].cost >= offers[other].cost { one } else { other };
        offers[dearer] = offer;
    }

    /// Gives up the values of all other sequences.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Entry) -> bool) {
        self.len = 0;
        for (classes, filled) in self.by_type.iter_mut().zip(&mut self.filled) {
            for (class, offers) in classes.iter_mut().enumerate() {
                offers.retain(|offer| keeps(&offer.entry));
                if offers.is_empty() {
                    *filled &= !(1 << class);
                }
                self.len += offers.len();
            }
        }
    }

    /// Sequences with the values that they offer, at most so many: of each type the shortest first.
    pub fn sample(&self, most: usize) -> Vec<(&Entry, Vec<ValueId>)> {
        let mut found: Vec<(usize, &Entry, Vec<ValueId>)> = Vec::new();
        let mut places: HashMap<*const u16, usize> = HashMap::new();
        for classes in &self.by_type {
            let mut offers: Vec<&Offer> = classes.iter().flatten().collect();
            offers.sort_by_key(|offer| offer.entry.shape.calls);
            for (rank, offer) in offers.into_iter().enumerate() {
                let place = *places.entry(offer.entry.words.as_ptr()).or_insert(found.len());
                match found.get_mut(place) {
                    None => found.push((rank, &offer.entry, vec![offer.value])),
                    Some((best, _, values)) => {
                        *best = rank.min(*best);
                        if !values.contains(&offer.value) {
                            values.push(offer.value);
                        }
                    }
                }
            }
        }
        found.sort_by_key(|(rank, entry, _)| (*rank, entry.shape.calls));
        found.truncate(most);
        found.into_iter().map(|(_, entry, values)| (entry, values)).collect()
    }

    /// Of each type, so many values at most: those of the shortest sequences.
    pub fn shortest(&self, most: usize) -> Vec<(&Entry, ValueId)> {
        let mut found = Vec::new();
        for classes in &self.by_type {
            let mut offers: Vec<&Offer> = classes.iter().flatten().collect();
            offers.sort_by_key(|offer| (offer.entry.shape.calls, offer.entry.words.len()));
            found.extend(offers.into_iter().take(most).map(|offer| (&offer.entry, offer.value)));
        }
        found
    }

    /// Sequences of all types and sizes, at most so many: the newest of each.
    pub fn spread(&self, most: usize) -> Vec<&Entry> {
        let classes = self.by_type.iter().flatten();
        let mut all: Vec<(usize, &Entry)> =
            classes.flat_map(|offers| offers.iter().rev().map(|offer| &offer.entry).enumerate()).collect();
        all.sort_by_key(|(rank, _)| *rank);
        let mut known: HashSet<*const u16> = HashSet::new();
        let entries = all.into_iter().map(|(_, entry)| entry);
        entries.filter(|entry| known.insert(entry.words.as_ptr())).take(most).collect()
    }

    /// The offer that a proposal took, if it is still there.
    pub fn get(&self, used: &Used) -> Option<&Offer> {
        let offers = &self.by_type[used.ty.0 as usize][size::class(used.fingerprint)];
        offers.get(used.place as usize).filter(|offer| offer.fingerprint == used.fingerprint)
    }

    /// Notes what a sequence took that used these offers, in usual ones; 0 if it was not slow.
    pub fn burden(&mut self, used: &[Used], by: u64) {
        for used in used {
            let offers = &mut self.by_type[used.ty.0 as usize][size::class(used.fingerprint)];
            let offer = offers.get_mut(used.place as usize);
            if let Some(offer) = offer.filter(|offer| offer.fingerprint == used.fingerprint) {
                offer.burden = (offer.burden / 2).max(u32::try_from(by).unwrap_or(u32::MAX));
            }
        }
    }

    /// One of the values of a type, with its place in its class. What it cost to use one decides how likely it is taken again.
    pub fn choose(&self, ty: TypeId, rng: &mut Xoshiro256PlusPlus) -> Option<(u32, &Offer)> {
        let classes = &self.by_type[ty.0 as usize];
        for _ in 0..4 {
            let offers = &classes[Self::class(self.filled[ty.0 as usize], rng)?];
            let place = Self::draw(offers, rng)?;
            let burden = offers[place].burden;
            if burden == 0 || rng.random_ratio(1, burden.saturating_add(1)) {
                return Some((u32::try_from(place).ok()?, &offers[place]));
            }
        }
        None
    }

    /// One of the classes that have values; small ones are somewhat likelier.
    fn class(mut filled: u32, rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
        let count = filled.count_ones();
        if count == 0 {
            return None;
        }
        let mut before = rng.random_range(0..count);
        if rng.random() {
            before = before.min(rng.random_range(0..count));
        }
        for _ in 0..before {
            filled &= filled - 1;
        }
        Some(filled.trailing_zeros() as usize)
    }

    /// A place among offers; those that cost little to make and the newest are somewhat likelier.
    fn draw(offers: &[Offer], rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
        if offers.is_empty() {
            return None;
        }
        let mut chosen = rng.random_range(0..offers.len());
        // Among many, the first and smallest values are few, and there is always something about them.
        let (others, from) = match rng.random_range(0..4) {
            0 => (7, 0),
            1 => (1, offers.len().saturating_sub(12)),
            _ => (0, 0),
        };
        for _ in 0..others {
            let other = rng.random_range(from..offers.len());
            if offers[other].cost < offers[chosen].cost {
                chosen = other;
            }
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn entry() -> Entry {
        let shape = Shape {
            places: Box::default(),
            sites: Box::default(),
            state: State::default(),
            calls: 1,
            subject_calls: 1,
        };
        Entry { shape: Arc::new(shape), words: Arc::from([]) }
    }

    /// Of two equal values and another: how many are kept, and how many count as different.
    fn kept_and_distinct(novelty: Novelty) -> (usize, usize) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut pool = Pool::new(1, novelty);
        let kept = [7, 7, 8].map(|fingerprint| pool.is_new(TypeId(0), fingerprint, &mut rng));
        (kept.into_iter().filter(|kept| *kept).count(), pool.distinct())
    }

    #[test]
    fn what_made_a_sequence_slow_is_rarely_taken_until_it_recovers() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut pool = Pool::new(1, Novelty::Fingerprint);
        pool.offer(TypeId(0), Offer::new(entry(), ValueId(0), 7, 1), &mut rng);
        let mut taken = |pool: &Pool| (0..200).filter(|_| pool.choose(TypeId(0), &mut rng).is_some()).count();
        let used = |fingerprint| [Used { ty: TypeId(0), place: 0, fingerprint }];
        pool.burden(&used(8), 1000);
        assert_eq!(taken(&pool), 200, "another value had that place");
        pool.burden(&used(7), 1000);
        assert!(taken(&pool) < 20);
        for _ in 0..12 {
            pool.burden(&used(7), 0);
        }
        assert_eq!(taken(&pool), 200);
    }

    #[test]
    fn what_is_given_up_is_not_chosen() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut pool = Pool::new(2, Novelty::Fingerprint);
        let words = |word: u16| Entry { words: Arc::from([word]), ..entry() };
        for word in 0..20 {
            let ty = TypeId(u32::from(word < 5));
            pool.offer(ty, Offer::new(words(word), ValueId(0), u64::from(word) << 8, 1), &mut rng);
        }
        pool.retain(|entry| entry.words[0] >= 5 && entry.words[0] != 7);
        assert_eq!(pool.len(), 14);
        assert!(pool.choose(TypeId(1), &mut rng).is_none(), "all of that type are gone");
        for _ in 0..200 {
            let (_, offer) = pool.choose(TypeId(0), &mut rng).expect("of this type there are some");
            assert_ne!(offer.entry.words[0], 7);
        }
    }

    #[test]
    fn a_flood_of_small_values_leaves_the_large_ones() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut pool = Pool::new(1, Novelty::Fingerprint);
        let large = size::with_class(7 << 8, 1000);
        pool.offer(TypeId(0), Offer::new(entry(), ValueId(0), large, 1000), &mut rng);
        for small in 0..100_000 {
            let small = size::with_class(small << 8, 2);
            pool.offer(TypeId(0), Offer::new(entry(), ValueId(0), small, 1), &mut rng);
        }
        let of_large = |(_, offer): (u32, &Offer)| offer.fingerprint == large;
        let taken = (0..100).filter(|_| pool.choose(TypeId(0), &mut rng).is_some_and(of_large)).count();
        assert!((10..60).contains(&taken), "{taken}");
    }

    #[test]
    fn different_values_are_counted_whether_or_not_they_matter() {
        assert_eq!(kept_and_distinct(Novelty::Fingerprint), (2, 2));
        assert_eq!(kept_and_distinct(Novelty::Off), (3, 2));
    }
}
