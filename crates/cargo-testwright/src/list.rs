//! `list`: every public item, taken as which operations, or skipped and why.

use std::fmt::Write as _;

use testwright_emit::report::HINT;
use testwright_engine::listing::{ListedContract, Listing, listing};
use testwright_engine::{Demands, prepare_with};
use testwright_harness::{Places, Selection, Subject};

use crate::flags::{ListFlags, MessageFormat, SubjectFlags};
use crate::workspace::{Done, Tour};
use crate::{configuration, exit, output};

pub fn run(flags: &ListFlags) -> anyhow::Result<u8> {
    let tour = Tour { subject: &flags.subject, members: &flags.members, format: flags.message_format };
    tour.run(&|member| match member {
        // One line each, so that programs can tell them apart.
        Some(member) => list(&flags.subject.of_member(member), flags.message_format, serde_json::to_string),
        None => list(&flags.subject, flags.message_format, serde_json::to_string_pretty),
    })
}

fn list(
    flags: &SubjectFlags,
    format: MessageFormat,
    json: fn(&Listing) -> serde_json::Result<String>,
) -> anyhow::Result<Done> {
    let selection = flags.selection()?;
    let places = Places::for_selection(&selection, &output::default_out(&selection))?;
    let human = format == MessageFormat::Human;
    let tell = |line: &str| {
        if human {
            eprintln!("{line}");
        }
    };
    let operations = flags.operations as usize;
    let own_package = matches!(selection, Selection::Published { .. });
    let demands = |subject: &Subject| Ok(Demands { own_package, ..configuration::demands_of(subject)? });
    let bench = prepare_with(&selection, places, operations, &demands, &tell)?;
    let list = listing(&bench);
    output::print(&if human { text(&list) } else { json(&list)? + "\n" });
    Ok(Done { exit: exit::NO_BUGS, said: taken(&list) })
}

/// How much of the API has operations.
fn taken(list: &Listing) -> String {
    let figures = &list.figures;
    format!(
        "functions {} of {}, trait implementations {} of {} have operations; {} other operations, {} laws, {} contracts",
        figures.inherent_taken,
        figures.inherent_total,
        figures.trait_taken,
        figures.trait_total,
        list.other_operations,
        list.laws.len(),
        list.contracts.len()
    )
}

fn text(list: &Listing) -> String {
    let mut text = String::new();
    for item in &list.callables {
        if let Some(reason) = &item.skipped {
            let _ = writeln!(text, "skipped {}: {reason}", item.path);
            continue;
        }
        let _ = writeln!(text, "taken   {}", item.path);
        for operation in &item.operations {
            let _ = writeln!(text, "          {operation}");
        }
    }
    for law in &list.laws {
        let hint = if law.confidence == HINT { ", a hint" } else { "" };
        let _ = writeln!(text, "law     {}: {} ({}{hint})", law.operation, law.says, law.class);
    }
    for contract in &list.contracts {
        let ListedContract { operation, kind, expression, place } = contract;
        let _ = writeln!(text, "{kind} {operation}: {expression} ({place})");
    }
    for item in &list.skipped {
        let _ = writeln!(text, "skipped {} {}: {}", item.kind, item.path, item.reason);
    }
    let _ = writeln!(text, "\n{} {}: {}", list.krate, list.version, taken(list));
    for (reason, count) in &list.figures.reasons {
        let _ = writeln!(text, "{count:>6} {reason}");
    }
    if !list.features_off.is_empty() {
        let _ =
            writeln!(text, "features that are off: {} (try --all-features)", list.features_off.join(", "));
    }
    text
}
