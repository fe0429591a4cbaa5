//! A campaign that called nothing: why, from its report.

use std::collections::BTreeMap;

use testwright_emit::report::{Report, SkippedItem};

use crate::EngineError;

/// The exit code of such a campaign.
pub const EXIT: u8 = 4;

/// What to say of a campaign that ended without a single call into the crate.
pub fn uncalled(report: &Report) -> Option<EngineError> {
    if report.exit != EXIT {
        return None;
    }
    let why = most_frequent(&report.api.skipped).map_or_else(
        || "the budget ended before the first one".to_owned(),
        |(reason, count)| {
            let all = report.api.skipped.len();
            format!("{all} of {} items were skipped, {count} of them because: {reason}", report.api.items)
        },
    );
    let name = &report.krate.name;
    Some(EngineError::Nothing(format!("no call into {name} was made, so nothing was tested; {why}")))
}

/// The reason that is given most often, in its first line and without what differs from item to item; of several the first by name.
fn most_frequent(skipped: &[SkippedItem]) -> Option<(&str, usize)> {
    let mut counts: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for item in skipped {
        let first = item.reason.lines().next().unwrap_or_default();
        let kind = first.split('`').next().unwrap_or_default();
        counts.entry(kind).or_insert((first, 0)).1 += 1;
    }
    let most = counts.values().map(|(_, count)| *count).max()?;
    counts.into_values().find(|(_, count)| *count == most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(exit: u8, reasons: &[&str]) -> Report {
        let skipped = reasons
            .iter()
            .map(|reason| SkippedItem { path: "rope::cut".to_owned(), reason: (*reason).to_owned() });
        let mut report = Report { exit, ..Report::default() };
        report.krate.name = "rope".to_owned();
        report.api.skipped = skipped.collect();
        report.api.items = 7;
        report
    }

    #[test]
    fn the_most_frequent_reason_is_told() {
        let reasons = ["hidden", "no maker of `A`", "hidden", "no maker of `B`\nat all", "no maker of `C`"];
        let error = uncalled(&report(EXIT, &reasons)).expect("nothing was called");
        assert_eq!(error.exit_code(), EXIT);
        assert!(
            error.to_string().ends_with("5 of 7 items were skipped, 3 of them because: no maker of `A`"),
            "{error}"
        );
        let error = uncalled(&report(EXIT, &[])).expect("nothing was called");
        assert!(error.to_string().contains("rope") && error.to_string().contains("budget"), "{error}");
        assert!(uncalled(&report(0, &reasons)).is_none());
    }
}
