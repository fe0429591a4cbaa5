//! The law of serde's two traits, which needs a crate that the subject is not built on.

mod support;

use std::path::Path;

use support::{fixture, json, plain, run, tool};

const CLASS: &str = "law:Deserialize.reads_what_serialize_writes";

#[test]
fn what_is_not_read_back_is_shown_by_a_test_in_a_package_that_compiles() {
    let here = fixture("serde-broken", "serde-broken");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let order = ["generate", "--executions", "30000", "--features", "serde", "--out", out_text];
    let ran = run(tool(Path::new("/"), &order).arg("--manifest-path").arg(&manifest)).expect(0, &[]);
    assert!(
        ran.stdout.contains(&format!("[hint] {CLASS} in <Interval as Deserialize>::deserialize")),
        "{ran}"
    );
    let report = json(&out.join("report.json"));
    let findings = report["findings"].as_array().expect("a list");
    let operations: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["class"] == CLASS)
        .map(|finding| finding["operation"].as_str().expect("a text"))
        .collect();
    assert_eq!(operations.len(), 2, "{operations:?}");
    for name in ["Interval", "Label"] {
        assert!(operations.iter().any(|operation| operation.contains(name)), "{operations:?}");
    }
    let shown = run(plain("cargo", &out).args(["test", "--test", "testwright_findings", "--", "--ignored"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("what `Serialize` writes, `Deserialize` reads"), "{shown}");
    assert!(shown.stdout.contains("0 passed; 2 failed"), "{shown}");

    // Tests in the package itself could not name serde_json.
    let listed =
        run(tool(Path::new("/"), &["list", "--features", "serde", "--manifest-path"]).arg(&manifest))
            .expect(0, &["laws that need serde_json are left out"]);
    let skipped =
        format!("skipped law <Interval as Deserialize>::deserialize ({CLASS}): serde_json is no dependency");
    assert!(listed.stdout.contains(&skipped), "{listed}");
    assert!(!listed.stdout.contains("law     <Interval as Deserialize>"), "{listed}");

    // Without the feature there is nothing to say.
    let listed = run(tool(Path::new("/"), &["list", "--manifest-path"]).arg(&manifest)).expect(0, &[]);
    assert!(!listed.stdout.contains(CLASS) && !listed.stderr.contains("serde_json"), "{listed}");

    // A dev-dependency can be named; one that is not to be had does not stop the run.
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    let list = |version: &str| {
        let asked = format!("[dev-dependencies]\nserde_json = \"{version}\"\n\n[workspace]");
        std::fs::write(&manifest, text.replace("[workspace]", &asked)).expect("written");
        run(tool(Path::new("/"), &["list", "--features", "serde", "--manifest-path"]).arg(&manifest))
    };
    let listed = list("1").expect(0, &[]);
    assert!(listed.stdout.contains("law     <Interval as Deserialize>::deserialize"), "{listed}");
    let listed = list("=1.0.9999").expect(0, &["laws that need serde_json are left out"]);
    assert!(listed.stdout.contains(&format!("({CLASS}): serde_json cannot be had")), "{listed}");
}

#[test]
fn nothing_is_said_of_what_is_read_back_or_need_not_be() {
    let here = fixture("serde-kept", "serde-kept");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let order = ["generate", "--executions", "30000", "--out", out_text, "--manifest-path"];
    run(tool(Path::new("/"), &order).arg(here.join("Cargo.toml"))).expect(0, &[]);
    let report = json(&out.join("report.json"));
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{}", report["findings"]);
    let skipped = report["api"]["skipped"].to_string();
    assert!(!skipped.contains(CLASS), "the law was left out: {skipped}");
    let listed =
        run(tool(Path::new("/"), &["list", "--manifest-path"]).arg(here.join("Cargo.toml"))).expect(0, &[]);
    for name in ["Interval", "Label", "Share"] {
        let skipped = format!("skipped law <{name} as Deserialize>::deserialize");
        assert!(listed.stdout.contains(&skipped), "{listed}");
    }
    assert_eq!(listed.stdout.matches(CLASS).count(), 3, "{listed}");
}
