//! `generate`: the whole pipe, then report and tests.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use testwright_engine::campaign::{Limit, Plan, Progress};
use testwright_engine::{Campaign, prepare};
use testwright_harness::Places;

use crate::flags::{Deny, GenerateFlags, MessageFormat, Sanitizer};
use crate::output::{self, Folders};

pub const TOOL: &str = concat!("cargo-testwright ", env!("CARGO_PKG_VERSION"));

pub fn run(flags: Box<GenerateFlags>) -> anyhow::Result<u8> {
    let selection = flags.subject.selection()?;
    let out = flags.out.clone().unwrap_or_else(|| output::default_out(&selection));
    let places = Places::for_selection(&selection, &out)?;
    let human = flags.message_format == MessageFormat::Human;
    let tell = |line: &str| say(human, line);
    let progress = Arc::new(Progress::default());
    let on_interrupt = Arc::clone(&progress);
    // A second handler cannot be set in one process; tests that call twice keep the first.
    let _ = ctrlc::set_handler(move || {
        if on_interrupt.stop.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("\ninterrupted: finishing with what was found (again to stop at once)");
    });
    let mut bench = prepare(&selection, places, flags.subject.operations as usize, &tell)?;
    let folders = Folders::new(flags.out.as_deref(), &selection, &bench.subject.root, &bench.places.work);
    let plan = Plan {
        limit: flags.executions.map_or(Limit::Time(flags.budget), Limit::Executions),
        seed: flags.seed,
        jobs: flags.jobs.map_or_else(cores, usize::from),
        max_findings: flags.max_findings,
        sanitizer: flags.sanitizer != Sanitizer::Never,
        command: command_line(&flags),
        tool: TOOL.to_owned(),
        deny_undocumented: flags.deny.contains(&Deny::UndocumentedPanic),
    };
    let outcome = {
        let mut campaign = Campaign { bench: &mut bench, plan, progress: &progress };
        let watched = Arc::clone(&progress);
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let finished = Arc::clone(&done);
        let painter = std::thread::spawn(move || paint(&watched, &finished, human));
        let outcome = campaign.run(&tell);
        done.store(true, Ordering::Relaxed);
        let _ = painter.join();
        outcome?
    };
    let report = outcome.report;
    let report_path = output::write_report(&folders, &report)?;
    let tests_path = if flags.no_write {
        None
    } else {
        if folders.whole_package {
            output::write(&folders.package.join("Cargo.toml"), &manifest(&bench))?;
            output::write(&folders.package.join("src/lib.rs"), "")?;
        }
        output::write_findings(&folders, &report)?
    };
    if human {
        summary(&report, &report_path, tests_path.as_deref());
    } else {
        println!("{}", serde_json::to_string(&report)?);
    }
    Ok(report.exit)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn say(human: bool, line: &str) {
    if human {
        eprintln!("{line}");
    }
}

fn command_line(flags: &GenerateFlags) -> String {
    let mut command = "cargo testwright generate".to_owned();
    if let Some(krate) = &flags.subject.krate {
        command.push_str(&format!(" --crate {krate}"));
    }
    match flags.executions {
        Some(executions) => command.push_str(&format!(" --executions {executions}")),
        None => command.push_str(&format!(" --budget {}s", flags.budget.as_secs_f64())),
    }
    command.push_str(&format!(" --seed {}", flags.seed));
    command
}

/// A line a second on a terminal, one every ten seconds elsewhere.
fn paint(progress: &Progress, done: &std::sync::atomic::AtomicBool, human: bool) {
    let terminal = std::io::stderr().is_terminal();
    let every = if terminal { Duration::from_secs(1) } else { Duration::from_secs(10) };
    let start = Instant::now();
    let mut last = Instant::now();
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        let calls = progress.calls.load(Ordering::Relaxed);
        if !human || last.elapsed() < every || calls == 0 {
            continue;
        }
        last = Instant::now();
        let line = format!(
            "{:>4.0}s  {} sequences, {} calls, {} of {} edges, {} failures seen",
            start.elapsed().as_secs_f64(),
            progress.sequences.load(Ordering::Relaxed),
            calls,
            progress.edges.load(Ordering::Relaxed),
            progress.edges_total.load(Ordering::Relaxed),
            progress.failures.load(Ordering::Relaxed),
        );
        if terminal {
            eprint!("\r{line}\x1b[K");
        } else {
            eprintln!("{line}");
        }
    }
    if terminal && human {
        eprint!("\r\x1b[K");
    }
}

fn summary(report: &testwright_emit::report::Report, report_path: &std::path::Path, tests: Option<&std::path::Path>) {
    let executions = &report.executions;
    println!(
        "{} {}: {} operations from {} items; {} sequences, {} calls ({} a second), {} of {} edges",
        report.krate.name,
        report.krate.version,
        report.api.operations,
        report.api.items,
        executions.sequences,
        executions.calls,
        executions.calls_per_s,
        report.coverage.edges_hit,
        report.coverage.edges_total,
    );
    for finding in &report.findings {
        println!("\n{} [{}] {} in {}", finding.id, finding.tier, finding.class, finding.operation);
        println!("  {}", finding.message.lines().next().unwrap_or(""));
        if let Some(location) = &finding.location {
            println!("  at {}:{}", location.file, location.line);
        }
        println!();
        for line in finding.test.source.lines().filter(|line| !line.starts_with("//!")) {
            println!("    {line}");
        }
    }
    let bugs = report.findings.iter().filter(|finding| finding.tier == "bug").count();
    println!("\n{bugs} bugs, {} undocumented panics; report: {}", report.findings.len() - bugs, report_path.display());
    if let Some(tests) = tests {
        println!("tests: {} (ignored until you decide)", tests.display());
    }
}

/// The manifest of a package that holds nothing but our tests.
fn manifest(bench: &testwright_engine::Workbench) -> String {
    let subject = &bench.subject;
    let mut text = format!(
        "[package]\nname = \"testwright-{}\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n[workspace]\n\n[dependencies]\n",
        subject.package
    );
    let features: Vec<String> =
        subject.features.iter().filter(|feature| *feature != "default").map(|feature| format!("{feature:?}")).collect();
    let features =
        if features.is_empty() { String::new() } else { format!(", features = [{}]", features.join(", ")) };
    if subject.published {
        text.push_str(&format!("{} = {{ version = \"={}\"{features} }}\n", subject.package, subject.version));
    } else {
        text.push_str(&format!("{} = {{ path = {:?}{features} }}\n", subject.package, subject.root));
    }
    for name in &bench.foreign {
        if let Some(dependency) = subject.dependencies.get(name) {
            text.push_str(&format!("{} = \"={}\"\n", dependency.package, dependency.version));
        }
    }
    text
}
