//! serde's `Serialize` and `Deserialize`.

use super::{Confidence, Law, ONE, With};

pub const LAWS: &[Law] = &[Law {
    class: "law:Deserialize.reads_what_serialize_writes",
    title: "reads_what_serialize_writes",
    blames: ("Deserialize", "deserialize"),
    needs: &["std::cmp::PartialEq", "std::fmt::Debug"],
    // Whoever sets the parts may make what `Deserialize` is right to refuse.
    sealed: true,
    with: With::Serde,
    beside: Some("serde_json"),
    takes: ONE,
    // Outside of its texts, JSON has no number that is infinite (it is `null` then), and reads others with a point or an exponent not
    // always to the last digit: such a text says nothing.
    code: r#"{
        let json = serde_json::to_string({0}).unwrap_or_default();
        let outside = json.replace(r"\\", "").replace("\\\"", "").replace("true", "").replace("false", "");
        let exact = !outside.split('"').step_by(2).any(|part| part.contains(['.', 'e', 'n']));
        let judged = exact && !json.is_empty() && {*0} == {*0};
        let read = serde_json::from_str::<{T}>(&json);
        assert!(!judged || read.is_ok_and(|read| read == {*0}), "what `Serialize` writes, `Deserialize` reads");
    }"#,
    says: "what `Serialize` writes, `Deserialize` reads",
    source: "serde: a convention, for types that have both; its documentation does not demand it",
    confidence: Confidence::Hint,
    ..Law::NONE
}];
