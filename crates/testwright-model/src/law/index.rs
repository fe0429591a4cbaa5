//! Ways to reach the same item: `[]`, `get` and `get_mut`.

use super::{Law, MOVED, ONE};

const INDEX: &str = "std::ops::Index<usize>";
const INDEX_MUT: &str = "std::ops::IndexMut<usize>";
const LEN: &str = "len(&self) -> usize";
const GET: &str = "get(&self, usize) -> std::option::Option<&";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:Index.get",
        title: "agrees_with_get",
        blames: ("Index", "index"),
        needs: &[INDEX],
        written: &[INDEX],
        methods: &[LEN, GET],
        takes: ONE,
        // Where `get` gives nothing, an index may panic.
        code: r#"{
            for index in 0..{*0}.len().min(16) {
                if let Some(item) = {*0}.get(index) {
                    let same = *item == {*0}[index] || !PartialEq::eq(item, item);
                    assert!(same, "`[index]` is what `get(index)` gives");
                }
            }
        }"#,
        says: "`[index]` is what `get(index)` gives",
        source: "std's collections: `get` is `Index` without its panic",
        ..Law::NONE
    },
    Law {
        class: "law:IndexMut.agrees",
        title: "agrees_with_index",
        blames: ("IndexMut", "index_mut"),
        needs: &[INDEX, INDEX_MUT],
        written: &[INDEX_MUT],
        methods: &[LEN, GET],
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            for index in 0..items.len().min(16) {
                if items.get(index).is_some() {
                    let item = format!("{:?}", items[index]);
                    let changeable = format!("{:?}", &mut items[index]);
                    assert_eq!(changeable, item, "`Index` and `IndexMut` lead to the same item");
                }
            }
        }"#,
        says: "`Index` and `IndexMut` lead to the same item",
        source: "std::ops::IndexMut: `container[index]`, in mutable contexts",
        ..Law::NONE
    },
    Law {
        class: "law:get_mut.get",
        title: "has_get_mut_like_get",
        blames: ("", "get_mut"),
        methods: &[LEN, GET, "get_mut(&mut self, usize) -> std::option::Option<&mut "],
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            for index in 0..items.len().min(16) + 1 {
                let item = format!("{:?}", items.get(index));
                let changeable = format!("{:?}", items.get_mut(index));
                assert_eq!(changeable, item, "`get` and `get_mut` lead to the same item");
            }
        }"#,
        says: "`get` and `get_mut` lead to the same item",
        source: "std's collections: `get_mut` is `get` for a change",
        ..Law::NONE
    },
];
