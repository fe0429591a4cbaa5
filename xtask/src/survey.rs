//! How much of each crate's API has operations, and what its harness costs.

use std::collections::BTreeMap;

use testwright_engine::listing::{Figures, listing};
use testwright_harness::Variant;

use crate::Choice;
use crate::subjects::{self, Listed};

/// Every crate must reach this share, of inherent and of trait callables alike.
const EACH: f64 = 0.60;
/// All crates together.
const ALL: f64 = 0.80;

pub fn run(choice: &Choice) -> anyhow::Result<bool> {
    let mut total = Figures::default();
    let mut good = true;
    println!(
        "crate               inherent        trait impls     operations types rounds check s build s ÷ cargo build"
    );
    for listed in subjects::chosen(choice)? {
        match survey(&listed) {
            Ok(figures) => {
                let fine = share(figures.inherent_taken, figures.inherent_total) >= EACH
                    && share(figures.trait_taken, figures.trait_total) >= EACH;
                good &= fine;
                total.inherent_taken += figures.inherent_taken;
                total.inherent_total += figures.inherent_total;
                total.trait_taken += figures.trait_taken;
                total.trait_total += figures.trait_total;
                for (reason, count) in figures.reasons {
                    *total.reasons.entry(reason).or_default() += count;
                }
            }
            Err(error) => {
                println!("{:<18} FAILED: {error:#}", listed.name);
                good = false;
            }
        }
    }
    println!(
        "all: inherent {}, trait implementations {}",
        shown(total.inherent_taken, total.inherent_total),
        shown(total.trait_taken, total.trait_total)
    );
    for (reason, count) in sorted(&total.reasons) {
        println!("{count:>6} {reason}");
    }
    good &= share(total.inherent_taken, total.inherent_total) >= ALL
        && share(total.trait_taken, total.trait_total) >= ALL;
    println!("{}", if good { "the bar is reached" } else { "the bar is missed" });
    Ok(good)
}

fn survey(listed: &Listed) -> anyhow::Result<Figures> {
    let mut bench = subjects::workbench(listed)?;
    let built = bench.build(&Variant::quick())?;
    let plain = testwright_harness::crate_build_seconds(&bench.subject, &bench.places)?;
    let list = listing(&bench);
    let figures = list.figures;
    let pruned = bench.harness.pruned();
    println!(
        "{:<18} {:<15} {:<15} {:>10} {:>5} {:>6} {:>7.1} {:>7.1} {:>6.1}{}",
        listed.name,
        shown(figures.inherent_taken, figures.inherent_total),
        shown(figures.trait_taken, figures.trait_total),
        bench.usable.len(),
        bench.operations.types.len(),
        pruned.rounds,
        pruned.seconds,
        built.seconds,
        built.seconds / plain.max(0.001),
        if built.cached { " (cached)" } else { "" }
    );
    if !list.features_off.is_empty() {
        println!("{:<18} features off: {}", "", list.features_off.join(", "));
    }
    Ok(figures)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn shown(part: usize, whole: usize) -> String {
    format!("{part}/{whole} {:.0}%", 100.0 * share(part, whole))
}

fn sorted(reasons: &BTreeMap<String, usize>) -> Vec<(&String, &usize)> {
    let mut all: Vec<_> = reasons.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    all
}
