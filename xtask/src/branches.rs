//! Branch-directed generation: kinds of conditions that `fixtures/branches` holds, and branches that went one way only in the
//! containers and in real crates.
//!
//! Runs the tool and reads its reports; prints Markdown. The bars are ten of the kinds, and a larger share of flipped branches than
//! the 19 of 163 of the Randoop thesis.

use std::path::Path;

use anyhow::Context;
use testwright_emit::report::{Branches, Report};

use crate::tool::Tool;

const KINDS: &str = "fixtures/branches";
const CONTAINERS: &str = "fixtures/containers";
/// Kinds of conditions that are to be met.
const ENOUGH: usize = 10;
/// Branches that the thesis tried, and flipped.
const THESIS: (usize, usize) = (163, 19);

pub fn run(seconds: u64, crates: &[String]) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    let flags = |more: [&str; 2]| -> Vec<String> {
        let budget = format!("{seconds}s");
        [more[0], more[1], "--budget", &budget, "--max-tests", "0", "--max-findings", "1"]
            .map(str::to_owned)
            .into()
    };
    let of_fixture = |name: &str| {
        let manifest = format!("{name}/Cargo.toml");
        tool.generate(
            Path::new(&format!("target/xtask/branches/{name}")),
            &flags(["--manifest-path", &manifest]),
        )
    };
    let kinds = of_fixture(KINDS)?;
    let met = print_kinds(&kinds)?;
    let mut rows =
        vec![(KINDS.to_owned(), figures(&kinds)), (CONTAINERS.to_owned(), figures(&of_fixture(CONTAINERS)?))];
    for name in crates {
        let out = format!("target/xtask/branches/{}", name.replace('@', "-"));
        rows.push((name.clone(), figures(&tool.generate(Path::new(&out), &flags(["--crate", name]))?)));
    }
    println!("## Branches that went one way only\n");
    println!("Campaigns of {seconds} s, seed 0.\n");
    println!("| | branches | reached | both ways | tried | flipped | sequences |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let (mut tried, mut flipped) = (0, 0);
    for (name, Branches { total, reached, both, tried: of_one, flipped: turned, executions, .. }) in &rows {
        println!("| {name} | {total} | {reached} | {both} | {of_one} | {turned} | {executions} |");
        // The first fixture is made for it.
        if name != KINDS {
            (tried, flipped) = (tried + of_one, flipped + turned);
        }
    }
    println!(
        "\nWithout the fixture of kinds: {flipped} of {tried} flipped; the thesis: {} of {}.",
        THESIS.1, THESIS.0
    );
    Ok(met >= ENOUGH && flipped * THESIS.0 > tried * THESIS.1)
}

fn figures(report: &Report) -> Branches {
    report.search.branches.clone().unwrap_or_default()
}

/// How many kinds of conditions were met, and a list of them.
fn print_kinds(report: &Report) -> anyhow::Result<usize> {
    let file = Path::new(KINDS).join("src/lib.rs");
    let source = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let missed: Vec<u32> = report.coverage.files.iter().flat_map(|file| file.missed_lines.clone()).collect();
    let goals: Vec<(u32, &str)> = (1..)
        .zip(source.lines())
        .filter_map(|(line, text)| Some((line, text.split_once("// goal: ")?.1)))
        .collect();
    let (unmet, met): (Vec<_>, Vec<_>) = goals.into_iter().partition(|(line, _)| missed.contains(line));
    let names = |goals: &[(u32, &str)]| goals.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    println!("## Kinds of conditions\n");
    println!(
        "{} of {} met: {}. Not met: {}.\n",
        met.len(),
        met.len() + unmet.len(),
        names(&met),
        names(&unmet)
    );
    Ok(met.len())
}
