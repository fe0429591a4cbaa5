//! What one version of a library does and another does not.
//!
//! Receives both versions, each with its regression tests, which passed, and its findings' tests, which failed. Runs the tests of each with
//! the other; what passes with one version and fails with the other is cut down to the fewest statements that still do, and tests that show
//! the same of the same operation become one difference. Every test that is handed back was seen twice to pass with one and to fail with the other.

mod named;
mod nature;
mod pieces;
mod trial;
mod varied;

use std::collections::{BTreeMap, BTreeSet};

use testwright_harness::TestBench;

use crate::EngineError;
use crate::suite::{Single, inner};
use crate::workbench::{Tell, Workbench};
use nature::Shown;
pub use nature::{Nature, Seen};
use pieces::Pieces;
use trial::{Outcome, Told, Trial};
pub(crate) use varied::varied;

/// A version, and what a campaign on it left.
#[derive(Debug)]
pub struct Version {
    pub bench: Workbench,
    /// Regression tests.
    pub tests: Vec<Single>,
    pub findings: Vec<Failing>,
}

/// The test of a finding.
#[derive(Clone, Debug)]
pub struct Failing {
    pub test: Single,
    pub operation: String,
    pub class: String,
    pub message: String,
}

/// What differs between two versions.
#[derive(Debug, Default)]
pub struct Differences {
    /// Behaviours first, by operation.
    pub changed: Vec<Difference>,
    /// Tests of the old version that the new one's API does not allow.
    pub gone: Vec<Gone>,
    /// Tests that pass with both.
    pub same: usize,
    /// Tests that told the versions apart once and not again.
    pub unsteady: usize,
    /// Tests that tell the versions apart and were not looked at closer.
    pub left: Vec<String>,
}

#[derive(Debug)]
pub struct Difference {
    pub operation: String,
    pub seen: Seen,
    pub name: String,
    pub source: String,
    /// How many statements the test has, and had.
    pub steps: (usize, usize),
    /// Whether it passes with the old version, and fails with the new one.
    pub passes_before: bool,
    /// Other tests that show the same.
    pub others: Vec<String>,
}

/// A test that the other version's API does not allow.
#[derive(Debug)]
pub struct Gone {
    pub name: String,
    /// The compiler's words.
    pub words: String,
}

/// Tests of one version that are cut down, at most; the shortest are.
const MOST: usize = 160;
/// Rounds in which each test is made smaller; every one is compiled with both versions.
const ROUNDS: usize = 6;
/// Smaller tests that are tried of one test in a round, at most.
const TRIED: usize = 40;

/// Compares `[old, new]`.
pub fn compare(versions: [&Version; 2], tell: Tell<'_>) -> Result<Differences, EngineError> {
    let stand = Stand::open(versions)?;
    let mut found = Differences::default();
    let mut cases = Vec::new();
    for author in [OLD, NEW] {
        let (own, other) = (versions[author], versions[1 - author]);
        tell(&format!("running {} tests of {} with {}", own.tests.len(), name(own), name(other)));
        let differing = stand.differing(author, &own.tests, &mut found)?;
        cases.extend(stand.begun(author, &differing, &mut found)?);
        cases.extend(stand.mended(author, &own.findings)?);
    }
    let mut groups: BTreeMap<(bool, String, Nature), Vec<Case>> = BTreeMap::new();
    for case in cases {
        let nature = case.seen.nature;
        groups.entry((!nature.is_behaviour(), case.operation.clone(), nature)).or_default().push(case);
    }
    let mut chosen = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|case| case.pieces.weight());
        let mut group = group.into_iter();
        let Some(mut case) = group.next() else { continue };
        case.others = group.map(|other| other.name).collect();
        chosen.push(case);
    }
    if !chosen.is_empty() {
        tell(&format!("cutting down {} tests that tell the versions apart", chosen.len()));
    }
    let mut open = vec![true; chosen.len()];
    for _ in 0..ROUNDS {
        stand.cut(&mut chosen, &mut open)?;
        if !open.contains(&true) {
            break;
        }
    }
    found.changed = stand.confirmed(chosen, &mut found.unsteady)?;
    Ok(found)
}

const OLD: usize = 0;
const NEW: usize = 1;

