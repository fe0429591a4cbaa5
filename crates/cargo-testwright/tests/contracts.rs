//! Contracts of single functions and types: broken ones are found, kept ones are not spoken of, wrong ones stop the run.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Run, fixture, json, plain, run, tool};

/// One run on a copy of a fixture, counted: a busy machine is not to make a difference.
fn generate(manifest: &Path, out: &Path, executions: &str) -> Run {
    let out = out.to_str().expect("Unicode");
    let order = ["generate", "--executions", executions, "--jobs", "1", "--out", out, "--manifest-path"];
    run(tool(Path::new("/"), &order).arg(manifest))
}

/// The findings' classes and operations, sorted.
fn findings(report: &Value) -> Vec<String> {
    let of = |finding: &Value| {
        let text = |name: &str| finding[name].as_str().expect("a text").to_owned();
        assert_eq!(text("tier"), "bug");
        format!("{} {}", text("class"), text("operation"))
    };
    let mut all: Vec<String> = report["findings"].as_array().expect("a list").iter().map(of).collect();
    all.sort();
    all
}

/// The contracts of the report whose operation this is.
fn contracts<'r>(report: &'r Value, operation: &str) -> Vec<&'r Value> {
    let all = report["contracts"].as_array().expect("a list");
    all.iter().filter(|contract| contract["operation"] == operation).collect()
}

fn dismissed(report: &Value, reason: &str, operation: &str) -> u64 {
    let all = report["dismissed"].as_array().expect("a list");
    let is_it = |entry: &&Value| entry["reason"] == reason && entry["operation"] == operation;
    all.iter().find(is_it).map_or(0, |entry| entry["count"].as_u64().expect("a number"))
}

#[test]
fn broken_contracts_are_found_and_shown() {
    let here = fixture("contracts-broken", "contracts-broken");
    let out = here.with_file_name("out");
    generate(&here.join("Cargo.toml"), &out, "20000").expect(1, &[]);
    let report = json(&out.join("report.json"));
    let expected = [
        "contract:ensures Stack::pop",
        "contract:ensures Stack::push",
        "contract:ensures contracts_broken::mean",
        "contract:invariant Stack::limit",
        "contract:invariant Stack::with_items",
    ];
    assert_eq!(findings(&report), expected, "and no panic of a call that a precondition forbids");

    let [requires, length, top] = contracts(&report, "Stack::push")[..] else { panic!("{report}") };
    assert_eq!((&requires["kind"], &requires["refuted"]), (&"requires".into(), &false.into()));
    assert_eq!((&length["kind"], &length["refuted"]), (&"ensures".into(), &true.into()));
    assert_eq!(top["refuted"], false);
    assert!(top["support"].as_u64().expect("a number") > 100, "calls that are allowed succeed");
    assert!(dismissed(&report, "a precondition does not hold", "Stack::push") > 0);
    assert!(dismissed(&report, "a contract could not be evaluated", "Stack::clear") > 0);

    let text = std::fs::read_to_string(out.join("tests/testwright_findings.rs")).expect("tests");
    for line in ["let old_len = stack.len();", "stack.len() == old_len + 1,", "if let Ok("] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let shown = run(plain("cargo", &out).args(["test", "--", "--ignored", "stack_push"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("ensures of `Stack::push`: self.len() == old(self.len()) + 1"), "{shown}");
    let suite = run(plain("cargo", &out).args(["test", "--test", "testwright_regression"]));
    assert_eq!(suite.code, Some(0), "{suite}");
}

#[test]
fn nothing_is_said_of_contracts_that_are_kept() {
    let here = fixture("contracts-kept", "contracts-kept");
    let out = here.with_file_name("out");
    generate(&here.join("Cargo.toml"), &out, "20000").expect(0, &[]);
    let report = json(&out.join("report.json"));
    assert_eq!(findings(&report), [""; 0]);
    for contract in report["contracts"].as_array().expect("a list") {
        assert!(contract["support"].as_u64().expect("a number") > 0, "{contract}");
        assert_eq!(contract["refuted"], false, "{contract}");
    }
    let skipped = report["api"]["skipped"].as_array().expect("a list");
    assert_eq!(skipped.len(), 0, "no choice of types is lost: {skipped:?}");
    let listed = run(&mut tool(&here, &["list", "--message-format", "json"])).expect(0, &[]);
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(listed["contracts"].as_array().map(Vec::len), report["contracts"].as_array().map(Vec::len));
}

/// Needs the crate `contracts`, which cargo downloads.
#[test]
fn contracts_as_attributes_are_understood() {
    let here = fixture("contracts-attributes", "contracts-attributes");
    let out = here.with_file_name("out");
    generate(&here.join("Cargo.toml"), &out, "20000").expect(1, &[]);
    let report = json(&out.join("report.json"));
    let expected = [
        "contract:ensures Counter::tick",
        "contract:invariant Counter::lower",
        "contract:requires Counter::skip",
    ];
    assert_eq!(findings(&report), expected);
    assert!(dismissed(&report, "a precondition does not hold", "Counter::add") > 0);
    assert!(dismissed(&report, "a precondition does not hold", "contracts_attributes::first") > 0);
    let shown = run(plain("cargo", &out).args(["test", "--", "--ignored", "counter_skip_breaks"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("Pre-condition of add violated"), "{shown}");
}

#[test]
fn wrong_contracts_stop_the_run() {
    let here = fixture("contracts-wrong", "bounded-stack");
    let manifest = here.join("Cargo.toml");
    let out = here.with_file_name("out");
    let good = "[[contract]]\nfn = \"BoundedStack::len\"\nensures = \"result == self.len()\"\n\n";
    let check = |text: &str, words: &[&str]| {
        std::fs::write(here.join("testwright.toml"), format!("{good}{text}\n")).expect("written");
        generate(&manifest, &out, "100").expect(2, words);
    };
    check(
        "[[contract]]\nfn = \"BoundedStack::pop\"\nensures = \"self.length() == 0\"",
        &["testwright.toml:7: ensures of `BoundedStack::pop`", "no method named `length`"],
    );
    // All calls that the good contract is about are rejected for the sake of the bad one.
    check(
        "[[contract]]\nfn = \"BoundedStack::len\"\nrequires = \"\"\"\n  self.size() > 0\"\"\"",
        &["testwright.toml:8: requires of `BoundedStack::len`", "no method named `size`"],
    );
    check(
        "[[invariant]]\ntype = \"BoundedStack\"\nholds = \"self.len() <= self.limit()\"",
        &["testwright.toml:7: invariant of `BoundedStack`", "no method named `limit`"],
    );
    check(
        "[[contract]]\nfn = \"BoundedStack::peek\"\nensures = \"result.is_some(\"",
        &["testwright.toml:7: ensures of `BoundedStack::peek`", "no Rust expression"],
    );
    check(
        "[[contract]]\nfn = \"BoundedStack::put\"\nensures = \"true\"",
        &["testwright.toml:7: ensures of `BoundedStack::put`", "there is no function `BoundedStack::put`"],
    );
    check(
        "[[invariant]]\ntype = \"Stack\"\nholds = \"true\"",
        &["testwright.toml:7: invariant of `Stack`", "there is no public type `Stack`"],
    );
    check("[[contract]]\nfn = \"BoundedStack::len\"", &["neither requires nor ensures"]);
}
