//! The newest few values: what is learnt at run time must not grow without end.

const ROOM: usize = 200;

#[derive(Clone, Debug)]
pub struct Ring<T> {
    values: Vec<T>,
    oldest: usize,
}

impl<T> Ring<T> {
    pub fn new() -> Self {
        Ring { values: Vec::new(), oldest: 0 }
    }

    /// In the place of the oldest one when the ring is full.
    pub fn push(&mut self, value: T) {
        if self.values.len() < ROOM {
            self.values.push(value);
        } else {
            self.values[self.oldest] = value;
            self.oldest = (self.oldest + 1) % ROOM;
        }
    }

    pub fn values(&self) -> &[T] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let mut ring = Ring::new();
        for value in 0..=ROOM {
            ring.push(value);
        }
        assert_eq!(ring.values().len(), ROOM);
        assert!(!ring.values().contains(&0) && ring.values().contains(&1) && ring.values().contains(&ROOM));
    }
}
