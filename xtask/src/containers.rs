//! The container experiment of the Randoop thesis (section 8.1) on `fixtures/containers`: lines, and combinations of predicates.
//!
//! Runs the tool on the fixture and reads its report; prints Markdown. The bar is that all lines of all containers are executed.

use std::path::Path;

use anyhow::Context;
use testwright_emit::report::{FileFigures, Report};

use crate::tool::Tool;

const FIXTURE: &str = "fixtures/containers";

/// A container of the thesis, with the figures that Figure 8-1 gives for directed random testing.
struct Published {
    /// What the thesis calls it, and our type and module.
    name: &'static str,
    ty: &'static str,
    module: &'static str,
    blocks: f64,
    predicates: u32,
    seconds: f64,
    /// Predicate coverage of the best systematic technique and of undirected random testing.
    systematic: f64,
    undirected: f64,
}

const PUBLISHED: [Published; 4] = [
    Published {
        name: "BinTree",
        ty: "BinSearchTree",
        module: "bin_search_tree",
        blocks: 0.78,
        predicates: 54,
        seconds: 1.6,
        systematic: 53.2,
        undirected: 53.9,
    },
    Published {
        name: "BHeap",
        ty: "BinomialHeap",
        module: "binomial_heap",
        blocks: 0.95,
        predicates: 101,
        seconds: 4.2,
        systematic: 101.0,
        undirected: 58.5,
    },
    Published {
        name: "FibHeap",
        ty: "FibHeap",
        module: "fib_heap",
        blocks: 1.0,
        predicates: 96,
        seconds: 6.0,
        systematic: 93.0,
        undirected: 90.3,
    },
    Published {
        name: "TreeMap",
        ty: "TreeMap",
        module: "tree_map",
        blocks: 0.72,
        predicates: 106,
        seconds: 10.0,
        systematic: 106.0,
        undirected: 55.0,
    },
];

/// How long a campaign is.
#[derive(Debug)]
pub enum Extent {
    Budget(String),
    Executions(u64),
}

impl Extent {
    fn flags(&self, more: &[&str]) -> Vec<String> {
        let manifest = format!("{FIXTURE}/Cargo.toml");
        let (flag, value) = match self {
            Extent::Budget(time) => ("--budget", time.clone()),
            Extent::Executions(number) => ("--executions", number.to_string()),
        };
        ["--manifest-path", &manifest, "--max-tests", "0", flag, &value]
            .iter()
            .chain(more)
            .map(|flag| (*flag).to_owned())
            .collect()
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Budget(time) => f.write_str(time),
            Extent::Executions(number) => write!(f, "{number} sequences"),
        }
    }
}

pub fn run(extent: &Extent, seeds: u64) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    let all_lines = lines(&tool, extent)?;
    predicates(&tool, extent, seeds)?;
    Ok(all_lines)
}

/// One campaign on all containers together; whether every line was executed.
fn lines(tool: &Tool, extent: &Extent) -> anyhow::Result<bool> {
    let report = tool.generate(Path::new("target/xtask/containers-lines"), &extent.flags(&[]))?;
    let files: Vec<&FileFigures> = report.coverage.files.iter().collect();
    if files.is_empty() {
        anyhow::bail!("the report has no coverage by file");
    }
    println!("## Lines\n");
    println!(
        "One campaign of {extent} on all containers together: {} sequences, {} calls, {} findings; something new came last after {:.1} s.\n",
        report.executions.sequences,
        report.executions.calls,
        report.findings.len(),
        report.search.last_new_s
    );
    println!("| container | lines executed | functions executed | thesis, blocks |");
    println!("| --- | --- | --- | --- |");
    for file in &files {
        let module = file.file.trim_start_matches("src/").trim_end_matches(".rs");
        let blocks = PUBLISHED
            .iter()
            .find(|container| container.module == module)
            .map_or(String::new(), |container| format!("{:.2}", container.blocks));
        println!(
            "| `{module}` | {} of {} | {} of {} | {blocks} |",
            file.lines_hit, file.lines_total, file.functions_hit, file.functions_total
        );
    }
    if files.iter().any(|file| !file.missed_lines.is_empty()) {
        println!("\nLines that were not executed:\n\n```text");
        for file in &files {
            print_missed(file)?;
        }
        println!("```");
    }
    println!();
    Ok(files.iter().all(|file| file.missed_lines.is_empty()))
}

fn print_missed(file: &FileFigures) -> anyhow::Result<()> {
    let source = std::fs::read_to_string(Path::new(FIXTURE).join(&file.file))
        .with_context(|| format!("cannot read {}", file.file))?;
    for (line, text) in (1..).zip(source.lines()) {
        if file.missed_lines.contains(&line) {
            println!("{}:{line}: {}", file.file, text.trim());
        }
    }
    Ok(())
}

