//! Are random sequences legal programs, and does the compiled program do what the worker did?

use std::collections::BTreeMap;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_emit::{Imports, body};
use testwright_engine::direct::draft::Draft;
use testwright_engine::direct::pool::{Novelty, Offer, Pool};
use testwright_engine::direct::{self, bank::Bank};
use testwright_engine::direct::{Maker, Means};
use testwright_engine::{Workbench, encode};
use testwright_execute::{Batch, Ending, Execution};
use testwright_harness::{Confirm, TestBench, TestSource, Variant};
use testwright_model::sequence::Sequence;
use testwright_wire::record::want;

use crate::Choice;
use crate::subjects::{self, Listed};

/// At most one rejected program in so many.
const ONE_IN: usize = 1000;

pub fn run(choice: &Choice, sequences: usize, sample: usize, seed: u64, show: bool) -> anyhow::Result<bool> {
    let mut rejected = 0;
    let mut total = 0;
    let mut good = true;
    println!("crate               programs rejected  borrowing operations reached  compared agree differ");
    for listed in subjects::chosen(choice)? {
        match one(&listed, sequences, sample, seed, show) {
            Ok(figures) => {
                rejected += figures.rejected;
                total += figures.programs;
                good &= figures.differ == 0;
            }
            Err(error) => {
                println!("{:<18} FAILED: {error:#}", listed.name);
                good = false;
            }
        }
    }
    println!("{rejected} of {total} programs rejected");
    Ok(good && rejected * ONE_IN <= total)
}

#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    rejected: usize,
    differ: usize,
}

fn one(listed: &Listed, wanted: usize, sample: usize, seed: u64, show: bool) -> anyhow::Result<Tally> {
    let mut bench = subjects::workbench(listed)?;
    let built = bench.build(&Variant::quick())?;
    let scratch = bench.places.work.join("scratch");
    std::fs::create_dir_all(&scratch)?;
    let mut worker = bench.start_worker(built.binary, scratch.clone(), false)?;
    let (sequences, reached, borrowing) = propose(&bench, wanted, seed);
    let items: Vec<String> = sequences.iter().map(|sequence| item(&bench, sequence)).collect();
    let test_bench = TestBench::open(&bench.subject, &bench.foreign, "2021", &bench.places)?;
    let verdicts = test_bench.check_bulk(&items)?;
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (item, verdict) in items.iter().zip(&verdicts) {
        if let Err(words) = verdict {
            *reasons.entry(words.clone()).or_default() += 1;
            if show {
                println!("--- {words}\n{item}");
            }
        }
    }
    let rejected = verdicts.iter().filter(|verdict| verdict.is_err()).count();
    let legal: Vec<&Sequence> = sequences
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| verdict.is_ok())
        .map(|(sequence, _)| sequence)
        .collect();
    let chosen: Vec<&Sequence> =
        legal.iter().step_by((legal.len() / sample.max(1)).max(1)).take(sample).copied().collect();
    let mut batch = Batch::new(want::TEXTS);
    let chosen: Vec<&Sequence> = chosen
        .into_iter()
        .filter(|sequence| encode::append(&bench.operations, sequence, &mut worker, &mut batch))
        .collect();
    let outcome = worker.run_fresh(&batch)?;
    let (compared, differ) = compare(&bench, &test_bench, &chosen, &outcome.executions, &scratch, show)?;
    println!(
        "{:<18} {:>8} {:>8}  {:>10} of {:<10}           {:>8} {:>5} {:>6}",
        listed.name,
        sequences.len(),
        rejected,
        reached,
        borrowing,
        compared,
        compared - differ,
        differ
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (words, count) in reasons.into_iter().take(12) {
        println!("    {count} × {words}");
    }
    Ok(Tally { programs: sequences.len(), rejected, differ })
}

