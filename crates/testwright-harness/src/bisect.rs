//! Finds the culprits of an error that names no line of ours, by compiling parts.

use std::collections::BTreeSet;

use crate::cargo::Outcome;
use crate::error::HarnessError;
use crate::prune::{Selected, narrowed};
use crate::workspace::{Step, Workspace};

/// So many parts are compiled; what is not told apart by then is dropped together.
const MAX_RUNS: u32 = 80;

/// Asks whether a part fails.
pub(crate) type Question<'a> = dyn FnMut(&BTreeSet<usize>) -> Result<bool, HarnessError> + 'a;

/// Drops the operations or types without which the step would not fail; returns how often it was run. Errors if the step fails
/// without any of them.
pub(crate) fn drop_culprits(
    workspace: &Workspace,
    step: Step,
    selected: &mut Selected,
    unexplained: &[String],
    outcome: &Outcome,
) -> Result<u32, HarnessError> {
    let rendered = unexplained.first().cloned().unwrap_or_else(|| outcome.error_text());
    let words = in_our_form(rendered.lines().next().unwrap_or("the compiler fails"));
    // The linker and the worker's own crate are beyond what parts can tell.
    let step = match step {
        Step::Worker(variant) => Step::Wrappers(variant),
        other => other,
    };
    let extent = &selected.extent;
    let mut runs = 1;
    let fails = |operations: &BTreeSet<usize>, types: &BTreeSet<usize>| {
        workspace.run(step, &narrowed(extent, operations, types)).map(|(outcome, _)| !outcome.success)
    };
    let none = BTreeSet::new();
    if fails(&none, &none)? {
        return Err(HarnessError::internal(format!("the generated harness does not compile:\n{rendered}")));
    }
    let bad_types = culprits(&extent.types, &mut runs, &mut |types| fails(&none, types))?;
    let good_types: BTreeSet<usize> = extent.types.difference(&bad_types).copied().collect();
    let bad = culprits(&extent.operations, &mut runs, &mut |operations| fails(operations, &good_types))?;
    if bad.is_empty() && bad_types.is_empty() {
        return Err(HarnessError::internal(format!("the worker does not compile:\n{rendered}")));
    }
    for index in bad_types {
        selected.drop_type(index, &words, &workspace.source);
    }
    for index in bad {
        selected.drop_operation(index, words.clone());
    }
    Ok(runs)
}

/// The members of `set` that fail by themselves. `runs` counts the questions asked.
pub(crate) fn culprits(
    set: &BTreeSet<usize>,
    runs: &mut u32,
    fails: &mut Question<'_>,
) -> Result<BTreeSet<usize>, HarnessError> {
    let mut ask = |part: &BTreeSet<usize>, runs: &mut u32| {
        *runs += 1;
        fails(part)
    };
    let mut found = BTreeSet::new();
    let mut waiting = Vec::new();
    if !set.is_empty() && ask(set, runs)? {
        waiting.push(set.clone());
    }
    // Each set that waits is known to fail.
    while let Some(mut left) = waiting.pop() {
        if left.len() == 1 || *runs >= MAX_RUNS {
            found.extend(left);
            continue;
        }
        let middle = left.iter().nth(left.len() / 2).copied().unwrap_or_default();
        let right = left.split_off(&middle);
        let left_fails = ask(&left, runs)?;
        // If the left half is fine, the fault must be in the right one.
        if !left_fails || ask(&right, runs)? {
            waiting.push(right);
        }
        if left_fails {
            waiting.push(left);
        }
    }
    Ok(found)
}

/// `error[E0080]: words` as `E0080: words`.
fn in_our_form(line: &str) -> String {
    match line.strip_prefix("error[") {
        Some(rest) => rest.replacen("]: ", ": ", 1),
        None => line.trim_start_matches("error: ").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn culprits_are_told_apart_in_few_runs() {
        let bad = BTreeSet::from([3, 700, 701]);
        let all: BTreeSet<usize> = (0..1000).collect();
        let mut runs = 0;
        let found = culprits(&all, &mut runs, &mut |part| Ok(!part.is_disjoint(&bad))).expect("no error");
        assert_eq!(found, bad);
        assert!(runs < 60, "{runs}");
    }

    #[test]
    fn what_is_not_told_apart_in_time_goes_together() {
        let all: BTreeSet<usize> = (0..1000).collect();
        let mut runs = 0;
        let found = culprits(&all, &mut runs, &mut |_| Ok(true)).expect("no error");
        assert_eq!(found, all);
        assert!(runs <= MAX_RUNS + 2, "{runs}");
    }
}
