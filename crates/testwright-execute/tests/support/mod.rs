//! Builds the workers that the tests run, and batches for them.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use testwright_execute::{Batch, Worker, WorkerPlan};

/// The scripted worker, `examples/puppet.rs`.
pub fn puppet() -> &'static Path {
    static PUPPET: OnceLock<PathBuf> = OnceLock::new();
    PUPPET.get_or_init(|| example("testwright-execute", "puppet"))
}

/// Builds an example of the workspace into the folder that this test itself was built into.
pub fn example(package: &str, name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("tests run from a file");
    let profile = this.ancestors().nth(2).expect("PROFILE/deps/test");
    let target = profile.parent().expect("target/PROFILE");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--example", name]);
    cargo.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success(), "{package} has no example {name} that builds");
    profile.join("examples").join(name)
}

/// A worker with its scratch folder, which goes with it.
pub struct Stage {
    pub worker: Worker,
    pub scratch: TempDir,
}

pub fn plan(scratch: &TempDir) -> WorkerPlan {
    let mut plan = WorkerPlan::new(puppet(), scratch.path());
    plan.limits.blocked = std::time::Duration::from_millis(400);
    plan.limits.call = std::time::Duration::from_millis(200);
    plan.limits.sequence = std::time::Duration::from_millis(300);
    plan
}

pub fn stage() -> Stage {
    let scratch = tempfile::tempdir().expect("there is a temporary folder");
    Stage { worker: Worker::start(plan(&scratch)).expect("the puppet starts"), scratch }
}

/// One sequence for each list of operations.
pub fn batch(sequences: &[&[u16]]) -> Batch {
    let mut batch = Batch::new(0);
    for operations in sequences {
        let mut sequence = batch.sequence();
        for &operation in *operations {
            sequence.call(operation);
        }
        sequence.finish();
    }
    batch
}
