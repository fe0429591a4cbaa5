//! A batch: encoded sequences one behind the other, as the tool hands them in.

use testwright_wire::code::Encoder;

use crate::ExecuteError;

/// Sequences to run, in order, with one answer each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The encoded sequences, without gaps.
    pub words: Vec<u16>,
    /// Where each sequence starts in `words`.
    pub starts: Vec<u32>,
    /// Bits of [`testwright_wire::record::want`], for all sequences.
    pub want: u32,
}

impl Batch {
    pub fn new(want: u32) -> Self {
        Batch { want, ..Batch::default() }
    }

    /// Begins a sequence; the encoder must be finished before the next one begins.
    pub fn sequence(&mut self) -> Encoder<'_> {
        self.starts.push(position(self.words.len()));
        Encoder::new(&mut self.words)
    }

    /// Appends a sequence that is encoded already.
    pub fn push_words(&mut self, sequence: &[u16]) {
        self.starts.push(position(self.words.len()));
        self.words.extend_from_slice(sequence);
    }

    /// The words of one sequence, its length included.
    pub fn words_of(&self, sequence: usize) -> &[u16] {
        let end = self.starts.get(sequence + 1).map_or(self.words.len(), |&next| next as usize);
        &self.words[self.starts[sequence] as usize..end]
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
    }

    /// The worker walks from length to length, so a wrong one would mix up whole sequences.
    pub(crate) fn check(&self) -> Result<(), ExecuteError> {
        let mut end = 0;
        for (index, &start) in self.starts.iter().enumerate() {
            let start = start as usize;
            let Some(&[low, high]) = self.words.get(start..start + 2) else {
                return Err(ExecuteError::Malformed(format!("sequence {index} starts behind the words")));
            };
            if start != end {
                return Err(ExecuteError::Malformed(format!(
                    "sequence {index} starts at word {start}, the one before ends at {end}"
                )));
            }
            end = start + 2 + (usize::from(low) | usize::from(high) << 16);
        }
        if end == self.words.len() {
            Ok(())
        } else {
            Err(ExecuteError::Malformed(format!(
                "the last sequence ends at word {end} of {}",
                self.words.len()
            )))
        }
    }
}

fn position(words: usize) -> u32 {
    u32::try_from(words).expect("a batch is far smaller than 2^32 words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_sequences_are_found_again() {
        let mut batch = Batch::new(0);
        let mut first = batch.sequence();
        first.int(3, 7);
        first.finish();
        batch.sequence().finish();
        batch.push_words(&[1, 0, 9]);
        batch.check().unwrap();
        assert_eq!(batch.words_of(0), [6, 0, 2, 3, 7, 0, 0, 0]);
        assert_eq!(batch.words_of(1), [0, 0]);
        assert_eq!(batch.words_of(2), [1, 0, 9]);
    }

    #[test]
    fn unfinished_sequences_are_refused() {
        let mut batch = Batch::new(0);
        batch.sequence().int(3, 7);
        assert!(matches!(batch.check(), Err(ExecuteError::Malformed(_))));
        batch.starts.push(90);
        assert!(matches!(batch.check(), Err(ExecuteError::Malformed(_))));
    }
}
