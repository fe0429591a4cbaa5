//! Sequences next to a test's own: one literal a little different. What such a change turns the other way on the same path through the
//! code is the boundary of a comparison, and worth a test on either side.

use std::collections::{BTreeSet, HashSet};

use testwright_model::Literal;
use testwright_model::sequence::{Sequence, Step};

/// Neighbours of one test, and of one literal, at most.
const MOST: usize = 72;
const OF_ONE: usize = 24;

/// The sequence with one literal replaced by one next to it, or by another that tests use.
pub fn of(sequence: &Sequence, texts: &BTreeSet<String>) -> Vec<Sequence> {
    let mut known = HashSet::from([sequence.clone()]);
    let mut all = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let Step::Literal { value, .. } = step else { continue };
        for near in near(value, texts).into_iter().take(OF_ONE) {
            let mut other = sequence.clone();
            if let Step::Literal { value, .. } = &mut other.steps[index] {
                *value = near;
            }
            if known.insert(other.clone()) {
                all.push(other);
            }
        }
    }
    all.truncate(MOST);
    all
}

/// The texts that are written out in sequences.
pub fn texts<'s>(sequences: impl Iterator<Item = &'s Sequence>) -> BTreeSet<String> {
    let steps = sequences.flat_map(|sequence| &sequence.steps);
    let texts = steps.filter_map(|step| match step {
        Step::Literal { value: Literal::Str(text), .. } if text.len() <= 24 => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn near(literal: &Literal, texts: &BTreeSet<String>) -> Vec<Literal> {
    match literal {
        // What its type cannot hold is refused when it is run.
        Literal::Int(value) => {
            let mut all = vec![value + 1, 2, 1, 0, value + 2];
            if *value > 0 {
                all.insert(1, value - 1);
            }
            all.retain(|other| other != value);
            all.into_iter().map(Literal::Int).collect()
        }
        Literal::Bool(value) => vec![Literal::Bool(!value)],
        Literal::Char(value) => {
            let other = if *value == 'a' { 'b' } else { 'a' };
            vec![Literal::Char(other)]
        }
        Literal::Str(text) => near_text(text, texts).into_iter().map(Literal::Str).collect(),
        Literal::Bytes(bytes) => near_bytes(bytes).into_iter().map(Literal::Bytes).collect(),
        Literal::Float(bits) => {
            let value = f64::from_bits(*bits);
            [value + 1.0, value - 1.0, -value].iter().map(|value| Literal::Float(value.to_bits())).collect()
        }
    }
}

/// With a digit or letter one higher or lower, then with one character more or less, then others.
fn near_text(text: &str, texts: &BTreeSet<String>) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        let steps = match c {
            '0'..='8' if *c > '0' => [1_i8, -1].as_slice(),
            '0' | 'a'..='y' | 'A'..='Y' => &[1],
            '9' | 'z' | 'Z' => &[-1],
            _ => &[],
        };
        for step in steps {
            let mut other = chars.clone();
            other[at] = char::from((*c as u8).wrapping_add_signed(*step));
            all.push(other.into_iter().collect());
        }
    }
    for at in 0..chars.len() {
        let mut other = chars.clone();
        other.remove(at);
        all.push(other.into_iter().collect());
    }
    all.extend(texts.iter().cloned());
    all
}

fn near_bytes(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..bytes.len() {
        let mut other = bytes.to_vec();
        other[at] = other[at].wrapping_add(1);
        all.push(other.clone());
        other.remove(at);
        all.push(other);
    }
    let mut longer = bytes.to_vec();
    longer.push(b'a');
    all.push(longer);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_model::operation::TypeId;

    #[test]
    fn a_literal_at_a_time_changes_a_little() {
        let literal = |value| Step::Literal { ty: TypeId(0), value };
        let sequence =
            Sequence { steps: vec![literal(Literal::Int(5)), literal(Literal::Str("1.0".to_owned()))] };
        let texts = texts([&sequence].into_iter());
        let all = of(&sequence, &texts);
        let numbers: Vec<i128> = all
            .iter()
            .filter_map(|one| match one.steps[0] {
                Step::Literal { value: Literal::Int(value), .. } if value != 5 => Some(value),
                _ => None,
            })
            .collect();
        assert_eq!(numbers, [6, 4, 2, 1, 0, 7]);
        assert_eq!(near_text("1.0", &texts), ["2.0", "0.0", "1.1", ".0", "10", "1.", "1.0"]);
        assert!(!all.contains(&sequence), "a neighbour differs");
    }
}
