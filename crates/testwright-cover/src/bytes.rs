//! Reads numbers off a slice; `None` where it ends too early.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Bytes { all, at: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.all.len()
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.all.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    /// Up to the next multiple of 8 from the start.
    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Past bytes that are 0, as the linker puts them between pieces.
    pub fn skip_zeros(&mut self) {
        while self.all.get(self.at) == Some(&0) {
            self.at += 1;
        }
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A number in LEB128.
    pub fn leb(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..).step_by(7).take_while(|shift| *shift < 64) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A LEB128 number that counts or numbers something.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.leb()?).ok()
    }

    /// A LEB128 line or column.
    pub fn place(&mut self) -> Option<u32> {
        u32::try_from(self.leb()?).ok()
    }
}

/// The digest by which LLVM refers to a name or a list of files.
pub(crate) fn reference(bytes: &[u8]) -> u64 {
    let digest = md5::compute(bytes).0;
    u64::from_le_bytes(digest[..8].try_into().expect("a digest has 16 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_with_the_slice() {
        let mut bytes = Bytes::new(&[0xe5, 0x8e, 0x26, 7, 0, 0, 0, 0, 1]);
        assert_eq!(bytes.leb(), Some(624_485));
        assert_eq!(bytes.u32(), Some(7));
        bytes.align();
        assert_eq!((bytes.u64(), bytes.leb(), bytes.leb()), (None, Some(1), None));
        assert!(bytes.is_empty());
        assert_eq!(Bytes::new(&[0xff; 11]).leb(), None, "longer than 64 bits");
    }
}
