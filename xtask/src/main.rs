//! Campaigns and measurements: `cargo xtask survey|legality|throughput|bench|sanitize|containers|branches|strategies|mutants|hunt|simplify|laws`.
//!
//! Each prints the figures that the documents quote, and exits 1 if its bar is missed.

mod bench;
mod branches;
mod containers;
mod hunt;
mod laws;
mod legality;
mod mutants;
mod sanitize;
mod simplify;
mod strategies;
mod subjects;
mod survey;
mod throughput;
mod tool;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use containers::Extent;

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
        /// Campaigns of each kind for the pace, of which the median is printed
        #[arg(long, default_value_t = 3)]
        times: usize,
        /// Sequences of the campaign whose memory is measured
        #[arg(long, default_value_t = 10_000_000)]
        executions: u64,
    },
    /// The runtime's tests and two fixtures under `AddressSanitizer` (and Miri where it is installed)
    Sanitize,
    /// Lines, and combinations of predicates, that the tool reaches in the fixture's containers
    Containers {
        /// Time of each campaign
        #[arg(long, default_value = "10s")]
        budget: String,
        /// Sequences of each campaign, instead of a time
        #[arg(long)]
        executions: Option<u64>,
        /// Campaigns for each container of the thesis
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
    },
    /// Branch-directed generation: kinds of conditions that are met, and branches that are made to go the other way
    Branches {
        /// Time of each campaign in seconds
        #[arg(long, default_value_t = 40)]
        seconds: u64,
        /// Crates, with their versions
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "semver@1.0.28,smallvec@1.16.4,indexmap@2.14.2,csv-core@0.1.13,num-bigint@0.5.1"
        )]
        crates: Vec<String>,
    },
    /// The three strategies at equal numbers of calls: values, lengths, failures, known bugs
    Strategies {
        /// Calls into the crate of each campaign
        #[arg(long, default_value_t = 300_000)]
        calls: u64,
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// Only these subjects, by name
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// How well the emitted regression suite kills mutants, beside the crate's own tests; needs cargo-mutants
    Mutants {
        /// Crates, with their versions
        #[arg(
            long,
            value_delimiter = ',',
            value_parser = subjects::with_version,
            default_value = "semver@1.0.28,slab@0.4.12,arrayvec@0.7.8,smallvec@1.16.4,csv-core@0.1.13"
        )]
        crates: Vec<subjects::Listed>,
        /// Viable mutants a crate
        #[arg(long, default_value_t = 100)]
        sample: usize,
        /// Time of each campaign
        #[arg(long, default_value = "60s")]
        budget: String,
        /// Where chance starts, of the campaigns and of the sample
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Worker processes of the tool, and mutants that are tried at a time
        #[arg(long, default_value_t = 2)]
        jobs: usize,
    },
    /// Findings cut down by the tool and by plain delta debugging: calls, executions and time of each
    Simplify {
        /// Crates, with their versions
        #[arg(
            long,
            value_delimiter = ',',
            value_parser = subjects::with_version,
            default_value = "vers-vecs@1.6.0,url@2.2.0,elf_rs@0.2.0,time@0.2.24,bigdecimal@0.0.10"
        )]
        crates: Vec<subjects::Listed>,
        /// Time of each campaign, in seconds
        #[arg(long, default_value = "30s")]
        budget: String,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[arg(long, default_value_t = 2)]
        jobs: usize,
    },
    /// Known bugs in published crates: which are found, and why the others are not
    Hunt {
        /// List of known bugs
        #[arg(long, default_value = "../shared/subjects/known-bugs.toml")]
        list: PathBuf,
        /// What they may need to be seen
        #[arg(long, value_delimiter = ',', default_value = "none,memory,law")]
        needs: Vec<String>,
        /// Time of each campaign
        #[arg(long, default_value = "60s")]
        budget: String,
        /// Later ones run only for what the first missed; it counts if most find it
        #[arg(long, value_delimiter = ',', default_value = "0,1,2")]
        seeds: Vec<u64>,
        /// Only these, by id
        #[arg(long, value_delimiter = ',')]
        ids: Vec<String>,
        /// Campaigns at a time, of one job each; a single one has two jobs
        #[arg(long, default_value_t = 2)]
        streams: usize,
        /// Reasons for misses
        #[arg(long, default_value = "docs/hunt-reasons.toml")]
        reasons: PathBuf,
        /// The table as Markdown
        #[arg(long)]
        markdown: bool,
    },
    /// Every law: after how long its breaker is found
    Laws {
        /// Time of each campaign
        #[arg(long, default_value = "5s")]
        budget: String,
        /// Types that share a campaign
        #[arg(long, default_value_t = 6)]
        types: usize,
        /// Campaigns at a time, of one worker each
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Only laws whose classes contain one of these
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
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
        Command::Bench { choice, parts, seconds, times, executions } => {
            bench::run(&choice, &parts, seconds, times, executions)
        }
        Command::Sanitize => sanitize::run(),
        Command::Containers { budget, executions, seeds } => {
            let extent = executions.map_or(Extent::Budget(budget), Extent::Executions);
            containers::run(&extent, seeds)
        }
        Command::Branches { seconds, crates } => branches::run(seconds, &crates),
        Command::Strategies { calls, seeds, only } => strategies::run(calls, seeds, &only),
        Command::Mutants { crates, sample, budget, seed, jobs } => {
            mutants::run(&mutants::Plan { crates, sample, budget, seed, jobs })
        }
        Command::Simplify { crates, budget, seed, jobs } => simplify::run(&crates, &budget, seed, jobs),
        Command::Laws { budget, types, jobs, seed, only } => {
            laws::run(&laws::Plan { budget, types, jobs, seed, only })
        }
        Command::Hunt { list, needs, budget, seeds, ids, streams, reasons, markdown } => {
            hunt::run(&hunt::Plan { list, needs, ids, budget, seeds, streams, reasons, markdown })
        }
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
