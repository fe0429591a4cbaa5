//! Emitted tests against the subject: which of them compile, and their executables. Running them is done elsewhere.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use cargo_metadata::Message;

use crate::bisect;
use crate::cargo::Cargo;
use crate::diagnosis::{Diagnosis, diagnose};
use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::manifest;
use crate::places::Places;
use crate::subject::Subject;
use crate::variant::{Confirm, Variant};
use crate::wrapper::Plan;

const MAX_ROUNDS: u32 = 24;

/// Executables of earlier runs that are kept, in bytes: to confirm the same tests again costs nothing then.
const KEPT: u64 = 128 << 20;

/// A package of ours that depends on the subject as a user's tests do.
#[derive(Debug)]
pub struct TestBench {
    root: PathBuf,
    subject: Subject,
    places: Places,
    /// Distinguishes what earlier benches compiled.
    key: String,
    /// Shared by all runs that use what is in `built`; who has it alone may remove from there.
    _in_use: File,
}

/// A complete test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSource {
    /// Shown in the executable's name; letters, digits and underscores.
    pub name: String,
    pub text: String,
}

impl TestBench {
    /// `foreign` are the names in code of the other crates that tests may use; `edition` is that of the package they will live in.
    pub fn open(
        subject: &Subject,
        foreign: &[String],
        edition: &str,
        places: &Places,
    ) -> Result<TestBench, HarnessError> {
        let package = manifest::package("testwright-bench", edition)
            + "autotests = true\n"
            + &manifest::dependencies(subject, foreign)?;
        let key = Digest::new().text(&subject.digest).text(&package).finish();
        let root = places.work.join(subject.folder()).join(format!("bench-{}", &key[..16]));
        let text = manifest::workspace(&["bench"], &subject.recipe);
        files::write_if_changed(&root.join("Cargo.toml"), &text)?;
        files::write_if_changed(&root.join("bench/Cargo.toml"), &package)?;
        files::write_if_changed(&root.join("bench/src/lib.rs"), "")?;
        let lock = root.join("Cargo.lock");
        if !lock.exists() {
            files::write(&lock, subject.recipe.lock.as_bytes())?;
        }
        files::forget_old(&root, "bench-");
        let in_use = built_in_use(&root)?;
        Ok(TestBench { root, subject: subject.clone(), places: places.clone(), key, _in_use: in_use })
    }

    /// Which of the items pass `cargo check`, all in one crate (lints on constant arithmetic show only in
    /// [`TestBench::compile`]); for the others the compiler's words in one line. Each is wrapped in a
    /// module of its own, so that names may meet.
    pub fn check_bulk(&self, items: &[String]) -> Result<Vec<Result<(), String>>, HarnessError> {
        let _guard = self.lock()?;
        let mut verdicts = vec![Ok(()); items.len()];
        for _ in 0..MAX_ROUNDS {
            if verdicts.iter().all(Result::is_err) {
                break;
            }
            let Some(diagnosis) = self.check_once(items, &verdicts)? else { return Ok(verdicts) };
            if diagnosis.blamed.is_empty() {
                return self.check_apart(items, verdicts, &diagnosis);
            }
            for (index, words) in diagnosis.blamed {
                verdicts[index] = Err(words);
            }
        }
        Ok(verdicts)
    }

    /// One round over the items that have no error yet; `None` if all compile.
    fn check_once(
        &self,
        items: &[String],
        verdicts: &[Result<(), String>],
    ) -> Result<Option<Diagnosis<usize>>, HarnessError> {
        let mut text = "#![allow(warnings)]\n".to_owned();
        let mut lines = 1;
        let mut starts = Vec::new();
        for (index, item) in items.iter().enumerate().filter(|(index, _)| verdicts[*index].is_ok()) {
            let piece = format!("mod item_{index} {{\n{}\n}}\n", item.trim_end());
            starts.push((lines + 1, index));
            lines += piece.lines().count();
            text.push_str(&piece);
        }
        self.replace_tests(&BTreeMap::from([("bulk".to_owned(), text)]))?;
        let outcome = self.cargo("check", Variant::from(Confirm::debug())).args(["--test", "bulk"]).run()?;
        if outcome.success {
            return Ok(None);
        }
        let piece_at = |file: &str, line: usize| {
            if !file.ends_with("tests/bulk.rs") {
                return None;
            }
            let at = starts.partition_point(|(first, _)| *first <= line).checked_sub(1)?;
            Some(starts[at].1)
        };
        Ok(Some(diagnose(&outcome, |file| file.starts_with(&self.root), piece_at)))
    }

