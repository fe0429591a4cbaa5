//! What the compiler rejects is dropped with its words, and nothing else.

mod common;

use std::fs;

use common::{Bed, Draft, manifest};
use testwright_harness::{Variant, prepare};

const SHELF: &str = r#"
pub struct Shelf<T>(Vec<T>);
impl<T: Clone> Shelf<T> {
    pub fn new() -> Self { Shelf(Vec::new()) }
    pub fn len(&self) -> usize { self.0.len() }
    pub fn push(&mut self, value: T) { self.0.push(value) }
    pub fn first(&self) -> Option<&T> { self.0.first() }
}
pub struct NotClone;
pub struct Small<const N: usize>;
impl<const N: usize> Small<N> {
    const FITS: () = assert!(N < 4, "too large");
    pub fn new() -> Self { let () = Self::FITS; Small }
    pub fn indirect() -> Self { inner::<N>() }
}
fn inner<const N: usize>() -> Small<N> { Small::new() }
mod hidden { pub struct Private; }
"#;

#[test]
fn each_bad_operation_goes_alone_with_the_compilers_words() {
    let bed = Bed::new(&[("Cargo.toml", &manifest("shelf", "")), ("src/lib.rs", SHELF)]);
    let before = bed.snapshot();
    let mut draft = Draft::new(&[
        "shelf::Shelf<u8>",
        "usize",
        "shelf::Shelf<shelf::NotClone>",
        "shelf::hidden::Private",
        "shelf::Small<2>",
        "shelf::Small<9>",
    ]);
    let good = draft.make(0, "shelf::Shelf::<u8>::new()", &["let _ = shelf::Shelf::<u8>::new();"]);
    let unknown = draft.make(1, "shelf::Shelf::<u8>::new().size()", &[]);
    let bound = draft.make(2, "shelf::Shelf::<shelf::NotClone>::new()", &[]);
    let private = draft.make(3, "loop {}", &[]);
    let borrow = "let mut s = shelf::Shelf::<u8>::new(); let f = s.first(); s.push(1); drop(f);";
    let no_print = draft.make(1, "1", &[borrow]);
    let second_print =
        draft.make(1, "2", &["let x: u8 = shelf::Shelf::<u8>::new().len();", borrow, "let _ = 2;"]);
    let fits = draft.make(4, "shelf::Small::<2>::new()", &[]);
    let too_large = draft.make(5, "shelf::Small::<9>::new()", &[]);
    let deep = draft.make(5, "shelf::Small::<9>::indirect()", &[]);

    let (subject, places) = (bed.locate(), bed.places());
    let harness = prepare(&subject, &draft.source, &places).unwrap_or_else(|error| panic!("{error}"));
    let pruned = harness.pruned();
    println!("{pruned:#?}");
    let rejected: Vec<usize> = pruned.rejected.keys().copied().collect();
    assert_eq!(rejected, [unknown, bound, private, no_print]);
    assert!(pruned.rejected[&unknown].starts_with("E0599: no method named `size`"));
    assert!(pruned.rejected[&bound].starts_with("E0599") || pruned.rejected[&bound].starts_with("E0277"));
    assert!(pruned.rejected[&private].contains("E0603"));
    assert!(pruned.rejected[&no_print].starts_with("printed form rejected: E0502"));
    assert_eq!(pruned.rejected_types.keys().copied().collect::<Vec<_>>(), [3]);
    assert_eq!(pruned.chosen_check[good], Some(0));
    assert_eq!(pruned.chosen_check[second_print], Some(2));
    assert_eq!(pruned.chosen_check[fits], None);

    let built = harness.build(&Variant::quick()).unwrap_or_else(|error| panic!("{error}"));
    assert!(built.binary.exists() && !built.cached);
    println!("{built:#?}");
    assert_eq!(built.rejected_late.keys().copied().collect::<Vec<_>>(), [too_large, deep]);
    assert!(built.rejected_late[&too_large].contains("too large"));

    let again = prepare(&bed.locate(), &draft.source, &places).unwrap_or_else(|error| panic!("{error}"));
    assert!(again.pruned().cached);
    assert_eq!(again.pruned().rejected, pruned.rejected);
    let rebuilt = again.build(&Variant::quick()).unwrap_or_else(|error| panic!("{error}"));
    assert!(rebuilt.cached);
    assert_eq!(rebuilt.rejected_late, built.rejected_late);
    assert_eq!(bed.snapshot(), before, "the user's tree is untouched, no lock file appears");
}

#[test]
fn a_changed_source_is_seen() {
    let bed = Bed::new(&[("Cargo.toml", &manifest("shelf", "")), ("src/lib.rs", SHELF)]);
    let mut draft = Draft::new(&["usize"]);
    let number = draft.make(0, "shelf::added()", &[]);
    let first =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    assert!(first.pruned().rejected.contains_key(&number));
    bed.write("src/lib.rs", &format!("{SHELF}\npub fn added() -> usize {{ 1 }}\n"));
    let second =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    assert!(second.pruned().rejected.is_empty());
}

#[test]
fn an_unclosed_brace_does_not_take_others_along() {
    let bed = Bed::new(&[("Cargo.toml", &manifest("shelf", "")), ("src/lib.rs", SHELF)]);
    let mut draft = Draft::new(&["usize"]);
    draft.make(0, "1", &[]);
    let bad = draft.make(0, "{ { 2", &[]);
    draft.make(0, "3", &[]);
    let harness =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    println!("{:#?}", harness.pruned());
    assert_eq!(harness.pruned().rejected.keys().copied().collect::<Vec<_>>(), [bad]);
}

#[test]
fn other_crates_are_the_very_ones_that_the_subject_uses() {
    let bed = Bed::copy_of("fixtures/two-versions");
    let mut draft = Draft::new(&["itoa04::Buffer", "itoa1::Buffer", "usize"]);
    draft.source.foreign = ["itoa04", "itoa1", "core"].map(str::to_owned).to_vec();
    draft.make(0, "two_versions::old_buffer()", &["let _: itoa04::Buffer = two_versions::old_buffer();"]);
    draft.make(1, "two_versions::new_buffer()", &["let _: itoa1::Buffer = two_versions::new_buffer();"]);
    let wrong = draft.make(0, "two_versions::new_buffer()", &[]);
    let harness =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    let rejected = &harness.pruned().rejected;
    assert_eq!(rejected.keys().copied().collect::<Vec<_>>(), [wrong]);
    assert!(rejected[&wrong].starts_with("E0308: mismatched types"), "{rejected:?}");
    let lock = fs::read_to_string(harness.folder().join("Cargo.lock")).expect("written by cargo");
    let theirs = fs::read_to_string(bed.root().join("Cargo.lock")).expect("a part of the fixture");
    for line in theirs.lines().filter(|line| line.starts_with("checksum")) {
        assert!(lock.contains(line), "the same versions: {line}");
    }
}

#[test]
fn a_bad_prelude_is_our_own_fault() {
    let bed = Bed::new(&[("Cargo.toml", &manifest("shelf", "")), ("src/lib.rs", SHELF)]);
    let mut draft = Draft::new(&["usize"]);
    draft.make(0, "1", &[]);
    draft.source.prelude = "struct Helper(Unknown);".to_owned();
    let error = prepare(&bed.locate(), &draft.source, &bed.places()).expect_err("it cannot compile");
    assert_eq!(error.exit_code(), 70);
    assert!(error.to_string().contains("Unknown"), "{error}");
}
