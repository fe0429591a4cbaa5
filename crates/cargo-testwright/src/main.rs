//! The cargo subcommand.
fn main() {}
