//! `--workspace`: every member in its turn, what is told of those that cannot be tested, and one exit code for all.
//!
//! `three-members` has `pile` with a bug, `show` without a library, and `tally`, which is healthy.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Run, UnderWay, fixture, json, run, snapshot, tool};

const QUICK: [&str; 6] = ["--executions", "2000", "--max-tests", "5", "--jobs", "1"];

/// Runs a command over the workspace, searching for a short time only.
fn quick(here: &Path, args: &[&str]) -> Run {
    let args: Vec<&str> =
        ["generate", "--workspace"].into_iter().chain(QUICK).chain(args.iter().copied()).collect();
    run(&mut tool(here, &args))
}

/// The lines at the end that tell what came of each member.
fn summary(run: &Run) -> Vec<&str> {
    let (_, end) = run.stdout.rsplit_once("== ").unwrap_or_else(|| panic!("no summary\n{run}"));
    end.lines().skip(1).collect()
}

/// What `--message-format json` printed: a document a line.
fn documents(run: &Run) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{run}"));
    run.stdout.lines().map(parse).collect()
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).expect("a file");
}

/// Adds a member with this library.
fn add(here: &Path, name: &str, library: &str) {
    change(&here.join("Cargo.toml"), "members = [", &format!("members = [\"{name}\", "));
    fs::create_dir_all(here.join(name).join("src")).expect("a folder");
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.2.0\"\nedition = \"2021\"\n");
    fs::write(here.join(name).join("Cargo.toml"), manifest).expect("a file");
    fs::write(here.join(name).join("src/lib.rs"), library).expect("a file");
}

#[test]
fn each_member_is_tested_in_its_own_places() {
    let here = fixture("workspace-all", "three-members");
    let before = snapshot(&here);
    let found = quick(&here, &[]).expect(1, &["show 0.1.0: skipped: `show` has no library"]);
    let heads: Vec<&str> = found.stdout.lines().filter(|line| line.starts_with("== ")).collect();
    let turns = ["== pile 0.1.0 (1 of 3)", "== show 0.1.0 (2 of 3)", "== tally 0.1.0 (3 of 3)"];
    assert_eq!(heads, [&turns[..], &["== 3 of 3 members"]].concat(), "{found}");
    let lines = summary(&found);
    assert!(lines[0].starts_with("pile 0.1.0: 1 bug, 0 undocumented panics; 5 regression tests"), "{found}");
    assert_eq!(lines[1], "show 0.1.0: `show` has no library to test: it has only binaries");
    assert!(lines[2].starts_with("tally 0.1.0: 0 bugs, 0 undocumented panics; 5 regression"), "{found}");
    assert_eq!(lines.len(), 3, "{found}");

    let after = snapshot(&here);
    let added: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    let ours = [
        "pile/tests/testwright_findings.rs",
        "pile/tests/testwright_regression.rs",
        "tally/tests/testwright_regression.rs",
    ];
    assert_eq!(added, ours.map(Path::new));
    let paths: Vec<&str> = found.stdout.lines().filter_map(|line| line.strip_prefix("report: ")).collect();
    let reports: Vec<Value> = paths.iter().map(|path| json(Path::new(path))).collect();
    let names: Vec<&Value> = reports.iter().map(|report| &report["crate"]["name"]).collect();
    assert_eq!(names, ["pile", "tally"], "no member replaces another one's report");

    let id = reports[0]["findings"][0]["id"].as_str().expect("an id");
    let again = run(&mut tool(&here, &["replay", id, "-p", "pile"])).expect(1, &[]);
    assert!(again.stdout.contains("the test still fails"), "{again}");

    let resumed = quick(&here, &["--resume"]).expect(1, &["show 0.1.0: skipped"]);
    for path in paths {
        assert_eq!(json(Path::new(path))["search"]["earlier_executions"], 2000, "{resumed}");
    }
}

#[test]
fn the_suites_of_all_members_are_checked() {
    let here = fixture("workspace-check", "three-members");
    let check = |code| run(&mut tool(&here, &["generate", "--workspace", "--check"])).expect(code, &[]);
    let none = check(2);
    assert!(summary(&none)[2].starts_with("tally 0.1.0: there is no "), "{none}");
    quick(&here, &[]).expect(1, &[]);
    // What has nothing to call needs no suite.
    add(&here, "mute", "mod inner {}\n");
    let holds = check(0);
    assert!(summary(&holds)[0].starts_with("mute 0.2.0: mute has no public functions"), "{holds}");
    for line in [summary(&holds)[1], summary(&holds)[3]] {
        assert!(line.contains(": all 5 tests of ") && line.ends_with(" hold"), "{holds}");
    }
    change(&here.join("tally/src/lib.rs"), "saturating_add(1)", "saturating_add(2)");
    let broken = check(1);
    assert!(summary(&broken)[1].ends_with(" hold"), "{broken}");
    assert!(summary(&broken)[3].ends_with(" do not hold any more"), "{broken}");
}

