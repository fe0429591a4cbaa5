//! The command line, as written; nothing is decided here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use testwright_harness::{FeatureChoice, Member, Places, Selection};

use crate::exit::Usage;
use crate::workspace::Tour;

/// Finds failures in a Rust library, each with a minimal safe test that reproduces it.
///
/// Build scripts and procedural macros of the crate run as in any cargo build; the code under test runs only in a sandbox.
#[derive(Debug, Parser)]
#[command(
    name = "cargo testwright",
    bin_name = "cargo testwright",
    version,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    generate: GenerateFlags,
}

impl Cli {
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Generate(Box::new(self.generate)))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find failures and write tests (the default)
    Generate(Box<GenerateFlags>),
    /// Every public item: taken as which operations, or skipped and why
    List(ListFlags),
    /// Run one finding again and print its test
    Replay(ReplayFlags),
    /// What another version does that this one does not, and the other way round
    Diff(Box<DiffFlags>),
}

#[derive(Debug, Clone, Args)]
pub struct SubjectFlags {
    /// Package to test
    #[arg(short, long, value_name = "NAME", conflicts_with = "krate")]
    pub package: Option<String>,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", conflicts_with = "krate")]
    pub manifest_path: Option<PathBuf>,
    /// Features to switch on
    #[arg(long, short = 'F', value_name = "FEATURES", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Switch all features on
    #[arg(long)]
    pub all_features: bool,
    /// Leave the default features off
    #[arg(long)]
    pub no_default_features: bool,
    /// Test a published crate, yanked versions included. Its build script, if any, is run unsandboxed
    #[arg(long = "crate", value_name = "NAME@VERSION", id = "krate")]
    pub krate: Option<String>,
    /// How many operations one harness may hold
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..=60000))]
    pub operations: u32,
}

