//! Files that the tool leaves behind, written whole or not at all, and where they go.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use testwright_emit::ALLOWED;
use testwright_emit::report::Report;
use testwright_harness::Selection;

/// The first line of every file of ours; nothing else is ever replaced.
pub const MARK: &str = "//! Found by cargo-testwright";

/// Below the package.
const FINDINGS: &str = "tests/testwright_findings.rs";
const SUITE: &str = "tests/testwright_regression.rs";
/// The first words of a regression suite of ours.
const SUITE_MARK: &str = "//! Written by cargo-testwright";

/// Where things go.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Holds `tests/`.
    pub package: PathBuf,
    /// Holds `report.json`, `report.html` and `campaign.sqlite`.
    pub report: PathBuf,
    /// The package is ours to write, manifest included.
    pub whole_package: bool,
}

impl Folders {
    /// `--out`, the default of a published crate, or the user's own package.
    pub fn new(out: Option<&Path>, selection: &Selection, root: &Path, work: &Path) -> Folders {
        match own_folder(out, selection) {
            Some(folder) => Folders { package: folder.clone(), report: folder, whole_package: true },
            None => Folders { package: root.to_owned(), report: work.to_owned(), whole_package: false },
        }
    }
}

/// The folder that is all ours, if there is one.
fn own_folder(out: Option<&Path>, selection: &Selection) -> Option<PathBuf> {
    match (out, selection) {
        (Some(out), _) => Some(out.to_owned()),
        (None, Selection::Published { .. }) => Some(default_out(selection)),
        (None, Selection::Local { .. }) => None,
    }
}

/// Where the campaign is kept: beside the report.
pub fn campaign_file(out: Option<&Path>, selection: &Selection, work: &Path) -> PathBuf {
    own_folder(out, selection).unwrap_or_else(|| work.to_owned()).join("campaign.sqlite")
}

/// Where the report of one member among several is kept.
pub fn of_member(work: &Path, name: &str) -> PathBuf {
    work.join("members").join(name)
}

/// `testwright-NAME-VERSION`.
pub fn default_out(selection: &Selection) -> PathBuf {
    match selection {
        Selection::Published { name, version, .. } => match version {
            Some(version) => PathBuf::from(format!("testwright-{name}-{version}")),
            None => PathBuf::from(format!("testwright-{name}")),
        },
        Selection::Local { .. } => PathBuf::from("."),
    }
}

/// Makes the folder and tries to write into it.
pub fn writable(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder).map(drop))
        .with_context(|| format!("cannot write to {}; --out DIR chooses another folder", folder.display()))
}

/// To standard output; a reader that has seen enough, as `head`, is no trouble.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().with_context(|| {
        format!(
            "cannot write {}; is there room, and may the folder be written? --out DIR chooses another",
            path.display()
        )
    })
}

/// The report for programs and for people.
#[derive(Debug, Clone)]
pub struct ReportFiles {
    pub json: PathBuf,
    pub page: PathBuf,
}

pub fn write_report(folders: &Folders, report: &Report) -> anyhow::Result<ReportFiles> {
    let files =
        ReportFiles { json: folders.report.join("report.json"), page: folders.report.join("report.html") };
    let text = serde_json::to_string_pretty(report).context("report")?;
    write(&files.json, &(text + "\n"))?;
    write(&files.page, &testwright_emit::page(report))?;
    write(&folders.report.join("report.sarif"), &testwright_emit::exchange::sarif(report))?;
    write(&folders.report.join("report.junit.xml"), &testwright_emit::exchange::junit(report))?;
    Ok(files)
}

/// The findings' tests as one file, each in a module of its own.
pub fn findings_file(report: &Report) -> String {
    let mut text = format!(
        "{MARK}: run with `cargo test --test testwright_findings -- --ignored`.\n//! {} {}, seed {}.\n\n{ALLOWED}",
        report.krate.name, report.krate.version, report.seed
    );
    for finding in &report.findings {
        let _ = writeln!(text, "\nmod {} {{", finding.test.name);
        for line in finding.test.source.lines() {
            if line.is_empty() {
                text.push('\n');
            } else {
                let _ = writeln!(text, "    {line}");
            }
        }
        text.push_str("}\n");
    }
    testwright_emit::tidy(&text)
}

/// Where the regression suite is.
pub fn suite_path(folders: &Folders) -> PathBuf {
    folders.package.join(SUITE)
}

/// Writes the regression suite; one of ours is replaced, any other file stays.
pub fn write_suite(folders: &Folders, report: &Report, suite: &str) -> anyhow::Result<Option<PathBuf>> {
    let path = suite_path(folders);
    let existing = std::fs::read(&path).ok();
    if existing.as_ref().is_some_and(|text| !text.starts_with(SUITE_MARK.as_bytes())) {
        eprintln!("warning: {} is not a file of testwright's and stays as it is", path.display());
        return Ok(None);
    }
    if suite.is_empty() {
        // A search that was cut short, or that found no test, is no reason to lose an earlier suite.
        if existing.is_some() && folders.whole_package && !report.interrupted {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        return Ok(None);
    }
    match write(&path, suite) {
        Ok(()) => Ok(Some(path)),
        Err(error) if folders.whole_package => Err(error),
        Err(error) => {
            eprintln!("warning: {error:#}");
            let path = folders.report.join(SUITE);
            write(&path, suite)?;
            Ok(Some(path))
        }
    }
}

/// Writes the findings' tests; a file that is not ours stays, with a word about it. Where the user's package cannot be
/// written, the tests go beside the report.
pub fn write_findings(folders: &Folders, report: &Report) -> anyhow::Result<Option<PathBuf>> {
    let path = folders.package.join(FINDINGS);
    let existing = std::fs::read(&path).ok();
    if existing.as_ref().is_some_and(|text| !text.starts_with(MARK.as_bytes())) {
        eprintln!("warning: {} is not a file of testwright's and stays as it is", path.display());
        return if folders.whole_package || report.findings.is_empty() {
            Ok(None)
        } else {
            write_beside_report(folders, report).map(Some)
        };
    }
    if report.findings.is_empty() {
        // A search that was cut short says nothing about what an earlier one found.
        if existing.is_some() && !report.interrupted {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        return Ok(None);
    }
    match write(&path, &findings_file(report)) {
        Ok(()) => Ok(Some(path)),
        Err(error) if folders.whole_package => Err(error),
        Err(error) => {
            eprintln!("warning: {error:#}");
            write_beside_report(folders, report).map(Some)
        }
    }
}

fn write_beside_report(folders: &Folders, report: &Report) -> anyhow::Result<PathBuf> {
    let path = folders.report.join(FINDINGS);
    write(&path, &findings_file(report))?;
    Ok(path)
}
