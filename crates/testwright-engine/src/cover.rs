//! The functions and lines that a corpus of sequences executes.
//!
//! Receives a worker's binary and sequences, as a campaign has kept them for the coverage they brought; runs each once, adds
//! up what the worker counted, and hands the sums to `testwright-cover`. A sequence that kills its worker counts for nothing.

use std::path::Path;

use testwright_cover::{Cover, FileCover, Map, Package};
use testwright_emit::report;
use testwright_execute::{Batch, Worker, WorkerPlan};
use testwright_model::sequence::Sequence;
use testwright_wire::record::want;

use crate::{EngineError, Workbench, encode};

/// Sequences in a batch: their counts must have room in one answer.
const BATCH: usize = 100;

impl Workbench {
    /// Runs the corpus in a worker of `binary`, which counts coverage, and tells what it executed of the subject. A sequence
    /// that hangs costs its whole time limit, so a corpus is best kept free of them.
    pub fn measure_cover(
        &self,
        binary: &Path,
        scratch: &Path,
        corpus: &[Sequence],
    ) -> Result<Cover, EngineError> {
        let mut map = Map::of_binary(binary)?;
        if let Some(library) = self.harness.library(binary) {
            map.add_library(&library)?;
        }
        let counts = self.counts(binary, scratch, corpus, map.counters())?;
        Ok(map.cover(&counts, &Package::new(&self.subject.root, &self.places.work)))
    }

    /// How often the corpus reached each of so many counters.
    fn counts(
        &self,
        binary: &Path,
        scratch: &Path,
        corpus: &[Sequence],
        counters: usize,
    ) -> Result<Vec<u64>, EngineError> {
        let mut sums = vec![0u64; counters];
        let mut worker = Worker::start(WorkerPlan::new(binary, scratch))?;
        for part in corpus.chunks(BATCH) {
            let mut batch = Batch::new(want::COUNTS);
            for sequence in part {
                encode::append(&self.operations, sequence, &mut worker, &mut batch);
            }
            if batch.is_empty() {
                continue;
            }
            for execution in worker.run(&batch)?.executions {
                for (counter, count) in execution.details.into_iter().flat_map(|details| details.counts) {
                    if let Some(sum) = sums.get_mut(counter as usize) {
                        *sum = sum.saturating_add(count);
                    }
                }
            }
        }
        Ok(sums)
    }
}

/// Writes the figures into the report. Without any function the map was of no use (the user's flags may rename all
/// paths), and the figures stay unknown.
pub fn fill(coverage: &mut report::Coverage, cover: &Cover) {
    if cover.functions_total() == 0 {
        return;
    }
    let figure = |count: usize| Some(count as u64);
    coverage.functions_hit = figure(cover.functions_hit());
    coverage.functions_total = figure(cover.functions_total());
    coverage.lines_hit = figure(cover.lines_hit());
    coverage.lines_total = figure(cover.lines_total());
    coverage.files = cover.files.iter().map(|file| file_figures(cover, file)).collect();
    coverage.functions = cover.files.iter().flat_map(|file| function_figures(cover, file)).collect();
}

/// The functions of a file in the order of their lines. What stands before the next one's beginning is counted as the function's own: the map
/// tells where a function begins, and of generic ones that were never instantiated not much more.
fn function_figures(cover: &Cover, file: &FileCover) -> Vec<report::FunctionFigures> {
    let mut functions: Vec<_> =
        cover.functions.iter().filter(|function| function.file == file.file).collect();
    functions.sort_by_key(|function| (function.line, &function.name));
    let next = |at: usize| functions.get(at + 1).map_or(u32::MAX, |next| next.line);
    let figures = functions.iter().enumerate().map(|(at, function)| {
        let lines = || file.lines.range(function.line..next(at).max(function.line));
        report::FunctionFigures {
            name: function.name.clone(),
            file: function.file.clone(),
            line: function.line,
            hit: function.hit,
            lines_hit: lines().filter(|(_, hit)| **hit).count() as u64,
            lines_total: lines().count() as u64,
        }
    });
    figures.collect()
}

fn file_figures(cover: &Cover, file: &FileCover) -> report::FileFigures {
    let functions = || cover.functions.iter().filter(|function| function.file == file.file);
    let missed_lines: Vec<u32> = file.lines.iter().filter(|(_, hit)| !**hit).map(|(line, _)| *line).collect();
    report::FileFigures {
        file: file.file.clone(),
        functions_hit: functions().filter(|function| function.hit).count() as u64,
        functions_total: functions().count() as u64,
        lines_hit: (file.lines.len() - missed_lines.len()) as u64,
        lines_total: file.lines.len() as u64,
        missed_lines,
    }
}