/// What one container's campaigns reached.
struct Reached {
    /// By seed: combinations, and the second in which something new came last.
    runs: Vec<(usize, f64)>,
    possible: usize,
    /// Combinations that no seed reached, and that some did not.
    never: Vec<String>,
    sometimes: usize,
}

/// One campaign for each of the four containers of the thesis and each seed, with the feature that counts combinations.
fn predicates(tool: &Tool, extent: &Extent, seeds: u64) -> anyhow::Result<()> {
    println!("## Combinations of predicates\n");
    println!(
        "For each container a campaign of {extent} of its own; number of seeds: {seeds}. The predicates are ours, so the counts are not comparable with those of\nthe thesis; the share of the possible combinations is what counts here. The thesis knows no maximum.\n"
    );
    println!(
        "| container | combinations reached, average | least, most | possible | share | last new after, average | thesis: directed | systematic | undirected |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut notes = Vec::new();
    for container in &PUBLISHED {
        let reached = reached(tool, container, extent, seeds)?;
        let counts = || reached.runs.iter().map(|(count, _)| *count);
        #[expect(clippy::cast_precision_loss, reason = "an average of small numbers")]
        let average = counts().sum::<usize>() as f64 / reached.runs.len() as f64;
        #[expect(clippy::cast_precision_loss, reason = "an average of small numbers")]
        let seconds = reached.runs.iter().map(|(_, last)| last).sum::<f64>() / reached.runs.len() as f64;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = 100.0 * average / reached.possible as f64;
        println!(
            "| {} (`{}`) | {average:.1} | {}, {} | {} | {share:.1}% | {seconds:.1} s | {} in {} s | {} | {} |",
            container.name,
            container.ty,
            counts().min().unwrap_or(0),
            counts().max().unwrap_or(0),
            reached.possible,
            container.predicates,
            container.seconds,
            container.systematic,
            container.undirected
        );
        let never = if reached.never.is_empty() { "none".to_owned() } else { reached.never.join(", ") };
        notes.push(format!(
            "{}: reached by some seeds only: {}; by none: {never}",
            container.name, reached.sometimes
        ));
    }
    println!();
    for note in notes {
        println!("* {note}");
    }
    Ok(())
}

fn reached(tool: &Tool, container: &Published, extent: &Extent, seeds: u64) -> anyhow::Result<Reached> {
    let file = format!("src/{}/predicates.rs", container.module);
    let source = std::fs::read_to_string(Path::new(FIXTURE).join(&file))
        .with_context(|| format!("cannot read {file} of {FIXTURE}"))?;
    let combinations = combinations(&source);
    let mut times = vec![0; combinations.len()];
    let mut runs = Vec::new();
    let only = format!("^{}::", container.ty);
    for seed in 0..seeds {
        let seed = seed.to_string();
        let out = Path::new("target/xtask").join(format!("predicates-{}", container.module));
        let more = ["--features", "predicates", "--only", &only, "--seed", &seed];
        let report = tool.generate(&out, &extent.flags(&more))?;
        let missed = missed(&report, &file)?;
        let mut count = 0;
        for ((line, _), times) in combinations.iter().zip(&mut times) {
            if !missed.contains(line) {
                count += 1;
                *times += 1;
            }
        }
        runs.push((count, report.search.last_new_s));
    }
    let never = combinations.iter().zip(&times).filter(|(_, times)| **times == 0);
    Ok(Reached {
        runs,
        possible: combinations.len(),
        never: never.map(|((_, name), _)| format!("`{name}`")).collect(),
        sometimes: times.iter().filter(|times| (1..seeds).contains(times)).count(),
    })
}

/// The lines that stand for combinations, with their names.
fn combinations(source: &str) -> Vec<(u32, String)> {
    (1..)
        .zip(source.lines())
        .filter_map(|(line, text)| {
            let (_, call) = text.split_once("=> reach(\"")?;
            let (point, digits) = call.strip_suffix("),")?.split_once("\", 0b")?;
            Some((line, format!("{point} {digits}")))
        })
        .collect()
}

/// The lines of a file that were not executed.
fn missed<'r>(report: &'r Report, file: &str) -> anyhow::Result<&'r [u32]> {
    let figures = report.coverage.files.iter().find(|figures| figures.file == file);
    Ok(&figures.with_context(|| format!("the report knows nothing of {file}"))?.missed_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_found_in_the_source() {
        let source =
            "match bits {\n    0b01 => reach(\"cut\", 0b01),\n    other => impossible(\"cut\", other),\n}";
        assert_eq!(combinations(source), [(2, "cut 01".to_owned())]);
    }
}
