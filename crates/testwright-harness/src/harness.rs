//! The pruned harness and its binaries, one a variant; what an earlier run has done is taken from the work folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cargo_metadata::Message;
use serde::{Deserialize, Serialize};

use crate::cargo::Outcome;
use crate::digest::Digest;
use crate::embedded;
use crate::error::HarnessError;
use crate::files;
use crate::places::Places;
use crate::prune::{self, Pruned, Selected};
use crate::source::HarnessSource;
use crate::subject::Subject;
use crate::variant::{Coverage, Variant};
use crate::workspace::{Step, Workspace};

#[derive(Debug)]
pub struct Harness {
    workspace: Workspace,
    pruned: Pruned,
    /// What only code generation rejected. Held while a build runs: builds share the generated files.
    late: Mutex<Late>,
}

/// A worker's binary.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    pub binary: PathBuf,
    /// How long this call took.
    pub seconds: f64,
    pub cached: bool,
    /// Operations that only this build or an earlier one found to be impossible, with the compiler's words.
    pub rejected_late: BTreeMap<usize, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Late {
    rejected: BTreeMap<usize, String>,
    rejected_types: BTreeMap<usize, String>,
}

/// What is kept beside the generated files.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    key: String,
    pruned: Pruned,
    late: Late,
}

/// Writes the harness and prunes it, or finds it done.
pub fn prepare(subject: &Subject, source: &HarnessSource, places: &Places) -> Result<Harness, HarnessError> {
    let key = key(subject, source);
    let root = Workspace::folder(subject, places, &key);
    files::make_folder(&root)?;
    let _guard = places.lock("lock")?;
    let workspace =
        Workspace { root, subject: subject.clone(), source: source.clone(), places: places.clone() };
    workspace.write()?;
    if let Some(stored) = load(&workspace.root, &key) {
        let pruned = Pruned { cached: true, ..stored.pruned };
        return Ok(Harness { workspace, pruned, late: Mutex::new(stored.late) });
    }
    let pruned = prune::prune(&workspace)?;
    let harness = Harness { workspace, pruned, late: Mutex::default() };
    harness.store(&Late::default())?;
    files::forget_old(&harness.workspace.root, "harness-");
    Ok(harness)
}

impl Harness {
    pub fn pruned(&self) -> &Pruned {
        &self.pruned
    }

    /// The folder with the generated sources.
    pub fn folder(&self) -> &Path {
        &self.workspace.root
    }

    /// Stops builds that run and refuses others until they are wanted again.
    pub fn want_builds(&self, wanted: bool) {
        self.workspace.places.unwanted.store(!wanted, Relaxed);
    }

    /// Compiles the worker in one variant; what code generation rejects is dropped, as in pruning.
    pub fn build(&self, variant: &Variant) -> Result<Built, HarnessError> {
        let start = Instant::now();
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let binary = self.workspace.root.join(format!("worker-{}", variant.name()));
        let built = |late: &Late, cached| Built {
            binary: binary.clone(),
            seconds: start.elapsed().as_secs_f64(),
            cached,
            rejected_late: late.rejected.clone(),
        };
        if binary.exists() {
            return Ok(built(&late, true));
        }
        let _guard = self.workspace.places.lock("lock")?;
        let mut selected = self.selected(&late);
        let (_, outcome) = prune::settle(&self.workspace, Step::Worker(*variant), &mut selected)?;
        let found = self.late_of(&selected);
        if found != *late {
            // Binaries of other variants still work: what they hold too much is not called.
            *late = found;
            self.store(&late)?;
        }
        let Some(executable) = executable(&outcome) else {
            return Err(HarnessError::internal(format!("cargo made no worker:\n{}", outcome.error_text())));
        };
        // First the library: where there is a binary, its library is there too.
        if let (Some(library), true) = (self.subject_library(&outcome), variant.coverage == Coverage::Lines) {
            files::copy(&library, &library_of(&binary))?;
        }
        files::copy(&executable, &binary)?;
        self.workspace.sweep();
        Ok(built(&late, false))
    }

    /// The subject's library (`.rlib`) that a worker's binary was linked from, if lines are counted in it. It holds the
    /// coverage maps of those functions, too, that the linker left out.
    pub fn library(&self, binary: &Path) -> Option<PathBuf> {
        Some(library_of(binary)).filter(|library| library.exists())
    }

    /// The subject's library among cargo's artifacts, found by its folder: two versions may share a name.
    fn subject_library(&self, outcome: &Outcome) -> Option<PathBuf> {
        outcome.messages().find_map(|message| match message {
            Message::CompilerArtifact(artifact)
                if artifact
                    .manifest_path
                    .parent()
                    .is_some_and(|folder| folder == self.workspace.subject.root) =>
            {
                artifact.filenames.iter().find(|file| file.extension() == Some("rlib")).map(Into::into)
            }
            _ => None,
        })
    }

    fn selected(&self, late: &Late) -> Selected {
        let join = |early: &BTreeMap<usize, String>, late: &BTreeMap<usize, String>| {
            early.iter().chain(late).map(|(index, words)| (*index, words.clone())).collect::<BTreeMap<_, _>>()
        };
        let rejected = join(&self.pruned.rejected, &late.rejected);
        let types = join(&self.pruned.rejected_types, &late.rejected_types);
        Selected::of(&self.workspace.source, &rejected, &types)
    }

    fn late_of(&self, selected: &Selected) -> Late {
        let apart = |all: &BTreeMap<usize, String>, early: &BTreeMap<usize, String>| {
            all.iter()
                .filter(|(index, _)| !early.contains_key(index))
                .map(|(index, words)| (*index, words.clone()))
                .collect()
        };
        Late {
            rejected: apart(&selected.rejected, &self.pruned.rejected),
            rejected_types: apart(&selected.rejected_types, &self.pruned.rejected_types),
        }
    }

    fn store(&self, late: &Late) -> Result<(), HarnessError> {
        let stored = Stored {
            key: key(&self.workspace.subject, &self.workspace.source),
            pruned: self.pruned.clone(),
            late: late.clone(),
        };
        let text =
            serde_json::to_string(&stored).map_err(|error| HarnessError::internal(error.to_string()))?;
        files::write(&self.workspace.root.join("pruned.json"), text.as_bytes())
    }
}

fn load(root: &Path, key: &str) -> Option<Stored> {
    let stored: Stored = serde_json::from_str(&files::read(&root.join("pruned.json")).ok()?).ok()?;
    (stored.key == key).then_some(stored)
}

fn key(subject: &Subject, source: &HarnessSource) -> String {
    Digest::new()
        .text(env!("CARGO_PKG_VERSION"))
        .text(&embedded::digest())
        .text(&subject.digest)
        .text(&source.digest())
        .finish()
}

/// Where the library of a binary is kept.
fn library_of(binary: &Path) -> PathBuf {
    binary.with_extension("rlib")
}

/// The binary among cargo's artifacts.
fn executable(outcome: &Outcome) -> Option<PathBuf> {
    outcome.messages().find_map(|message| match message {
        Message::CompilerArtifact(artifact) if artifact.target.name == "testwright-worker" => {
            artifact.executable.map(Into::into)
        }
        _ => None,
    })
}
