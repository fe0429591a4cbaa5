//! `Clone`.

use super::{Law, MOVED, ONE, TWO, With};

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
    Law {
        class: "law:Clone.independent",
        title: "is_independent_of_its_source",
        blames: ("Clone", "clone"),
        needs: &[CLONE, "std::cmp::Eq"],
        written: &[CLONE],
        with: With::Change,
        takes: TWO,
        // Another value tells whether one has changed: a second clone would change with it.
        code: r#"{
            let mut copy = Clone::clone({0});
            let second = Clone::clone(&copy);
            if {*0} == {*1} && second == {*1} {
                {let}copy.{m}({args});
                assert!({*0} == {*1}, "a change of a clone leaves its source as it was");
                assert!(second == {*1}, "a change of a clone leaves its source as it was, and its own clones");
            }
        }"#,
        says: "a change of a clone leaves its source as it was",
        source: "std::clone::Clone: \"explicitly duplicate an object\", for types with `Eq` that are changed through `&mut`",
        ..Law::NONE
    },
    Law {
        class: "law:Clone.same_items",
        title: "gives_the_items_of_its_source",
        blames: ("Clone", "clone"),
        needs: &[CLONE, "std::iter::Iterator"],
        written: &[CLONE],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let copied: Vec<String> = items.clone().take(1000).map(|item| format!("{item:?}")).collect();
            let own: Vec<String> = items.take(1000).map(|item| format!("{item:?}")).collect();
            assert!(shares || own.len() == 1000 || copied == own, "a clone gives the items of its source: {copied:?}, not {own:?}");
        }"#,
        says: "a clone gives the items of its source: ",
        source: "std::clone::Clone: \"explicitly duplicate an object\"",
        ..Law::NONE
    },
];
