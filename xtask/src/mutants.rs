//! How well the emitted regression suite kills mutants, beside the tests that the crate's author published.
//!
//! For each crate: the published package as a package of its own, the suite that the tool writes into it, and a sample of the
//! mutants that `cargo mutants` lists, each built once and tried by both suites. Outcomes are written to files as they come.

mod coverage;
mod mutant;
mod package;
mod pins;
mod table;
mod trial;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::subjects::Listed;
use crate::tool::Tool;
use coverage::Coverage;
use mutant::Mutant;
use package::{OURS, Package};
use table::Figures;
pub use table::median;
use trial::{Outcome, Stream, Verdict};

/// What is measured.
#[derive(Debug, Clone)]
pub struct Plan {
    pub crates: Vec<Listed>,
    /// Viable mutants a crate.
    pub sample: usize,
    /// Time of each campaign.
    pub budget: String,
    pub seed: u64,
    /// Of the tool, and mutants at a time.
    pub jobs: usize,
}

pub fn run(plan: &Plan) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    let mut rows = Vec::new();
    let mut complete = true;
    for listed in &plan.crates {
        match measure(plan, &tool, listed) {
            Ok(figures) => rows.push(figures),
            Err(error) => {
                println!("{} {}: FAILED: {error:#}", listed.name, listed.version);
                complete = false;
            }
        }
    }
    Ok(table::print(&rows) && complete)
}

fn measure(plan: &Plan, tool: &Tool, listed: &Listed) -> anyhow::Result<Figures> {
    let name = format!("{} {}", listed.name, listed.version);
    let folder = format!("target/xtask/mutants/{}-{}", listed.name, listed.version);
    let base = std::env::current_dir()?.join(folder);
    let scratch = base.join("scratch");
    let package = Package::published(listed, &base)?;
    let mutants = mutant::list(&package.root)?;
    Stream::open(package.clone(), scratch.clone()).context("without our suite")?;
    println!("{name}: its own tests pass; {} mutants; searching for {}", mutants.len(), plan.budget);
    write_suite(plan, tool, &base, &package)?;
    let coverage = {
        let instrumented = Package { target: base.join("target-coverage"), ..package.clone() };
        Coverage::measure(&instrumented, &scratch)?
    };
    println!(
        "{name}: {} tests; of {} lines own tests execute {}, ours {}",
        coverage.tests,
        coverage.lines.len(),
        coverage.own.len(),
        coverage.ours.len()
    );
    // What no feature of this build compiles no test can notice.
    let (mutants, absent): (Vec<_>, Vec<_>) =
        mutants.into_iter().partition(|mutant: &Mutant| mutant.is_compiled(&coverage.lines));
    println!("{name}: {} mutants, {} more in code that is not compiled here", mutants.len(), absent.len());
    let streams = (0..plan.jobs.max(1))
        .map(|number| {
            let package = if number == 0 { package.clone() } else { package.copied(&base, number)? };
            Stream::open(package, base.join(format!("scratch-{number}")))
        })
        .collect::<anyhow::Result<Vec<_>>>()
        .context("with our suite")?;
    let mutants = mutant::shuffled(mutants, plan.seed);
    let records = Records::new(&name, &base, plan.sample)?;
    records.leave_out(&absent)?;
    let outcomes = try_all(&streams, &mutants, plan.sample, &records)?;
    records.close();
    Ok(Figures::new(&name, outcomes.iter().map(|(_, outcome)| outcome), &coverage))
}

/// Lets the tool write its suite into the package.
fn write_suite(plan: &Plan, tool: &Tool, base: &Path, package: &Package) -> anyhow::Result<()> {
    let manifest = package.root.join("Cargo.toml").to_string_lossy().into_owned();
    let (seed, jobs) = (plan.seed.to_string(), plan.jobs.to_string());
    let flags = ["--manifest-path", &manifest, "--budget", &plan.budget, "--seed", &seed, "--jobs", &jobs];
    tool.generate_in_package(&base.join("target-tool"), &flags)?;
    let suite = package.root.join(format!("tests/{OURS}.rs"));
    if !suite.exists() {
        bail!("the tool wrote no {}", suite.display());
    }
    // They fail, and are ignored.
    let _ = std::fs::remove_file(package.root.join("tests/testwright_findings.rs"));
    Ok(())
}

/// Where the streams stand: mutants are taken in order, so that the sample does not depend on who is faster.
#[derive(Debug, Default)]
struct Progress {
    next: usize,
    viable: usize,
    under_way: usize,
}

