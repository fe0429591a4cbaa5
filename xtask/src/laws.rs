//! Every law's breaker in `fixtures/laws-broken`, given a short campaign: after how much of it the broken law was seen.
//!
//! Receives `breakers.toml` of the fixture, which says who breaks what; prints Markdown. Some types share a campaign; a law that it
//! misses has another one for its breaker alone. The bar is that none is missed then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use testwright_emit::report::Report;
use testwright_model::law::{self, Confidence, Law};

use crate::tool::Tool;

const FIXTURE: &str = "fixtures/laws-broken";

#[derive(Debug)]
pub struct Plan {
    /// Time of each campaign.
    pub budget: String,
    /// Types that share a campaign.
    pub types: usize,
    /// Campaigns at a time, of one worker each.
    pub jobs: usize,
    pub seed: u64,
    /// Only the laws whose classes contain one of these; empty: all.
    pub only: Vec<String>,
}

/// A type, and the laws that it breaks.
type Breaker = (String, Vec<&'static Law>);

/// What a campaign showed of one law.
struct Row {
    law: &'static Law,
    breaker: String,
    /// How many types shared the campaign.
    types: usize,
    /// Seconds and sequences until it was seen.
    seen: Option<(f64, u64)>,
}

pub fn run(plan: &Plan) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    let text = std::fs::read_to_string(Path::new(FIXTURE).join("breakers.toml"))
        .with_context(|| format!("cannot read breakers.toml of {FIXTURE}"))?;
    let breakers = breakers(&text, &plan.only)?;
    let mut rows = campaigns(&tool, plan, &breakers, plan.types)?;
    if plan.types > 1 {
        let missed: Vec<Row> = rows.extract_if(.., |row| row.seen.is_none()).collect();
        let again: Vec<Breaker> = missed.into_iter().map(|row| (row.breaker, vec![row.law])).collect();
        rows.extend(campaigns(&tool, plan, &again, 1)?);
    }
    rows.sort_by_key(|row| row.law.class);
    print(plan, &rows);
    Ok(rows.iter().all(|row| row.seen.is_some()))
}

/// The breaking types with the laws that each breaks.
fn breakers(text: &str, only: &[String]) -> anyhow::Result<Vec<Breaker>> {
    let breakers: BTreeMap<String, String> = toml::from_str(text)?;
    let mut all: BTreeMap<String, Vec<&'static Law>> = BTreeMap::new();
    let chosen = |law: &&Law| only.is_empty() || only.iter().any(|part| law.class.contains(part.as_str()));
    for law in in_fixture().filter(chosen) {
        let name = law.class.trim_start_matches("law:");
        let breaker = breakers.get(name).with_context(|| format!("breakers.toml has nobody for {name}"))?;
        all.entry(breaker.clone()).or_default().push(law);
    }
    Ok(all.into_iter().collect())
}

/// The fixture has no dependencies: a law that names another crate has fixtures and a test of its own.
fn in_fixture() -> impl Iterator<Item = &'static Law> {
    law::all().filter(|law| law.beside.is_none())
}

/// Campaigns for so many types each.
fn campaigns(tool: &Tool, plan: &Plan, breakers: &[Breaker], types: usize) -> anyhow::Result<Vec<Row>> {
    let groups: Vec<&[Breaker]> = breakers.chunks(types.max(1)).collect();
    let (rows, next) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = |job: usize| -> anyhow::Result<()> {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let names: Vec<&str> = group.iter().map(|(name, _)| name.as_str()).collect();
            let report = campaign(tool, plan, job, &names)?;
            let mut rows = rows.lock().expect("nobody panics with it");
            for (breaker, laws) in *group {
                rows.extend(laws.iter().map(|law| row(law, breaker, group.len(), &report)));
            }
        }
        Ok(())
    };
    let work = &work;
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..plan.jobs.max(1)).map(|job| scope.spawn(move || work(job))).collect();
        jobs.into_iter().try_for_each(|job| job.join().expect("a campaign does not panic"))
    })?;
    Ok(rows.into_inner().expect("nobody panics with it"))
}

fn campaign(tool: &Tool, plan: &Plan, job: usize, names: &[&str]) -> anyhow::Result<Report> {
    let (manifest, only) = (format!("{FIXTURE}/Cargo.toml"), format!(r"\b({})\b", names.join("|")));
    let seed = plan.seed.to_string();
    let place = ["--manifest-path", &manifest, "--only", &only, "--seed", &seed];
    let extent = ["--budget", &plan.budget, "--max-tests", "0", "--max-findings", "100", "--jobs", "1"];
    let flags: Vec<String> = place.iter().chain(&extent).map(|flag| (*flag).to_owned()).collect();
    tool.generate(&Path::new("target/xtask").join(format!("laws-{job}")), &flags)
}

fn row(law: &'static Law, breaker: &str, types: usize, report: &Report) -> Row {
    let found = report.findings.iter().filter(|finding| finding.class == law.class);
    let seen = found
        .map(|finding| (finding.first_seen_s, finding.first_seen_execution))
        .min_by(|one, other| one.0.total_cmp(&other.0));
    Row { law, breaker: breaker.to_owned(), types, seen }
}

fn print(plan: &Plan, rows: &[Row]) {
    println!("| law | broken by | says | types in the campaign | seen after | sequences |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for Row { law, breaker, types, seen } in rows {
        let says = match law.confidence {
            Confidence::Certain => "bug",
            Confidence::Hint => "hint",
        };
        let (seconds, sequences) = match seen {
            Some((seconds, sequences)) => (format!("{seconds:.2} s"), sequences.to_string()),
            None => ("missed".to_owned(), String::new()),
        };
        println!("| `{}` | `{breaker}` | {says} | {types} | {seconds} | {sequences} |", law.class);
    }
    let mut seconds: Vec<f64> = rows.iter().filter_map(|row| row.seen.map(|(seconds, _)| seconds)).collect();
    seconds.sort_by(f64::total_cmp);
    println!(
        "\n{} of {} laws seen to be broken within {}; median {:.2} s, longest {:.2} s.",
        seconds.len(),
        rows.len(),
        plan.budget,
        seconds.get(seconds.len() / 2).copied().unwrap_or_default(),
        seconds.last().copied().unwrap_or_default()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_has_a_breaker() {
        let text = include_str!("../../fixtures/laws-broken/breakers.toml");
        let breakers = breakers(text, &[]).expect("complete");
        assert_eq!(breakers.iter().map(|(_, laws)| laws.len()).sum::<usize>(), in_fixture().count());
    }

    #[test]
    fn laws_of_one_type_share_a_campaign() {
        let only = ["checked.".to_owned()];
        let text =
            "'checked.wrapping' = 'Coins'\n'checked.saturating' = 'Coins'\n'checked.overflowing' = 'Coins'\n";
        let breakers = breakers(text, &only).expect("complete");
        assert_eq!(
            breakers.iter().map(|(name, laws)| (&**name, laws.len())).collect::<Vec<_>>(),
            [("Coins", 3)]
        );
        assert!(super::breakers("", &only).is_err(), "nobody breaks them");
    }
}
