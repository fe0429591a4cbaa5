//! `Slab<u32>` under a sequence of operations that the input spells.

#![no_main]

mod counting;

use counting::{OPERATIONS, counted};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use slab::Slab;

/// Keys are small, so that they often exist.
#[derive(Arbitrary, Debug)]
enum Operation {
    Insert(u32),
    InsertAtVacantEntry(u32),
    Remove(u8),
    TryRemove(u8),
    Get(u8),
    GetMut(u8, u32),
    GetTwo(u8, u8),
    Contains(u8),
    KeyOf(u8),
    VacantKey,
    Length,
    IsEmpty,
    Capacity,
    Reserve(u8),
    ReserveExact(u8),
    ShrinkToFit,
    Compact,
    Retain(u8),
    Iterate,
    Change,
    Drain,
    Clear,
    Clone,
}

fuzz_target!(init: counting::start(), |operations: Vec<Operation>| {
    let mut slab = counted(Slab::new());
    for operation in operations.into_iter().take(OPERATIONS) {
        apply(&mut slab, operation);
    }
});

fn apply(slab: &mut Slab<u32>, operation: Operation) {
    match operation {
        Operation::Insert(value) => {
            counted(slab.insert(value));
        }
        Operation::InsertAtVacantEntry(value) => {
            let entry = counted(slab.vacant_entry());
            counted(entry.key());
            counted(entry.insert(value));
        }
        Operation::Remove(key) => {
            if counted(slab.contains(key.into())) {
                counted(slab.remove(key.into()));
            }
        }
        Operation::TryRemove(key) => {
            counted(slab.try_remove(key.into()));
        }
        Operation::Get(key) => {
            counted(slab.get(key.into()));
        }
        Operation::GetMut(key, value) => {
            if let Some(place) = counted(slab.get_mut(key.into())) {
                *place = value;
            }
        }
        Operation::GetTwo(first, second) => {
            // It panics for keys past the end, which its documentation does not say.
            let exist = [first, second].iter().all(|key| counted(slab.contains((*key).into())));
            if exist && first != second {
                counted(slab.get2_mut(first.into(), second.into()));
            }
        }
        Operation::Contains(key) => {
            counted(slab.contains(key.into()));
        }
        Operation::KeyOf(key) => {
            if let Some(element) = counted(slab.get(key.into())) {
                assert_eq!(counted(slab.key_of(element)), usize::from(key));
            }
        }
        Operation::VacantKey => {
            counted(slab.vacant_key());
        }
        Operation::Length => {
            counted(slab.len());
        }
        Operation::IsEmpty => {
            counted(slab.is_empty());
        }
        Operation::Capacity => {
            counted(slab.capacity());
        }
        Operation::Reserve(additional) => counted(slab.reserve(additional.into())),
        Operation::ReserveExact(additional) => counted(slab.reserve_exact(additional.into())),
        Operation::ShrinkToFit => counted(slab.shrink_to_fit()),
        Operation::Compact => counted(slab.compact(|_, _, _| true)),
        Operation::Retain(least) => counted(slab.retain(|_, value| *value >= u32::from(least))),
        Operation::Iterate => {
            let mut entries = counted(slab.iter());
            while counted(entries.next()).is_some() {}
        }
        Operation::Change => {
            let mut entries = counted(slab.iter_mut());
            while let Some((_, value)) = counted(entries.next()) {
                *value = value.wrapping_add(1);
            }
        }
        Operation::Drain => {
            let mut values = counted(slab.drain());
            while counted(values.next()).is_some() {}
        }
        Operation::Clear => counted(slab.clear()),
        Operation::Clone => *slab = counted(slab.clone()),
    }
}
