//! Prints sequences as Rust tests, and campaigns as reports.
//!
//! Receives a [`Sequence`](testwright_model::Sequence) over [`Operations`](testwright_model::operation::Operations) and hands back
//! plain safe Rust that uses std and the crate under test only. What is a finding is decided elsewhere.

mod arguments;
mod body;
mod literal;
mod names;
mod page;
mod paths;
mod pin;
mod regression;
pub mod report;
mod rustfmt;
mod title;
mod value;
mod words;

pub use body::{Printed, body};
pub use page::page;
pub use paths::Imports;
pub use pin::Pin;
pub use regression::{RegressionTest, SuiteText, regression_file, regression_single};
pub use rustfmt::tidy;
pub use title::finding_name;

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

/// The stand-in, without its constructor where no test calls it.
fn tracked(is_constructed: bool) -> &'static str {
    match TRACKED.find("\nimpl") {
        Some(end) if !is_constructed => &TRACKED[..end],
        _ => TRACKED,
    }
}

/// A complete test file with one test.
pub fn test_file(
    header: &str,
    name: &str,
    attributes: &[String],
    printed: &Printed,
    imports: &Imports,
) -> String {
    let mut text = regression::header_text(header);
    let (uses, body) = imports.shorten(&printed.body, &printed.traits);
    for path in &uses {
        text.push_str(&format!("use {path};\n"));
    }
    if !uses.is_empty() {
        text.push('\n');
    }
    if printed.uses_tracked {
        text.push_str(tracked(body.contains("Tracked::new(")));
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
