//! `replay`: one finding of an earlier run again, under the build that shows it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use testwright_emit::report::Report;
use testwright_engine::workbench;
use testwright_harness::{Confirm, Places, TestBench, TestSource};
use testwright_model::law;

use crate::exit::{Damaged, Usage};
use crate::flags::ReplayFlags;
use crate::output::{self, Folders};

pub fn run(flags: &ReplayFlags) -> anyhow::Result<u8> {
    let selection = flags.subject.selection()?;
    let out = flags.out.clone().unwrap_or_else(|| output::default_out(&selection));
    let places = Places::for_selection(&selection, &out)?;
    let (mut subject, api, _) = workbench::discover(&selection, &places, &|_| {})?;
    let folders = Folders::new(flags.out.as_deref(), &selection, &subject.root, &places.work);
    let (path, report) = find(flags, &folders, &subject.package)?;
    if report.krate.name != subject.package {
        let words = format!(
            "{} is about {}; run `cargo testwright generate` for {} first",
            path.display(),
            report.krate.name,
            subject.package
        );
        return Err(Usage(words).into());
    }
    let Some(finding) = report.findings.iter().find(|finding| finding.id == flags.id) else {
        let known: Vec<&str> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
        let known = if known.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        return Err(Usage(format!("no finding `{}` in {}; {known}", flags.id, path.display())).into());
    };
    output::print(&format!("{}\n", finding.test.source));
    let beside = law::of_class(&finding.class).and_then(|law| law.beside);
    if let Some(name) = beside {
        testwright_harness::add_beside(&mut subject, name, &places)?;
    }
    let foreign: Vec<String> = api
        .foreign
        .keys()
        .filter(|name| finding.test.source.contains(&format!("{name}::")))
        .cloned()
        .chain(beside.map(str::to_owned))
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
            let run =
                testwright_engine::confirm::run_test(&executable, Duration::from_secs(10), scratch.path())?;
            let passes = run.exit == testwright_engine::confirm::PASSED;
            let verdict = if passes { "the test passes now" } else { "the test still fails" };
            output::print(&format!("{}{}\n{verdict}\n", run.stdout, run.stderr));
            Ok(u8::from(!passes))
        }
        Some(Err(words)) => Err(Usage(format!("the test no longer compiles:\n{words}")).into()),
        None => Err(Usage("nothing was compiled".to_owned()).into()),
    }
}

/// The report that the finding is in: one that `--workspace` left for the package, or the one that was asked for.
fn find(flags: &ReplayFlags, folders: &Folders, package: &str) -> anyhow::Result<(PathBuf, Report)> {
    let path = folders.report.join("report.json");
    let among = output::of_member(&folders.report, package).join("report.json");
    if !folders.whole_package && among.exists() {
        let report = read(&among)?;
        let of_another = || !read(&path).is_ok_and(|report| report.krate.name == package);
        if report.findings.iter().any(|finding| finding.id == flags.id) || of_another() {
            return Ok((among, report));
        }
    }
    let report = read(&path)?;
    Ok((path, report))
}

fn read(path: &Path) -> anyhow::Result<Report> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let words = format!("there is no {}; run `cargo testwright generate` first", path.display());
            return Err(Usage(words).into());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    serde_json::from_str(&text).map_err(|error| {
        let words =
            format!("{} is damaged ({error}); `cargo testwright generate` writes it anew", path.display());
        Damaged(words).into()
    })
}
