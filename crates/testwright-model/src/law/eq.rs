//! `PartialEq` and `Eq`.

use super::{Law, ONE, Other, THREE, TWO, Value, With};

const EQ: &str = "std::cmp::Eq";
const PARTIAL_EQ: &str = "std::cmp::PartialEq";

/// Another type that the type is compared with, and that is compared with it.
const fn compared(needs: &'static [&'static str]) -> With {
    With::Other(Other { of: PARTIAL_EQ, back: &[PARTIAL_EQ], needs, takes: Value::Shared, ..Other::NONE })
}

pub const LAWS: &[Law] = &[
    Law {
        class: "law:PartialEq.symmetric",
        title: "is_symmetric",
        blames: ("PartialEq", "eq"),
        needs: &[PARTIAL_EQ],
        written: &[PARTIAL_EQ],
        takes: TWO,
        code: r#"assert_eq!({*0} == {*1}, {*1} == {*0}, "`a == b` implies `b == a`")"#,
        says: "`a == b` implies `b == a`",
        source: "std::cmp::PartialEq: \"Symmetry\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialEq.transitive",
        title: "is_transitive",
        blames: ("PartialEq", "eq"),
        needs: &[PARTIAL_EQ],
        written: &[PARTIAL_EQ],
        takes: THREE,
        code: r#"if {*0} == {*1} && {*1} == {*2} { assert!({*0} == {*2}, "`a == b` and `b == c` imply `a == c`"); }"#,
        says: "`a == b` and `b == c` imply `a == c`",
        source: "std::cmp::PartialEq: \"Transitivity\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialEq.ne",
        title: "has_ne_as_its_inverse",
        blames: ("PartialEq", "ne"),
        needs: &[PARTIAL_EQ],
        written: &[PARTIAL_EQ],
        overrides: &["ne"],
        takes: TWO,
        code: r#"assert_ne!({*0} == {*1}, {*0} != {*1}, "`a != b` is the inverse of `a == b`")"#,
        says: "`a != b` is the inverse of `a == b`",
        source: "std::cmp::PartialEq: \"a != b if and only if !(a == b)\"",
        ..Law::NONE
    },
    Law {
        class: "law:Eq.reflexive",
        title: "is_reflexive",
        blames: ("PartialEq", "eq"),
        needs: &[EQ],
        written: &[PARTIAL_EQ],
        takes: ONE,
        // As a call: `a == a` is what lints look for.
        code: r#"assert!(PartialEq::eq({0}, {0}), "`a == a` for types with `Eq`")"#,
        says: "`a == a` for types with `Eq`",
        source: "std::cmp::Eq: \"reflexive: a == a\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialEq.symmetric_with_another",
        title: "is_symmetric_with_another_type",
        blames: ("PartialEq", "eq"),
        with: compared(&[]),
        takes: ONE,
        code: r#"{
            let other: &{U} = {1};
            assert_eq!({*0} == *other, *other == {*0}, "`a == b` implies `b == a`, for two types too");
        }"#,
        says: "`a == b` implies `b == a`, for two types too",
        source: "std::cmp::PartialEq: \"Symmetry: if A: PartialEq<B> and B: PartialEq<A>, then a == b implies b == a\"",
        ..Law::NONE
    },
    Law {
        class: "law:PartialEq.transitive_over_another",
        title: "is_transitive_over_another_type",
        blames: ("PartialEq", "eq"),
        needs: &[PARTIAL_EQ],
        // Two numbers may be rounded to the same float.
        with: compared(&[EQ]),
        takes: TWO,
        code: r#"{
            let other: &{U} = {2};
            if {*0} == *other && *other == {*1} {
                assert!({*0} == {*1}, "`a == b` and `b == c` imply `a == c`, for two types too");
            }
        }"#,
        says: "`a == b` and `b == c` imply `a == c`, for two types too",
        source: "std::cmp::PartialEq: \"Transitivity: if A: PartialEq<B> and B: PartialEq<C> and A: PartialEq<C>, then a == b and b == c implies a == c\"",
        ..Law::NONE
    },
];
