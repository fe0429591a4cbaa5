//! Two versions compared, and a committed suite checked: what changed is told, what did not is not.

mod support;

use std::fs;
use std::path::Path;

use support::{fixture, json, run, tool};

/// Changes the source of a copied package.
fn edit(package: &Path, old: &str, new: &str) {
    let path = package.join("src/lib.rs");
    let text = fs::read_to_string(&path).expect("a source");
    assert!(text.contains(old), "{old} is not there");
    fs::write(path, text.replace(old, new)).expect("written");
}

#[test]
fn a_changed_behaviour_is_told_by_a_test() {
    let old = fixture("diff-old", "bounded-stack");
    let new = fixture("diff-new", "bounded-stack");
    edit(&new, "if self.len > self.places.len() {", "if self.len >= self.places.len() {");
    edit(&new, "pub fn is_full(&self)", "pub fn is_crowded(&self)");
    edit(&new, "stack.is_full()", "stack.is_crowded()");
    let out = new.with_file_name("out");
    let order = |from: &Path| {
        let words =
            ["diff", "--executions", "4000", "--jobs", "1", "--from", from.to_str().expect("Unicode")];
        let mut command = tool(Path::new("/"), &words);
        command.arg("--out").arg(&out).arg("--manifest-path").arg(new.join("Cargo.toml"));
        command
    };
    run(&mut order(&old)).expect(1, &["searching bounded-stack"]);
    let told = json(&out.join("diff.json"));
    let changed = told["changed"].as_array().expect("a list");
    let refuses = |test: &serde_json::Value| test["source"].as_str().expect("a text").contains("Full");
    assert!(changed.iter().any(refuses), "{told:#}");
    let mended =
        |test: &serde_json::Value| test["name"].as_str().expect("a text").contains("goes_out_of_bounds");
    assert!(changed.iter().any(mended), "{told:#}");
    assert_eq!(told["gone"][0], "BoundedStack::is_full");
    assert_eq!(told["new"][0], "BoundedStack::is_crowded");

    // Nothing differs from itself.
    let same = run(&mut order(&new)).expect(0, &["both are the same version"]);
    assert!(same.stdout.contains("0 changed behaviours"), "{same}");
}

#[test]
fn a_committed_suite_is_checked() {
    let here = fixture("check", "bounded-stack");
    let manifest = here.join("Cargo.toml");
    let order = |words: &[&str]| {
        let mut command = tool(Path::new("/"), words);
        command.arg("--manifest-path").arg(&manifest);
        command
    };
    run(&mut order(&["--check"])).expect(2, &["there is no", "testwright_regression.rs"]);
    run(&mut order(&["--executions", "4000", "--jobs", "1"])).expect(1, &[]);
    let holds = run(&mut order(&["--check"])).expect(0, &[]);
    assert!(holds.stdout.contains("hold"), "{holds}");

    edit(&here, "self.len == 0", "self.len == 1");
    let fails = run(&mut order(&["--check"])).expect(1, &[]);
    assert!(fails.stdout.contains("bounded_stack::") && fails.stdout.contains("assertion"), "{fails}");

    edit(&here, "pub fn peek(", "pub fn top(");
    let gone = run(&mut order(&["--check"])).expect(1, &[]);
    assert!(gone.stdout.contains("no method named `peek`"), "{gone}");
}
