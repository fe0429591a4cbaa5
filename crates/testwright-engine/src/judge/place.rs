//! Where a panic stands: the function around a line of source, and what that says about a failure.
//!
//! Receives the text of a file and a line, or a failure and the function it is in; hands on the [`Function`], or the tier. Reads no
//! files, see `second_look`. Tokens are looked at, not the syntax tree: what stands in a macro's arguments has none.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::words::{ASSERTED, is_unchecked, promised_by};
use super::{Failure, Tier};

/// A function as its source shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Names that still mean what the caller gave where the line stands; `self` is none of them.
    pub params: BTreeSet<String>,
    /// Whether its documentation announces panics.
    pub documented: bool,
}

/// How bad a failure is, now that the function it stands in is known. `own`: whether that is of the crate under test.
pub fn tier_in(failure: &Failure, function: &Function, own: bool) -> Tier {
    let panics = matches!(failure.class, "panic" | "index" | "unwrap" | "overflow");
    if failure.tier != Tier::Bug || !panics || promised_by(&failure.operation) {
        return failure.tier;
    }
    if is_unchecked(&function.name) || is_about_arguments(&failure.message, function, own) {
        return Tier::UndocumentedPanic;
    }
    failure.tier
}

/// Whether an assertion names parameters and nothing else; other things beside them, if the function says that it panics. A dependency's
/// parameters are what the crate gave it.
fn is_about_arguments(message: &str, function: &Function, own: bool) -> bool {
    let Some(expression) = message.strip_prefix(ASSERTED) else { return false };
    let Ok(tokens) = expression.parse::<TokenStream>() else { return false };
    let mut names = BTreeSet::new();
    collect_names(tokens, &mut names);
    let given = names.iter().filter(|name| function.params.contains(*name)).count();
    own && given > 0 && (given == names.len() || function.documented)
}

/// The function that a line stands in, the innermost one. `None` if there is none, or if several share the line.
pub fn function_at(text: &str, line: u32) -> Option<Function> {
    let line = usize::try_from(line).ok()?;
    let mut found = Vec::new();
    collect_functions(text.parse().ok()?, line, &mut found);
    // Each that stands in another comes behind it.
    let innermost = found.pop()?;
    found.iter().all(|outer| outer.holds(&innermost)).then_some(innermost)?.known(line)
}

/// A function in pieces.
struct Pieces {
    name: String,
    docs: String,
    params: Group,
    body: Group,
}

impl Pieces {
    fn holds(&self, other: &Pieces) -> bool {
        let (outer, inner) = (self.body.span().byte_range(), other.body.span().byte_range());
        outer.start < inner.start && inner.end < outer.end
    }

    fn known(self, line: usize) -> Option<Function> {
        let mut params = BTreeSet::new();
        for param in split(self.params.stream()) {
            let pattern = param.split(|token| is_punct(token, ':')).next()?;
            collect_names(pattern.iter().cloned().collect(), &mut params);
        }
        params.remove("self");
        forget_rebound(self.body.stream(), line, &mut params);
        let documented = testwright_discover::announces_panics(&self.docs);
        Some(Function { name: self.name, params, documented })
    }
}

/// All functions around the line, outer ones first.
fn collect_functions(tokens: TokenStream, line: usize, found: &mut Vec<Pieces>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut docs = String::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] if hash.as_char() == '#' => {
                docs.extend(doc_line(attribute));
                at += 1;
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "fn" => {
                if let Some((params, body, end)) = signature(&tokens[at + 2..]) {
                    let (first, last) = (word.span().start().line, body.span_close().end().line);
                    if (first..=last).contains(&line) {
                        let docs = std::mem::take(&mut docs);
                        let name = name.to_string();
                        found.push(Pieces { name, docs, params, body: body.clone() });
                        collect_functions(body.stream(), line, found);
                    }
                    at += 1 + end;
                }
                docs.clear();
            }
            [TokenTree::Group(group), ..] => {
                let (first, last) = (group.span_open().start().line, group.span_close().end().line);
                if (first..=last).contains(&line) {
                    collect_functions(group.stream(), line, found);
                }
                // `pub(crate)` is a part of what is documented, a body is its end.
                if group.delimiter() == Delimiter::Brace {
                    docs.clear();
                }
            }
            [TokenTree::Punct(end), ..] if end.as_char() == ';' => docs.clear(),
            _ => {}
        }
        at += 1;
    }
}

