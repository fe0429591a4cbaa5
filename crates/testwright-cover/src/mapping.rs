//! LLVM's coverage mapping: for each function its regions of source, and from which counters their counts follow.
//!
//! Receives the sections `__llvm_covmap` (lists of files) and `__llvm_covfun` (functions) as bytes, in the versions that rustc
//! writes with LLVM 20 and later; hands on [`Record`]s. The format is "LLVM Code Coverage Mapping Format" of LLVM's documentation.

use std::collections::HashMap;

use crate::bytes::{Bytes, reference};

/// Versions of the format, counted from 0 in the file.
const VERSIONS: std::ops::RangeInclusive<u32> = 5..=6;
/// A region's end column with this bit belongs to a gap between regions.
const GAP: u32 = 1 << 31;

/// Lists of files by their digest.
pub(crate) type FileLists = HashMap<u64, Vec<String>>;

/// One function, or one instance of a generic one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Digest of the symbol's name.
    pub name: u64,
    /// Digest of the function's structure; 0 in one that was compiled nowhere.
    pub hash: u64,
    pub files: u64,
    pub expressions: Vec<(Term, Term)>,
    pub regions: Vec<Region>,
    pub branches: Vec<Branch>,
}

/// A condition, with how often it held and how often it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Branch {
    pub file: usize,
    pub sides: [Term; 2],
    pub start: (u32, u32),
    pub end: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    /// Place in the list of files.
    pub file: usize,
    pub count: Term,
    /// Line and column.
    pub start: (u32, u32),
    pub end: (u32, u32),
}

/// What a count is, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    Zero,
    /// A counter of the function.
    Counter(usize),
    /// An expression's parts: the first minus the second.
    Difference(usize),
    /// An expression's parts: the first plus the second.
    Sum(usize),
}

/// Adds the lists of files of a section. `None` if it is not understood.
pub(crate) fn file_lists(section: &[u8], into: &mut FileLists) -> Option<()> {
    let mut bytes = Bytes::new(section);
    while !bytes.is_empty() {
        let [_, length, functions, version] = [bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?];
        if !VERSIONS.contains(&version) || functions != 0 {
            return None;
        }
        let list = bytes.take(length as usize)?;
        into.insert(reference(list), files(list)?);
        bytes.align();
    }
    Some(())
}

fn files(list: &[u8]) -> Option<Vec<String>> {
    let mut bytes = Bytes::new(list);
    let [count, _, compressed] = [bytes.count()?, bytes.count()?, bytes.count()?];
    // The harness builds with `-enable-name-compression=false`.
    if compressed != 0 {
        return None;
    }
    let mut names = Vec::new();
    for _ in 0..count {
        let length = bytes.count()?;
        names.push(String::from_utf8_lossy(bytes.take(length)?).into_owned());
    }
    Some(names)
}

/// Adds the functions of a section. `None` if it is not understood.
pub(crate) fn records(section: &[u8], into: &mut Vec<Record>) -> Option<()> {
    let mut bytes = Bytes::new(section);
    while !bytes.is_empty() {
        let (name, length) = (bytes.u64()?, bytes.u32()?);
        let (hash, files) = (bytes.u64()?, bytes.u64()?);
        let mut mapping = Bytes::new(bytes.take(length as usize)?);
        into.push(record(
            Record { name, hash, files, expressions: vec![], regions: vec![], branches: vec![] },
            &mut mapping,
        )?);
        bytes.align();
    }
    Some(())
}

