//! Calls a second of the whole tool beside a fuzz target's, and how tool and worker spend the time of a search.

use std::time::Duration;

use super::campaign::{Tool, Watched};
use super::libfuzzer::{Fuzzed, Targets};
use super::process::{self, Times};
use crate::subjects::Listed;

/// By default the last part of the search runs under the sanitizer, which fuzz targets here do not.
const SANITIZERS: [&str; 2] = ["never", "auto"];

struct Row {
    name: String,
    sanitizer: &'static str,
    /// One job on one processor.
    confined: Watched,
    one: Watched,
    two: Watched,
    load: String,
}

pub fn print(tool: &Tool, crates: &[Listed], seconds: u64, times: usize) -> anyhow::Result<()> {
    let targets = match Targets::build() {
        Ok(targets) => Some(targets),
        Err(error) => {
            println!("No fuzz targets: {error:#}.\n");
            None
        }
    };
    let budget = format!("{seconds}s");
    let limit = Duration::from_secs(seconds);
    let (mut rows, mut fuzzed) = (Vec::new(), Vec::new());
    for listed in crates {
        // All builds first, the sanitized one takes longest: compilers would take the search's time.
        tool.generate(listed, &["--jobs", "1", "--budget", &budget])?;
        for sanitizer in SANITIZERS {
            let load = process::load();
            let run = |tool: &Tool, jobs| {
                let flags = ["--jobs", jobs, "--budget", &budget, "--sanitizer", sanitizer];
                tool.watch(listed, &flags, limit, &mut |_| {})
            };
            // In turn, so that what else the machine does meets all three alike.
            let mut runs = [Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..times.max(1) {
                runs[0].push(run(&tool.confined(), "1")?);
                runs[1].push(run(tool, "1")?);
                runs[2].push(run(tool, "2")?);
            }
            let [confined, one, two] = runs.map(middle);
            rows.push(Row { name: listed.name.clone(), sanitizer, confined, one, two, load });
        }
        let target = targets.as_ref().map(|targets| targets.run(&listed.name, seconds)).transpose()?;
        fuzzed.push((listed.name.clone(), target.flatten()));
    }
    whole_tool(&rows, &fuzzed);
    processors(&rows, &fuzzed);
    waiting(&rows);
    Ok(())
}

/// The run with the median pace; of two in the middle the slower one.
fn middle(mut runs: Vec<Watched>) -> Watched {
    let pace = |watched: &Watched| watched.report.executions.calls_per_s;
    runs.sort_by(|a, b| pace(a).total_cmp(&pace(b)));
    runs.swap_remove((runs.len() - 1) / 2)
}

fn whole_tool(rows: &[Row], fuzzed: &[(String, Option<Fuzzed>)]) {
    println!("Calls a second, in thousands (load: processes that wanted a processor before the row began)\n");
    println!(
        "| crate | sanitizer | 1 job on 1 processor | 1 job | 2 jobs | 2 jobs ÷ 1 | 2 jobs ÷ 1 on 1 | libFuzzer | 1 job ÷ libFuzzer | load |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for row in rows {
        let [confined, one, two] =
            [&row.confined, &row.one, &row.two].map(|watched| watched.report.executions.calls_per_s);
        let target = of(fuzzed, &row.name).map(|target| target.calls as f64 / target.seconds);
        println!(
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {} | {} | {} |",
            row.name,
            row.sanitizer,
            confined / 1e3,
            one / 1e3,
            two / 1e3,
            two / one,
            two / confined,
            target.map_or("–".to_owned(), |pace| format!("{:.0}", pace / 1e3)),
            target.map_or("–".to_owned(), |pace| format!("{:.2}", one / pace)),
            row.load
        );
    }
    println!();
}

/// The same by processor time, on which other work on the machine has less influence.
fn processors(rows: &[Row], fuzzed: &[(String, Option<Fuzzed>)]) {
    println!("Calls per second of processor time, tool and worker together, in thousands; 1 job\n");
    println!("| crate | sanitizer | testwright | calls a sequence | libFuzzer | calls an input | ratio |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for row in rows {
        let executions = &row.one.report.executions;
        let spent = (row.one.tool.total().running + row.one.workers.total().running) as f64 / 1e9;
        let ours = executions.calls as f64 / spent;
        let target = of(fuzzed, &row.name);
        let theirs = target.map(|target| target.calls as f64 / target.processor);
        println!(
            "| {} | {} | {:.0} | {:.1} | {} | {} | {} |",
            row.name,
            row.sanitizer,
            ours / 1e3,
            executions.calls as f64 / executions.sequences.max(1) as f64,
            theirs.map_or("–".to_owned(), |pace| format!("{:.0}", pace / 1e3)),
            target.map_or("–".to_owned(), |target| format!(
                "{:.1}",
                target.calls as f64 / target.runs.max(1) as f64
            )),
            theirs.map_or("–".to_owned(), |pace| format!("{:.2}", ours / pace)),
        );
    }
    println!();
}

fn waiting(rows: &[Row]) {
    println!(
        "Shares of the search's time, 1 job: on the processor, in the queue for it, waiting for the other side\n"
    );
    println!(
        "| crate | sanitizer | tool runs | queues | waits | worker runs | queues | waits | worker processes |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for row in rows {
        let wall = row.one.searched.as_secs_f64() * 1e9;
        let shares = |times: Times| {
            let (running, queued) = (times.running as f64 / wall, times.queued as f64 / wall);
            let waits = (1.0 - running - queued).max(0.0);
            format!("{:.0} % | {:.0} % | {:.0} %", running * 100.0, queued * 100.0, waits * 100.0)
        };
        println!(
            "| {} | {} | {} | {} | {} |",
            row.name,
            row.sanitizer,
            // The thread of the only job is by far the busiest.
            shares(row.one.tool.busiest()),
            shares(row.one.workers.total()),
            row.one.processes
        );
    }
    println!();
}

fn of<'a>(fuzzed: &'a [(String, Option<Fuzzed>)], name: &str) -> Option<&'a Fuzzed> {
    fuzzed.iter().find(|(of, _)| of == name).and_then(|(_, target)| target.as_ref())
}
