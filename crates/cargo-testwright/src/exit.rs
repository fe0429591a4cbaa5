//! Exit codes, a contract with scripts, and errors as users see them.

use testwright_engine::EngineError;
use testwright_harness::HarnessError;

pub const NO_BUGS: u8 = 0;
pub const USAGE: u8 = 2;
pub const ENVIRONMENT: u8 = 6;
pub const INTERNAL: u8 = 70;
pub const INTERRUPTED: u8 = 130;

pub const OUR_FAULT: &str = "this is a fault of testwright itself; please report it with the command you ran";

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