fn record(mut record: Record, bytes: &mut Bytes<'_>) -> Option<Record> {
    let count = bytes.count()?;
    let mut files = Vec::new();
    for _ in 0..count {
        files.push(bytes.count()?);
    }
    for _ in 0..bytes.count()? {
        record.expressions.push((term(bytes.leb()?)?, term(bytes.leb()?)?));
    }
    for file in files {
        let mut line = 0u32;
        for _ in 0..bytes.count()? {
            let kind = kind(bytes)?;
            line = line.checked_add(bytes.place()?)?;
            let [from, lines, to] = [bytes.place()?, bytes.place()?, bytes.place()?];
            let (start, end) = ((line, from), (line.checked_add(lines)?, to));
            match kind {
                Kind::Code(count) if to & GAP == 0 => {
                    record.regions.push(Region { file, count, start, end });
                }
                Kind::Branch(sides) => record.branches.push(Branch { file, sides, start, end }),
                _ => {}
            }
        }
    }
    Some(record)
}

/// The head of a region.
enum Kind {
    Code(Term),
    Branch([Term; 2]),
    /// A decision of several conditions, what was skipped, an expansion.
    Other,
}

fn kind(bytes: &mut Bytes<'_>) -> Option<Kind> {
    let head = bytes.leb()?;
    if head & 0b11 != 0 {
        return Some(Kind::Code(term(head)?));
    }
    // Numbers behind the head, by kind; an expansion (bit 2) has none.
    let more = match head >> 3 {
        _ if head & 0b100 != 0 => 0,
        0 => return Some(Kind::Code(Term::Zero)),
        2 => 0,
        4 => return Some(Kind::Branch([term(bytes.leb()?)?, term(bytes.leb()?)?])),
        5 => 2,
        6 => 5,
        _ => return None,
    };
    for _ in 0..more {
        bytes.leb()?;
    }
    Some(Kind::Other)
}

fn term(code: u64) -> Option<Term> {
    let place = usize::try_from(code >> 2).ok()?;
    Some(match code & 0b11 {
        0 => Term::Zero,
        1 => Term::Counter(place),
        2 => Term::Difference(place),
        _ => Term::Sum(place),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_and_branches_are_told_apart() {
        let mapping = [
            1, 4, // one file, the fourth
            1, 0b01, 0b101, // counter 0, counter 1
            4,     // regions
            0b01, 10, 5, 0, 9, // counter 0 at 10:5-10:9
            0b10, 1, 1, 2, 4, // expression 0 as a difference, at 11:1-13:4
            0b10_0000, 0b01, 0b101, 0, 1, 0, 3, // a branch
            0, 2, 1, 0, 2, // never, at 13:1-13:2
        ];
        let mut section =
            [7u64.to_le_bytes().as_slice(), &u32::try_from(mapping.len()).unwrap().to_le_bytes()].concat();
        section.extend([1u64.to_le_bytes(), 2u64.to_le_bytes()].concat());
        section.extend(mapping);
        let mut found = Vec::new();
        records(&section, &mut found).unwrap();
        let region = |count, start, end| Region { file: 4, count, start, end };
        let regions = vec![
            region(Term::Counter(0), (10, 5), (10, 9)),
            region(Term::Difference(0), (11, 1), (13, 4)),
            region(Term::Zero, (13, 1), (13, 2)),
        ];
        let expressions = vec![(Term::Counter(0), Term::Counter(1))];
        let sides = [Term::Counter(0), Term::Counter(1)];
        let branches = vec![Branch { file: 4, sides, start: (11, 1), end: (11, 3) }];
        assert_eq!(found, [Record { name: 7, hash: 1, files: 2, expressions, regions, branches }]);
        assert_eq!(records(&section[..section.len() - 1], &mut found), None, "cut off");
    }

    #[test]
    fn another_version_is_refused() {
        let list = [1, 2, 0, 1, b'a'];
        let section = |version: u32| {
            let head = [0, 5, 0, version].map(u32::to_le_bytes).concat();
            [head, list.to_vec()].concat()
        };
        let mut lists = FileLists::new();
        assert_eq!(file_lists(&section(6), &mut lists), Some(()));
        assert_eq!(lists[&reference(&list)], ["a"]);
        assert_eq!(file_lists(&section(7), &mut lists), None);
    }
}
