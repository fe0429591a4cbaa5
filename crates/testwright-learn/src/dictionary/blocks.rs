//! Markdown → the code between its fences.

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// Rust, without the marks that hide lines from readers.
    Rust(String),
    /// Another language: as a whole an example of what a parser may be given.
    Other(String),
}

/// The fenced blocks in order. One that is not closed ends with the text.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let mut all = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let Some((fence, info)) = opening(line) else { continue };
        let body: Vec<&str> =
            lines.by_ref().take_while(|line| !line.trim_start().starts_with(fence)).collect();
        match language(info) {
            Language::Rust => {
                all.push(Block::Rust(body.into_iter().map(|line| shown(line).to_owned() + "\n").collect()));
            }
            Language::Other => all.push(Block::Other(body.join("\n"))),
            Language::Commands => {}
        }
    }
    all
}

fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let fence = &line[..line.len() - info.len()];
    (fence.len() >= 3).then_some((fence, info.trim()))
}

enum Language {
    Rust,
    /// What one types to build or install: says nothing about arguments.
    Commands,
    Other,
}

fn language(info: &str) -> Language {
    let first = info.split([',', ' ', '{']).next().unwrap_or("").trim().to_ascii_lowercase();
    match first.as_str() {
        "" | "rust" | "rs" | "no_run" | "ignore" | "should_panic" | "compile_fail" | "standalone" => {
            Language::Rust
        }
        edition if edition.starts_with("edition") => Language::Rust,
        "toml" | "sh" | "bash" | "shell" | "console" | "text" | "none" | "plain" => Language::Commands,
        _ => Language::Other,
    }
}

/// A line of an example as the compiler sees it: `# ` hides, `##` is a `#`.
fn shown(line: &str) -> &str {
    let code = line.trim_start();
    if code == "#" {
        ""
    } else if let Some(hidden) = code.strip_prefix("# ") {
        hidden
    } else if code.starts_with("##") {
        &code[1..]
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_blocks_lose_their_hidden_marks_and_others_stay_whole() {
        let text =
            "a\n```\n# use x;\n#[test]\nf();\n```\n```toml\n[a]\n```\n~~~json,x\n{\n}\n~~~\n````rust\ng();\n";
        assert_eq!(
            blocks(text),
            [
                Block::Rust("use x;\n#[test]\nf();\n".to_owned()),
                Block::Other("{\n}".to_owned()),
                Block::Rust("g();\n".to_owned()),
            ]
        );
    }
}
