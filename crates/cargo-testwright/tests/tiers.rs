//! How bad a panic is, by the function that it stands in.

mod support;

use std::path::Path;

use support::{fixture, json, run, tool};

#[test]
fn an_assertion_is_judged_where_it_stands() {
    let here = fixture("tiers", "spans");
    let out = here.with_file_name("out");
    let order = ["generate", "--executions", "8000", "--jobs", "1", "--max-tests", "0", "--out"];
    run(tool(Path::new("/"), &order).arg(&out).arg("--manifest-path").arg(here.join("Cargo.toml")))
        .expect(1, &[]);
    let report = json(&out.join("report.json"));
    let findings = report["findings"].as_array().expect("a list");
    let told = |tier: &str| -> Vec<(&str, &str)> {
        let of_tier = findings.iter().filter(|finding| finding["tier"] == tier);
        of_tier
            .map(|finding| ["operation", "message"].map(|field| finding[field].as_str().expect("a text")))
            .map(|[operation, message]| (operation, message))
            .collect()
    };
    let own = "assertion failed: self.covered == self.counted()";
    assert_eq!(told("bug"), [("Spans::covered", own)], "{report:#}");
    // `insert` documents it; `from` should.
    let given = "assertion failed: start < end";
    assert_eq!(told("undocumented-panic"), [("<Spans as From>::from", given)], "{report:#}");
}
