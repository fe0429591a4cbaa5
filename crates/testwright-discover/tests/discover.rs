//! Crates in `tests/subjects` are documented by the compiler at hand and read; each case is a line of the listing that must be
//! there, or must not. To see a whole listing, run the example `dump` on a file that `cargo rustdoc` wrote.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use testwright_discover::{DiscoverError, Options, read};
use testwright_model::Api;

mod listing;

/// JSON of `tests/subjects/SUBJECT.rs` as the library `lib` of a package with another name.
fn document(subject: &str, edition: &str, lib: &str) -> String {
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/subjects");
    let package = tempfile::tempdir().expect("a scratch folder");
    let write =
        |file: &str, text: &str| std::fs::write(package.path().join(file), text).expect("scratch files");
    let manifest = |name: &str, lib: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n[lib]\nname = \"{lib}\"\npath = \"lib.rs\"\n{rest}"
        )
    };
    let source = |name: &str| std::fs::read_to_string(subjects.join(name)).expect("a subject");
    std::fs::create_dir(package.path().join("neighbour")).expect("scratch files");
    write(
        "Cargo.toml",
        &manifest("package-name", lib, "[workspace]\n[dependencies]\nneighbour = { path = \"neighbour\" }\n"),
    );
    write("lib.rs", &source(&format!("{subject}.rs")));
    write("neighbour/Cargo.toml", &manifest("neighbour", "neighbour", ""));
    write("neighbour/lib.rs", &source("neighbour.rs"));
    let output = Command::new(env!("CARGO"))
        .args(["rustdoc", "--offline", "--lib", "--target-dir", "target", "--"])
        .args([
            "-Z",
            "unstable-options",
            "--output-format",
            "json",
            "--document-hidden-items",
            "--cap-lints",
            "allow",
        ])
        .env("RUSTC_BOOTSTRAP", lib)
        .current_dir(package.path())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(package.path().join(format!("target/doc/{lib}.json"))).expect("rustdoc's file")
}

static ITEMS: LazyLock<String> = LazyLock::new(|| document("items", "2021", "items"));

fn api(json: &str) -> Api {
    read(json, &Options { version: "0.1.0".to_owned(), ..Options::default() }).expect("readable")
}

