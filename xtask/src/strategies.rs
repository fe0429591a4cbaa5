//! Random walks, bottom-up and directed search at equal numbers of calls: values made, depths, failures, and known bugs found.
//!
//! The subjects are the containers, which have no bugs, and five published crates with a bug each that needs state. Runs the tool and
//! reads its report; prints Markdown.

use std::path::Path;

use testwright_emit::report::{LengthFigures, Report};

use crate::tool::Tool;

const STRATEGIES: [&str; 3] = ["random-walk", "bottom-up", "directed"];

/// A published version with a known bug, and where that panics.
struct Buggy {
    name: &'static str,
    version: &'static str,
    file: &'static str,
    line: u32,
    /// The calls that show it.
    calls: &'static str,
}

const BUGGY: [Buggy; 5] = [
    Buggy {
        name: "circular-buffer",
        version: "0.1.5",
        file: "src/lib.rs",
        line: 1780,
        calls: "`==` of two buffers with the same items at different rotations",
    },
    Buggy {
        name: "priority-queue",
        version: "2.7.0",
        file: "src/double_priority_queue/iterators.rs",
        line: 198,
        calls: "`push` twice, `iter_mut`, `next_back`",
    },
    Buggy {
        name: "vers-vecs",
        version: "1.6.0",
        file: "src/bit_vec/fast_rs_vec/mod.rs",
        line: 221,
        calls: "`append_bits` with more bits than asked for, `RsVec::from_bit_vec`",
    },
    Buggy {
        name: "hashlink",
        version: "0.7.0",
        file: "src/linked_hash_map.rs",
        line: 1875,
        calls: "`insert` some, `shrink_to_fit`",
    },
    Buggy {
        name: "url",
        version: "2.2.0",
        file: "src/path_segments.rs",
        line: 126,
        calls: "`parse(\"m://\")`, `path_segments_mut`, `pop_if_empty`",
    },
];

/// Depths that are counted together: from this call of a sequence up to the next.
const DEPTHS: [u32; 8] = [1, 2, 3, 5, 9, 17, 33, 65];

/// What one strategy did, over all subjects and seeds.
#[derive(Clone, Copy, Default)]
struct Sum {
    calls: [u64; DEPTHS.len()],
    panics: [u64; DEPTHS.len()],
}

impl Sum {
    fn add(&mut self, lengths: &[LengthFigures]) {
        for length in lengths {
            for (at, from) in DEPTHS.iter().enumerate() {
                let next = DEPTHS.get(at + 1).copied().unwrap_or(u32::MAX);
                // The calls of such a sequence that stand there.
                let calls = (length.calls + 1).min(next).saturating_sub(*from);
                self.calls[at] += u64::from(calls) * length.sequences;
            }
            let last = DEPTHS.iter().rposition(|from| length.calls >= *from).unwrap_or(0);
            self.panics[last] += length.panics;
        }
    }
}

pub fn run(calls: u64, seeds: u64, only: &[String]) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    println!("## Strategies\n");
    println!(
        "At least {calls} calls into the crate for each subject, strategy and seed, and what a last batch brings; sums over seeds, of which there are {seeds}.\n"
    );
    println!(
        "| subject | strategy | calls | calls a second | sequences | different values | panics | bug findings | known bug found, seeds | after sequences, least |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut sums = [Sum::default(); STRATEGIES.len()];
    let mut found = [0u64; STRATEGIES.len()];
    let mut subjects: Vec<Option<&Buggy>> = vec![None];
    subjects.extend(BUGGY.iter().map(Some));
    subjects.retain(|subject| {
        let name = subject.map_or("containers", |buggy| buggy.name);
        only.is_empty() || only.iter().any(|only| only == name)
    });
    for subject in &subjects {
        for (at, strategy) in STRATEGIES.iter().enumerate() {
            let reports = (0..seeds)
                .map(|seed| campaign(&tool, *subject, strategy, calls, seed))
                .collect::<anyhow::Result<Vec<Report>>>()?;
            for report in &reports {
                sums[at].add(&report.search.by_length);
            }
            found[at] += row(*subject, strategy, &reports);
        }
    }
    println!();
    for buggy in subjects.iter().flatten() {
        println!("* {} {}, `{}:{}`: {}", buggy.name, buggy.version, buggy.file, buggy.line, buggy.calls);
    }
    let runs = subjects.iter().flatten().count() as u64 * seeds;
    println!();
    for (strategy, found) in STRATEGIES.iter().zip(found) {
        println!("* {strategy}: the known bug in {found} of {runs} campaigns");
    }
    print_depths(&sums);
    Ok(true)
}

