//! Where the counters of each function lie, and what functions are called.
//!
//! Receives the sections `__llvm_prf_data` and `__llvm_prf_names` of a linked program.

use std::collections::HashMap;
use std::ops::Range;

use crate::bytes::{Bytes, reference};

/// Places in `__llvm_prf_cnts` by the digests of a function's name and structure. A function that was compiled into several
/// objects has several.
pub(crate) type CounterPlaces = HashMap<(u64, u64), Vec<Range<usize>>>;

/// Symbols by their digest.
pub(crate) type Names = HashMap<u64, String>;

/// Reads the functions of a program. `data` and `counters` are the sections' addresses, the latter with its length in bytes.
/// `None` if the layout is not the one that LLVM 19 introduced.
pub(crate) fn counter_places(section: &[u8], data: u64, counters: Range<u64>) -> Option<CounterPlaces> {
    /// Bytes of a function's entry.
    const ENTRY: usize = 64;
    let mut places = CounterPlaces::new();
    if !section.len().is_multiple_of(ENTRY) {
        return None;
    }
    for (entry, address) in section.chunks_exact(ENTRY).zip((data..).step_by(ENTRY)) {
        let mut bytes = Bytes::new(entry);
        let key = (bytes.u64()?, bytes.u64()?);
        // Relative to the entry, so that the linker need not relocate it.
        let start = address.wrapping_add(bytes.u64()?);
        // Bitmap, function and values, which are not used here.
        bytes.take(24)?;
        let count = u64::from(bytes.u32()?);
        let end = start.checked_add(count.checked_mul(8)?)?;
        if start < counters.start || end > counters.end || !(start - counters.start).is_multiple_of(8) {
            return None;
        }
        let place = |address: u64| usize::try_from((address - counters.start) / 8).ok();
        places.entry(key).or_default().push(place(start)?..place(end)?);
    }
    Some(places)
}

/// Adds the symbols of a section, as far as they are not compressed: they are for people, nothing is computed from them.
pub(crate) fn names(section: &[u8], into: &mut Names) {
    let mut bytes = Bytes::new(section);
    loop {
        bytes.skip_zeros();
        let (Some(length), Some(compressed)) = (bytes.count(), bytes.count()) else { return };
        let Some(list) = bytes.take(if compressed == 0 { length } else { compressed }) else { return };
        if compressed == 0 {
            for name in list.split(|byte| *byte == 1) {
                into.insert(reference(name), String::from_utf8_lossy(name).into_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: u64, offset: u64, count: u32) -> Vec<u8> {
        let mut entry = [name, 9, offset, 0, 0, 0].map(u64::to_le_bytes).concat();
        entry.extend(count.to_le_bytes());
        entry.resize(64, 0);
        entry
    }

    #[test]
    fn copies_of_a_function_are_kept_apart() {
        let section =
            [entry(1, 0x1000, 2), entry(2, 0x1000 - 64 + 16, 1), entry(1, 0x1000 - 128 + 24, 2)].concat();
        let places = counter_places(&section, 0x5000, 0x6000..0x6028).unwrap();
        assert_eq!(places[&(1, 9)], [0..2, 3..5]);
        assert_eq!(places[&(2, 9)][0], 2..3);
        assert_eq!(counter_places(&section, 0x5000, 0x6000..0x6020), None, "past the end");
        assert_eq!(counter_places(&section[..120], 0x5000, 0x6000..0x6028), None);
    }

    #[test]
    fn names_are_found_by_digest() {
        let mut found = Names::new();
        names(&[3, 0, b'a', 1, b'b', 0, 0, 1, 0, b'c'], &mut found);
        assert_eq!(found.len(), 3);
        assert_eq!(found[&reference(b"b")], "b");
    }
}
