//! `cargo testwright`: flags in, exit code out. What happens in between is `testwright-engine`'s.

mod check;
mod configuration;
mod diff;
mod exit;
mod flags;
mod generate;
mod list;
mod output;
mod package;
mod replay;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::flags::{Cli, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Cargo starts this same program as compiler wrapper.
    if let Some(code) = testwright_harness::act_as_rustc_wrapper() {
        return code;
    }
    let cli = match Cli::try_parse_from(flags::without_cargo_word(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::NO_BUGS });
        }
    };
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        eprintln!(
            "error: testwright runs on Linux on x86-64 with glibc only: elsewhere it cannot confine the code under test"
        );
        return ExitCode::from(exit::ENVIRONMENT);
    }
    let command = cli.command();
    let result = exit::caught(move || match command {
        Command::Generate(flags) if flags.check => check::run(&flags),
        Command::Generate(flags) => generate::run(&flags),
        Command::List(flags) => list::run(&flags),
        Command::Replay(flags) => replay::run(&flags),
        Command::Diff(flags) => diff::run(&flags),
    });
    ExitCode::from(result.unwrap_or_else(|error| exit::report(&error)))
}
