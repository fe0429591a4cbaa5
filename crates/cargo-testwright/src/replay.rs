//! `replay`: one finding of an earlier run again, under the build that shows it.

use std::time::Duration;

use anyhow::Context;
use testwright_emit::report::Report;
use testwright_engine::workbench;
use testwright_harness::{Confirm, Places, TestBench, TestSource};

use crate::exit::Usage;
use crate::flags::ReplayFlags;
use crate::output::{self, Folders};

pub fn run(flags: ReplayFlags) -> anyhow::Result<u8> {
    let selection = flags.subject.selection()?;
    let out = flags.out.clone().unwrap_or_else(|| output::default_out(&selection));
    let places = Places::for_selection(&selection, &out)?;
    let (subject, api, _) = workbench::discover(&selection, &places, &|_| {})?;
    let folders = Folders::new(flags.out.as_deref(), &selection, &subject.root, &places.work);
    let path = folders.report.join("report.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; run `cargo testwright generate` first", path.display()))?;
    let report: Report = serde_json::from_str(&text).with_context(|| {
        format!("{} is damaged; run `cargo testwright generate` to write it anew", path.display())
    })?;
    let Some(finding) = report.findings.iter().find(|finding| finding.id == flags.id) else {
        let known: Vec<&str> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
        return Err(Usage(format!("no finding `{}` in {}; there are: {}", flags.id, path.display(), known.join(", "))).into());
    };
    println!("{}", finding.test.source);
    let foreign: Vec<String> = api
        .foreign
        .keys()
        .filter(|name| finding.test.source.contains(&format!("{name}::")))
        .cloned()
        .collect();
    let bench = TestBench::open(&subject, &foreign, "2021", &places)?;
    let confirm = Confirm {
        overflow_checks: finding.confirm.overflow_checks,
        debug_assertions: finding.confirm.debug_assertions,
        opt_level: finding.confirm.opt_level,
        sanitizer: finding.confirm.sanitizer == "address",
    };
    let test = TestSource { name: finding.test.name.clone(), text: finding.test.source.clone() };
    let compiled = bench.compile(&[test], confirm)?;
    match compiled.into_iter().next() {
        Some(Ok(executable)) => {
            let scratch = tempfile::tempdir().context("a scratch folder")?;
            let run = testwright_engine::confirm::run_test(&executable, Duration::from_secs(10), scratch.path())?;
            println!("{}{}", run.stdout, run.stderr);
            let passes = run.exit == testwright_engine::confirm::PASSED;
            println!("{}", if passes { "the test passes now" } else { "the test still fails" });
            Ok(u8::from(!passes))
        }
        Some(Err(words)) => Err(Usage(format!("the test no longer compiles:\n{words}")).into()),
        None => Err(Usage("nothing was compiled".to_owned()).into()),
    }
}
