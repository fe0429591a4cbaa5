//! `report.json`: the contract with scripts. Fields are added freely, never renamed.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub schema: u32,
    #[serde(rename = "crate")]
    pub krate: CrateName,
    pub compiler: String,
    pub tool: String,
    pub seed: u64,
    pub elapsed_s: f64,
    pub build_s: f64,
    pub exit: u8,
    pub interrupted: bool,
    pub api: ApiFigures,
    pub executions: Executions,
    pub search: Search,
    pub coverage: Coverage,
    pub findings: Vec<Finding>,
    /// Failures that were seen but that no compiled test reproduced, or that are the caller's fault, counted by reason.
    pub dismissed: Vec<Dismissed>,
    /// What calls tried to do to the world outside.
    pub effects: Vec<Effect>,
    /// How the calls of each operation went.
    pub operations: Vec<OperationFigures>,
    pub regression: Regression,
    pub contracts: Vec<ContractFigures>,
}

impl Report {
    /// How many findings are bugs; all others are undocumented panics or hints.
    pub fn bugs(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_bug()).count()
    }

    pub fn undocumented(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.is_bug() && !finding.is_hint()).count()
    }

    pub fn hints(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_hint()).count()
    }
}

/// How a contract of the crate's author fared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractFigures {
    /// The function, or for an invariant the type.
    pub operation: String,
    pub kind: String,
    pub expression: String,
    /// Calls that it was checked in.
    pub support: u64,
    /// Whether a finding breaks it.
    pub refuted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrateName {
    pub name: String,
    pub version: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiFigures {
    pub items: usize,
    pub operations: usize,
    pub skipped: Vec<SkippedItem>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedItem {
    pub path: String,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Executions {
    pub sequences: u64,
    pub calls: u64,
    pub calls_per_s: f64,
    pub illegal: u64,
    pub restarts: u64,
}

/// When to stop is the question that users ask first: when did something new come last?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub seconds: f64,
    pub last_new_s: f64,
    /// What it took to shorten the failures afterwards; 0 where executions were counted, not time.
    #[serde(default)]
    pub shorten_s: f64,
    pub last_new_execution: u64,
    /// Different values that were made, as far as they have fingerprints.
    pub distinct_values: usize,
    /// Values that the pool offers at the end.
    pub pool: usize,
    /// Whether an earlier campaign was gone on with. Its executions, calls and seconds are in the figures; restarts, illegal and
    /// dismissed ones and those by operation are of the last run alone.
    #[serde(default)]
    pub resumed: bool,
    #[serde(default)]
    pub earlier_runs: u64,
    #[serde(default)]
    pub earlier_executions: u64,
    /// Sequences of earlier runs that were run again, which no other figure counts.
    #[serde(default)]
    pub replayed: u64,
    /// Sequences of earlier runs that the crate of today has no operations for.
    #[serde(default)]
    pub lost: u64,
    /// Sequences by how many calls into the crate they have.
    #[serde(default)]
    pub by_length: Vec<LengthFigures>,
    /// What branch-directed generation met; `null` where it had no time.
    #[serde(default)]
    pub branches: Option<Branches>,
    /// Types of which a value was seen to change by a call on another.
    #[serde(default)]
    pub sharing: Vec<String>,
    /// How the first job came along, at most some hundred points.
    #[serde(default)]
    pub curve: Vec<CurvePoint>,
}

/// Where a search stood after so many of its sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub executions: u64,
    /// Sequences that reached something first.
    pub reached: usize,
    /// Failures that were seen, before any was confirmed.
    pub failures: usize,
}

/// The branches of the crate's own source, and how the search for their other sides went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branches {
    pub total: usize,
    pub reached: usize,
    /// Those that went both ways.
    pub both: usize,
    /// Those that had gone one way only when sequences that reach them were edited, and of them those that then went the other way.
    pub tried: usize,
    pub flipped: usize,
    /// Sequences that were run for it.
    pub executions: u64,
    pub one_sided: Vec<Frontier>,
}

