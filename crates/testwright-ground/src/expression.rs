//! Expressions of contracts: text over `self`, argument names, `result` and `old(…)` in, parts that say what stands for whom out.
//!
//! Tokens are looked at, not the syntax tree, because `matches!(result, …)` has none; what is between them stays as it was written.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::Visit;
use testwright_model::contract::{As, Old, Part};

/// A name that means something of the call.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub word: String,
    pub target: Target,
    /// It stands for a reference, which methods and fields look through.
    pub refers: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Argument(usize),
    Result,
}

/// An expression taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expression {
    pub olds: Vec<Old>,
    pub parts: Vec<Part>,
}

/// Takes the expression apart; `old` says whether there is a time before.
pub(crate) fn rewrite(text: &str, names: &[Name], old: bool) -> Result<Expression, String> {
    let parsed: syn::Expr = syn::parse_str(text).map_err(|error| format!("no Rust expression: {error}"))?;
    let mut bound = Bound(Vec::new());
    bound.visit_expr(&parsed);
    if let Some(name) = bound.0.into_iter().find(|bound| names.iter().any(|name| name.word == *bound)) {
        return Err(format!("`{name}` has a meaning here already; call the variable otherwise"));
    }
    let tokens = tokens(text)?;
    let mut writer = Writer { text, names, olds: old.then(Vec::new), current: String::new() };
    let parts = writer.parts(&tokens)?;
    Ok(Expression { olds: writer.olds.unwrap_or_default(), parts })
}

/// The expression on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    let Ok(tokens) = tokens(text) else { return text.split_whitespace().collect::<Vec<_>>().join(" ") };
    let mut out = String::new();
    for (index, token) in tokens.iter().enumerate() {
        out.push_str(&gap(text, index.checked_sub(1).map(|before| &tokens[before]), token));
        out.push_str(&text[token.range.clone()]);
    }
    out
}

/// Names that patterns bind.
struct Bound(Vec<String>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
        self.0.push(pattern.ident.to_string());
        syn::visit::visit_pat_ident(self, pattern);
    }
}

#[derive(Debug)]
struct Token {
    range: Range<usize>,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Ident(String),
    Punct(char),
    Open(char),
    Close,
    Literal,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let stream: TokenStream = text.parse().map_err(|error| format!("no Rust expression: {error}"))?;
    let mut all = Vec::new();
    flatten(stream, &mut all);
    Ok(all)
}

fn flatten(stream: TokenStream, all: &mut Vec<Token>) {
    for tree in stream {
        let range = tree.span().byte_range();
        match tree {
            TokenTree::Ident(ident) => all.push(Token { range, kind: Kind::Ident(ident.to_string()) }),
            TokenTree::Punct(punct) => all.push(Token { range, kind: Kind::Punct(punct.as_char()) }),
            TokenTree::Literal(_) => all.push(Token { range, kind: Kind::Literal }),
            TokenTree::Group(group) => {
                let open = match group.delimiter() {
                    Delimiter::Parenthesis => '(',
                    Delimiter::Bracket => '[',
                    Delimiter::Brace => '{',
                    Delimiter::None => ' ',
                };
                all.push(Token { range: group.span_open().byte_range(), kind: Kind::Open(open) });
                flatten(group.stream(), all);
                all.push(Token { range: group.span_close().byte_range(), kind: Kind::Close });
            }
        }
    }
}

/// What is between two tokens; comments and ends of lines are blanks.
fn gap(text: &str, before: Option<&Token>, token: &Token) -> String {
    let Some(before) = before else { return String::new() };
    let gap = &text[before.range.end..token.range.start];
    if gap.contains(['\n', '/']) { " ".to_owned() } else { gap.to_owned() }
}

struct Writer<'w> {
    text: &'w str,
    names: &'w [Name],
    /// None where there is no time before.
    olds: Option<Vec<Old>>,
    current: String,
}