#[test]
fn programs_get_a_line_a_member() {
    let here = fixture("workspace-json", "three-members");
    let before = snapshot(&here);
    let out = here.with_file_name("out");
    let found =
        quick(&here, &["--message-format", "json", "--out", out.to_str().expect("Unicode")]).expect(1, &[]);
    let reports = documents(&found);
    let told: Vec<_> =
        reports.iter().map(|report| (report["crate"]["name"].as_str(), report["exit"].as_u64())).collect();
    assert_eq!(told, [(Some("pile"), Some(1)), (Some("tally"), Some(0))], "{found}");
    assert_eq!(found.stderr.lines().count(), 1, "the member that is skipped: {found}");
    for report in &reports {
        let name = report["crate"]["name"].as_str().expect("a name");
        assert_eq!(json(&out.join(name).join("report.json"))["crate"]["name"], name);
        assert!(out.join(name).join("Cargo.toml").exists(), "a package of its own");
    }
    assert!(!out.join("show").exists() && !out.join("Cargo.toml").exists());
    assert_eq!(snapshot(&here), before);

    // A feature is for those that have it.
    let args = ["list", "--workspace", "--exclude", "show", "--features", "down", "--message-format", "json"];
    let lists = documents(&run(&mut tool(&here, &args)).expect(0, &[]));
    let told: Vec<_> =
        lists.iter().map(|list| (list["crate"].as_str(), list["features"].to_string())).collect();
    assert_eq!(told, [(Some("pile"), "[]".to_owned()), (Some("tally"), "[\"down\"]".to_owned())]);
}

#[test]
fn a_member_that_does_not_build_does_not_stop_the_others() {
    let here = fixture("workspace-broken", "three-members");
    add(&here, "broken", "pub fn text() -> String { 1 }\n");
    let found = quick(&here, &["--no-write"]).expect(3, &["`broken` does not build", "mismatched types"]);
    let lines = summary(&found);
    assert_eq!(lines[0], "broken 0.2.0: `broken` does not build", "{found}");
    assert!(lines[1].starts_with("pile 0.1.0: 1 bug, "), "{found}");
    assert!(lines[3].starts_with("tally 0.1.0: 0 bugs, "), "{found}");
    // Operations of one member are not missed in the others.
    let found =
        quick(&here, &["--no-write", "--exclude", "broken@0.2.0", "--only", "^Tally::up$"]).expect(0, &[]);
    assert_eq!(summary(&found)[0], "pile 0.1.0: --only and --skip leave no operation", "{found}");
    assert!(summary(&found)[2].starts_with("tally 0.1.0: 0 bugs, "), "{found}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_done() {
    let here = fixture("workspace-flags", "three-members");
    let before = snapshot(&here);
    for (args, code, words) in [
        (&["--workspace", "-p", "pile"][..], 2, &["cannot be used with"][..]),
        (&["--workspace", "--crate", "slab@0.4.10"], 2, &["cannot be used with"]),
        (&["list", "--workspace", "-p", "pile"], 2, &["cannot be used with"]),
        (&["--exclude", "pile"], 2, &["--workspace"]),
        (&["replay", "x", "--workspace"], 2, &["--workspace"]),
        (&["--workspace", "--exclude", "heap"], 2, &["`heap`", "pile, show, tally"]),
        (&["--workspace", "--features", "up"], 2, &["no member", "`up`", "tally with down"]),
        (&["--workspace", "--out", "show", "--executions", "100"], 2, &["--out needs a folder of its own"]),
        (&["--workspace", "--exclude", "pile", "--exclude", "tally"], 4, &["skipped", "no member"]),
        (&["list", "--workspace", "--exclude", "pile", "--exclude", "tally"], 4, &["skipped", "no member"]),
    ] {
        let refused = run(&mut tool(&here, args)).expect(code, words);
        assert!(!refused.stderr.contains("looking for the crate"), "{refused}");
    }
    assert_eq!(snapshot(&here), before);
}

#[test]
fn a_package_without_a_workspace_is_as_it_is_alone() {
    let here = fixture("workspace-single", "bounded-stack");
    let found = quick(&here, &["--out", "out"]).expect(1, &[]);
    assert!(found.stdout.starts_with("bounded-stack 0.1.0: ") && !found.stdout.contains("== "), "{found}");
    assert_eq!(json(&here.join("out/report.json"))["crate"]["name"], "bounded-stack");
}

#[test]
fn an_interrupt_begins_no_other_member() {
    let here = fixture("workspace-interrupted", "three-members");
    let mut search = UnderWay::start(&here, &["generate", "--workspace", "--budget", "10m"]);
    search.wait_for("searching");
    search.interrupt(true);
    let done = search.end().expect(130, &["interrupted: finishing"]);
    let lines = summary(&done);
    assert!(lines[0].starts_with("pile 0.1.0: "), "{done}");
    assert_eq!(lines[1..], ["show 0.1.0: not begun", "tally 0.1.0: not begun"], "{done}");
    assert!(!done.stderr.contains("API of tally"), "{done}");
}
