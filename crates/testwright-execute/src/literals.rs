//! The literal area's contents: appended once, found again ever after.

use std::collections::HashMap;

/// Which bytes lie where.
#[derive(Debug)]
pub(crate) struct Literals {
    places: HashMap<Box<[u8]>, u32>,
    end: u32,
    room: u32,
}

/// Where a literal may begin if the area is used so far: one byte past a multiple of eight. Safe code must bear bytes that are
/// aligned to nothing, and what it makes of that is to be the same in every worker.
pub fn place_after(end: u32) -> Option<u32> {
    end.checked_next_multiple_of(8)?.checked_add(1)
}

/// Where a literal lies, and whether it still has to be written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Literal {
    pub offset: u32,
    pub length: u32,
    pub new: bool,
}

impl Literals {
    pub fn new(room: usize) -> Self {
        Literals { places: HashMap::new(), end: 0, room: u32::try_from(room).unwrap_or(u32::MAX) }
    }

    /// `None` if there is no room left.
    pub fn place(&mut self, bytes: &[u8]) -> Option<Literal> {
        let length = u32::try_from(bytes.len()).ok()?;
        if let Some(&offset) = self.places.get(bytes) {
            return Some(Literal { offset, length, new: false });
        }
        let offset = place_after(self.end)?;
        let end = offset.checked_add(length).filter(|&end| end <= self.room)?;
        self.end = end;
        self.places.insert(bytes.into(), offset);
        Some(Literal { offset, length, new: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_kept_once_until_the_room_is_full() {
        let mut literals = Literals::new(17);
        assert_eq!(literals.place(b"abc"), Some(Literal { offset: 1, length: 3, new: true }));
        assert_eq!(literals.place(b"defghij"), Some(Literal { offset: 9, length: 7, new: true }));
        assert_eq!(literals.place(b"abc"), Some(Literal { offset: 1, length: 3, new: false }));
        assert_eq!(literals.place(b"i"), None);
        assert_eq!(literals.place(b""), Some(Literal { offset: 17, length: 0, new: true }));
    }
}
