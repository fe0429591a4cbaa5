//! Finding the package, its features and dependencies, and saying clearly why not.

mod common;

use common::{Bed, manifest};
use testwright_harness::{
    FeatureChoice, HarnessError, Places, Selection, Source, locate, members, rustdoc_json,
};

fn refusal(bed: &Bed, package: Option<&str>, features: FeatureChoice) -> HarnessError {
    let selection = Selection::Local {
        manifest_path: Some(bed.root().join("Cargo.toml")),
        package: package.map(str::to_owned),
        features,
    };
    locate(&selection, &bed.places()).expect_err("it must be refused")
}

#[test]
fn facts_of_a_package_in_a_workspace() {
    let bed = Bed::copy_of("fixtures/wrapped-workspace");
    let before = bed.snapshot();
    let selection = Selection::Local {
        manifest_path: Some(bed.root().join("Cargo.toml")),
        package: Some("beta".to_owned()),
        features: FeatureChoice::default(),
    };
    let subject = locate(&selection, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((subject.package.as_str(), subject.lib.as_str()), ("beta", "beta"));
    assert_eq!(subject.edition, "2021");
    assert_eq!(subject.workspace_root, bed.root());
    assert_eq!(subject.dependencies["alpha"].source, Source::Path(bed.root().join("alpha")));
    assert_eq!(subject.dependencies["alpha"].direct.as_deref(), Some("alpha"));
    let json = rustdoc_json(&subject, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
    assert!(json.contains("\"format_version\""));
    assert_eq!(rustdoc_json(&subject, &bed.places()).unwrap_or_else(|error| panic!("{error}")), json);
    assert_eq!(bed.snapshot(), before);
}

#[test]
fn a_workspace_without_a_choice_lists_its_members() {
    let bed = Bed::copy_of("fixtures/wrapped-workspace");
    let error = refusal(&bed, None, FeatureChoice::default());
    assert_eq!(error.exit_code(), 2);
    assert!(error.advice().is_some_and(|advice| advice.contains("alpha, beta")), "{error:?}");
    let error = refusal(&bed, Some("gamma"), FeatureChoice::default());
    assert_eq!(error.exit_code(), 2);
    assert!(error.advice().is_some_and(|advice| advice.contains("alpha, beta")), "{error:?}");
}

#[test]
fn features_are_resolved() {
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("flagged", "[features]\ndefault = [\"a\"]\na = []\nb = [\"a\"]\nc = []\n")),
        ("src/lib.rs", ""),
    ]);
    let choose = |features: FeatureChoice| {
        let selection =
            Selection::Local { manifest_path: Some(bed.root().join("Cargo.toml")), package: None, features };
        let subject = locate(&selection, &bed.places()).unwrap_or_else(|error| panic!("{error}"));
        (subject.features.join(" "), subject.features_off.join(" "))
    };
    assert_eq!(choose(FeatureChoice::default()), ("a default".into(), "b c".into()));
    let only_b = FeatureChoice { features: vec!["b".into()], no_default: true, all: false };
    assert_eq!(choose(only_b), ("a b".into(), "c default".into()));
    let all = FeatureChoice { all: true, ..FeatureChoice::default() };
    assert_eq!(choose(all), ("a b c default".into(), String::new()));
    let unknown = FeatureChoice { features: vec!["zzz".into()], ..FeatureChoice::default() };
    let error = refusal(&bed, None, unknown);
    assert_eq!(error.exit_code(), 2);
    assert!(error.advice().is_some_and(|advice| advice.contains("a, b, c, default")), "{error:?}");
}

