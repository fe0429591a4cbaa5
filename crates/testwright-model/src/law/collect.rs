//! Collections: what goes in by `FromIterator` and `Extend`, what comes out by `IntoIterator`, and what is in a set.

use super::{Law, MOVED, Other, Value, With};

const INTO_ITERATOR: &str = "std::iter::IntoIterator";
const EXTEND: &str = "std::iter::Extend";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:IntoIterator.lent",
        title: "lends_the_items_that_it_gives",
        blames: ("IntoIterator", "into_iter"),
        needs: &[INTO_ITERATOR],
        written: &[INTO_ITERATOR],
        with: With::Items { mutable: false },
        takes: MOVED,
        // In any order: that of a heap may be its inner one for references alone.
        code: r#"{
            let items = {0};
            let mut lent: Vec<String> = (&items).into_iter().take(1000).map(|item| format!("{item:?}")).collect();
            let mut given: Vec<String> = items.into_iter().take(1000).map(|item| format!("{item:?}")).collect();
            lent.sort();
            given.sort();
            assert!(given.len() == 1000 || given == lent, "what is lent is what is given: {lent:?}, not {given:?}");
        }"#,
        says: "what is lent is what is given: ",
        source: "std::iter::IntoIterator, for a collection and for a reference to it",
        ..Law::NONE
    },
    Law {
        class: "law:IntoIterator.lent_for_change",
        title: "lends_the_same_items_for_change",
        blames: ("IntoIterator", "into_iter"),
        with: With::Items { mutable: true },
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            let mut lent: Vec<String> = (&items).into_iter().take(1000).map(|item| format!("{item:?}")).collect();
            let mut changeable: Vec<String> = (&mut items).into_iter().take(1000).map(|item| format!("{item:?}")).collect();
            lent.sort();
            changeable.sort();
            assert!(lent.len() == 1000 || changeable == lent, "what is lent for change is what is lent: {changeable:?}, not {lent:?}");
        }"#,
        says: "what is lent for change is what is lent: ",
        source: "std::iter::IntoIterator, for a shared and a mutable reference",
        ..Law::NONE
    },
    Law {
        class: "law:Extend.from_iter",
        title: "agrees_with_from_iter",
        blames: ("Extend", "extend"),
        needs: &["std::default::Default", "std::cmp::Eq"],
        unbounded: true,
        with: With::Other(Other {
            of: EXTEND,
            collected: true,
            needs: &["std::clone::Clone"],
            takes: Value::Items,
            ..Other::NONE
        }),
        // A default that is not empty has more than what is collected.
        code: r#"{
            let items = {0};
            let mut extended = <{T}>::default();
            if extended == std::iter::empty::<{U}>().collect::<{T}>() {
                extended.extend(items.clone());
                assert!(extended == items.into_iter().collect::<{T}>(), "to extend what is empty is to collect");
            }
        }"#,
        says: "to extend what is empty is to collect",
        source: "std::iter::Extend and FromIterator: \"extends a collection with the contents of an iterator\", \"creates a value from an iterator\"",
        ..Law::NONE
    },
    Law {
        class: "law:insert.contains",
        title: "contains_what_was_inserted",
        blames: ("", "insert"),
        with: With::Insertion,
        takes: MOVED,
        // Whoever has no room for it says so by `false`.
        code: r#"{
            let mut items = {0};
            if items.insert({new}) {
                assert!(items.contains({same}), "what was inserted is contained");
            }
        }"#,
        says: "what was inserted is contained",
        source: "std's sets: `insert` says whether the value was newly inserted",
        ..Law::NONE
    },
];
