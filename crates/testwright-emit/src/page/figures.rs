//! Figures as bars and short lists: what was executed, and how the search went.

use super::markup::{bar, count, number, path, percent, seconds, text};
use crate::report::{Branches, Coverage, CurvePoint, Finding, Frontier, FunctionFigures, Report};

pub fn coverage(report: &Report) -> String {
    let (coverage, branches) = (&report.coverage, report.search.branches.as_ref());
    let edges = (coverage.edges_total > 0).then_some((coverage.edges_hit, coverage.edges_total));
    let rows = [
        ("Functions", coverage.functions_hit.zip(coverage.functions_total)),
        ("Lines", coverage.lines_hit.zip(coverage.lines_total)),
        ("Branches both ways", branches.map(|branches| (branches.both as u64, branches.total as u64))),
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
    out.push_str("</dl>\n");
    out.push_str(&files(coverage));
    out.push_str(&functions(coverage, branches));
    out.push_str(&branches.map(one_sided).unwrap_or_default());
    out + "</section>\n"
}

/// What was executed of each file, and which lines were not.
fn files(coverage: &Coverage) -> String {
    if coverage.files.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<details><summary>{}</summary>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">File</th>\
         <th scope=\"col\" class=\"num\">Functions</th><th scope=\"col\" class=\"num\">Lines</th>\
         <th scope=\"col\">Lines not executed</th></tr></thead>\n<tbody>\n",
        count(coverage.files.len(), "file")
    );
    for file in &coverage.files {
        out.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"num\">{} of {}</td><td class=\"num\">{} of {}</td><td>{}</td></tr>\n",
            text(&file.file),
            number(file.functions_hit),
            number(file.functions_total),
            number(file.lines_hit),
            number(file.lines_total),
            text(&ranges(&file.missed_lines))
        ));
    }
    out + "</tbody></table></div></details>\n"
}

/// What was executed of each function, with the branches that went one way only; those with most to see first.
fn functions(coverage: &Coverage, branches: Option<&Branches>) -> String {
    if coverage.functions.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<details id=\"functions\"><summary>{}</summary>\n\
         <p class=\"filter\" hidden><label>Filter <input type=\"search\" data-filter=\"functions\"></label> <span role=\"status\"></span></p>\n\
         <div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Function</th><th scope=\"col\">Place</th>\
         <th scope=\"col\" class=\"num\">Lines</th><th scope=\"col\">Branches that went one way only</th></tr></thead>\n<tbody>\n",
        count(coverage.functions.len(), "function")
    );
    let mut rows: Vec<(&FunctionFigures, Vec<&Frontier>)> = Vec::new();
    for (at, function) in coverage.functions.iter().enumerate() {
        let next = coverage.functions.get(at + 1).filter(|next| next.file == function.file);
        let lines = function.line..next.map_or(u32::MAX, |next| next.line);
        let one_sided = branches.iter().flat_map(|branches| &branches.one_sided);
        let own = |one: &&Frontier| one.file == function.file && lines.contains(&one.line);
        rows.push((function, one_sided.filter(own).collect()));
    }
    rows.sort_by_key(|(function, one_sided)| {
        (
            function.hit,
            std::cmp::Reverse((function.lines_total.saturating_sub(function.lines_hit), one_sided.len())),
        )
    });
    for (function, one_sided) in rows {
        let name = if function.name.is_empty() { "not known" } else { &function.name };
        let mark = if function.hit { "" } else { " <span class=\"badge warn\">not executed</span>" };
        let said = |one: &&Frontier| format!("{} {}", one.line, if one.holds { "always" } else { "never" });
        let one_sided: Vec<String> = one_sided.iter().map(said).collect();
        out.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code>{mark}</th><td><code>{}:{}</code></td><td class=\"num\">{} of {}</td><td>{}</td></tr>\n",
            path(name),
            text(&function.file),
            function.line,
            number(function.lines_hit),
            number(function.lines_total),
            one_sided.join(", ")
        ));
    }
    out + "</tbody></table></div></details>\n"
}

/// Line numbers, neighbours joined: `3, 7–9`.
fn ranges(lines: &[u32]) -> String {
    let joined = lines.chunk_by(|one, next| one + 1 == *next);
    let range = |lines: &[u32]| match lines {
        [] => String::new(),
        [line] => line.to_string(),
        [first, .., last] => format!("{first}–{last}"),
    };
    joined.map(range).collect::<Vec<_>>().join(", ")
}

/// The branches that went one way only.
fn one_sided(branches: &Branches) -> String {
    if branches.one_sided.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<details><summary>{} went one way only; {} such {} tried, {} went the other way</summary>\n<ul>\n",
        count(branches.one_sided.len(), "branch").replace("branchs", "branches"),
        branches.tried,
        if branches.tried == 1 { "was" } else { "were" },
        branches.flipped
    );
    for frontier in &branches.one_sided {
        out.push_str(&format!(
            "<li><code>{}:{}</code>: its condition {} holds{}</li>\n",
            text(&frontier.file),
            frontier.line,
            if frontier.holds { "always" } else { "never" },
            if frontier.tried { "" } else { " <span class=\"muted\">(not tried)</span>" }
        ));
    }
    out + "</ul></details>\n"
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
    out.push_str(&curve(&search.curve, &report.findings));
    out + "</section>\n"
}

/// Width and height of a curve's drawing.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;

/// What was reached, and failures, over sequences; a mark where each finding was seen first.
fn curve(points: &[CurvePoint], findings: &[Finding]) -> String {
    let Some(last) = points.last().filter(|last| points.len() > 2 && last.executions > 0) else {
        return String::new();
    };
    let line = |of: fn(&CurvePoint) -> usize| {
        let most = (of(last) as f64).max(1.0);
        let place = |point: &CurvePoint| {
            let x = WIDTH * point.executions as f64 / last.executions as f64;
            format!("{x:.1},{:.1}", HEIGHT * (1.0 - of(point) as f64 / most))
        };
        points.iter().map(place).collect::<Vec<_>>().join(" ")
    };
    let mut marks = String::new();
    for finding in findings {
        // Of another job, which had its own count.
        let at = finding.first_seen_execution.min(last.executions);
        let x = WIDTH * at as f64 / last.executions as f64;
        marks.push_str(&format!(
            "<line class=\"{}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{HEIGHT:.1}\" y2=\"{:.1}\"><title>{}</title></line>",
            if finding.is_bug() { "bug" } else { "panic" },
            HEIGHT - 10.0,
            text(&format!("{}: {}", finding.operation, finding.first_line()))
        ));
    }
    format!(
        "<figure class=\"curve\"><svg viewBox=\"-2 -4 {} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Progress over sequences\">\
         <polyline class=\"reached\" points=\"{}\"></polyline><polyline class=\"failures\" points=\"{}\"></polyline>{marks}</svg>\
         <p class=\"axis num\"><span>0</span><span>{}</span><span>{}</span></p>\
         <figcaption>The first job's sequences from left to right. <span class=\"reached\">Sequences that brought new coverage, up to {}</span>; \
         <span class=\"failures\">different failures seen, before any was confirmed, up to {}</span>{}.</figcaption></figure>\n",
        WIDTH + 4.0,
        HEIGHT + 8.0,
        line(|point| point.reached),
        line(|point| point.failures),
        number(last.executions / 2),
        number(last.executions),
        number(last.reached),
        number(last.failures),
        if findings.is_empty() { "" } else { "; a mark at the bottom where a finding was seen first" }
    )
}
