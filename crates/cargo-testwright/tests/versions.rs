//! Two versions compared, and a committed suite checked: what changed is told, what did not is not.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
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
    let pushed = difference(&told, "changed", "BoundedStack::push", "no-longer-panics");
    assert!(text(pushed, "before").contains("index out of bounds"), "{pushed:#}");
    assert_eq!(pushed["steps"], 2, "{pushed:#}");
    assert_eq!(told["gone"][0], "BoundedStack::is_full");
    assert_eq!(told["new"][0], "BoundedStack::is_crowded");

    // Nothing differs from itself.
    let same = run(&mut order(&new)).expect(0, &["both are the same version"]);
    assert!(same.stdout.contains("0 changed behaviours"), "{same}");
}

/// The one difference of this kind of this operation.
#[track_caller]
fn difference<'a>(told: &'a Value, list: &str, operation: &str, kind: &str) -> &'a Value {
    let all = told[list].as_array().expect("a list");
    let found: Vec<&Value> =
        all.iter().filter(|one| one["operation"] == operation && one["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{operation} {kind}: {told:#}");
    found[0]
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().expect("a text")
}

/// `diff` with few executions, of a copy of the fixture `changes`.
fn compare(package: &Path, words: &[&str]) -> std::process::Command {
    let mut command = tool(Path::new("/"), &["diff", "--executions", "6000", "--jobs", "1"]);
    command.args(words).arg("--out").arg(package.with_file_name("out"));
    command.arg("--manifest-path").arg(package.join("Cargo.toml"));
    command
}

#[test]
fn a_difference_is_one_short_test_and_what_was_before_and_after() {
    let old = fixture("diff-short-old", "changes");
    let new = fixture("diff-short-new", "changes");
    let from = old.to_str().expect("Unicode");
    edit(&new, "marks: Vec<u8>,", "given: Vec<u8>,");
    edit(&new, "Tally { marks:", "Tally { given:");
    edit(&new, "self.marks", "self.given");

    // Nothing but the name of a private field.
    let same = run(&mut compare(&new, &["--from", from])).expect(0, &[]);
    assert!(same.stdout.contains("representation only"), "{same}");
    let told = json(&new.with_file_name("out").join("diff.json"));
    assert_eq!(told["changed"].as_array().map(Vec::len), Some(0), "{told:#}");
    let shown = told["representation"].as_array().expect("a list");
    assert_eq!(shown.len(), 1, "{told:#}");
    difference(&told, "representation", "<Tally as Debug>::fmt", "debug-text");

    edit(&new, ".iter().max()", ".iter().min()");
    edit(&new, ".copied().unwrap_or(0)", ".copied().unwrap()");
    run(&mut compare(&new, &["--from", from])).expect(1, &["cutting down"]);
    let told = json(&new.with_file_name("out").join("diff.json"));
    let highest = difference(&told, "changed", "Tally::highest", "result");
    let source = text(highest, "source");
    assert_eq!(source.matches("assert").count(), 1, "{source}");
    assert_eq!(highest["steps"], 4, "two marks are needed: {source}");
    assert!(text(highest, "before").starts_with("Some("), "{highest:#}");
    assert_ne!(highest["before"], highest["after"]);
    let first = difference(&told, "changed", "Tally::first", "panics-now");
    assert_eq!(first["steps"], 2, "{first:#}");
    assert_eq!(text(first, "before"), "returns");
    assert!(text(first, "after").contains("`Option::unwrap()` on a `None` value"), "{first:#}");
}

#[test]
fn features_may_make_the_difference() {
    let here = fixture("diff-features", "changes");
    let from = here.to_str().expect("Unicode");
    run(&mut compare(&here, &["--from", from, "--from-features", "double"])).expect(1, &[]);
    let told = json(&here.with_file_name("out").join("diff.json"));
    let worth = difference(&told, "changed", "changes::worth", "result");
    assert_eq!(worth["steps"], 1, "{worth:#}");
    let number = |field: &str| text(worth, field).parse::<u32>().expect("a number");
    assert_eq!(number("before"), 2 * number("after"));
}

#[test]
fn what_the_author_demands_is_compared_too() {
    let old = fixture("diff-demands-old", "changes");
    let new = fixture("diff-demands-new", "changes");
    let from = old.to_str().expect("Unicode");
    edit(&new, "u32::from(*mark)).sum()", "u32::from(*mark)).sum::<u32>() / 2");
    let configuration = "[[contract]]\nfn = \"Tally::add\"\nrequires = \"mark < 100\"\n\
                         [[law]]\ntype = \"Tally\"\nname = \"counted\"\nholds = \"u32::from(a.first()) <= a.total() * a.count().min(1) as u32\"\n";
    fs::write(new.join("testwright.toml"), configuration).expect("written");
    run(&mut compare(&new, &["--from", from])).expect(1, &[]);
    let told = json(&new.with_file_name("out").join("diff.json"));
    let changed = told["changed"].as_array().expect("a list");
    let law = changed.iter().find(|one| one["kind"] == "law").unwrap_or_else(|| panic!("{told:#}"));
    assert_eq!(text(law, "before"), "holds");
    assert!(text(law, "after").contains("counted"), "{law:#}");

    // The old version has no such function, and is searched without the law.
    edit(&new, "pub fn count(", "pub fn number(");
    let renamed = configuration.replace("a.count()", "a.number()");
    fs::write(new.join("testwright.toml"), renamed).expect("written");
    let done = run(&mut compare(&new, &["--from", from]));
    assert!(done.stderr.contains("are not asked of the earlier one"), "{done}");
    assert!(done.stdout.contains("gone  Tally::count\nnew   Tally::number\n"), "{done}");
}

#[test]
fn published_versions_are_compared_by_name_and_number() {
    let here = fixture("diff-published", "changes");
    let manifest = here.join("Cargo.toml");
    let named = fs::read_to_string(&manifest).expect("a manifest").replace("\"changes\"", "\"strsim\"");
    fs::write(&manifest, named).expect("written");
    let done = run(&mut compare(&here, &["--from", "strsim@0.5.0", "--to", "0.5.1"])).expect(1, &[]);
    assert!(done.stdout.starts_with("strsim 0.5.0 -> strsim 0.5.1\n"), "{done}");
    let told = json(&here.with_file_name("out").join("diff.json"));
    // Which of the four functions that share the mistake are called with the right texts is chance.
    let jaro = |change: &&Value| {
        let operation = change["operation"].as_str().unwrap_or_default();
        operation.starts_with("strsim::jaro") && change["kind"] == "no-longer-panics" && change["steps"] == 1
    };
    assert!(told["changed"].as_array().into_iter().flatten().any(|change| jaro(&change)), "{told:#}");
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
