//! What the tool says, and its exit code, when something is wrong with what it is given or where it runs.
//!
//! [`check`] runs the binary in a folder and compares exit code and words; most cases are a line for it.

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{Run, UnderWay, cache, fixture, folder, json, plain, program, run, script, snapshot, tool};

/// Runs the tool in the folder; its exit code and words must be these.
#[track_caller]
fn check(folder: &Path, args: &[&str], code: i32, words: &[&str]) -> Run {
    run(&mut tool(folder, args)).expect(code, words)
}

#[test]
fn flags_that_make_no_sense() {
    let here = folder("flags");
    for (args, words) in [
        (&["generate", "--budget", "0"][..], &["--budget", "more than nothing"][..]),
        (&["generate", "--budget", "soon"], &["not a time"]),
        (&["generate", "--budget", "5 parsecs"], &["parsecs"]),
        (&["generate", "--executions", "0"], &["--executions"]),
        (&["generate", "--executions", "5", "--budget", "5s"], &["cannot be used with"]),
        (&["generate", "--jobs", "0"], &["--jobs"]),
        (&["generate", "--max-findings", "0"], &["--max-findings"]),
        (&["generate", "--operations", "0"], &["--operations"]),
        (&["generate", "--seed=-1"], &["--seed"]),
        (&["generate", "--deny", "everything"], &["undocumented-panic"]),
        (&["generate", "--message-format", "xml"], &["human", "json"]),
        (&["--no-such-flag"], &["--no-such-flag"]),
        (&["testwright", "generate", "--no-such-flag"], &["--no-such-flag"]),
        (&["no-such-command"], &["no-such-command"]),
        (&["replay"], &["<ID>"]),
        (&["generate", "--crate", "slab", "-p", "x"], &["cannot be used with"]),
    ] {
        check(&here, args, 2, words);
    }
    assert!(run(&mut tool(&here, &["--help"])).expect(0, &[]).stdout.contains("generate"));
    assert!(run(&mut tool(&here, &["--version"])).expect(0, &[]).stdout.contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn crates_that_are_not_there() {
    let here = folder("crate-names");
    for name in ["@1.0.0", "slab@", "no such@1", "../slab@1.0.0", "slab@latest", ""] {
        check(&here, &["generate", "--crate", name], 2, &["error: "]);
    }
    // Without a network the code is the same.
    let unknown = run(&mut tool(&here, &["generate", "--crate", "testwright-knows-no-such-crate@1.0.0"]));
    let unknown = unknown.expect(6, &["help: "]);
    assert!(["has no", "cannot be reached"].iter().any(|words| unknown.stderr.contains(words)), "{unknown}");
    let version = run(&mut tool(&here, &["generate", "--crate", "itoa@99.0.0"])).expect(6, &["help: "]);
    assert!(
        version.stderr.contains("versions there are: 1.") || version.stderr.contains("cannot be reached"),
        "{version}"
    );
}

#[test]
fn packages_that_are_not_there() {
    let here = folder("packages");
    check(
        &here,
        &["list", "--manifest-path", "nowhere/Cargo.toml"],
        2,
        &["no package at", "--manifest-path"],
    );
    fs::write(here.join("Cargo.toml"), "[package\n").expect("a file");
    check(&here, &["list"], 3, &["Cargo.toml"]);
    // Below the file system's root there is no package around it.
    check(Path::new("/"), &["list"], 2, &["no package at", "help: run in a package's folder"]);
}

#[test]
fn a_crate_that_does_not_compile() {
    let here = fixture("broken", "broken");
    check(
        &here,
        &["generate"],
        3,
        &["`broken` does not build", "mismatched types", "src/lib.rs:18", "help: make `cargo build` pass"],
    );
    assert!(!here.join("target").exists());
}

#[test]
fn a_package_without_a_library() {
    let here = fixture("bin-only", "bin-only");
    check(&here, &["generate"], 4, &["no library", "only binaries", "help: "]);
}

#[test]
fn a_library_without_public_functions() {
    let here = fixture("no-api", "no-api");
    check(&here, &["generate"], 4, &["no public functions", "help: "]);
}

#[test]
fn a_library_that_nothing_was_called_of() {
    let here = fixture("doc-only", "doc-only");
    let words = ["no call into doc-only was made", "2 of 2 items", "rejected by the compiler", "help: "];
    check(&here, &["generate", "--executions", "100", "--jobs", "1", "--out", "out"], 4, &words);
    let report = json(&here.join("out/report.json"));
    assert_eq!((&report["exit"], &report["executions"]["calls"]), (&4.into(), &0.into()), "{report:#}");
}

#[test]
fn a_workspace_needs_a_choice() {
    let here = fixture("workspace", "wrapped-workspace");
    check(&here, &["generate"], 2, &["several packages", "--package", "alpha, beta"]);
    check(&here, &["generate", "-p", "gamma"], 2, &["`gamma`", "alpha, beta"]);
    check(&here, &["generate", "-p", "alpha", "--features", "no-such"], 2, &["no feature `no-such`"]);
    let listed = check(&here, &["list", "-p", "beta"], 0, &[]);
    assert!(listed.stdout.contains("taken   "), "{listed}");
    // In a member's folder the choice is made.
    check(&here.join("alpha"), &["list"], 0, &[]);
}

#[test]
fn two_versions_of_a_crate_in_one_lock_file() {
    let here = fixture("two-versions", "two-versions");
    let done = run(&mut tool(&here, &["generate", "--executions", "300", "--jobs", "1", "--no-write"]));
    assert!(matches!(done.code, Some(0 | 1)), "{done}");
    assert!(done.stdout.contains("two-versions 0.1.0: "), "{done}");
}

#[test]
fn a_compiler_whose_documentation_is_unknown() {
    let here = fixture("rustdoc", "bounded-stack");
    let from_the_future = here.with_file_name("rustdoc");
    script(
        &from_the_future,
        "rustdoc \"$@\" || exit\n\
         while [ $# -gt 0 ]; do case \"$1\" in -o | --out-dir) out=\"$2\" ;; esac; shift; done\n\
         [ -z \"$out\" ] || sed -i 's/\"format_version\":[0-9]*/\"format_version\":9999/' \"$out\"/*.json\n",
    );
    run(tool(&here, &["list"]).env("RUSTDOC", &from_the_future))
        .expect(6, &["format 9999", "update the tool"]);
}

#[test]
fn the_users_own_compiler_wrapper_is_used_too() {
    let here = fixture("wrapper", "bounded-stack");
    let wrapper = here.with_file_name("wrapper");
    let log = here.with_file_name("log");
    script(&wrapper, &format!("echo \"$@\" >> '{}'\nexec \"$@\"\n", log.display()));
    run(tool(&here, &["list"]).env("RUSTC_WRAPPER", &wrapper)).expect(0, &[]);
    let log = fs::read_to_string(log).expect("the wrapper ran");
    assert!(log.contains("--crate-name bounded_stack"), "{log}");
}

#[test]
fn a_reader_that_leaves_early() {
    let here = fixture("pipe", "bounded-stack");
    let mut child = tool(&here, &["list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn out_is_never_somebody_elses_package() {
    let here = fixture("out", "bounded-stack");
    let before = snapshot(&here);
    check(&here, &["generate", "--out", "."], 2, &["--out needs a folder of its own"]);
    check(&here, &["generate", "--out", "src/lib.rs"], 6, &["cannot write to src/lib.rs"]);
    assert_eq!(snapshot(&here), before);
}

#[test]
fn files_of_other_people_and_damaged_ones() {
    let here = fixture("files", "bounded-stack");
    fs::create_dir(here.join("tests")).expect("a folder");
    for name in ["testwright_findings.rs", "testwright_regression.rs"] {
        fs::write(here.join("tests").join(name), "// mine\n").expect("a file");
    }
    let before = snapshot(&here);
    check(&here, &["replay", "0", "--out", "none"], 2, &["run `cargo testwright generate` first"]);
    let quick = ["generate", "--executions", "2000", "--jobs", "1"];
    let found = check(&here, &quick, 1, &["warning: ", "is not a file of testwright's and stays as it is"]);
    assert_eq!(snapshot(&here), before);
    // The tests lie beside the report instead.
    let tests =
        found.stdout.lines().find_map(|line| line.strip_prefix("tests: ")).expect("where the tests are");
    let tests = tests.split(" (").next().expect("a path");
    assert!(fs::read_to_string(tests).expect("tests").contains("BoundedStack"), "{found}");

    let report =
        found.stdout.lines().find_map(|line| line.strip_prefix("report: ")).expect("where the report is");
    let id = json(Path::new(report))["findings"][0]["id"].as_str().expect("an id").to_owned();
    check(&here, &["replay", "no-such-id"], 2, &["no finding `no-such-id`", &id]);
    let again = check(&here, &["replay", &id], 1, &[]);
    assert!(again.stdout.contains("the test still fails"), "{again}");
    fs::write(report, "{\"schema\": 1, ").expect("damage");
    check(&here, &["replay", &id], 6, &["is damaged", "writes it anew"]);
    fs::write(report, [0xff, 0xfe]).expect("damage");
    check(&here, &["replay", &id], 6, &["cannot read"]);
}

/// Runs a shell script that may mount: in a mount namespace of its own, as far as that is permitted.
fn with_mounts(here: &Path, text: &str, args: &[&str]) -> Option<std::process::Command> {
    let program_and_args = || [program()].into_iter().chain(args.iter().copied());
    for how in ["-m", "-rm"] {
        let mounts = format!("{text} || exit 111");
        let tried = plain("unshare", here).args([how, "sh", "-c", &mounts]).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            let mut command = plain("unshare", here);
            // The mounts hide what lies below: the folder is entered anew.
            let script = format!("{text} || exit 111\ncd . && exec \"$@\"");
            command.args([how, "sh", "-c", &script, "sh"]).args(program_and_args());
            return Some(command);
        }
    }
    eprintln!("skipped: mounting is not permitted here");
    None
}

#[test]
fn a_tree_that_cannot_be_written() {
    let here = fixture("read-only", "bounded-stack");
    let before = snapshot(&here);
    let mounts = format!("mount --bind '{0}' '{0}' && mount -o remount,bind,ro '{0}'", here.display());
    let manifest = here.join("Cargo.toml");
    let args = ["generate", "--executions", "2000", "--jobs", "1", "--manifest-path"];
    let args: Vec<&str> = args.into_iter().chain(manifest.to_str()).collect();
    let Some(mut command) = with_mounts(Path::new("/"), &mounts, &args) else { return };
    command.env_remove("TESTWRIGHT_CACHE").env("XDG_CACHE_HOME", cache());
    let found = run(&mut command).expect(1, &["warning: cannot write", "testwright_findings.rs"]);
    assert!(found.stdout.contains("BoundedStack::push"), "{found}");
    assert_eq!(snapshot(&here), before);
}

#[test]
fn a_disk_without_room() {
    let here = fixture("full", "bounded-stack");
    let small = here.with_file_name("small");
    fs::create_dir(&small).expect("a folder");
    let mount = |size| format!("mount -t tmpfs -o size={size} tmpfs '{}'", small.display());
    let Some(mut command) = with_mounts(&here, &mount("1m"), &["generate", "--budget", "5s"]) else { return };
    run(command.env("TESTWRIGHT_CACHE", &small)).expect(6, &["error: ", "help: ", "disk"]);

    // The search succeeds, its results cannot be kept: they are shown at least.
    let args = ["generate", "--executions", "2000", "--jobs", "1", "--out", small.to_str().expect("Unicode")];
    let Some(mut command) = with_mounts(&here, &mount("4k"), &args) else { return };
    let found = run(&mut command).expect(6, &["cannot write", "is there room", "No space left"]);
    assert!(found.stdout.contains("BoundedStack::push"), "{found}");
}

#[test]
fn an_interrupted_search_keeps_what_it_found() {
    let here = fixture("interrupted", "bounded-stack");
    let mut search = UnderWay::start(&here, &["generate", "--budget", "10m", "--out", "out"]);
    search.wait_for("searching");
    search.wait_until("a failure", |line| line.contains("failures seen") && !line.contains(" 0 failures"));
    search.interrupt(true);
    let start = Instant::now();
    let done = search.end().expect(130, &["interrupted: finishing"]);
    assert!(start.elapsed() < Duration::from_secs(120), "{done}");
    let report = json(&here.join("out/report.json"));
    assert_eq!(report["interrupted"], true, "{done}");
    assert_eq!(report["exit"], 130);
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{done}");
}

#[test]
fn an_interrupt_before_the_search_is_no_fault_of_the_crate() {
    let here = fixture("interrupted-early", "bounded-stack");
    let mut early = UnderWay::start(&here, &["generate", "--budget", "10m"]);
    early.wait_for("checking");
    early.interrupt(true);
    early.end().expect(130, &["interrupted"]);
}

#[test]
fn a_second_interrupt_stops_at_once() {
    let here = fixture("interrupted-twice", "bounded-stack");
    let mut stubborn = UnderWay::start(&here, &["generate", "--budget", "10m"]);
    stubborn.wait_for("checking");
    // Not the group: cargo goes on, and the tool waits for it.
    stubborn.interrupt(false);
    stubborn.wait_for("interrupted");
    stubborn.interrupt(false);
    let start = Instant::now();
    stubborn.child.wait().expect("it ends");
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(stubborn.child.wait().expect("it ended").code(), Some(130));
}
