//! The generated workspace on disk: manifests, the thin worker, and the cargo commands that are run in it.

use std::path::PathBuf;

use crate::cargo::{Cargo, Outcome};
use crate::diagnosis::{Diagnosis, diagnose};
use crate::embedded;
use crate::error::HarnessError;
use crate::files;
use crate::generated::{Extent, Generated, Piece};
use crate::manifest;
use crate::places::Places;
use crate::source::HarnessSource;
use crate::subject::Subject;
use crate::variant::{Coverage, Variant};
use crate::wrapper::Plan;

const WORKER: &str = "\
#![allow(warnings)]
testwright_runtime::global_allocator!();
testwright_runtime::interpose!();
fn main() {
    testwright_runtime::worker_main(testwright_wrappers::OPERATIONS, testwright_wrappers::TYPES)
}
";

/// The runtime is always compiled for speed and never checks itself.
const RUNTIME_PROFILE: &str = "
[profile.dev.package.testwright-runtime]
opt-level = 3
debug-assertions = false
overflow-checks = false

[profile.dev.package.testwright-wire]
opt-level = 3
debug-assertions = false
overflow-checks = false
";

/// A cargo command over the generated packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Types and borrows of wrappers and checks.
    Check,
    /// Wrappers alone, machine code included.
    Wrappers(Variant),
    /// The whole worker.
    Worker(Variant),
}

#[derive(Debug)]
pub(crate) struct Workspace {
    pub root: PathBuf,
    pub subject: Subject,
    pub source: HarnessSource,
    pub places: Places,
}

impl Workspace {
    /// Writes everything that does not depend on what is pruned.
    pub fn write(&self) -> Result<(), HarnessError> {
        let runtime = embedded::unpack(&self.places.work)?;
        let runtime = manifest::quote(manifest::text(&runtime.join("testwright-runtime"))?);
        let runtime = format!("testwright-runtime = {{ path = {runtime} }}\n");
        let on_subject = manifest::dependencies(&self.subject, &self.source.foreign)?;
        let root =
            manifest::workspace(&["wrappers", "checks", "worker"], &self.subject.recipe) + RUNTIME_PROFILE;
        let wrappers = manifest::package("testwright-wrappers", "2021") + &on_subject + &runtime;
        let checks = manifest::package("testwright-checks", "2021") + &on_subject + &runtime;
        let worker = manifest::package("testwright-worker", "2021")
            + "\n[[bin]]\nname = \"testwright-worker\"\npath = \"src/main.rs\"\n\n[dependencies]\n"
            + "testwright-wrappers = { path = \"../wrappers\" }\n"
            + &runtime;
        for (name, text) in [
            ("Cargo.toml", root.as_str()),
            ("wrappers/Cargo.toml", &wrappers),
            ("checks/Cargo.toml", &checks),
            ("worker/Cargo.toml", &worker),
            ("worker/src/main.rs", WORKER),
        ] {
            files::write_if_changed(&self.root.join(name), text)?;
        }
        let lock = self.root.join("Cargo.lock");
        if !lock.exists() {
            files::write(&lock, self.subject.recipe.lock.as_bytes())?;
        }
        Ok(())
    }

    /// Writes the pieces that are left and runs the step over them.
    pub fn run(&self, step: Step, extent: &Extent) -> Result<(Outcome, Diagnosis<Piece>), HarnessError> {
        let generated = Generated::new(&self.source, extent);
        generated.write(&self.root)?;
        let outcome = self.cargo(step)?;
        let diagnosis = diagnose(
            &outcome,
            |file| file.starts_with(&self.root),
            |file, line| generated.piece_at(file, line, &self.root),
        );
        if !diagnosis.elsewhere.is_empty() {
            return Err(HarnessError::DoesNotBuild {
                package: self.subject.package.clone(),
                rendered: diagnosis.elsewhere.join("\n"),
            });
        }
        Ok((outcome, diagnosis))
    }

    fn cargo(&self, step: Step) -> Result<Outcome, HarnessError> {
        let packages: &[&str] = match step {
            Step::Check => &["--package", "testwright-wrappers", "--package", "testwright-checks"],
            Step::Wrappers(_) => &["--package", "testwright-wrappers"],
            Step::Worker(_) => &["--package", "testwright-worker"],
        };
        let (subcommand, variant) = match step {
            Step::Check => ("check", None),
            Step::Wrappers(variant) | Step::Worker(variant) => ("build", Some(variant)),
        };
        let plan = Plan {
            coverage: variant.map_or(Coverage::Off, |variant| variant.coverage),
            sanitizer: variant.is_some_and(|variant| variant.sanitizer),
            ..self.subject.plan()
        };
        Cargo::new(&self.places, subcommand, &self.subject.root)
            .manifest(&self.root.join("Cargo.toml"))
            .args(["--message-format=json", "--keep-going"])
            .args(packages)
            .args(variant.map(Variant::arguments).unwrap_or_default())
            .compiles(&self.subject.host, plan, &self.places.build())
            .run()
    }

    /// Removes what cargo keeps of the generated packages: a worker is built once, and its copy is elsewhere then. It would be
    /// most of what a campaign leaves on the disk.
    pub fn sweep(&self) {
        let deps = self.places.build().join(&self.subject.host).join("debug/deps");
        files::remove_starting(&deps, &["testwright_worker-", "libtestwright_wrappers-"]);
    }

    /// The folder of a harness with this key.
    pub fn folder(subject: &Subject, places: &Places, key: &str) -> PathBuf {
        places.work.join(subject.folder()).join(format!("harness-{}", &key[..16]))
    }
}
