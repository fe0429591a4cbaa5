//! The head of the page: which crate, and how it went, at a glance.

use super::markup::{count, number, seconds, text};
use crate::report::Report;

pub fn verdict(report: &Report) -> String {
    let bugs = report.bugs();
    let (others, hints) = (report.undocumented(), report.hints());
    let suite = &report.regression;
    let mut out = format!(
        "<header>\n<h1>{} <span class=\"version\">{}</span></h1>\n",
        text(&report.krate.name),
        text(&report.krate.version)
    );
    if report.interrupted {
        out.push_str(
            "<p class=\"interrupted\"><strong>Interrupted.</strong> The search was cut short; what follows is what was found until then.</p>\n",
        );
    }
    out.push_str("<ul class=\"tiles\">\n");
    out.push_str(&tile(if bugs > 0 { "bad" } else { "good" }, bugs, "bug", ""));
    out.push_str(&tile(if others > 0 { "warn" } else { "good" }, others, "undocumented panic", ""));
    if hints > 0 {
        out.push_str(&tile("warn", hints, "hint", ""));
    }
    let assertions = format!("with {}", count(suite.assertions, "assertion"));
    out.push_str(&tile("", suite.tests, "regression test", &assertions));
    out.push_str(&format!(
        "<li><b>{}</b> exit code <small>{}</small></li>\n</ul>\n",
        report.exit,
        if report.interrupted { "interrupted" } else { "not interrupted" }
    ));
    let file = suite.file.as_ref().map(|file| format!("in <code>{}</code>", text(file)));
    let unstable = suite.dropped_unstable;
    let unstable = (unstable > 0).then(|| format!("{} left out as unstable", number(unstable)));
    let suite: Vec<String> = file.into_iter().chain(unstable).collect();
    if !suite.is_empty() {
        out.push_str(&format!("<p class=\"muted\">Regression tests: {}.</p>\n", suite.join("; ")));
    }
    out.push_str(&format!(
        "<p class=\"muted\">{} from {}; {} in all, of which {} building. {}, {}, seed <span class=\"num\">{}</span>.</p>\n</header>\n",
        count(report.api.operations, "operation"),
        count(report.api.items, "item"),
        seconds(report.elapsed_s),
        seconds(report.build_s),
        text(&report.tool),
        text(&report.compiler),
        report.seed
    ));
    out
}

fn tile(mood: &str, of: usize, what: &str, more: &str) -> String {
    let plural = if of == 1 { "" } else { "s" };
    format!("<li class=\"{mood}\"><b>{}</b> {what}{plural} <small>{more}</small></li>\n", number(of))
}
