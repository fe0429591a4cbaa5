//! The runtime's own tests, and two fixtures, under `AddressSanitizer`; under Miri too where it is installed.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

pub fn run() -> anyhow::Result<bool> {
    let host = host()?;
    let mut good = true;
    let sanitizer = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")];
    good &= step(
        "runtime and wire under AddressSanitizer",
        cargo(Path::new("."), &sanitizer).args([
            "test",
            "--target",
            &host,
            "--target-dir",
            "target/sanitize",
            "-p",
            "testwright-runtime",
            "-p",
            "testwright-wire",
            "--lib",
        ]),
    );
    for fixture in ["borrows", "containers"] {
        let folder = Path::new("fixtures").join(fixture);
        let target = std::env::current_dir()?.join("target/sanitize");
        good &= step(
            &format!("{fixture} under AddressSanitizer"),
            cargo(&folder, &sanitizer)
                .args(["test", "--target", &host, "--lib", "--target-dir"])
                .arg(&target),
        );
        good &= campaign(fixture)?;
    }
    if Command::new("cargo").args(["miri", "--version"]).output().is_ok_and(|output| output.status.success())
    {
        good &= step(
            "wire under Miri",
            cargo(Path::new("."), &[]).args(["miri", "test", "-p", "testwright-wire"]),
        );
    } else {
        println!("Miri is not installed: left out");
    }
    Ok(good)
}

/// Random sequences of a fixture in a worker built with the sanitizer: the interpreter, the wrappers and the fixture together.
fn campaign(fixture: &str) -> anyhow::Result<bool> {
    use rand::SeedableRng;
    use testwright_engine::direct::Maker;
    use testwright_execute::{Batch, Ending};
    use testwright_harness::{Coverage, FeatureChoice, Places, Selection, Variant};

    let copy = std::env::current_dir()?.join("target/sanitize-fixtures").join(fixture);
    copy_folder(&Path::new("fixtures").join(fixture), &copy)?;
    let selection = Selection::Local {
        manifest_path: Some(copy.join("Cargo.toml")),
        package: None,
        features: FeatureChoice::default(),
    };
    let places = Places::at(Path::new("target/xtask").join(fixture))?;
    let mut bench = testwright_engine::prepare(&selection, places, 3000, &|_| {})?;
    let built = bench.build(&Variant { sanitizer: true, coverage: Coverage::Off, ..Variant::quick() })?;
    let scratch = bench.places.work.join("scratch");
    std::fs::create_dir_all(&scratch)?;
    let mut worker = bench.start_worker(built.binary, scratch, false)?;
    let maker = Maker::new(&bench.operations, &bench.usable);
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(0);
    let mut errors = 0;
    let mut sequences = 0;
    for _ in 0..20 {
        // Not all values at the end: those whose borrow has ended silently are dangling by then.
        let mut batch = Batch::new(testwright_wire::record::want::RESULTS);
        while batch.len() < 200 {
            if let Some(sequence) = maker.sequence(&mut rng, 10, None) {
                testwright_engine::encode::append(&bench.operations, &sequence, &mut worker, &mut batch);
            }
        }
        for execution in worker.run(&batch)?.executions {
            sequences += 1;
            if matches!(execution.ending, Ending::Memory | Ending::Fault { .. }) {
                errors += 1;
                println!(
                    "    {:?}: {}",
                    execution.ending,
                    execution.death().map_or("", |note| note.message.as_str())
                );
            }
        }
    }
    println!("{fixture} in a sanitized worker: {sequences} sequences, {errors} memory errors");
    Ok(errors == 0)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_name() == "target" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn cargo(folder: &Path, environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).envs(environment.iter().copied());
    command
}

fn step(name: &str, command: &mut Command) -> bool {
    println!("{name}");
    let good = command.status().is_ok_and(|status| status.success());
    println!("{name}: {}", if good { "clean" } else { "FAILED" });
    good
}

fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc -vV names no host")
}
