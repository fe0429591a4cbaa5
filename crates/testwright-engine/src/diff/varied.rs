//! Tests for a comparison beyond those of the suite: sequences as the search made them.
//!
//! The suite's tests are as plain as what they execute allows, and plain arguments hide differences: ten times nothing is twenty times nothing.

use std::collections::BTreeMap;

use testwright_model::operation::Operations;
use testwright_model::sequence::Sequence;

use crate::search::calls;

/// Longer sequences are no tests to read.
const LONGEST: usize = 16;

/// Up to `most` of these sequences, of each operation that comes last in one about as many, short and long ones.
pub fn varied<'a>(operations: &Operations, corpus: &[&'a Sequence], most: usize) -> Vec<&'a Sequence> {
    let mut by_last: BTreeMap<&str, Vec<&'a Sequence>> = BTreeMap::new();
    for sequence in corpus.iter().filter(|sequence| sequence.len() <= LONGEST) {
        let last = calls(sequence).map(|op| operations.get(op)).filter(|op| op.is_subject()).last();
        if let Some(last) = last {
            by_last.entry(&last.path).or_default().push(sequence);
        }
    }
    let each = (most / by_last.len().max(1)).max(1);
    by_last.into_values().flat_map(|all| spread(&all, each)).take(most).collect()
}

/// So many of a list, from its beginning to its end.
fn spread<'a, T>(all: &[&'a T], count: usize) -> Vec<&'a T> {
    let step = (all.len() / count.max(1)).max(1);
    // The last ones are the largest, and the likeliest to differ.
    all.iter().rev().step_by(step).take(count).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_few_of_many_come_from_everywhere() {
        let all: Vec<u32> = (0..100).collect();
        let all: Vec<&u32> = all.iter().collect();
        assert_eq!(spread(&all, 4), [&99, &74, &49, &24]);
        assert_eq!(spread(&all[..2], 4), [&1, &0]);
        assert!(spread(&all[..0], 4).is_empty());
    }
}
