//! Families of methods for numbers: what `checked_add` and its like give, the others give too.

use super::{Law, ONE, With};

const CLONE: &str = "std::clone::Clone";
const SOURCE: &str = "std's numbers: they differ only where the result does not fit";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:checked.wrapping",
        title: "wraps_only_what_does_not_fit",
        blames: ("", "wrapping_{m}"),
        needs: &[CLONE],
        with: With::Family("wrapping_"),
        takes: ONE,
        code: r#"{
            if let Some(exact) = Clone::clone({0}).checked_{m}({args}) {
                assert!(Clone::clone({0}).wrapping_{m}({args}) == exact, "what fits is not wrapped");
            }
        }"#,
        says: "what fits is not wrapped",
        source: SOURCE,
        ..Law::NONE
    },
    Law {
        class: "law:checked.saturating",
        title: "saturates_only_what_does_not_fit",
        blames: ("", "saturating_{m}"),
        needs: &[CLONE],
        with: With::Family("saturating_"),
        takes: ONE,
        code: r#"{
            if let Some(exact) = Clone::clone({0}).checked_{m}({args}) {
                assert!(Clone::clone({0}).saturating_{m}({args}) == exact, "what fits does not saturate");
            }
        }"#,
        says: "what fits does not saturate",
        source: SOURCE,
        ..Law::NONE
    },
    Law {
        class: "law:checked.overflowing",
        title: "overflows_only_with_what_does_not_fit",
        blames: ("", "overflowing_{m}"),
        needs: &[CLONE],
        with: With::Family("overflowing_"),
        takes: ONE,
        code: r#"{
            if let Some(exact) = Clone::clone({0}).checked_{m}({args}) {
                assert!(Clone::clone({0}).overflowing_{m}({args}) == (exact, false), "what fits does not overflow");
            }
        }"#,
        says: "what fits does not overflow",
        source: SOURCE,
        ..Law::NONE
    },
];
