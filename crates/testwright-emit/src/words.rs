//! Rust words: paths of operations taken apart, names in snake case, keywords kept apart.

/// `BoundedStack` → `bounded_stack`, `HTTPServer` → `http_server`. Characters that no name may have are left out.
pub fn snake(name: &str) -> String {
    let letters: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut out = String::new();
    for (i, c) in letters.iter().enumerate() {
        if c.is_ascii_uppercase() {
            let before = i.checked_sub(1).and_then(|i| letters.get(i));
            let word_before = before.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            let word_after = before.is_some_and(char::is_ascii_uppercase)
                && letters.get(i + 1).is_some_and(char::is_ascii_lowercase);
            if word_before || word_after {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii_alphanumeric() || *c == '_' {
            out.push(*c);
        }
    }
    let out = out.trim_matches('_');
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        format!("value{out}")
    } else {
        out.to_owned()
    }
}

/// Words that a variable, function or module cannot be called.
pub fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "as" | "break"
            | "const"
            | "continue"
            | "crate"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
            | "async"
            | "await"
            | "try"
            | "gen"
            | "yield"
            | "box"
            | "abstract"
            | "final"
            | "macro"
            | "override"
            | "priv"
            | "do"
            | "typeof"
            | "unsized"
            | "virtual"
            | "become"
    )
}

/// Whether the text is one plain name.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_keyword(text)
}

/// An operation's path taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callee {
    /// The type that it belongs to, without its path: `Slab` of `<&Slab as IntoIterator>::into_iter`.
    pub owner: Option<String>,
    /// The module of a free function, `memory` of `rogue::memory::leak`; none at the crate's root.
    pub module: Option<String>,
    /// The last word, in snake case.
    pub name: String,
}

/// Reads `Slab::insert`, `<Slab as Index>::index`, `Point.x`, `Point.x=`, `rogue::memory::leak`.
pub fn callee(path: &str) -> Callee {
    let path = path.trim_end_matches('=');
    if let Some(rest) = path.strip_prefix('<') {
        let (owner, of_trait) = rest.split_once(" as ").unwrap_or((rest, ""));
        let word = |text: &str| {
            let (text, _) = text.split_once(['<', '>']).unwrap_or((text, ""));
            let text = text.trim_start_matches('&').trim_start_matches("mut ");
            text.rsplit("::").next().unwrap_or(text).to_owned()
        };
        // A type parameter, a tuple or a slice says less than the trait.
        let mut owner = word(owner);
        if owner.len() < 2 || !is_identifier(&owner) {
            owner = word(of_trait);
        }
        let name = path.rsplit("::").next().unwrap_or(path);
        return Callee { owner: Some(owner), module: None, name: snake(name) };
    }
    if let Some((owner, field)) = path.rsplit_once('.') {
        let owner = owner.rsplit("::").next().unwrap_or(owner);
        let name = if field.starts_with(|c: char| c.is_ascii_digit()) {
            format!("field_{field}")
        } else {
            snake(field)
        };
        return Callee { owner: Some(owner.to_owned()), module: None, name };
    }
    let segments: Vec<&str> = path.split("::").collect();
    let (name, before) = segments.split_last().unwrap_or((&"", &[]));
    let is_type = |word: &&&str| word.starts_with(|c: char| c.is_ascii_uppercase());
    if let Some(owner) = before.last().filter(is_type) {
        return Callee { owner: Some((*owner).to_owned()), module: None, name: snake(name) };
    }
    if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Callee { owner: Some((*name).to_owned()), module: None, name: snake(name) };
    }
    let module = if before.len() > 1 { before.last().map(|word| snake(word)) } else { None };
    Callee { owner: None, module, name: snake(name) }
}

#[cfg(test)]
mod tests {
    use super::{Callee, callee, snake};

    #[test]
    fn capitals_begin_words() {
        for (name, expected) in [
            ("BoundedStack", "bounded_stack"),
            ("HTTPServer", "http_server"),
            ("Vec2Iter", "vec2_iter"),
            ("get_mut", "get_mut"),
            ("r#type", "type"),
            ("2d", "value2d"),
            ("…", "value"),
        ] {
            assert_eq!(snake(name), expected);
        }
    }

    #[test]
    fn paths_are_taken_apart() {
        let check = |path, owner: Option<&str>, module: Option<&str>, name: &str| {
            let expected = Callee {
                owner: owner.map(str::to_owned),
                module: module.map(str::to_owned),
                name: name.to_owned(),
            };
            assert_eq!(callee(path), expected, "{path}");
        };
        check("Slab::insert", Some("Slab"), None, "insert");
        check("<Slab as Index>::index", Some("Slab"), None, "index");
        check("<&mut lib::Slab<i32> as IntoIterator>::into_iter", Some("Slab"), None, "into_iter");
        check("<&G as IntoNeighbors>::neighbors", Some("IntoNeighbors"), None, "neighbors");
        check("<(Ix, Ix) as Pair<Ix>>::swap", Some("Pair"), None, "swap");
        check("Point.x=", Some("Point"), None, "x");
        check("Pair.0", Some("Pair"), None, "field_0");
        check("rogue::memory::leak", None, Some("memory"), "leak");
        check("rogue::leak", None, None, "leak");
        check("shapes::Point", Some("Point"), None, "point");
    }
}