    /// The errors name no line, so parts are tried.
    fn check_apart(
        &self,
        items: &[String],
        mut verdicts: Vec<Result<(), String>>,
        diagnosis: &Diagnosis<usize>,
    ) -> Result<Vec<Result<(), String>>, HarnessError> {
        let words = diagnosis.unexplained.first().and_then(|text| text.lines().next());
        let open = (0..items.len()).filter(|index| verdicts[*index].is_ok()).collect();
        let bad = bisect::culprits(&open, &mut 0, &mut |part| {
            let chosen: Vec<_> = (0..items.len())
                .map(|index| if part.contains(&index) { Ok(()) } else { Err(String::new()) })
                .collect();
            Ok(self.check_once(items, &chosen)?.is_some())
        })?;
        for index in bad {
            verdicts[index] = Err(words.unwrap_or("does not compile").to_owned());
        }
        Ok(verdicts)
    }

    /// Compiles each test file into an executable of its own, under the given settings. For those that do not compile: the
    /// compiler's rendered errors.
    pub fn compile(
        &self,
        tests: &[TestSource],
        confirm: Confirm,
    ) -> Result<Vec<Result<PathBuf, String>>, HarnessError> {
        let variant = Variant::from(confirm);
        let kept = self.root.join("built");
        files::make_folder(&kept)?;
        let names: Vec<String> = tests.iter().map(|test| self.target_name(test)).collect();
        let path = |name: &str| kept.join(format!("{name}-{}", variant.name()));
        let _guard = self.lock()?;
        let wanted: BTreeMap<String, String> = names
            .iter()
            .zip(tests)
            .filter(|(name, _)| !path(name).exists())
            .map(|(name, test)| (name.clone(), test.text.clone()))
            .collect();
        let mut errors = BTreeMap::<String, String>::new();
        if !wanted.is_empty() {
            self.replace_tests(&wanted)?;
            let outcome = self.cargo("build", variant).args(["--test", "*"]).run()?;
            for message in outcome.messages() {
                match message {
                    Message::CompilerArtifact(artifact) => {
                        if let (Some(executable), true) =
                            (&artifact.executable, wanted.contains_key(&artifact.target.name))
                        {
                            files::take(executable.as_std_path(), &path(&artifact.target.name))?;
                        }
                    }
                    Message::CompilerMessage(message) => {
                        if let Some(rendered) = message.message.rendered {
                            errors.entry(message.target.name.clone()).or_default().push_str(&rendered);
                        }
                    }
                    _ => {}
                }
            }
            if !outcome.success && errors.is_empty() {
                return Err(HarnessError::internal(format!("tests do not build:\n{}", outcome.error_text())));
            }
        }
        let verdict = |name: &String| {
            if path(name).exists() {
                Ok(path(name))
            } else {
                Err(errors.get(name).cloned().unwrap_or_else(|| "the compiler made no executable".to_owned()))
            }
        };
        Ok(names.iter().map(verdict).collect())
    }

    /// Tests have a target folder of their own, so that they are compiled while a worker is built.
    fn lock(&self) -> Result<File, HarnessError> {
        self.places.lock("lock-bench")
    }

    fn target_name(&self, test: &TestSource) -> String {
        let digest = Digest::new().text(&self.key).text(&test.text).finish();
        let name: String =
            test.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(80).collect();
        format!("{name}_{}", &digest[..12])
    }

    /// Makes `tests/` hold exactly these files.
    fn replace_tests(&self, tests: &BTreeMap<String, String>) -> Result<(), HarnessError> {
        let folder = self.root.join("bench/tests");
        files::remove_folder(&folder)?;
        for (name, text) in tests {
            files::write(&folder.join(format!("{name}.rs")), text.as_bytes())?;
        }
        Ok(())
    }

    fn cargo(&self, subcommand: &str, variant: Variant) -> Cargo<'_> {
        let plan = Plan { sanitizer: variant.sanitizer, ..self.subject.plan() };
        Cargo::new(&self.places, subcommand, &self.subject.root)
            .manifest(&self.root.join("Cargo.toml"))
            .args(["--message-format=json", "--keep-going"])
            .args(variant.arguments())
            .compiles(&self.subject.host, plan, &self.places.bench())
    }
}

/// Removes old executables if no other run may be about to start one, and keeps others from doing so while the lock lives.
fn built_in_use(root: &Path) -> Result<File, HarnessError> {
    let path = root.join("in-use");
    let fail = |error| HarnessError::io("cannot lock", &path, &error);
    let file = File::create(&path).map_err(fail)?;
    if file.try_lock().is_ok() {
        files::keep_newest(&root.join("built"), KEPT);
        file.unlock().map_err(fail)?;
    }
    file.lock_shared().map_err(fail)?;
    Ok(file)
}
