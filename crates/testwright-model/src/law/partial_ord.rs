//! `PartialOrd`.

use super::{Law, ONE, Other, THREE, TWO, Value, With};

const PARTIAL_ORD: &str = "std::cmp::PartialOrd";
const PARTIAL_EQ: &str = "std::cmp::PartialEq";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:PartialOrd.dual",
        title: "is_dual",
        blames: ("PartialOrd", "partial_cmp"),
        needs: &[PARTIAL_ORD],
        written: &[PARTIAL_ORD],
        takes: TWO,
        code: r#"assert_eq!({*0} < {*1}, {*1} > {*0}, "`a < b` if and only if `b > a`")"#,
        says: "`a < b` if and only if `b > a`",
        source: "std::cmp::PartialOrd: \"Duality\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialOrd.transitive",
        title: "is_transitive",
        blames: ("PartialOrd", "partial_cmp"),
        needs: &[PARTIAL_ORD],
        written: &[PARTIAL_ORD],
        takes: THREE,
        code: r#"if {*0} < {*1} && {*1} < {*2} { assert!({*0} < {*2}, "`a < b` and `b < c` imply `a < c`"); }"#,
        says: "`a < b` and `b < c` imply `a < c`",
        source: "std::cmp::PartialOrd: \"Transitivity\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialOrd.agrees_with_eq",
        title: "agrees_with_eq",
        blames: ("PartialOrd", "partial_cmp"),
        needs: &[PARTIAL_ORD],
        written: &[PARTIAL_ORD, PARTIAL_EQ],
        takes: TWO,
        code: r#"assert_eq!(PartialOrd::partial_cmp({0}, {1}) == Some(std::cmp::Ordering::Equal), {*0} == {*1}, "`a == b` if and only if they compare as equal")"#,
        says: "`a == b` if and only if they compare as equal",
        source: "std::cmp::PartialOrd: \"a == b if and only if partial_cmp(a, b) == Some(Equal)\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialOrd.operators",
        title: "agrees_with_its_operators",
        blames: ("PartialOrd", "partial_cmp"),
        needs: &[PARTIAL_ORD],
        written: &[PARTIAL_ORD],
        overrides: &["lt", "le", "gt", "ge"],
        takes: TWO,
        code: r#"{
            let order = PartialOrd::partial_cmp({0}, {1});
            assert_eq!({*0} < {*1}, order == Some(std::cmp::Ordering::Less), "`<`, `<=`, `>` and `>=` agree with `partial_cmp`");
            assert_eq!({*0} > {*1}, order == Some(std::cmp::Ordering::Greater), "`<`, `<=`, `>` and `>=` agree with `partial_cmp`");
            assert_eq!({*0} <= {*1}, order.is_some_and(std::cmp::Ordering::is_le), "`<`, `<=`, `>` and `>=` agree with `partial_cmp`");
            assert_eq!({*0} >= {*1}, order.is_some_and(std::cmp::Ordering::is_ge), "`<`, `<=`, `>` and `>=` agree with `partial_cmp`");
        }"#,
        says: "`<`, `<=`, `>` and `>=` agree with `partial_cmp`",
        source: "std::cmp::PartialOrd: \"a < b if and only if partial_cmp(a, b) == Some(Less)\" and so on",
        ..Law::NONE
    },
    Law {
        class: "law:PartialOrd.dual_with_another",
        title: "is_dual_with_another_type",
        blames: ("PartialOrd", "partial_cmp"),
        with: With::Other(Other {
            of: PARTIAL_ORD,
            back: &[PARTIAL_ORD],
            takes: Value::Shared,
            ..Other::NONE
        }),
        takes: ONE,
        code: r#"{
            let other: &{U} = {1};
            assert_eq!({*0} < *other, *other > {*0}, "`a < b` if and only if `b > a`, for two types too");
            assert_eq!({*0} > *other, *other < {*0}, "`a < b` if and only if `b > a`, for two types too");
        }"#,
        says: "`a < b` if and only if `b > a`, for two types too",
        source: "std::cmp::PartialOrd: \"Duality\", \"if A: PartialOrd<B> and B: PartialOrd<A>\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialOrd.agrees_with_eq_of_another",
        title: "agrees_with_eq_of_another_type",
        blames: ("PartialOrd", "partial_cmp"),
        with: With::Other(Other { of: PARTIAL_ORD, takes: Value::Shared, ..Other::NONE }),
        takes: ONE,
        code: r#"{
            let other: &{U} = {1};
            let order = PartialOrd::partial_cmp({0}, other);
            assert_eq!(order == Some(std::cmp::Ordering::Equal), {*0} == *other, "`a == b` if and only if they compare as equal, for two types too");
        }"#,
        says: "`a == b` if and only if they compare as equal, for two types too",
        source: "std::cmp::PartialOrd: \"a == b if and only if partial_cmp(a, b) == Some(Equal)\"",
        ..Law::NONE
    },
];
