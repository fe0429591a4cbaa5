//! What earlier runs of a campaign left, and what this one leaves: the campaign file opened, begun, and closed.

use std::path::Path;

use testwright_emit::report;
use testwright_store::{Ending, Facts, Finding, Found, Store, StoreError, Stored, Totals};

use crate::EngineError;
use crate::campaign::{Plan, Strategy};
use crate::saving::POOL_SAMPLE;
use crate::search::Learned;
use crate::workbench::{Tell, Workbench};

/// Refuses what a campaign cannot go on with, or must not replace, before time is spent.
pub fn check(path: &Path, resume: bool) -> Result<(), EngineError> {
    if testwright_store::inspect(path)? == Found::Nothing && resume {
        return Err(StoreError::Missing(path.to_owned()).into());
    }
    Ok(())
}

/// The campaign to go on with, if that is asked for.
pub(crate) fn open(plan: &Plan, bench: &Workbench) -> Result<Option<Store>, EngineError> {
    match &plan.campaign_file {
        Some(path) if plan.resume => Ok(Some(Store::open(path, &bench.subject.package)?)),
        _ => Ok(None),
    }
}

/// Begins a run: the file that is written from now on, and what it held.
pub(crate) fn begin(
    kept: Option<Store>,
    plan: &Plan,
    bench: &Workbench,
    tell: Tell<'_>,
) -> Result<(Option<Store>, Stored), EngineError> {
    let facts = facts(plan, bench);
    if let Some(mut store) = kept {
        let stored = store.load(&bench.operations, |op| bench.usable.contains(&op), POOL_SAMPLE)?;
        store.begin_run(&facts, &bench.operations)?;
        tell(&format!(
            "resuming after {} sequences: {} to run again, {} lost with what they called",
            stored.totals.executions,
            stored.failures.len() + stored.corpus.len() + stored.pool.len(),
            stored.lost
        ));
        return Ok((Some(store), stored));
    }
    let Some(path) = &plan.campaign_file else { return Ok((None, Stored::default())) };
    match Store::create(path, &facts, &bench.operations) {
        Ok(store) => Ok((Some(store), Stored::default())),
        Err(error) if error.is_about_content() => Err(error.into()),
        // A search whose results can be shown is better than none.
        Err(error) => {
            tell(&format!("warning: {error}; this campaign cannot be resumed"));
            Ok((None, Stored::default()))
        }
    }
}

fn facts(plan: &Plan, bench: &Workbench) -> Facts {
    let subject = &bench.subject;
    Facts {
        krate: subject.package.clone(),
        version: subject.version.clone(),
        features: subject.features.clone(),
        compiler: subject.toolchain.lines().next().unwrap_or("").to_owned(),
        tool: plan.tool.clone(),
        seed: plan.seed,
        strategy: match plan.strategy {
            Strategy::Directed => "directed",
            Strategy::BottomUp => "bottom-up",
            Strategy::RandomWalk => "random-walk",
        }
        .to_owned(),
    }
}

/// Gives findings that earlier runs had the date of then.
pub(crate) fn date(findings: &mut [report::Finding], past: &Stored) {
    for finding in findings {
        if let Some(known) = past.findings.iter().find(|known| known.id == finding.id) {
            finding.first_seen_s = known.first_seen_s;
            finding.first_seen_execution = known.first_seen_execution;
        }
    }
}

/// When something was last reached for the first time, in this run or before it.
pub(crate) fn last_new(learned: &Learned, past: &Stored) -> (f64, u64) {
    match learned.last_new {
        (_, 0) => past.last_new,
        (seconds, executions) => (past.totals.seconds + seconds, past.totals.executions + executions),
    }
}

pub(crate) fn ending(
    learned: &Learned,
    found: &crate::findings::Found,
    past: &Stored,
    totals: Totals,
) -> Ending {
    let findings = found.findings.iter().zip(&found.sequences).map(|(finding, sequence)| Finding {
        id: finding.id.clone(),
        tier: finding.tier.clone(),
        class: finding.class.clone(),
        operation: finding.operation.clone(),
        message: finding.message.clone(),
        location: finding.location.as_ref().map(|location| (location.file.clone(), location.line)),
        first_seen_s: finding.first_seen_s,
        first_seen_execution: finding.first_seen_execution,
        sequence: sequence.clone(),
    });
    Ending {
        totals,
        last_new: last_new(learned, past),
        findings: findings.collect(),
        whole: !learned.replayed.cut_short,
    }
}

/// Writes the end; the report is worth having even if that fails.
pub(crate) fn finish(mut store: Store, ending: &Ending, tell: Tell<'_>) {
    if let Err(error) = store.finish(ending) {
        tell(&format!("warning: {error}; the findings are in the report only"));
    }
}
