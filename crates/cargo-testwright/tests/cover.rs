//! Functions and lines of a package that chosen sequences execute, through discovery, build and a real worker.

mod support;

use std::path::PathBuf;

use support::fixture;
use testwright_engine::Workbench;
use testwright_harness::{FeatureChoice, Places, Selection, Variant};
use testwright_model::OpId;
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};

fn bench() -> (Workbench, PathBuf) {
    let here = fixture("cover", "coin-box");
    let selection = Selection::Local {
        manifest_path: Some(here.join("Cargo.toml")),
        package: None,
        features: FeatureChoice::default(),
    };
    // As for a user: the wrappers lie below the package's folder, and are not of the package.
    let mut places = Places::at(here.join("target/testwright")).expect("writable");
    places.wrapper = env!("CARGO_BIN_EXE_cargo-testwright").into();
    let bench = testwright_engine::prepare(&selection, places, 3000, &|_| {});
    (bench.unwrap_or_else(|error| panic!("{error}")), here)
}

fn operation(bench: &Workbench, path: &str) -> OpId {
    let is = |id: &OpId| bench.operations.get(*id).path == path;
    bench.operations.ids().find(is).unwrap_or_else(|| panic!("no operation {path}"))
}

/// A new box, and methods called on it.
fn on_a_box(bench: &Workbench, methods: &[&str]) -> Sequence {
    let mut steps = vec![Step::Call { op: operation(bench, "CoinBox::new"), args: vec![] }];
    for method in methods {
        let op = operation(bench, &format!("CoinBox::{method}"));
        steps.push(Step::Call { op, args: vec![Arg { value: ValueId(0), how: How::RefMut }] });
    }
    Sequence { steps }
}

#[test]
fn sequences_cover_what_they_execute() {
    let (mut bench, here) = bench();
    let built = bench.build(&Variant::quick()).unwrap_or_else(|error| panic!("{error}"));
    let corpus =
        [on_a_box(&bench, &["add_quarter", "vend"]), on_a_box(&bench, &["add_quarter", "add_quarter"])];
    let measure = |corpus: &[Sequence]| {
        let cover = bench.measure_cover(&built.binary, &here.join("target/scratch"), corpus);
        cover.unwrap_or_else(|error| panic!("{error}"))
    };
    let cover = measure(&corpus);

    let source = std::fs::read_to_string(here.join("src/lib.rs")).expect("the source");
    let text = |line: u32| source.lines().nth(line as usize - 1).expect("a line of the file").trim();
    let hit: Vec<&str> =
        cover.functions.iter().filter(|function| function.hit).map(|function| text(function.line)).collect();
    let vend = "pub fn vend(&mut self) -> Result<u32, NotEnough> {";
    assert_eq!(hit, ["pub fn new() -> Self {", "pub fn add_quarter(&mut self) {", vend]);
    let missed: Vec<&str> = cover.missed().map(|function| text(function.line)).collect();
    assert_eq!(missed.len(), 6, "what the derives made does not count: {missed:?}");
    assert!(missed.contains(&"fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {"), "{missed:?}");

    assert_eq!(cover.files.len(), 1, "{:?}", cover.files);
    assert_eq!(cover.files[0].file, "src/lib.rs");
    let lines = |hit: bool| {
        let lines = cover.files[0].lines.iter().filter(move |(_, was)| **was == hit);
        lines.map(|(line, _)| text(*line)).collect::<Vec<_>>()
    };
    assert!(lines(true).contains(&"return Err(NotEnough { missing: PRICE - self.current });"));
    assert!(lines(true).contains(&"self.allow_vend = true;"), "the second sequence's");
    for never in ["let change = self.current - PRICE;", "Ok(change)", "std::mem::take(&mut self.earned)"] {
        assert!(lines(false).contains(&never), "{never}");
    }
    assert_eq!((cover.lines_hit(), cover.lines_total()), (13, 37), "{:?}", cover.files);

    // Nothing is left over from one measurement to the next.
    let nothing = measure(&[]);
    assert_eq!((nothing.functions_hit(), nothing.lines_hit()), (0, 0));
    assert_eq!(nothing.lines_total(), cover.lines_total());
}
