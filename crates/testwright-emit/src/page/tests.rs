//! The page as a whole: nothing of the report is lost, nothing of it becomes markup, every element is closed.
//!
//! To look at a page of a real report:
//! `TESTWRIGHT_REPORT=report.json TESTWRIGHT_PAGE=page.html cargo test -p testwright-emit -- --ignored renders_a_report`.

use super::page;
use crate::report::*;

/// Every text of the report is the same hostile one, every list has something.
fn hostile() -> Report {
    const HOSTILE: &str = "</code></script><script>alert(1)</script>\" onload='x' &\u{202e}";
    let hostile = || HOSTILE.to_owned();
    let finding = |tier: &str| Finding {
        id: hostile(),
        tier: tier.to_owned(),
        class: hostile(),
        operation: hostile(),
        message: format!("{HOSTILE}\n{HOSTILE}"),
        location: Some(Location { file: hostile(), line: 1 }),
        snippet: vec![SourceLine { line: 1, text: hostile() }, SourceLine { line: 2, text: hostile() }],
        strategy: hostile(),
        confirm: Confirm { sanitizer: hostile(), ..Confirm::default() },
        test: Test {
            name: hostile(),
            file: hostile(),
            source: format!("// {HOSTILE}\nlet a = \"{HOSTILE}\";\n{HOSTILE}"),
        },
        ..Finding::default()
    };
    Report {
        krate: CrateName { name: hostile(), version: hostile() },
        compiler: hostile(),
        tool: hostile(),
        interrupted: true,
        api: ApiFigures {
            skipped: vec![SkippedItem { path: hostile(), reason: hostile() }],
            ..ApiFigures::default()
        },
        coverage: Coverage {
            functions: vec![FunctionFigures {
                name: hostile(),
                file: hostile(),
                line: 1,
                ..FunctionFigures::default()
            }],
            ..Coverage::default()
        },
        search: Search {
            curve: (1..5).map(|at| CurvePoint { executions: at, ..CurvePoint::default() }).collect(),
            ..Search::default()
        },
        findings: vec![finding(HOSTILE), finding("bug"), finding("bug"), finding("undocumented-panic")],
        dismissed: vec![Dismissed { reason: hostile(), operation: hostile(), count: 2 }],
        effects: vec![Effect { operation: hostile(), kind: hostile(), allowed: false, count: 1 }],
        operations: vec![OperationFigures {
            operation: hostile(),
            never_succeeded: true,
            ..OperationFigures::default()
        }],
        contracts: vec![ContractFigures {
            operation: hostile(),
            kind: hostile(),
            expression: hostile(),
            support: 1,
            refuted: true,
        }],
        regression: Regression { file: Some(hostile()), dropped_unstable: 1, ..Regression::default() },
        ..Report::default()
    }
}

/// Panics unless every element is closed in the order in which it was opened, and no two share an id.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed before: {}", &rest[..rest.len().min(200)]);
            continue;
        }
        let name = tag.split_ascii_whitespace().next().expect("a tag has a name");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(id) = tag.split_once(" id=\"").and_then(|(_, id)| id.split_once('"')) {
            assert!(ids.insert(id.0), "twice: {}", id.0);
        }
        if name == "style" || name == "script" {
            // What follows is not markup until its own end.
            rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
        }
        if !matches!(name, "!DOCTYPE" | "meta" | "input" | "wbr") {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn an_empty_report_is_a_page() {
    let page = page(&Report::default());
    assert_balanced(&page);
    assert_eq!(page.matches("not measured").count(), 4);
    assert!(!page.contains("class=\"interrupted\""));
    assert!(!page.contains("NaN"));
}

#[test]
fn nothing_of_the_crate_becomes_markup() {
    let page = page(&hostile());
    assert_balanced(&page);
    assert_eq!(page.matches("<script").count(), 1, "ours only");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains("onload='"), "quotes are escaped too");
    assert!(!page.contains('\u{202e}'));
    assert!(page.contains("class=\"interrupted\""));
}

#[test]
fn every_finding_is_there_with_its_test_bugs_first() {
    let finding = |id: &str, tier: &str| Finding {
        id: id.to_owned(),
        tier: tier.to_owned(),
        message: format!("message of {id}\nsecond line"),
        calls: 2,
        original_calls: 9,
        test: Test {
            name: format!("test_{id}"),
            file: "tests/testwright_findings.rs".to_owned(),
            source: format!("//! head\n\n#[test]\nfn test_{id}() {{}}\n"),
        },
        ..Finding::default()
    };
    let ids = ["aa", "bb", "cc", "dd", "aa"];
    let tiers = ["undocumented-panic", "bug", "undocumented-panic", "bug", "bug"];
    let findings = ids.iter().zip(tiers).map(|(id, tier)| finding(id, tier)).collect();
    let page = page(&Report { findings, ..Report::default() });
    assert_balanced(&page);
    for id in ids {
        assert!(page.contains(&format!("<code class=\"muted\">{id}</code>")), "{id}");
        assert!(page.contains(&format!("</span> test_{id}() {{}}")), "{id}");
        assert!(page.contains(&format!("<p class=\"message\">message of {id}</p>")), "{id}");
    }
    assert!(page.contains("2, minimised from 9"));
    let mut moods = page.split("<article class=\"finding ").skip(1).map(|rest| rest.starts_with("bad"));
    assert!(moods.by_ref().take(3).all(|bad| bad) && moods.all(|bad| !bad));
}

