//! `list`: every public item, taken as which operations, or skipped and why.

use testwright_engine::listing::listing;
use testwright_engine::prepare;
use testwright_harness::Places;

use crate::flags::{ListFlags, MessageFormat};
use crate::output;

pub fn run(flags: ListFlags) -> anyhow::Result<u8> {
    let selection = flags.subject.selection()?;
    let places = Places::for_selection(&selection, &output::default_out(&selection))?;
    let human = flags.message_format == MessageFormat::Human;
    let bench = prepare(&selection, places, flags.subject.operations as usize, &|line| {
        if human {
            eprintln!("{line}");
        }
    })?;
    let list = listing(&bench);
    if !human {
        println!("{}", serde_json::to_string_pretty(&list)?);
        return Ok(0);
    }
    for item in &list.callables {
        match &item.skipped {
            Some(reason) => println!("skipped {}: {reason}", item.path),
            None => {
                println!("taken   {}", item.path);
                for operation in &item.operations {
                    println!("          {operation}");
                }
            }
        }
    }
    for item in &list.skipped {
        println!("skipped {} {}: {}", item.kind, item.path, item.reason);
    }
    let figures = &list.figures;
    println!(
        "\n{} {}: functions {} of {}, trait implementations {} of {} have operations; {} other operations",
        list.krate,
        list.version,
        figures.inherent_taken,
        figures.inherent_total,
        figures.trait_taken,
        figures.trait_total,
        list.other_operations
    );
    for (reason, count) in &figures.reasons {
        println!("{count:>6} {reason}");
    }
    if !list.features_off.is_empty() {
        println!("features that are off: {} (try --all-features)", list.features_off.join(", "));
    }
    Ok(0)
}
