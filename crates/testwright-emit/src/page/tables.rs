//! The long lists: operations, what was dismissed, effects on the outside world, skipped items.

use std::collections::BTreeMap;

use super::markup::{count, number, path, percent, text};
use crate::report::{ContractFigures, Dismissed, Effect, OperationFigures, SkippedItem};

/// Longer tables are closed until they are asked for.
const OPEN: usize = 60;

pub fn operations(operations: &[OperationFigures]) -> String {
    let mut out =
        "<section id=\"operations\" aria-labelledby=\"operations-h\">\n<h2 id=\"operations-h\">Operations</h2>\n"
            .to_owned();
    if operations.is_empty() {
        return out + "<p class=\"muted\">None was called.</p>\n</section>\n";
    }
    let mut sorted: Vec<&OperationFigures> = operations.iter().collect();
    sorted.sort_by_key(|figures| !figures.never_succeeded);
    out.push_str(&format!(
        "<p class=\"muted\">Calls are those that were added to sequences. Ok or Some: of a sample of results that are a \
         <code>Result</code> or an <code>Option</code>.</p>\n\
         <p class=\"filter\" hidden><label>Filter <input type=\"search\" data-filter=\"operations\"></label> \
         <span role=\"status\"></span></p>\n\
         <details{}><summary>{}</summary>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"operations-h\"><table>\n<thead><tr><th scope=\"col\">Operation</th>\
         <th scope=\"col\" class=\"num\">Calls</th><th scope=\"col\" class=\"num\">Panics</th>\
         <th scope=\"col\" class=\"num\">Ok or Some</th></tr></thead>\n<tbody>\n",
        if operations.len() > OPEN { "" } else { " open" },
        count(operations.len(), "operation"),
    ));
    for figures in sorted {
        out.push_str(&row(figures));
    }
    out + "</tbody></table></div></details>\n</section>\n"
}

fn row(figures: &OperationFigures) -> String {
    let (class, mark) = if figures.never_succeeded {
        (" class=\"never\"", " <span class=\"badge warn\">never succeeded</span>")
    } else {
        ("", "")
    };
    let panics = match figures.panics {
        0 => nothing(),
        panics => format!("<small>{}</small> {}", number(panics), percent(panics, figures.calls)),
    };
    let good = match figures.looked {
        0 => nothing(),
        looked => {
            format!(
                "<small>{} of {}</small> {}",
                number(figures.good),
                number(looked),
                percent(figures.good, looked)
            )
        }
    };
    format!(
        "<tr{class}><th scope=\"row\"><code>{}</code>{mark}</th><td class=\"num\">{}</td>\
         <td class=\"num\">{panics}</td><td class=\"num\">{good}</td></tr>\n",
        path(&figures.operation),
        number(figures.calls),
    )
}

fn nothing() -> String {
    "<span class=\"muted\">–</span>".to_owned()
}

/// How the author's contracts fared; nothing where there are none.
pub fn contracts(contracts: &[ContractFigures]) -> String {
    if contracts.is_empty() {
        return String::new();
    }
    let mut out =
        "<section id=\"contracts\" aria-labelledby=\"contracts-h\">\n<h2 id=\"contracts-h\">Contracts</h2>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"contracts-h\"><table>\n<thead><tr><th scope=\"col\">Of</th>\
         <th scope=\"col\">Kind</th><th scope=\"col\">Expression</th><th scope=\"col\" class=\"num\">Checked</th></tr></thead>\n<tbody>\n"
            .to_owned();
    for contract in contracts {
        let mark = if contract.refuted { " <span class=\"badge warn\">broken</span>" } else { "" };
        out.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code>{mark}</th><td>{}</td><td><code>{}</code></td><td class=\"num\">{}</td></tr>\n",
            path(&contract.operation),
            text(&contract.kind),
            text(&contract.expression),
            number(contract.support)
        ));
    }
    out + "</tbody></table></div>\n</section>\n"
}

/// Reasons by weight, each with its operations below it.
pub fn dismissed(dismissed: &[Dismissed]) -> String {
    let mut groups: Groups<'_> = BTreeMap::new();
    for one in dismissed {
        groups.entry(&one.reason).or_default().push((&one.operation, one.count));
    }
    grouped(
        "dismissed",
        "Dismissed failures",
        "Seen, but not reported as findings, by reason.",
        groups,
        |of, total| format!("{} in {}", count(total, "failure"), count(of, "operation")),
    )
}

pub fn skipped(skipped: &[SkippedItem]) -> String {
    let mut groups: Groups<'_> = BTreeMap::new();
    for item in skipped {
        groups.entry(&item.reason).or_default().push((&item.path, 1));
    }
    grouped("skipped", "Skipped items", "Public items that were not called, by reason.", groups, |of, _| {
        count(of, "item")
    })
}

/// What happened to what, and how often, by reason.
type Groups<'a> = BTreeMap<&'a str, Vec<(&'a str, u64)>>;

/// One closed `details` for each reason, those with the largest sums first.
fn grouped(id: &str, title: &str, about: &str, groups: Groups<'_>, sum: fn(u64, u64) -> String) -> String {
    let mut out =
        format!("<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{title}</h2>\n");
    if groups.is_empty() {
        return out + "<p class=\"muted\">None.</p>\n</section>\n";
    }
    out.push_str(&format!("<p class=\"muted\">{about}</p>\n"));
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|(reason, rows)| (rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.1)), reason, rows))
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.0));
    for (total, reason, rows) in groups {
        out.push_str(&format!(
            "<details><summary>{} <span class=\"muted\">{}</span></summary>\n<ul class=\"names\">\n",
            text(reason),
            sum(rows.len() as u64, total)
        ));
        for (name, times) in rows {
            let times = if times > 1 {
                format!(" <span class=\"muted\">× {}</span>", number(times))
            } else {
                String::new()
            };
            out.push_str(&format!("<li><code>{}</code>{times}</li>\n", text(name)));
        }
        out.push_str("</ul></details>\n");
    }
    out + "</section>\n"
}

pub fn effects(effects: &[Effect]) -> String {
    let mut out =
        "<section id=\"effects\" aria-labelledby=\"effects-h\">\n<h2 id=\"effects-h\">Effects on the outside world</h2>\n"
            .to_owned();
    if effects.is_empty() {
        return out + "<p class=\"muted\">None was seen.</p>\n</section>\n";
    }
    let mut sorted: Vec<&Effect> = effects.iter().collect();
    sorted.sort_by(|a, b| (&a.kind, &a.operation).cmp(&(&b.kind, &b.operation)));
    out.push_str(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"effects-h\"><table>\n<thead><tr><th scope=\"col\">Kind</th><th scope=\"col\">Operation</th>\
         <th scope=\"col\">Allowed</th><th scope=\"col\" class=\"num\">Times</th></tr></thead>\n<tbody>\n",
    );
    for effect in sorted {
        out.push_str(&format!(
            "<tr><td>{}</td><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"num\">{}</td></tr>\n",
            text(&effect.kind),
            path(&effect.operation),
            if effect.allowed { "yes" } else { "refused" },
            number(effect.count)
        ));
    }
    out + "</tbody></table></div>\n</section>\n"
}