/// Tries mutants in their order until so many have been viable.
fn try_all(
    streams: &[Stream],
    mutants: &[Mutant],
    sample: usize,
    records: &Records,
) -> anyhow::Result<Vec<(usize, Outcome)>> {
    let progress = Mutex::new(Progress::default());
    let lock = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |stream: &Stream| -> anyhow::Result<Vec<(usize, Outcome)>> {
        let mut outcomes = Vec::new();
        loop {
            let taken = {
                let mut progress = lock();
                if progress.viable >= sample || progress.next >= mutants.len() {
                    break;
                }
                (progress.viable + progress.under_way < sample).then(|| {
                    progress.under_way += 1;
                    progress.next += 1;
                    progress.next - 1
                })
            };
            let Some(index) = taken else {
                // The last ones are under way; one of them may turn out not to be viable.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let outcome = stream.try_mutant(&mutants[index]);
            let viable = {
                let mut progress = lock();
                progress.under_way -= 1;
                match &outcome {
                    Ok(outcome) => progress.viable += usize::from(*outcome != Outcome::DoesNotCompile),
                    // Nobody takes another.
                    Err(_) => progress.next = mutants.len(),
                }
                progress.viable
            };
            let outcome = outcome?;
            records.add(&mutants[index], &outcome, viable)?;
            outcomes.push((index, outcome));
        }
        Ok(outcomes)
    };
    let mut outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = streams.iter().map(|stream| scope.spawn(|| work(stream))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a stream panicked")))
            .collect::<anyhow::Result<Vec<_>>>()
    })?
    .concat();
    outcomes.sort_by_key(|(index, _)| *index);
    Ok(outcomes)
}

/// The files that outcomes are written to as they come.
#[derive(Debug)]
struct Records {
    name: String,
    sample: usize,
    start: Instant,
    /// All outcomes, a line each, and the diffs of those that own tests kill and ours do not.
    files: Mutex<(File, File)>,
    base: PathBuf,
}

impl Records {
    fn new(name: &str, base: &Path, sample: usize) -> anyhow::Result<Records> {
        let file = |name: &str| File::create(base.join(name)).with_context(|| name.to_owned());
        let files = Mutex::new((file("outcomes.txt")?, file("survivors.diff")?));
        Ok(Records { name: name.to_owned(), sample, start: Instant::now(), files, base: base.to_owned() })
    }

    fn leave_out(&self, absent: &[Mutant]) -> anyhow::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for mutant in absent {
            writeln!(files.0, "{:<16} {}", "not compiled", mutant.name)?;
        }
        Ok(())
    }

    fn add(&self, mutant: &Mutant, outcome: &Outcome, viable: usize) -> anyhow::Result<()> {
        let line = format!("{:<16} {}", word(outcome), mutant.name);
        let seconds = self.start.elapsed().as_secs();
        println!("{} {viable}/{} {seconds:>5} s  {line}", self.name, self.sample);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(files.0, "{line}{}", witnesses(outcome))?;
        if word(outcome) == OWN_ONLY {
            writeln!(files.1, "# {}{}\n{}", mutant.name, witnesses(outcome), mutant.diff)?;
        }
        Ok(())
    }

    fn close(self) {
        let place = |name| self.base.join(name).display().to_string();
        println!("{}: {}, {}", self.name, place("outcomes.txt"), place("survivors.diff"));
    }
}

const OWN_ONLY: &str = "own only";

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::DoesNotCompile => "does not compile",
        Outcome::Tested { own, ours } => match (own.kills(), ours.kills()) {
            (true, true) => "both",
            (true, false) => OWN_ONLY,
            (false, true) => "ours only",
            (false, false) => "neither",
        },
    }
}

/// What noticed a mutant, for the reader.
fn witnesses(outcome: &Outcome) -> String {
    let Outcome::Tested { own, ours } = outcome else { return String::new() };
    let told = |suite: &str, verdict: &Verdict| match verdict {
        Verdict::Passed => String::new(),
        Verdict::Failed(names) => format!("\t{suite}: {}", names.join(", ")),
        Verdict::Hung => format!("\t{suite}: does not end"),
        Verdict::Died => format!("\t{suite}: dies"),
    };
    told("own", own) + &told("ours", ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_told_with_its_witnesses() {
        let failed = Verdict::Failed(vec!["a".to_owned(), "b".to_owned()]);
        let outcome = Outcome::Tested { own: failed, ours: Verdict::Passed };
        assert_eq!((word(&outcome), witnesses(&outcome).as_str()), (OWN_ONLY, "\town: a, b"));
        let outcome = Outcome::Tested { own: Verdict::Hung, ours: Verdict::Died };
        assert_eq!(
            (word(&outcome), witnesses(&outcome).as_str()),
            ("both", "\town: does not end\tours: dies")
        );
        assert_eq!(word(&Outcome::DoesNotCompile), "does not compile");
    }
}
