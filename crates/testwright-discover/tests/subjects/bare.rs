//! Without std.
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

pub fn sort(items: Vec<u8>, by: &BTreeMap<u8, u8>) -> core::option::IntoIter<alloc::string::String> {
    todo!()
}

pub struct Word(pub [u8; 4]);

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
