//! Every public item: taken as which operations, or skipped and why.

use std::collections::BTreeMap;

use serde::Serialize;

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
        other_operations: bench.usable.iter().filter(|id| !bench.operations.get(**id).is_subject()).count(),
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
