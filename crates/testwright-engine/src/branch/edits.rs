//! Other literals for a sequence, by what was compared while it ran.
//!
//! Receives the comparisons of a sequence and of probes, the same sequence with one number a little larger; hands out edits,
//! each one literal in one place. A number flows to a comparison if a probe changed one side of it, and how much it changed tells
//! which number would make both sides equal. Texts are found by what they contain.

use std::collections::{HashMap, HashSet};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::operation::Operations;
use testwright_model::sequence::{How, Sequence, Step, ValueId};
use testwright_model::{Literal, Prim, Ty};
use testwright_wire::record::Compare;

/// Edits of one sequence, at most.
const MOST: usize = 400;
/// Texts do not grow past this.
const LONGEST: usize = 64;
/// Literals that are moved two at a time.
const PAIRED: usize = 6;
/// Literals of a sequence that are looked at: the last ones.
pub const LITERALS: usize = 24;

/// What was compared while a sequence ran.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub compares: Vec<Compare>,
    pub spans: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Literals in place of others: one, or two at once.
pub type Edit = Vec<(usize, Literal)>;

/// The sequence with an edit.
pub fn edited(sequence: &Sequence, edit: &Edit) -> Sequence {
    let mut edited = sequence.clone();
    for (step, literal) in edit {
        if let Some(Step::Literal { value, .. }) = edited.steps.get_mut(*step) {
            *value = literal.clone();
        }
    }
    edited
}

/// The sequence with a literal of its own for each use, so that each can be edited alone.
pub fn split(sequence: &Sequence) -> Sequence {
    let mut steps: Vec<Step> = Vec::with_capacity(sequence.steps.len());
    let mut places: Vec<ValueId> = Vec::with_capacity(sequence.steps.len());
    let mut used: HashSet<ValueId> = HashSet::new();
    let next = |steps: &Vec<Step>| ValueId(u32::try_from(steps.len()).unwrap_or(u32::MAX));
    for step in &sequence.steps {
        let mut step = step.clone();
        if let Step::Call { args, .. } = &mut step {
            for arg in args {
                let literal = &sequence.steps[arg.value.0 as usize];
                let again = matches!(literal, Step::Literal { .. }) && !used.insert(arg.value);
                if again && arg.how == How::Copy {
                    arg.value = next(&steps);
                    steps.push(literal.clone());
                } else {
                    arg.value = places[arg.value.0 as usize];
                }
            }
        } else if let Step::Drop(value) | Step::Forget(value) = &mut step {
            *value = places[value.0 as usize];
        }
        places.push(next(&steps));
        steps.push(step);
    }
    Sequence { steps }
}

/// The steps with literals, the last ones first.
pub fn literals(sequence: &Sequence) -> Vec<usize> {
    let is_literal = |step: &usize| matches!(sequence.steps[*step], Step::Literal { .. });
    (0..sequence.steps.len()).rev().filter(is_literal).take(LITERALS).collect()
}

/// The number that a probe has in place of `value`: close by, so that what depends on it changes a little.
pub const PROBES: [i128; 2] = [1, 977];

/// A sequence with one number a little larger, if the literal is a number.
pub fn probe(operations: &Operations, sequence: &Sequence, step: usize, by: i128) -> Option<Edit> {
    let (value, prim) = number(operations, sequence, step)?;
    let moved = if fits(value + by, prim) { value + by } else { value - by };
    fits(moved, prim).then(|| vec![(step, Literal::Int(moved))])
}

/// The number that a step writes out, with its type, if it is one of at most 64 bits.
pub fn number(operations: &Operations, sequence: &Sequence, step: usize) -> Option<(i128, Prim)> {
    match &sequence.steps[step] {
        Step::Literal { ty, value: Literal::Int(value) } => match operations.ty(*ty) {
            Ty::Prim(prim) if prim.bits() <= 64 => Some((*value, *prim)),
            _ => None,
        },
        _ => None,
    }
}

pub fn fits(value: i128, prim: Prim) -> bool {
    let bits = prim.bits();
    let (low, high) = if prim.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    (low..=high).contains(&value)
}

/// The difference of two sides of this many bytes, as a signed number.
fn difference(to: u64, from: u64, width: u64) -> i128 {
    let unused = 64 - 8 * u32::try_from(width.clamp(1, 8)).unwrap_or(8);
    i128::from((to.wrapping_sub(from) << unused).cast_signed() >> unused)
}

