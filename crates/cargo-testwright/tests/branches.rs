//! Conditions that random values hardly ever meet are met by what they compare.

mod support;

use std::path::Path;

use support::{fixture, json, run, tool};

#[test]
fn most_kinds_of_conditions_are_met() {
    let here = fixture("branches-met", "branches");
    let out = here.with_file_name("out");
    let manifest = here.join("Cargo.toml");
    let order = ["generate", "--budget", "30s", "--max-tests", "0", "--out"];
    run(tool(Path::new("/"), &order).arg(&out).arg("--manifest-path").arg(&manifest)).expect(0, &[]);
    let report = json(&out.join("report.json"));
    let branches = &report["search"]["branches"];
    assert!(branches["flipped"].as_u64().is_some_and(|flipped| flipped >= 8), "{branches}");
    let files = report["coverage"]["files"].as_array().expect("a list");
    let missed: Vec<u64> = files
        .iter()
        .flat_map(|file| file["missed_lines"].as_array().expect("a list"))
        .filter_map(serde_json::Value::as_u64)
        .collect();
    let source = std::fs::read_to_string(here.join("src/lib.rs")).expect("the fixture's source");
    let goals = (1..).zip(source.lines()).filter(|(_, text)| text.contains("// goal: "));
    let met = goals.filter(|(line, _)| !missed.contains(line)).count();
    assert!(met >= 10, "{met} goals; not executed: {missed:?}");
}
