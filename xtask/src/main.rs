//! Campaigns and measurements on real crates: `cargo xtask survey|legality|throughput|bench|sanitize`.
//!
//! Each prints the figures that the documents quote, and exits 1 if its bar is missed.

mod bench;
mod legality;
mod sanitize;
mod subjects;
mod survey;
mod throughput;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The harness of every crate: how much of its API has operations, and what building costs
    Survey(Choice),
    /// Random legal sequences, printed as programs and checked by the compiler
    Legality {
        #[command(flatten)]
        choice: Choice,
        /// Sequences a crate
        #[arg(long, default_value_t = 3000)]
        sequences: usize,
        /// How many of them are compiled and run beside the worker
        #[arg(long, default_value_t = 300)]
        sample: usize,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Show each rejected program
        #[arg(long)]
        show: bool,
    },
    /// Calls a second of the worker alone, with and without coverage
    Throughput(Choice),
    /// The whole tool: pace beside libFuzzer, who waits for whom, executions to coverage, memory
    Bench {
        #[command(flatten)]
        choice: Choice,
        /// Only these parts
        #[arg(long, value_delimiter = ',', value_enum, default_values_t = bench::Part::ALL)]
        parts: Vec<bench::Part>,
        /// How long each campaign and each fuzz target runs, where time is the limit
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Sequences of the campaign whose memory is measured
        #[arg(long, default_value_t = 10_000_000)]
        executions: u64,
    },
    /// The runtime's tests and two fixtures under `AddressSanitizer` (and Miri where it is installed)
    Sanitize,
}

#[derive(Debug, Clone, Args)]
pub struct Choice {
    /// List of crates
    #[arg(long, default_value = "../shared/subjects/healthy.toml")]
    list: PathBuf,
    /// Only these, by name
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> ExitCode {
    if let Some(code) = testwright_harness::act_as_rustc_wrapper() {
        return code;
    }
    let result = match Cli::parse().command {
        Command::Survey(choice) => survey::run(&choice),
        Command::Legality { choice, sequences, sample, seed, show } => {
            legality::run(&choice, sequences, sample, seed, show)
        }
        Command::Throughput(choice) => throughput::run(&choice),
        Command::Bench { choice, parts, seconds, executions } => {
            bench::run(&choice, &parts, seconds, executions)
        }
        Command::Sanitize => sanitize::run(),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(70)
        }
    }
}