/// How far apart the sides of a comparison are.
pub fn distance(compare: &Compare) -> u64 {
    u64::try_from(difference(compare.right, compare.left, compare.width).unsigned_abs()).unwrap_or(u64::MAX)
}

/// The edits that may turn a comparison the other way, likely ones first.
pub fn edits(
    operations: &Operations,
    sequence: &Sequence,
    trace: &Trace,
    probes: &HashMap<usize, Vec<(i128, Vec<Compare>)>>,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Edit> {
    let mut found = Found::default();
    for step in literals(sequence) {
        match &sequence.steps[step] {
            Step::Literal { value: Literal::Int(_), .. } => {
                let Some((value, prim)) = number(operations, sequence, step) else { continue };
                let none = Vec::new();
                let moved = probes.get(&step).unwrap_or(&none);
                for wanted in numbers(value, prim, trace, moved) {
                    found.add(step, Literal::Int(wanted));
                }
            }
            Step::Literal { value: Literal::Str(text), .. } => {
                for wanted in texts(text.as_bytes(), trace) {
                    if let Ok(wanted) = String::from_utf8(wanted) {
                        found.add(step, Literal::Str(wanted));
                    }
                }
            }
            Step::Literal { value: Literal::Bytes(bytes), .. } => {
                for wanted in texts(bytes, trace) {
                    found.add(step, Literal::Bytes(wanted));
                }
            }
            Step::Literal { value: Literal::Char(value), .. } => {
                let own = u64::from(u32::from(*value));
                for (_, other) in sides(trace, 4).filter(|(one, _)| *one == own) {
                    if let Some(wanted) = u32::try_from(other).ok().and_then(char::from_u32) {
                        found.add(step, Literal::Char(wanted));
                    }
                }
            }
            Step::Literal { value: Literal::Bool(value), .. } => found.add(step, Literal::Bool(!value)),
            _ => {}
        }
    }
    pairs(operations, sequence, trace, probes, &mut found);
    blind(operations, sequence, &mut found, rng);
    found.edits.truncate(MOST);
    found.edits
}

#[derive(Default)]
struct Found {
    edits: Vec<Edit>,
    known: HashSet<Edit>,
}

impl Found {
    fn add(&mut self, step: usize, literal: Literal) {
        self.add_all(vec![(step, literal)]);
    }

    fn add_all(&mut self, edit: Edit) {
        if self.known.insert(edit.clone()) {
            self.edits.push(edit);
        }
    }
}

/// Both sides of the comparisons of at least this width, each way round.
fn sides(trace: &Trace, width: u64) -> impl Iterator<Item = (u64, u64)> {
    let wide = trace.compares.iter().filter(move |compare| compare.width >= width);
    wide.flat_map(|compare| [(compare.left, compare.right), (compare.right, compare.left)])
}

/// Numbers that would make the sides of comparisons equal, or nearly.
fn numbers(value: i128, prim: Prim, trace: &Trace, probes: &[(i128, Vec<Compare>)]) -> Vec<i128> {
    let mut wanted = Vec::new();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its bits, as they are compared"
    )]
    let bits = value as u64;
    for compare in &trace.compares {
        // What is compared is the literal itself.
        for (one, other) in [(compare.left, compare.right), (compare.right, compare.left)] {
            if difference(one, bits, compare.width) == 0 {
                wanted.extend([0, 1, -1].map(|by| value + difference(other, one, compare.width) + by));
            }
        }
    }
    for (by, moved) in probes {
        for (compare, after) in aligned(&trace.compares, moved) {
            let apart = difference(compare.right, compare.left, compare.width);
            let apart_after = difference(after.right, after.left, after.width);
            let gained = apart - apart_after;
            if gained == 0 {
                continue;
            }
            // As if it went on like this: as many times `by` as it takes.
            let exact = value.saturating_add(apart.saturating_mul(*by) / gained);
            wanted.extend([0, 1, -1].map(|by| exact.saturating_add(by)));
            if by.abs() > 1 {
                wanted.extend([2, -2, 4, -4].map(|near| exact.saturating_add(near * by / 8)));
            }
            wanted.push(value ^ i128::from(compare.left ^ compare.right));
            wanted.push(-value);
        }
    }
    wanted.retain(|wanted| fits(*wanted, prim) && *wanted != value);
    wanted.truncate(MOST / 4);
    wanted
}