fn name(version: &Version) -> String {
    format!("{} {}", version.bench.subject.package, version.bench.subject.version)
}

/// Both versions, ready for tests of both.
struct Stand<'a> {
    versions: [&'a Version; 2],
    /// By whose test it is, then by the version that it is run with: tests may use what other crates their own version does.
    trials: [[Trial; 2]; 2],
    paths: BTreeSet<&'a str>,
}

/// A test that tells the versions apart.
#[derive(Clone)]
struct Case {
    name: String,
    /// Whose names it uses.
    author: usize,
    passes: usize,
    pieces: Pieces,
    /// How many statements it had.
    had: usize,
    operation: String,
    seen: Seen,
    /// A finding's test is named by its finding.
    finding: Option<Failing>,
    others: Vec<String>,
}

impl<'a> Stand<'a> {
    fn open(versions: [&'a Version; 2]) -> Result<Self, EngineError> {
        let trial = |author: usize, with: usize| -> Result<Trial, EngineError> {
            let (own, bench) = (&versions[author].bench, &versions[with].bench);
            Ok(Trial {
                bench: TestBench::open(&bench.subject, &own.foreign, "2021", &bench.places)?,
                scratch: bench.places.work.join("scratch-diff"),
                rename: (own.subject.lib.clone(), bench.subject.lib.clone()),
            })
        };
        let trials = [[trial(OLD, OLD)?, trial(OLD, NEW)?], [trial(NEW, OLD)?, trial(NEW, NEW)?]];
        let callables = versions.iter().flat_map(|version| &version.bench.callables);
        Ok(Stand { versions, trials, paths: callables.map(|callable| callable.path.as_str()).collect() })
    }

    /// The tests that do not pass with the other version.
    fn differing(
        &self,
        author: usize,
        tests: &[Single],
        found: &mut Differences,
    ) -> Result<Vec<Single>, EngineError> {
        let printed: Vec<String> = tests.iter().map(|test| test.text.clone()).collect();
        let mut differing = Vec::new();
        for (test, outcome) in tests.iter().zip(self.trials[author][1 - author].run(&printed)?) {
            match outcome {
                Outcome::Passed => found.same += 1,
                Outcome::Failed(_) => differing.push(test.clone()),
                Outcome::DoesNotCompile(words) if author == OLD => {
                    found.gone.push(Gone { name: test.name.clone(), words });
                }
                // What only the new version has is told by its functions.
                Outcome::DoesNotCompile(_) => {}
                Outcome::NotRun => found.left.push(test.name.clone()),
            }
        }
        differing.sort_by_key(|test| test.text.len());
        if differing.len() > MOST {
            found.left.extend(differing.drain(MOST..).map(|test| test.name));
        }
        Ok(differing)
    }

    /// Each test up to the first statement that tells the versions apart.
    fn begun(
        &self,
        author: usize,
        tests: &[Single],
        found: &mut Differences,
    ) -> Result<Vec<Case>, EngineError> {
        let mut tried: Vec<(usize, usize, Pieces)> = Vec::new();
        let mut owners = Vec::new();
        for (index, test) in tests.iter().enumerate() {
            let Some(whole) = Pieces::of(&test.text) else { continue };
            for pieces in whole.beginnings().into_iter().chain([whole]) {
                owners.push(index);
                tried.push((author, author, pieces));
            }
        }
        let told = self.tell_apart(&tried)?;
        let mut cases: Vec<Option<Case>> = vec![None; tests.len()];
        let steps = |index: usize| {
            let of = tried.iter().zip(&owners).filter(|(_, owner)| **owner == index);
            of.map(|((.., pieces), _)| pieces.steps()).max().unwrap_or(0)
        };
        for ((owner, (.., pieces)), told) in owners.iter().zip(&tried).zip(told) {
            let (Some(told), None) = (told, &cases[*owner]) else { continue };
            let name = tests[*owner].name.clone();
            let had = steps(*owner);
            cases[*owner] = Some(self.case(name, author, author, pieces.clone(), had, &told, None));
        }
        found.unsteady += cases.iter().filter(|case| case.is_none()).count();
        Ok(cases.into_iter().flatten().collect())
    }

    /// Findings' tests that pass with the other version.
    fn mended(&self, author: usize, findings: &[Failing]) -> Result<Vec<Case>, EngineError> {
        let mut tried = Vec::new();
        let mut of = Vec::new();
        for finding in findings {
            let shown = |line: &&str| !line.trim_start().starts_with("#[ignore");
            let text: String =
                finding.test.text.lines().filter(shown).map(|line| format!("{line}\n")).collect();
            if let Some(pieces) = Pieces::of(&text) {
                tried.push((author, 1 - author, pieces));
                of.push(finding);
            }
        }
        let told = self.tell_apart(&tried)?;
        let cases = tried.into_iter().zip(of).zip(told).filter_map(|(((.., pieces), finding), told)| {
            let (name, had) = (finding.test.name.clone(), pieces.steps());
            Some(self.case(name, author, 1 - author, pieces, had, &told?, Some(finding)))
        });
        Ok(cases.collect())
    }

    #[expect(clippy::too_many_arguments, reason = "all parts of a case")]
    fn case(
        &self,
        name: String,
        author: usize,
        passes: usize,
        pieces: Pieces,
        had: usize,
        told: &Told,
        finding: Option<&Failing>,
    ) -> Case {
        let (operation, seen) = self.look(author, passes, &pieces, told, finding);
        let finding = finding.cloned();
        Case { name, author, passes, pieces, had, operation, seen, finding, others: Vec::new() }
    }

    /// What the test is about, and what it shows.
    fn look(
        &self,
        author: usize,
        passes: usize,
        pieces: &Pieces,
        told: &Told,
        finding: Option<&Failing>,
    ) -> (String, Seen) {
        let text = pieces.text();
        let statement = pieces.last();
        let read = || named::operation(&self.paths, pieces);
        let operation = finding.map(|finding| finding.operation.clone()).or_else(read);
        let operation = operation.unwrap_or_else(|| self.versions[author].bench.subject.package.clone());
        let expected = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("#[should_panic(expected = ")?.strip_suffix(")]"));
        let passes_before = passes == OLD;
        let shown = Shown {
            told,
            statement,
            is_text: pieces.reads(),
            panics: expected,
            operation: &operation,
            passes_before,
        };
        let mut seen = shown.seen();
        let operation = match seen.nature {
            Nature::DebugText => format!("<{} as Debug>::fmt", nature::head(&seen.before)),
            _ => operation,
        };
        if let Some(finding) = finding.filter(|finding| is_law(&finding.class)) {
            let breaks =
                format!("breaks {}: {}", finding.class, crate::confirm::first_line(&finding.message));
            let sides = ("holds".to_owned(), breaks);
            let (before, after) = if passes_before { sides } else { (sides.1, sides.0) };
            seen = Seen { nature: Nature::Law, before, after };
        }
        (operation, seen)
    }

