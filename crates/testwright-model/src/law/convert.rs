//! `From` and `TryFrom`.

use super::{Law, ONE, Other, With};

pub const LAWS: &[Law] = &[Law {
    class: "law:From.recovered",
    title: "recovers_what_from_converted",
    blames: ("TryFrom", "try_from"),
    needs: &["std::clone::Clone", "std::cmp::Eq"],
    // Of `Other(3)` and `Three` one is not made by the type itself.
    sealed: true,
    // What a float has lost by rounding is not recovered; and a type with more to it, such as a time, may leave out what the other cannot hold.
    with: With::Other(Other {
        of: "std::convert::TryFrom",
        back: &["std::convert::From"],
        plain: true,
        ..Other::NONE
    }),
    takes: ONE,
    code: r#"{
        let converted = <{U} as From<{T}>>::from(Clone::clone({0}));
        let recovered = <{T} as std::convert::TryFrom<{U}>>::try_from(converted);
        assert!(recovered.is_ok_and(|value| value == {*0}), "`TryFrom` recovers what `From` converted");
    }"#,
    says: "`TryFrom` recovers what `From` converted",
    source: "std::convert::From: \"lossless\", as in \"the original value can be recovered using u16: TryFrom<i32>\"",
    ..Law::NONE
}];
