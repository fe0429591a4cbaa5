//! `list`: every public item, taken as which operations, or skipped and why.

use testwright_engine::listing::{Listing, listing};
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
        output::print(&format!("{}\n", serde_json::to_string_pretty(&list)?));
        return Ok(0);
    }
    output::print(&text(&list));
    Ok(0)
}

fn text(list: &Listing) -> String {
    let mut text = String::new();
    for item in &list.callables {
        match &item.skipped {
            Some(reason) => text.push_str(&format!("skipped {}: {reason}\n", item.path)),
            None => {
                text.push_str(&format!("taken   {}\n", item.path));
                for operation in &item.operations {
                    text.push_str(&format!("          {operation}\n"));
                }
            }
        }
    }
    for item in &list.skipped {
        text.push_str(&format!("skipped {} {}: {}\n", item.kind, item.path, item.reason));
    }
    let figures = &list.figures;
    text.push_str(&format!(
        "\n{} {}: functions {} of {}, trait implementations {} of {} have operations; {} other operations\n",
        list.krate,
        list.version,
        figures.inherent_taken,
        figures.inherent_total,
        figures.trait_taken,
        figures.trait_total,
        list.other_operations
    ));
    for (reason, count) in &figures.reasons {
        text.push_str(&format!("{count:>6} {reason}\n"));
    }
    if !list.features_off.is_empty() {
        text.push_str(&format!(
            "features that are off: {} (try --all-features)\n",
            list.features_off.join(", ")
        ));
    }
    text
}
