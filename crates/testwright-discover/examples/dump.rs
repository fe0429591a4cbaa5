//! Prints the Api of a rustdoc JSON file: `cargo run -p testwright-discover --example dump -- FILE [--hidden] [--counts]`.

use std::io::Write as _;
use std::process::ExitCode;

use testwright_discover::{Options, read};

#[path = "../tests/listing/mod.rs"]
mod listing;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_set = |flag: &str| args.iter().any(|arg| arg == flag);
    let Some(file) = args.first() else {
        eprintln!("usage: dump FILE [--hidden] [--counts]");
        return ExitCode::from(2);
    };
    let options =
        Options { version: String::new(), include_hidden: is_set("--hidden"), ..Options::default() };
    let json = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let lines = match json.and_then(|json| read(&json, &options).map_err(|error| error.to_string())) {
        Ok(api) if is_set("--counts") => vec![listing::counts(&api)],
        Ok(api) => listing::lines(&api),
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    // A reader that stops early (`| head`) is no failure.
    let _ = writeln!(std::io::stdout(), "{}", lines.join("\n"));
    ExitCode::SUCCESS
}
