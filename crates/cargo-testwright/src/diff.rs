//! `diff`: what one version of a crate does and another does not.
//!
//! A campaign on each version writes its regression tests and finds what it finds; the engine compares them. Here is where both come from,
//! and how the outcome is told.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use testwright_engine::campaign::{Limit, Plan, Progress, Sanitizer, Strategy};
use testwright_engine::diff::{Difference, Failing, Version as Searched, compare};
use testwright_engine::suite::Single;
use testwright_engine::{Demands, EngineError, Workbench, prepare_with};
use testwright_harness::{Places, Selection, Subject};

use crate::configuration::Configuration;
use crate::flags::{DiffFlags, MessageFormat};
use crate::generate::{self, TOOL};
use crate::{configuration, exit, output, package};

/// The first words of the file with tests.
const MARK: &str = "//! Compared by cargo-testwright";

/// What was found, as `diff.json` has it.
#[derive(Debug, Serialize)]
struct Comparison {
    schema: u32,
    tool: &'static str,
    seed: u64,
    from: Version,
    to: Version,
    /// Public functions that only one of the two has.
    gone: Vec<String>,
    new: Vec<String>,
    /// Behaviours that changed.
    changed: Vec<ChangedTest>,
    /// `Debug` texts, capacities, and words of panics: nothing that a caller should depend on.
    representation: Vec<ChangedTest>,
    /// Tests of `from` that do not compile with `to`, with the compiler's words.
    not_compiling: Vec<(String, String)>,
    /// Tests that pass with both.
    same: usize,
    /// Tests that told the versions apart once and not again.
    unsteady: usize,
    /// Tests that tell the versions apart, beyond those that were looked at closer.
    left: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Version {
    package: String,
    version: String,
}

#[derive(Debug, Serialize)]
struct ChangedTest {
    operation: String,
    /// `result`, `panics-now`, `no-longer-panics`, `process-ends`, `law`; `debug-text`, `capacity`, `panic-words`.
    kind: &'static str,
    before: String,
    after: String,
    name: String,
    passes_with: String,
    /// What the other version does.
    seen: String,
    source: String,
    /// Statements of the test, and of the one that it was cut down from.
    steps: usize,
    original_steps: usize,
    /// Other tests that show the same.
    others: Vec<String>,
}

pub fn run(flags: &DiffFlags) -> anyhow::Result<u8> {
    let human = flags.message_format == MessageFormat::Human;
    let tell = |line: &str| generate::say(human, line);
    let to = flags.new_selection()?;
    let out = flags.out.clone().unwrap_or_else(|| PathBuf::from("testwright-diff"));
    package::claim(&out)?;
    let progress = Arc::new(Progress::default());
    generate::catch_interrupts(&progress);
    let (new, said) = open(&to, &out.join("to"), flags, None, &tell)?;
    let from = flags.old_selection(&new.subject.package)?;
    let (old, said_before) = open(&from, &out.join("from"), flags, Some(&said), &tell)?;
    let versions = [&old, &new].map(version);
    if versions[0].version == versions[1].version && !flags.differs_in_features() {
        tell("both are the same version; what differs then is chance, or an uncommitted change");
    }
    let mut searched = Vec::new();
    for (bench, said) in [(old, said_before), (new, said)] {
        searched.push(search(bench, &said.configuration, flags, &progress, human)?);
        if progress.stop.load(Ordering::SeqCst) {
            eprintln!("interrupted before the versions were compared");
            return Ok(exit::INTERRUPTED);
        }
    }
    let comparison = comparison([&searched[0], &searched[1]], versions, flags, &tell)?;
    write(&out, &searched[1].bench, &comparison)?;
    if human {
        output::print(&text(&comparison));
        output::print(&format!("comparison: {}\n", out.join("diff.json").display()));
    } else {
        output::print(&format!("{}\n", serde_json::to_string(&comparison)?));
    }
    Ok(u8::from(!comparison.changed.is_empty() || !comparison.left.is_empty()))
}

/// The configuration of a version, and what it demands.
#[derive(Default)]
struct Said {
    configuration: Configuration,
    demands: Demands,
}

impl Said {
    fn of(subject: &Subject) -> anyhow::Result<Said> {
        let configuration = configuration::read(&subject.root, &subject.workspace_root)?;
        let demands = configuration.demands(&subject.root, &subject.workspace_root);
        Ok(Said { configuration, demands })
    }

