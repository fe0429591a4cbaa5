//! The figures of each crate and their medians, as a table.

use super::coverage::Coverage;
use super::trial::Outcome;

/// Of the mutants that the crate's own tests kill, ours must kill this share.
const BAR: f64 = 0.60;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    pub name: String,
    pub viable: usize,
    pub own: usize,
    pub ours: usize,
    /// Killed by one of the two at least, and by both.
    pub either: usize,
    pub shared: usize,
    /// Shares of lines.
    pub lines: [f64; 3],
    pub tests: usize,
    pub each_redundant: usize,
    pub all_redundant: usize,
    /// Tests that neither reach nor assert anything of their own.
    pub idle: usize,
}

impl Figures {
    pub fn new<'a>(name: &str, outcomes: impl Iterator<Item = &'a Outcome>, coverage: &Coverage) -> Figures {
        let share = |part: usize| part as f64 / coverage.lines.len().max(1) as f64;
        let mut figures = Figures {
            name: name.to_owned(),
            lines: [share(coverage.own.len()), share(coverage.ours.len()), share(coverage.both())],
            tests: coverage.tests,
            each_redundant: coverage.each_redundant,
            all_redundant: coverage.all_redundant,
            idle: coverage.idle,
            ..Figures::default()
        };
        for outcome in outcomes {
            let Outcome::Tested { own, ours } = outcome else { continue };
            let (own, ours) = (own.kills(), ours.kills());
            figures.viable += 1;
            figures.own += usize::from(own);
            figures.ours += usize::from(ours);
            figures.either += usize::from(own || ours);
            figures.shared += usize::from(own && ours);
        }
        figures
    }

    /// Of those that the crate's own tests kill, how many ours kill; nothing to say if they kill none.
    fn share(&self) -> Option<f64> {
        (self.own > 0).then(|| self.shared as f64 / self.own as f64)
    }

    fn idle(&self) -> f64 {
        self.idle as f64 / self.tests.max(1) as f64
    }

    fn redundant(&self) -> f64 {
        self.each_redundant as f64 / self.tests.max(1) as f64
    }
}

/// Prints Markdown; whether the bar is reached.
pub fn print(rows: &[Figures]) -> bool {
    println!(
        "\n| crate | viable | killed by own | by ours | by either | ours of own's | lines own | ours | either | our tests | redundant by coverage | of these at once | nothing of their own |"
    );
    println!("| --- |{}", " ---: |".repeat(12));
    for row in rows {
        let [own, ours, either] = row.lines.map(percent);
        println!(
            "| {} | {} | {} | {} | {} | {} | {own} | {ours} | {either} | {} | {} | {} | {} |",
            row.name,
            row.viable,
            row.own,
            row.ours,
            row.either,
            row.share().map_or("–".to_owned(), percent),
            row.tests,
            percent(row.redundant()),
            row.all_redundant,
            percent(row.idle())
        );
    }
    let of = |figure: fn(&Figures) -> f64| median(rows.iter().map(figure).collect());
    let killed = |part: fn(&Figures) -> usize| {
        median(rows.iter().map(|row| part(row) as f64 / row.viable.max(1) as f64).collect())
    };
    let share = median(rows.iter().filter_map(Figures::share).collect());
    let shown = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    println!(
        "\nMedians: killed by own {}, by ours {}, by either {}; of those that own tests kill ours kill {}; lines own {}, ours {}, either {}; redundant by coverage {}, with nothing of their own {}.",
        shown(killed(|row| row.own)),
        shown(killed(|row| row.ours)),
        shown(killed(|row| row.either)),
        shown(share),
        shown(of(|row| row.lines[0])),
        shown(of(|row| row.lines[1])),
        shown(of(|row| row.lines[2])),
        shown(of(Figures::redundant)),
        shown(of(Figures::idle)),
    );
    let good = share.is_some_and(|share| share >= BAR);
    println!("Bar: {}: {}.", percent(BAR), if good { "reached" } else { "missed" });
    good
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// The middle one, or between the two in the middle.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let (low, high) = (numbers.get(numbers.len().checked_sub(1)? / 2)?, numbers.get(numbers.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::trial::Verdict;

    #[test]
    fn ours_are_compared_with_what_own_tests_kill() {
        let tested = |own: bool, ours: bool| {
            let verdict = |kills| if kills { Verdict::Died } else { Verdict::Passed };
            Outcome::Tested { own: verdict(own), ours: verdict(ours) }
        };
        let outcomes = [
            tested(true, true),
            tested(true, false),
            tested(false, true),
            Outcome::DoesNotCompile,
            tested(false, false),
        ];
        let figures = Figures::new("a", outcomes.iter(), &Coverage::default());
        assert_eq!((figures.viable, figures.own, figures.ours), (4, 2, 2));
        assert_eq!((figures.either, figures.shared), (3, 1));
        assert_eq!(figures.share(), Some(0.5));
        assert_eq!(Figures::default().share(), None);
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
