//! Known bugs in published crates: which of them the tool finds, and why it misses the others.
//!
//! Runs the tool and reads its reports; `rule` says what counts as found. Reasons for misses are kept in a file, by the bug's id.

mod fixed;
mod program;
mod rule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use testwright_emit::report::{Finding, Report};

use crate::mutants::median;
use crate::tool::Tool;
use fixed::Fixed;
use rule::{Bug, FixedVerdict, Proof};

/// What is run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub list: PathBuf,
    /// What bugs may need to be seen; empty for all.
    pub needs: Vec<String>,
    /// Only these; empty for all.
    pub ids: Vec<String>,
    pub budget: String,
    pub seeds: Vec<u64>,
    /// Campaigns at a time.
    pub streams: usize,
    pub reasons: PathBuf,
    pub markdown: bool,
}

/// One bug after all its campaigns.
#[derive(Debug)]
struct Row {
    bug: Bug,
    /// Calls into the crate in the program that is known to show it.
    known: Option<usize>,
    campaigns: Vec<Campaign>,
}

/// One seed's campaign.
#[derive(Debug)]
struct Campaign {
    seed: u64,
    /// Of the whole campaign, what shortening took.
    shortening: Option<f64>,
    hit: Option<Hit>,
    /// What there is to say if the bug was not found.
    note: String,
}

/// A finding that shows the bug.
#[derive(Debug, Clone)]
struct Hit {
    class: String,
    operation: String,
    calls: usize,
    first_seen: f64,
    proof: Proof,
}

pub fn run(plan: &Plan) -> anyhow::Result<bool> {
    let mut bugs = rule::read(&plan.list)?;
    bugs.retain(|bug| plan.needs.is_empty() || plan.needs.contains(&bug.needs));
    bugs.retain(|bug| plan.ids.is_empty() || plan.ids.contains(&bug.id));
    let reasons = reasons(&plan.reasons)?;
    let tool = Tool::build()?;
    let rows = all(plan, &tool, &bugs)?;
    print(plan, &rows, &reasons);
    Ok(rows.iter().all(|row| row.excess().is_none()))
}

/// A finding's test may have so many calls more than the known program.
const MORE: usize = 2;

/// Calls of the program beside the list that shows the bug, or else of the list's own words.
fn known_calls(plan: &Plan, bug: &Bug) -> Option<usize> {
    let file = plan.list.parent()?.join("known-bugs").join(format!("{}.rs", bug.id));
    let program = std::fs::read_to_string(file).ok();
    let counted = program.and_then(|program| program::calls(&program, &bug.krate.replace('-', "_")));
    counted.or_else(|| rule::known_calls(&bug.sequence))
}

/// Sentences by the bug's id.
fn reasons(file: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

/// Hunts each bug, several at a time, and keeps the list's order.
fn all(plan: &Plan, tool: &Tool, bugs: &[Bug]) -> anyhow::Result<Vec<Row>> {
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<Vec<(usize, Row)>> {
        let mut rows = Vec::new();
        while let Some((at, bug)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            bugs.get(at).map(|bug| (at, bug))
        } {
            let row = hunt(plan, tool, bug)?;
            println!("{}", line(&row));
            rows.push((at, row));
        }
        Ok(rows)
    };
    let mut rows = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.streams.max(1)).map(|_| scope.spawn(work)).collect();
        let mut rows = Vec::new();
        for thread in threads {
            rows.extend(thread.join().unwrap_or_else(|_| bail!("a stream panicked"))?);
        }
        anyhow::Ok(rows)
    })?;
    rows.sort_by_key(|(at, _)| *at);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Later seeds run only for what the first missed, and only while a majority can still find it.
fn hunt(plan: &Plan, tool: &Tool, bug: &Bug) -> anyhow::Result<Row> {
    let folder = std::env::current_dir()?.join("target/xtask/hunt").join(&bug.id);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let mut row = Row { bug: bug.clone(), known: known_calls(plan, bug), campaigns: Vec::new() };
    for seed in &plan.seeds {
        row.campaigns.push(campaign(plan, tool, bug, *seed, &folder)?);
        let found: Vec<bool> = row.campaigns.iter().map(|campaign| campaign.hit.is_some()).collect();
        if settled(&found, plan.seeds.len()).is_some() {
            break;
        }
    }
    // What was built is large, and is not needed any more.
    for built in ["out/target", "fixed"] {
        let _ = std::fs::remove_dir_all(folder.join(built));
    }
    Ok(row)
}

