//! Maps and sets by the names of their methods: what was put in is found, what was taken out is not.

use super::{Confidence, Law, MOVED, With};

const SOURCE: &str = "std's maps and sets, for methods with their names and signatures";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:insert.get",
        title: "finds_what_was_inserted",
        blames: ("", "insert"),
        unbounded: true,
        with: With::Map(&["get"]),
        takes: MOVED,
        code: r#"{
            let mut map = {0};
            let _ = map.insert({key}, {value});
            assert!(map.get({get}) == Some({2}), "`get` finds what was inserted");
        }"#,
        says: "`get` finds what was inserted",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
    Law {
        class: "law:insert.contains_key",
        title: "contains_the_key_that_was_inserted",
        blames: ("", "insert"),
        unbounded: true,
        with: With::Map(&["contains_key"]),
        takes: MOVED,
        code: r#"{
            let mut map = {0};
            let _ = map.insert({key}, {value});
            assert!(map.contains_key({contains_key}), "a key that was inserted is contained");
        }"#,
        says: "a key that was inserted is contained",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
    Law {
        class: "law:remove.get",
        title: "does_not_find_what_was_removed",
        blames: ("", "remove"),
        with: With::Map(&["get", "remove"]),
        takes: MOVED,
        code: r#"{
            let mut map = {0};
            let _ = map.insert({key}, {value});
            let _ = map.remove({remove});
            assert!(map.get({get}).is_none(), "`get` does not find what was removed");
        }"#,
        says: "`get` does not find what was removed",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
    Law {
        class: "law:remove.contains_key",
        title: "does_not_contain_the_key_that_was_removed",
        blames: ("", "remove"),
        with: With::Map(&["contains_key", "remove"]),
        takes: MOVED,
        code: r#"{
            let mut map = {0};
            let _ = map.insert({key}, {value});
            let _ = map.remove({remove});
            assert!(!map.contains_key({contains_key}), "a key that was removed is not contained");
        }"#,
        says: "a key that was removed is not contained",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
    Law {
        class: "law:insert.remove",
        title: "removes_what_was_inserted",
        blames: ("", "remove"),
        with: With::Removal,
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            if items.insert({new}) {
                assert!(items.remove({gone}), "`remove` tells that it found what was inserted");
            }
        }"#,
        says: "`remove` tells that it found what was inserted",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
    Law {
        class: "law:remove.contains",
        title: "does_not_contain_what_was_removed",
        blames: ("", "remove"),
        with: With::Removal,
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            let _ = items.insert({new});
            let _ = items.remove({gone});
            assert!(!items.contains({same}), "what was removed is not contained");
        }"#,
        says: "what was removed is not contained",
        source: SOURCE,
        confidence: Confidence::Hint,
        ..Law::NONE
    },
];
