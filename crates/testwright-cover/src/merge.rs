//! From counts to functions and lines: all instances of a definition become one.
//!
//! Lines follow the rules of `llvm-cov`: a line counts if a region of code touches it, and is executed if a region that
//! starts on it is, or the innermost one that reaches into it from above.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use crate::mapping::{Record, Region, Term};
use crate::{Cover, FileCover, FunctionCover, Map};

/// The files that belong to the crate under test.
#[derive(Debug, Clone)]
pub struct Package {
    root: PathBuf,
    work: Option<PathBuf>,
}

impl Package {
    /// All files below `root`, except those of our own work folder where that lies in the package, as it does in a user's
    /// target folder. A published package lies in the work folder instead, and is taken whole.
    pub fn new(root: &Path, work: &Path) -> Package {
        let (root, work) = (real(root), real(work));
        Package { work: work.starts_with(&root).then_some(work), root }
    }

    /// The file's name from the package's folder, if it belongs to it.
    fn name(&self, file: &Path) -> Option<String> {
        let file = real(file);
        if self.work.as_ref().is_some_and(|work| file.starts_with(work)) {
            return None;
        }
        Some(file.strip_prefix(&self.root).ok()?.to_string_lossy().into_owned())
    }
}

/// A path without links and detours, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        plain
    })
}

/// Where a definition starts: file, line, column.
type Place = (String, u32, u32);

/// A function's name; the least is the best. The definition of a generic function, as opposed to its instances, is known by
/// the record that the compiler writes where nothing is instantiated: `Slab<_>::get` rather than `Slab<u8>::get`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    unknown: bool,
    instance: bool,
    text: String,
}

#[derive(Debug, Default)]
struct Merged {
    /// The best name that the instances have, and whether one was entered.
    functions: BTreeMap<Place, (Name, bool)>,
    files: BTreeMap<String, BTreeMap<u32, bool>>,
}

impl Map {
    /// What was executed of a package, given how often each counter was reached, in the order of `__llvm_prf_cnts`;
    /// counters past the end were not.
    pub fn cover(&self, counts: &[u64], package: &Package) -> Cover {
        let lists: HashMap<u64, Vec<Option<String>>> =
            self.files.iter().map(|(digest, files)| (*digest, own(files, package))).collect();
        let mut merged = Merged::default();
        for record in &self.records {
            let Some(files) = lists.get(&record.files) else { continue };
            let file = |region: &Region| files.get(region.file)?.as_deref();
            let regions: Vec<_> =
                record.regions.iter().filter_map(|region| Some((file(region)?, region))).collect();
            if !regions.is_empty() {
                let mut counters = Counters::new(record, self.counts_of(record, counts));
                let regions =
                    regions.into_iter().map(|(file, region)| (file, region, counters.reached(region.count)));
                merged.add(self.name_of(record), regions.collect());
            }
        }
        merged.finish()
    }

    /// The counts of a function; where it was compiled several times, they are added up.
    fn counts_of(&self, record: &Record, counts: &[u64]) -> Vec<u64> {
        self.sums(record, |counter| counts.get(counter).copied().unwrap_or(0))
    }

    pub(crate) fn sums(&self, record: &Record, count: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut sums = Vec::new();
        for place in self.places.get(&(record.name, record.hash)).into_iter().flatten() {
            sums.resize(sums.len().max(place.len()), 0u64);
            for (sum, counter) in sums.iter_mut().zip(place.clone()) {
                *sum = sum.saturating_add(count(counter));
            }
        }
        sums
    }

    fn name_of(&self, record: &Record) -> Name {
        let symbol = self.names.get(&record.name).map_or("", String::as_str);
        // Without the hash at its end.
        let text = format!("{:#}", rustc_demangle::demangle(symbol));
        Name { unknown: text.is_empty(), instance: record.hash != 0, text }
    }
}

/// The names of the package's own files in a list; the list's first entry is the folder that the others start from.
pub(crate) fn own(files: &[String], package: &Package) -> Vec<Option<String>> {
    let folder = Path::new(files.first().map_or("", String::as_str));
    let name =
        |(place, file): (usize, &String)| if place == 0 { None } else { package.name(&folder.join(file)) };
    files.iter().enumerate().map(name).collect()
}