#[derive(Debug, Clone, Args)]
pub struct MemberFlags {
    /// Every member of the workspace that has a library, one after the other
    #[arg(long, conflicts_with_all = ["package", "krate"])]
    pub workspace: bool,
    /// A member that --workspace leaves out, as NAME or NAME@VERSION
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    pub exclude: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct GenerateFlags {
    #[command(flatten)]
    pub subject: SubjectFlags,
    #[command(flatten)]
    pub members: MemberFlags,
    /// Time to search after the harness is built: 60s, 5m, 1h; with --workspace for each member
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub budget: Duration,
    /// Sequences to run, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub executions: Option<u64>,
    /// Calls into the crate, instead of a time, with one job: to compare strategies by
    #[arg(long, value_name = "N", hide = true, conflicts_with_all = ["budget", "executions", "jobs"])]
    pub calls: Option<u64>,
    /// Stop before the budget is spent when nothing new has come for half of the search
    #[arg(long)]
    pub until_plateau: bool,
    /// Call only operations whose path this matches; arguments for them are made by whatever it takes
    #[arg(long, value_name = "REGEX")]
    pub only: Option<regex::Regex>,
    /// Call no operation whose path this matches
    #[arg(long, value_name = "REGEX")]
    pub skip: Option<regex::Regex>,
    /// Where chance starts; with --executions the same seed gives the same tests
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Go on with the campaign that an earlier run left where this one writes
    #[arg(long)]
    pub resume: bool,
    /// Worker processes at once
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Report at most so many findings
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_findings: u32,
    /// Write at most so many regression tests; 0 for none
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub max_tests: u32,
    /// Exit 1 for these too
    #[arg(long, value_name = "TIER", value_enum)]
    pub deny: Vec<Deny>,
    /// Where to write; a complete package, with --workspace one for each member in DIR/NAME
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only run the regression suite that is there: exit 1, with the reason for each test, if it does not hold any more
    #[arg(long, conflicts_with_all = ["resume", "no_write"])]
    pub check: bool,
    /// Tell in the report what plain delta debugging makes of each finding, for measurements
    #[arg(long, hide = true)]
    pub compare_shortening: bool,
    /// Report only, no test files
    #[arg(long)]
    pub no_write: bool,
    /// Where sequences come from: `directed` extends what is new, the others are there to compare with
    #[arg(long, value_enum, default_value_t = Strategy::Directed)]
    pub strategy: Strategy,
    /// Go on behind panics: calls that change something are also made with their panic caught
    #[arg(long)]
    pub past_panics: bool,
    /// Whether to search under `AddressSanitizer` too: if the crate has unsafe code, never, or always
    #[arg(long, value_enum, default_value_t = Sanitizer::Auto)]
    pub sanitizer: Sanitizer,
    /// For people, or as JSON on standard output
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Clone, Args)]
pub struct ListFlags {
    #[command(flatten)]
    pub subject: SubjectFlags,
    #[command(flatten)]
    pub members: MemberFlags,
    /// For people, or as JSON on standard output
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Clone, Args)]
pub struct ReplayFlags {
    /// A finding's id, as the report gives it
    pub id: String,
    #[command(flatten)]
    pub subject: SubjectFlags,
    /// The folder that `generate --out` wrote
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct DiffFlags {
    #[command(flatten)]
    pub subject: SubjectFlags,
    /// What to compare with: VERSION of the same crate, NAME@VERSION of one with the same API, or a folder with a package
    #[arg(long, value_name = "VERSION")]
    pub from: String,
    /// A published version in the place of the package here
    #[arg(long, value_name = "VERSION", conflicts_with = "krate")]
    pub to: Option<String>,
    /// Features of the version to compare with, if they are others
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    pub from_features: Vec<String>,
    /// Time to search, half of it for each version: 60s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub budget: Duration,
    /// Sequences to run of each version, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub executions: Option<u64>,
    /// Where chance starts
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Worker processes at once
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Compare at most so many tests of each version
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub max_tests: u32,
    /// Where to write; a complete package
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// For people, or as JSON on standard output
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

impl DiffFlags {
    /// What is compared with `--from`.
    pub fn new_selection(&self) -> anyhow::Result<Selection> {
        let here = self.subject.selection()?;
        let Some(version) = &self.to else { return Ok(here) };
        let Selection::Local { features, .. } = &here else { return Ok(here) };
        let places = Places::for_selection(&here, Path::new("."))?;
        let name = testwright_harness::locate(&here, &places)?.package;
        Ok(Selection::Published { name, version: Some(version.clone()), features: features.clone() })
    }

    /// The other version of the package with this name.
    pub fn old_selection(&self, package: &str) -> Result<Selection, Usage> {
        let krate =
            if self.from.contains('@') { self.from.clone() } else { format!("{package}@{}", self.from) };
        let features = if self.differs_in_features() {
            self.from_features.clone()
        } else {
            self.subject.features.clone()
        };
        let manifest = Path::new(&self.from).join("Cargo.toml");
        let local = manifest.is_file();
        let subject = SubjectFlags {
            package: local.then(|| package.to_owned()),
            manifest_path: local.then_some(manifest),
            krate: (!local).then_some(krate),
            features,
            ..self.subject.clone()
        };
        subject.selection()
    }

    pub fn differs_in_features(&self) -> bool {
        !self.from_features.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    UndocumentedPanic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Extend sequences whose values are new
    Directed,
    /// Extend every legal sequence
    BottomUp,
    /// Start from nothing each time
    RandomWalk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    Auto,
    Never,
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    Human,
    Json,
}

impl GenerateFlags {
    pub fn tour(&self) -> Tour<'_> {
        Tour { subject: &self.subject, members: &self.members, format: self.message_format }
    }

    /// The flags that test a member alone.
    pub fn of_member(&self, member: &Member) -> GenerateFlags {
        GenerateFlags {
            subject: self.subject.of_member(member),
            out: self.out.as_ref().map(|out| out.join(&member.name)),
            ..self.clone()
        }
    }
}

impl SubjectFlags {
    /// The flags that select a member alone.
    pub fn of_member(&self, member: &Member) -> SubjectFlags {
        SubjectFlags {
            package: Some(member.name.clone()),
            features: member.features.features.clone(),
            ..self.clone()
        }
    }

    pub fn feature_choice(&self) -> FeatureChoice {
        FeatureChoice {
            features: self.features.clone(),
            all: self.all_features,
            no_default: self.no_default_features,
        }
    }

    pub fn selection(&self) -> Result<Selection, Usage> {
        let features = self.feature_choice();
        let Some(krate) = &self.krate else {
            return Ok(Selection::Local {
                manifest_path: self.manifest_path.clone(),
                package: self.package.clone(),
                features,
            });
        };
        let (name, version) = match krate.split_once('@') {
            Some((name, version)) => (name, Some(version.trim_start_matches('=').to_owned())),
            None => (krate.as_str(), None),
        };
        let good =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !good || version.as_deref() == Some("") {
            return Err(Usage(format!("`{krate}` is not NAME@VERSION, as in `--crate slab@0.4.10`")));
        }
        Ok(Selection::Published { name: name.to_owned(), version, features })
    }
}

/// `60s`, `1.5m`, `2h`, `500ms`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let none = || "not a time; examples: 60s, 5m, 1h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if digits.is_empty() {
        return Err(none());
    }
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("unknown unit `{other}`; use ms, s, m or h")),
    };
    let number: f64 = digits.parse().map_err(|_| none())?;
    let seconds = number * unit;
    if !(seconds > 0.0 && seconds.is_finite() && seconds < 1e9) {
        return Err("the budget must be more than nothing; examples: 60s, 5m, 1h".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// `cargo testwright …` hands its own name over as first word.
pub fn without_cargo_word(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|word| word == "testwright") {
        args.remove(1);
    }
    args
}

#[cfg(test)]
mod tests {
    use super::{Cli, Command, duration, without_cargo_word};
    use clap::{CommandFactory, Parser};
    use std::time::Duration;

    #[test]
    fn command_line_is_consistent() {
        <Cli as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn budgets() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["0", "0s", "-1s", "soon", "5 parsecs", "", "infs", "NaN"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn generate_is_the_default_and_the_cargo_word_is_dropped() {
        let parse = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).into());
            Cli::try_parse_from(without_cargo_word(words)).expect("parses").command()
        };
        for words in [
            &["x", "--seed", "7"][..],
            &["x", "generate", "--seed", "7"],
            &["x", "testwright", "--seed", "7"],
            &["x", "testwright", "generate", "--seed", "7"],
        ] {
            assert!(matches!(parse(words), Command::Generate(flags) if flags.seed == 7), "{words:?}");
        }
        assert!(matches!(parse(&["x", "testwright", "list"]), Command::List(_)));
    }
}
