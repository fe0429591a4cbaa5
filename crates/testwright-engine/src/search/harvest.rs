//! How often sequences still reach something first, and what that means for the next proposals.

/// Sequences of late, and those among them that reached something first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Harvest {
    sequences: u64,
    firsts: u64,
}

/// Older sequences than about so many count little.
const LATE: u64 = 20_000;
/// The harvest is poor if fewer than one sequence in so many reaches something first.
const POOR: u64 = 1000;
/// So many of the proposals are sequences of the batch before with other literals: they cost a third of what a sequence of its own
/// costs, and what ran to its end once is likely to do it again.
const VARIANTS: f64 = 0.5;
/// The same when the harvest is poor: other sequences reach nothing either, so that it pays to run more.
const VARIANTS_OF_POOR: f64 = 0.8;

impl Harvest {
    pub(super) fn add(&mut self, sequences: usize, firsts: usize) {
        self.sequences += sequences as u64;
        self.firsts += firsts as u64;
        while self.sequences > 2 * LATE {
            (self.sequences, self.firsts) = (self.sequences / 2, self.firsts / 2);
        }
    }

    /// The share of variants among proposals.
    pub(super) fn variants(&self) -> f64 {
        let is_poor = self.sequences >= LATE && self.firsts * POOR < self.sequences;
        if is_poor { VARIANTS_OF_POOR } else { VARIANTS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_varied_when_little_is_reached() {
        let mut harvest = Harvest::default();
        assert!(harvest.variants() < VARIANTS_OF_POOR, "nothing is known yet");
        for _ in 0..200 {
            harvest.add(400, 1);
        }
        assert!(harvest.variants() < VARIANTS_OF_POOR, "one in 400 reaches something");
        for _ in 0..200 {
            harvest.add(400, 0);
        }
        assert!(harvest.variants() > VARIANTS, "nothing was reached of late");
        for _ in 0..100 {
            harvest.add(400, 2);
        }
        assert!(harvest.variants() < VARIANTS_OF_POOR, "there is something again");
    }
}
