//! `diff`: what one version of a crate does and another does not.
//!
//! A campaign on each version writes its regression tests; those of the one are run with the other. So are the tests of its findings: what
//! fails with the one and passes with the other has changed too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use testwright_engine::campaign::{Limit, Plan, Progress, Sanitizer, Strategy};
use testwright_engine::diff::{Changed, differences, mended};
use testwright_engine::suite::Single;
use testwright_engine::{Workbench, prepare};
use testwright_harness::Places;

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
    changed: Vec<ChangedTest>,
    /// Tests of `from` that do not compile with `to`, with the compiler's words.
    not_compiling: Vec<(String, String)>,
    /// Tests that pass with both.
    same: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Version {
    package: String,
    version: String,
}

#[derive(Debug, Serialize)]
struct ChangedTest {
    name: String,
    passes_with: String,
    /// What the other version does.
    seen: String,
    source: String,
}

pub fn run(flags: &DiffFlags) -> anyhow::Result<u8> {
    let human = flags.message_format == MessageFormat::Human;
    let tell = |line: &str| generate::say(human, line);
    let to = flags.new_selection()?;
    let out = flags.out.clone().unwrap_or_else(|| PathBuf::from("testwright-diff"));
    package::claim(&out)?;
    let progress = Arc::new(Progress::default());
    generate::catch_interrupts(&progress);
    let operations = flags.subject.operations as usize;
    let new = prepare(&to, Places::for_selection(&to, &out.join("to"))?, operations, &tell)?;
    let from = flags.old_selection(&new.subject.package)?;
    let old = prepare(&from, Places::for_selection(&from, &out.join("from"))?, operations, &tell)?;
    let mut sides = [Side::new(old), Side::new(new)];
    if sides[0].version.version == sides[1].version.version && !flags.differs_in_features() {
        tell("both are the same version; what differs then is chance, or an uncommitted change");
    }
    for side in &mut sides {
        side.search(flags, &progress, human)?;
        if progress.stop.load(Ordering::SeqCst) {
            eprintln!("interrupted before the versions were compared");
            return Ok(exit::INTERRUPTED);
        }
    }
    let comparison = compare(&sides, flags, &tell)?;
    write(&out, &sides[1].bench, &comparison)?;
    if human {
        output::print(&text(&comparison));
        output::print(&format!("comparison: {}\n", out.join("diff.json").display()));
    } else {
        output::print(&format!("{}\n", serde_json::to_string(&comparison)?));
    }
    Ok(u8::from(!comparison.changed.is_empty()))
}

/// One version, and its tests.
struct Side {
    version: Version,
    bench: Workbench,
    tests: Vec<Single>,
    /// Tests of its findings, each with what it does.
    failing: Vec<(Single, String)>,
}

/// Findings of a version whose tests are run with the other, at most.
const FAILING: usize = 30;

impl Side {
    fn new(bench: Workbench) -> Self {
        let subject = &bench.subject;
        let version = Version { package: subject.package.clone(), version: subject.version.clone() };
        Side { version, bench, tests: Vec::new(), failing: Vec::new() }
    }

    fn name(&self) -> String {
        format!("{} {}", self.version.package, self.version.version)
    }

    fn search(&mut self, flags: &DiffFlags, progress: &Arc<Progress>, human: bool) -> anyhow::Result<()> {
        generate::say(human, &format!("searching {}", self.name()));
        progress.start_over();
        let subject = &self.bench.subject;
        let configuration = configuration::read(&subject.root, &subject.workspace_root)?;
        self.bench.heed(&configuration.wishes())?;
        let plan = Plan {
            limit: flags.executions.map_or(Limit::Time(flags.budget / 2), Limit::Executions),
            seed: flags.seed,
            jobs: flags.jobs.map_or_else(generate::cores, usize::from),
            max_findings: FAILING,
            sanitizer: Sanitizer::Never,
            strategy: Strategy::Directed,
            until_plateau: false,
            accepted: configuration.accept,
            max_tests: flags.max_tests as usize,
            campaign_file: None,
            resume: false,
            command: "cargo testwright diff".to_owned(),
            tool: TOOL.to_owned(),
            deny_undocumented: false,
            compare_shortening: false,
        };
        let outcome = generate::search(&mut self.bench, plan, progress, human)?;
        self.tests = outcome.singles;
        // Those that a plain build shows.
        let shown = outcome.report.findings.into_iter().filter(|finding| {
            finding.confirm.overflow_checks
                && finding.confirm.debug_assertions
                && finding.confirm.sanitizer == "none"
        });
        self.failing = shown
            .map(|finding| (Single { name: finding.test.name, text: finding.test.source }, finding.message))
            .collect();
        Ok(())
    }

