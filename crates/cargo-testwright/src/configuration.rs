//! What the author accepts, and wishes of the search: `testwright.toml` beside the package's manifest, or the same tables in
//! `[package.metadata.testwright]` or `[workspace.metadata.testwright]`. What is said nearer to the package wins, name by name.
//!
//! ```toml
//! [accept]
//! dea65e6c = "callers check the capacity first"
//!
//! [generate]
//! setup = ["my_crate::init"]
//! least = 0
//! most = 100_000
//!
//! [factories]
//! Connection = ["Connection::in_memory"]
//!
//! [novelty]
//! Clock = "off"
//! Cache = { by = "a.len()" }
//!
//! [[law]]
//! type = "Queue"
//! name = "fits"
//! holds = "a.len() <= a.capacity()"
//!
//! [[contract]]
//! fn = "Queue::push"
//! requires = "self.len() < self.capacity()"
//! ensures = ["self.len() == old(self.len()) + 1", "!self.is_empty()"]
//!
//! [[invariant]]
//! type = "Queue"
//! holds = "self.len() <= self.capacity()"
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use testwright_engine::novelty::{Apart, NoveltyOf};
use testwright_engine::wishes::Wishes;
use testwright_engine::{Demands, EngineError};
use testwright_harness::Subject;
use testwright_model::contract::{Contract, Kind};
use testwright_model::law::Added;
use toml::{Table, Value};

/// The whole file; what it may hold besides is for others to read.
#[derive(Debug, Default, Deserialize)]
pub struct Configuration {
    /// Reasons by finding.
    #[serde(default)]
    pub accept: BTreeMap<String, String>,
    #[serde(default)]
    generate: Generate,
    #[serde(default)]
    factories: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    novelty: BTreeMap<String, Novelty>,
    #[serde(default)]
    law: Vec<OwnLaw>,
    #[serde(default)]
    contract: Vec<OfFunction>,
    #[serde(default)]
    invariant: Vec<OfType>,
}

/// What callers of a function must see to, and what holds afterwards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfFunction {
    #[serde(rename = "fn")]
    path: String,
    #[serde(default)]
    requires: Expressions,
    #[serde(default)]
    ensures: Expressions,
}

/// What holds of all values of a type, whenever a call has made or changed one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfType {
    #[serde(rename = "type")]
    ty: String,
    holds: Expressions,
}

/// One expression, or a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expressions {
    One(String),
    All(Vec<String>),
}

impl Default for Expressions {
    fn default() -> Self {
        Expressions::All(Vec::new())
    }
}

impl Expressions {
    fn list(&self) -> &[String] {
        match self {
            Expressions::One(one) => std::slice::from_ref(one),
            Expressions::All(all) => all,
        }
    }
}

/// What holds for all values `a`, `b` and `c` of a type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnLaw {
    #[serde(rename = "type")]
    ty: String,
    name: String,
    holds: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generate {
    #[serde(default)]
    setup: Vec<String>,
    least: Option<i64>,
    most: Option<i64>,
}

/// What tells values of a type apart.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
enum Novelty {
    Named(Known),
    Expression(By),
}

#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Known {
    /// The value's hash or text, as everywhere.
    Value,
    /// Each value counts as new.
    Off,
    /// `==`.
    Equality,
    /// The text, even if there is a hash.
    Representation,
}

/// What an expression over the value, `a`, gives.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct By {
    by: String,
}

