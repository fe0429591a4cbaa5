//! `generate`: the whole pipe, then report and tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testwright_emit::report::Report;
use testwright_engine::campaign::{Limit, Plan, Progress, Sanitizer, Strategy};
use testwright_engine::uncalled::uncalled;
use testwright_engine::{Campaign, Demands, EngineError, Outcome, Workbench, prepare_with};
use testwright_harness::{Member, Places, Selection, Subject};

use crate::flags::{self, Deny, GenerateFlags, MessageFormat};
use crate::output::{self, Folders, ReportFiles};
use crate::workspace::Done;
use crate::{configuration, exit, package};

pub const TOOL: &str = concat!("cargo-testwright ", env!("CARGO_PKG_VERSION"));

pub fn run(flags: &GenerateFlags) -> anyhow::Result<u8> {
    let progress = Arc::new(Progress::default());
    if flags.members.workspace
        && let Some(out) = &flags.out
    {
        package::refuse_foreign(out)?;
    }
    flags.tour().run(&|member| {
        progress.start_over();
        match member {
            Some(member) => generate(&flags.of_member(member), Some(member), &progress),
            None => generate(flags, None, &progress),
        }
    })
}

/// One package; where it is a member among others, what stands beside its report is kept apart from theirs.
fn generate(flags: &GenerateFlags, among: Option<&Member>, progress: &Arc<Progress>) -> anyhow::Result<Done> {
    let interrupted = || progress.stop.load(Ordering::SeqCst);
    if interrupted() {
        return Ok(cut_short());
    }
    let selection = flags.subject.selection()?;
    let out = flags.out.clone().unwrap_or_else(|| output::default_out(&selection));
    let own_package = flags.out.is_some() || matches!(selection, Selection::Published { .. });
    if own_package {
        package::claim(&out)?;
    }
    let places = match Places::for_selection(&selection, &out) {
        Err(_) if interrupted() => return Ok(cut_short()),
        places => places?,
    };
    let kept = among.map_or_else(|| places.work.clone(), |it| output::of_member(&places.work, &it.name));
    let campaign_file = output::campaign_file(flags.out.as_deref(), &selection, &kept);
    testwright_engine::past::check(&campaign_file, flags.resume)?;
    if !own_package {
        output::writable(&kept)?;
    }
    let human = flags.message_format == MessageFormat::Human;
    let tell = |line: &str| say(human, line);
    catch_interrupts(progress);
    let demands = |subject: &Subject| {
        Ok(Demands { past_panics: flags.past_panics, own_package, ..configuration::demands_of(subject)? })
    };
    let operations = flags.subject.operations as usize;
    let mut bench = match prepare_with(&selection, places, operations, &demands, &tell) {
        Ok(bench) => bench,
        // Cargo hears the same Ctrl-C; what it says then is no news of the crate.
        Err(_) if interrupted() => return Ok(cut_short()),
        Err(error) => return Err(error.into()),
    };
    let folders = Folders::new(flags.out.as_deref(), &selection, &bench.subject.root, &kept);
    choose(&mut bench, flags)?;
    let configuration = configuration::read(&bench.subject.root, &bench.subject.workspace_root)?;
    bench.heed(&configuration.wishes())?;
    let outcome = match search(&mut bench, plan(flags, configuration.accept, campaign_file), progress, human)
    {
        Ok(outcome) => outcome,
        Err(_) if interrupted() => return Ok(cut_short()),
        Err(error) => return Err(error.into()),
    };
    let report = outcome.report;
    let written = write(flags, &folders, &bench, &report, &outcome.suite);
    // What was found is shown even if it cannot be kept.
    if human {
        output::print(&summary(&report));
        if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            output::print(&testwright_emit::exchange::annotations(&report));
        }
    } else {
        output::print(&format!("{}\n", serde_json::to_string(&report)?));
    }
    let (files, tests) = written?;
    if human {
        output::print(&format!("report: {}\npage: {}\n", files.json.display(), files.page.display()));
        if let Some(tests) = tests {
            output::print(&format!("tests: {} (ignored until you decide)\n", tests.display()));
        }
    }
    if let Some(error) = uncalled(&report) {
        return Err(error.into());
    }
    Ok(Done { exit: report.exit, said: tally(&report) })
}