/// A branch that went one way only.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frontier {
    pub file: String,
    pub line: u32,
    /// Whether its condition always held, or never.
    pub holds: bool,
    pub tried: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthFigures {
    pub calls: u32,
    pub sequences: u64,
    /// Those that did not run to their end: panics, and whatever else ends a process.
    pub panics: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationFigures {
    pub operation: String,
    /// Calls that were added to sequences; those of sequences that were only extended are not counted.
    pub calls: u64,
    pub panics: u64,
    /// Of a sample of results that are an `Option` or a `Result`: how many, and how many were `Some` or `Ok`.
    pub looked: u64,
    pub good: u64,
    /// Every call panicked, or no result of the sample was `Some` or `Ok`.
    pub never_succeeded: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub edges_hit: u64,
    pub edges_total: u64,
    pub functions_hit: Option<u64>,
    pub functions_total: Option<u64>,
    pub lines_hit: Option<u64>,
    pub lines_total: Option<u64>,
    /// The same for each file of the package that holds code.
    #[serde(default)]
    pub files: Vec<FileFigures>,
    /// The functions of the package, by file and line.
    #[serde(default)]
    pub functions: Vec<FunctionFigures>,
}

/// What was executed of a function. Its lines are those from its own to the next function's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFigures {
    /// The path in code; empty if it is not known.
    pub name: String,
    /// Relative to the package's folder.
    pub file: String,
    pub line: u32,
    pub hit: bool,
    pub lines_hit: u64,
    pub lines_total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFigures {
    /// Relative to the package's folder.
    pub file: String,
    pub functions_hit: u64,
    pub functions_total: u64,
    pub lines_hit: u64,
    pub lines_total: u64,
    /// The lines with code that were not executed.
    pub missed_lines: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: String,
    /// `bug` or `undocumented-panic`.
    pub tier: String,
    /// `certain`, or `hint`: by the names of methods alone.
    #[serde(default)]
    pub confidence: String,
    pub class: String,
    pub operation: String,
    pub message: String,
    pub location: Option<Location>,
    /// The lines around the location, where it is in the package; empty otherwise.
    #[serde(default)]
    pub snippet: Vec<SourceLine>,
    pub strategy: String,
    pub calls: usize,
    pub original_calls: usize,
    /// Only where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortening: Option<Shortening>,
    pub first_seen_s: f64,
    pub first_seen_execution: u64,
    pub confirm: Confirm,
    pub test: Test,
}

/// The confidence of a finding that a maintainer has to agree to.
pub const HINT: &str = "hint";

impl Finding {
    pub fn is_bug(&self) -> bool {
        self.tier == "bug"
    }

    pub fn is_hint(&self) -> bool {
        self.confidence == HINT
    }

    /// What people are told: the tier, unless it is a hint.
    pub fn label(&self) -> &str {
        if self.is_hint() { HINT } else { &self.tier }
    }

    /// Messages may go on for pages; the first line says what happened.
    pub fn first_line(&self) -> &str {
        self.message.lines().next().unwrap_or("")
    }
}

/// What it took to cut a failure down, in two ways.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shortening {
    pub ours: Effort,
    /// Plain delta debugging, which removes steps and does nothing else.
    pub plain: Effort,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Calls into the crate that are left.
    pub calls: usize,
    /// All steps that are left.
    pub steps: usize,
    pub executions: usize,
    pub seconds: f64,
}

/// A line of the crate's source, as it was when the report was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    pub line: u32,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirm {
    pub overflow_checks: bool,
    pub debug_assertions: bool,
    pub opt_level: u8,
    /// `none` or `address`.
    pub sanitizer: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    pub name: String,
    pub file: String,
    pub source: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dismissed {
    pub reason: String,
    pub operation: String,
    pub count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub operation: String,
    /// `network`, `files`, `process`, `signal`, `thread`, `sleep`, `other`, `state`.
    pub kind: String,
    pub allowed: bool,
    pub count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regression {
    pub tests: usize,
    pub assertions: usize,
    pub file: Option<String>,
    pub dropped_unstable: usize,
}
