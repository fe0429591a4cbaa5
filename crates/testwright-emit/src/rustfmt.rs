//! Runs the toolchain's `rustfmt` as a process, with text in and text out.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The source as `rustfmt` writes it; unchanged if there is none or it does not take the source, because
/// a test that is not pretty is still a test.
pub fn tidy(source: &str) -> String {
    formatted(source).unwrap_or_else(|| source.to_owned())
}

fn formatted(source: &str) -> Option<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2021", "--emit", "stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // rustfmt reads all of its input before it writes, so one after the other cannot block.
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(source.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let complete = output.status.success() && matches!(written, Some(Ok(())));
    let text = String::from_utf8(output.stdout).ok()?;
    if complete && !text.trim().is_empty() { Some(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn what_is_no_rust_stays_as_it_is() {
        assert_eq!(tidy("fn (("), "fn ((");
    }

    #[test]
    fn rust_is_formatted() {
        assert_eq!(tidy("fn  main( ){ }"), "fn main() {}\n");
    }
}
