//! `generate --check`: whether the regression suite that is there still holds. Nothing is searched or written.

use std::fmt::Write as _;

use anyhow::Context;
use testwright_harness::Places;

use crate::exit::{self, Usage};
use crate::flags::GenerateFlags;
use crate::output::{self, Folders};
use crate::workspace::Done;

pub fn run(flags: &GenerateFlags) -> anyhow::Result<u8> {
    flags.tour().run(&|member| match member {
        Some(member) => check(&flags.of_member(member)),
        None => check(flags),
    })
}

fn check(flags: &GenerateFlags) -> anyhow::Result<Done> {
    let selection = flags.subject.selection()?;
    let out = flags.out.clone().unwrap_or_else(|| output::default_out(&selection));
    let places = Places::for_selection(&selection, &out)?;
    let subject = testwright_harness::locate(&selection, &places)?;
    let folders = Folders::new(flags.out.as_deref(), &selection, &subject.root, &places.work);
    let path = output::suite_path(&folders);
    if !path.exists() {
        return Err(Usage(format!("there is no {}; `cargo testwright` writes one", path.display())).into());
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let scratch = places.work.join("scratch-check");
    let checked = testwright_engine::check::check(&subject, &places, &text, &scratch)?;
    let mut said = String::new();
    for (name, reason) in &checked.broken {
        let _ = writeln!(said, "{name}: {reason}");
    }
    let of_all = format!("{} tests of {}", checked.tests, path.display());
    let (exit, verdict) = match checked.broken.len() {
        0 => (exit::NO_BUGS, format!("all {of_all} hold")),
        broken => (exit::BUGS, format!("{broken} of {of_all} do not hold any more")),
    };
    let _ = match exit {
        exit::NO_BUGS => writeln!(said, "{verdict}"),
        _ => writeln!(said, "\n{verdict}: mend the crate, or let `cargo testwright` write them anew"),
    };
    output::print(&said);
    Ok(Done { exit, said: verdict })
}
