//! `Clone`.

use super::{Law, ONE, TWO};

const CLONE: &str = "std::clone::Clone";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:Clone.equals_its_source",
        title: "equals_its_source",
        blames: ("Clone", "clone"),
        needs: &[CLONE, "std::cmp::Eq"],
        written: &[CLONE, "std::cmp::PartialEq"],
        takes: ONE,
        code: r#"{
            let copy = Clone::clone({0});
            assert!(copy == {*0} || !PartialEq::eq({0}, {0}), "a clone equals its source");
        }"#,
        says: "a clone equals its source",
        source: "std::clone::Clone: \"x.clone() == x\"",
        ..Law::NONE
    },
    Law {
        class: "law:Clone.clone_from",
        title: "has_clone_from_like_clone",
        blames: ("Clone", "clone_from"),
        needs: &[CLONE, "std::cmp::Eq"],
        written: &[CLONE],
        overrides: &["clone_from"],
        takes: TWO,
        code: r#"{
            let mut copy = Clone::clone({1});
            Clone::clone_from(&mut copy, {0});
            let clone = Clone::clone({0});
            assert!(copy == clone || !PartialEq::eq({0}, {0}), "`a.clone_from(b)` is `a = b.clone()`");
        }"#,
        says: "`a.clone_from(b)` is `a = b.clone()`",
        source: "std::clone::Clone::clone_from: \"equivalent to a = b.clone() in functionality\"",
        ..Law::NONE
    },
];
