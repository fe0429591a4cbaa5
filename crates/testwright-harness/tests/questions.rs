//! The compiler says of each question by itself whether it is so, about the very crates that the subject is built on.

mod common;

use common::{Bed, manifest};
use testwright_harness::ask;

const NEAR: &str = "
mod inside { pub struct Far; pub trait Whole {} impl Whole for u8 {} }
pub use inside::{Far, Whole};
";

#[test]
fn each_question_has_its_own_answer() {
    let rest = "[dependencies]\nnear = { path = \"near\" }\n[workspace]\n";
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("shelf", rest)),
        ("src/lib.rs", "pub fn far() -> near::Far { near::Far }"),
        ("near/Cargo.toml", &manifest("near", "")),
        ("near/src/lib.rs", NEAR),
    ]);
    let before = bed.snapshot();
    let pieces = [
        "use near::inside::Far as Found;",
        "use near::Far as Found;",
        "use near::prelude::Far as Found;",
        "fn has<T: near::Whole>() {} fn ask() { has::<u8>() }",
        "fn has<T: near::Whole>() {}\nfn ask() { has::<f64>() }",
        "use elsewhere::Far as Found;",
    ]
    .map(str::to_owned);
    let (subject, places) = (bed.locate(), bed.places());
    let foreign = ["near", "elsewhere"].map(str::to_owned);
    let answers = || ask(&subject, &foreign, &pieces, &places).unwrap_or_else(|error| panic!("{error}"));
    let expected = [false, true, false, true, false, false];
    assert_eq!(answers(), expected);
    assert_eq!(answers(), expected, "those that were kept");
    assert_eq!(bed.snapshot(), before);
}