/// Parameters and body behind a function's name, and how many tokens they take; `None` if there is no body.
fn signature(tokens: &[TokenTree]) -> Option<(Group, Group, usize)> {
    let (mut depth, mut params) = (0_i32, None);
    for (index, token) in tokens.iter().enumerate() {
        depth += angle(index.checked_sub(1).map(|before| &tokens[before]), token);
        match token {
            TokenTree::Group(group) if depth == 0 => match (group.delimiter(), params.take()) {
                (Delimiter::Parenthesis, None) => params = Some(group.clone()),
                (Delimiter::Brace, Some(params)) => return Some((params, group.clone(), index + 1)),
                (_, before) => params = before,
            },
            TokenTree::Punct(end) if end.as_char() == ';' => return None,
            _ => {}
        }
    }
    None
}

/// What a token opens or closes of `<` and `>`; the arrow closes nothing.
fn angle(before: Option<&TokenTree>, token: &TokenTree) -> i32 {
    let TokenTree::Punct(mark) = token else { return 0 };
    match mark.as_char() {
        '<' => 1,
        '>' if !before.is_some_and(|before| is_punct(before, '-')) => -1,
        _ => 0,
    }
}

/// Parts between commas that stand outside of `<` and `>`.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut parts, mut depth) = (vec![Vec::new()], 0);
    for (index, token) in tokens.iter().enumerate() {
        depth += angle(index.checked_sub(1).map(|before| &tokens[before]), token);
        match parts.last_mut() {
            Some(part) if !(depth == 0 && is_punct(token, ',')) => part.push(token.clone()),
            _ => parts.push(Vec::new()),
        }
    }
    parts
}

/// Takes out names that `let` and `for` before the line gave to something else. What is made of the old value is still the caller's.
fn forget_rebound(tokens: TokenStream, line: usize, params: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        if token.span().start().line > line {
            return;
        }
        if let TokenTree::Group(group) = token {
            // A block that has ended has taken its names with it.
            if group.span_close().end().line >= line {
                forget_rebound(group.stream(), line, params);
            }
            continue;
        }
        let TokenTree::Ident(word) = token else { continue };
        let rest = &tokens[index + 1..];
        let is_between = |token: &TokenTree| match token {
            TokenTree::Ident(between) => word == "for" && between == "in",
            TokenTree::Punct(mark) => word == "let" && matches!(mark.as_char(), '=' | ':'),
            _ => false,
        };
        let Some(middle) = rest.iter().position(is_between).filter(|_| word == "let" || word == "for") else {
            continue;
        };
        let ends = |token: &TokenTree| {
            is_punct(token, ';')
                || matches!(token, TokenTree::Group(group) if word == "for" && group.delimiter() == Delimiter::Brace)
        };
        let end = rest[middle..].iter().position(ends).map_or(rest.len(), |length| middle + length);
        let (mut bound, mut of) = (BTreeSet::new(), BTreeSet::new());
        collect_names(rest[..middle].iter().cloned().collect(), &mut bound);
        collect_names(rest[middle..end].iter().cloned().collect(), &mut of);
        // A statement binds nothing before its end.
        let ended = word == "for" || rest.get(end).is_some_and(|end| end.span().start().line < line);
        params.retain(|param| !(ended && bound.contains(param) && !of.contains(param)));
    }
}

