//! `Display` and `FromStr`.

use super::{Law, ONE};

const DISPLAY: &str = "std::fmt::Display";
const FROM_STR: &str = "std::str::FromStr";

pub const LAWS: &[Law] = &[Law {
    class: "law:FromStr.reads_what_display_writes",
    title: "reads_what_display_writes",
    blames: ("FromStr", "from_str"),
    needs: &[DISPLAY, FROM_STR, "std::cmp::Eq"],
    written: &[DISPLAY, FROM_STR],
    sealed: true,
    takes: ONE,
    code: r#"{
        let text = {*0}.to_string();
        let lossy = text.contains(char::REPLACEMENT_CHARACTER);
        assert!(lossy || text.parse::<{T}>().is_ok_and(|read| read == {*0}), "what `Display` writes, `FromStr` reads back");
    }"#,
    says: "what `Display` writes, `FromStr` reads back",
    source: "std::str::FromStr: a convention, for types with `Eq` that have both",
    ..Law::NONE
}];