/// Leaves only what `--only` and `--skip` ask for as goals.
fn choose(bench: &mut Workbench, flags: &GenerateFlags) -> anyhow::Result<()> {
    if flags.only.is_none() && flags.skip.is_none() {
        return Ok(());
    }
    let wanted = |path: &str| {
        flags.only.as_ref().is_none_or(|only| only.is_match(path))
            && !flags.skip.as_ref().is_some_and(|skip| skip.is_match(path))
    };
    let left = bench.restrict(wanted, |path| flags.skip.as_ref().is_some_and(|skip| skip.is_match(path)));
    if left == 0 {
        return Err(EngineError::Nothing("--only and --skip leave no operation".to_owned()).into());
    }
    Ok(())
}

/// The first Ctrl-C ends the search, the second the tool.
pub fn catch_interrupts(progress: &Arc<Progress>) {
    let progress = Arc::clone(progress);
    // It fails only if there is a handler already: the same, set for the member of a workspace that came first.
    let _ = ctrlc::set_handler(move || {
        if progress.stop.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        eprintln!("\ninterrupted: finishing with what was found (again to stop at once)");
    });
}

fn cut_short() -> Done {
    let said = "interrupted before there was anything to report";
    eprintln!("{said}");
    Done { exit: exit::INTERRUPTED, said: said.to_owned() }
}

fn plan(flags: &GenerateFlags, accepted: BTreeMap<String, String>, campaign_file: PathBuf) -> Plan {
    Plan {
        limit: match (flags.executions, flags.calls) {
            (Some(executions), _) => Limit::Executions(executions),
            (None, Some(calls)) => Limit::Calls(calls),
            (None, None) => Limit::Time(flags.budget),
        },
        seed: flags.seed,
        jobs: if flags.calls.is_some() { 1 } else { flags.jobs.map_or_else(cores, usize::from) },
        max_findings: flags.max_findings as usize,
        until_plateau: flags.until_plateau,
        accepted,
        max_tests: if flags.no_write { 0 } else { flags.max_tests as usize },
        varied: 0,
        sanitizer: match flags.sanitizer {
            flags::Sanitizer::Never => Sanitizer::Never,
            flags::Sanitizer::Auto => Sanitizer::Auto,
            flags::Sanitizer::Always => Sanitizer::Always,
        },
        strategy: match flags.strategy {
            flags::Strategy::Directed => Strategy::Directed,
            flags::Strategy::BottomUp => Strategy::BottomUp,
            flags::Strategy::RandomWalk => Strategy::RandomWalk,
        },
        campaign_file: Some(campaign_file),
        resume: flags.resume,
        command: command_line(flags),
        tool: TOOL.to_owned(),
        deny_undocumented: flags.deny.contains(&Deny::UndocumentedPanic),
        compare_shortening: flags.compare_shortening,
    }
}

/// The campaign, with a line now and then about how it goes.
pub fn search(
    bench: &mut Workbench,
    plan: Plan,
    progress: &Arc<Progress>,
    human: bool,
) -> Result<Outcome, EngineError> {
    let watched = Arc::clone(progress);
    let done = Arc::new(AtomicBool::new(false));
    let finished = Arc::clone(&done);
    let painter = std::thread::spawn(move || paint(&watched, &finished, human));
    let outcome = Campaign { bench, plan, progress }.run(&|line| say(human, line));
    done.store(true, Ordering::Relaxed);
    let _ = painter.join();
    outcome
}

