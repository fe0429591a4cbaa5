//! Published crates through cargo; these tests need the network or cargo's cache.

mod common;

use testwright_harness::{FeatureChoice, HarnessError, Selection, Subject, locate, rustdoc_json};

fn fetch(name: &str, version: Option<&str>) -> (tempfile::TempDir, Result<Subject, HarnessError>) {
    let work = tempfile::tempdir().expect("a scratch folder");
    let selection = Selection::Published {
        name: name.to_owned(),
        version: version.map(str::to_owned),
        features: FeatureChoice::default(),
    };
    let subject = locate(&selection, &common::places(work.path()));
    (work, subject)
}

#[test]
fn yanked_versions_are_found() {
    for (name, version) in [
        ("once_cell", "1.0.0"),
        ("safe-transmute", "0.10.0"),
        ("scratchpad", "1.3.0"),
        ("slab", "0.4.10"),
        ("string-interner", "0.7.0"),
    ] {
        let (work, subject) = fetch(name, Some(version));
        let subject = subject.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((subject.package.as_str(), subject.version.as_str()), (name, version));
        assert!(subject.published && subject.root.starts_with(work.path()));
        let json =
            rustdoc_json(&subject, &common::places(work.path())).unwrap_or_else(|error| panic!("{error}"));
        assert!(json.contains("\"format_version\""), "{name}");
    }
}

#[test]
fn the_newest_version_is_the_default() {
    let (_work, subject) = fetch("slab", None);
    assert!(subject.unwrap_or_else(|error| panic!("{error}")).version.starts_with("0.4."));
}

#[test]
fn unknown_crates_and_versions_are_named() {
    let (_work, subject) = fetch("testwright-surely-unknown-zz", None);
    let error = subject.expect_err("there is none");
    assert_eq!(error.exit_code(), 6, "{error}");
    assert!(matches!(error, HarnessError::UnknownCrate { version: None, .. }), "{error}");
    let (_work, subject) = fetch("slab", Some("9.9.9"));
    let error = subject.expect_err("there is none");
    assert!(error.advice().is_some_and(|advice| advice.contains("0.4.")), "{error:?}");
    let (_work, subject) = fetch("no/name", None);
    assert_eq!(subject.expect_err("no name").exit_code(), 2);
}

/// `CRATES="slab@0.4.10 url@2.2.0" cargo test -p testwright-harness --test published -- --ignored --nocapture`
#[test]
#[ignore = "for a list of crates of one's own"]
fn every_crate_of_a_list_is_located_and_documented() {
    let list = std::env::var("CRATES").unwrap_or_default();
    let mut refused = 0;
    for word in list.split_whitespace() {
        let (name, version) =
            word.split_once('@').map_or((word, None), |(name, version)| (name, Some(version)));
        let start = std::time::Instant::now();
        let (work, subject) = fetch(name, version);
        let outcome = subject.and_then(|subject| rustdoc_json(&subject, &common::places(work.path())));
        match outcome {
            Ok(json) => println!("{word}: {} kB, {:.1} s", json.len() / 1000, start.elapsed().as_secs_f64()),
            Err(error) => {
                refused += 1;
                println!("{word}: {error}");
            }
        }
    }
    assert_eq!(refused, 0);
}