/// Evaluates the expressions of one function.
pub(crate) struct Counters<'a> {
    record: &'a Record,
    counts: Vec<u64>,
    /// Results so far; an expression that is being evaluated counts as 0, so that nonsense ends.
    known: HashMap<usize, i128>,
}

impl<'a> Counters<'a> {
    pub(crate) fn new(record: &'a Record, counts: Vec<u64>) -> Self {
        Counters { record, counts, known: HashMap::new() }
    }

    pub(crate) fn reached(&mut self, term: Term) -> bool {
        self.counts.iter().any(|count| *count > 0) && self.value(term) > 0
    }

    fn value(&mut self, term: Term) -> i128 {
        let (expression, sign) = match term {
            Term::Zero => return 0,
            Term::Counter(counter) => return self.counts.get(counter).copied().unwrap_or(0).into(),
            Term::Difference(expression) => (expression, -1),
            Term::Sum(expression) => (expression, 1),
        };
        if let Some(known) = self.known.get(&expression) {
            return *known;
        }
        let Some((first, second)) = self.record.expressions.get(expression).copied() else { return 0 };
        self.known.insert(expression, 0);
        let value = self.value(first).saturating_add(sign * self.value(second));
        self.known.insert(expression, value);
        value
    }
}

impl Merged {
    /// One instance of a function: its regions with their files, and whether each was reached.
    fn add(&mut self, name: Name, mut regions: Vec<(&str, &Region, bool)>) {
        // An outer region before the inner ones.
        regions.sort_by_key(|(file, region, _)| (*file, region.start, std::cmp::Reverse(region.end)));
        let closure = name.text.contains("{closure") || name.text.contains("{{closure");
        if let (Some((file, first, _)), false) = (regions.first(), closure) {
            let place = ((*file).to_owned(), first.start.0, first.start.1);
            let hit = regions.iter().any(|(_, _, reached)| *reached);
            let (known, known_hit) = self.functions.entry(place).or_insert_with(|| (name.clone(), false));
            *known_hit |= hit;
            if name < *known {
                *known = name;
            }
        }
        for part in regions.chunk_by(|one, other| one.0 == other.0) {
            let known = self.files.entry(part[0].0.to_owned()).or_default();
            for (line, hit) in lines(part) {
                *known.entry(line).or_default() |= hit;
            }
        }
    }

    fn finish(self) -> Cover {
        let function = |((file, line, _), (name, hit)): (Place, (Name, bool))| FunctionCover {
            name: name.text,
            file,
            line,
            hit,
        };
        Cover {
            functions: self.functions.into_iter().map(function).collect(),
            files: self.files.into_iter().map(|(file, lines)| FileCover { file, lines }).collect(),
        }
    }
}

