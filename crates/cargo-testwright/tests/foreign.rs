//! Types and traits of the crates that the subject is built on: named by paths that compile, here and in tests.

mod support;

use std::fs;
use std::path::Path;

use support::{fixture, json, run, tool};

#[test]
fn items_of_a_dependency_are_used_by_their_public_paths() {
    let here = fixture("foreign", "next-door");
    let args = ["generate", "--executions", "2000", "--max-tests", "10", "--jobs", "1"];
    let found = run(&mut tool(&here, &args)).expect(0, &[]);
    let path = found.stdout.lines().find_map(|line| line.strip_prefix("report: ")).expect("a report");
    let report = json(Path::new(path));
    assert_eq!(report["api"]["skipped"].as_array().map(Vec::len), Some(0), "{found}");
    assert!(found.stdout.contains("executed 4 of 4 functions"), "{found}");
    let tests = fs::read_to_string(here.join("tests/testwright_regression.rs")).expect("tests");
    assert!(tests.contains("Measure::<f64>::new") || tests.contains("Measure::<f32>::new"), "{tests}");
    assert!(tests.contains("weigh"), "{tests}");
}
