//! `report.html`: the report for people, one file that needs nothing else.
//!
//! Receives the [`Report`] and hands back a whole page. It shows what the report says and judges nothing anew. Whatever comes from the
//! crate under test passes [`markup::text`]; the page may load nothing, whatever is in it.

mod colour;
mod figures;
mod findings;
mod markup;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

use crate::report::Report;
use markup::{count, text};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The page, from what an author asks first to what hardly anybody asks.
pub fn page(report: &Report) -> String {
    let bugs = report.bugs();
    let title = format!(
        "{} {}: {}, {}",
        text(&report.krate.name),
        text(&report.krate.version),
        count(bugs, "bug"),
        count(report.undocumented(), "undocumented panic")
    );
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    out.push_str(&verdict::verdict(report));
    out.push_str(CONTENTS);
    out.push_str("<main>\n");
    out.push_str(&findings::findings(report));
    out.push_str(&figures::coverage(report));
    out.push_str(&figures::search(report));
    out.push_str(&tables::operations(&report.operations));
    out.push_str(&tables::contracts(&report.contracts));
    out.push_str(&tables::dismissed(&report.dismissed));
    out.push_str(&tables::effects(&report.effects));
    out.push_str(&tables::skipped(&report.api.skipped));
    out.push_str(&format!("</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    out
}

const CONTENTS: &str = "\
<nav aria-label=\"Contents\"><ul>
<li><a href=\"#findings\">Findings</a></li>
<li><a href=\"#coverage\">Coverage</a></li>
<li><a href=\"#search\">Search</a></li>
<li><a href=\"#operations\">Operations</a></li>
<li><a href=\"#dismissed\">Dismissed</a></li>
<li><a href=\"#effects\">Effects</a></li>
<li><a href=\"#skipped\">Skipped</a></li>
</ul></nav>
";
