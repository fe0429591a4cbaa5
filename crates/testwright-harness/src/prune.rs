//! Which of the generated pieces the compiler accepts: rounds of checking, each dropping exactly what it names.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bisect;
use crate::cargo::Outcome;
use crate::error::HarnessError;
use crate::generated::{Extent, Piece};
use crate::source::HarnessSource;
use crate::workspace::{Step, Workspace};

/// Errors come in waves (names, types, borrows), and a check that fails has others behind it.
const MAX_ROUNDS: u32 = 24;

/// What was left out, with the compiler's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pruned {
    /// By operation: one line, `E0277: the trait bound …`.
    pub rejected: BTreeMap<usize, String>,
    pub rejected_types: BTreeMap<usize, String>,
    /// By operation: which of its checks the compiler takes; `None` if it was rejected or has none.
    pub chosen_check: Vec<Option<usize>>,
    pub rounds: u32,
    pub seconds: f64,
    /// Nothing was compiled: an earlier run had done the same.
    #[serde(skip)]
    pub cached: bool,
}

/// The pieces that are still in, and why the others are not.
#[derive(Debug, Clone)]
pub(crate) struct Selected {
    pub extent: Extent,
    pub rejected: BTreeMap<usize, String>,
    pub rejected_types: BTreeMap<usize, String>,
    failed_checks: BTreeMap<(usize, usize), String>,
}

impl Selected {
    pub fn all(source: &HarnessSource) -> Selected {
        let with_checks =
            source.operations.iter().enumerate().filter(|(_, operation)| !operation.checks.is_empty());
        Selected {
            extent: Extent {
                checks: with_checks.map(|(index, _)| (index, 0)).collect(),
                operations: (0..source.operations.len()).collect(),
                types: (0..source.types.len()).collect(),
            },
            rejected: BTreeMap::new(),
            rejected_types: BTreeMap::new(),
            failed_checks: BTreeMap::new(),
        }
    }

    pub fn of(
        source: &HarnessSource,
        rejected: &BTreeMap<usize, String>,
        types: &BTreeMap<usize, String>,
    ) -> Selected {
        let mut selected = Selected::all(source);
        selected.extent.checks.clear();
        selected.extent.operations.retain(|index| !rejected.contains_key(index));
        selected.extent.types.retain(|index| !types.contains_key(index));
        selected.rejected.clone_from(rejected);
        selected.rejected_types.clone_from(types);
        selected
    }

    /// Takes out what the compiler blames.
    pub fn drop_blamed(&mut self, blamed: &BTreeMap<Piece, String>, source: &HarnessSource) {
        for (piece, words) in blamed {
            match *piece {
                Piece::Operation(index) => self.drop_operation(index, words.clone()),
                Piece::Type(index) => self.drop_type(index, words, source),
                Piece::Check(index, choice) => self.drop_check(index, choice, words, source),
            }
        }
    }

    pub fn drop_operation(&mut self, index: usize, words: String) {
        self.extent.operations.remove(&index);
        self.extent.checks.retain(|(operation, _)| *operation != index);
        self.rejected.entry(index).or_insert(words);
    }

    pub fn drop_type(&mut self, index: usize, words: &str, source: &HarnessSource) {
        self.extent.types.remove(&index);
        self.rejected_types.entry(index).or_insert_with(|| words.to_owned());
        let users: Vec<usize> = self
            .extent
            .operations
            .iter()
            .copied()
            .filter(|user| {
                let operation = &source.operations[*user];
                operation.result == index || operation.types.contains(&index)
            })
            .collect();
        for user in users {
            self.drop_operation(user, format!("type `{}` rejected: {words}", source.types[index]));
        }
    }

    /// The other checks of the operation all come into the next round, so that one round decides between them.
    fn drop_check(&mut self, index: usize, choice: usize, words: &str, source: &HarnessSource) {
        if !self.extent.operations.contains(&index) {
            return;
        }
        self.extent.checks.remove(&(index, choice));
        self.failed_checks.insert((index, choice), words.to_owned());
        let mut left = false;
        for other in 0..source.operations[index].checks.len() {
            if !self.failed_checks.contains_key(&(index, other)) {
                self.extent.checks.insert((index, other));
                left = true;
            }
        }
        if !left {
            let first = self.failed_checks.get(&(index, 0)).cloned().unwrap_or_else(|| words.to_owned());
            self.drop_operation(index, format!("printed form rejected: {first}"));
        }
    }