/// Sequences, first one for each operation whose result borrows; how many of these there are.
fn propose(bench: &Workbench, wanted: usize, seed: u64) -> (Vec<Sequence>, usize, usize) {
    let maker = Maker::new(&bench.operations, &bench.usable);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sequences = Vec::new();
    let mut borrowing: Vec<_> =
        bench.usable.iter().copied().filter(|id| bench.operations.get(*id).borrows()).collect();
    borrowing.sort_unstable();
    let mut reached = 0;
    for id in &borrowing {
        let found = (0..30).find_map(|_| maker.sequence(&mut rng, 3, Some(*id)));
        if let Some(sequence) = found {
            reached += 1;
            sequences.push(sequence);
        }
    }
    // Half from nothing, half as the search makes them, out of earlier ones.
    let half = sequences.len() + wanted.saturating_sub(sequences.len()) / 2;
    while sequences.len() < half {
        let length = 1 + sequences.len() % 12;
        sequences.extend(maker.sequence(&mut rng, length, None));
    }
    let (choice, mut bank) =
        (direct::choice::Choice::new(bench.operations.operations.len()), Bank::default());
    let (mut spare, mut buffers) = (Vec::new(), Vec::new());
    let mut draft = Draft::new(&bench.operations);
    let mut pool = Pool::new(bench.operations.types.len(), Novelty::Off);
    while sequences.len() < wanted {
        let mut means = Means {
            rng: &mut rng,
            bank: &mut bank,
            choice: &choice,
            pool: Some(&pool),
            judging: true,
            spare: &mut spare,
            buffers: &mut buffers,
        };
        let Some(proposal) = maker.propose(&mut draft, &mut means, None) else { continue };
        // Long programs say no more about the rules, and take the compiler's time.
        if proposal.shape.calls > 60 {
            continue;
        }
        // Every other one with other literals.
        let variant = maker.vary(&proposal, &mut means).filter(|_| sequences.len() % 2 == 0);
        let proposal = variant.unwrap_or(proposal);
        for observed in &proposal.aim.observed {
            let cost = u64::from(proposal.shape.calls);
            pool.offer(observed.ty, Offer::new(proposal.entry(), observed.value, 0, cost), &mut rng);
        }
        sequences.push(proposal.sequence(&bench.operations, &bank));
    }
    (sequences, reached, borrowing.len())
}

/// A sequence as a function item.
fn item(bench: &Workbench, sequence: &Sequence) -> String {
    function(bench, sequence, "program", false)
}

fn function(bench: &Workbench, sequence: &Sequence, name: &str, observe: bool) -> String {
    let printed = body(&bench.operations, sequence, observe);
    let imports = Imports { lib: bench.subject.lib.clone(), foreign: bench.foreign.clone() };
    let (uses, text) = imports.shorten(&printed.body, &printed.traits);
    let mut out = String::new();
    for path in uses {
        out.push_str(&format!("use {path};\n"));
    }
    if printed.uses_tracked {
        out.push_str(testwright_emit::TRACKED);
    }
    out.push_str(&format!("pub fn {name}() {{\n{text}}}\n"));
    out
}

const PRELUDE: &str = r#"#![allow(warnings)]
use std::cell::{Cell, RefCell};
thread_local! { static WHERE: Cell<usize> = Cell::new(0); static WORDS: RefCell<String> = RefCell::new(String::new()); }
macro_rules! observe { ($step:expr, $value:expr) => {{
    let text: String = format!("{:?}", $value).chars().take(4000).collect();
    println!("@{} {} {:?}", crate::WHERE.with(|w| w.get()), $step, text);
}} }
"#;

