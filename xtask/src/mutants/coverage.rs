//! Lines that the two suites execute, and which of our tests execute nothing that no other does, and say nothing either.
//!
//! The test programs are built with `-C instrument-coverage` and write profiles (`.profraw`), of which only the counters are
//! needed: they lie there in the order of the program's own section, which `testwright-cover` knows to read.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use testwright_cover::{Cover, Map, Package as Files};

use super::package::{COVERAGE, OURS, Package, Program};
use super::{pins, trial};

/// For one run of a test program, which instrumentation makes slow.
const LIMIT: Duration = Duration::from_secs(300);

/// A line of the package: file and number.
type Line = (String, u32);

#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// Lines of the library that hold code, as others link it: without its unit tests and without features that are off.
    pub lines: BTreeSet<Line>,
    pub own: BTreeSet<Line>,
    pub ours: BTreeSet<Line>,
    /// How many of our tests there are, and how many could each be left out, or all together, without losing a region.
    pub tests: usize,
    pub each_redundant: usize,
    pub all_redundant: usize,
    /// How many neither reach nor assert anything that no other does.
    pub idle: usize,
}

impl Coverage {
    pub fn measure(package: &Package, scratch: &Path) -> anyhow::Result<Coverage> {
        let built = match package.build(COVERAGE)? {
            Ok(built) => built,
            Err(errors) => bail!("its tests do not build with coverage:\n{errors}"),
        };
        // Test targets lie in the package too.
        let files = Files::new(&package.root, &package.root.join("tests"));
        let library = built.library.as_deref().context("cargo names no library")?;
        let mut map = Map::default();
        map.add_library(library)?;
        let mut coverage =
            Coverage { lines: lines(&map.cover(&[], &files), |_| true), ..Coverage::default() };
        for program in &built.programs {
            let map = Map::of_binary(&program.path)?;
            let counts = counted(program, &[], scratch)?;
            let hit = lines(&map.cover(&counts, &files), |hit| hit);
            let known = hit.intersection(&coverage.lines).cloned().collect::<Vec<_>>();
            if program.is_ours() {
                coverage.ours.extend(known);
                let text = std::fs::read_to_string(package.root.join(format!("tests/{OURS}.rs")))?;
                coverage.look_for_redundant(program, &map, &files, scratch, &pins::of_tests(&text))?;
            } else {
                coverage.own.extend(known);
            }
        }
        Ok(coverage)
    }

    /// Runs each of our tests alone.
    fn look_for_redundant(
        &mut self,
        program: &Program,
        map: &Map,
        files: &Files,
        scratch: &Path,
        pins: &HashMap<String, BTreeSet<String>>,
    ) -> anyhow::Result<()> {
        let branches = map.branches(files);
        let listed = trial::run(program, &["--list", "--format", "terse"], scratch, LIMIT, &[])?.stdout;
        let mut reached = Vec::new();
        let mut with_pins: Vec<Vec<Own>> = Vec::new();
        for name in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
            let counts = counted(program, &["--exact", name], scratch)?;
            let counts: Vec<(u32, u64)> =
                (0..).zip(counts).filter(|(_, count): &(u32, u64)| *count > 0).collect();
            let regions = branches.taken(&counts).regions;
            let asserted = pins.get(name).into_iter().flatten().cloned().map(Own::Pin);
            with_pins.push(regions.iter().copied().map(Own::Region).chain(asserted).collect());
            reached.push(regions);
        }
        self.tests = reached.len();
        (self.each_redundant, self.all_redundant) = redundant(&reached);
        self.idle = redundant(&with_pins).0;
        Ok(())
    }

    pub fn both(&self) -> usize {
        self.own.union(&self.ours).count()
    }
}

fn lines(cover: &Cover, wanted: impl Fn(bool) -> bool) -> BTreeSet<Line> {
    let of_file = cover.files.iter().flat_map(|file| file.lines.iter().map(|line| (&file.file, line)));
    of_file.filter(|(_, (_, hit))| wanted(**hit)).map(|(file, (line, _))| (file.clone(), *line)).collect()
}

/// What a test may have for itself.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Own {
    Region(u32),
    Pin(String),
}

