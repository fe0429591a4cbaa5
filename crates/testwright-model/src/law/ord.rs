//! `Ord`.

use super::{Law, THREE, TWO};

const ORD: &str = "std::cmp::Ord";
const PARTIAL_ORD: &str = "std::cmp::PartialOrd";
const PARTIAL_EQ: &str = "std::cmp::PartialEq";
/// Equality by itself is for the laws of `PartialEq`.
const ORDERS: &[&str] = &[ORD, PARTIAL_ORD];

pub const LAWS: &[Law] = &[
    Law {
        class: "law:Ord.antisymmetric",
        title: "is_antisymmetric",
        blames: ("Ord", "cmp"),
        needs: &[ORD],
        written: &[ORD],
        takes: TWO,
        code: r#"assert_eq!(Ord::cmp({0}, {1}), Ord::cmp({1}, {0}).reverse(), "`b.cmp(a)` is `a.cmp(b)` reversed")"#,
        says: "`b.cmp(a)` is `a.cmp(b)` reversed",
        source: "std::cmp::Ord: \"exactly one of a < b, a == b or a > b is true\"",
        ..Law::NONE
    },
    Law {
        class: "law:Ord.transitive",
        title: "is_transitive",
        blames: ("Ord", "cmp"),
        needs: &[ORD],
        written: &[ORD],
        takes: THREE,
        code: r#"if Ord::cmp({0}, {1}).is_le() && Ord::cmp({1}, {2}).is_le() { assert!(Ord::cmp({0}, {2}).is_le(), "`a <= b` and `b <= c` imply `a <= c`"); }"#,
        says: "`a <= b` and `b <= c` imply `a <= c`",
        source: "std::cmp::Ord: \"Transitivity\"",
        ..Law::NONE
    },
    Law {
        class: "law:Ord.agrees_with_eq",
        title: "agrees_with_eq",
        blames: ("Ord", "cmp"),
        needs: &[ORD],
        written: &[ORD, PARTIAL_EQ],
        takes: TWO,
        code: r#"assert_eq!(Ord::cmp({0}, {1}).is_eq(), {*0} == {*1}, "`a == b` if and only if `a.cmp(b)` is `Equal`")"#,
        says: "`a == b` if and only if `a.cmp(b)` is `Equal`",
        source: "std::cmp::Ord: \"implementations must be consistent with the PartialOrd implementation\"",
        ..Law::NONE
    },
    Law {
        class: "law:Ord.agrees_with_partial_ord",
        title: "agrees_with_partial_ord",
        blames: ("Ord", "cmp"),
        needs: &[ORD],
        written: ORDERS,
        takes: TWO,
        code: r#"assert_eq!(PartialOrd::partial_cmp({0}, {1}), Some(Ord::cmp({0}, {1})), "`partial_cmp` is `Some` of `cmp`")"#,
        says: "`partial_cmp` is `Some` of `cmp`",
        source: "std::cmp::Ord: \"partial_cmp(a, b) == Some(cmp(a, b))\"",
        ..Law::NONE
    },
    Law {
        class: "law:Ord.max_min",
        title: "agrees_with_max_and_min",
        blames: ("Ord", "max"),
        needs: &[ORD, "std::clone::Clone"],
        written: &[ORD],
        overrides: &["max", "min"],
        takes: TWO,
        code: r#"{
            let (greater, less) = (Ord::max(Clone::clone({0}), Clone::clone({1})), Ord::min(Clone::clone({0}), Clone::clone({1})));
            assert!(Ord::cmp(&greater, {0}).is_ge() && Ord::cmp(&greater, {1}).is_ge(), "`max` and `min` agree with `cmp`");
            assert!(Ord::cmp(&less, {0}).is_le() && Ord::cmp(&less, {1}).is_le(), "`max` and `min` agree with `cmp`");
        }"#,
        says: "`max` and `min` agree with `cmp`",
        source: "std::cmp::Ord: \"all the methods must be consistent with cmp\"",
        ..Law::NONE
    },
    Law {
        class: "law:Ord.clamp",
        title: "agrees_with_clamp",
        blames: ("Ord", "clamp"),
        needs: &[ORD, "std::clone::Clone"],
        written: &[ORD],
        overrides: &["clamp"],
        takes: THREE,
        code: r#"{
            let (low, high) = if Ord::cmp({1}, {2}).is_le() { ({1}, {2}) } else { ({2}, {1}) };
            let clamped = Ord::clamp(Clone::clone({0}), Clone::clone(low), Clone::clone(high));
            let expected = match (Ord::cmp({0}, low), Ord::cmp({0}, high)) {
                (std::cmp::Ordering::Less, _) => low,
                (_, std::cmp::Ordering::Greater) => high,
                _ => {0},
            };
            assert!(Ord::cmp(&clamped, expected).is_eq(), "`clamp` agrees with `cmp`");
        }"#,
        says: "`clamp` agrees with `cmp`",
        source: "std::cmp::Ord::clamp: \"max if self is greater than max, and min if self is less than min\"",
        ..Law::NONE
    },
];
