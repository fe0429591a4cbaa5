//! Figures as bars and short lists: what was executed, and how the search went.

use super::markup::{bar, number, percent, seconds};
use crate::report::{Coverage, Report};

pub fn coverage(coverage: &Coverage) -> String {
    let edges = (coverage.edges_total > 0).then_some((coverage.edges_hit, coverage.edges_total));
    let rows = [
        ("Functions", coverage.functions_hit.zip(coverage.functions_total)),
        ("Lines", coverage.lines_hit.zip(coverage.lines_total)),
        ("Edges", edges),
    ];
    let mut out = "<section id=\"coverage\" aria-labelledby=\"coverage-h\">\n<h2 id=\"coverage-h\">Coverage</h2>\n<dl class=\"bars\">\n".to_owned();
    for (what, measured) in rows {
        let value = match measured {
            Some((hit, total)) => format!(
                "{}<span class=\"num\">{} of {}</span> <span class=\"num\">{}</span>",
                bar(hit as f64, total as f64),
                number(hit),
                number(total),
                percent(hit, total)
            ),
            None => "<span class=\"muted\">not measured</span>".to_owned(),
        };
        out.push_str(&format!("<div><dt>{what}</dt><dd>{value}</dd></div>\n"));
    }
    out + "</dl>\n</section>\n"
}

pub fn search(report: &Report) -> String {
    let (runs, search) = (&report.executions, &report.search);
    let figures = [
        ("Sequences", number(runs.sequences)),
        ("Calls", number(runs.calls)),
        ("Calls a second", number(format!("{:.0}", runs.calls_per_s.max(0.0)))),
        ("Worker restarts", number(runs.restarts)),
        ("Distinct values", number(search.distinct_values)),
        ("Values in the pool", number(search.pool)),
    ];
    let mut out = "<section id=\"search\" aria-labelledby=\"search-h\">\n<h2 id=\"search-h\">Search</h2>\n<dl class=\"figures\">\n".to_owned();
    for (what, figure) in figures {
        out.push_str(&format!("<div><dt>{what}</dt><dd class=\"num\">{figure}</dd></div>\n"));
    }
    out.push_str("</dl>\n");
    if search.seconds > 0.0 {
        out.push_str(&format!(
            "<dl class=\"bars\"><div><dt>New until</dt><dd>{}<span class=\"num\">{} of {}</span> <span class=\"muted\">sequence {}</span></dd></div></dl>\n",
            bar(search.last_new_s, search.seconds),
            seconds(search.last_new_s),
            seconds(search.seconds),
            number(search.last_new_execution)
        ));
    }
    out + "</section>\n"
}
