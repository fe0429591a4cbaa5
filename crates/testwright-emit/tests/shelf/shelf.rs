//! A small library with a call of each kind: the tests compile and run printed suites against it.

use std::fmt;

#[derive(Clone, Debug, Default)]
pub struct Shelf {
    items: Vec<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// An error that cannot be compared.
#[derive(Debug)]
pub struct Full {
    pub at: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "full at {}", self.at)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

pub trait Shake {
    fn shake(&mut self) -> bool;
}

impl Shake for Shelf {
    fn shake(&mut self) -> bool {
        self.items.reverse();
        self.items.len() > 1
    }
}

impl PartialEq for Shelf {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.items.clear();
    }
}

impl Shelf {
    pub fn new() -> Self {
        Shelf { items: Vec::new() }
    }

    pub fn insert(&mut self, item: i32) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    pub fn get(&self, key: usize) -> Option<&i32> {
        self.items.get(key)
    }

    /// # Panics
    ///
    /// If the key is not known.
    pub fn remove(&mut self, key: usize) -> i32 {
        assert!(key < self.items.len(), "no such \"key\"");
        self.items.remove(key)
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn label(&self) -> String {
        format!("{} items", self.items.len())
    }

    pub fn items(&self) -> &[i32] {
        &self.items
    }

    pub fn side(&self) -> Option<Side> {
        self.items.first().map(|item| if *item < 0 { Side::Left } else { Side::Right })
    }

    pub fn try_insert(&mut self, item: i32) -> Result<(), Full> {
        if self.items.len() >= 2 {
            return Err(Full { at: self.items.len() });
        }
        self.items.push(item);
        Ok(())
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    pub fn mean(&self) -> f64 {
        self.items.iter().sum::<i32>() as f64 / self.items.len() as f64
    }

    pub fn size(&self) -> Size {
        Size { width: self.items.len() as u32, height: 1 }
    }
}

pub mod count {
    pub fn twice(number: u8) -> u8 {
        number * 2
    }
}
