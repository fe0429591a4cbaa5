//! The whole tool measured as users start it: pace beside libFuzzer's, who waits for whom, executions to coverage, memory.
//!
//! Prints Markdown tables, which `docs/BENCHES.md` shows. All figures are of the machine as it is at the moment; the load
//! is printed beside them where other work on it would change them.

mod campaign;
mod coverage;
mod libfuzzer;
mod memory;
mod pace;
mod process;

use clap::ValueEnum;

use crate::Choice;
use crate::subjects;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Calls a second, with one job and two, beside a fuzz target's; who waits for whom
    Pace,
    /// What is reached after how many executions, by strategy
    Coverage,
    /// The tool's own peak memory in a long campaign
    Memory,
}

impl Part {
    pub const ALL: [Part; 3] = [Part::Pace, Part::Coverage, Part::Memory];
}

/// Whether every bar was kept.
pub fn run(
    choice: &Choice,
    parts: &[Part],
    seconds: u64,
    times: usize,
    executions: u64,
) -> anyhow::Result<bool> {
    let mut choice = choice.clone();
    if choice.only.is_empty() {
        choice.only = ["slab", "smallvec"].map(str::to_owned).to_vec();
    }
    let mut crates = subjects::chosen(&choice)?;
    crates.sort_by(|one, other| one.name.cmp(&other.name));
    let tool = campaign::Tool::build()?;
    let mut good = true;
    for part in parts {
        match part {
            Part::Pace => pace::print(&tool, &crates, seconds, times)?,
            Part::Coverage => coverage::print(&tool, &crates)?,
            Part::Memory => good &= memory::print(&tool, &crates, executions)?,
        }
    }
    Ok(good)
}
