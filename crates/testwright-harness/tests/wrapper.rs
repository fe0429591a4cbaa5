//! The compiler wrapper among other wrappers, and what it instruments.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use common::{Bed, Draft, manifest};
use testwright_harness::{Variant, prepare};

/// Sections by name and size in a 64-bit ELF file.
fn sections(file: &[u8]) -> Vec<(String, u64)> {
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte))
    };
    let place = |value: u64| usize::try_from(value).expect("a 64-bit machine");
    let (table, entry, count, names) =
        (place(number(40, 8)), place(number(58, 2)), number(60, 2), number(62, 2));
    let names = place(number(table + place(names) * entry + 24, 8));
    (0..place(count))
        .map(|index| {
            let head = table + index * entry;
            let start = names + place(number(head, 4));
            let end = file[start..].iter().position(|byte| *byte == 0).expect("a terminated name") + start;
            (String::from_utf8_lossy(&file[start..end]).into_owned(), number(head + 32, 8))
        })
        .collect()
}

#[test]
fn the_users_wrapper_sees_every_call_and_only_the_subject_is_instrumented() {
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("outer", "[dependencies]\ndep = { path = \"dep\" }\n[workspace]\n")),
        ("src/lib.rs", "pub fn twice(x: u8) -> u8 { dep::only(x) * 2 }"),
        ("dep/Cargo.toml", &manifest("dep", "")),
        ("dep/src/lib.rs", "#[inline(never)] pub fn only(x: u8) -> u8 { x / 3 }"),
    ]);
    let script = bed.root().join("log.sh");
    let log = bed.root().join("log");
    bed.write("log.sh", &format!("#!/bin/sh\necho \"$@\" >> {}\nexec \"$@\"\n", log.display()));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("ours");
    bed.write(".cargo/config.toml", "[build]\nrustc-wrapper = \"./log.sh\"\n");
    let mut draft = Draft::new(&["u8"]);
    draft.make(0, "outer::twice(3)", &[]);
    let harness =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    let built = harness.build(&Variant::quick()).unwrap_or_else(|error| panic!("{error}"));
    let log = fs::read_to_string(log).expect("the wrapper was called");
    let instrumented: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("-Cinstrument-coverage"))
        .filter_map(|line| line.split("--crate-name ").nth(1)?.split(' ').next())
        .collect();
    assert_eq!(instrumented, ["outer", "testwright_wrappers"]);
    assert!(log.contains("--crate-name testwright_runtime"));
    let binary = fs::read(built.binary).expect("built");
    let sections = sections(&binary);
    let size = |name: &str| sections.iter().find(|(section, _)| section == name).map_or(0, |(_, size)| *size);
    assert!(size("__llvm_prf_cnts") >= 16, "{sections:?}");
    assert!(size("__sancov_cntrs") >= 2, "{sections:?}");
    let text = String::from_utf8_lossy(&binary);
    assert!(text.contains("5outer5twice"), "names of functions can be read");
}

#[test]
fn the_sanitizer_variant_links_its_runtime() {
    let bed = Bed::new(&[("Cargo.toml", &manifest("plain", "")), ("src/lib.rs", "pub fn one() -> u8 { 1 }")]);
    let mut draft = Draft::new(&["u8"]);
    draft.make(0, "plain::one()", &[]);
    let harness =
        prepare(&bed.locate(), &draft.source, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    let built = harness.build(&Variant::sanitized()).unwrap_or_else(|error| panic!("{error}"));
    let binary = fs::read(built.binary).expect("built");
    assert!(String::from_utf8_lossy(&binary).contains("AddressSanitizer"));
    let plain = harness.build(&Variant::memory()).unwrap_or_else(|error| panic!("{error}"));
    let binary = fs::read(plain.binary).expect("built");
    assert!(!String::from_utf8_lossy(&binary).contains("__asan_init"));
}