/// Whether a bug counts as found after these campaigns: by the first seed, or by most of them. `None` if it is still open.
fn settled(found: &[bool], seeds: usize) -> Option<bool> {
    let hits = found.iter().filter(|hit| **hit).count();
    if found.first() == Some(&true) || 2 * hits > seeds {
        return Some(true);
    }
    let open = seeds.saturating_sub(found.len());
    (2 * (hits + open) <= seeds).then_some(false)
}

fn campaign(plan: &Plan, tool: &Tool, bug: &Bug, seed: u64, folder: &Path) -> anyhow::Result<Campaign> {
    let out = folder.join("out");
    let jobs = if plan.streams > 1 { "1" } else { "2" };
    let (name, number) = (format!("{}@{}", bug.krate, bug.version), seed.to_string());
    let mut flags: Vec<String> =
        ["--crate", &name, "--budget", &plan.budget, "--seed", &number, "--jobs", jobs]
            .map(str::to_owned)
            .into();
    if !bug.features().is_empty() {
        flags.extend(["--features".to_owned(), bug.features().join(",")]);
    }
    let report = match tool.generate(&out, &flags) {
        Ok(report) => report,
        // A crate that does not build is a miss like any other.
        Err(error) => {
            let note = format!("{error:#}").lines().last().unwrap_or("").to_owned();
            return Ok(Campaign { seed, shortening: None, hit: None, note });
        }
    };
    let mut other = None;
    let found = rule::shown(bug, &report, |finding| {
        let Some(version) = &bug.fixed else { return Ok(FixedVerdict::NoTest) };
        let package = match &other {
            Some(package) => package,
            None => other.insert(Fixed::new(folder.join("fixed"), bug, version, &out)?),
        };
        package.run(finding)
    })?;
    let shortening = (report.elapsed_s > 0.0).then(|| report.search.shorten_s / report.elapsed_s);
    let hit = found.map(|(finding, proof)| Hit::new(finding, proof));
    Ok(Campaign { seed, shortening, hit, note: others(&report) })
}

impl Hit {
    fn new(finding: &Finding, proof: Proof) -> Hit {
        Hit {
            class: finding.class.clone(),
            operation: finding.operation.clone(),
            calls: finding.calls,
            first_seen: finding.first_seen_s,
            proof,
        }
    }
}

fn others(report: &Report) -> String {
    format!("{} other findings, {} operations", report.findings.len(), report.api.operations)
}

impl Row {
    fn found(&self, seeds: usize) -> bool {
        let found: Vec<bool> = self.campaigns.iter().map(|campaign| campaign.hit.is_some()).collect();
        settled(&found, seeds) == Some(true)
    }

    /// Calls of the finding and of the known program, if the finding has too many more.
    fn excess(&self) -> Option<(usize, usize)> {
        let (calls, known) = (self.hit()?.1.calls, self.known?);
        (calls > known + MORE).then_some((calls, known))
    }

    fn hit(&self) -> Option<(u64, &Hit)> {
        self.campaigns.iter().find_map(|campaign| Some((campaign.seed, campaign.hit.as_ref()?)))
    }
}

/// One bug as its campaigns end.
fn line(row: &Row) -> String {
    let Bug { id, difficulty, needs, class, .. } = &row.bug;
    let head = format!("{id:32} d{difficulty} {needs:8} {class:14}");
    if let Some((seed, hit)) = row.hit() {
        return format!(
            "seen   {head} {} in {}, {} calls, first seen {:.1} s, seed {seed}: {}",
            hit.class,
            hit.operation,
            hit.calls,
            hit.first_seen,
            hit.proof.words()
        );
    }
    format!("MISSED {head} {}", row.campaigns.last().map_or("", |campaign| campaign.note.as_str()))
}

