//! Every public item: taken as which operations, or skipped and why.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::judge;
use crate::workbench::{CallableKind, Workbench};

#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    #[serde(rename = "crate")]
    pub krate: String,
    pub version: String,
    pub features: Vec<String>,
    pub features_off: Vec<String>,
    pub callables: Vec<Item>,
    /// Literals, fields, constants and std operations.
    pub other_operations: usize,
    /// Laws that are checked, std's and the author's.
    pub laws: Vec<ListedLaw>,
    /// What the author demands of functions and types.
    pub contracts: Vec<ListedContract>,
    pub skipped: Vec<SkippedItem>,
    pub figures: Figures,
}

#[derive(Clone, Debug, Serialize)]
pub struct Item {
    pub path: String,
    pub kind: &'static str,
    pub operations: Vec<String>,
    pub skipped: Option<String>,
    /// Out of reach of plain calls (unsafe, async, closures, user-made impls): not counted as missing.
    pub out_of_reach: bool,
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ListedLaw {
    /// Who breaks it.
    pub operation: String,
    pub class: String,
    pub says: String,
    /// `certain` or `hint`.
    pub confidence: &'static str,
    /// Where std's documentation, or the author, demands it.
    pub source: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ListedContract {
    /// The function, or for an invariant the type.
    pub operation: String,
    pub kind: &'static str,
    pub expression: String,
    pub place: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct SkippedItem {
    pub path: String,
    pub kind: String,
    pub reason: String,
}

/// Shares of callables that have an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    pub inherent_taken: usize,
    pub inherent_total: usize,
    pub trait_taken: usize,
    pub trait_total: usize,
    /// Skips by reason, those out of reach included.
    pub reasons: BTreeMap<String, usize>,
}

pub fn listing(bench: &Workbench) -> Listing {
    let mut figures = Figures::default();
    let mut callables = Vec::new();
    for fact in &bench.callables {
        let out_of_reach = fact.reason.as_ref().is_some_and(testwright_ground::Reason::is_out_of_reach);
        if let Some(reason) = &fact.reason {
            *figures.reasons.entry(reason.kind().to_owned()).or_default() += 1;
        }
        let (taken, total) = match fact.kind {
            CallableKind::Inherent => (&mut figures.inherent_taken, &mut figures.inherent_total),
            CallableKind::TraitImpl => (&mut figures.trait_taken, &mut figures.trait_total),
        };
        *taken += usize::from(!fact.operations.is_empty());
        *total += usize::from(!out_of_reach);
        callables.push(Item {
            path: fact.path.clone(),
            kind: match fact.kind {
                CallableKind::Inherent => "function",
                CallableKind::TraitImpl => "trait implementation",
            },
            operations: fact
                .operations
                .iter()
                .map(|id| bench.operations.get(*id).form.full.clone())
                .collect(),
            skipped: fact.reason.as_ref().map(ToString::to_string),
            out_of_reach,
            file: fact.file.as_ref().map(|(file, _)| file.clone()),
            line: fact.file.as_ref().map(|(_, line)| *line),
        });
    }
    Listing {
        krate: bench.subject.package.clone(),
        version: bench.subject.version.clone(),
        features: bench.subject.features.clone(),
        features_off: bench.subject.features_off.clone(),
        callables,
        other_operations: bench
            .usable
            .iter()
            .filter(|id| {
                bench.operations.get(**id).law().is_none() && !bench.operations.get(**id).is_subject()
            })
            .count(),
        laws: laws(bench),
        contracts: bench
            .contracts
            .iter()
            .map(|contract| ListedContract {
                operation: contract.of.clone(),
                kind: contract.kind.name(),
                expression: contract.expression.clone(),
                place: contract.place.clone(),
            })
            .collect(),
        skipped: bench
            .skipped
            .iter()
            .map(|item| SkippedItem {
                path: item.path.clone(),
                kind: item.kind.clone(),
                reason: item.reason.clone(),
            })
            .collect(),
        figures,
    }
}

/// One entry for each law of each type, however many forms of the type there are.
fn laws(bench: &Workbench) -> Vec<ListedLaw> {
    let usable = bench.usable.iter().map(|id| bench.operations.get(*id));
    let listed = usable.filter_map(|operation| {
        let law = operation.law()?;
        Some(ListedLaw {
            operation: operation.path.clone(),
            class: law.class.to_owned(),
            says: law.says.trim_end_matches(": ").to_owned(),
            confidence: judge::tier_of(law).confidence(),
            source: law.source.to_owned(),
        })
    });
    listed.collect::<BTreeSet<_>>().into_iter().collect()
}