impl Configuration {
    pub fn wishes(&self) -> Wishes {
        Wishes {
            setup: self.generate.setup.clone(),
            least: self.generate.least.map(i128::from),
            most: self.generate.most.map(i128::from),
            factories: self.factories.clone(),
            without_novelty: self
                .novelty
                .iter()
                .filter(|(_, novelty)| **novelty == Novelty::Named(Known::Off))
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

/// What the author of a package demands of it; nothing if its configuration cannot be read, which is no mistake in it.
pub fn demands_of(subject: &Subject) -> Result<Demands, EngineError> {
    match read(&subject.root, &subject.workspace_root) {
        Ok(read) => Ok(read.demands(&subject.root, &subject.workspace_root)),
        Err(error) if error.chain().any(<dyn std::error::Error>::is::<std::io::Error>) => {
            Ok(Demands::default())
        }
        Err(error) => Err(EngineError::Wish(format!("{error:#}"))),
    }
}

impl Configuration {
    /// What becomes part of the harness: the author's own laws and contracts, and how values are told apart, with where each is said.
    pub fn demands(&self, root: &Path, workspace: &Path) -> Demands {
        let files = Files::read(root, workspace);
        let law = |law: &OwnLaw| Added {
            ty: law.ty.clone(),
            name: law.name.clone(),
            holds: law.holds.clone(),
            place: files.place(&law.name, &law.holds),
        };
        let contract = |kind: Kind, of: &str, expression: &String| Contract {
            kind,
            of: of.to_owned(),
            expression: expression.trim().to_owned(),
            place: files.place(of, expression),
        };
        let mut contracts = Vec::new();
        for one in &self.contract {
            for (kind, said) in [(Kind::Requires, &one.requires), (Kind::Ensures, &one.ensures)] {
                contracts.extend(said.list().iter().map(|said| contract(kind, &one.path, said)));
            }
        }
        for one in &self.invariant {
            contracts.extend(one.holds.list().iter().map(|said| contract(Kind::Invariant, &one.ty, said)));
        }
        let novelty = self.novelty.iter().filter_map(|(ty, novelty)| {
            let by = novelty.apart()?;
            let said = if let Apart::Expression(expression) = &by { expression } else { ty };
            let place = files.place(ty, said);
            Some(NoveltyOf { ty: ty.clone(), by, place })
        });
        let laws = self.law.iter().map(law).collect();
        Demands { laws, contracts, novelty: novelty.collect(), ..Demands::default() }
    }
}

impl Novelty {
    /// What is to be written into the worker for it, if anything.
    fn apart(&self) -> Option<Apart> {
        match self {
            Novelty::Named(Known::Value | Known::Off) => None,
            Novelty::Named(Known::Equality) => Some(Apart::Equality),
            Novelty::Named(Known::Representation) => Some(Apart::Representation),
            Novelty::Expression(By { by }) => Some(Apart::Expression(by.clone())),
        }
    }
}

/// The files that something may be said in, the nearest first.
struct Files([(PathBuf, String); 3]);

impl Files {
    fn read(root: &Path, workspace: &Path) -> Files {
        let files = [root.join("testwright.toml"), root.join("Cargo.toml"), workspace.join("Cargo.toml")];
        Files(files.map(|path| {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            (path, text)
        }))
    }

    /// File and line of an expression: the first after what it is about is named, else the first at all, else where that is named.
    fn place(&self, of: &str, expression: &str) -> String {
        // Escapes and lists over several lines are looked for by their beginning.
        let beginning = expression.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let beginning = beginning.split(['"', '\\']).next().unwrap_or_default().trim();
        let named = format!("\"{of}\"");
        let at = self.0.iter().find_map(|(path, text)| {
            let lines = || text.lines().enumerate();
            let name = lines().find(|(_, line)| line.contains(&named)).map(|(number, _)| number);
            let says = |(_, line): &(usize, &str)| !beginning.is_empty() && line.contains(beginning);
            let after = name.and_then(|name| lines().skip(name).find(says));
            let number = after.or_else(|| lines().find(says)).map(|(number, _)| number).or(name)?;
            Some(format!("{}:{}", path.display(), number + 1))
        });
        at.unwrap_or_else(|| "configuration".to_owned())
    }
}

/// What is said anywhere for the package in this folder; an empty one if nothing is.
pub fn read(root: &Path, workspace: &Path) -> anyhow::Result<Configuration> {
    let mut all = Table::new();
    for (path, of) in [
        (workspace.join("Cargo.toml"), Some("workspace")),
        (root.join("Cargo.toml"), Some("package")),
        (root.join("testwright.toml"), None),
    ] {
        let said = tables(&path, of).with_context(|| format!("cannot read {}", path.display()))?;
        // Checked by itself, so that a mistake is told of the file that it is in.
        check(said.clone()).with_context(|| format!("cannot read {}", path.display()))?;
        join(&mut all, said);
    }
    check(all)
}

/// The tables of a file, or of the metadata of a manifest's part.
fn tables(path: &Path, of: Option<&str>) -> anyhow::Result<Table> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Table::new()),
        Err(error) => return Err(error.into()),
    };
    let file: Table = toml::from_str(&text)?;
    let Some(of) = of else { return Ok(file) };
    let said = file.get(of).and_then(|part| part.get("metadata")?.get("testwright")?.as_table());
    Ok(said.cloned().unwrap_or_default())
}

/// Names in a table of `nearer` take the place of the same names.
fn join(all: &mut Table, nearer: Table) {
    for (name, value) in nearer {
        match (all.get_mut(&name), value) {
            (Some(Value::Table(known)), Value::Table(more)) => known.extend(more),
            (_, value) => {
                all.insert(name, value);
            }
        }
    }
}

