//! What is reached after how many executions, for each strategy.

use super::campaign::Tool;
use crate::subjects::Listed;

const EXECUTIONS: [u64; 6] = [2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
const STRATEGIES: [&str; 3] = ["directed", "bottom-up", "random-walk"];

pub fn print(tool: &Tool, crates: &[Listed]) -> anyhow::Result<()> {
    for listed in crates {
        println!("{} {}: functions / lines / edges reached\n", listed.name, listed.version);
        println!("| executions | {} |", STRATEGIES.join(" | "));
        println!("| ---: |{}", " ---: |".repeat(STRATEGIES.len()));
        let mut totals = String::new();
        for executions in EXECUTIONS {
            let number = executions.to_string();
            let mut row = format!("| {executions} |");
            for strategy in STRATEGIES {
                // Findings are not what is measured, and each costs a compilation; the sanitizer's build has no counters.
                let flags = ["--jobs", "1", "--executions", &number, "--strategy", strategy];
                let rest = ["--sanitizer", "never", "--max-findings", "1"];
                let reached = tool.generate(listed, &[&flags[..], &rest[..]].concat())?.report.coverage;
                let known = |number: Option<u64>| number.map_or("?".to_owned(), |number| number.to_string());
                row += &format!(
                    " {} / {} / {} |",
                    known(reached.functions_hit),
                    known(reached.lines_hit),
                    reached.edges_hit
                );
                totals = format!(
                    "Of {} functions, {} lines and {} edges.\n",
                    known(reached.functions_total),
                    known(reached.lines_total),
                    reached.edges_total
                );
            }
            println!("{row}");
        }
        println!("\n{totals}");
    }
    Ok(())
}
