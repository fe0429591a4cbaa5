//! The whole pipe on the README's example: finding, report, tests, repeatability.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{fixture, json, plain, run, snapshot, tool};

#[test]
fn the_example_gives_its_bug_as_a_package() {
    let here = fixture("example", "bounded-stack");
    let before = snapshot(&here);
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let manifest = here.join("Cargo.toml");
    let found =
        run(tool(Path::new("/"), &["generate", "--budget", "2s", "--out", out_text, "--manifest-path"])
            .arg(&manifest))
        .expect(1, &[]);
    assert!(found.stdout.contains("1 bug, 0 undocumented panics"), "{found}");
    assert_eq!(snapshot(&here), before, "the package is untouched, a lock file included");

    let report = json(&out.join("report.json"));
    has_the_promised_shape(&report);
    let page = fs::read_to_string(out.join("report.html")).expect("the page");
    assert!(page.contains("BoundedStack::push") && found.stdout.contains("report.html"), "{found}");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{report:#}");
    let finding = &report["findings"][0];
    assert_eq!(finding["tier"], "bug");
    assert_eq!(finding["class"], "index");
    assert_eq!(finding["operation"], "BoundedStack::push");
    assert_eq!(finding["location"]["file"], "bounded-stack/src/lib.rs");
    assert!(finding["calls"].as_u64().is_some_and(|calls| (2..=4).contains(&calls)), "{finding:#}");

    // The tests are green until somebody asks for them.
    let quiet = run(plain("cargo", &out).arg("test"));
    assert_eq!(quiet.code, Some(0), "{quiet}");
    let shown = run(plain("cargo", &out).args(["test", "--", "--ignored"]));
    assert_eq!(shown.code, Some(101), "{shown}");
    assert!(shown.stdout.contains("index out of bounds") && shown.stdout.contains("1 failed"), "{shown}");
    // A second run may write where the first one wrote.
    run(&mut tool(&here, &["generate", "--executions", "200", "--jobs", "1", "--out", out_text]))
        .expect(1, &[]);

    let id = finding["id"].as_str().expect("an id");
    let again = run(&mut tool(&here, &["replay", id, "--out", out_text])).expect(1, &[]);
    assert!(again.stdout.contains("the test still fails"), "{again}");
    mend(&here);
    let mended = run(&mut tool(&here, &["replay", id, "--out", out_text])).expect(0, &[]);
    assert!(mended.stdout.contains("the test passes now"), "{mended}");
    run(&mut tool(&here, &["generate", "--executions", "2000", "--jobs", "1", "--out", out_text]))
        .expect(0, &[]);
    assert!(!out.join("tests/testwright_findings.rs").exists(), "what is no longer found goes");
}

/// Corrects the example's mistake.
fn mend(package: &Path) {
    let path = package.join("src/lib.rs");
    let text = fs::read_to_string(&path).expect("the source");
    let mended = text.replace("if self.len > self.places.len()", "if self.len >= self.places.len()");
    assert_ne!(text, mended);
    fs::write(&path, mended).expect("the source");
}

#[test]
fn the_same_seed_gives_the_same_tests_in_the_package() {
    let here = fixture("repeat", "bounded-stack");
    let before = snapshot(&here);
    let args = ["generate", "--executions", "2000", "--seed", "7", "--jobs", "1", "--message-format", "json"];
    let once = || {
        let found = run(&mut tool(&here, &args)).expect(1, &[]);
        assert_eq!(found.stderr, "", "JSON is for programs");
        let mut report: Value = serde_json::from_str(&found.stdout).expect("JSON alone");
        has_the_promised_shape(&report);
        for time in ["elapsed_s", "build_s"] {
            report[time] = Value::Null;
        }
        report["executions"]["calls_per_s"] = Value::Null;
        for time in ["seconds", "last_new_s"] {
            report["search"][time] = Value::Null;
        }
        for finding in report["findings"].as_array_mut().expect("findings") {
            finding["first_seen_s"] = Value::Null;
        }
        (report, snapshot(&here))
    };
    let (first, tree) = once();
    let (second, same) = once();
    assert_eq!(tree, same);
    assert_eq!(first, second);
    let added: Vec<_> = tree.keys().filter(|path| !before.contains_key(*path)).collect();
    let ours = ["tests/testwright_findings.rs", "tests/testwright_regression.rs"];
    assert_eq!(added, ours.map(Path::new));
    assert!(before.iter().all(|(path, content)| tree.get(path) == Some(content)));
    assert_eq!(first["executions"]["sequences"], 2000);
}

#[test]
fn the_listing_is_json_on_request() {
    let here = fixture("listing", "bounded-stack");
    let listed = run(&mut tool(&here, &["list", "--message-format", "json"])).expect(0, &[]);
    let list: Value = serde_json::from_str(&listed.stdout).expect("JSON alone");
    assert_eq!(list["crate"], "bounded-stack");
    let callables = list["callables"].as_array().expect("callables");
    let push = callables.iter().find(|item| item["path"] == "BoundedStack::push").expect("push");
    assert!(push["operations"].as_array().is_some_and(|operations| !operations.is_empty()), "{push:#}");
    for item in callables {
        let taken = item["operations"].as_array().is_some_and(|operations| !operations.is_empty());
        assert!(taken != item["skipped"].is_string(), "taken, or skipped with a reason: {item:#}");
    }
}

/// The fields that scripts rely on, with their types.
fn has_the_promised_shape(report: &Value) {
    let at = |path: &str| {
        path.split('.').fold(report, |value, key| match key.parse::<usize>() {
            Ok(index) => &value[index],
            Err(_) => value.get(key).unwrap_or_else(|| panic!("no `{path}` in {report:#}")),
        })
    };
    assert_eq!(at("schema"), 1);
    for path in ["crate.name", "crate.version", "compiler"] {
        assert!(at(path).is_string(), "{path}");
    }
    for path in [
        "seed",
        "exit",
        "api.items",
        "api.operations",
        "executions.sequences",
        "executions.calls",
        "executions.illegal",
        "executions.restarts",
        "coverage.edges_hit",
        "coverage.edges_total",
        "regression.tests",
        "regression.assertions",
        "regression.dropped_unstable",
    ] {
        assert!(at(path).is_u64(), "{path}");
    }
    for path in ["elapsed_s", "build_s", "executions.calls_per_s"] {
        assert!(at(path).is_number(), "{path}");
    }
    // Not measured yet: there, but empty.
    for path in ["functions_hit", "functions_total", "lines_hit", "lines_total"] {
        let value = at(&format!("coverage.{path}"));
        assert!(value.is_u64() || value.is_null(), "{path}");
    }
    assert!(at("regression.file").is_string() || at("regression.file").is_null());
    assert!(at("interrupted").is_boolean());
    for path in ["api.skipped", "findings", "contracts"] {
        assert!(at(path).is_array(), "{path}");
    }
    for item in at("api.skipped").as_array().into_iter().flatten() {
        assert!(item["path"].is_string() && item["reason"].is_string(), "{item}");
    }
    for finding in at("findings").as_array().into_iter().flatten() {
        let text = |path: &str| finding.pointer(path).is_some_and(Value::is_string);
        for path in [
            "/id",
            "/tier",
            "/class",
            "/operation",
            "/message",
            "/strategy",
            "/test/name",
            "/test/file",
            "/test/source",
        ] {
            assert!(text(path), "{path} in {finding:#}");
        }
        for path in ["/calls", "/original_calls", "/first_seen_execution", "/confirm/opt_level"] {
            assert!(finding.pointer(path).is_some_and(Value::is_u64), "{path} in {finding:#}");
        }
        assert!(finding["first_seen_s"].is_number());
        for path in ["/confirm/overflow_checks", "/confirm/debug_assertions"] {
            assert!(finding.pointer(path).is_some_and(Value::is_boolean), "{path} in {finding:#}");
        }
        assert!(text("/confirm/sanitizer"));
        let location = &finding["location"];
        assert!(
            location.is_null() || (location["file"].is_string() && location["line"].is_u64()),
            "{finding:#}"
        );
    }
}

#[test]
fn results_that_nobody_can_name_are_used_where_they_are_made() {
    let here = fixture("nameless", "nameless");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let args = ["generate", "--executions", "4000", "--seed", "1", "--jobs", "1", "--out", out_text];
    let found = run(&mut tool(&here, &args)).expect(1, &[]);
    let report = json(&out.join("report.json"));
    let finding = &report["findings"][0];
    assert_eq!(finding["operation"], "nameless::numbers", "{found}");
    assert_eq!(finding["class"], "overflow", "{found}");
    let test = finding["test"]["source"].as_str().expect("a test");
    assert!(test.contains("numbers(255, 255).take(1000).count()"), "{test}");
    let suite = fs::read_to_string(out.join("tests/testwright_regression.rs")).expect("the suite");
    assert!(suite.contains("\"Rest(0)\""), "{suite}");
    let skipped = report["api"]["skipped"].as_array().expect("skipped items");
    let mute = skipped.iter().find(|item| item["path"] == "nameless::mute").expect("an item that is skipped");
    let reason = mute["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("Mute") && reason.contains("rejected by the compiler"), "{reason}");
}

#[test]
fn types_that_only_a_constant_of_stds_makes_are_made_by_it() {
    let here = fixture("moments", "moments");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let args = ["generate", "--executions", "2000", "--seed", "1", "--jobs", "1", "--out", out_text];
    let found = run(&mut tool(&here, &args)).expect(1, &[]);
    let report = json(&out.join("report.json"));
    let finding = &report["findings"][0];
    assert_eq!(finding["operation"], "Span::holds", "{found}");
    let test = finding["test"]["source"].as_str().expect("a test");
    for constant in [" = Span::DAY;", " = SystemTime::UNIX_EPOCH;"] {
        assert!(test.contains(constant), "{test}");
    }
}

#[test]
fn no_test_says_that_memory_is_refused() {
    let here = fixture("greedy", "greedy");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let args = ["generate", "--executions", "20000", "--seed", "1", "--jobs", "1", "--out", out_text];
    run(&mut tool(&here, &args)).expect(0, &[]);
    let suite = fs::read_to_string(out.join("tests/testwright_regression.rs")).expect("the suite");
    assert!(suite.contains("Ok(())") && suite.contains("Refusal { absurd: true }"), "{suite}");
    assert!(!suite.contains("Refusal { absurd: false }"), "{suite}");
}

#[test]
fn what_is_made_of_very_many_items_may_be_too_deep() {
    let here = fixture("deep", "deep-list");
    let out = here.with_file_name("out");
    let out_text = out.to_str().expect("Unicode");
    let args = ["generate", "--executions", "4000", "--seed", "1", "--jobs", "1", "--out", out_text];
    let found = run(&mut tool(&here, &args)).expect(1, &[]);
    let report = json(&out.join("report.json"));
    let classes: Vec<&Value> =
        report["findings"].as_array().into_iter().flatten().map(|f| &f["class"]).collect();
    assert_eq!(classes, ["stack-overflow"], "{found}");
    assert_eq!(report["findings"][0]["operation"], "<List as FromIterator>::from_iter", "{found}");
}