/// The lines of one function in one file; regions are sorted, outer ones first.
fn lines(regions: &[(&str, &Region, bool)]) -> BTreeMap<u32, bool> {
    let mut lines = BTreeMap::new();
    for (_, region, reached) in regions {
        // What starts further in speaks for the lines that it reaches into.
        for line in region.start.0 + 1..=region.end.0 {
            lines.insert(line, *reached);
        }
    }
    for (_, region, reached) in regions {
        *lines.entry(region.start.0).or_default() |= reached;
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::counters::CounterPlaces;

    fn region(start: (u32, u32), end: (u32, u32), count: Term) -> Region {
        Region { file: 1, count, start, end }
    }

    fn map(records: Vec<Record>, places: &[((u64, u64), Range<usize>)]) -> Map {
        let mut by_function = CounterPlaces::new();
        for (function, place) in places {
            by_function.entry(*function).or_default().push(place.clone());
        }
        let list = vec!["/work".to_owned(), "src/lib.rs".to_owned(), "/other/lib.rs".to_owned()];
        Map {
            records,
            files: [(5, list)].into(),
            names: [(1, "a::f".to_owned()), (2, "a::f::{{closure}}".to_owned())].into(),
            places: by_function,
            ..Map::default()
        }
    }

    fn record(name: u64, hash: u64, regions: Vec<Region>) -> Record {
        let expressions = vec![(Term::Counter(0), Term::Counter(1)), (Term::Difference(0), Term::Sum(1))];
        Record { name, hash, files: 5, expressions, regions, branches: Vec::new() }
    }

    fn package() -> Package {
        Package::new(Path::new("/work"), Path::new("/work/target/testwright"))
    }

    #[test]
    fn instances_are_one_function_whose_lines_any_may_reach() {
        let regions = || {
            vec![
                region((3, 1), (4, 9), Term::Counter(0)),
                region((5, 3), (5, 9), Term::Counter(1)),
                region((7, 3), (7, 9), Term::Difference(0)),
            ]
        };
        let unused = vec![region((3, 1), (4, 9), Term::Zero), region((9, 1), (9, 2), Term::Zero)];
        let records = vec![record(1, 8, regions()), record(1, 9, regions()), record(1, 0, unused)];
        // The first instance was compiled twice.
        let map = map(records, &[((1, 8), 0..2), ((1, 8), 2..4), ((1, 9), 4..6)]);
        let cover = map.cover(&[1, 0, 2, 3, 0, 0], &package());
        let function =
            FunctionCover { name: "a::f".to_owned(), file: "src/lib.rs".to_owned(), line: 3, hit: true };
        assert_eq!(cover.functions, [function]);
        let lines = [(3, true), (4, true), (5, true), (7, false), (9, false)];
        assert_eq!(cover.files[0].lines, lines.into());
        let cover = map.cover(&[0, 0, 0, 0, 2, 1], &package());
        let lines = [(3, true), (4, true), (5, true), (7, true), (9, false)];
        assert_eq!(cover.files[0].lines, lines.into());
        assert_eq!((cover.functions_hit(), cover.lines_hit(), cover.lines_total()), (1, 4, 5));
        assert_eq!(map.cover(&[], &package()).functions_hit(), 0);
    }

    #[test]
    fn the_innermost_region_speaks_for_a_line() {
        let regions =
            vec![region((1, 1), (9, 2), Term::Counter(0)), region((3, 5), (6, 6), Term::Counter(1))];
        let cover = map(vec![record(1, 8, regions)], &[((1, 8), 0..2)]).cover(&[1, 0], &package());
        let missed: Vec<u32> =
            cover.files[0].lines.iter().filter(|(_, hit)| !**hit).map(|(line, _)| *line).collect();
        assert_eq!(missed, [4, 5, 6], "line 3 begins in the outer region");
    }

    #[test]
    fn closures_have_lines_but_are_no_functions() {
        let closure = record(2, 8, vec![region((4, 9), (4, 12), Term::Counter(0))]);
        let cover = map(vec![closure], &[((2, 8), 0..1)]).cover(&[1], &package());
        assert_eq!((cover.functions_total(), cover.lines_hit()), (0, 1));
    }

    #[test]
    fn files_of_others_do_not_count() {
        let other = Region { file: 2, ..region((4, 9), (4, 12), Term::Counter(0)) };
        let cover = map(vec![record(1, 8, vec![other])], &[]).cover(&[1], &package());
        assert_eq!(cover, Cover::default());
        let name = |file| package().name(Path::new(file));
        assert_eq!(name("/work/../work/src/a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(name("/work/target/testwright/w/src/lib.rs"), None);
        assert_eq!(name("/works/a.rs"), None);
        let published = Package::new(
            Path::new("/work/target/testwright/a/subject"),
            Path::new("/work/target/testwright"),
        );
        let file = Path::new("/work/target/testwright/a/subject/src/lib.rs");
        assert_eq!(published.name(file).as_deref(), Some("src/lib.rs"));
    }

    #[test]
    fn nonsense_ends() {
        let regions = vec![region((1, 1), (1, 2), Term::Sum(1)), region((2, 1), (2, 2), Term::Sum(7))];
        let cover = map(vec![record(1, 8, regions)], &[((1, 8), 0..2)]).cover(&[1, 2], &package());
        assert_eq!(cover.lines_total(), 2);
    }
}
