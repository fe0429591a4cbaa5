//! Values as they are found → the most useful ones, in an order that depends on nothing but the sources.

use std::collections::BTreeMap;

/// How much a place in the code says about a value's use as an argument. The best comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// An argument in an example or a test: somebody showed how a call is made.
    Shown,
    /// A pattern, a constant, an element of an array, an argument in the library: the code asks for it by name.
    Named,
    /// Anything else, above all messages.
    Rest,
}

/// The place at which a value was found first: rank, how many values of that rank its source gave before, source.
///
/// The sources take turns in this order. One file with a table of a thousand names does not push out all others.
type Place = (Rank, usize, usize);

#[derive(Clone, Debug)]
pub struct Collected<T> {
    found: BTreeMap<T, Place>,
    source: usize,
    given: [usize; 3],
}

impl<T: Ord> Collected<T> {
    pub fn new() -> Self {
        Collected { found: BTreeMap::new(), source: 0, given: [0; 3] }
    }

    /// What follows comes from another source.
    pub fn next_source(&mut self) {
        self.source += 1;
        self.given = [0; 3];
    }

    pub fn add(&mut self, value: T, rank: Rank) {
        let given = &mut self.given[rank as usize];
        let place = (rank, *given, self.source);
        *given += 1;
        self.found.entry(value).and_modify(|best| *best = place.min(*best)).or_insert(place);
    }

    /// At most `room` values, best first. Each rank has a share of the room, so that a large test suite does not cost us
    /// the keywords of a parser; what a rank leaves free, the others use.
    pub fn select(self, room: usize) -> Vec<T> {
        let mut all: Vec<(T, Place)> = self.found.into_iter().collect();
        all.sort_by_key(|(_, place)| *place);
        let mut share = [room * 6 / 10, room * 3 / 10, room / 10];
        let mut free = room;
        let mut kept: Vec<bool> = Vec::with_capacity(all.len());
        for (_, (rank, ..)) in &all {
            let share = &mut share[*rank as usize];
            let keep = *share > 0;
            *share = share.saturating_sub(1);
            free -= usize::from(keep);
            kept.push(keep);
        }
        for keep in kept.iter_mut().filter(|keep| !**keep).take(free) {
            *keep = true;
        }
        all.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|((value, _), _)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_take_turns_and_better_ranks_come_first() {
        let mut collected = Collected::new();
        for value in ["a1", "a2", "a3"] {
            collected.add(value, Rank::Named);
        }
        collected.next_source();
        collected.add("b1", Rank::Named);
        collected.add("b2", Rank::Shown);
        collected.add("a3", Rank::Shown);
        assert_eq!(collected.select(10), ["b2", "a3", "a1", "b1", "a2"]);
    }

    #[test]
    fn a_flood_of_one_rank_leaves_room_for_the_others() {
        let mut collected = Collected::new();
        for value in 0..1000 {
            collected.add(value, Rank::Shown);
        }
        collected.add(2000, Rank::Named);
        collected.add(2001, Rank::Rest);
        let selected = collected.select(10);
        assert_eq!(selected, [0, 1, 2, 3, 4, 5, 6, 7, 2000, 2001]);
    }
}
