//! `PartialEq` and `Eq`.

use super::{Law, ONE, THREE, TWO};

const EQ: &str = "std::cmp::Eq";
const PARTIAL_EQ: &str = "std::cmp::PartialEq";

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
];