impl Writer<'_> {
    fn parts(&mut self, tokens: &[Token]) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            let at = At { tokens, index };
            self.current.push_str(&gap(self.text, index.checked_sub(1).map(|before| &tokens[before]), token));
            if let Kind::Ident(name) = &token.kind {
                if name == "old" && at.is(1, &Kind::Open('(')) && at.is_name_or_call() {
                    let end = at.closing();
                    let old = self.old(&tokens[index + 2..end])?;
                    self.push(&mut parts, old);
                    index = end + 1;
                    continue;
                }
            }
            // `*self` is the place itself.
            let starred = token.kind == Kind::Punct('*') && at.is_unary();
            let at = At { tokens, index: index + usize::from(starred) };
            let name = self.name(&at).filter(|name| !starred || name.refers && !at.goes_on());
            if let Some(name) = name {
                let how = match (name.refers, starred || at.goes_on()) {
                    (false, _) => As::Itself,
                    (true, true) => As::Place,
                    (true, false) => As::Reference,
                };
                let part = match name.target {
                    Target::Argument(argument) => Part::Argument(argument, how),
                    Target::Result => Part::Result(how),
                };
                self.push(&mut parts, part);
                index = at.index + 1;
            } else {
                self.current.push_str(&self.text[token.range.clone()]);
                index += 1;
            }
        }
        if !self.current.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut self.current)));
        }
        Ok(parts)
    }

    fn push(&mut self, parts: &mut Vec<Part>, part: Part) {
        if !self.current.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut self.current)));
        }
        parts.push(part);
    }

    /// What the token at this place means of the call.
    fn name(&self, at: &At<'_>) -> Option<Name> {
        let Kind::Ident(ident) = &at.tokens.get(at.index)?.kind else { return None };
        if !at.is_name_or_call() || at.is(1, &Kind::Open('(')) {
            return None;
        }
        self.names.iter().find(|name| name.word == *ident).cloned()
    }

    fn old(&mut self, tokens: &[Token]) -> Result<Part, String> {
        let around = std::mem::take(&mut self.current);
        let Some(mut olds) = self.olds.take() else {
            return Err("`old(…)` means something in `ensures` only, and not inside another".to_owned());
        };
        // Before the call there is no result.
        let names: Vec<Name> =
            self.names.iter().filter(|name| matches!(name.target, Target::Argument(_))).cloned().collect();
        let mut writer = Writer { text: self.text, names: &names, olds: None, current: String::new() };
        let value = writer.parts(tokens)?;
        let number = olds.iter().position(|old| old.value == value).unwrap_or_else(|| {
            olds.push(Old { name: old_name(tokens), value });
            olds.len() - 1
        });
        self.olds = Some(olds);
        self.current = around;
        Ok(Part::Old(number))
    }
}

/// `old_len` for `self.items.len()`.
fn old_name(tokens: &[Token]) -> String {
    let says_little = ["clone", "cloned", "copied", "to_owned", "to_vec", "to_string", "unwrap", "r#"];
    let is_plain = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains('#');
    let name = tokens.iter().rev().find_map(|token| match &token.kind {
        Kind::Ident(name) if is_plain(name) && !says_little.contains(&name.as_str()) => Some(name.as_str()),
        _ => None,
    });
    format!("old_{}", name.unwrap_or("value"))
}

/// A token among its neighbours.
struct At<'t> {
    tokens: &'t [Token],
    index: usize,
}

