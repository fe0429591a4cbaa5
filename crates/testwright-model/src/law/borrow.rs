//! `Borrow`.

use super::{Law, ONE, Other, TWO, With};

const BORROW: &str = "std::borrow::Borrow";
const EQ: &str = "std::cmp::Eq";
const ORD: &str = "std::cmp::Ord";
const HASH: &str = "std::hash::Hash";
const SOURCE: &str =
    "std::borrow::Borrow: \"Eq, Ord and Hash must be equivalent for borrowed and owned values\"";

const fn borrowed(needs: &'static [&'static str]) -> With {
    With::Other(Other { of: BORROW, needs, ..Other::NONE })
}

pub const LAWS: &[Law] = &[
    Law {
        class: "law:Borrow.eq",
        title: "is_equal_as_it_is_borrowed",
        blames: ("Borrow", "borrow"),
        needs: &[EQ],
        with: borrowed(&[EQ]),
        takes: TWO,
        code: r#"{
            let (one, other): (&{U}, &{U}) = (std::borrow::Borrow::borrow({0}), std::borrow::Borrow::borrow({1}));
            assert_eq!(*one == *other, {*0} == {*1}, "borrowed values are equal if and only if their owners are");
        }"#,
        says: "borrowed values are equal if and only if their owners are",
        source: SOURCE,
        ..Law::NONE
    },
    Law {
        class: "law:Borrow.ord",
        title: "is_ordered_as_it_is_borrowed",
        blames: ("Borrow", "borrow"),
        needs: &[ORD],
        with: borrowed(&[ORD]),
        takes: TWO,
        code: r#"{
            let (one, other): (&{U}, &{U}) = (std::borrow::Borrow::borrow({0}), std::borrow::Borrow::borrow({1}));
            assert_eq!(Ord::cmp(one, other), Ord::cmp({0}, {1}), "borrowed values have the order of their owners");
        }"#,
        says: "borrowed values have the order of their owners",
        source: SOURCE,
        ..Law::NONE
    },
    Law {
        class: "law:Borrow.hash",
        title: "has_the_hash_of_what_is_borrowed",
        blames: ("Borrow", "borrow"),
        // Without `Eq` nobody looks it up.
        needs: &[EQ, HASH],
        with: borrowed(&[EQ, HASH]),
        takes: ONE,
        code: r#"{
            let borrowed: &{U} = std::borrow::Borrow::borrow({0});
            let (mut one, mut other) = (std::collections::hash_map::DefaultHasher::new(), std::collections::hash_map::DefaultHasher::new());
            std::hash::Hash::hash({0}, &mut one);
            std::hash::Hash::hash(borrowed, &mut other);
            assert_eq!(std::hash::Hasher::finish(&one), std::hash::Hasher::finish(&other), "a borrowed value has its owner's hash");
        }"#,
        says: "a borrowed value has its owner's hash",
        source: SOURCE,
        ..Law::NONE
    },
];
