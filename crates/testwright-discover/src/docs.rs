//! Doc comments: the text, what it says about panics, and its examples.

use testwright_model::api::Docs;

/// Words after `panics` that tell when; "if the closure panics, …" tells nothing about the function itself.
const WHEN: [&str; 12] =
    ["if", "when", "whenever", "on", "unless", "for", "in", "with", "upon", "at", "should", "once"];
/// Words before `panic` that announce it.
const WILL: [&str; 5] = ["will", "may", "can", "might", "would"];

/// Words after a code fence that leave it a test.
const RUST_WORDS: [&str; 11] = [
    "rust",
    "should_panic",
    "no_run",
    "edition2015",
    "edition2018",
    "edition2021",
    "edition2024",
    "test_harness",
    "standalone",
    "standalone_crate",
    "no_crate_inject",
];

pub fn docs(text: Option<&str>) -> Docs {
    let Some(text) = text else { return Docs::default() };
    Docs {
        text: text.to_owned(),
        panics: panics_section(text).or_else(|| panics_sentence(text)),
        examples: examples(text),
    }
}

/// Lines outside (`false`) and inside (`true`) code fences, the fences themselves left out.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().filter_map(move |line| match (fence, fence_of(line)) {
        (None, Some(open)) => {
            fence = Some(open);
            None
        }
        (Some(open), Some(close)) if close.starts_with(open) => {
            fence = None;
            None
        }
        (inside, _) => Some((inside.is_some(), line)),
    })
}

/// The backticks or tildes that open or close a code block.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let end = line.find(|next| next != mark).unwrap_or(line.len());
    (end >= 3).then(|| &line[..end])
}

fn panics_section(text: &str) -> Option<String> {
    let mut section: Option<Vec<&str>> = None;
    for (is_code, line) in lines(text) {
        let is_heading = !is_code && line.trim_start().starts_with('#');
        if is_heading && section.is_some() {
            break;
        }
        let title = line.trim().trim_matches(|mark: char| matches!(mark, '#' | ':' | '*' | '_' | ' '));
        if is_heading && ["panics", "panic", "panicking"].contains(&title.to_lowercase().as_str()) {
            section = Some(Vec::new());
        } else if let Some(section) = &mut section {
            section.push(line);
        }
    }
    section.map(|lines| lines.join("\n").trim().to_owned())
}

/// A sentence that announces a panic, or else one that says what an argument must be and not what happens otherwise.
fn panics_sentence(text: &str) -> Option<String> {
    let mut paragraphs = vec![String::new()];
    for (is_code, line) in lines(text) {
        if is_code || line.trim().is_empty() {
            paragraphs.push(String::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push_str(line.trim());
            paragraph.push(' ');
        }
    }
    let sentences = || {
        let sentences = paragraphs.iter().flat_map(|paragraph| paragraph.split_inclusive(". "));
        sentences.map(str::trim)
    };
    let announced = sentences().find(|sentence| announces_panic(sentence));
    let answers = ["error", "Err", "None", "null"].iter().any(|word| text.contains(word));
    announced.or_else(|| sentences().find(|sentence| !answers && demands(sentence))).map(str::to_owned)
}

/// "`radix` must be in the range `2...256`."
fn demands(sentence: &str) -> bool {
    sentence.match_indices("` must ").any(|(end, _)| {
        let start = sentence[..end].rfind('`').map_or(0, |start| start + 1);
        let named = &sentence[start..end];
        !named.is_empty() && named.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

fn announces_panic(sentence: &str) -> bool {
    // "***Panics*** `index` is out of bounds", as a label.
    let label = sentence.split_whitespace().next().unwrap_or("");
    if label.starts_with(['*', '_']) && label.trim_matches(['*', '_', ':']).eq_ignore_ascii_case("panics") {
        return true;
    }
    let plain = sentence.to_lowercase().replace(['*', '`', '_', '[', ']'], "");
    let words: Vec<&str> = plain
        .split_whitespace()
        .map(|word| word.trim_matches(|mark: char| !mark.is_alphanumeric()))
        .collect();
    (0..words.len()).any(|i| {
        let before = i.checked_sub(1).map_or("", |before| words[before]);
        let after = words.get(i + 1).copied().unwrap_or_default();
        match words[i] {
            "panics" => before != "never" && WHEN.contains(&after),
            "panic" => WILL.contains(&before) || (before != "not" && matches!(after, "if" | "when")),
            _ => false,
        }
    })
}

fn examples(text: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let mut open: Option<(&str, bool, Vec<&str>)> = None;
    for line in text.lines() {
        match (&mut open, fence_of(line)) {
            (None, Some(fence)) => {
                let words = line.trim_start().trim_start_matches(['`', '~']);
                open = Some((fence, is_rust(words), Vec::new()));
            }
            (Some((fence, is_rust, code)), Some(close)) if close.starts_with(*fence) => {
                if *is_rust {
                    examples.push(code.join("\n"));
                }
                open = None;
            }
            (Some((_, _, code)), _) => code.push(unmarked(line)),
            (None, None) => {}
        }
    }
    examples
}

fn is_rust(words: &str) -> bool {
    let mut words = words.split([',', ' ', '{', '}']).map(str::trim).filter(|word| !word.is_empty());
    words.all(|word| RUST_WORDS.contains(&word))
}

/// A line without the mark that hides it from the reader.
fn unmarked(line: &str) -> &str {
    let code = line.trim_start();
    match code.strip_prefix('#') {
        Some("") => "",
        Some(rest) if rest.starts_with('#') => rest,
        Some(rest) => rest.strip_prefix(' ').unwrap_or(line),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn panics(text: &str, expected: Option<&str>) {
        assert_eq!(docs(Some(text)).panics.as_deref(), expected, "{text}");
    }

    #[test]
    fn panics_are_read_from_sections_and_sentences() {
        panics("Adds.\n\n# Panics\n\nIf full.\n\n# Examples\nx", Some("If full."));
        panics(
            "Adds.\n\n## Panics:\nIf `i` is\nlarge.\n```\n# let x = 1;\n```",
            Some("If `i` is\nlarge.\nlet x = 1;".replace("let x = 1;", "# let x = 1;").as_str()),
        );
        panics("Adds an edge. **Panics** if `a` is unknown. More.", Some("**Panics** if `a` is unknown."));
        panics(
            "Inserts. ***Panics*** `index` is out of bounds.",
            Some("***Panics*** `index` is out of bounds."),
        );
        panics("This will panic on\noverflow.", Some("This will panic on overflow."));
        panics("Never panics when called.", None);
        panics("Digits. `radix` must be below 9.", Some("`radix` must be below 9."));
        panics("`radix` must be below 9, else an error comes back.", None);
        panics("The result must be used.", None);
        panics("If the closure panics, the map is left as it was.", None);
        panics("It does not panic if empty.", None);
        panics("```\n// panics if\n```", None);
    }

    #[test]
    fn examples_are_the_rust_blocks_without_marks() {
        let text = "a\n```\n# use x::Y;\n## attr\n#[derive(A)]\nstruct S;\n#\n```\n```text\nno\n```\n~~~should_panic\nboom\n~~~\n```rust,ignore\nno\n```";
        assert_eq!(docs(Some(text)).examples, ["use x::Y;\n# attr\n#[derive(A)]\nstruct S;\n", "boom"]);
    }
}
