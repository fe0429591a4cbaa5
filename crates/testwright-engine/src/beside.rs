//! Laws whose code names a crate that the subject need not be built on: the crate is made ready, or the laws are left out with a reason.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use testwright_ground::{Grounded, Reason};
use testwright_harness::{Places, Subject};
use testwright_model::OpId;
use testwright_model::api::Skipped;
use testwright_model::operation::Operations;

use crate::confirm::first_line;
use crate::workbench::Tell;

/// The kind of a law that is skipped.
pub const LAW: &str = "law";

/// Takes out the laws whose crate is not to be had; nothing happens where no law names one.
pub fn settle(
    grounded: &mut Grounded<'_>,
    subject: &mut Subject,
    own_package: bool,
    places: &Places,
    tell: Tell<'_>,
) -> Vec<Skipped> {
    let mut laws: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for operation in &grounded.operations.operations {
        if let Some((law, name)) = operation.law().and_then(|law| Some((law, law.beside?))) {
            laws.entry(name).or_default().insert(format!("{} ({})", operation.path, law.class));
        }
    }
    let mut skipped = Vec::new();
    for (name, paths) in laws {
        let Err(reason) = make_ready(subject, name, own_package, places) else { continue };
        tell(&format!("laws that need {name} are left out: {reason}"));
        grounded.retain(|operation| operation.law().and_then(|law| law.beside) != Some(name));
        let item = |path| Skipped { path, kind: LAW.to_owned(), reason: reason.clone() };
        skipped.extend(paths.into_iter().map(item));
    }
    skipped
}

/// Laws that the compiler takes for no form of a type though their crate is there.
pub fn rejected(
    operations: &Operations,
    usable: &HashSet<OpId>,
    rejected: &BTreeMap<OpId, Reason>,
) -> Vec<Skipped> {
    let path = |id: &OpId| {
        let operation = operations.get(*id);
        let law = operation.law().filter(|law| law.beside.is_some())?;
        Some(format!("{} ({})", operation.path, law.class))
    };
    let taken: BTreeSet<String> = usable.iter().filter_map(path).collect();
    let mut reasons = BTreeMap::new();
    for (id, reason) in rejected {
        if let Some(path) = path(id).filter(|path| !taken.contains(path)) {
            reasons.entry(path).or_insert_with(|| reason.to_string());
        }
    }
    let item = |(path, reason)| Skipped { path, kind: LAW.to_owned(), reason };
    reasons.into_iter().map(item).collect()
}

fn make_ready(subject: &mut Subject, name: &str, own_package: bool, places: &Places) -> Result<(), String> {
    if !own_package && !subject.tests_can_name(name) {
        return Err(format!(
            "{name} is no dependency or dev-dependency of the package, so its tests cannot name it; --out DIR makes a package that does"
        ));
    }
    testwright_harness::add_beside(subject, name, places).map_err(|error| {
        format!("{name} cannot be had: {}", first_line(&error.to_string().replace('\n', " ")))
    })
}
