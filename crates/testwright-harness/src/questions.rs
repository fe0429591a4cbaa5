//! Questions to the compiler about the crates around the subject: small pieces of code in, for each whether it compiles out.

use std::path::Path;

use crate::cargo::Cargo;
use crate::diagnosis::diagnose;
use crate::digest::Digest;
use crate::error::HarnessError;
use crate::files;
use crate::manifest;
use crate::places::Places;
use crate::subject::Subject;

/// Errors come in waves: names first, types when all names are known.
const MAX_ROUNDS: u32 = 8;

/// Which of the pieces compile in a crate that depends on the subject and on the `foreign` crates that it is built on, by their names
/// in code. Each piece has a module of its own. The answers are kept, and what is compiled for them serves the harness too.
pub fn ask(
    subject: &Subject,
    foreign: &[String],
    pieces: &[String],
    places: &Places,
) -> Result<Vec<bool>, HarnessError> {
    let package =
        manifest::package("testwright-questions", "2021") + &manifest::dependencies(subject, foreign)?;
    let mut digest = Digest::new();
    digest.text(&subject.digest).text(&package);
    for piece in pieces {
        digest.text(piece);
    }
    let key = digest.finish();
    let root = places.work.join(subject.folder()).join(format!("questions-{}", &key[..16]));
    let answers = root.join("answers.json");
    let _guard = places.lock("lock")?;
    if let Some(known) = load(&answers, pieces.len()) {
        return Ok(known);
    }
    files::write_if_changed(&root.join("Cargo.toml"), &manifest::workspace(&["questions"], &subject.recipe))?;
    files::write_if_changed(&root.join("questions/Cargo.toml"), &package)?;
    let lock = root.join("Cargo.lock");
    if !lock.exists() {
        files::write(&lock, subject.recipe.lock.as_bytes())?;
    }
    let mut good = vec![true; pieces.len()];
    for _ in 0..MAX_ROUNDS {
        if check(subject, pieces, &mut good, &root, places)? {
            let text =
                serde_json::to_string(&good).map_err(|error| HarnessError::internal(error.to_string()))?;
            files::write(&answers, text.as_bytes())?;
            files::forget_old(&root, "questions-");
            return Ok(good);
        }
    }
    Err(HarnessError::internal("the compiler did not come to an end with what it was asked"))
}

/// One round over the pieces that are still good; whether all of them compile.
fn check(
    subject: &Subject,
    pieces: &[String],
    good: &mut [bool],
    root: &Path,
    places: &Places,
) -> Result<bool, HarnessError> {
    let mut text = "#![allow(warnings)]\n".to_owned();
    let mut lines = Vec::new();
    for (index, piece) in pieces.iter().enumerate().filter(|(index, _)| good[*index]) {
        // A line for each, so that an error's line is its piece.
        text.push_str(&format!("mod q{index} {{ {} }}\n", piece.replace('\n', " ")));
        lines.push(index);
    }
    files::write_if_changed(&root.join("questions/src/lib.rs"), &text)?;
    let outcome = Cargo::new(places, "check", &subject.root)
        .manifest(&root.join("Cargo.toml"))
        .args(["--message-format=json", "--keep-going"])
        .compiles(&subject.host, subject.plan(), &places.build())
        .run()?;
    if outcome.success {
        return Ok(true);
    }
    let piece_at = |file: &str, line: usize| {
        file.ends_with("questions/src/lib.rs").then(|| lines.get(line.checked_sub(2)?).copied())?
    };
    let diagnosis = diagnose(&outcome, |file| file.starts_with(root), piece_at);
    if diagnosis.blamed.is_empty() {
        return Err(HarnessError::internal(format!(
            "what the compiler was asked does not build:\n{}",
            outcome.error_text()
        )));
    }
    for index in diagnosis.blamed.into_keys() {
        good[index] = false;
    }
    Ok(false)
}

fn load(answers: &Path, count: usize) -> Option<Vec<bool>> {
    let known: Vec<bool> = serde_json::from_str(&files::read(answers).ok()?).ok()?;
    (known.len() == count).then_some(known)
}
