//! Emitted tests: which of them compile, and as what.

mod common;

use std::process::Command;

use common::{Bed, manifest};
use testwright_harness::{Confirm, TestBench, TestSource};

fn bench(bed: &Bed) -> TestBench {
    TestBench::open(&bed.locate(), &[], "2021", &bed.places()).unwrap_or_else(|error| panic!("{error}"))
}

fn counter() -> Bed {
    Bed::new(&[
        ("Cargo.toml", &manifest("counter", "")),
        (
            "src/lib.rs",
            "pub fn next(x: u8) -> u8 { x + 1 }\npub fn bad(p: usize) -> u8 { let v = vec![1u8; 4]; unsafe { *v.as_ptr().add(p) } }",
        ),
    ])
}

#[test]
fn bad_items_are_told_from_good_ones() {
    let bed = counter();
    let items = [
        "#[test]\nfn a() { assert_eq!(counter::next(1), 2); }",
        "#[test]\nfn a() { let x: String = counter::next(1); }",
        "#[test]\nfn b() { counter::previous(1); }",
        "#[test]\nfn c() { let mut v = vec![1]; let f = &v[0]; v.push(2); drop(f); }",
        "#[test]\nfn d() {}",
        "#[test]\nfn e() { let x: u8 = 256; drop(x); }",
    ]
    .map(str::to_owned);
    let verdicts = bench(&bed).check_bulk(&items).unwrap_or_else(|error| panic!("{error}"));
    let good: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, false, true, false], "{verdicts:?}");
    assert!(verdicts[3].as_ref().is_err_and(|words| words.starts_with("E0502")), "{verdicts:?}");
}

#[test]
fn executables_obey_the_settings() {
    let bed = counter();
    let bench = bench(&bed);
    let test = |name: &str, text: &str| TestSource { name: name.to_owned(), text: text.to_owned() };
    let tests = [
        test("overflows", "#[test]\nfn overflows() { counter::next(std::hint::black_box(255)); }"),
        test("broken", "#[test]\nfn broken() { counter::nothing(); }"),
    ];
    let passes = |confirm: Confirm| {
        let built = bench.compile(&tests, confirm).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            built[1].as_ref().is_err_and(|words| words.contains("cannot find function `nothing`")),
            "{built:?}"
        );
        let executable = built[0].as_ref().unwrap_or_else(|words| panic!("{words}"));
        Command::new(executable).output().expect("it starts").status.success()
    };
    assert!(!passes(Confirm::debug()));
    assert!(passes(Confirm::release()));
    assert!(!passes(Confirm::debug()), "each setting has its own executable");
    let memory =
        test("reads", "#[test]\nfn reads() { assert!(counter::bad(std::hint::black_box(5)) < 255); }");
    let sanitized =
        Confirm { sanitizer: true, opt_level: 0, overflow_checks: false, debug_assertions: false };
    let built = bench.compile(&[memory], sanitized).unwrap_or_else(|error| panic!("{error}"));
    let output = Command::new(built[0].as_ref().expect("compiles")).output().expect("it starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("AddressSanitizer"), "{output:?}");
}
