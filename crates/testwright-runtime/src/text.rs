//! Text in a buffer of fixed size, for places where nothing may be allocated.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::fmt;

/// Takes what fits and drops the rest.
#[derive(Debug)]
pub struct Fixed<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Fixed<N> {
    pub const fn new() -> Self {
        Fixed { bytes: [0; N], length: 0 }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length.min(N)]
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Appends up to the last whole character that fits.
    pub fn push(&mut self, text: &str) {
        let mut take = text.len().min(N - self.length);
        while !text.is_char_boundary(take) {
            take -= 1;
        }
        self.bytes[self.length..self.length + take].copy_from_slice(&text.as_bytes()[..take]);
        self.length += take;
    }
}

impl<const N: usize> fmt::Write for Fixed<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Fixed;

    #[test]
    fn cuts_between_characters() {
        let mut text = Fixed::<4>::new();
        text.push("aäö");
        assert_eq!(text.as_bytes(), "aä".as_bytes());
        text.push("bc");
        assert_eq!(text.as_bytes(), "aäb".as_bytes());
    }
}