fn check(tables: Table) -> anyhow::Result<Configuration> {
    let file: Configuration = tables.try_into()?;
    for (id, reason) in &file.accept {
        anyhow::ensure!(!reason.trim().is_empty(), "finding {id} is accepted without a reason; write one");
    }
    for law in &file.law {
        let good = law.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && law.name.starts_with(|c: char| c.is_ascii_alphabetic());
        anyhow::ensure!(good, "`{}` is no name for a law; use letters, digits and underscores", law.name);
    }
    for contract in &file.contract {
        let said = contract.requires.list().len() + contract.ensures.list().len();
        anyhow::ensure!(
            said > 0,
            "the contract of `{}` neither requires nor ensures anything",
            contract.path
        );
    }
    if let (Some(least), Some(most)) = (file.generate.least, file.generate.most) {
        anyhow::ensure!(least <= most, "no number is at least {least} and at most {most}");
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Configuration> {
        check(toml::from_str(text)?)
    }

    #[test]
    fn what_is_said_nearer_to_the_package_wins() {
        let folder = std::env::temp_dir().join(format!("testwright-configuration-{}", std::process::id()));
        let member = folder.join("member");
        std::fs::create_dir_all(&member).unwrap();
        let of = |part: &str, least: i64, most: &str| {
            format!("[{part}.metadata.testwright.generate]\nleast = {least}\n{most}\n")
        };
        std::fs::write(folder.join("Cargo.toml"), of("workspace", 1, "most = 90")).unwrap();
        std::fs::write(member.join("Cargo.toml"), of("package", 2, "setup = [\"a::init\"]")).unwrap();
        let wishes = read(&member, &folder).unwrap().wishes();
        assert_eq!((wishes.least, wishes.most), (Some(2), Some(90)));
        std::fs::write(member.join("testwright.toml"), "[generate]\nleast = 3\n").unwrap();
        let wishes = read(&member, &folder).unwrap().wishes();
        assert_eq!((wishes.least, wishes.setup.as_slice()), (Some(3), &["a::init".to_owned()][..]));
        std::fs::write(member.join("testwright.toml"), "[generate]\nless = 3\n").unwrap();
        let error = format!("{:#}", read(&member, &folder).unwrap_err());
        assert!(error.contains("member/testwright.toml") && error.contains("less"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn each_finding_needs_its_reason() {
        let accepted = parse("[accept]\ndea65e6c = \"callers check\"\n").unwrap().accept;
        assert_eq!(accepted.get("dea65e6c").map(String::as_str), Some("callers check"));
        assert!(parse("[accept]\ndea65e6c = \" \"\n").is_err());
        assert!(parse("accept = 3").is_err());
        assert!(parse("").unwrap().accept.is_empty());
    }

    #[test]
    fn contracts_know_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[[contract]]\nfn = \"Q::pop\"\nensures = \"self.len() < 9\"\n\n[[contract]]\nfn = \"Q::push\"\n\
            requires = [\n    \"self.len() < 9\",\n    'self.name() != \"a\"',\n]\n[[invariant]]\ntype = \"Q\"\nholds = \"true\"\n";
        std::fs::write(folder.path().join("testwright.toml"), text).unwrap();
        let demands = read(folder.path(), folder.path()).unwrap().demands(folder.path(), folder.path());
        let told: Vec<_> = demands
            .contracts
            .iter()
            .map(|one| (one.kind.name(), &*one.of, one.place.rsplit(':').next().unwrap_or("")))
            .collect();
        let expected = [
            ("ensures", "Q::pop", "3"),
            ("requires", "Q::push", "8"),
            ("requires", "Q::push", "9"),
            ("invariant", "Q", "13"),
        ];
        assert_eq!(told, expected);
        assert!(parse("[[contract]]\nfn = \"Q::pop\"\n").is_err());
        assert!(parse("[[contract]]\nfn = \"Q::pop\"\nensure = \"true\"\n").is_err());
        assert!(parse("[[invariant]]\ntype = \"Q\"\nholds = 3\n").is_err());
    }

    #[test]
    fn wishes_are_read_and_nonsense_is_refused() {
        let text = "[generate]\nsetup = [\"a::init\"]\nmost = 9\n[factories]\nC = [\"C::new\"]\n[novelty]\nC = \"off\"\nD = \"value\"\n";
        let wishes = parse(text).unwrap().wishes();
        assert_eq!((wishes.least, wishes.most), (None, Some(9)));
        assert_eq!(wishes.setup, ["a::init"]);
        assert_eq!(wishes.factories["C"], ["C::new"]);
        assert_eq!(wishes.without_novelty, ["C"]);
        assert!(parse("[generate]\nleast = 3\nmost = 2\n").is_err());
        assert!(parse("[generate]\nsmallest = 3\n").is_err());
        assert!(parse("[novelty]\nC = \"sometimes\"\n").is_err());
        assert!(parse("[novelty]\nC = { of = \"a\" }\n").is_err());
    }

    #[test]
    fn ways_to_tell_values_apart_are_read() {
        let text =
            "[novelty]\nA = \"off\"\nB = \"equality\"\nC = \"representation\"\nD = { by = \"a.len()\" }\n";
        let novelty = parse(text).unwrap().demands(Path::new("/"), Path::new("/")).novelty;
        let ways: Vec<(&str, &Apart)> = novelty.iter().map(|of| (&*of.ty, &of.by)).collect();
        let by = Apart::Expression("a.len()".to_owned());
        assert_eq!(ways, [("B", &Apart::Equality), ("C", &Apart::Representation), ("D", &by)]);
    }
}
