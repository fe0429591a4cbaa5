//! When a known bug counts as found.
//!
//! A bug-tier finding of a fitting class that has the bug's panic location, two lines off at most; or, where a fixed version is
//! given, whose test fails here and passes there; or, where none is given, that names exactly the operation.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context;
use regex::Regex;
use serde::Deserialize;
use testwright_emit::report::{Finding, Report};

/// A published version with a known bug, as the list describes it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Bug {
    pub id: String,
    #[serde(rename = "crate")]
    pub krate: String,
    pub version: String,
    pub fixed: Option<String>,
    pub class: String,
    pub needs: String,
    pub difficulty: u32,
    pub api: String,
    #[serde(default)]
    pub sequence: String,
    #[serde(default)]
    pub observed: String,
    /// Separated by commas.
    pub features: Option<String>,
}

impl Bug {
    pub fn features(&self) -> Vec<&str> {
        self.features.as_deref().map_or(Vec::new(), |features| features.split(',').collect())
    }
}

#[derive(Debug, Deserialize)]
struct List {
    bug: Vec<Bug>,
}

pub fn read(list: &Path) -> anyhow::Result<Vec<Bug>> {
    let text = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let list: List = toml::from_str(&text).with_context(|| list.display().to_string())?;
    for bug in &list.bug {
        if classes(&bug.class).is_empty() {
            anyhow::bail!("{} is of an unknown class: {}", bug.id, bug.class);
        }
    }
    Ok(list.bug)
}

/// The classes of findings that may show a bug of a class.
fn classes(class: &str) -> &'static [&'static str] {
    match class {
        "index-oob" => &["index", "panic", "unwrap", "memory", "abort"],
        "overflow" => &["overflow", "panic", "memory", "abort", "hang"],
        "abort" => &["abort", "memory", "out-of-memory", "panic"],
        "hang" => &["hang", "out-of-memory", "overflow", "stack-overflow"],
        "law-violation" => &["law", "contract", "memory", "leak"],
        "mem-asan" => &["memory", "abort", "overflow", "index", "panic", "law", "leak", "unwrap"],
        "panic-logic" => &["panic", "unwrap", "index", "overflow", "abort"],
        "panic-safety" => &["memory", "abort", "law", "panic", "leak"],
        "stack-overflow" => &["stack-overflow", "abort"],
        "utf8-boundary" => &["index", "panic", "unwrap"],
        _ => &[],
    }
}

/// How a finding shows the bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Location,
    Operation,
    /// Its test does not fail with the fixed version.
    Fixed(FixedVerdict),
}

impl Proof {
    pub fn words(self) -> &'static str {
        match self {
            Proof::Location => "location",
            Proof::Operation => "operation",
            Proof::Fixed(FixedVerdict::DoesNotCompile) => "does not compile with the fixed version",
            Proof::Fixed(_) => "does not fail with the fixed version",
        }
    }
}

/// What a finding's test does with the fixed version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedVerdict {
    Passes,
    Fails,
    DoesNotCompile,
    /// The file was compiled and holds none.
    NoTest,
}

/// Findings whose tests are tried with the fixed version, at most.
const TRIED: usize = 12;

/// The finding that shows the bug; `with_fixed` runs a finding's test with the fixed version.
pub fn shown<'a>(
    bug: &Bug,
    report: &'a Report,
    mut with_fixed: impl FnMut(&Finding) -> anyhow::Result<FixedVerdict>,
) -> anyhow::Result<Option<(&'a Finding, Proof)>> {
    let fits = |finding: &&Finding| {
        let class = finding.class.split(':').next().unwrap_or("");
        finding.is_bug() && classes(&bug.class).contains(&class)
    };
    let mut fitting: Vec<&Finding> = report.findings.iter().filter(fits).collect();
    if let Some(finding) = fitting.iter().find(|finding| at_location(bug, finding)) {
        return Ok(Some((finding, Proof::Location)));
    }
    if bug.fixed.is_none() {
        let named = fitting.into_iter().find(|finding| at_operation(bug, finding));
        return Ok(named.map(|finding| (finding, Proof::Operation)));
    }
    fitting.sort_by_key(|finding| !at_operation(bug, finding));
    for finding in fitting.into_iter().take(TRIED) {
        let verdict = with_fixed(finding)?;
        if verdict == FixedVerdict::Passes
            || (verdict == FixedVerdict::DoesNotCompile && at_operation(bug, finding))
        {
            return Ok(Some((finding, Proof::Fixed(verdict))));
        }
    }
    Ok(None)
}

