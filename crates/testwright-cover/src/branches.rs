//! Which sides of the package's branches single runs take, and which regions of its code they reach.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::mapping::{Record, Term};
use crate::merge::{Counters, own};
use crate::{Map, Package};

/// The branches of a package, numbered by their places in the source: all instances of a generic function share theirs.
#[derive(Debug)]
pub struct Branches {
    /// By number.
    places: Vec<Place>,
    functions: Vec<Function>,
    /// For each counter, the functions that it counts for.
    by_counter: HashMap<usize, Vec<u32>>,
}

/// One instance of a function of the package.
#[derive(Debug)]
struct Function {
    record: Record,
    /// Numbers of its branches, with their sides.
    branches: Vec<(u32, [Term; 2])>,
    /// Numbers of its regions.
    regions: Vec<(u32, Term)>,
    /// Where its counters lie.
    counters: Vec<std::ops::Range<usize>>,
}

/// What a run did, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    pub sides: Vec<Side>,
    /// Regions of code, by numbers of their own.
    pub regions: Vec<u32>,
}

/// Where a condition stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Relative to the package's folder.
    pub file: String,
    pub start: (u32, u32),
    pub end: (u32, u32),
}

/// One side of a branch: whether its condition holds.
pub type Side = (u32, bool);

impl Map {
    /// The regions of a binary, and the branches of one that was built to tell about them.
    pub fn branches(&self, package: &Package) -> Branches {
        let lists: HashMap<u64, Vec<Option<String>>> =
            self.files.iter().map(|(digest, files)| (*digest, own(files, package))).collect();
        let (mut numbers, mut of_regions) = (Numbers::default(), Numbers::default());
        let mut functions: Vec<Function> = Vec::new();
        let mut by_counter: HashMap<usize, Vec<u32>> = HashMap::new();
        for record in &self.records {
            let Some(files) = lists.get(&record.files) else { continue };
            let place = |file: usize, start, end| {
                let file = files.get(file)?.clone()?;
                Some(Place { file, start, end })
            };
            let branches: Vec<_> = record
                .branches
                .iter()
                .filter_map(|it| Some((numbers.of(place(it.file, it.start, it.end)?), it.sides)))
                .collect();
            let regions: Vec<_> = record
                .regions
                .iter()
                .filter_map(|it| Some((of_regions.of(place(it.file, it.start, it.end)?), it.count)))
                .collect();
            let Some(counters) = self.places.get(&(record.name, record.hash)) else { continue };
            if branches.is_empty() && regions.is_empty() {
                continue;
            }
            let index = u32::try_from(functions.len()).unwrap_or(u32::MAX);
            for counter in counters.iter().cloned().flatten() {
                by_counter.entry(counter).or_default().push(index);
            }
            functions.push(Function {
                record: record.clone(),
                branches,
                regions,
                counters: counters.clone(),
            });
        }
        Branches { places: numbers.places, functions, by_counter }
    }
}

/// Places, numbered in the order in which they come.
#[derive(Default)]
struct Numbers {
    known: BTreeMap<Place, u32>,
    places: Vec<Place>,
}

impl Numbers {
    fn of(&mut self, place: Place) -> u32 {
        *self.known.entry(place.clone()).or_insert_with(|| {
            self.places.push(place);
            u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

impl Branches {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn place(&self, branch: u32) -> &Place {
        &self.places[branch as usize]
    }

    /// What a run did, given its counters that are not 0.
    pub fn taken(&self, counts: &[(u32, u64)]) -> Taken {
        let known: HashMap<usize, u64> =
            counts.iter().map(|(counter, count)| (*counter as usize, *count)).collect();
        let touched: BTreeSet<u32> =
            known.keys().filter_map(|counter| self.by_counter.get(counter)).flatten().copied().collect();
        let (mut sides, mut regions) = (BTreeSet::new(), BTreeSet::new());
        for index in touched {
            let function = &self.functions[index as usize];
            let mut sums: Vec<u64> = Vec::new();
            for range in &function.counters {
                sums.resize(sums.len().max(range.len()), 0);
                for (sum, counter) in sums.iter_mut().zip(range.clone()) {
                    *sum = sum.saturating_add(known.get(&counter).copied().unwrap_or(0));
                }
            }
            let mut counters = Counters::new(&function.record, sums);
            for (number, [holds, fails]) in &function.branches {
                sides.extend(counters.reached(*holds).then_some((*number, true)));
                sides.extend(counters.reached(*fails).then_some((*number, false)));
            }
            regions.extend(
                function.regions.iter().filter(|(_, term)| counters.reached(*term)).map(|(it, _)| *it),
            );
        }
        Taken { sides: sides.into_iter().collect(), regions: regions.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mapping::{Branch, Region};

    /// A function `if C { … }` in one of the package's files or another's, as often compiled as there are places.
    fn map(file: usize, places: &[(u64, std::ops::Range<usize>)]) -> Map {
        let sides = [Term::Counter(1), Term::Difference(0)];
        let record = |hash| Record {
            name: 1,
            hash,
            files: 5,
            expressions: vec![(Term::Counter(0), Term::Counter(1))],
            regions: vec![Region { file, count: Term::Counter(1), start: (3, 5), end: (3, 9) }],
            branches: vec![Branch { file, sides, start: (2, 5), end: (2, 9) }],
        };
        let list = vec!["/work".to_owned(), "src/lib.rs".to_owned(), "/other/lib.rs".to_owned()];
        Map {
            records: places.iter().map(|(hash, _)| record(*hash)).collect(),
            files: [(5, list)].into(),
            places: places.iter().map(|(hash, place)| ((1, *hash), vec![place.clone()])).collect(),
            ..Map::default()
        }
    }

    #[test]
    fn instances_share_a_branch_of_which_runs_take_sides() {
        let package = Package::new(Path::new("/work"), Path::new("/work/target"));
        let branches = map(1, &[(8, 0..2), (9, 2..4)]).branches(&package);
        assert_eq!((branches.len(), branches.place(0).start), (1, (2, 5)));
        let taken = |counts: &[(u32, u64)]| branches.taken(counts);
        assert_eq!(taken(&[(0, 3)]), Taken { sides: vec![(0, false)], regions: vec![] });
        assert_eq!(taken(&[(0, 3), (1, 3)]), Taken { sides: vec![(0, true)], regions: vec![0] });
        let both = Taken { sides: vec![(0, false), (0, true)], regions: vec![0] };
        assert_eq!(taken(&[(0, 3), (1, 2)]), both);
        assert_eq!(taken(&[(0, 1), (2, 1), (3, 1)]), both, "one instance each way");
        assert_eq!(taken(&[(7, 1)]), Taken::default(), "a counter of nobody's");
        assert!(map(2, &[(8, 0..2)]).branches(&package).is_empty(), "another package's file");
    }
}
