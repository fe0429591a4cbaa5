//! Prints sequences as Rust tests, and campaigns as reports.
//!
//! Receives a [`Sequence`](testwright_model::Sequence) over [`Operations`](testwright_model::operation::Operations) and hands back
//! plain safe Rust that uses std and the crate under test only. What is a finding is decided elsewhere.

mod body;
mod literal;
mod names;
mod paths;
pub mod report;

pub use body::{Printed, body};
pub use paths::Imports;

/// A small stand-in, in plain Rust, for the worker's own droppable type.
pub const TRACKED: &str = "\
/// A value on the heap that knows when it is dropped twice.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Tracked(Box<i32>);

impl Tracked {
    fn new(number: i32) -> Self {
        Tracked(Box::new(number))
    }
}
";

/// A complete test file with one test.
pub fn test_file(
    header: &str,
    name: &str,
    attributes: &[String],
    printed: &Printed,
    imports: &Imports,
) -> String {
    let mut text = String::new();
    for line in header.lines() {
        text.push_str(&format!("//! {line}\n").replace("//! \n", "//!\n"));
    }
    text.push('\n');
    let (uses, body) = imports.shorten(&printed.body, &printed.traits);
    for path in &uses {
        text.push_str(&format!("use {path};\n"));
    }
    if !uses.is_empty() {
        text.push('\n');
    }
    if printed.uses_tracked {
        text.push_str(TRACKED);
        text.push('\n');
    }
    text.push_str("#[test]\n");
    for attribute in attributes {
        text.push_str(&format!("{attribute}\n"));
    }
    text.push_str(&format!("fn {name}() {{\n"));
    for line in body.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str("}\n");
    text
}
