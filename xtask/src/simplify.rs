//! What cutting findings down achieves beside plain delta debugging, on the same failures of the same campaigns.

use testwright_emit::report::{Effort, Report, Shortening};

use crate::subjects::Listed;
use crate::tool::Tool;

/// All failures together may take this part of the budget.
const MOST: f64 = 0.10;

/// One way to cut down, on all findings of a crate.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Sum {
    findings: usize,
    calls: usize,
    most: usize,
    steps: usize,
    executions: usize,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, effort: &Effort) {
        self.findings += 1;
        self.calls += effort.calls;
        self.most = self.most.max(effort.calls);
        self.steps += effort.steps;
        self.executions += effort.executions;
        self.seconds += effort.seconds;
    }

    fn join(&mut self, other: &Sum) {
        self.findings += other.findings;
        self.calls += other.calls;
        self.most = self.most.max(other.most);
        self.steps += other.steps;
        self.executions += other.executions;
        self.seconds += other.seconds;
    }

    fn mean(&self, of: usize) -> f64 {
        of as f64 / self.findings.max(1) as f64
    }
}

/// As found, after plain delta debugging, after ours.
type Sums = [Sum; 3];

pub fn run(crates: &[Listed], budget: &str, seed: u64, jobs: usize) -> anyhow::Result<bool> {
    let tool = Tool::build()?;
    let seconds: f64 = budget.trim_end_matches('s').parse()?;
    let mut all = Sums::default();
    let mut fine = true;
    println!(
        "| crate | findings | calls as found, mean (most) | delta debugging: calls, steps, runs, s | ours: calls, steps, runs, s | share of the budget |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for Listed { name, version, .. } in crates {
        let krate = format!("{name}@{version}");
        let out = std::env::current_dir()?.join("target/xtask/simplify").join(&krate);
        let flags =
            ["--crate", &krate, "--budget", budget, "--seed", &seed.to_string(), "--jobs", &jobs.to_string()]
                .into_iter()
                .chain(["--max-tests", "0", "--compare-shortening"])
                .map(str::to_owned)
                .collect::<Vec<String>>();
        let report = tool.generate(&out, &flags)?;
        let sums = sums(&report);
        let share = report.search.shorten_s / seconds;
        fine &= share < MOST && sums[2].calls <= sums[1].calls;
        println!("{}", line(&krate, &sums, &format!("{:.1}%", 100.0 * share)));
        for (all, sum) in all.iter_mut().zip(&sums) {
            all.join(sum);
        }
    }
    println!("{}", line("all", &all, ""));
    Ok(fine)
}

fn sums(report: &Report) -> Sums {
    let mut sums = Sums::default();
    for finding in &report.findings {
        let Some(Shortening { ours, plain }) = &finding.shortening else { continue };
        sums[0].add(&Effort { calls: finding.original_calls, ..Effort::default() });
        sums[1].add(plain);
        sums[2].add(ours);
    }
    sums
}

fn line(name: &str, [found, plain, ours]: &Sums, share: &str) -> String {
    let told = |sum: &Sum| {
        let (calls, steps, runs) = (sum.mean(sum.calls), sum.mean(sum.steps), sum.mean(sum.executions));
        format!("{calls:.2} ({}), {steps:.1}, {runs:.0}, {:.2}", sum.most, sum.seconds)
    };
    format!(
        "| {name} | {} | {:.1} ({}) | {} | {} | {share} |",
        found.findings,
        found.mean(found.calls),
        found.most,
        told(plain),
        told(ours)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_emit::report::Finding;

    #[test]
    fn means_are_over_findings_that_were_cut_down_in_both_ways() {
        let effort = |calls, executions| Effort { calls, steps: 2 * calls, executions, seconds: 0.5 };
        let finding = |original_calls, plain, ours| Finding {
            original_calls,
            shortening: Some(Shortening { plain: effort(plain, 10), ours: effort(ours, 30) }),
            ..Finding::default()
        };
        let findings = vec![finding(9, 4, 2), Finding::default(), finding(20, 5, 5)];
        let sums = sums(&Report { findings, ..Report::default() });
        assert_eq!(
            line("a", &sums, "1%"),
            "| a | 2 | 14.5 (20) | 4.50 (5), 9.0, 10, 1.00 | 3.50 (5), 7.0, 30, 1.00 | 1% |"
        );
    }
}