/// How many tests reach only what others reach too: each by itself, and so many that all of them can go.
fn redundant<T: Eq + Hash>(reached: &[Vec<T>]) -> (usize, usize) {
    let mut times: HashMap<&T, usize> = HashMap::new();
    for region in reached.iter().flatten() {
        *times.entry(region).or_default() += 1;
    }
    let each = reached.iter().filter(|regions| regions.iter().all(|region| times[region] > 1)).count();
    // The last ones came for the least.
    let mut all = 0;
    for regions in reached.iter().rev() {
        if regions.iter().all(|region| times[region] > 1) {
            all += 1;
            for region in regions {
                times.entry(region).and_modify(|count| *count -= 1);
            }
        }
    }
    (each, all)
}

/// How often each counter of the program was reached in a run.
fn counted(program: &Program, arguments: &[&str], scratch: &Path) -> anyhow::Result<Vec<u64>> {
    let profile = scratch.join("counts.profraw");
    let _ = std::fs::remove_file(&profile);
    let place = profile.to_string_lossy().into_owned();
    let run = trial::run(program, arguments, scratch, LIMIT, &[("LLVM_PROFILE_FILE", &place)])?;
    if trial::verdict(&run).kills() {
        bail!("{} {arguments:?} does not pass with coverage: {:?}\n{}", program.name, run.exit, run.stdout);
    }
    let bytes = std::fs::read(&profile).with_context(|| format!("{} left no profile", program.name))?;
    counters(&bytes).with_context(|| format!("the profile of {} has an unknown form", program.name))
}

/// The counters in a raw profile of LLVM 19 to 22 (versions 9 and 10 of the format).
fn counters(profile: &[u8]) -> Option<Vec<u64>> {
    const MAGIC: u64 = u64::from_le_bytes(*b"\x81rforpl\xff");
    const VERSIONS: std::ops::RangeInclusive<u64> = 9..=10;
    /// Numbers in the header, and bytes of a function's entry.
    const HEADER: usize = 16;
    const ENTRY: usize = 64;
    let number = |at: usize| Some(u64::from_le_bytes(profile.get(8 * at..8 * at + 8)?.try_into().ok()?));
    let size = |at: usize| usize::try_from(number(at)?).ok();
    // The upper half of the version's number holds flags.
    if number(0)? != MAGIC || !VERSIONS.contains(&(number(1)? & 0xffff_ffff)) {
        return None;
    }
    let (identity, functions, padding, count) = (size(2)?, size(3)?, size(4)?, size(5)?);
    let start = (8 * HEADER)
        .checked_add(identity)?
        .checked_add(functions.checked_mul(ENTRY)?)?
        .checked_add(padding)?;
    let bytes = profile.get(start..start.checked_add(count.checked_mul(8)?)?)?;
    Some(bytes.as_chunks().0.iter().map(|count| u64::from_le_bytes(*count)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(version: u64, counts: &[u64]) -> Vec<u8> {
        let mut header = [0; 16];
        header[0] = 0xff6c_7072_6f66_7281;
        // A binary's identity, two functions, padding.
        header[1..6].copy_from_slice(&[version, 32, 2, 8, counts.len() as u64]);
        let mut bytes: Vec<u8> = header.iter().flat_map(|number: &u64| number.to_le_bytes()).collect();
        bytes.resize(bytes.len() + 32 + 2 * 64 + 8, 0xaa);
        bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes
    }

    #[test]
    fn counters_lie_behind_the_functions() {
        assert_eq!(counters(&profile(10, &[3, 0, 7])), Some(vec![3, 0, 7]));
        assert_eq!(counters(&profile(99, &[3])), None, "a version that nobody knows");
        let cut = profile(10, &[3, 4]);
        assert_eq!(counters(&cut[..cut.len() - 1]), None);
        assert_eq!(counters(b"nothing"), None);
    }

    #[test]
    fn redundant_tests_reach_what_others_reach() {
        // The first two are alike: each can go, not both.
        assert_eq!(redundant(&[vec![1, 2], vec![1, 2], vec![3]]), (2, 1));
        assert_eq!(redundant(&[vec![1], vec![2]]), (0, 0));
        assert_eq!(redundant(&[vec![1], vec![]]), (1, 1));
        assert_eq!(redundant::<u32>(&[]), (0, 0));
    }
}
