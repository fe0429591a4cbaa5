//! How long the sequences of a search were: each one's number of calls comes in, sums by that number go to the report.

use testwright_emit::report::LengthFigures;

/// Sequences by how many calls into the crate they have; the number of calls is the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths(Vec<Length>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Length {
    sequences: u64,
    failed: u64,
}

impl Lengths {
    pub fn count(&mut self, calls: u32, failed: bool) {
        let length = self.at(calls as usize);
        length.sequences += 1;
        length.failed += u64::from(failed);
    }

    pub fn join(&mut self, other: &Lengths) {
        for (calls, length) in other.0.iter().enumerate() {
            let sum = self.at(calls);
            sum.sequences += length.sequences;
            sum.failed += length.failed;
        }
    }

    /// Without the lengths that no sequence had.
    pub fn figures(&self) -> Vec<LengthFigures> {
        (0..)
            .zip(&self.0)
            .filter(|(_, length)| length.sequences > 0)
            .map(|(calls, length)| LengthFigures {
                calls,
                sequences: length.sequences,
                panics: length.failed,
            })
            .collect()
    }

    fn at(&mut self, calls: usize) -> &mut Length {
        if calls >= self.0.len() {
            self.0.resize(calls + 1, Length::default());
        }
        &mut self.0[calls]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_two_jobs_are_added() {
        let (mut one, mut other) = (Lengths::default(), Lengths::default());
        one.count(2, false);
        other.count(2, true);
        other.count(5, false);
        one.join(&other);
        let figures = |calls, sequences, panics| LengthFigures { calls, sequences, panics };
        assert_eq!(one.figures(), [figures(2, 2, 1), figures(5, 1, 0)]);
    }
}
