//! Calls a second of the worker alone, on sequences prepared beforehand.

use std::time::Instant;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_engine::direct::Maker;
use testwright_engine::{Workbench, encode};
use testwright_execute::{Batch, Ending, Worker};
use testwright_harness::{Coverage, Variant};
use testwright_model::sequence::Step;

use crate::Choice;
use crate::subjects::{self, Listed};

/// Calls in a prepared sequence.
const LENGTH: usize = 20;
/// Prepared sequences.
const SEQUENCES: usize = 4000;
/// A sequence that takes so many times the median one's processor time is not about calls.
const SLOW: u64 = 10;
/// Seconds that each measurement lasts.
const SECONDS: f64 = 3.0;

pub fn run(choice: &Choice) -> anyhow::Result<bool> {
    let mut choice = choice.clone();
    if choice.only.is_empty() {
        choice.only = ["slab", "smallvec", "petgraph", "num-bigint"].map(str::to_owned).to_vec();
    }
    println!(
        "crate               calls/s coverage on  calls/s coverage off  loss  restart  slow sequences left out"
    );
    for listed in subjects::chosen(&choice)? {
        measure(&listed)?;
    }
    Ok(true)
}

fn measure(listed: &Listed) -> anyhow::Result<()> {
    let mut bench = subjects::workbench(listed)?;
    let scratch = bench.places.work.join("scratch");
    std::fs::create_dir_all(&scratch)?;
    let with = bench.build(&Variant::fast())?.binary;
    let without = bench.build(&Variant { coverage: Coverage::Off, ..Variant::fast() })?.binary;
    let mut worker = bench.start_worker(with, scratch.clone(), true)?;
    let batch = prepared(&bench, &mut worker)?;
    let (batch, left_out) = without_slow(&mut worker, &batch)?;
    let on = pace(&mut worker, &batch)?;
    let start = Instant::now();
    for _ in 0..20 {
        worker.renew()?;
    }
    let restart = start.elapsed().as_secs_f64() / 20.0;
    drop(worker);
    let mut worker = bench.start_worker(without, scratch, false)?;
    let (batch, _) = {
        let batch = prepared(&bench, &mut worker)?;
        without_slow(&mut worker, &batch)?
    };
    let off = pace(&mut worker, &batch)?;
    println!(
        "{:<18} {:>18.1} M {:>19.1} M {:>5.2} {:>6.1} ms  {:>4}",
        listed.name,
        on / 1e6,
        off / 1e6,
        off / on,
        restart * 1e3,
        left_out
    );
    Ok(())
}

/// Sequences of twenty calls that run to their end, as one batch.
fn prepared(bench: &Workbench, worker: &mut Worker) -> anyhow::Result<Batch> {
    let maker = Maker::new(&bench.operations, &bench.usable).modest();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut batch = Batch::new(0);
    let mut candidates = Batch::new(0);
    let mut kept = 0;
    while kept < SEQUENCES {
        candidates.clear();
        while candidates.len() < 1000 {
            let Some(mut sequence) = maker.sequence(&mut rng, 8, None) else { continue };
            // Cut to exactly twenty calls.
            let mut calls = 0;
            let end = sequence.steps.iter().position(|step| {
                calls += usize::from(matches!(step, Step::Call { .. }));
                calls == LENGTH
            });
            let Some(end) = end else { continue };
            sequence.steps.truncate(end + 1);
            let Some(sequence) = testwright_engine::repair::repair(&bench.operations, &sequence.steps) else {
                continue;
            };
            encode::append(&bench.operations, &sequence, worker, &mut candidates);
        }
        let outcome = worker.run(&candidates)?;
        for (index, execution) in outcome.executions.iter().enumerate() {
            if execution.ending == Ending::Completed && kept < SEQUENCES {
                batch.push_words(candidates.words_of(index));
                kept += 1;
            }
        }
    }
    Ok(batch)
}

/// Without the sequences in which one call does the work of thousands (a million strings because `size()` said so): they measure
/// the crate, not the worker. Also how many were left out.
fn without_slow(worker: &mut Worker, batch: &Batch) -> anyhow::Result<(Batch, usize)> {
    let mut ticks = Vec::with_capacity(batch.len());
    for index in 0..batch.len() {
        let mut one = Batch::new(0);
        one.push_words(batch.words_of(index));
        ticks.push(worker.run(&one)?.executions[0].ticks);
    }
    let mut sorted = ticks.clone();
    sorted.sort_unstable();
    let most = SLOW * sorted[sorted.len() / 2];
    let mut kept = Batch::new(0);
    for index in (0..batch.len()).filter(|&index| ticks[index] <= most) {
        kept.push_words(batch.words_of(index));
    }
    let left_out = batch.len() - kept.len();
    Ok((kept, left_out))
}

fn pace(worker: &mut Worker, batch: &Batch) -> anyhow::Result<f64> {
    worker.run(batch)?;
    let start = Instant::now();
    let mut calls = 0;
    worker.submit(batch)?;
    while start.elapsed().as_secs_f64() < SECONDS {
        worker.submit(batch)?;
        calls += worker.collect()?.calls;
    }
    let pace = calls as f64 / start.elapsed().as_secs_f64();
    worker.collect()?;
    Ok(pace)
}