    /// The paths of its public functions.
    fn functions(&self) -> BTreeSet<&str> {
        self.bench.callables.iter().map(|callable| callable.path.as_str()).collect()
    }
}

fn compare([old, new]: &[Side; 2], flags: &DiffFlags, tell: &dyn Fn(&str)) -> anyhow::Result<Comparison> {
    let (had, has) = (old.functions(), new.functions());
    let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| -> Vec<String> {
        one.difference(other).map(|path| (*path).to_owned()).collect()
    };
    let mut comparison = Comparison {
        schema: 1,
        tool: TOOL,
        seed: flags.seed,
        from: old.version.clone(),
        to: new.version.clone(),
        gone: only(&had, &has),
        new: only(&has, &had),
        changed: Vec::new(),
        not_compiling: Vec::new(),
        same: 0,
    };
    for (one, other) in [(old, new), (new, old)] {
        tell(&format!("running {} tests of {} with {}", one.tests.len(), one.name(), other.name()));
        let (ours, theirs) = (&one.bench.subject.lib, &other.bench.subject.lib);
        let for_other = |test: &Single| Single {
            name: test.name.clone(),
            text: test.text.replace(&format!("{ours}::"), &format!("{theirs}::")),
        };
        let tests: Vec<Single> = one.tests.iter().map(for_other).collect();
        let failing: Vec<(Single, String)> =
            one.failing.iter().map(|(test, message)| (for_other(test), message.clone())).collect();
        let bench = &other.bench;
        let scratch = bench.places.work.join("scratch-diff");
        let found = differences(&bench.subject, &one.bench.foreign, &bench.places, &tests, &scratch)?;
        let mended = mended(&bench.subject, &one.bench.foreign, &bench.places, &failing, &scratch)?;
        comparison.same += found.same;
        let told = |passes_with: String| {
            move |changed: Changed| ChangedTest {
                name: changed.name,
                passes_with: passes_with.clone(),
                seen: changed.seen,
                source: testwright_emit::tidy(&changed.source),
            }
        };
        comparison.changed.extend(found.changed.into_iter().map(told(one.name())));
        comparison.changed.extend(mended.into_iter().map(told(other.name())));
        if std::ptr::eq(one, old) {
            comparison.not_compiling = found.gone.into_iter().map(|gone| (gone.name, gone.words)).collect();
        }
    }
    Ok(comparison)
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
    text.push_str("#![allow(deprecated, clippy::complexity, clippy::perf, clippy::style)]\n");
    for (number, test) in comparison.changed.iter().enumerate() {
        let _ = writeln!(
            text,
            "\n/// Passes with {}; the other version: {}\nmod difference_{} {{",
            test.passes_with,
            test.seen,
            number + 1
        );
        for line in code(&test.source) {
            let _ = writeln!(text, "{line}");
        }
        text.push_str("}\n");
    }
    testwright_emit::tidy(&text)
}

/// The lines of a test file that may stand in a module.
fn code(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter(|line| {
        !line.starts_with("//!") && !line.starts_with("#![") && !line.starts_with("// Every call is here")
    })
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
        let _ = writeln!(
            text,
            "\nchanged: {} passes with {}\n  the other version: {}\n",
            test.name, test.passes_with, test.seen
        );
        for line in code(&test.source).skip_while(|line| line.is_empty()) {
            let indent = if line.is_empty() { "" } else { "    " };
            let _ = writeln!(text, "{indent}{line}");
        }
    }
    let _ = writeln!(
        text,
        "\n{} changed behaviours, {} tests pass with both, {} do not compile with {}; {} functions gone, {} new",
        comparison.changed.len(),
        comparison.same,
        comparison.not_compiling.len(),
        to.version,
        comparison.gone.len(),
        comparison.new.len()
    );
    text
}