fn print(plan: &Plan, rows: &[Row], reasons: &BTreeMap<String, String>) {
    let seeds = plan.seeds.len();
    println!();
    if plan.markdown {
        println!(
            "| bug | needs | difficulty | found | class | calls | calls of the known program | seen after s | why not |"
        );
        println!("| --- | --- | ---: | --- | --- | ---: | ---: | ---: | --- |");
    }
    for row in rows {
        let reason = match row.hit() {
            Some(_) if row.found(seeds) => "",
            _ => reasons.get(&row.bug.id).map_or("no reason is known yet", String::as_str),
        };
        println!("{}", if plan.markdown { markdown(row, seeds, reason) } else { plain(row, seeds, reason) });
    }
    let found: Vec<&Row> = rows.iter().filter(|row| row.found(seeds)).collect();
    let share = found.len() as f64 / rows.len().max(1) as f64;
    println!("\nfound {} of {} ({:.0}%)", found.len(), rows.len(), 100.0 * share);
    let calls: Vec<f64> = found.iter().filter_map(|row| Some(row.hit()?.1.calls as f64)).collect();
    if let Some(mean) = mean(&calls) {
        println!("calls in a finding's test, mean: {mean:.1}");
    }
    let long: Vec<String> = rows
        .iter()
        .filter_map(|row| row.excess().map(|(calls, known)| format!("{} ({calls} of {known})", row.bug.id)))
        .collect();
    match long.as_slice() {
        [] => println!("no finding's test has more calls than the known program and {MORE} more"),
        _ => println!("more calls than the known program and {MORE} more: {}", long.join(", ")),
    }
    let shortening: Vec<f64> =
        rows.iter().flat_map(|row| &row.campaigns).filter_map(|campaign| campaign.shortening).collect();
    if let (Some(mean), Some(median)) = (mean(&shortening), median(shortening)) {
        println!(
            "share of time spent on shortening, median {:.1}%, mean {:.1}%",
            100.0 * median,
            100.0 * mean
        );
    }
}

fn seeds_told(row: &Row, seeds: usize) -> String {
    let hits: Vec<String> = row
        .campaigns
        .iter()
        .filter(|campaign| campaign.hit.is_some())
        .map(|campaign| campaign.seed.to_string())
        .collect();
    match (row.found(seeds), hits.is_empty()) {
        (true, _) => format!("yes, seed {}", hits.join(", ")),
        (false, false) => format!("no, only seed {}", hits.join(", ")),
        (false, true) => "no".to_owned(),
    }
}

/// Class, calls and time of the finding, each `–` without one; and the calls of the known program.
fn facts(row: &Row) -> [String; 4] {
    let none = || "–".to_owned();
    let listed = row.known.map_or_else(none, |calls| calls.to_string());
    match row.hit() {
        Some((_, hit)) => {
            let calls = format!("{}{}", hit.calls, if row.excess().is_some() { " (!)" } else { "" });
            [hit.class.clone(), calls, listed, format!("{:.1}", hit.first_seen)]
        }
        None => [none(), none(), listed, none()],
    }
}

fn markdown(row: &Row, seeds: usize, reason: &str) -> String {
    let Bug { id, needs, difficulty, .. } = &row.bug;
    let [class, calls, listed, seen] = facts(row);
    format!(
        "| {id} | {needs} | {difficulty} | {} | {class} | {calls} | {listed} | {seen} | {reason} |",
        seeds_told(row, seeds)
    )
}

fn plain(row: &Row, seeds: usize, reason: &str) -> String {
    let [class, calls, listed, seen] = facts(row);
    let found = if row.found(seeds) { "found " } else { "MISSED" };
    format!("{found} {:32} {class:24} calls {calls:>3} of {listed:>3} {seen:>6} s  {reason}", row.bug.id)
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_seed_or_a_majority_finds() {
        assert_eq!(settled(&[true], 3), Some(true));
        assert_eq!(settled(&[false], 3), None);
        assert_eq!(settled(&[false, false], 3), Some(false), "no majority any more");
        assert_eq!(settled(&[false, true], 3), None);
        assert_eq!(settled(&[false, true, true], 3), Some(true));
        assert_eq!(settled(&[false, true, false], 3), Some(false));
        assert_eq!(settled(&[false], 1), Some(false));
    }

    #[test]
    fn a_miss_has_its_reason() {
        let bug = Bug { id: "a".to_owned(), needs: "none".to_owned(), ..Bug::default() };
        let missed = || Campaign { seed: 0, shortening: None, hit: None, note: String::new() };
        let row = Row { bug: bug.clone(), known: None, campaigns: vec![missed()] };
        assert_eq!(markdown(&row, 1, "because"), "| a | none | 0 | no | – | – | – | – | because |");
        let hit = Hit {
            class: "index".to_owned(),
            operation: "f".to_owned(),
            calls: 2,
            first_seen: 1.25,
            proof: Proof::Location,
        };
        let hits = Campaign { hit: Some(hit), seed: 1, ..missed() };
        let mut row = Row { bug, known: Some(2), campaigns: vec![missed(), hits, missed()] };
        assert_eq!(
            markdown(&row, 3, "rare"),
            "| a | none | 0 | no, only seed 1 | index | 2 | 2 | 1.2 | rare |"
        );
        row.campaigns[1].hit.as_mut().expect("it has one").calls = 5;
        assert_eq!(row.excess(), Some((5, 2)));
        assert!(markdown(&row, 3, "").contains("| 5 (!) | 2 |"));
    }
}