/// Every line of `expected` is in the listing; a line that begins with `no ` is not a part of any.
#[track_caller]
fn check(api: &Api, expected: &str) {
    let lines: Vec<String> = listing::lines(api).iter().map(|line| line.trim().to_owned()).collect();
    for case in expected.lines().map(str::trim).filter(|case| !case.is_empty()) {
        match case.strip_prefix("no ") {
            Some(absent) => {
                let found = lines.iter().find(|line| line.contains(absent));
                assert!(found.is_none(), "there should be no {absent}: {found:?}");
            }
            None => {
                assert!(lines.iter().any(|line| line == case), "missing: {case}\nin:\n{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn items_have_the_paths_that_users_write() {
    check(
        &api(&ITEMS),
        "
        struct items::Deeper(u8, -)
        struct items::Inner
        struct items::Shadowed
        struct items::Made
        fn Made::made(self: &items::Made) -> u8
        fn <Deeper as Clone>::clone(self: &items::Deeper) -> items::Deeper
        no struct items::deep
        no struct items::Renamed
        no struct items::cycle
        no again
        ",
    );
}

#[test]
fn aliases_and_left_out_arguments_are_written_out() {
    check(
        &api(&ITEMS),
        "
        fn items::aliases(a: std::vec::Vec<u8>, b: std::result::Result<u16, u8>, c: (&'static char, std::result::Result<char, u8>), d: std::result::Result<(), std::io::Error>, e: std::result::Result<(), std::fmt::Error>) -> std::result::Result<u8, items::Deeper>
        fn items::defaults<T>(a: items::Holder<'_, T, std::vec::Vec<u16>, 3>, b: &items::Holder<'_, T, u8, 3>, c: items::Holder<'_, T, u8, 9>, d: items::Chain<i8, std::option::Option<i8>, 8>) -> ()
        fn items::lengths<const N: usize>(a: [u8; 8], b: [u8; N], c: items::Holder<'static, u8, u8, 8>, d: items::Chain<u8, u8, N>) -> ()
        fn items::std_types(a: std::num::NonZero<u8>, b: std::sync::atomic::AtomicU8, c: std::collections::hash_map::Entry<'_, u8, u8>, d: std::ops::RangeInclusive<u8>, e: &mut dyn std::io::Read, f: std::iter::Peekable<std::str::Chars<'_>>) -> ()
        fn items::foreign(a: neighbour::Neighbour, b: &neighbour::inside::Far) -> ()
        foreign neighbour: neighbour::Neighbour, neighbour::inside::Far
        struct items::Held<T, const N: usize> { .. }
        impl<T, const N: usize> items::Storage for items::Held<T, N>
        struct items::Locked<T> { .. }
        fn items::held<T>(a: items::Held<T, 2>, b: &items::Locked<T>) -> ()
        no Hold<[
        ",
    );
}

#[test]
fn definitions_show_what_is_public() {
    check(
        &api(&ITEMS),
        "
        struct items::Holder<'a, T: ?Sized + 'a, U = std::vec::Vec<u16>, const N: usize = 3> { t: &'a T, array: [U; N], .. }
        struct items::Raw<T>(-, -)
        enum items::Kinds non_exhaustive
        Unit
        Tuple(u8, std::string::String) hidden
        Named { x: u8 } non_exhaustive
        union items::Both
        Const items::LEN: usize = 8usize
        Const items::TEXT: &'static str = \"a\\\"b\"
        StaticMut items::STATE: [u8; 8]
        hidden trait items::Sealed:  dyn
        trait items::Shape<P = Self>:
        type Out: std::clone::Clone + std::convert::Into<P>
        type Part<'a, X: 'a> where Self: 'a :
        required fn Shape::required(self: &Self, p: &P) -> <Self as items::Shape<P>>::Out
        fn Shape::provided where Self: std::marker::Sized (self: std::boxed::Box<Self>) -> std::option::Option<<Self as items::Shape<P>>::Out>
        required fn Shape::part<'b>(self: &'b Self) -> <Self as items::Shape<P>>::Part<'b, u8>
        hidden fn Shape::unseen(self: &Self) -> ()
        trait items::Sub: std::iter::Iterator + items::Shape<u8>
        required fn Sub::item(self: &Self) -> <Self as std::iter::Iterator>::Item
        required fn Sub::out(self: &Self) -> <Self as items::Shape<u8>>::Out
        required fn Sub::known<A: items::Shape<u8>>(a: A) -> <A as items::Shape<u8>>::Out
        ",
    );
}

#[test]
fn impls_are_told_apart_and_speak_of_their_own_type() {
    check(
        &api(&ITEMS),
        "
        impl items::Walker
        panicking const fn Walker::new(start: u8) -> items::Walker
        fn Walker::boxed(self: std::boxed::Box<items::Walker>) -> std::rc::Rc<items::Walker>
        fn Walker::pinned(self: std::pin::Pin<&mut items::Walker>, arg1: (u8, u8), arg2: u8) -> ()
        derived impl std::clone::Clone for items::Walker
        fn <Walker as Iterator>::next(self: &mut items::Walker) -> std::option::Option<u8>
        impl<'a> std::iter::IntoIterator for &'a items::Walker
        type IntoIter = std::vec::IntoIter<std::option::Option<&'a items::Walker>>
        fn <&Walker as IntoIterator>::into_iter(self: &'a items::Walker) -> std::vec::IntoIter<std::option::Option<&'a items::Walker>>
        impl items::Shape<items::Walker> for items::Walker
        fn <Walker as Shape>::required(self: &items::Walker, p: &items::Walker) -> items::Walker
        fn <Walker as Shape>::part<'b>(self: &'b items::Walker) -> &'b u8
        Const <Walker as Shape>::SIDES: usize = 8
        impl std::cmp::PartialEq<items::Chain<u8, std::option::Option<u8>, 8>> for items::Walker
        impl std::convert::From<items::Walker> for u64
        fn <u64 as From>::from(walker: items::Walker) -> u64
        blanket impl<T: std::clone::Clone + ?Sized> items::Simple for T
        impl items::Simple for [items::Chain<u8, std::option::Option<u8>, 8>]
        impl items::Sealed for items::Walker
        impl<T: std::marker::Sync> std::marker::Sync for items::Raw<T>
        negative synthetic impl<T> std::marker::Send for items::Raw<T>
        synthetic impl std::marker::Send for items::Walker
        no fn Walker::secret
        no fn Walker::unseen
        no std::convert::Into<U>
        no Everywhere
        no std::marker::Freeze
        ",
    );
}

#[test]
fn functions_keep_bounds_and_flags() {
    check(
        &api(&ITEMS),
        "
        fn items::callbacks(a: impl std::ops::Fn(&u8,) -> u16 + 'static, b: &mut dyn std::ops::FnMut(), c: std::boxed::Box<dyn std::ops::Fn(&str,) -> &str + std::marker::Send + 'static>, d: fn(&u8) -> u8) -> impl std::iter::Iterator<Item = u8>
        fn items::higher<F> where F: for<'a> std::ops::Fn(&'a u8,) -> &'a u8, for<'b> &'b F: std::clone::Clone (f: F) -> ()
        fn items::equal<I: std::iter::Iterator, J: std::iter::Iterator<Item = <I as std::iter::Iterator>::Item>>(i: I, j: J) -> ()
        async fn items::later(text: &str) -> u8
        panicking unsafe fn items::unsound(p: *const u8, q: unsafe extern fn(u8)) -> !
        deprecated fn items::old() -> ()
        ",
    );
    let walker =
        api(&ITEMS).impls.into_iter().flat_map(|def| def.methods).find(|method| method.path == "Walker::new");
    let docs = walker.expect("it is there").docs;
    assert_eq!(docs.panics.as_deref(), Some("If `start` is odd."));
    assert_eq!(docs.examples, ["use items::Walker;\nWalker::new(2);"]);
}

#[test]
fn what_is_left_out_has_a_reason() {
    check(
        &api(&ITEMS),
        "
        skipped struct items::Neighbour: re-export of another crate's neighbour::Neighbour
        skipped module items::*: re-export of another crate's neighbour
        skipped struct items::cursor::Cursor: re-export of another crate's std::io::cursor::Cursor
        skipped extern crate items::next_door: re-export of another crate
        skipped macro items::exported: macro
        skipped function items::unseen: hidden from documentation
        skipped function items::unseen_module::function: hidden from documentation
        skipped function Walker::unseen: hidden from documentation
        ",
    );
    let all = read(&ITEMS, &Options { include_hidden: true, ..Options::default() }).expect("readable");
    check(
        &all,
        "
        hidden fn items::unseen() -> ()
        hidden fn items::unseen_module::function() -> ()
        hidden fn Walker::unseen(self: &items::Walker) -> ()
        ",
    );
}

#[test]
fn another_crates_item_has_the_path_that_was_found_for_it() {
    let public = BTreeMap::from([("neighbour::inside::Far".to_owned(), "neighbour::Far".to_owned())]);
    check(
        &read(&ITEMS, &Options { public, ..Options::default() }).expect("readable"),
        "
        fn items::foreign(a: neighbour::Neighbour, b: &neighbour::Far) -> ()
        foreign neighbour: neighbour::Far, neighbour::Neighbour
        ",
    );
}

#[test]
fn every_edition_reads_the_same() {
    let listings = ["2015", "2018", "2024"].map(|edition| {
        let api = api(&document("editions", edition, "of_years"));
        check(
            &api,
            "
            struct of_years::Dog<'a> { name: &'a str }
            required fn Speak::say(self: &Self, times: u8) -> std::string::String
            fn <Dog as Speak>::say(self: &of_years::Dog<'a>, times: u8) -> std::string::String
            fn of_years::speaker(name: &str) -> std::boxed::Box<dyn of_years::Speak>
            ",
        );
        listing::lines(&api)
    });
    assert_eq!(listings[0], listings[1]);
    assert_eq!(listings[1], listings[2]);
}

#[test]
fn crates_without_std_name_std_all_the_same() {
    check(
        &api(&document("bare", "2021", "bare")),
        "
        fn bare::sort(items: std::vec::Vec<u8>, by: &std::collections::BTreeMap<u8, u8>) -> std::option::IntoIter<std::string::String>
        impl std::fmt::Display for bare::Word
        fn <Word as Display>::fmt(self: &bare::Word, f: &mut std::fmt::Formatter<'_>) -> std::result::Result<(), std::fmt::Error>
        ",
    );
}

#[test]
fn two_readings_are_identical() {
    assert_eq!(api(&ITEMS), api(&ITEMS));
}

#[test]
fn older_formats_give_the_same_api() {
    let mut json: Value = serde_json::from_str(&ITEMS).expect("JSON");
    json["format_version"] = 45.into();
    age(&mut json);
    assert_eq!(api(&json.to_string()), api(&ITEMS));
}

/// Takes back what formats 51 (bare paths have no arguments) and 54 (attributes have structure) changed.
fn age(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if name == "args" && value.is_null() {
                    *value = serde_json::json!({ "angle_bracketed": { "args": [], "constraints": [] } });
                }
                if let ("attrs", Value::Array(attrs)) = (name.as_str(), &mut *value) {
                    for attr in attrs {
                        *attr = match attr.as_str() {
                            Some(word) => format!("#[{word}]").into(),
                            None => attr["other"].clone(),
                        };
                    }
                }
                age(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(age),
        _ => {}
    }
}

#[test]
fn unknown_kinds_are_kept_as_such() {
    let strange = ITEMS.replace("\"raw_pointer\":", "\"sigil\":").replace("\"macro\":", "\"spell\":");
    check(
        &api(&strange),
        "
        panicking unsafe fn items::unsound(p: sigil, q: unsafe extern fn(u8)) -> !
        skipped spell items::exported: spell is not supported
        ",
    );
}

#[test]
fn unknown_formats_are_refused_with_advice() {
    let refuse = |json: &str| read(json, &Options::default()).expect_err("refused");
    let old = refuse(r#"{"format_version": 12}"#);
    assert!(
        matches!(old, DiscoverError::Format { found: 12, .. }) && old.to_string().contains("too old"),
        "{old}"
    );
    let new = refuse(r#"{"format_version": 999}"#);
    assert!(new.to_string().contains("newer than it knows"), "{new}");
    assert!(matches!(refuse("no JSON"), DiscoverError::NotJson(_)));
    assert!(matches!(refuse(r#"{"format_version": 57}"#), DiscoverError::Shape { format: 57, .. }));
}