    fn demands_nothing(&self) -> bool {
        let Demands { laws, contracts, novelty, .. } = &self.demands;
        laws.is_empty() && contracts.is_empty() && novelty.is_empty()
    }
}

/// A version with its configuration. If that demands nothing, what is demanded of the `later` version is, as far as the compiler takes it: a
/// published package seldom has a configuration, and a law that held before is what one asks for.
fn open(
    selection: &Selection,
    out: &Path,
    flags: &DiffFlags,
    later: Option<&Said>,
    tell: &dyn Fn(&str),
) -> anyhow::Result<(Workbench, Said)> {
    let read = std::cell::RefCell::new(Said::default());
    let own = |subject: &Subject| {
        let said = Said::of(subject).map_err(|error| EngineError::Wish(format!("{error:#}")))?;
        Ok(read.replace(said)).map(|_| read.borrow().demands.clone())
    };
    let with_later = |subject: &Subject| {
        let demands = own(subject)?;
        let later = later.filter(|_| read.borrow().demands_nothing());
        Ok(later.map_or(demands, |later| later.demands.clone()))
    };
    let operations = flags.subject.operations as usize;
    let places = || Places::for_selection(selection, out);
    let bench = match prepare_with(selection, places()?, operations, &with_later, tell) {
        Err(EngineError::Wish(words)) if later.is_some() && read.borrow().demands_nothing() => {
            tell(&format!(
                "laws and contracts of the later version are not asked of the earlier one: {words}"
            ));
            prepare_with(selection, places()?, operations, &own, tell)?
        }
        other => other?,
    };
    Ok((bench, read.into_inner()))
}

/// Findings of a version whose tests are run with the other, at most.
const FAILING: usize = 30;

/// Tests of sequences that are not made plain, at most: each operation has some.
const VARIED: usize = 150;

/// A campaign on one version.
fn search(
    mut bench: Workbench,
    configuration: &Configuration,
    flags: &DiffFlags,
    progress: &Arc<Progress>,
    human: bool,
) -> anyhow::Result<Searched> {
    generate::say(human, &format!("searching {} {}", bench.subject.package, bench.subject.version));
    progress.start_over();
    bench.heed(&configuration.wishes())?;
    let plan = Plan {
        limit: flags.executions.map_or(Limit::Time(flags.budget / 2), Limit::Executions),
        seed: flags.seed,
        jobs: flags.jobs.map_or_else(generate::cores, usize::from),
        max_findings: FAILING,
        sanitizer: Sanitizer::Never,
        strategy: Strategy::Directed,
        until_plateau: false,
        accepted: configuration.accept.clone(),
        max_tests: flags.max_tests as usize,
        varied: VARIED.min(flags.max_tests as usize),
        campaign_file: None,
        resume: false,
        command: "cargo testwright diff".to_owned(),
        tool: TOOL.to_owned(),
        deny_undocumented: false,
        compare_shortening: false,
    };
    let outcome = generate::search(&mut bench, plan, progress, human)?;
    // Those that a plain build shows.
    let shown = outcome.report.findings.into_iter().filter(|finding| {
        finding.confirm.overflow_checks
            && finding.confirm.debug_assertions
            && finding.confirm.sanitizer == "none"
    });
    let findings = shown
        .map(|finding| Failing {
            test: Single { name: finding.test.name, text: finding.test.source },
            operation: finding.operation,
            class: finding.class,
            message: finding.message,
        })
        .collect();
    Ok(Searched { bench, tests: outcome.singles, findings })
}

fn version(bench: &Workbench) -> Version {
    Version { package: bench.subject.package.clone(), version: bench.subject.version.clone() }
}

fn comparison(
    searched: [&Searched; 2],
    [from, to]: [Version; 2],
    flags: &DiffFlags,
    tell: &dyn Fn(&str),
) -> anyhow::Result<Comparison> {
    let functions = |side: &Searched| -> BTreeSet<String> {
        side.bench.callables.iter().map(|callable| callable.path.clone()).collect()
    };
    let (had, has) = (functions(searched[0]), functions(searched[1]));
    let found = compare(searched, tell)?;
    let mut names = [&from, &to].map(|version| format!("{} {}", version.package, version.version));
    if names[0] == names[1] {
        names[0].push_str(" (from)");
        names[1].push_str(" (to)");
    }
    let told = |difference: Difference| {
        let Difference { operation, seen, name, source, steps, passes_before, others } = difference;
        ChangedTest {
            operation,
            kind: seen.nature.name(),
            name,
            passes_with: names[usize::from(!passes_before)].clone(),
            seen: if passes_before { seen.after.clone() } else { seen.before.clone() },
            before: seen.before,
            after: seen.after,
            source,
            steps: steps.0,
            original_steps: steps.1,
            others,
        }
    };
    let (changed, representation): (Vec<Difference>, Vec<Difference>) =
        found.changed.into_iter().partition(|difference| difference.seen.nature.is_behaviour());
    Ok(Comparison {
        schema: 1,
        tool: TOOL,
        seed: flags.seed,
        gone: had.difference(&has).cloned().collect(),
        new: has.difference(&had).cloned().collect(),
        changed: changed.into_iter().map(told).collect(),
        representation: representation.into_iter().map(told).collect(),
        not_compiling: found.gone.into_iter().map(|gone| (gone.name, gone.words)).collect(),
        same: found.same,
        unsteady: found.unsteady,
        left: found.left,
        from,
        to,
    })
}

fn write(out: &Path, bench: &Workbench, comparison: &Comparison) -> anyhow::Result<()> {
    output::write(&out.join("diff.json"), &(serde_json::to_string_pretty(comparison)? + "\n"))?;
    package::write(out, bench)?;
    output::write(&out.join("tests/testwright_diff.rs"), &tests_file(comparison))
}

/// The tests that tell the versions apart, each in a module of its own.
fn tests_file(comparison: &Comparison) -> String {
    let (from, to) = (&comparison.from, &comparison.to);
    let mut text = format!(
        "{MARK}: tests that pass with one of {} {} and {} {}, and fail with the other.\n",
        from.package, from.version, to.package, to.version
    );
    text.push_str(testwright_emit::ALLOWED);
    for (number, test) in comparison.changed.iter().chain(&comparison.representation).enumerate() {
        let _ = writeln!(
            text,
            "\n// Passes with {}. {}: {} -> {}\nmod difference_{} {{",
            test.passes_with,
            test.operation,
            test.before.escape_debug(),
            test.after.escape_debug(),
            number + 1
        );
        for line in test.source.lines() {
            let _ = writeln!(text, "{line}");
        }
        text.push_str("}\n");
    }
    testwright_emit::tidy(&text)
}

fn text(comparison: &Comparison) -> String {
    let (from, to) = (&comparison.from, &comparison.to);
    let mut text = format!("{} {} -> {} {}\n", from.package, from.version, to.package, to.version);
    for (what, paths) in [("gone", &comparison.gone), ("new", &comparison.new)] {
        for path in paths {
            let _ = writeln!(text, "{what:<5} {path}");
        }
    }
    for test in &comparison.changed {
        text.push_str(&told(test));
    }
    if !comparison.representation.is_empty() {
        text.push_str("\nrepresentation only (Debug texts, capacities, words of panics):\n");
    }
    for test in &comparison.representation {
        text.push_str(&told(test));
    }
    if !comparison.left.is_empty() {
        let _ = writeln!(text, "\nnot looked at closer: {}", comparison.left.join(", "));
    }
    if comparison.unsteady > 0 {
        let _ = writeln!(
            text,
            "\n{} told the versions apart once and not again",
            count(comparison.unsteady, "test")
        );
    }
    let _ = writeln!(
        text,
        "\n{}, {} in representation only; {} pass with both, {} do not compile with {}; {} gone, {} new",
        count(comparison.changed.len(), "changed behaviour"),
        comparison.representation.len(),
        count(comparison.same, "test"),
        comparison.not_compiling.len(),
        to.version,
        count(comparison.gone.len(), "function"),
        comparison.new.len()
    );
    text
}

/// A difference for people.
fn told(test: &ChangedTest) -> String {
    let mut out = format!("\n{} [{}]\n  {} -> {}\n", test.operation, test.kind, test.before, test.after);
    let _ = write!(out, "  this test passes with {}", test.passes_with);
    match test.others.len() {
        0 => out.push_str(":\n\n"),
        1 => out.push_str("; another one shows the same:\n\n"),
        others => {
            let _ = write!(out, "; {others} others show the same:\n\n");
        }
    }
    for line in test.source.lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        let _ = writeln!(out, "{indent}{line}");
    }
    out
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
