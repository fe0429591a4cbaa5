//! `Hash`.

use super::{Law, TWO};

const HASH: &str = "std::hash::Hash";

pub const LAWS: &[Law] = &[Law {
    class: "law:Hash.agrees_with_eq",
    title: "agrees_with_eq",
    blames: ("Hash", "hash"),
    needs: &["std::cmp::Eq", HASH],
    written: &[HASH, "std::cmp::PartialEq"],
    takes: TWO,
    code: r#"{
        let hash = |value: &{T}| {
            let mut hasher = std::collections::hash_map::DefaultHasher::new();
            std::hash::Hash::hash(value, &mut hasher);
            std::hash::Hasher::finish(&hasher)
        };
        if {*0} == {*1} {
            assert_eq!(hash({0}), hash({1}), "equal values have equal hashes");
        }
    }"#,
    says: "equal values have equal hashes",
    source: "std::hash::Hash: \"k1 == k2 -> hash(k1) == hash(k2)\"",
    ..Law::NONE
}];