fn campaign(
    tool: &Tool,
    subject: Option<&Buggy>,
    strategy: &str,
    calls: u64,
    seed: u64,
) -> anyhow::Result<Report> {
    let mut flags: Vec<String> = match subject {
        None => vec!["--manifest-path".to_owned(), "fixtures/containers/Cargo.toml".to_owned()],
        Some(buggy) => vec!["--crate".to_owned(), format!("{}@{}", buggy.name, buggy.version)],
    };
    let numbers = [calls.to_string(), seed.to_string()];
    let more = [
        "--strategy",
        strategy,
        "--calls",
        &numbers[0],
        "--seed",
        &numbers[1],
        "--max-tests",
        "0",
        "--max-findings",
        "200",
        "--sanitizer",
        "never",
    ];
    flags.extend(more.map(str::to_owned));
    let name = subject.map_or("containers", |buggy| buggy.name);
    tool.generate(&Path::new("target/xtask").join(format!("strategies-{name}")), &flags)
}

/// Prints a row; in how many campaigns the known bug was found.
fn row(subject: Option<&Buggy>, strategy: &str, reports: &[Report]) -> u64 {
    let sum = |figure: fn(&Report) -> u64| reports.iter().map(figure).sum::<u64>();
    let first: Vec<u64> =
        reports.iter().filter_map(|report| subject.and_then(|buggy| first_seen(report, buggy))).collect();
    let known = match subject {
        None => ("–".to_owned(), "–".to_owned()),
        Some(_) => (
            format!("{} of {}", first.len(), reports.len()),
            first.iter().min().map_or("–".to_owned(), u64::to_string),
        ),
    };
    println!(
        "| {} | {strategy} | {} | {:.0} | {} | {} | {} | {} | {} | {} |",
        subject.map_or("containers", |buggy| buggy.name),
        sum(|report| report.executions.calls),
        reports.iter().map(|report| report.executions.calls_per_s).sum::<f64>() / reports.len() as f64,
        sum(|report| report.executions.sequences),
        sum(|report| report.search.distinct_values as u64),
        sum(|report| report.search.by_length.iter().map(|length| length.panics).sum()),
        sum(|report| report.bugs() as u64),
        known.0,
        known.1
    );
    first.len() as u64
}

/// The number of the sequence that showed the bug first; lines may be off by two.
fn first_seen(report: &Report, buggy: &Buggy) -> Option<u64> {
    let here = report.findings.iter().filter(|finding| {
        let place = finding.location.as_ref();
        finding.is_bug()
            && place
                .is_some_and(|place| place.file.ends_with(buggy.file) && place.line.abs_diff(buggy.line) <= 2)
    });
    here.map(|finding| finding.first_seen_execution).min()
}

fn print_depths(sums: &[Sum; STRATEGIES.len()]) {
    println!("\n### By depth\n");
    println!(
        "Calls of all campaigns above by their place in the sequence, and how many of them panicked or died.\n"
    );
    print!("| call |");
    for strategy in STRATEGIES {
        print!(" {strategy} | panics |");
    }
    println!("\n| --- |{}", " --- | --- |".repeat(STRATEGIES.len()));
    for (at, from) in DEPTHS.iter().enumerate() {
        let name = match DEPTHS.get(at + 1) {
            Some(next) if next - from == 1 => from.to_string(),
            Some(next) => format!("{from} to {}", next - 1),
            None => format!("{from} or more"),
        };
        print!("| {name} |");
        for sum in sums {
            print!(" {} | {} |", sum.calls[at], sum.panics[at]);
        }
        println!();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_their_place() {
        let mut sum = Sum::default();
        let length = |calls, sequences, panics| LengthFigures { calls, sequences, panics };
        sum.add(&[length(0, 1, 0), length(2, 10, 1), length(3, 100, 2), length(66, 1000, 3)]);
        assert_eq!(sum.calls, [1110, 1110, 1100 + 1000, 4000, 8000, 16000, 32000, 2000]);
        assert_eq!(sum.panics, [0, 1, 2, 0, 0, 0, 0, 3]);
    }
}