/// Two numbers moved at once, by as much in the same or in opposite directions: what depends on their sum or difference alone
/// stays as it is.
fn pairs(
    operations: &Operations,
    sequence: &Sequence,
    trace: &Trace,
    probes: &HashMap<usize, Vec<(i128, Vec<Compare>)>>,
    found: &mut Found,
) {
    let steps: Vec<usize> =
        literals(sequence).into_iter().filter(|step| probes.contains_key(step)).take(PAIRED).collect();
    // How much closer the sides of each comparison come, by comparison and step.
    let mut gains: HashMap<Compare, Vec<(usize, i128)>> = HashMap::new();
    for step in &steps {
        for (by, moved) in probes[step].iter().filter(|(by, _)| by.abs() == 1) {
            for (compare, after) in aligned(&trace.compares, moved) {
                let before = difference(compare.right, compare.left, compare.width);
                let gained = (before - difference(after.right, after.left, after.width)) * by;
                if gained != 0 && before != 0 {
                    gains.entry(*compare).or_default().push((*step, gained));
                }
            }
        }
    }
    for compare in trace.compares.iter().filter(|compare| gains.contains_key(compare)) {
        let apart = difference(compare.right, compare.left, compare.width);
        let gains = &gains[compare];
        for (index, (one, of_one)) in gains.iter().enumerate() {
            for (other, of_other) in &gains[index + 1..] {
                for sign in [1, -1] {
                    let together = of_one + sign * of_other;
                    if together == 0 || apart % together != 0 {
                        continue;
                    }
                    let by = apart / together;
                    let moved = |step: usize, by: i128| {
                        let (value, prim) = number(operations, sequence, step)?;
                        let wanted = value.checked_add(by).filter(|wanted| fits(*wanted, prim))?;
                        Some((step, Literal::Int(wanted)))
                    };
                    if let (Some(one), Some(other)) = (moved(*one, by), moved(*other, sign * by)) {
                        found.add_all(vec![one, other]);
                    }
                }
            }
        }
    }
}

/// Comparisons at the same place, the first with the first and so on.
fn aligned<'t>(before: &'t [Compare], after: &'t [Compare]) -> Vec<(&'t Compare, &'t Compare)> {
    let mut places: HashMap<u64, Vec<&Compare>> = HashMap::new();
    for compare in after.iter().rev() {
        places.entry(compare.site).or_default().push(compare);
    }
    let pair = |compare: &'t Compare| Some((compare, places.get_mut(&compare.site)?.pop()?));
    before.iter().filter_map(pair).collect()
}

/// Texts with a part in place of which another was wanted.
fn texts(text: &[u8], trace: &Trace) -> Vec<Vec<u8>> {
    let mut wanted = Vec::new();
    for (one, other) in trace.spans.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
        if one.is_empty() {
            continue;
        }
        if let Some(at) = text.windows(one.len()).position(|part| part == one.as_slice()) {
            wanted.push(replaced(text, at, one.len(), other));
            wanted.push(other.clone());
            wanted.push([&text[..at], other].concat());
        }
    }
    for (one, other) in sides(trace, 8) {
        // A length that was not the one that was wanted.
        if let (true, Ok(length)) = (one == text.len() as u64, usize::try_from(other)) {
            if length <= LONGEST && length != text.len() {
                let filler = text.last().copied().unwrap_or(b'a');
                let mut resized: Vec<u8> = text.iter().copied().take(length).collect();
                resized.resize(length, if filler.is_ascii() { filler } else { b'a' });
                wanted.push(resized);
            }
        }
    }
    for (one, other) in sides(trace, 1) {
        // A number that is written in the text.
        let (digits, number) = (one.to_string(), other.to_string());
        if let Some(at) = text.windows(digits.len()).position(|part| part == digits.as_bytes()) {
            wanted.push(replaced(text, at, digits.len(), number.as_bytes()));
        }
        // A character, or a byte.
        let (one, other) = (u32::try_from(one).ok(), u32::try_from(other).ok());
        let of = |code: Option<u32>| code.and_then(char::from_u32).map(|it| it.to_string().into_bytes());
        if let (Some(one), Some(other)) = (of(one), of(other)) {
            let at = text.windows(one.len()).position(|part| part == one.as_slice());
            wanted.extend(at.map(|at| replaced(text, at, one.len(), &other)));
        }
    }
    wanted.retain(|wanted| wanted.len() <= LONGEST && wanted != text);
    wanted.truncate(MOST / 2);
    wanted
}

