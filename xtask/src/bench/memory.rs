//! The peak memory of the tool's own process in a long campaign; workers have their own limit.

use std::time::{Duration, Instant};

use super::campaign::Tool;
use crate::subjects::Listed;

/// KiB.
const BAR: u64 = 500 * 1000 * 1000 / 1024;
/// Lines of the table before the last one.
const STEPS: u64 = 10;

/// Whether the peak on the first of the crates stays below the bar.
pub fn print(tool: &Tool, crates: &[Listed], executions: u64) -> anyhow::Result<bool> {
    let Some(listed) = crates.first() else { return Ok(true) };
    println!("Peak memory of the tool's process, {} {}\n", listed.name, listed.version);
    println!("| sequences | after s | peak MB |");
    println!("| ---: | ---: | ---: |");
    let number = executions.to_string();
    let flags = ["--jobs", "1", "--executions", &number, "--sanitizer", "never", "--max-findings", "1"];
    let start = Instant::now();
    let step = (executions / STEPS).max(1);
    let mut next = step;
    let line = |sequences: u64, peak: u64| {
        println!("| {sequences} | {:.0} | {} |", start.elapsed().as_secs_f64(), megabytes(peak));
    };
    let watched = tool.elsewhere("memory").watch(listed, &flags, Duration::ZERO, &mut |moment| {
        if moment.sequences >= next && next < executions {
            line(moment.sequences, moment.peak);
            next = (moment.sequences / step + 1) * step;
        }
    })?;
    line(watched.report.executions.sequences, watched.peak);
    let good = watched.peak < BAR;
    println!("\nBar: below {} MB: {}.\n", megabytes(BAR), if good { "kept" } else { "missed" });
    Ok(good)
}

fn megabytes(kib: u64) -> u64 {
    (kib * 1024).div_ceil(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_five_hundred_megabytes() {
        assert_eq!(megabytes(BAR), 500);
        assert_eq!(megabytes(BAR + 1000), 502);
    }
}