/// Compiles the sequences into one program, runs it, and compares each value's text and each panic with the worker's.
fn compare(
    bench: &Workbench,
    test_bench: &TestBench,
    sequences: &[&Sequence],
    executions: &[Execution],
    scratch: &std::path::Path,
    show: bool,
) -> anyhow::Result<(usize, usize)> {
    let mut text = PRELUDE.to_owned();
    let mut calls = String::new();
    let mut compared = Vec::new();
    for (index, (sequence, execution)) in sequences.iter().zip(executions).enumerate() {
        // Deaths end a whole program; they are compared one by one when they become findings.
        if !matches!(execution.ending, Ending::Completed | Ending::Panicked) {
            continue;
        }
        compared.push(index);
        let item = function(bench, sequence, "program", true);
        text.push_str(&format!("mod item_{index} {{\n{item}}}\n"));
        calls.push_str(&format!("    run({index}, item_{index}::program);\n"));
    }
    text.push_str(&format!(
        r#"fn run(index: usize, program: fn()) {{
    WHERE.with(|w| w.set(index));
    if std::panic::catch_unwind(program).is_err() {{
        println!("@{{index}} panic {{:?}}", WORDS.with(|w| w.borrow().clone()));
    }}
}}
#[test]
fn all() {{
    std::panic::set_hook(Box::new(|info| {{
        let words = info.payload().downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| info.payload().downcast_ref::<String>().cloned()).unwrap_or_default();
        WORDS.with(|w| *w.borrow_mut() = words);
    }}));
{calls}}}
"#
    ));
    let source = TestSource { name: "agreement".to_owned(), text };
    let compiled = test_bench.compile(std::slice::from_ref(&source), Confirm::debug())?;
    let executable = match compiled.into_iter().next() {
        Some(Ok(executable)) => executable,
        Some(Err(words)) => anyhow::bail!("the programs do not compile together:\n{words}"),
        None => anyhow::bail!("nothing was compiled"),
    };
    let once = lines(&executable, scratch)?;
    let twice = lines(&executable, scratch)?;
    let mut differ = 0;
    for index in &compared {
        let expected = expected(sequences[*index], &executions[*index]);
        let seen = once.get(index).cloned().unwrap_or_default();
        let unsteady = seen != twice.get(index).cloned().unwrap_or_default();
        let wrong = seen.iter().find(|(step, words)| {
            expected.get(*step).is_some_and(|text| masked(text) != masked(words))
                || (step.as_str() == "panic" && !expected.contains_key("panic"))
        });
        let missing = expected.contains_key("panic") && !seen.contains_key("panic");
        if !unsteady && (wrong.is_some() || missing) {
            differ += 1;
            if show || differ <= 2 {
                println!(
                    "    differs: {wrong:?}, the worker saw {:?}\n{}",
                    wrong.and_then(|(step, _)| expected.get(step)),
                    function(bench, sequences[*index], "program", false)
                );
            }
        }
    }
    Ok((compared.len(), differ))
}

/// Takes the modules away that stand before this type's name.
fn drop_paths(text: &str, name: &str) -> String {
    let mut parts = text.split(name);
    let mut out = parts.next().unwrap_or("").to_owned();
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for part in parts {
        if out.ends_with("::") {
            out.truncate(out.trim_end_matches(is_path).len());
        }
        out.push_str(name);
        out.push_str(part);
    }
    out
}

/// What the worker saw, by step.
fn expected(sequence: &Sequence, execution: &Execution) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    if let Some(panic) = execution.panic() {
        all.insert("panic".to_owned(), format!("{:?}", panic.message));
    }
    let steps = sequence.steps.iter().enumerate().filter(|(_, step)| step.makes_value());
    let texts = execution.details.iter().flat_map(|details| &details.texts);
    for ((step, _), text) in steps.zip(texts) {
        if let Some(text) = text {
            let cut: String = text.chars().take(4000).collect();
            all.insert(step.to_string(), format!("{cut:?}"));
        }
    }
    all
}

fn lines(
    executable: &std::path::Path,
    scratch: &std::path::Path,
) -> anyhow::Result<BTreeMap<usize, BTreeMap<String, String>>> {
    let mut launch = testwright_execute::launcher::Launch::new(executable, scratch, Duration::from_secs(60));
    launch.arguments = ["--nocapture", "--test-threads=1"].map(Into::into).to_vec();
    launch.output = 64 << 20;
    let run = launch.run()?;
    let mut all: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
    for line in run.stdout.lines() {
        let Some(rest) = line.trim_start_matches("test all ... ").strip_prefix('@') else { continue };
        let mut parts = rest.splitn(3, ' ');
        let (Some(index), Some(step), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let Ok(index) = index.parse() else { continue };
        all.entry(index).or_default().insert(step.to_owned(), text.to_owned());
    }
    Ok(all)
}

/// Texts without what differs by nature: addresses, and where the droppable type comes from.
fn masked(text: &str) -> String {
    let text = drop_paths(text, "Tracked");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        if digits >= 9 {
            out.push_str("0x_");
        } else {
            out.push_str(&rest[at..at + 2 + digits]);
        }
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    out
}
