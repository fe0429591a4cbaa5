//! The compiler wrapper alone, for tests whose own binary cannot act as one.

use std::process::ExitCode;

fn main() -> ExitCode {
    testwright_harness::act_as_rustc_wrapper().unwrap_or_else(|| {
        eprintln!("testwright-wrapper is started by cargo, as its compiler wrapper");
        ExitCode::from(2)
    })
}
