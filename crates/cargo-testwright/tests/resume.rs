//! Campaigns that go on with what earlier runs left, killed ones included.

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::{fixture, json, run, tool};

fn generate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["generate", "--jobs", "1", "--out", "out"].into_iter().chain(more.iter().copied()).collect()
}

fn report(here: &Path) -> Value {
    json(&here.join("out/report.json"))
}

fn count(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {report:#}"))
}

#[test]
fn a_campaign_goes_on_where_it_ended() {
    let here = fixture("resume", "bounded-stack");
    run(&mut tool(&here, &generate(&["--resume", "--executions", "3000"])))
        .expect(2, &["out/campaign.sqlite does not exist", "without --resume"]);
    assert!(!here.join("out/campaign.sqlite").exists());

    run(&mut tool(&here, &generate(&["--executions", "3000"]))).expect(1, &[]);
    let first = report(&here);
    assert_eq!(first["search"]["resumed"], false);
    let kept = fs::read(here.join("out/campaign.sqlite")).expect("the campaign");
    let resume = generate(&["--resume", "--executions", "3000"]);
    let done = run(&mut tool(&here, &resume)).expect(1, &["resuming after 3000 sequences", "0 lost"]);
    let second = report(&here);
    assert_eq!(second["search"]["resumed"], true);
    assert_eq!(count(&second, "/search/earlier_runs"), 1);
    assert_eq!(count(&second, "/search/earlier_executions"), 3000);
    assert_eq!(count(&second, "/executions/sequences"), 6000);
    assert!(count(&second, "/search/replayed") > 100, "{second:#}");
    assert_eq!(count(&second, "/search/lost"), 0);
    for figure in ["/executions/calls", "/search/distinct_values"] {
        assert!(count(&second, figure) > count(&first, figure), "{figure}: {second:#}");
    }
    for figure in ["/coverage/edges_hit", "/coverage/lines_hit"] {
        assert!(count(&second, figure) >= count(&first, figure), "{figure}: {second:#}");
    }
    for field in ["id", "first_seen_s", "first_seen_execution"] {
        assert_eq!(first["findings"][0][field], second["findings"][0][field], "{done}");
    }

    // From the same file the same comes out.
    let timeless = |mut report: Value| {
        for time in ["elapsed_s", "build_s"] {
            report[time] = Value::Null;
        }
        report["executions"]["calls_per_s"] = Value::Null;
        for time in ["seconds", "last_new_s"] {
            report["search"][time] = Value::Null;
        }
        report
    };
    fs::write(here.join("out/campaign.sqlite"), kept).expect("the campaign of before");
    run(&mut tool(&here, &resume)).expect(1, &[]);
    assert_eq!(timeless(report(&here)), timeless(second));

    // A third run counts both; one that begins anew counts none.
    run(&mut tool(&here, &generate(&["--resume", "--executions", "200"]))).expect(1, &[]);
    assert_eq!(count(&report(&here), "/executions/sequences"), 6200);
    assert_eq!(count(&report(&here), "/search/earlier_runs"), 2);
    run(&mut tool(&here, &generate(&["--executions", "200"]))).expect(1, &[]);
    assert_eq!(count(&report(&here), "/executions/sequences"), 200);
}

#[test]
fn a_budget_too_short_for_the_search_still_has_the_old_finding() {
    let here = fixture("resume-short", "bounded-stack");
    run(&mut tool(&here, &generate(&["--executions", "2000", "--max-tests", "0"]))).expect(1, &[]);
    run(&mut tool(&here, &generate(&["--resume", "--executions", "1", "--max-tests", "0"]))).expect(1, &[]);
    let report = report(&here);
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(count(&report, "/executions/sequences"), 2001);
}

#[test]
fn a_crate_that_changed_loses_only_what_is_gone() {
    let here = fixture("resume-changed", "bounded-stack");
    run(&mut tool(&here, &generate(&["--executions", "2000", "--max-tests", "0"]))).expect(1, &[]);
    let path = here.join("src/lib.rs");
    let text = fs::read_to_string(&path).expect("the source");
    let mended = text.replace("if self.len > self.places.len()", "if self.len >= self.places.len()");
    let changed = mended.replace("pub fn is_full(", "pub fn has_no_place(");
    assert!(text != mended && mended != changed);
    fs::write(&path, changed).expect("the source");
    run(&mut tool(&here, &generate(&["--resume", "--executions", "1", "--max-tests", "0"])))
        .expect(0, &["resuming after 2000 sequences"]);
    let report = report(&here);
    assert!(count(&report, "/search/lost") > 0, "{report:#}");
    assert!(count(&report, "/search/replayed") > count(&report, "/search/lost"), "{report:#}");
}

#[test]
fn a_killed_campaign_can_be_resumed() {
    let here = fixture("resume-killed", "bounded-stack");
    let mut child = tool(&here, &generate(&["--executions", "100000000"]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    // A line comes every ten seconds; between two of them something was kept.
    let said = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    assert_eq!(said.filter(|line| line.contains("failures seen")).take(2).count(), 2);
    child.kill().expect("it is killed");
    child.wait().expect("it ended");
    assert!(!here.join("out/report.json").exists());

    run(&mut tool(&here, &generate(&["--resume", "--executions", "1", "--max-tests", "0"])))
        .expect(1, &["resuming after"]);
    let report = report(&here);
    assert!(count(&report, "/search/earlier_executions") > 1000, "{report:#}");
    assert!(count(&report, "/search/replayed") > 100, "{report:#}");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{report:#}");
}

#[test]
fn files_that_are_no_campaign_of_this_crate_stay() {
    let here = fixture("resume-foreign", "bounded-stack");
    let file = here.join("out/campaign.sqlite");
    fs::create_dir(here.join("out")).expect("a folder");
    fs::write(&file, "my notes\n").expect("a file");
    for more in [&["--resume"][..], &[]] {
        run(&mut tool(&here, &generate(more))).expect(2, &["out/campaign.sqlite", "delete it", "--out"]);
        assert_eq!(fs::read_to_string(&file).expect("the file"), "my notes\n");
    }
    fs::remove_file(&file).expect("the file goes");
    let quick = ["--executions", "400", "--max-tests", "0"];
    run(&mut tool(&here, &generate(&quick))).expect(1, &[]);
    let manifest = here.join("Cargo.toml");
    let renamed =
        fs::read_to_string(&manifest).expect("the manifest").replace("bounded-stack", "other-stack");
    fs::write(&manifest, renamed).expect("the manifest");
    run(&mut tool(&here, &generate(&["--resume", "--executions", "1"])))
        .expect(2, &["`bounded-stack`, not of `other-stack`", "--out"]);

    let mut damaged = fs::read(&file).expect("the file");
    damaged.truncate(damaged.len() / 2);
    fs::write(&file, &damaged).expect("damage");
    for more in [&["--resume"][..], &[]] {
        let args: Vec<&str> = quick.iter().chain(more).copied().collect();
        run(&mut tool(&here, &generate(&args))).expect(6, &["is damaged", "delete it", "--out"]);
        assert!(fs::read(&file).expect("the file") == damaged, "the file was changed");
    }
}
