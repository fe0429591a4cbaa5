//! Other crates' items in the API: the `Api` as rustdoc tells it in, the same with paths that compile and with what the compiler
//! says of other crates' traits out. Nothing is compiled for a crate that mentions no such item.

use std::collections::{BTreeMap, BTreeSet};

use testwright_ground::inquiry;
use testwright_harness::{HarnessError, Places, Subject};
use testwright_model::Api;
use testwright_model::ty::last_segment;

use crate::EngineError;
use crate::workbench::Tell;

/// More segments between crate and name than this are not left out one by one.
const MIDDLE: usize = 4;

/// Reads the API once more, with public paths of other crates' items by the paths of their definitions.
pub type Reread<'a> = &'a dyn Fn(BTreeMap<String, String>) -> Result<Api, EngineError>;

/// Makes the API's foreign paths ones that users can write, where there are such, and finds out which types implement foreign traits. What
/// cannot be found out stays as it is: the compiler then rejects what is wrong, with its reason.
pub fn settle(
    subject: &Subject,
    mut api: Api,
    reread: Reread<'_>,
    places: &Places,
    tell: Tell<'_>,
) -> Result<Api, EngineError> {
    let crates: Vec<String> =
        api.foreign.keys().filter(|name| subject.dependencies.contains_key(*name)).cloned().collect();
    let ask = |pieces: &[String]| match pieces {
        [] => Ok(Vec::new()),
        _ => testwright_harness::ask(subject, &crates, pieces, places),
    };
    let paths = crates.iter().flat_map(|name| &api.foreign[name].paths);
    match public_paths(paths, ask) {
        Ok(public) if public.is_empty() => {}
        Ok(public) => api = reread(public)?,
        Err(error) => tell(&format!("paths of other crates' items stay as they are: {error}")),
    }
    let questions: Vec<_> = inquiry::questions(&api)
        .into_iter()
        .filter(|question| crates.iter().any(|name| is_in(&question.trait_, name)))
        .collect();
    let texts: Vec<String> = questions.iter().map(|question| question.text.clone()).collect();
    match ask(&texts) {
        Ok(answers) => {
            for (question, yes) in questions.into_iter().zip(answers) {
                api.asked.entry(question.trait_).or_default().push((question.ty, yes));
            }
            // No type at all: more likely its path is not one that can be written.
            api.asked.retain(|_, types| types.iter().any(|(_, yes)| *yes));
        }
        Err(error) => tell(&format!("nothing is known of other crates' traits: {error}")),
    }
    Ok(api)
}

/// The first of each path's candidates that compiles, for those whose own path does not.
fn public_paths<'p>(
    paths: impl Iterator<Item = &'p String>,
    ask: impl Fn(&[String]) -> Result<Vec<bool>, HarnessError>,
) -> Result<BTreeMap<String, String>, HarnessError> {
    let candidates: Vec<(&String, String)> =
        paths.flat_map(|path| candidates(path).into_iter().map(move |candidate| (path, candidate))).collect();
    let pieces: Vec<String> =
        candidates.iter().map(|(_, candidate)| format!("use {candidate} as Found;")).collect();
    let mut settled = BTreeSet::new();
    let mut public = BTreeMap::new();
    for ((path, candidate), compiles) in candidates.into_iter().zip(ask(&pieces)?) {
        if compiles && settled.insert(path) && *path != candidate {
            public.insert(path.clone(), candidate);
        }
    }
    Ok(public)
}

/// Paths by which users might name an item that is defined at `path`, best first; none if it stands in its crate's root.
fn candidates(path: &str) -> Vec<String> {
    let segments: Vec<&str> = path.split("::").collect();
    let [root, middle @ .., name] = segments.as_slice() else { return Vec::new() };
    if middle.is_empty() {
        return Vec::new();
    }
    let mut all = vec![path.to_owned()];
    // Modules are hidden behind re-exports in any module above them, mostly in the root.
    let shown = &middle[..middle.len().min(MIDDLE)];
    let mut kept: Vec<Vec<&str>> = (0..1_u32 << shown.len())
        .map(|mask| (0..).zip(shown).filter(|(at, _)| mask >> at & 1 == 1).map(|(_, part)| *part).collect())
        .collect();
    kept.sort_by_key(Vec::len);
    for middle in kept {
        all.push([&[*root], middle.as_slice(), &[*name]].concat().join("::"));
    }
    // As std names them: `hashbrown::map` is shown as `hashbrown::hash_map`.
    if let Some(last @ ("map" | "set" | "table")) = middle.last().copied() {
        all.push(format!("{root}::hash_{last}::{name}"));
    }
    all.push(format!("{root}::prelude::{name}"));
    let mut seen = BTreeSet::new();
    all.retain(|candidate| seen.insert(candidate.clone()));
    debug_assert!(all.iter().all(|candidate| last_segment(candidate) == *name));
    all
}

fn is_in(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_left_out_from_the_shortest_path_on() {
        assert!(candidates("num_traits::Zero").is_empty());
        assert_eq!(
            candidates("archery::kind::rc::RcK"),
            [
                "archery::kind::rc::RcK",
                "archery::RcK",
                "archery::kind::RcK",
                "archery::rc::RcK",
                "archery::prelude::RcK"
            ]
        );
        assert!(candidates("hashbrown::map::Iter").contains(&"hashbrown::hash_map::Iter".to_owned()));
    }

    #[test]
    fn the_first_candidate_that_compiles_is_taken() {
        let paths = ["bytes::bytes::Bytes", "bytes::buf::Chain", "bytes::gone::Gone"].map(str::to_owned);
        let good =
            ["use bytes::Bytes as Found;", "use bytes::buf::Chain as Found;", "use bytes::Chain as Found;"];
        let ask = |pieces: &[String]| Ok(pieces.iter().map(|piece| good.contains(&piece.as_str())).collect());
        let public = public_paths(paths.iter(), ask).unwrap_or_else(|error| panic!("{error}"));
        let expected = BTreeMap::from([("bytes::bytes::Bytes".to_owned(), "bytes::Bytes".to_owned())]);
        assert_eq!(public, expected);
    }
}
