//! Runs test programs in a sandbox and tells which of the two suites, the author's and ours, notice a mutant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use testwright_execute::launcher::{ExitKind, Launch, TestRun};

use super::mutant::Mutant;
use super::package::{Built, PLAIN, Package, Program};

/// Processor time that any test program may take, and how many times what it took unchanged.
const LEAST: Duration = Duration::from_secs(5);
const PATIENCE: u32 = 10;
/// Names of failed tests that are kept for the reader.
const NAMES: usize = 3;

/// How a suite took a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// The first tests that failed.
    Failed(Vec<String>),
    /// It never ended; that counts as killed.
    Hung,
    /// The process died before it could tell, or before it told a failure.
    Died,
}

impl Verdict {
    pub fn kills(&self) -> bool {
        *self != Verdict::Passed
    }
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    DoesNotCompile,
    Tested { own: Verdict, ours: Verdict },
}

/// A copy of the package in which mutants are put one after the other.
#[derive(Debug)]
pub struct Stream {
    package: Package,
    scratch: PathBuf,
    /// Time that the slowest program may take.
    limit: Duration,
}

impl Stream {
    /// Builds the package as it is; everything must pass before a failure can mean something.
    pub fn open(package: Package, scratch: PathBuf) -> anyhow::Result<Stream> {
        let mut stream = Stream { package, scratch, limit: Duration::from_secs(120) };
        let built = match stream.package.build(PLAIN)? {
            Ok(built) => built,
            Err(errors) => bail!("its tests do not build:\n{errors}"),
        };
        let mut slowest = Duration::ZERO;
        for program in &built.programs {
            let run = run(program, &[], &stream.scratch, stream.limit, &[])?;
            if verdict(&run).kills() {
                bail!("{} does not pass: {:?}\n{}", program.name, run.exit, run.stdout);
            }
            slowest = slowest.max(run.cpu);
        }
        stream.limit = LEAST.max(slowest * PATIENCE);
        Ok(stream)
    }

    pub fn try_mutant(&self, mutant: &Mutant) -> anyhow::Result<Outcome> {
        let file = self.package.root.join(&mutant.file);
        let source = std::fs::read_to_string(&file)?;
        let Some(changed) = mutant.applied(&source) else {
            bail!("{} is not about the source that lies there", mutant.name);
        };
        std::fs::write(&file, changed)?;
        let outcome = self.test();
        std::fs::write(&file, source)?;
        outcome
    }

    fn test(&self) -> anyhow::Result<Outcome> {
        let Ok(Built { programs, .. }) = self.package.build(PLAIN)? else {
            return Ok(Outcome::DoesNotCompile);
        };
        let suite = |ours: bool| -> anyhow::Result<Verdict> {
            for program in programs.iter().filter(|program| program.is_ours() == ours) {
                let verdict = verdict(&run(program, &[], &self.scratch, self.limit, &[])?);
                if verdict.kills() {
                    return Ok(verdict);
                }
            }
            Ok(Verdict::Passed)
        };
        Ok(Outcome::Tested { own: suite(false)?, ours: suite(true)? })
    }
}

/// Runs a test program; it may write to `scratch` alone.
pub fn run(
    program: &Program,
    arguments: &[&str],
    scratch: &Path,
    limit: Duration,
    environment: &[(&str, &str)],
) -> anyhow::Result<TestRun> {
    let mut launch = Launch::new(&program.path, scratch, limit);
    launch.arguments = arguments.iter().map(Into::into).collect();
    launch.environment =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Ok(launch.run()?)
}

pub fn verdict(run: &TestRun) -> Verdict {
    match run.exit {
        ExitKind::Code(0) => Verdict::Passed,
        ExitKind::TimedOut => Verdict::Hung,
        ExitKind::Code(_) | ExitKind::Signal(_) => match failed(&run.stdout) {
            names if names.is_empty() => Verdict::Died,
            names => Verdict::Failed(names),
        },
    }
}

/// The first tests that the output of a test program says failed.
fn failed(output: &str) -> Vec<String> {
    let names = output.lines().filter_map(|line| {
        let (name, end) = line.strip_prefix("test ")?.split_once(" ... ")?;
        end.ends_with("FAILED").then(|| name.trim_end_matches(" - should panic").to_owned())
    });
    names.take(NAMES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 3 tests\ntest a::one ... ok\ntest a::two - should panic ... FAILED\ntest three ... FAILED\n\nfailures:\n";

    fn ended(exit: ExitKind, stdout: &str) -> Verdict {
        verdict(&TestRun {
            exit,
            stdout: stdout.to_owned(),
            stderr: String::new(),
            cut: false,
            cpu: Duration::ZERO,
            wall: Duration::ZERO,
            guarded: true,
        })
    }

    #[test]
    fn failed_tests_have_names() {
        assert_eq!(
            ended(ExitKind::Code(101), OUTPUT),
            Verdict::Failed(vec!["a::two".to_owned(), "three".to_owned()])
        );
        assert_eq!(ended(ExitKind::Code(0), "test a ... ok\n"), Verdict::Passed);
    }

    #[test]
    fn hangs_and_deaths_kill_too() {
        assert_eq!(ended(ExitKind::TimedOut, OUTPUT), Verdict::Hung);
        assert_eq!(ended(ExitKind::Signal(6), "test a ... "), Verdict::Died);
        assert!(Verdict::Hung.kills() && Verdict::Died.kills() && !Verdict::Passed.kills());
    }
}
