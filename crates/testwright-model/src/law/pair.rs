//! Conversions that come in pairs by their names: `to_bytes` and `from_bytes`.

use super::{Confidence, Law, ONE, With};

pub const LAWS: &[Law] = &[Law {
    class: "law:from.to",
    title: "takes_back_what_it_gave",
    blames: ("", "{name}"),
    needs: &["std::cmp::Eq"],
    // Parts that others have set may be more than the other form can hold.
    sealed: true,
    with: With::Pair,
    takes: ONE,
    code: r#"{
        let converted = {to};
        let back = {from};
        assert!({kept}, "what was converted is converted back");
    }"#,
    says: "what was converted is converted back",
    source: "std's numbers: `to_be_bytes` and `from_be_bytes`, `to_bits` and `from_bits`; a convention elsewhere",
    confidence: Confidence::Hint,
    ..Law::NONE
}];
