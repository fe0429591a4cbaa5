//! A value that the library never drops is a finding, and its test counts what is alive.

mod support;

use std::path::Path;

use support::{fixture, json, plain, run, tool};

#[test]
fn what_is_never_dropped_is_found_and_shown() {
    let here = fixture("leaks", "shelf");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let order = ["generate", "--executions", "4000", "--jobs", "1", "--out", out_text, "--manifest-path"];
    let found = run(tool(Path::new("/"), &order).arg(&manifest)).expect(1, &[]);
    let report = json(&out.join("report.json"));
    let findings = report["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1, "{report:#}\n{found}");
    assert_eq!((&findings[0]["class"], &findings[0]["tier"]), (&"leak".into(), &"bug".into()));
    assert_eq!(findings[0]["operation"], "Shelf::shorten");

    let shown = run(plain("cargo", &out).args(["test", "--", "--ignored"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("a value is never dropped"), "{shown}");
}