/// Names of values in an expression or a pattern: neither fields, methods and functions, nor types, constants and words of the language.
fn collect_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    const WORDS: [&str; 18] = [
        "as", "box", "const", "else", "false", "fn", "for", "if", "in", "let", "loop", "match", "move",
        "mut", "ref", "return", "true", "while",
    ];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).map(|at| &tokens[at]);
        let was = |back: usize, mark: char| before(back).is_some_and(|token| is_punct(token, mark));
        let word = match token {
            TokenTree::Group(group) => {
                collect_names(group.stream(), names);
                continue;
            }
            TokenTree::Ident(word) => word.to_string(),
            _ => continue,
        };
        let is_member = was(1, '.') && !was(2, '.');
        let is_type =
            before(1).is_some_and(|before| matches!(before, TokenTree::Ident(word) if word == "as"));
        let next = |ahead: usize| tokens.get(index + ahead);
        let is_path = was(1, ':') && was(2, ':')
            || [1, 2].iter().all(|ahead| next(*ahead).is_some_and(|token| is_punct(token, ':')));
        let is_called = match (next(1), next(2)) {
            (Some(TokenTree::Group(group)), _) => group.delimiter() == Delimiter::Parenthesis,
            (Some(mark), Some(TokenTree::Group(_))) => is_punct(mark, '!'),
            _ => false,
        };
        let is_lower = word.starts_with(|first: char| first.is_lowercase() || first == '_');
        let is_word = WORDS.contains(&word.as_str()) || word == "_";
        if is_lower && !(is_member || is_type || is_path || is_called || is_word) {
            names.insert(word);
        }
    }
}

/// The text of `#[doc = "…"]`, which `///` is to a lexer.
fn doc_line(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let [TokenTree::Ident(name), equals, TokenTree::Literal(text)] = tokens.as_slice() else { return None };
    let is_doc = name == "doc" && is_punct(equals, '=');
    let text = syn::parse_str::<syn::LitStr>(&text.to_string()).ok().filter(|_| is_doc)?.value();
    Some(format!("{}\n", text.strip_prefix(' ').unwrap_or(&text)))
}

fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the line that `// here` stands in.
    fn function(text: &str) -> Option<Function> {
        let line = text.lines().position(|line| line.contains("// here")).expect("a marked line") + 1;
        function_at(text, u32::try_from(line).expect("few lines"))
    }

    #[track_caller]
    fn check(text: &str, name: &str, params: &[&str], documented: bool) {
        let params = params.iter().map(|param| (*param).to_owned()).collect();
        let expected = Function { name: name.to_owned(), params, documented };
        assert_eq!(function(text), Some(expected), "{text}");
    }

    const MAP: &str = r"
