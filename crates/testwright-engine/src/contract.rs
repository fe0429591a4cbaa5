//! Contracts of the crate's author: entered into the operations, seen to compile, and told of in the report.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use testwright_emit::report;
use testwright_ground::{Grounded, Reason};
use testwright_harness::Pruned;
use testwright_model::contract::{Clause, Contract, When};
use testwright_model::operation::Operations;
use testwright_model::{Api, OpId};

use crate::EngineError;
use crate::direct::choice::Choice;

/// Makes clauses of them.
pub fn enter(grounded: &mut Grounded<'_>, api: &Api, contracts: &[Contract]) -> Result<(), EngineError> {
    for (number, contract) in (0..).zip(contracts) {
        grounded.add_contract(api, number, contract).map_err(|why| unusable(contract, &why))?;
    }
    Ok(())
}

/// Contracts that the compiler takes nowhere; they may be in bad company.
pub fn suspects(operations: &Operations, pruned: &Pruned) -> Vec<u32> {
    let (mut accepted, mut rejected) = (BTreeSet::new(), BTreeSet::new());
    for (index, operation) in operations.operations.iter().enumerate() {
        let group = if pruned.rejected.contains_key(&index) { &mut rejected } else { &mut accepted };
        group.extend(operation.form.clauses.iter().map(|clause| clause.contract));
    }
    rejected.difference(&accepted).copied().collect()
}

/// The error about the first of them that the compiler does not take by itself; `compile` is asked about each alone.
pub fn accuse(
    grounded: &mut Grounded<'_>,
    contracts: &[Contract],
    suspects: &[u32],
    compile: impl Fn(&Grounded<'_>) -> Result<Pruned, EngineError>,
) -> Result<EngineError, EngineError> {
    let all: Vec<Vec<Clause>> =
        grounded.operations.operations.iter().map(|operation| operation.form.clauses.clone()).collect();
    let mut first = None;
    for suspect in suspects {
        for (operation, clauses) in grounded.operations.operations.iter_mut().zip(&all) {
            operation.form.clauses = clauses.clone();
            operation.form.clauses.retain(|clause| clause.contract == *suspect);
        }
        let pruned = compile(grounded)?;
        let has_it = |index: &usize| !grounded.operations.operations[*index].form.clauses.is_empty();
        let alone = self::suspects(&grounded.operations, &pruned).contains(suspect);
        let words = pruned.rejected.iter().find(|(index, _)| has_it(index)).map(|(_, words)| words.clone());
        let why = Reason::Rejected(words.unwrap_or_default()).to_string();
        let error = unusable(&contracts[*suspect as usize], &why);
        if alone {
            return Ok(error);
        }
        first.get_or_insert(error);
    }
    Ok(first.unwrap_or_else(|| EngineError::Internal("nobody to accuse".to_owned())))
}

/// Where the compiler takes a contract for one choice of types and not for another, the other goes without it. Not without
/// what callers must see to, though. Whether something changed.
pub fn relax(operations: &mut Operations, pruned: &Pruned) -> bool {
    let mut changed = false;
    for index in pruned.rejected.keys() {
        let clauses = &mut operations.operations[*index].form.clauses;
        let before = clauses.len();
        clauses.retain(|clause| clause.when == When::Before);
        changed |= clauses.len() < before;
    }
    changed
}

/// A contract that no call can be judged by is a mistake of its author's.
pub fn check(
    contracts: &[Contract],
    operations: &Operations,
    usable: &HashSet<OpId>,
    rejected: &BTreeMap<OpId, Reason>,
) -> Result<(), EngineError> {
    for (number, contract) in (0..).zip(contracts) {
        let has_it =
            |id: &OpId| operations.get(*id).form.clauses.iter().any(|clause| clause.contract == number);
        if usable.iter().any(has_it) {
            continue;
        }
        let why = rejected.iter().find(|(id, _)| has_it(id)).map(|(_, reason)| reason.to_string());
        let nothing = || format!("`{}` is not called", contract.of);
        return Err(unusable(contract, &why.unwrap_or_else(nothing)));
    }
    Ok(())
}

fn unusable(contract: &Contract, why: &str) -> EngineError {
    let Contract { kind, of, place, .. } = contract;
    EngineError::Wish(format!("{place}: {} of `{of}` cannot be used: {why}", kind.name()))
}

/// How each contract fared.
pub fn figures(
    contracts: &[Contract],
    operations: &Operations,
    choice: &Choice,
    findings: &[report::Finding],
) -> Vec<report::ContractFigures> {
    let of = |(number, contract): (u32, &Contract)| {
        let mut figures = report::ContractFigures {
            operation: contract.of.clone(),
            kind: contract.kind.name().to_owned(),
            expression: contract.expression.clone(),
            support: 0,
            refuted: false,
        };
        for id in operations.ids() {
            let operation = operations.get(id);
            let mut clauses =
                operation.form.clauses.iter().filter(|clause| clause.contract == number).peekable();
            if clauses.peek().is_none() {
                continue;
            }
            let tally = choice.tally(id);
            figures.support += tally.calls.saturating_sub(tally.panics);
            figures.refuted |= clauses.any(|clause| {
                findings.iter().any(|finding| {
                    finding.class == clause.kind.class()
                        && finding.operation == operation.path
                        && finding.message == clause.says
                })
            });
        }
        figures
    };
    (0..).zip(contracts).map(of).collect()
}