#[test]
fn the_line_that_failed_is_marked_in_its_surroundings() {
    let line = |line, text: &str| SourceLine { line, text: text.to_owned() };
    let finding = Finding {
        location: Some(Location { file: "list/src/lib.rs".to_owned(), line: 8 }),
        snippet: vec![line(7, "fn get() {"), line(8, "    items[at]"), line(9, "}")],
        ..Finding::default()
    };
    let page = page(&Report { findings: vec![finding], ..Report::default() });
    assert_balanced(&page);
    assert!(page.contains("<mark><i>    8</i>     items[at]</mark>\n"), "{page}");
    assert_eq!(page.matches("<mark>").count(), 1);
}

#[test]
fn long_pages_are_closed_until_asked() {
    let findings = vec![Finding::default(); 50];
    let operations = vec![OperationFigures::default(); 400];
    let long = page(&Report { findings, operations, ..Report::default() });
    assert_balanced(&long);
    assert_eq!(long.matches("<details open>").count(), 10);
    let operations = vec![OperationFigures::default(); 4];
    let short = page(&Report { findings: vec![Finding::default(); 2], operations, ..Report::default() });
    assert_eq!(short.matches("<details open>").count(), 3);
}

#[test]
fn functions_are_told_with_their_one_sided_branches() {
    let function = |name: &str, line, hit| FunctionFigures {
        name: name.to_owned(),
        file: "src/lib.rs".to_owned(),
        line,
        hit,
        lines_hit: 2,
        lines_total: 3,
    };
    let frontier = |line, holds| Frontier { file: "src/lib.rs".to_owned(), line, holds, tried: true };
    let coverage = Coverage {
        functions: vec![function("a::one", 3, true), function("a::two", 9, false)],
        ..Coverage::default()
    };
    let branches =
        Branches { one_sided: vec![frontier(4, true), frontier(12, false)], ..Branches::default() };
    let search = Search { branches: Some(branches), ..Search::default() };
    let page = page(&Report { search, coverage, ..Report::default() });
    let row = |name: &str| {
        let from = page.find(&format!("<code>a::<wbr>{name}</code>")).expect("a row");
        page[from..].split("</tr>").next().expect("its text").to_owned()
    };
    assert!(row("one").ends_with("2 of 3</td><td>4 always</td>"), "{}", row("one"));
    assert!(
        row("two").contains("not executed") && row("two").ends_with("<td>12 never</td>"),
        "{}",
        row("two")
    );
    assert!(page.find("<wbr>two").expect("there") < page.find("<wbr>one").expect("there"));
}

#[test]
fn operations_that_never_succeed_come_first() {
    let operation = |name: &str, never_succeeded| OperationFigures {
        operation: name.to_owned(),
        calls: 4000,
        panics: 1000,
        never_succeeded,
        ..OperationFigures::default()
    };
    let operations = vec![operation("fine", false), operation("broken", true)];
    let page = page(&Report { operations, ..Report::default() });
    let at = |text: &str| page.find(text).expect("it is there");
    assert!(
        at("<code>broken</code> <span class=\"badge warn\">never succeeded") < at("<code>fine</code></th>")
    );
    assert!(page.contains("<small>1\u{202f}000</small> 25.0\u{202f}%"));
}

#[test]
fn unstable_tests_are_told_even_if_no_suite_is_left() {
    let regression = Regression { dropped_unstable: 3, ..Regression::default() };
    let page = page(&Report { regression, ..Report::default() });
    assert!(page.contains("Regression tests: 3 left out as unstable."));
}

#[test]
fn dismissed_failures_are_summed_by_reason() {
    let one = |reason: &str, operation: &str, count| Dismissed {
        reason: reason.to_owned(),
        operation: operation.to_owned(),
        count,
    };
    let dismissed = vec![one("rare", "a", 1), one("often", "b", 700), one("often", "c", 300)];
    let page = page(&Report { dismissed, ..Report::default() });
    let often =
        page.find("often <span class=\"muted\">1\u{202f}000 failures in 2 operations").expect("summed");
    assert!(often < page.find("rare <span class=\"muted\">1 failure in 1 operation<").expect("the other"));
}

#[test]
#[ignore = "renders the report that TESTWRIGHT_REPORT names to the file that TESTWRIGHT_PAGE names"]
fn renders_a_report() {
    let [from, to] = ["TESTWRIGHT_REPORT", "TESTWRIGHT_PAGE"].map(|name| std::env::var(name).expect(name));
    let report = std::fs::read_to_string(from).expect("the report can be read");
    let page = page(&serde_json::from_str(&report).expect("it is a report"));
    assert_balanced(&page);
    std::fs::write(to, page).expect("the page can be written");
}
