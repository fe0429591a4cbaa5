//! Options that change what is called and what counts as new: going on behind panics, values that share state, novelty by type.

mod support;

use std::path::{Path, PathBuf};

use support::{fixture, json, plain, run, tool};

/// The report of a short campaign on a copy of the fixture; `configuration` becomes its `testwright.toml`.
fn campaign(name: &str, configuration: &str, more: &[&str], code: i32) -> (serde_json::Value, PathBuf) {
    let here = fixture(name, "aftermath");
    std::fs::write(here.join("testwright.toml"), configuration).expect("a copy is ours to write to");
    let out = here.with_file_name("out");
    let manifest = here.join("Cargo.toml");
    let order = ["generate", "--executions", "30000", "--jobs", "1", "--out"];
    run(tool(Path::new("/"), &order).arg(&out).args(more).arg("--manifest-path").arg(&manifest))
        .expect(code, &[]);
    (json(&out.join("report.json")), out)
}

#[test]
fn what_a_panic_leaves_behind_is_used_if_asked_for() {
    let (report, _) = campaign("aftermath-plain", "", &["--sanitizer", "never"], 0);
    assert_eq!(report["findings"], serde_json::json!([]), "{report:#}");
    assert!(report["search"]["sharing"].to_string().contains("Purse"), "{:#}", report["search"]);

    let (report, out) = campaign("aftermath-behind", "", &["--sanitizer", "never", "--past-panics"], 1);
    let findings = report["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1, "{report:#}");
    assert_eq!((&findings[0]["class"], &findings[0]["operation"]), (&"memory".into(), &"Row::last".into()));
    assert!(
        findings[0]["test"]["source"].as_str().expect("a text").contains("catch_unwind"),
        "{findings:#?}"
    );
    let shown = run(plain("cargo", &out).args(["test", "--", "--ignored"]));
    assert_eq!(shown.code, Some(101), "{shown}");
}

#[test]
fn values_are_told_apart_as_the_author_says() {
    let distinct = |name: &str, configuration: &str| {
        let (report, _) = campaign(name, configuration, &["--only", "Reading"], 0);
        report["search"]["distinct_values"].as_u64().expect("a number")
    };
    let usual = distinct("aftermath-usual", "");
    let by = distinct("aftermath-by", "[novelty]\nReading = { by = \"a.hour() == 0\" }\n");
    assert!(by + 500 < usual, "{by} {usual}");
    distinct("aftermath-equal", "[novelty]\nReading = \"equality\"\nPurse = \"representation\"\n");

    let here = fixture("aftermath-wrong", "aftermath");
    std::fs::write(here.join("testwright.toml"), "\n[novelty]\nReading = { by = \"a.day()\" }\n")
        .expect("a copy");
    run(&mut tool(&here, &["generate", "--executions", "10"])).expect(2, &["testwright.toml:3", "day"]);
}