    /// For each test, with whose names it uses and what it passes with: what it says with the other version, if it does tell them apart.
    fn tell_apart(&self, tests: &[(usize, usize, Pieces)]) -> Result<Vec<Option<Told>>, EngineError> {
        let mut all = vec![None; tests.len()];
        for (author, passes) in [(OLD, OLD), (OLD, NEW), (NEW, OLD), (NEW, NEW)] {
            let of = |(_, test): &(usize, &(usize, usize, Pieces))| (test.0, test.1) == (author, passes);
            let (places, printed): (Vec<usize>, Vec<String>) =
                tests.iter().enumerate().filter(of).map(|(place, test)| (place, test.2.text())).unzip();
            let failing = self.trials[author][1 - passes].run(&printed)?;
            let kept: Vec<(usize, String, Told)> = places
                .into_iter()
                .zip(printed)
                .zip(failing)
                .filter_map(|((place, text), outcome)| Some((place, text, outcome.failure()?.clone())))
                .collect();
            let printed: Vec<String> = kept.iter().map(|(_, text, _)| text.clone()).collect();
            for ((place, _, told), outcome) in
                kept.into_iter().zip(self.trials[author][passes].run(&printed)?)
            {
                all[place] = (outcome == Outcome::Passed).then_some(told);
            }
        }
        Ok(all)
    }