fn at_location(bug: &Bug, finding: &Finding) -> bool {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"panic ([\w.\-]+)/src/([\w\-./]+\.rs):(\d+)").expect("it is a regular expression")
    });
    let (Some(seen), Some(place)) = (PANIC.captures(&bug.observed), &finding.location) else { return false };
    let here = |name: &str| place.file.contains(name);
    let line: u32 = seen[3].parse().unwrap_or(u32::MAX);
    place.file.ends_with(&format!("src/{}", &seen[2]))
        && (here(&bug.krate) || here(&bug.krate.replace('-', "_")) || !place.file.starts_with('/'))
        && place.line.abs_diff(line) <= 2
}

/// Exact operations in a note: `Rope::lines -> Lines::size_hint` names two.
fn operations(note: &str) -> BTreeSet<(String, String)> {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"([A-Za-z_][A-Za-z0-9_]*)(?:<[^>]*>)?::([a-z_][a-z0-9_]*)")
            .expect("it is a regular expression")
    });
    CALL.captures_iter(note).map(|call| (call[1].to_lowercase(), call[2].to_lowercase())).collect()
}

fn at_operation(bug: &Bug, finding: &Finding) -> bool {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").expect("it is a regular expression"));
    static TYPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b[A-Z][A-Za-z0-9]+").expect("it is a regular expression"));
    static PART: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[a-z]+").expect("it is a regular expression"));
    let all = |pattern: &Regex, text: &str| -> BTreeSet<String> {
        pattern.find_iter(text).map(|word| word.as_str().to_lowercase()).collect()
    };
    let words = all(&WORD, &finding.operation);
    let named = operations(&bug.api);
    if !named.is_empty() {
        let library = bug.krate.replace('-', "_");
        return named
            .iter()
            .any(|(of, method)| words.contains(method) && (words.contains(of) || *of == library));
    }
    // `Hash for Style`, `Display + FromStr for NaiveDateTime`: the type, and the trait in the operation or in the law's name.
    let types = all(&TYPE, &bug.api);
    let told: BTreeSet<String> = words.union(&all(&PART, &finding.class.to_lowercase())).cloned().collect();
    types.intersection(&told).count() >= types.len().min(2)
}

/// So many calls show the bug, as far as the list's own words can be counted: `insert x2; clear(); get_disjoint_mut([1])`.
pub fn known_calls(sequence: &str) -> Option<usize> {
    static TIMES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\w+ x ?(\d+)$").expect("it is a regular expression"));
    static CALLED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\w+)(?:::<[^>]*>)?\(").expect("it is a regular expression"));
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[a-z_]\w*$").expect("it is a regular expression"));
    static TEXT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).expect("it is a regular expression"));
    /// What is std's, and what the worker does anyway.
    const OTHERS: [&str; 8] = ["unwrap", "collect", "count", "drop", "Ok", "Some", "Cursor", "to_string"];
    let plain = TEXT.replace_all(sequence, "text");
    let mut calls = 0;
    for part in plain.split(';').map(str::trim) {
        let called: Vec<_> = CALLED.captures_iter(part).filter(|call| !OTHERS.contains(&&call[1])).collect();
        // Words around the calls: `two buffers with the same items; a == b`.
        let prose = part.contains("->") || part.contains("==") || part.contains(" with ");
        calls += if let Some(times) = TIMES.captures(part) {
            times[1].parse::<usize>().ok()?
        } else if OTHERS.contains(&part) {
            0
        } else if NAME.is_match(part) {
            1
        } else if called.is_empty() || prose {
            return None;
        } else {
            called.len()
        };
    }
    (calls > 0).then_some(calls)
}

#[cfg(test)]
mod tests {
    use testwright_emit::report::Location;

    use super::*;

    fn bug() -> Bug {
        Bug {
            id: "b".to_owned(),
            krate: "my-list".to_owned(),
            class: "overflow".to_owned(),
            api: "Rope::lines -> Lines::size_hint".to_owned(),
            observed: "panic my-list-0.5.0/src/deep/lib.rs:53:31: attempt to subtract with overflow [rc=101]"
                .to_owned(),
            ..Bug::default()
        }
    }

    fn finding(class: &str, operation: &str, place: Option<(&str, u32)>) -> Finding {
        Finding {
            tier: "bug".to_owned(),
            class: class.to_owned(),
            operation: operation.to_owned(),
            location: place.map(|(file, line)| Location { file: file.to_owned(), line }),
            ..Finding::default()
        }
    }

    /// Whether one finding shows the bug, and the tests that were tried with the fixed version.
    fn judged(bug: &Bug, finding: Finding, verdict: FixedVerdict) -> (Option<Proof>, usize) {
        let mut tried = 0;
        let report = Report { findings: vec![finding], ..Report::default() };
        let shown = shown(bug, &report, |_| {
            tried += 1;
            Ok(verdict)
        });
        (shown.unwrap().map(|(_, proof)| proof), tried)
    }

