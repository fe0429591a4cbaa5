//! Finds the culprits of an error that names no line of ours, by compiling parts.

use std::collections::BTreeSet;

use crate::cargo::Outcome;
use crate::error::HarnessError;
use crate::prune::{Selected, narrowed};
use crate::workspace::{Step, Workspace};

/// So many parts are compiled; what is not told apart by then is dropped together.
const MAX_RUNS: u32 = 80;

/// Drops the operations or types without which the step would not fail; returns how often it was run. Errors if the step fails
/// without any of them.
pub(crate) fn drop_culprits(
    workspace: &Workspace,
    step: Step<'_>,
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
    let mut search = Search { workspace, step, selected, runs: 0 };
    let none = BTreeSet::new();
    let all_types = search.selected.extent.types.clone();
    if search.fails(&none, &none)? {
        return Err(HarnessError::internal(format!("the generated harness does not compile:\n{rendered}")));
    }
    let bad_types = search.culprits(&all_types, &|search, types| search.fails(&none, types))?;
    let good_types: BTreeSet<usize> = all_types.difference(&bad_types).copied().collect();
    let operations = search.selected.extent.operations.clone();
    let bad = search.culprits(&operations, &|search, operations| search.fails(operations, &good_types))?;
    let runs = search.runs;
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

/// `error[E0080]: words` as `E0080: words`.
fn in_our_form(line: &str) -> String {
    match line.strip_prefix("error[") {
        Some(rest) => rest.replacen("]: ", ": ", 1),
        None => line.trim_start_matches("error: ").to_owned(),
    }
}

struct Search<'a> {
    workspace: &'a Workspace,
    step: Step<'a>,
    selected: &'a Selected,
    runs: u32,
}

impl Search<'_> {
    fn fails(&mut self, operations: &BTreeSet<usize>, types: &BTreeSet<usize>) -> Result<bool, HarnessError> {
        self.runs += 1;
        let extent = narrowed(&self.selected.extent, operations, types);
        let (outcome, _) = self.workspace.run(self.step, &extent)?;
        Ok(!outcome.success)
    }

    /// The members of `set` that fail by themselves.
    fn culprits(
        &mut self,
        set: &BTreeSet<usize>,
        fails: &dyn Fn(&mut Self, &BTreeSet<usize>) -> Result<bool, HarnessError>,
    ) -> Result<BTreeSet<usize>, HarnessError> {
        if set.is_empty() || !fails(self, set)? {
            return Ok(BTreeSet::new());
        }
        let mut found = BTreeSet::new();
        let mut waiting = vec![set.clone()];
        // Each set here is known to fail.
        while let Some(set) = waiting.pop() {
            if set.len() == 1 || self.runs >= MAX_RUNS {
                found.extend(set);
                continue;
            }
            let mut left = set;
            let middle = left.iter().nth(left.len() / 2).copied().unwrap_or_default();
            let right = left.split_off(&middle);
            let left_fails = fails(self, &left)?;
            // If the left half is fine, the fault must be in the right one.
            if !left_fails || fails(self, &right)? {
                waiting.push(right);
            }
            if left_fails {
                waiting.push(left);
            }
        }
        Ok(found)
    }
}