impl At<'_> {
    fn is(&self, distance: isize, kind: &Kind) -> bool {
        let index = self.index.checked_add_signed(distance);
        index.and_then(|index| self.tokens.get(index)).is_some_and(|token| token.kind == *kind)
    }

    fn punct(&self, distance: isize, c: char) -> bool {
        self.is(distance, &Kind::Punct(c))
    }

    /// Not a field, part of a path, label, field of a literal or macro.
    fn is_name_or_call(&self) -> bool {
        let field = self.punct(-1, '.') && !self.punct(-2, '.');
        let in_path = self.punct(-1, ':') && self.punct(-2, ':');
        let macro_ = self.punct(1, '!') && !self.punct(2, '=');
        !(field || in_path || macro_ || self.punct(1, ':') || self.punct(-1, '\''))
    }

    /// Followed by a method, field, index or `?`.
    fn goes_on(&self) -> bool {
        let dot = self.punct(1, '.') && !self.punct(2, '.');
        dot || self.is(1, &Kind::Open('[')) || self.punct(1, '?')
    }

    /// Whether an operator here has nothing to its left.
    fn is_unary(&self) -> bool {
        let before = self.index.checked_sub(1).map(|before| &self.tokens[before].kind);
        matches!(before, None | Some(Kind::Punct(_) | Kind::Open(_)))
    }

    /// The closing bracket of the group that opens after this token.
    fn closing(&self) -> usize {
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(self.index + 1) {
            match token.kind {
                Kind::Open(_) => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return index;
            }
        }
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_model::contract::write;

    fn names() -> Vec<Name> {
        let name = |word: &str, target, refers| Name { word: word.to_owned(), target, refers };
        vec![
            name("self", Target::Argument(0), true),
            name("x", Target::Argument(1), false),
            name("result", Target::Result, false),
        ]
    }

    fn text(parts: &[Part]) -> String {
        write(parts, |part, _| match part {
            Part::Argument(index, As::Itself) => format!("<{index}>"),
            Part::Argument(index, As::Place) => format!("<*{index}>"),
            Part::Argument(index, As::Reference) => format!("<&{index}>"),
            Part::Old(index) => format!("<old {index}>"),
            _ => "<r>".to_owned(),
        })
    }

    #[track_caller]
    fn check(from: &str, to: &str) {
        assert_eq!(text(&rewrite(from, &names(), true).unwrap().parts), to);
    }

    #[test]
    fn names_are_told_from_fields_paths_and_calls() {
        check("self.len() <= self.x", "<*0>.len() <= <*0>.x");
        check("x::x(x) == x(0..x)", "x::x(<1>) == x(0..<1>)");
        check("P { x: x }.x != x", "P { x: <1> }.x != <1>");
        check("matches!(result, Some(y) if y == x)", "matches!(<r>, Some(y) if y == <1>)");
    }

    #[test]
    fn references_are_looked_through() {
        check("*self == x && self == &x", "<*0> == <1> && <&0> == &<1>");
        check("*self.get() * *self", "*<*0>.get() * <*0>");
        check("self[x] == 2 * x", "<*0>[<1>] == 2 * <1>");
    }

    #[test]
    fn old_values_get_names() {
        let expression = rewrite("self.len() == old(self.len()) + old(x) - old(self.len())", &names(), true);
        let expression = expression.unwrap();
        assert_eq!(text(&expression.parts), "<*0>.len() == <old 0> + <old 1> - <old 0>");
        let olds: Vec<_> = expression.olds.iter().map(|old| (&*old.name, text(&old.value))).collect();
        assert_eq!(olds, [("old_len", "<*0>.len()".to_owned()), ("old_x", "<1>".to_owned())]);
        assert_eq!(rewrite("old(self.clone())", &names(), true).unwrap().olds[0].name, "old_self");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in ["self.len( == 1", "old(x) < 1", "true; false", "", "Some(1).map(|x| x) == None"] {
            assert!(rewrite(wrong, &names(), false).is_err(), "{wrong}");
        }
        assert!(rewrite("old(old(x)) < 1", &names(), true).is_err());
    }

    #[test]
    fn lines_and_comments_become_blanks() {
        let written = "self.len() // all\n    == \"a\n\".len()";
        assert_eq!(on_one_line(written), "self.len() == \"a\n\".len()");
        check(written, "<*0>.len() == \"a\n\".len()");
    }
}