/// The report and the tests; where each of them is.
fn write(
    flags: &GenerateFlags,
    folders: &Folders,
    bench: &Workbench,
    report: &Report,
    suite: &str,
) -> anyhow::Result<(ReportFiles, Option<PathBuf>)> {
    let files = output::write_report(folders, report)?;
    if flags.no_write {
        return Ok((files, None));
    }
    if folders.whole_package {
        package::write(&folders.package, bench)?;
    }
    output::write_suite(folders, report, suite)?;
    Ok((files, output::write_findings(folders, report)?))
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub fn say(human: bool, line: &str) {
    if human {
        eprintln!("{line}");
    }
}

fn command_line(flags: &GenerateFlags) -> String {
    let mut command = "cargo testwright generate".to_owned();
    if let Some(krate) = &flags.subject.krate {
        let _ = write!(command, " --crate {krate}");
    }
    let limit = match (flags.executions, flags.calls) {
        (Some(executions), _) => format!("--executions {executions}"),
        (None, Some(calls)) => format!("--calls {calls}"),
        (None, None) => format!("--budget {}s", flags.budget.as_secs_f64()),
    };
    let _ = write!(command, " {limit} --seed {}", flags.seed);
    let subject = &flags.subject;
    if !subject.features.is_empty() {
        let _ = write!(command, " --features {}", subject.features.join(","));
    }
    for (given, name) in [
        (subject.all_features, "all-features"),
        (subject.no_default_features, "no-default-features"),
        (flags.past_panics, "past-panics"),
        (flags.resume, "resume"),
    ] {
        if given {
            let _ = write!(command, " --{name}");
        }
    }
    command
}

/// A line a second on a terminal, one every ten seconds elsewhere.
fn paint(progress: &Progress, done: &AtomicBool, human: bool) {
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
            "{:>4.0}s  {} sequences, {} calls, {} of {} edges, pool {}, {} failures seen",
            start.elapsed().as_secs_f64(),
            progress.sequences.load(Ordering::Relaxed),
            calls,
            progress.edges.load(Ordering::Relaxed),
            progress.edges_total.load(Ordering::Relaxed),
            progress.pool.load(Ordering::Relaxed),
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

fn summary(report: &Report) -> String {
    let executions = &report.executions;
    let mut text = format!(
        "{} {}: {} operations from {} items; {} sequences, {} calls ({} a second), {} of {} edges\n",
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
        let first = finding.first_line();
        let _ = writeln!(
            text,
            "\n{} [{}] {} in {}\n  {first}",
            finding.id,
            finding.label(),
            finding.class,
            finding.operation
        );
        if let Some(location) = &finding.location {
            let _ = writeln!(text, "  at {}:{}", location.file, location.line);
        }
        text.push('\n');
        let code = finding.test.source.lines().skip_while(|line| line.is_empty() || line.starts_with("//!"));
        for line in code {
            let indent = if line.is_empty() { "" } else { "    " };
            let _ = writeln!(text, "{indent}{line}");
        }
    }
    let _ = writeln!(text, "\n{}", tally(report));
    let cover = &report.coverage;
    if let (Some(lines), Some(of_lines), Some(functions), Some(of_functions)) =
        (cover.lines_hit, cover.lines_total, cover.functions_hit, cover.functions_total)
    {
        let _ = writeln!(
            text,
            "executed {functions} of {of_functions} functions, {lines} of {of_lines} lines; something new came last after {:.1} s of {:.1} s",
            report.search.last_new_s, report.search.seconds
        );
    }
    if let Some(branches) = &report.search.branches {
        let _ = writeln!(
            text,
            "{} of {} branches went both ways; of {} that went one way only, {} were made to go the other",
            branches.both, branches.total, branches.tried, branches.flipped
        );
    }
    text
}

/// What was found and written, in numbers.
fn tally(report: &Report) -> String {
    let hints = match report.hints() {
        0 => String::new(),
        hints => format!(", {}", count(hints, "hint")),
    };
    format!(
        "{}, {}{hints}; {} with {}",
        count(report.bugs(), "bug"),
        count(report.undocumented(), "undocumented panic"),
        count(report.regression.tests, "regression test"),
        count(report.regression.assertions, "assertion"),
    )
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
