//! Ways to refer to what is inside: `Deref` and `DerefMut`, `AsRef`, `AsMut` and `Borrow`.

use super::{Law, MOVED, ONE, Other, With};

const AS_REF: &str = "std::convert::AsRef";
const DEREF: &str = "std::ops::Deref";
const DEREF_MUT: &str = "std::ops::DerefMut";
const EQ: &str = "std::cmp::Eq";
const DEBUG: &str = "std::fmt::Debug";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:DerefMut.deref",
        title: "leads_where_deref_leads",
        blames: ("DerefMut", "deref_mut"),
        needs: &[DEREF, DEREF_MUT],
        written: &[DEREF_MUT],
        with: With::Target,
        takes: MOVED,
        code: r#"{
            let mut owner = {0};
            let seen = format!("{:?}", std::ops::Deref::deref(&owner));
            let changeable = format!("{:?}", std::ops::DerefMut::deref_mut(&mut owner));
            assert_eq!(changeable, seen, "`Deref` and `DerefMut` lead to the same");
        }"#,
        says: "`Deref` and `DerefMut` lead to the same",
        source: "std::ops::DerefMut: \"values are used through deref_mut in mutable contexts\", where Deref is used in immutable ones",
        ..Law::NONE
    },
    Law {
        class: "law:AsRef.deref",
        title: "gives_what_deref_gives",
        blames: ("AsRef", "as_ref"),
        needs: &[DEREF],
        with: With::Other(Other { of: AS_REF, target: true, needs: &[EQ], ..Other::NONE }),
        takes: ONE,
        code: r#"{
            let (converted, inside): (&{U}, &{U}) = (std::convert::AsRef::as_ref({0}), std::ops::Deref::deref({0}));
            assert!(*converted == *inside, "`AsRef` gives what `Deref` gives");
        }"#,
        says: "`AsRef` gives what `Deref` gives",
        source: "std::convert::AsRef: \"many smart pointers provide an as_ref implementation which simply returns a reference to the pointed-to value\"",
        ..Law::NONE
    },
    Law {
        class: "law:AsRef.borrow",
        title: "gives_what_borrow_gives",
        blames: ("AsRef", "as_ref"),
        with: With::Other(Other { of: AS_REF, also: &["std::borrow::Borrow"], needs: &[EQ], ..Other::NONE }),
        takes: ONE,
        code: r#"{
            let (converted, borrowed): (&{U}, &{U}) = (std::convert::AsRef::as_ref({0}), std::borrow::Borrow::borrow({0}));
            assert!(*converted == *borrowed, "`AsRef` gives what `Borrow` gives");
        }"#,
        says: "`AsRef` gives what `Borrow` gives",
        source: "std::convert::AsRef, Relation to Borrow: the same, but that Borrow demands more",
        ..Law::NONE
    },
    Law {
        class: "law:AsMut.as_ref",
        title: "gives_what_as_ref_gives",
        blames: ("AsMut", "as_mut"),
        with: With::Other(Other {
            of: "std::convert::AsMut",
            also: &[AS_REF],
            needs: &[DEBUG],
            ..Other::NONE
        }),
        takes: MOVED,
        code: r#"{
            let mut owner = {0};
            let seen = format!("{:?}", <{T} as std::convert::AsRef<{U}>>::as_ref(&owner));
            let changeable = format!("{:?}", <{T} as std::convert::AsMut<{U}>>::as_mut(&mut owner));
            assert_eq!(changeable, seen, "`AsRef` and `AsMut` give the same");
        }"#,
        says: "`AsRef` and `AsMut` give the same",
        source: "std::convert::AsMut: \"similar to AsRef but used for converting between mutable references\"",
        ..Law::NONE
    },
];