    fn chosen_checks(&self, source: &HarnessSource) -> Vec<Option<usize>> {
        let mut chosen = vec![None; source.operations.len()];
        for (index, choice) in self.extent.checks.iter().rev() {
            chosen[*index] = Some(*choice);
        }
        chosen
    }
}

/// Checks and drops until the compiler is content.
pub(crate) fn prune(workspace: &Workspace) -> Result<Pruned, HarnessError> {
    let start = std::time::Instant::now();
    let mut selected = Selected::all(&workspace.source);
    let (rounds, _) = settle(workspace, Step::Check, &mut selected)?;
    Ok(Pruned {
        chosen_check: selected.chosen_checks(&workspace.source),
        rejected: selected.rejected,
        rejected_types: selected.rejected_types,
        rounds,
        seconds: start.elapsed().as_secs_f64(),
        cached: false,
    })
}

/// Runs `step` and drops what it blames, until it succeeds; returns how often it ran, and the last run's outcome.
pub(crate) fn settle(
    workspace: &Workspace,
    step: Step,
    selected: &mut Selected,
) -> Result<(u32, Outcome), HarnessError> {
    let mut rounds = 0;
    loop {
        rounds += 1;
        let (outcome, diagnosis) = workspace.run(step, &selected.extent)?;
        if outcome.success {
            return Ok((rounds, outcome));
        }
        if diagnosis.blamed.is_empty() || rounds >= MAX_ROUNDS {
            rounds += bisect::drop_culprits(workspace, step, selected, &diagnosis.unexplained, &outcome)?;
        } else {
            selected.drop_blamed(&diagnosis.blamed, &workspace.source);
        }
    }
}

/// The operations of `extent` that are in `operations`, with their checks.
pub(crate) fn narrowed(extent: &Extent, operations: &BTreeSet<usize>, types: &BTreeSet<usize>) -> Extent {
    Extent {
        operations: operations.clone(),
        types: types.clone(),
        checks: extent.checks.iter().copied().filter(|(index, _)| operations.contains(index)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::OperationSource;

    fn source() -> HarnessSource {
        let operation = |types: &[usize], checks: usize| OperationSource {
            types: types.to_vec(),
            checks: vec![String::new(); checks],
            ..OperationSource::default()
        };
        HarnessSource {
            operations: vec![operation(&[0], 3), operation(&[0, 1], 1), operation(&[0], 0)],
            types: vec!["A".to_owned(), "B".to_owned()],
            ..HarnessSource::default()
        }
    }

    #[test]
    fn a_failed_check_gives_way_to_the_next() {
        let source = source();
        let mut selected = Selected::all(&source);
        selected.drop_blamed(&BTreeMap::from([(Piece::Check(0, 0), "E1".to_owned())]), &source);
        assert_eq!(selected.extent.checks, BTreeSet::from([(0, 1), (0, 2), (1, 0)]));
        assert_eq!(selected.chosen_checks(&source), [Some(1), Some(0), None]);
        let both =
            BTreeMap::from([(Piece::Check(0, 1), "E2".to_owned()), (Piece::Check(0, 2), "E3".to_owned())]);
        selected.drop_blamed(&both, &source);
        assert_eq!(selected.rejected[&0], "printed form rejected: E1");
    }

    #[test]
    fn a_rejected_type_takes_its_users_with_it() {
        let source = source();
        let mut selected = Selected::all(&source);
        selected.drop_blamed(&BTreeMap::from([(Piece::Type(1), "E0412".to_owned())]), &source);
        assert_eq!(selected.rejected.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(selected.rejected[&1], "type `B` rejected: E0412");
        assert!(selected.extent.checks.iter().all(|(index, _)| *index != 1));
    }
}
