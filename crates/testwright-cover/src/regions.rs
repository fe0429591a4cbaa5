//! The regions of a package's code that single runs reach, cheaply enough to compare many runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::mapping::{Record, Term};
use crate::merge::{Counters, own};
use crate::{Map, Package};

/// Regions are numbered by their place in the source: all instances of a generic function share theirs.
#[derive(Debug)]
pub struct Regions<'m> {
    map: &'m Map,
    /// Functions of the package, with the numbers of their regions.
    records: Vec<(&'m Record, Vec<(u32, Term)>)>,
    /// For each counter, the functions that it counts for.
    by_counter: HashMap<usize, Vec<u32>>,
}

/// File, start and end.
type Place<'f> = (&'f str, (u32, u32), (u32, u32));

impl Map {
    pub fn regions(&self, package: &Package) -> Regions<'_> {
        let lists: HashMap<u64, Vec<Option<String>>> =
            self.files.iter().map(|(digest, files)| (*digest, own(files, package))).collect();
        let mut numbers: BTreeMap<Place<'_>, u32> = BTreeMap::new();
        let mut regions = Regions { map: self, records: Vec::new(), by_counter: HashMap::new() };
        for record in &self.records {
            let Some(files) = lists.get(&record.files) else { continue };
            let mut numbered = Vec::new();
            for region in &record.regions {
                let Some(file) = files.get(region.file).and_then(Option::as_deref) else { continue };
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry((file, region.start, region.end)).or_insert(next);
                numbered.push((number, region.count));
            }
            let Some(places) = self.places.get(&(record.name, record.hash)) else { continue };
            if numbered.is_empty() {
                continue;
            }
            let index = u32::try_from(regions.records.len()).unwrap_or(u32::MAX);
            for counter in places.iter().cloned().flatten() {
                regions.by_counter.entry(counter).or_default().push(index);
            }
            regions.records.push((record, numbered));
        }
        regions
    }
}

impl Regions<'_> {
    /// The regions that a run reached, ascending, given its counters that are not 0.
    pub fn reached(&self, counts: &[(u32, u64)]) -> Vec<u32> {
        let known: HashMap<usize, u64> =
            counts.iter().map(|(counter, count)| (*counter as usize, *count)).collect();
        let touched: BTreeSet<u32> =
            known.keys().filter_map(|counter| self.by_counter.get(counter)).flatten().copied().collect();
        let mut reached = BTreeSet::new();
        for index in touched {
            let (record, regions) = &self.records[index as usize];
            let count = |counter: usize| known.get(&counter).copied().unwrap_or(0);
            let mut counters = Counters::new(record, self.map.sums(record, count));
            reached.extend(
                regions.iter().filter(|(_, term)| counters.reached(*term)).map(|(number, _)| *number),
            );
        }
        reached.into_iter().collect()
    }
}