#[test]
fn an_optional_dependency_that_no_feature_asks_for_is_not_there() {
    let optional = "[features]\nstd = [\"weak?/std\"]\nwith = [\"dep:weak\"]\n[dependencies]\n\
        weak = { path = \"weak\", optional = true }\nplain = { path = \"plain\", optional = true }\n";
    let helper = |name| manifest(name, "[features]\nstd = []\n");
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("helped", optional)),
        ("src/lib.rs", ""),
        ("weak/Cargo.toml", &helper("weak")),
        ("weak/src/lib.rs", ""),
        ("plain/Cargo.toml", &helper("plain")),
        ("plain/src/lib.rs", ""),
    ]);
    let there = |feature: &str| {
        let features = FeatureChoice { features: vec![feature.to_owned()], ..FeatureChoice::default() };
        let manifest_path = Some(bed.root().join("Cargo.toml"));
        let subject = locate(&Selection::Local { manifest_path, package: None, features }, &bed.places())
            .unwrap_or_else(|error| panic!("{error}"));
        subject.dependencies.into_keys().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(there("std"), "", "cargo resolves it and does not build it");
    assert_eq!(there("with"), "weak");
    assert_eq!(there("plain"), "plain");
}

#[test]
fn what_has_no_library_is_refused_with_the_reason() {
    let bin = Bed::new(&[("Cargo.toml", &manifest("tool", "")), ("src/main.rs", "fn main() {}")]);
    let error = refusal(&bin, None, FeatureChoice::default());
    assert_eq!((error.exit_code(), error.to_string().contains("only binaries")), (4, true), "{error}");
    let text = manifest("derive", "[lib]\nproc-macro = true\n");
    let macros = Bed::new(&[("Cargo.toml", &text), ("src/lib.rs", "")]);
    let error = refusal(&macros, None, FeatureChoice::default());
    assert_eq!((error.exit_code(), error.to_string().contains("procedural macro")), (4, true), "{error}");
}

#[test]
fn what_does_not_compile_is_shown_in_the_compilers_words() {
    let bed =
        Bed::new(&[("Cargo.toml", &manifest("broken", "")), ("src/lib.rs", "pub fn f() -> u8 { \"text\" }")]);
    let error = refusal(&bed, None, FeatureChoice::default());
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("error[E0308]: mismatched types"), "{error}");
    let lints = Bed::new(&[
        ("Cargo.toml", &manifest("strict", "")),
        ("src/lib.rs", "#![deny(warnings)]\nfn unused() {}"),
    ]);
    lints.locate();
}

#[test]
fn a_missing_or_unreadable_manifest() {
    let bed = Bed::new(&[("README.md", "")]);
    assert_eq!(refusal(&bed, None, FeatureChoice::default()).exit_code(), 2);
    bed.write("Cargo.toml", "[package\n");
    assert_eq!(refusal(&bed, None, FeatureChoice::default()).exit_code(), 3);
}

#[test]
fn two_versions_of_one_crate_are_told_apart() {
    let bed = Bed::copy_of("fixtures/two-versions");
    let before = bed.snapshot();
    let subject = bed.locate();
    assert!(subject.dependencies["itoa04"].version.starts_with("0.4"));
    assert!(subject.dependencies["itoa1"].version.starts_with('1'));
    let lock = String::from_utf8_lossy(&before[&bed.root().join("Cargo.lock")]).into_owned();
    for dependency in subject.dependencies.values() {
        let entry = format!("name = \"{}\"\nversion = \"{}\"", dependency.package, dependency.version);
        assert!(lock.contains(&entry), "the user's version: {entry}");
    }
    assert_eq!(bed.snapshot(), before);
}

#[test]
fn a_path_dependencys_source_counts() {
    let rest = "[dependencies]\ninner = { path = \"inner\" }\n[workspace]\nmembers = [\"inner\"]\n";
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("user", rest)),
        ("src/lib.rs", "pub fn f() -> u8 { inner::answer() }"),
        ("inner/Cargo.toml", &manifest("inner", "")),
        ("inner/src/lib.rs", "pub fn answer() -> u8 { 42 }"),
    ]);
    let before = bed.snapshot();
    let first = bed.locate();
    assert_eq!(bed.snapshot(), before);
    bed.write("inner/src/lib.rs", "pub fn answer() -> u8 { 43 }");
    assert_ne!(bed.locate().digest, first.digest);
}

