//! Builds the worker as the harness does, with plain `rustc`: instrumented for coverage, and under AddressSanitizer.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod driver;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;

use driver::{Plan, Record, Worker};
use testwright_wire::code::Encoder;
use testwright_wire::layout::{death, guard};
use testwright_wire::record::{flag, section, want};

const I32: u16 = 3;
const USIZE: u16 = 15;
const READ_PAST: u16 = 39;
const BRANCH: u16 = 40;
const RECURSE: u16 = 10;
const U64: u16 = 8;

/// Wire and runtime with `flags`, then the example with `worker_flags` too.
fn build(name: &str, flags: &[&str], worker_flags: &[&str]) -> Result<PathBuf, String> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&out).expect("a folder");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rustc = |crate_name: &str, source: PathBuf, more: &[&str]| {
        let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition", "2021", "--cap-lints", "allow", "--crate-name", crate_name])
            .arg(source)
            .arg("--out-dir")
            .arg(&out)
            .arg("-L")
            .arg(&out)
            .args(flags)
            .args(more)
            .env("RUSTC_BOOTSTRAP", "1")
            .output()
            .expect("rustc is on the path");
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    let library = ["--crate-type", "rlib", "-C", "opt-level=3"];
    rustc("testwright_wire", runtime.join("../testwright-wire/src/lib.rs"), &library)?;
    let with_wire = [&library[..], &["--extern", "testwright_wire"]].concat();
    rustc("testwright_runtime", runtime.join("src/lib.rs"), &with_wire)?;
    let worker = [&["--extern", "testwright_runtime", "-C", "link-arg=-rdynamic"], worker_flags].concat();
    rustc("tiny_worker", runtime.join("examples/tiny_worker.rs"), &worker)?;
    Ok(out.join("tiny_worker"))
}

/// One sequence: a literal, and a call with it.
fn call_with(words: &mut Vec<u16>, ty: u16, value: u64, operation: u16) {
    let mut encoder = Encoder::new(words);
    encoder.int(ty, value);
    encoder.call(operation);
    encoder.argument(0, 0);
    encoder.finish();
}

fn branches(worker: &mut Worker, values: &[u64], wants: u32) -> Vec<Record> {
    let mut words = Vec::new();
    for &value in values {
        call_with(&mut words, I32, value, BRANCH);
    }
    worker.send(1, &words, values.len() as u32, wants);
    assert_eq!(worker.wait(), Some(1));
    worker.records(1)
}

#[test]
fn coverage_is_told_once_and_by_window() {
    let flags = [
        "-Cinstrument-coverage",
        "-Cdebug-assertions=on",
        "-Copt-level=1",
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=3",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    ];
    let program = build("instrumented", &[], &flags).expect("it builds");
    let mut worker = Worker::start_program(&program, &Plan::default());
    let counters = worker.header().counters.load(Relaxed);
    assert!(counters > 50, "{counters}");

    let first = branches(&mut worker, &[0, 0, 1, 1], 0);
    let flags: Vec<u16> = first.iter().map(|record| record.head.flags).collect();
    assert_eq!(flags[..3], [flag::NEW_COVERAGE, 0, 0], "the window widens");
    assert_eq!(flags[3], flag::NEW_COVERAGE_WINDOW);
    assert!(first[0].u32s(section::NEW_COUNTERS).windows(2).all(|pair| pair[0] < pair[1]));
    assert!(!first[3].u32s(section::NEW_COUNTERS).is_empty());

    let quiet = branches(&mut worker, &[0; 200], 0);
    assert!(quiet.iter().all(|record| record.head.flags == 0 && record.sections.is_empty()));
    let mut late = vec![0; 200];
    late[100] = 2;
    let late = branches(&mut worker, &late, 0);
    let news: Vec<usize> = (0..200).filter(|&i| late[i].head.flags == flag::NEW_COVERAGE_WINDOW).collect();
    assert!(news.len() == 1 && (100..164).contains(&news[0]), "{news:?}");

    let all = branches(&mut worker, &[0, 1, 0], want::ALL_COUNTERS | want::SCAN_EACH);
    let reached: Vec<_> = all.iter().map(|record| record.u32s(section::COUNTERS)).collect();
    assert_eq!(reached[0], reached[2]);
    assert_ne!(reached[0], reached[1]);
    assert!(!reached[0].is_empty() && all[1].head.flags == 0);

    // Counts are a sequence's own: what ran before is not in them.
    let counted = branches(&mut worker, &[0, 1, 0], want::COUNTS);
    let counts: Vec<_> = counted.iter().map(|record| record.u64s(section::COUNTS)).collect();
    assert_eq!(counts[0], counts[2]);
    assert_ne!(counts[0], counts[1]);
    let reached_words =
        reached[0].iter().filter(|counter| counts[0].chunks(2).any(|pair| pair[0] == u64::from(**counter)));
    assert_eq!(reached_words.count(), counts[0].len() / 2, "each is a counter that was reached");
    assert!(counts[0].chunks(2).all(|pair| pair[1] > 0) && !counts[0].is_empty());
    let quiet = branches(&mut worker, &[0], 0);
    assert!(quiet[0].sections.is_empty(), "not asked for");

    // What another worker has seen, by the shared map, is not news: here a map of its own, so all is news again.
    let mut other = Worker::start_program(&program, &Plan { options: 0, ..Plan::default() });
    assert_eq!(branches(&mut other, &[0], 0)[0].head.flags, 0, "coverage is not asked for");
}

#[test]
fn sanitizer_reports_become_last_words() {
    let flags = ["-Z", "sanitizer=address", "--cfg", "testwright_asan"];
    let program = match build("sanitized", &flags, &[]) {
        Ok(program) => program,
        Err(why) => {
            println!("not built here: {why}");
            return;
        }
    };
    let mut worker = Worker::start_program(&program, &Plan::default());
    assert_eq!(worker.header().guards.load(Relaxed) & guard::ADDRESS_SANITIZER, guard::ADDRESS_SANITIZER);
    branches(&mut worker, &[1, 2], want::TEXTS | want::FINGERPRINTS);
    let mut words = Vec::new();
    call_with(&mut words, USIZE, 13, READ_PAST);
    worker.send(0, &words, 1, 0);
    assert_eq!(worker.wait(), None);
    worker.finish();
    let dead = worker.death();
    assert_eq!(dead.kind, death::MEMORY, "{dead:?}");
    assert!(dead.message.contains("heap-buffer-overflow"), "{dead:?}");

    let mut worker = Worker::start_program(&program, &Plan::default());
    let mut words = Vec::new();
    call_with(&mut words, U64, 1 << 40, RECURSE);
    worker.send(0, &words, 1, 0);
    assert_eq!(worker.wait(), None);
    worker.finish();
    assert_eq!(worker.death().kind, death::STACK_OVERFLOW, "{:?}", worker.death());
}
