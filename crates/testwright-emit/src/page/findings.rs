//! The findings, bugs first: what failed, where, how that was confirmed, and the test to copy.

use super::colour;
use super::markup::{number, seconds, text};
use crate::report::{Confirm, Finding, Report};

/// From this many on, an index comes first.
const INDEX_FROM: usize = 4;
/// Findings behind so many others show their details when they are asked to.
const OPEN: usize = 10;

pub fn findings(report: &Report) -> String {
    let mut out =
        "<section id=\"findings\" aria-labelledby=\"findings-h\">\n<h2 id=\"findings-h\">Findings</h2>\n"
            .to_owned();
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    // Stable: within a tier, the report's own order.
    findings.sort_by_key(|finding| !finding.is_bug());
    if findings.is_empty() {
        out.push_str("<p class=\"muted\">None.</p>\n");
    }
    if findings.len() >= INDEX_FROM {
        out.push_str(&index(&findings));
    }
    for (at, finding) in findings.iter().enumerate() {
        out.push_str(&article(at + 1, finding));
    }
    out + "</section>\n"
}

/// Anchors count: two findings may share an id if they differ only in the line.
fn index(findings: &[&Finding]) -> String {
    let mut out = "<ol class=\"index\">\n".to_owned();
    for (at, finding) in findings.iter().enumerate() {
        out.push_str(&format!(
            "<li><a href=\"#finding-{}\"><code>{}</code></a> {} <span class=\"muted\">{}</span></li>\n",
            at + 1,
            text(&finding.operation),
            badge(finding),
            text(finding.first_line())
        ));
    }
    out + "</ol>\n"
}

fn badge(finding: &Finding) -> String {
    let mood = if finding.is_bug() { "bad" } else { "warn" };
    format!(
        "<span class=\"badge {mood}\">{}</span> <span class=\"badge\">{}</span>",
        text(&finding.label().replace('-', " ")),
        text(&finding.class)
    )
}

fn article(at: usize, finding: &Finding) -> String {
    let mood = if finding.is_bug() { "bad" } else { "warn" };
    let mut out = format!(
        "<article class=\"finding {mood}\" id=\"finding-{at}\" aria-labelledby=\"finding-{at}-h\">\n\
         <div class=\"top\"><h3 id=\"finding-{at}-h\"><code>{}</code></h3>\n\
         <p>{} <code class=\"muted\">{}</code></p></div>\n\
         <p class=\"message\">{}</p>\n<details{}><summary>Test and circumstances</summary>\n",
        text(&finding.operation),
        badge(finding),
        text(&finding.id),
        text(finding.first_line()),
        if at > OPEN { "" } else { " open" }
    );
    if finding.message.lines().nth(1).is_some() {
        out.push_str(&format!(
            "<details><summary>Whole message</summary><pre tabindex=\"0\">{}</pre></details>\n",
            text(&finding.message)
        ));
    }
    let place = finding
        .location
        .as_ref()
        .map_or("not known".to_owned(), |place| format!("<code>{}:{}</code>", text(&place.file), place.line));
    out.push_str(&format!(
        "<dl class=\"facts\">\n<div><dt>Place</dt><dd>{place}</dd></div>\n<div><dt>Calls</dt><dd>{}</dd></div>\n\
         <div><dt>Confirmed with</dt><dd>{}</dd></div>\n\
         <div><dt>First seen</dt><dd>after {}, sequence {}, strategy {}</dd></div>\n</dl>\n",
        calls(finding),
        confirmed(&finding.confirm),
        seconds(finding.first_seen_s),
        number(finding.first_seen_execution),
        text(&finding.strategy)
    ));
    out.push_str(&snippet(finding));
    out.push_str(&format!(
        "<figure>\n<figcaption><span><code>{}</code> in <code>{}</code></span> <button type=\"button\" class=\"copy\" hidden>Copy</button></figcaption>\n\
         <pre tabindex=\"0\" aria-label=\"Test of finding {at}\"><code>{}</code></pre>\n</figure>\n</details>\n</article>\n",
        text(&finding.test.name),
        text(&finding.test.file),
        colour::rust(without_head(&finding.test.source))
    ));
    out
}

/// The crate's own lines, the one that is meant marked.
fn snippet(finding: &Finding) -> String {
    let (Some(place), false) = (&finding.location, finding.snippet.is_empty()) else { return String::new() };
    let mut out = format!(
        "<figure class=\"snippet\">\n<figcaption><span>In <code>{}</code></span></figcaption>\n<pre tabindex=\"0\"><code>",
        text(&place.file)
    );
    for line in &finding.snippet {
        let code = format!("<i>{:>5}</i> {}", line.line, colour::rust(&line.text));
        if line.line == place.line {
            out.push_str(&format!("<mark>{}</mark>\n", code.trim_end()));
        } else {
            out.push_str(&format!("{}\n", code.trim_end()));
        }
    }
    out + "</code></pre>\n</figure>\n"
}

fn calls(finding: &Finding) -> String {
    if finding.original_calls > finding.calls {
        format!("{}, minimised from {}", number(finding.calls), number(finding.original_calls))
    } else {
        number(finding.calls)
    }
}

fn confirmed(confirm: &Confirm) -> String {
    let is_on = |on: bool| if on { "on" } else { "off" };
    let sanitizer = match confirm.sanitizer.as_str() {
        "" | "none" => "no sanitizer".to_owned(),
        "address" => "AddressSanitizer".to_owned(),
        other => format!("sanitizer {}", text(other)),
    };
    format!(
        "overflow checks {}, debug assertions {}, opt-level {}, {sanitizer}",
        is_on(confirm.overflow_checks),
        is_on(confirm.debug_assertions),
        confirm.opt_level
    )
}

/// Without the `//!` lines, which compile only at the top of a file: what is copied can be pasted anywhere.
fn without_head(source: &str) -> &str {
    let mut rest = source;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.is_empty() && !line.starts_with("//!") {
            break;
        }
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_test_file_is_not_copied() {
        assert_eq!(without_head("//! a\n//! b\n\n#[test]\n//! c\n"), "#[test]\n//! c\n");
        assert_eq!(without_head("fn a() {}"), "fn a() {}");
        assert_eq!(without_head(""), "");
    }
}
