//! The compiler's messages, led back to the generated piece that each is about.

use std::collections::BTreeMap;
use std::path::Path;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use cargo_metadata::{CompilerMessage, Message};

use crate::cargo::Outcome;
use crate::error::HarnessError;

/// The errors of one cargo command. `P` is what they are led back to.
#[derive(Debug)]
pub(crate) struct Diagnosis<P> {
    /// The first error of each piece, in one line.
    pub blamed: BTreeMap<P, String>,
    /// Rendered errors in our packages that no piece explains.
    pub unexplained: Vec<String>,
    /// Rendered errors in packages that are not ours.
    pub elsewhere: Vec<String>,
}

/// Sorts the errors. `ours` tells whether a crate's root file is one of ours, `piece_at` what stands at a line of a file.
pub(crate) fn diagnose<P: Ord + Copy>(
    outcome: &Outcome,
    ours: impl Fn(&Path) -> bool,
    piece_at: impl Fn(&str, usize) -> Option<P>,
) -> Diagnosis<P> {
    let mut diagnosis = Diagnosis { blamed: BTreeMap::new(), unexplained: Vec::new(), elsewhere: Vec::new() };
    // An error after monomorphisation comes before a note that leads to the caller.
    let mut open: Option<(String, String)> = None;
    for message in outcome.messages() {
        let Message::CompilerMessage(CompilerMessage { target, message, .. }) = message else { continue };
        match message.level {
            DiagnosticLevel::Error | DiagnosticLevel::Ice => {
                if let Some((_, rendered)) = open.take() {
                    diagnosis.unexplained.push(rendered);
                }
                if is_summary(&message) {
                    continue;
                }
                let rendered = message.rendered.clone().unwrap_or_else(|| message.message.clone());
                if !ours(target.src_path.as_std_path()) {
                    diagnosis.elsewhere.push(rendered);
                } else if let Some(piece) = find(&message, &piece_at) {
                    diagnosis.blamed.entry(piece).or_insert_with(|| one_line(&message));
                } else {
                    open = Some((one_line(&message), rendered));
                }
            }
            _ if open.is_some() => {
                if let (Some(piece), Some((line, _))) = (find(&message, &piece_at), &open) {
                    diagnosis.blamed.entry(piece).or_insert_with(|| line.clone());
                    open = None;
                }
            }
            _ => {}
        }
    }
    diagnosis.unexplained.extend(open.map(|(_, rendered)| rendered));
    diagnosis
}

/// The error for a subject that does not compile, in the compiler's rendered words, else in cargo's.
pub(crate) fn does_not_build(package: &str, outcome: &Outcome) -> HarnessError {
    let Diagnosis { elsewhere, .. } = diagnose::<()>(outcome, |_| false, |_, _| None);
    let rendered = if elsewhere.is_empty() { outcome.error_text() } else { elsewhere.join("\n") };
    HarnessError::DoesNotBuild { package: package.to_owned(), rendered }
}

/// "aborting due to 3 previous errors".
fn is_summary(message: &Diagnostic) -> bool {
    message.spans.is_empty() && message.code.is_none() && message.message.starts_with("aborting due to")
}

/// The piece of the primary spans, else of any span, else of the notes, each with the macro calls around it.
fn find<P: Copy>(message: &Diagnostic, piece_at: &impl Fn(&str, usize) -> Option<P>) -> Option<P> {
    let spans = || message.spans.iter();
    spans()
        .filter(|span| span.is_primary)
        .find_map(|span| around(span, piece_at))
        .or_else(|| spans().find_map(|span| around(span, piece_at)))
        .or_else(|| message.children.iter().find_map(|child| find(child, piece_at)))
}

fn around<P>(span: &DiagnosticSpan, piece_at: &impl Fn(&str, usize) -> Option<P>) -> Option<P> {
    let mut span = span;
    loop {
        if let Some(piece) = piece_at(&span.file_name, span.line_start) {
            return Some(piece);
        }
        span = &span.expansion.as_ref()?.span;
    }
}

/// `E0277: the trait bound … is not satisfied (the trait … is not implemented for …)`.
fn one_line(message: &Diagnostic) -> String {
    let mut line = String::new();
    if let Some(code) = &message.code {
        line.push_str(&code.code);
        line.push_str(": ");
    }
    line.push_str(message.message.lines().next().unwrap_or_default());
    let label = message.spans.iter().find(|span| span.is_primary).and_then(|span| span.label.as_deref());
    if let Some(label) = label.and_then(|label| label.lines().next())
        && !label.is_empty()
        && !line.contains(label)
        && label.len() < 120
    {
        line.push_str(" (");
        line.push_str(label);
        line.push(')');
    }
    line
}
