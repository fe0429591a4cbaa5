//! Integers: mostly small, because large ones buy panics and memory, and now and then one at an edge.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_model::Prim;

use super::decode::Int;
use super::favoured;

/// Numbers of this size come up all the time; they need no place in a table.
const SMALL: i128 = 16;

/// Sizes at which recursion and quadratic work show.
const AFFORDABLE: [i128; 4] = [1_000, 10_000, 100_000, 300_000];

/// What is drawn from for each type.
#[derive(Clone, Debug)]
pub struct Ints {
    /// By [`Prim`] as a number.
    tables: Vec<Table>,
}

#[derive(Clone, Debug)]
struct Table {
    span: Span,
    extremes: Vec<i128>,
    powers: Vec<i128>,
    harvested: Vec<i128>,
}

/// What a type can hold. For `u128` the maximum is -1, as in every [`Int`].
#[derive(Clone, Copy, Debug)]
struct Span {
    bits: u32,
    signed: bool,
    min: i128,
    max: i128,
}

impl Ints {
    pub fn new(harvested: &[Int]) -> Self {
        Ints { tables: Prim::ALL.into_iter().map(|prim| Table::new(prim, harvested)).collect() }
    }

    pub fn draw(&self, prim: Prim, rng: &mut Xoshiro256PlusPlus) -> i128 {
        let table = &self.tables[prim as usize];
        match rng.random_range(0..100u32) {
            0..45 => i128::from(rng.random_range(0..4i32)),
            45..66 => i128::from(rng.random_range(0..20i32)),
            66..72 if table.span.signed => i128::from(rng.random_range(-8..0)),
            72..92 if !table.harvested.is_empty() => table.span.near(favoured(&table.harvested, rng), rng),
            66..85 => i128::from(rng.random_range(0..32i32)),
            // Enough for what is deep or long, and still affordable.
            92 => {
                *AFFORDABLE.choose(rng).filter(|value| table.span.holds(**value)).unwrap_or(&table.span.max)
            }
            85..96 => *table.extremes.choose(rng).unwrap_or(&table.span.max),
            96..99 => *table.powers.choose(rng).unwrap_or(&table.span.max),
            _ => table.span.any(rng),
        }
    }
}

impl Table {
    fn new(prim: Prim, harvested: &[Int]) -> Self {
        let bits = prim.bits();
        let signed = prim.is_signed();
        let (min, max) = if signed {
            (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits))
        } else {
            (0, (u128::MAX >> (128 - bits)).cast_signed())
        };
        let span = Span { bits, signed, min, max };
        // The type's own edges twice: they are what most checks forget.
        let own = [min, min.wrapping_add(1), max.wrapping_sub(1), max];
        let others = [
            -1,
            127,
            128,
            255,
            256,
            i128::from(i32::MIN),
            i128::from(i32::MAX),
            i128::from(u32::MAX),
            i128::from(i64::MIN),
            i128::from(i64::MAX),
            i128::from(u64::MAX),
        ];
        let extremes =
            own.into_iter().chain(own).chain(others.into_iter().filter(|value| span.holds(*value))).collect();
        let powers = (5..127)
            .map(|exponent| 1i128 << exponent)
            .flat_map(|power| [power - 1, power, power + 1, -power - 1, -power, 1 - power])
            .filter(|value| span.holds(*value))
            .collect();
        Table { span, extremes, powers, harvested: span.fitting(prim, harvested) }
    }
}

impl Span {
    /// The harvested numbers that this type can have and that are not drawn anyway; those written for this type first.
    fn fitting(self, prim: Prim, harvested: &[Int]) -> Vec<i128> {
        let fits = |int: &Int| if int.is_wide() { prim == Prim::U128 } else { self.holds(int.value) };
        let (mut values, others): (Vec<Int>, Vec<Int>) = harvested
            .iter()
            .filter(|int| fits(int) && !(-SMALL..=SMALL).contains(&int.value))
            .partition(|int| int.suffix == Some(prim));
        values.extend(others);
        values.into_iter().map(|int| int.value).collect()
    }

    /// For values up to `i128::MAX`.
    fn holds(self, value: i128) -> bool {
        if self.bits == 128 { self.signed || value >= 0 } else { (self.min..=self.max).contains(&value) }
    }

    /// A harvested number or, half of the time, one beside it.
    fn near(self, value: i128, rng: &mut Xoshiro256PlusPlus) -> i128 {
        match rng.random_range(0..4u32) {
            0 if value != self.max => value.wrapping_add(1),
            1 if value != self.min => value.wrapping_sub(1),
            _ => value,
        }
    }

    /// Any number, every length in bits alike.
    fn any(self, rng: &mut Xoshiro256PlusPlus) -> i128 {
        let shift = rng.random_range(128 - self.bits..128);
        let value = rng.random::<u128>();
        if self.signed { value.cast_signed() >> shift } else { (value >> shift).cast_signed() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    const INTS: [Prim; 12] = [
        Prim::I8,
        Prim::I16,
        Prim::I32,
        Prim::I64,
        Prim::I128,
        Prim::Isize,
        Prim::U8,
        Prim::U16,
        Prim::U32,
        Prim::U64,
        Prim::U128,
        Prim::Usize,
    ];

    fn harvested() -> Vec<Int> {
        let plain = |value| Int { value, suffix: None };
        vec![
            plain(-1000),
            plain(77),
            plain(40_000),
            plain(5_000_000_000),
            plain(i128::MAX),
            plain(i128::MIN),
            Int { value: -77, suffix: Some(Prim::U128) },
        ]
    }

    #[test]
    fn most_are_small_and_all_are_in_range() {
        for ints in [Ints::new(&[]), Ints::new(&harvested())] {
            for prim in INTS {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
                let (min, max) = (i128::MIN >> (128 - prim.bits()), u128::MAX >> (128 - prim.bits()));
                let mut small = 0;
                for _ in 0..50_000 {
                    let value = ints.draw(prim, &mut rng);
                    if prim.is_signed() {
                        assert!(value >= min && value <= (max >> 1).cast_signed(), "{prim:?} {value}");
                        small += u32::from(value.unsigned_abs() < 32);
                    } else {
                        assert!(value.cast_unsigned() <= max, "{prim:?} {value}");
                        small += u32::from(value.cast_unsigned() < 32);
                    }
                }
                assert!(small >= 35_000, "{prim:?}: {small} of 50000 are small");
            }
        }
    }

    #[test]
    fn edges_and_harvested_numbers_come_up() {
        let ints = Ints::new(&harvested());
        for prim in INTS {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
            let drawn: BTreeSet<i128> = (0..50_000).map(|_| ints.draw(prim, &mut rng)).collect();
            let table = ints.tables[prim as usize].span;
            for edge in
                [table.min, table.min.wrapping_add(1), table.max.wrapping_sub(1), table.max, 127, 77, 78, 76]
            {
                assert!(drawn.contains(&edge), "{prim:?} never gave {edge}");
            }
            assert_eq!(drawn.contains(&-1), prim.is_signed() || prim == Prim::U128, "{prim:?}");
            assert_eq!(drawn.contains(&40_000), prim.bits() > 16 || prim == Prim::U16, "{prim:?}");
            assert_eq!(drawn.contains(&-1000), prim.bits() > 8 && prim.is_signed(), "{prim:?}");
        }
    }
}
