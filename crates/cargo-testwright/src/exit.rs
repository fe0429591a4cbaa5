//! Exit codes, a contract with scripts, and errors as users see them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use testwright_engine::EngineError;
use testwright_harness::HarnessError;

pub const NO_BUGS: u8 = 0;
pub const BUGS: u8 = 1;
pub const USAGE: u8 = 2;
pub const DOES_NOT_BUILD: u8 = 3;
pub const NOTHING_TESTABLE: u8 = 4;
pub const ENVIRONMENT: u8 = 6;
pub const INTERNAL: u8 = 70;
pub const INTERRUPTED: u8 = 130;

const OUR_FAULT: &str = "this is a fault of testwright itself; please report it with the command you ran";

/// A mistake in how the tool was called.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A file of ours that cannot be understood any more.
#[derive(Debug)]
pub struct Damaged(pub String);

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damaged {}

/// A panic of our own, caught; its words are on the terminal already.
#[derive(Debug)]
pub struct Panicked;

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("testwright panicked")
    }
}

impl std::error::Error for Panicked {}

/// Runs it; a panic is an error like others.
pub fn caught<T>(run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Panicked.into()))
}

/// One code for several packages. Those with nothing testable do not count beside others.
pub fn most_serious(codes: impl IntoIterator<Item = u8>) -> u8 {
    let seen: Vec<u8> = codes.into_iter().collect();
    [INTERRUPTED, INTERNAL, ENVIRONMENT, DOES_NOT_BUILD, USAGE, BUGS, NO_BUGS]
        .into_iter()
        .find(|code| seen.contains(code))
        .unwrap_or(NOTHING_TESTABLE)
}

/// Prints what went wrong and what to do; returns the exit code.
pub fn report(error: &anyhow::Error) -> u8 {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
    let (code, advice) = code_and_advice(error);
    if let Some(advice) = advice {
        eprintln!("  help: {advice}");
    }
    code
}

pub fn code(error: &anyhow::Error) -> u8 {
    code_and_advice(error).0
}

fn code_and_advice(error: &anyhow::Error) -> (u8, Option<String>) {
    if let Some(engine) = error.downcast_ref::<EngineError>() {
        (engine.exit_code(), engine.advice())
    } else if let Some(harness) = error.downcast_ref::<HarnessError>() {
        (harness.exit_code(), harness.advice())
    } else if error.is::<Usage>() {
        (USAGE, None)
    } else if error.is::<Damaged>() || error.chain().any(<dyn std::error::Error>::is::<std::io::Error>) {
        (ENVIRONMENT, None)
    } else {
        (INTERNAL, Some(OUR_FAULT.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{caught, code, most_serious};

    #[test]
    fn the_most_serious_code_counts() {
        for (codes, all) in [
            (&[0, 130, 70][..], 130),
            (&[6, 70, 3], 70),
            (&[3, 1, 6], 6),
            (&[1, 3, 2], 3),
            (&[1, 2, 4], 2),
            (&[0, 1, 4], 1),
            (&[4, 0], 0),
            (&[4, 4], 4),
            (&[], 4),
        ] {
            assert_eq!(most_serious(codes.iter().copied()), all, "{codes:?}");
        }
    }

    #[test]
    fn a_panic_is_a_fault_of_ours() {
        let error = caught::<()>(|| panic!("on purpose")).expect_err("it panicked");
        assert_eq!(code(&error), 70);
    }
}
