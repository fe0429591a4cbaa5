//! Findings in the forms that other programs read: SARIF for code scanning, `JUnit` for test reports, annotations for GitHub's logs.

use serde_json::{Value, json};

use crate::report::{Finding, Report};

/// The findings as SARIF 2.1.0.
pub fn sarif(report: &Report) -> String {
    let mut classes: Vec<&str> = report.findings.iter().map(|finding| finding.class.as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    let rules: Vec<Value> = classes.iter().map(|class| json!({ "id": class })).collect();
    let results: Vec<Value> = report.findings.iter().map(|finding| result(report, finding)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-testwright",
                "version": report.tool.rsplit(' ').next().unwrap_or_default(),
                "rules": rules,
            } },
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(report: &Report, finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.class,
        "level": if finding.is_bug() { "error" } else { "warning" },
        "message": { "text": format!("{}: {}", finding.operation, finding.message) },
        "partialFingerprints": { "testwright/v1": finding.id },
    });
    if let Some((file, line)) = place(report, finding) {
        result["locations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": file },
            "region": { "startLine": line.max(1) },
        } }]);
    }
    result
}

/// The place in the package itself: those in dependencies mean nothing to whoever looks at the package.
fn place<'r>(report: &Report, finding: &'r Finding) -> Option<(&'r str, u32)> {
    let location = finding.location.as_ref()?;
    let inside = location.file.strip_prefix(&report.krate.name)?.strip_prefix('/')?;
    Some((inside, location.line))
}

/// The findings as failed cases of a `JUnit` report.
pub fn junit(report: &Report) -> String {
    let failures = report.findings.len();
    let name = xml(&format!("{} {}", report.krate.name, report.krate.version));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{name}\" tests=\"{failures}\" failures=\"{failures}\">\n"
    );
    for finding in &report.findings {
        out.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
            xml(&finding.operation),
            xml(&finding.test.name),
            xml(&finding.class),
            xml(finding.first_line()),
            xml(&finding.test.source),
        ));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A line for each finding that GitHub shows at the place in the source.
pub fn annotations(report: &Report) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        let level = if finding.is_bug() { "error" } else { "warning" };
        let at = place(report, finding)
            .map_or_else(String::new, |(file, line)| format!(" file={},line={line}", property(file)));
        let message = data(&format!("{} in {}: {}", finding.class, finding.operation, finding.message));
        out.push_str(&format!("::{level}{at}::{message}\n"));
    }
    out
}

/// Text between tags or in an attribute; characters that XML does not have are left out.
fn xml(text: &str) -> String {
    let allowed = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(allowed) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A message in a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value among a workflow command's properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{CrateName, Location, Test};

    fn report() -> Report {
        let finding = Finding {
            id: "dea65e6c".to_owned(),
            tier: "bug".to_owned(),
            class: "index".to_owned(),
            operation: "<Stack<T> as Push>::push".to_owned(),
            message: "50% \"odd\"\nsecond & last".to_owned(),
            location: Some(Location { file: "stack/src/a,b.rs".to_owned(), line: 7 }),
            test: Test { name: "push".to_owned(), source: "a < b && \u{1}c".to_owned(), ..Test::default() },
            ..Finding::default()
        };
        let elsewhere = Finding {
            tier: "undocumented-panic".to_owned(),
            location: Some(Location { file: "other-1.0/src/lib.rs".to_owned(), line: 1 }),
            ..finding.clone()
        };
        Report {
            krate: CrateName { name: "stack".to_owned(), version: "0.1.0".to_owned() },
            tool: "cargo-testwright 0.1.0".to_owned(),
            findings: vec![finding, elsewhere],
            ..Report::default()
        }
    }

    #[test]
    fn sarif_has_places_in_the_package_alone() {
        let log: Value = serde_json::from_str(&sarif(&report())).expect("JSON");
        let results = &log["runs"][0]["results"];
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/a,b.rs");
        assert_eq!(place["region"]["startLine"], 7);
        assert_eq!((&results[0]["level"], &results[1]["level"]), (&"error".into(), &"warning".into()));
        assert!(results[1].get("locations").is_none());
    }

    #[test]
    fn junit_is_escaped() {
        let text = junit(&report());
        assert!(text.contains("classname=\"&lt;Stack&lt;T&gt; as Push&gt;::push\""), "{text}");
        assert!(text.contains("a &lt; b &amp;&amp; c"), "{text}");
        assert!(text.contains("tests=\"2\" failures=\"2\""), "{text}");
    }

    #[test]
    fn annotations_stay_on_one_line() {
        let text = annotations(&report());
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("::error file=src/a%2Cb.rs,line=7::index in "), "{text}");
        assert!(text.contains("50%25 \"odd\"%0Asecond"), "{text}");
    }
}