//! Maps. Panics if it likes.
mod inner {
    impl<K: Fn(u8) -> u8, V> Map<K, V> {
        /// Panics if there is no such thing.
        pub fn other(&self) {}
        /// Puts it in.
        ///
        /// # Panics
        ///
        /// If the range is empty.
        #[inline]
        pub(crate) fn insert<F: Fn(K, V) -> bool>(&mut self, mut range: Range<K, V>, (a, b): (V, V)) -> Option<V>
        where
            F: Fn(u8) -> u8,
        {
            assert!(range.start < range.end); // here
        }
        fn third(x: u8) {}
    }
}
";

    #[test]
    fn methods_are_found_in_impl_blocks_of_modules() {
        check(MAP, "insert", &["a", "b", "range"], true);
        assert_eq!(function_at(MAP, 1), None);
        assert_eq!(function_at(MAP, 19).expect("a function").name, "third");
        assert_eq!(function_at(MAP, 900), None);
        assert_eq!(function_at("fn open( {", 1), None);
    }

    #[test]
    fn the_innermost_function_counts() {
        let nested = "fn outer(a: u8) {\n    fn inner(b: u8) {\n        assert!(b > 0); // here\n    }\n    inner(a);\n}";
        check(nested, "inner", &["b"], false);
        check(
            "fn outer(a: u8) {\n    fn inner(b: u8) {\n    }\n    inner(a); // here\n}",
            "outer",
            &["a"],
            false,
        );
        check(
            "fn outer(a: u8) {\n    (0..a).map(|b| {\n        b + 1 // here\n    });\n}",
            "outer",
            &["a"],
            false,
        );
        check("made! {\n    fn made(a: u8) {\n        b + 1 // here\n    }\n}", "made", &["a"], false);
        assert_eq!(function("fn one(a: u8) {} fn two(b: u8) {} // here"), None, "either");
        check(
            "trait T {\n    fn none(&self);\n    fn some(&self, a: fn(u8) -> u8) {} // here\n}",
            "some",
            &["a"],
            false,
        );
    }

    #[test]
    fn names_that_mean_something_else_by_then_are_no_parameters() {
        let body = |text: &str| format!("fn f(a: u8, b: u8) {{\n{text}\n}}");
        check(&body("let a = self.len();\nassert!(a > 0); // here"), "f", &["b"], false);
        check(&body("let a = a.into();\nassert!(a > 0); // here"), "f", &["a", "b"], false);
        check(&body("{ let a = 1; }\nassert!(a > 0); // here\nlet b = 1;"), "f", &["a", "b"], false);
        check(&body("for (a, _) in all {\nassert!(a > 0); // here\n}"), "f", &["b"], false);
        check(&body("let c: A = 1;\nfor c in a {\nassert!(a > 0); // here\n}"), "f", &["a", "b"], false);
    }

    fn failing(operation: &str, class: &'static str, message: &str) -> Failure {
        Failure {
            tier: Tier::Bug,
            class,
            operation: operation.to_owned(),
            step: 0,
            message: message.to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 1,
        }
    }

    #[test]
    fn an_assertion_about_parameters_is_about_an_argument() {
        let insert = function(MAP).expect("a function");
        let undocumented = Function { documented: false, ..insert.clone() };
        let lowered = |function: &Function, own: bool, asserted: &str| {
            let failure = failing("<Set as From>::from", "panic", &format!("assertion failed: {asserted}"));
            tier_in(&failure, function, own) == Tier::UndocumentedPanic
        };
        for asserted in [
            "range.start < range.end",
            "!range.is_empty()",
            "(a as usize) < MAX && K::size() > usize::max(a, 3)",
            "matches!(a, Some(_) | None)",
            "is_sorted(&range) && (0..a).contains(&b)",
        ] {
            assert!(lowered(&undocumented, true, asserted), "{asserted}");
            assert!(!lowered(&undocumented, false, asserted), "{asserted}: the crate gave it");
        }
        for asserted in ["self.len() > 0", "old_len > 0", "MAX > 3", "self.check()"] {
            assert!(!lowered(&insert, true, asserted), "{asserted}");
        }
        for asserted in ["range.start <= self.len()", "a < len", "0..len == a..b"] {
            assert!(!lowered(&undocumented, true, asserted), "{asserted}");
            assert!(lowered(&insert, true, asserted), "{asserted}");
            assert!(!lowered(&insert, false, asserted), "{asserted}: documented for whoever wrote the crate");
        }
    }

    #[test]
    fn only_bugs_that_are_panics_and_break_no_promise_are_lowered() {
        let unchecked = Function {
            name: "from_vec_unchecked".to_owned(),
            params: BTreeSet::from(["vec".to_owned()]),
            documented: false,
        };
        let tier = |operation, class, message| tier_in(&failing(operation, class, message), &unchecked, true);
        let unwrap = "called `Result::unwrap()` on an `Err` value: ()";
        assert_eq!(tier("Map::read", "unwrap", unwrap), Tier::UndocumentedPanic);
        assert_eq!(tier("Map::try_read", "unwrap", unwrap), Tier::Bug);
        assert_eq!(tier("Map::read", "memory", "signal 11"), Tier::Bug);
        assert_eq!(tier("<Map as FromStr>::from_str", "panic", "assertion failed: vec.len() > 0"), Tier::Bug);
        let checked = Function { name: "from_vec".to_owned(), ..unchecked.clone() };
        assert_eq!(tier_in(&failing("Map::read", "unwrap", unwrap), &checked, true), Tier::Bug);
        let hint = Failure { tier: Tier::Hint, ..failing("Map::read", "panic", unwrap) };
        assert_eq!(tier_in(&hint, &unchecked, true), Tier::Hint);
    }
}
