//! Prints sequences as Rust tests, and campaigns as reports.
//!
//! Receives a [`Sequence`](testwright_model::Sequence) over [`Operations`](testwright_model::operation::Operations) and hands back
//! plain safe Rust that uses std and the crate under test only. What is a finding is decided elsewhere.

mod arguments;
mod body;
mod contract;
pub mod exchange;
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

pub use body::{Printed, body, body_placing};
pub use contract::Broken;
pub use literal::Placing;
pub use page::page;
pub use paths::Imports;
pub use pin::{Pin, Strength, shows_insides, strength};
pub use regression::{ALLOWED, RegressionTest, SuiteText, regression_file, regression_single};
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

/// Another, for tests of leaks.
const COUNTED: &str = "\
/// How many values are alive.
static ALIVE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

/// A value on the heap that is counted as long as it lives.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Tracked(Box<i32>);

impl Tracked {
    fn new(number: i32) -> Self {
        ALIVE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Tracked(Box::new(number))
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        Tracked::new(*self.0)
    }
}

impl Default for Tracked {
    fn default() -> Self {
        Tracked::new(0)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
";

/// What the test of a leak says when it fails.
pub const LEAKED: &str = "a value is never dropped";

/// The stand-in, without its constructor where no test calls it.
fn tracked(is_constructed: bool) -> &'static str {
    match TRACKED.find("\nimpl") {
        Some(end) if !is_constructed => &TRACKED[..end],
        _ => TRACKED,
    }
}

/// A complete test file with one test; if it `counts`, it fails when a tracked value is alive at its end.
pub fn test_file(
    header: &str,
    name: &str,
    attributes: &[String],
    printed: &Printed,
    imports: &Imports,
    counts: bool,
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
        text.push_str(if counts { COUNTED } else { tracked(body.contains("Tracked::new(")) });
        text.push('\n');
    }
    text.push_str("#[test]\n");
    for attribute in attributes {
        text.push_str(&format!("{attribute}\n"));
    }
    text.push_str(&format!("fn {name}() {{\n"));
    let indent = if counts { "        " } else { "    " };
    if counts {
        text.push_str("    {\n");
    }
    for line in body.lines() {
        text.push_str(&format!("{indent}{line}\n"));
    }
    if counts {
        text.push_str(&format!(
            "    }}\n    assert_eq!(ALIVE.load(std::sync::atomic::Ordering::Relaxed), 0, {LEAKED:?});\n"
        ));
    }
    text.push_str("}\n");
    text
}
