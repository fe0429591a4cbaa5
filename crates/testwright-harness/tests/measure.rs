//! Times of pruning and building with many wrappers, printed. Run with
//! `cargo test --release -p testwright-harness --test measure -- --ignored --nocapture`; `WRAPPERS=3000` says how many.

mod common;

use common::Draft;
use testwright_harness::{FeatureChoice, Selection, Variant, crate_build_seconds, locate, prepare};

const INTEGERS: [&str; 10] = ["u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128"];
const VALUES: [&str; 8] =
    ["u8", "String", "Vec<u8>", "Option<u32>", "(u8, u16)", "Box<str>", "[u8; 4]", "()"];

const METHODS: [(&str, &str); 16] = [
    ("M", "M::new()"),
    ("M", "M::with_capacity(3)"),
    ("usize", "(*(*a as *const M)).len()"),
    ("bool", "(*(*a as *const M)).is_empty()"),
    ("M", "(*(*a as *const M)).clone()"),
    ("Option<V>", "(*(*a as *mut M)).insert((*a.add(1) as *mut K).read(), (*a.add(2) as *mut V).read())"),
    ("Option<V>", "(*(*a as *mut M)).swap_remove(&*(*a.add(1) as *const K))"),
    ("Option<V>", "(*(*a as *mut M)).shift_remove(&*(*a.add(1) as *const K))"),
    ("Option<&'static V>", "(*(*a as *const M)).get(&*(*a.add(1) as *const K))"),
    ("Option<(K, V)>", "(*(*a as *mut M)).pop()"),
    ("()", "(*(*a as *mut M)).sort_keys()"),
    ("()", "(*(*a as *mut M)).reverse()"),
    ("()", "(*(*a as *mut M)).clear()"),
    ("M", "(*(*a as *mut M)).split_off((*a.add(1) as *mut usize).read())"),
    ("Option<usize>", "(*(*a as *const M)).get_index_of(&*(*a.add(1) as *const K))"),
    ("String", "format!(\"{:?}\", &*(*a as *const M))"),
];

/// Methods of `IndexMap` over pairs of types, one in fifty of them wrong.
fn draft(wanted: usize) -> Draft {
    let mut draft = Draft::new(&[]);
    for round in 0.. {
        let key = INTEGERS[round % INTEGERS.len()];
        let value = VALUES[(round / INTEGERS.len()) % VALUES.len()];
        let map = format!("indexmap::IndexMap::<({key}, [u8; {}]), {value}>", round / 80);
        for (result, expression) in METHODS {
            let fill = |text: &str| {
                let words =
                    text.replace("V>", "\u{1}>").replace("V)", "\u{1})").replace("mut V", "mut \u{1}");
                let words = words.replace("&'static V", "&'static \u{1}");
                let words = words.replace('M', "\u{2}").replace('K', "\u{3}");
                words
                    .replace('\u{1}', value)
                    .replace('\u{3}', &format!("({key}, [u8; {}])", round / 80))
                    .replace('\u{2}', &map)
            };
            let number = draft.source.operations.len();
            if number == wanted {
                return draft;
            }
            let (result, expression) = (fill(result), fill(expression));
            let ty = draft.source.types.iter().position(|ty| *ty == result).unwrap_or_else(|| {
                draft.source.types.push(result.clone());
                draft.source.types.len() - 1
            });
            let expression = if number % 50 == 49 {
                expression.replace("clone()", "copy()").replace("len()", "size()") + ".none()"
            } else {
                expression
            };
            draft.make(ty, &expression, &["let _ = 1;"]);
        }
    }
    draft
}

/// CPU seconds of all finished children, which a loaded machine stretches less than the clock's.
fn children_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = text.rsplit(')').next().expect("one part").split_whitespace().collect();
    let ticks: f64 = fields[13..15].iter().map(|field| field.parse::<f64>().expect("a number")).sum();
    ticks / 100.0
}

#[test]
#[ignore = "a measurement"]
fn times() {
    let wanted = std::env::var("WRAPPERS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let work = tempfile::tempdir().expect("a scratch folder");
    let places = common::places(work.path());
    let selection = Selection::Published {
        name: "indexmap".to_owned(),
        version: Some("2.14.2".to_owned()),
        features: FeatureChoice::default(),
    };
    let subject = locate(&selection, &places).unwrap_or_else(|error| panic!("{error}"));
    let alone = crate_build_seconds(&subject, &places).unwrap_or_else(|error| panic!("{error}"));
    println!("the crate alone: {alone:.1} s");
    let before = children_seconds();
    let draft = draft(wanted);
    let harness = prepare(&subject, &draft.source, &places).unwrap_or_else(|error| panic!("{error}"));
    let pruned = harness.pruned();
    println!(
        "{wanted} wrappers, {} types: {} rejected in {} rounds, {:.1} s, {:.1} s CPU",
        draft.source.types.len(),
        pruned.rejected.len(),
        pruned.rounds,
        pruned.seconds,
        children_seconds() - before
    );
    println!("{:?}", pruned.rejected.iter().take(3).collect::<Vec<_>>());
    if std::env::var_os("ONLY_PRUNE").is_some() {
        return;
    }
    let levels = [0, 1, 2, 3].map(|opt_level| Variant { opt_level, ..Variant::quick() });
    for variant in levels.into_iter().chain([Variant::memory(), Variant::sanitized()]) {
        let before = children_seconds();
        let built = harness.build(&variant).unwrap_or_else(|error| panic!("{error}"));
        let size = std::fs::metadata(&built.binary).expect("built").len() / 1_000_000;
        println!(
            "{}: {:.1} s, {:.1} s CPU, {:.0}× the crate, {size} MB",
            variant.name(),
            built.seconds,
            children_seconds() - before,
            built.seconds / alone
        );
    }
}
