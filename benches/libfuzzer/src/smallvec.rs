//! `SmallVec<[u32; 4]>` under a sequence of operations that the input spells.

#![no_main]

mod counting;

use counting::{OPERATIONS, counted};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use smallvec::SmallVec;

/// Places are taken modulo the length, so that they are legal.
#[derive(Arbitrary, Debug)]
enum Operation {
    Push(u32),
    Pop,
    Insert(u8, u32),
    InsertMany(u8, [u32; 3]),
    InsertFromSlice(u8, [u32; 3]),
    Remove(u8),
    SwapRemove(u8),
    Truncate(u8),
    Resize(u8, u32),
    Grow(u8),
    Reserve(u8),
    ReserveExact(u8),
    ShrinkToFit,
    ExtendFromSlice([u32; 3]),
    Append([u32; 3]),
    Drain(u8),
    Retain(u8),
    Dedup,
    Length,
    IsEmpty,
    Capacity,
    Spilled,
    AsSlice,
    Clear,
    Clone,
    ThroughVec,
}

fuzz_target!(init: counting::start(), |operations: Vec<Operation>| {
    let mut vector = counted(SmallVec::new());
    for operation in operations.into_iter().take(OPERATIONS) {
        vector = apply(vector, operation);
    }
});

type Vector = SmallVec<[u32; 4]>;

fn apply(mut vector: Vector, operation: Operation) -> Vector {
    match operation {
        Operation::Push(value) => counted(vector.push(value)),
        Operation::Pop => {
            counted(vector.pop());
        }
        Operation::Insert(place, value) => {
            let place = place_or_end(&vector, place);
            counted(vector.insert(place, value));
        }
        Operation::InsertMany(place, values) => {
            let place = place_or_end(&vector, place);
            counted(vector.insert_many(place, values));
        }
        Operation::InsertFromSlice(place, values) => {
            let place = place_or_end(&vector, place);
            counted(vector.insert_from_slice(place, &values));
        }
        Operation::Remove(place) => {
            let length = counted(vector.len());
            if length > 0 {
                counted(vector.remove(usize::from(place) % length));
            }
        }
        Operation::SwapRemove(place) => {
            let length = counted(vector.len());
            if length > 0 {
                counted(vector.swap_remove(usize::from(place) % length));
            }
        }
        Operation::Truncate(length) => counted(vector.truncate(length.into())),
        Operation::Resize(length, value) => counted(vector.resize(usize::from(length) % 32, value)),
        Operation::Grow(capacity) => {
            if usize::from(capacity) >= counted(vector.len()) {
                counted(vector.grow(capacity.into()));
            }
        }
        Operation::Reserve(additional) => counted(vector.reserve(additional.into())),
        Operation::ReserveExact(additional) => counted(vector.reserve_exact(additional.into())),
        Operation::ShrinkToFit => counted(vector.shrink_to_fit()),
        Operation::ExtendFromSlice(values) => counted(vector.extend_from_slice(&values)),
        Operation::Append(values) => {
            let mut other: Vector = counted(SmallVec::from_slice(&values));
            counted(vector.append(&mut other));
        }
        Operation::Drain(start) => {
            let start = place_or_end(&vector, start);
            let mut values = counted(vector.drain(start..));
            while counted(values.next()).is_some() {}
        }
        Operation::Retain(least) => counted(vector.retain(|value| *value >= u32::from(least))),
        Operation::Dedup => counted(vector.dedup()),
        Operation::Length => {
            counted(vector.len());
        }
        Operation::IsEmpty => {
            counted(vector.is_empty());
        }
        Operation::Capacity => {
            counted(vector.capacity());
        }
        Operation::Spilled => {
            counted(vector.spilled());
        }
        Operation::AsSlice => {
            counted(vector.as_slice());
        }
        Operation::Clear => counted(vector.clear()),
        Operation::Clone => vector = counted(vector.clone()),
        Operation::ThroughVec => vector = counted(SmallVec::from_vec(counted(vector.into_vec()))),
    }
    vector
}

fn place_or_end(vector: &Vector, place: u8) -> usize {
    usize::from(place) % (counted(vector.len()) + 1)
}