fn replaced(text: &[u8], at: usize, length: usize, by: &[u8]) -> Vec<u8> {
    [&text[..at], by, &text[at + length..]].concat()
}

/// The edits that need no comparison: steps of one, ten, a hundred, nothing, the other sign, and another literal's value.
fn blind(operations: &Operations, sequence: &Sequence, found: &mut Found, rng: &mut Xoshiro256PlusPlus) {
    let steps = literals(sequence);
    for step in &steps {
        let Some((value, prim)) = number(operations, sequence, *step) else { continue };
        let by = *[1, 10, 100].choose(rng).expect("there are some");
        for wanted in [value + by, value - by, -value, 0] {
            if wanted != value && fits(wanted, prim) && rng.random_bool(0.5) {
                found.add(*step, Literal::Int(wanted));
            }
        }
    }
    for _ in 0..steps.len().min(8) {
        let (Some(one), Some(other)) = (steps.choose(rng), steps.choose(rng)) else { return };
        let pair = (&sequence.steps[*one], &sequence.steps[*other]);
        if let (Step::Literal { ty, value }, Step::Literal { ty: same, value: taken }) = pair {
            if ty == same && value != taken {
                found.add(*one, taken.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testwright_model::OpId;
    use testwright_model::operation::TypeId;
    use testwright_model::sequence::Arg;

    use super::*;

    fn compare(site: u64, left: u64, right: u64) -> Compare {
        Compare { site, left, right, width: 4 }
    }

    fn traced(compares: Vec<Compare>) -> Trace {
        Trace { compares, spans: Vec::new() }
    }

    #[test]
    fn the_compared_number_itself_is_tried() {
        assert!(numbers(5, Prim::U32, &traced(vec![compare(1, 5, 4711)]), &[]).contains(&4711));
        let negative = traced(vec![compare(1, 5, u64::from((-3i32).cast_unsigned()))]);
        assert!(numbers(5, Prim::I32, &negative, &[]).contains(&-3));
        assert!(!numbers(5, Prim::U32, &negative, &[]).contains(&-3), "not of the type");
    }

    #[test]
    fn a_probe_tells_how_a_number_flows() {
        // 3 x + 7 = 100
        let probes = vec![(1, vec![compare(9, 25, 100)])];
        assert!(numbers(5, Prim::I32, &traced(vec![compare(9, 22, 100)]), &probes).contains(&31));
        // x / 100 = 50: close enough to go on from.
        let probes = vec![(977, vec![compare(9, 9, 50)])];
        let wanted = numbers(5, Prim::I32, &traced(vec![compare(9, 0, 50)]), &probes);
        assert!(wanted.iter().any(|wanted| (wanted / 100 - 50).abs() <= 2), "{wanted:?}");
        // x ^ 0x55 = 0xff
        let probes = vec![(1, vec![compare(9, 6 ^ 0x55, 0xff)])];
        assert!(numbers(5, Prim::I32, &traced(vec![compare(9, 5 ^ 0x55, 0xff)]), &probes).contains(&0xaa));
    }

    #[test]
    fn each_use_gets_its_own_literal() {
        let literal = Step::Literal { ty: TypeId(0), value: Literal::Int(7) };
        let arg = |value| Arg { value: ValueId(value), how: How::Copy };
        let call = |args: &[u32]| Step::Call { op: OpId(0), args: args.iter().map(|it| arg(*it)).collect() };
        let of = |steps: Vec<Step>| Sequence { steps };
        let shared = of(vec![literal.clone(), call(&[0, 0]), call(&[1, 0])]);
        let own = of(vec![literal.clone(), literal.clone(), call(&[0, 1]), literal.clone(), call(&[2, 3])]);
        assert_eq!(split(&shared), own);
        assert_eq!(split(&own), own);
    }

    #[test]
    fn texts_get_what_they_were_compared_with() {
        let spans = vec![(b"abc".to_vec(), b"GET".to_vec())];
        let trace = Trace { compares: Vec::new(), spans };
        assert!(texts(b"abc /", &trace).contains(&b"GET /".to_vec()));
        let lengths =
            Trace { compares: vec![Compare { site: 1, left: 2, right: 5, width: 8 }], spans: Vec::new() };
        assert!(texts(b"xy", &lengths).contains(&b"xyyyy".to_vec()));
        let parsed = traced(vec![compare(1, 12, 4711)]);
        assert!(texts(b"n=12", &parsed).contains(&b"n=4711".to_vec()));
    }
}
