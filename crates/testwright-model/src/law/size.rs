//! `len` and `is_empty`, which are no trait's but mean the same everywhere.

use super::{Law, ONE};

pub const LAWS: &[Law] = &[Law {
    class: "law:len.is_empty",
    title: "is_empty_if_its_len_is_0",
    blames: ("", "is_empty"),
    methods: &["len(&self) -> usize", "is_empty(&self) -> bool"],
    takes: ONE,
    code: r#"{
        let len = {*0}.len();
        assert_eq!({*0}.is_empty(), len == 0, "`is_empty` if and only if `len` is 0");
    }"#,
    says: "`is_empty` if and only if `len` is 0",
    source: "std's collections, and ExactSizeIterator::is_empty",
    ..Law::NONE
}];