    /// One round: each open case becomes the smallest test that still shows the same; those that stay as they are are closed.
    fn cut(&self, cases: &mut [Case], open: &mut [bool]) -> Result<(), EngineError> {
        let mut tried = Vec::new();
        let mut owners = Vec::new();
        for (index, case) in cases.iter().enumerate().filter(|(index, _)| open[*index]) {
            for pieces in case.pieces.less().into_iter().take(TRIED) {
                owners.push(index);
                tried.push((case.author, case.passes, pieces));
            }
        }
        let told = self.tell_apart(&tried)?;
        let shows = |place: usize, told: &Option<Told>| {
            let (case, told) = (&cases[owners[place]], told.as_ref()?);
            let looked = self.look(case.author, case.passes, &tried[place].2, told, case.finding.as_ref());
            (looked.0 == case.operation && looked.1.nature == case.seen.nature).then_some(looked.1)
        };
        let good: Vec<Option<Seen>> =
            told.iter().enumerate().map(|(place, told)| shows(place, told)).collect();
        // What can go alone can often go together.
        let mut together: BTreeMap<usize, Pieces> = BTreeMap::new();
        for (place, _) in good.iter().enumerate().filter(|(_, good)| good.is_some()) {
            let (owner, pieces) = (owners[place], &tried[place].2);
            let joined = together.get(&owner).map_or_else(|| pieces.clone(), |known| known.joined(pieces));
            together.insert(owner, joined);
        }
        let joined: Vec<(usize, usize, Pieces)> = together
            .iter()
            .map(|(owner, pieces)| (cases[*owner].author, cases[*owner].passes, pieces.clone()))
            .collect();
        let told_joined = self.tell_apart(&joined)?;
        let mut best: BTreeMap<usize, (Pieces, Seen)> = BTreeMap::new();
        let singles = good
            .into_iter()
            .enumerate()
            .filter_map(|(place, seen)| Some((owners[place], tried[place].2.clone(), seen?)));
        let all_joined = together.iter().zip(&told_joined).filter_map(|((owner, pieces), told)| {
            let case = &cases[*owner];
            let looked = self.look(case.author, case.passes, pieces, told.as_ref()?, case.finding.as_ref());
            let same = looked.0 == case.operation && looked.1.nature == case.seen.nature;
            same.then(|| (*owner, pieces.clone(), looked.1))
        });
        for (owner, pieces, seen) in singles.chain(all_joined) {
            if best.get(&owner).is_none_or(|(known, _)| pieces.weight() < known.weight()) {
                best.insert(owner, (pieces, seen));
            }
        }
        for (index, case) in cases.iter_mut().enumerate() {
            match best.remove(&index) {
                Some((pieces, seen)) => (case.pieces, case.seen) = (pieces, seen),
                None => open[index] = false,
            }
        }
        Ok(())
    }

    /// The tests as they are printed, each seen once more.
    fn confirmed(&self, cases: Vec<Case>, unsteady: &mut usize) -> Result<Vec<Difference>, EngineError> {
        let tests: Vec<(usize, usize, Pieces)> =
            cases.iter().map(|case| (case.author, case.passes, case.pieces.clone())).collect();
        let told = self.tell_apart(&tests)?;
        *unsteady += told.iter().filter(|told| told.is_none()).count();
        let steady = cases.into_iter().zip(told).filter(|(_, told)| told.is_some());
        Ok(steady.map(|(case, _)| self.difference(case)).collect())
    }

    fn difference(&self, case: Case) -> Difference {
        let [named, now] = [case.author, NEW].map(|of| format!("{}::", self.versions[of].bench.subject.lib));
        // What only the head of a file may have is left out.
        let text = inner(&case.pieces.text()).replace(&named, &now);
        let head = |line: &&str| line.is_empty() || line.starts_with("//");
        let source: String = text.lines().skip_while(head).map(|line| format!("{line}\n")).collect();
        Difference {
            steps: (case.pieces.steps(), case.had),
            source: testwright_emit::tidy(&source),
            operation: case.operation,
            seen: case.seen,
            name: case.name,
            passes_before: case.passes == OLD,
            others: case.others,
        }
    }
}

fn is_law(class: &str) -> bool {
    class.starts_with("law:") || class.starts_with("contract:")
}