    #[test]
    fn the_panics_place_is_enough_and_may_be_two_lines_off() {
        let at =
            |file, line| judged(&bug(), finding("overflow", "x", Some((file, line))), FixedVerdict::Fails).0;
        assert_eq!(at("/r/my-list-0.5.0/src/deep/lib.rs", 55), Some(Proof::Location));
        assert_eq!(at("my-list-0.5.0/src/deep/lib.rs", 51), Some(Proof::Location));
        assert_eq!(at("src/deep/lib.rs", 53), Some(Proof::Location));
        assert_eq!(at("/r/my-list-0.5.0/src/deep/lib.rs", 56), None);
        assert_eq!(at("/r/other/src/deep/lib.rs", 53), None);
        assert_eq!(at("/r/my-list-0.5.0/src/lib.rs", 53), None);
    }

    #[test]
    fn class_and_tier_must_fit() {
        let here = Some(("src/deep/lib.rs", 53));
        assert_eq!(judged(&bug(), finding("law:Eq", "x", here), FixedVerdict::Passes), (None, 0));
        let minor = Finding { tier: "undocumented-panic".to_owned(), ..finding("overflow", "x", here) };
        assert_eq!(judged(&bug(), minor, FixedVerdict::Passes), (None, 0));
    }

    #[test]
    fn without_a_fixed_version_the_operation_must_be_named() {
        let named =
            |operation: &str| judged(&bug(), finding("panic", operation, None), FixedVerdict::Fails).0;
        assert_eq!(named("Lines::size_hint"), Some(Proof::Operation));
        assert_eq!(named("<Lines<'_> as Iterator>::size_hint"), Some(Proof::Operation));
        assert_eq!(named("Chunks::size_hint"), None);
        let of_crate = Bug { api: "my_list::jaro".to_owned(), ..bug() };
        let found = judged(&of_crate, finding("panic", "jaro", None), FixedVerdict::Fails);
        assert_eq!(found.0, Some(Proof::Operation));
    }

    #[test]
    fn a_law_is_known_by_its_type_and_trait() {
        let bug = Bug { api: "Hash for Style".to_owned(), class: "law-violation".to_owned(), ..bug() };
        let named = |class: &str, operation: &str| {
            judged(&bug, finding(class, operation, None), FixedVerdict::Fails).0
        };
        assert_eq!(named("law:Hash.equal", "Style"), Some(Proof::Operation));
        assert_eq!(named("law:Eq.symmetric", "Style"), None);
    }

    #[test]
    fn with_a_fixed_version_the_test_must_pass_there() {
        let bug = Bug { fixed: Some("0.6.0".to_owned()), ..bug() };
        let elsewhere = || finding("panic", "Other::call", None);
        let named = || finding("panic", "Lines::size_hint", None);
        assert_eq!(
            judged(&bug, elsewhere(), FixedVerdict::Passes),
            (Some(Proof::Fixed(FixedVerdict::Passes)), 1)
        );
        assert_eq!(judged(&bug, named(), FixedVerdict::Fails), (None, 1));
        assert_eq!(judged(&bug, elsewhere(), FixedVerdict::DoesNotCompile), (None, 1));
        assert_eq!(
            judged(&bug, named(), FixedVerdict::DoesNotCompile).0,
            Some(Proof::Fixed(FixedVerdict::DoesNotCompile))
        );
    }

    #[test]
    fn operations_of_a_note() {
        let names =
            |note: &str| operations(note).into_iter().map(|(of, name)| of + "." + &name).collect::<Vec<_>>();
        assert_eq!(names("asn1_der::DerObject::deserialize"), ["derobject.deserialize"]);
        assert_eq!(names("sort::merge_sort::sort"), ["sort.merge_sort"]);
        assert_eq!(names("Vec<u8>::push + Slab::insert"), ["slab.insert", "vec.push"]);
        assert!(names("Hash for Style").is_empty());
    }

    #[test]
    fn calls_are_counted_where_the_list_tells_them() {
        assert_eq!(known_calls("insert x2; clear(); get_disjoint_mut([1])"), Some(4));
        assert_eq!(known_calls("Rope::new().lines().collect::<Vec<_>>()"), Some(2));
        assert_eq!(known_calls("jaro(\"a(b)\", \"b\")"), Some(1));
        assert_eq!(known_calls("extend_with_edges; reverse; add_edge x2"), Some(4));
        assert_eq!(known_calls("two buffers of cap 5 holding the same items; a == b"), None);
        assert_eq!(known_calls("insert x N; shrink_to_fit()"), None);
    }
}
