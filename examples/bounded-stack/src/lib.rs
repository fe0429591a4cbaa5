//! A stack with a fixed number of places.
//!
//! All places are set up once, by [`BoundedStack::new`]; from then on the stack neither grows nor allocates. An
//! item that finds no place is refused with [`Full`], and the stack stays as it was.
//!
//! ```
//! use bounded_stack::BoundedStack;
//!
//! let mut stack = BoundedStack::new(3);
//! stack.push('a')?;
//! stack.push('b')?;
//! assert_eq!(stack.peek(), Some(&'b'));
//! assert_eq!(stack.pop(), Some('b'));
//! assert_eq!(stack.len(), 1);
//! assert!(!stack.is_full());
//! # Ok::<(), bounded_stack::Full>(())
//! ```
//!
//! # Why this crate is an example
//!
//! Its tests pass, its documentation reads well, and [`BoundedStack::push`] does not do what it says: the stack
//! believes it has one place more than there is. The mistake is that of the bounded stack in "Random Testing for
//! Higher-Order, Stateful Programs" (Klein, Flatt, Findler, 2010). To see it found:
//!
//! ```text
//! cargo testwright --manifest-path examples/bounded-stack/Cargo.toml
//! ```

use std::error::Error;
use std::fmt;

/// A last-in, first-out stack that holds at most as many items as it has places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedStack<T> {
    places: Vec<Option<T>>,
    len: usize,
}

impl<T> BoundedStack<T> {
    /// Makes an empty stack with `capacity` places.
    ///
    /// # Panics
    ///
    /// Panics if that many places do not fit in memory.
    pub fn new(capacity: usize) -> Self {
        BoundedStack { places: std::iter::repeat_with(|| None).take(capacity).collect(), len: 0 }
    }

    /// Puts `item` on top of the stack.
    ///
    /// # Errors
    ///
    /// Returns [`Full`] if every place is taken; the stack is unchanged then.
    pub fn push(&mut self, item: T) -> Result<(), Full> {
        if self.len > self.places.len() {
            return Err(Full);
        }
        self.places[self.len] = Some(item);
        self.len += 1;
        Ok(())
    }

    /// Takes the topmost item off the stack, or returns `None` if there is none.
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        self.places[self.len].take()
    }

    /// The topmost item, which stays where it is.
    pub fn peek(&self) -> Option<&T> {
        self.places[..self.len].last()?.as_ref()
    }

    /// How many items are on the stack.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item on the stack.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether every place is taken.
    pub fn is_full(&self) -> bool {
        self.len == self.places.len()
    }

    /// How many items the stack can hold.
    pub fn capacity(&self) -> usize {
        self.places.len()
    }
}

/// The error of pushing onto a stack whose places are all taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stack is full")
    }
}

impl Error for Full {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_reverse_order() {
        let mut stack = BoundedStack::new(3);
        for item in 1..=3 {
            assert_eq!(stack.push(item), Ok(()));
        }
        assert!(stack.is_full());
        assert_eq!(stack.peek(), Some(&3));
        assert_eq!([stack.pop(), stack.pop(), stack.pop()], [Some(3), Some(2), Some(1)]);
        assert_eq!(stack.pop(), None);
        assert!(stack.is_empty());
        assert_eq!(stack.capacity(), 3);
    }
}