#[test]
fn a_patched_dependency_stays_patched() {
    let rest = "[dependencies]\nitoa = \"1\"\n[patch.crates-io]\nitoa = { path = \"own\" }\n";
    let bed = Bed::new(&[
        ("Cargo.toml", &manifest("user", rest)),
        ("src/lib.rs", "pub fn f() -> u8 { itoa::only_in_the_patch() }"),
        ("own/Cargo.toml", &manifest("itoa", "").replace("0.1.0", "1.99.0")),
        ("own/src/lib.rs", "pub fn only_in_the_patch() -> u8 { 42 }"),
    ]);
    let subject = bed.locate();
    assert_eq!(subject.dependencies["itoa"].version, "1.99.0");
}

#[test]
fn the_work_folder_is_in_the_packages_target_folder() {
    let bed = Bed::copy_of("fixtures/wrapped-workspace");
    let selection = Selection::Local {
        manifest_path: Some(bed.root().join("alpha/Cargo.toml")),
        package: None,
        features: FeatureChoice::default(),
    };
    let places =
        Places::for_selection(&selection, bed.root().as_path()).unwrap_or_else(|error| panic!("{error}"));
    // The target folder is the package's own unless the environment of the test names another.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| bed.root().join("target"), Into::into);
    assert_eq!(places.work, target.join("testwright"));
}

#[test]
fn no_network_is_needed_without_dependencies() {
    let bed = Bed::copy_of("fixtures/wrapped-workspace");
    let mut places = bed.places();
    places.offline = true;
    let selection = Selection::Local {
        manifest_path: Some(bed.root().join("alpha/Cargo.toml")),
        package: None,
        features: FeatureChoice::default(),
    };
    locate(&selection, &places).unwrap_or_else(|error| panic!("{error}"));
    bed.write(
        "alpha/Cargo.toml",
        &manifest("alpha", "[dependencies]\ntestwright-surely-unknown-zz = \"1\"\n"),
    );
    let error = locate(&selection, &places).expect_err("it is not on the disk");
    assert_eq!(error.exit_code(), 6, "{error}");
}

#[test]
fn members_have_those_of_the_features_that_they_know() {
    let bed = Bed::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"z\", \"a\", \"tool\"]\n"),
        ("z/Cargo.toml", &manifest("z", "[features]\nfast = []\nboth = []\n")),
        ("z/src/lib.rs", ""),
        ("a/Cargo.toml", &manifest("a", "[features]\nboth = []\nown = []\n")),
        ("a/src/lib.rs", ""),
        ("tool/Cargo.toml", &manifest("tool", "")),
        ("tool/src/main.rs", "fn main() {}"),
    ]);
    let root = bed.root().join("Cargo.toml");
    let ask = |exclude: &[&str], features: &str| {
        let exclude: Vec<String> = exclude.iter().map(ToString::to_string).collect();
        let features = FeatureChoice { features: vec![features.to_owned()], ..FeatureChoice::default() };
        members(Some(&root), &exclude, &features)
    };
    let all = ask(&[], "fast both,a/own").unwrap_or_else(|error| panic!("{error}"));
    let told: Vec<String> = all
        .chosen
        .iter()
        .map(|member| {
            let library = if member.no_library.is_some() { "no library" } else { "library" };
            format!("{}: {} ({library})", member.name, member.features.features.join(" "))
        })
        .collect();
    assert_eq!(told, ["a: both a/own (library)", "tool:  (no library)", "z: fast both (library)"]);
    assert!(!all.single);
    // The only member that has the feature is not meant.
    for (exclude, features, words) in [
        (&["z"][..], "fast", "`fast`"),
        (&[], "z/own", "`z/own`"),
        (&["y"], "", "`y`"),
        (&["z@9.0.0"], "", "`z@9.0.0`"),
    ] {
        let error = ask(exclude, features).expect_err("it must be refused");
        assert_eq!((error.exit_code(), error.to_string().contains(words)), (2, true), "{error}");
    }
    let left = ask(&["tool", "z"], "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(left.chosen.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["a"]);
    assert!(!left.single, "others are only left out");
}
