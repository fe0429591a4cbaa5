//! Every law has a type that breaks it, which is found, and one that keeps it, of which nothing is said.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::{fixture, json, plain, run, tool};
use testwright_model::law;

/// The classes of all findings in a fixture. What takes some five seconds is counted: a busy machine is not to make a difference.
fn classes(name: &str, executions: &str, code: i32) -> BTreeSet<String> {
    let here = fixture(&format!("laws-{name}"), name);
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let order = [
        "generate",
        "--executions",
        executions,
        "--max-findings",
        "200",
        "--out",
        out_text,
        "--manifest-path",
    ];
    run(tool(Path::new("/"), &order).arg(&manifest)).expect(code, &[]);
    let report = json(&out.join("report.json"));
    let findings = report["findings"].as_array().expect("a list");
    findings.iter().map(|finding| finding["class"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn every_law_is_seen_to_be_broken() {
    let found = classes("laws-broken", "400000", 1);
    // The fixture has no dependencies: laws that name another crate have fixtures and tests of their own (`serde.rs`).
    let here = law::all().filter(|law| law.beside.is_none());
    let missed: Vec<&str> = here.map(|law| law.class).filter(|class| !found.contains(*class)).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
    assert!(found.contains("index"), "`Headline` panics where a precision is asked for");
}

#[test]
fn nothing_is_said_of_types_that_keep_the_laws() {
    assert_eq!(classes("laws-kept", "200000", 0), BTreeSet::new());
}

#[test]
fn nothing_is_said_of_std_in_new_types() {
    assert_eq!(classes("keeper-std", "200000", 0), BTreeSet::new());
}

#[test]
fn a_broken_law_is_shown_by_a_test_of_its_own() {
    let here = fixture("laws-shown", "laws-broken");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let order =
        ["generate", "--executions", "20000", "--only", "Counter", "--out", out_text, "--manifest-path"];
    run(tool(Path::new("/"), &order).arg(&manifest)).expect(1, &[]);
    let shown =
        run(plain("cargo", &out).args(["test", "--", "--ignored", "counter_clone_equals_its_source"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("a clone equals its source"), "{shown}");
}

#[test]
fn a_law_by_name_alone_is_a_hint_and_no_reason_to_fail() {
    let here = fixture("laws-hint", "laws-broken");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let order = ["generate", "--executions", "20000", "--only", "Stamp", "--deny", "undocumented-panic"];
    let more = ["--out", out_text, "--manifest-path"];
    let ran = run(tool(Path::new("/"), &order).args(more).arg(&manifest));
    let report = json(&out.join("report.json"));
    let findings = report["findings"].as_array().expect("a list");
    let hint = findings.iter().find(|finding| finding["class"] == "law:from.to").expect("found");
    assert_eq!(hint["confidence"], "hint");
    assert_eq!(hint["tier"], "undocumented-panic");
    for words in ["[hint] law:from.to in Stamp::from_be_bytes", ", 1 hint;"] {
        assert!(ran.stdout.contains(words), "{ran}");
    }
    ran.expect(0, &[]);
}

#[test]
fn laws_of_the_author_are_checked_and_must_compile() {
    let here = fixture("laws-own", "bounded-stack");
    let manifest = here.join("Cargo.toml");
    let write = |holds: &str| {
        let law = format!("[[law]]\ntype = \"BoundedStack\"\nname = \"small\"\nholds = \"{holds}\"\n");
        std::fs::write(here.join("testwright.toml"), law).expect("written");
    };
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let order = ["generate", "--executions", "8000", "--jobs", "1", "--out", out_text, "--manifest-path"];
    let go = || run(tool(Path::new("/"), &order).arg(&manifest));

    write("a.len() < 2 || b.len() <= b.capacity()");
    go().expect(1, &[]);
    let classes = |out: &Path| -> Vec<String> {
        let report = json(&out.join("report.json"));
        let findings = report["findings"].as_array().expect("a list");
        findings.iter().map(|finding| finding["class"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(classes(&out), ["index"], "what holds is not reported");

    write("a.len() < 2");
    go().expect(1, &[]);
    assert!(classes(&out).contains(&"law:BoundedStack.small".to_owned()));

    let listed = run(tool(Path::new("/"), &["list", "--manifest-path"]).arg(&manifest)).expect(0, &[]);
    assert!(
        listed.stdout.contains("BoundedStack::small: small: a.len() < 2 (law:BoundedStack.small)"),
        "{listed}"
    );
    assert!(listed.stdout.contains("BoundedStack::is_empty: `is_empty` if and only if"), "{listed}");

    write("a.length() < 2");
    go().expect(2, &["testwright.toml:4", "law `small`", "no method named `length`"]);
}
