//! A printed test taken apart into what can be left out of it: its imports and its statements.
//!
//! Nothing here knows Rust's rules: what is left may not compile, and whoever asks lets the compiler say so.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Block, Expr, Item, Local, Pat, Stmt, Token};

/// A test file with one test, in pieces.
#[derive(Clone)]
pub struct Pieces {
    pieces: Vec<Piece>,
    end: String,
}

/// What may be left out, and the text before it that stays.
#[derive(Clone)]
struct Piece {
    before: String,
    text: String,
    /// An assertion as the bare expression, for what that does.
    muted: Option<String>,
    statement: Option<Stmt>,
}

impl Piece {
    /// With another variable in the place of one, in format strings too.
    fn rename(&mut self, from: &str, to: &str) {
        if !mentions(&self.text, from) {
            return;
        }
        self.text = renamed(&self.text, from, to);
        self.muted = self.muted.as_ref().map(|text| renamed(text, from, to));
        let parsed = Block::parse_within.parse_str(&self.text).ok();
        self.statement =
            parsed.and_then(|statements| statements.into_iter().next()).or(self.statement.take());
    }
}

impl Pieces {
    /// `None` if it is no such file.
    pub fn of(text: &str) -> Option<Pieces> {
        let file = syn::parse_file(text).ok()?;
        let mut found: Vec<(Range<usize>, Option<Stmt>)> = Vec::new();
        collect(&file.items, &mut found);
        found.sort_by_key(|(range, _)| range.start);
        let mut at = 0;
        let mut pieces = Vec::new();
        for (range, statement) in found {
            let muted = statement.as_ref().and_then(asserted).and_then(|expr| {
                let range = expr.span().byte_range();
                Some(format!("let _ = {};", text.get(range)?))
            });
            let before = text.get(at..range.start)?.to_owned();
            at = range.end;
            pieces.push(Piece { before, text: text.get(range)?.to_owned(), muted, statement });
        }
        let end = text.get(at..)?.to_owned();
        pieces.iter().any(|piece| piece.statement.is_some()).then_some(Pieces { pieces, end })
    }

    pub fn text(&self) -> String {
        let parts = self.pieces.iter().flat_map(|piece| [piece.before.as_str(), piece.text.as_str()]);
        let text: String = parts.chain([self.end.as_str()]).collect();
        // Where something was left out, a line is empty now.
        let mut kept = String::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if line.trim_start() == "#[test]" && kept.ends_with(";\n") {
                kept.push('\n');
            }
            kept.push_str(&format!("{line}\n"));
        }
        kept
    }

    /// What is better if it is less.
    pub fn weight(&self) -> (usize, usize) {
        (self.pieces.iter().filter(|piece| !piece.text.is_empty()).count(), self.text().len())
    }

    pub fn statements(&self) -> impl DoubleEndedIterator<Item = &Stmt> {
        self.pieces.iter().filter(|piece| !piece.text.is_empty()).filter_map(|piece| piece.statement.as_ref())
    }

    /// The last statement, as text.
    pub fn last(&self) -> &str {
        let there = |piece: &&Piece| piece.statement.is_some() && !piece.text.is_empty();
        self.pieces.iter().rfind(there).map_or("", |piece| &piece.text)
    }

    /// Whether the last statement compares a `Debug` text, written in it or before it.
    pub fn reads(&self) -> bool {
        let compared = self.last().strip_prefix("assert_eq!(").unwrap_or_default();
        let name = compared.split(',').next().unwrap_or_default();
        let made = format!("{name} = format!(");
        let makes = |piece: &Piece| {
            let rest = piece.text.strip_prefix("let ").unwrap_or_default();
            rest.strip_prefix("mut ").unwrap_or(rest).starts_with(&made)
        };
        compared.starts_with("format!(") || self.pieces.iter().any(makes)
    }

    /// How many statements it has.
    pub fn steps(&self) -> usize {
        self.statements().count()
    }

    /// The test up to each of its statements, the last one whole, those before it without what they assert; the shortest first.
    pub fn beginnings(&self) -> Vec<Pieces> {
        let places: Vec<usize> =
            (0..self.pieces.len()).filter(|at| self.pieces[*at].statement.is_some()).collect();
        let mut all = Vec::new();
        for last in &places {
            let mut cut = self.clone();
            for at in &places {
                let piece = &mut cut.pieces[*at];
                if at > last {
                    piece.text.clear();
                } else if let (true, Some(muted)) = (at < last, &piece.muted) {
                    piece.text.clone_from(muted);
                }
            }
            all.push(cut);
        }
        all
    }

    /// Tests with less in them: without one piece, without neighbours, without a variable and all that mentions it, with a clone's source in
    /// its place, without a `mut`.
    pub fn less(&self) -> Vec<Pieces> {
        let there: Vec<usize> =
            (0..self.pieces.len()).filter(|at| !self.pieces[*at].text.is_empty()).collect();
        // The last statement is the one that differs.
        let Some((_, before)) = there.split_last() else { return Vec::new() };
        let mut sets: BTreeSet<Vec<usize>> = before.iter().map(|at| vec![*at]).collect();
        let steps: Vec<usize> =
            before.iter().copied().filter(|at| self.pieces[*at].statement.is_some()).collect();
        for length in 2..=steps.len().min(CHUNK) {
            sets.extend(steps.windows(length).map(<[usize]>::to_vec));
        }
        for at in &steps {
            let Some(name) = self.pieces[*at].statement.as_ref().and_then(bound) else { continue };
            let mentions = |at: &usize| mentions(&self.pieces[*at].text, &name);
            sets.insert(steps.iter().copied().filter(mentions).collect());
        }
        let mut all: Vec<Pieces> = sets.into_iter().map(|set| self.without(&set)).collect();
        for at in &steps {
            if let Some((clone, source)) = self.pieces[*at].statement.as_ref().and_then(cloned) {
                let mut same = self.without(&[*at]);
                same.pieces[at + 1..].iter_mut().for_each(|piece| piece.rename(&clone, &source));
                all.push(same);
            }
        }
        for at in there {
            if let Some(rest) = self.pieces[at].text.strip_prefix("let mut ") {
                let mut plain = self.clone();
                plain.pieces[at].text = format!("let {rest}");
                all.push(plain);
            }
        }
        all
    }

    fn without(&self, set: &[usize]) -> Pieces {
        let mut cut = self.clone();
        for at in set {
            cut.pieces[*at].text.clear();
        }
        cut
    }

    /// What both leave out or shorten.
    pub fn joined(&self, other: &Pieces) -> Pieces {
        let mut both = self.clone();
        for (piece, other) in both.pieces.iter_mut().zip(&other.pieces) {
            if other.text.len() < piece.text.len() {
                piece.text.clone_from(&other.text);
            }
        }
        both
    }
}

/// Neighbours that are left out together, at most.
const CHUNK: usize = 4;

/// The imports and the statements of the tests below.
fn collect(items: &[Item], found: &mut Vec<(Range<usize>, Option<Stmt>)>) {
    for item in items {
        match item {
            Item::Use(item) => found.push((item.span().byte_range(), None)),
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, found);
                }
            }
            Item::Fn(function)
                if function.attrs.iter().any(|attribute| attribute.path().is_ident("test")) =>
            {
                for statement in &function.block.stmts {
                    let is_use = matches!(statement, Stmt::Item(_));
                    found.push((statement.span().byte_range(), (!is_use).then(|| statement.clone())));
                }
            }
            _ => {}
        }
    }
}

/// The expression that an assertion is about.
pub fn asserted(statement: &Stmt) -> Option<Expr> {
    let Stmt::Macro(call) = statement else { return None };
    if !["assert", "assert_eq"].iter().any(|name| call.mac.path.is_ident(name)) {
        return None;
    }
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.mac.tokens.clone()).ok()?;
    arguments.into_iter().next()
}

/// The name that a statement gives its value.
pub fn bound(statement: &Stmt) -> Option<String> {
    let Stmt::Local(Local { pat, .. }) = statement else { return None };
    let pat = if let Pat::Type(typed) = pat { &typed.pat } else { pat };
    if let Pat::Ident(name) = pat { Some(name.ident.to_string()) } else { None }
}

/// A variable that is made as a clone of another: both names.
fn cloned(statement: &Stmt) -> Option<(String, String)> {
    let Stmt::Local(Local { init: Some(init), .. }) = statement else { return None };
    let Expr::MethodCall(call) = &*init.expr else { return None };
    let Expr::Path(source) = &*call.receiver else { return None };
    let source = source.path.get_ident().filter(|_| call.method == "clone")?;
    Some((bound(statement)?, source.to_string()))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn renamed(text: &str, from: &str, to: &str) -> String {
    let ends = |c: char| !is_name(c);
    text.split_inclusive(ends)
        .map(|part| match part.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with(ends) => format!("{to}{rest}"),
            _ => part.to_owned(),
        })
        .collect()
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !is_name(c)).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "mod queue {\n    use queue::Queue;\n\n    #[test]\n    fn works() {\n        let mut queue = Queue::new();\n        let other = 1;\n        assert_eq!(queue.push(other), None);\n        assert!(!queue.is_empty());\n    }\n}\n";

    #[test]
    fn a_test_is_put_together_as_it_was() {
        let pieces = Pieces::of(TEST).expect("a test");
        assert_eq!(pieces.text(), TEST);
        assert_eq!((pieces.steps(), pieces.weight().0), (4, 5));
    }

    #[test]
    fn what_comes_before_the_last_assertion_is_done_and_not_asserted() {
        let all = Pieces::of(TEST).expect("a test").beginnings();
        assert_eq!(all.len(), 4);
        assert!(!all[1].text().contains("push"));
        let last = all[3].text();
        assert!(last.contains("let _ = queue.push(other);\n        assert!(!queue.is_empty());"), "{last}");
    }

    #[test]
    fn a_text_is_known_also_by_its_name() {
        let reads = |statements: &str| {
            Pieces::of(&format!("#[test]\nfn works() {{\n{statements}\n}}\n"))
                .is_some_and(|pieces| pieces.reads())
        };
        assert!(reads("assert_eq!(format!(\"{a:?}\"), \"A\");"));
        assert!(reads("let text = format!(\"{a:?}\");\nassert_eq!(text, \"A\");"));
        assert!(reads("let mut text = format!(\"{a:?}\");\nassert_eq!(text, \"A\");"));
        assert!(!reads("let text = a.text();\nassert_eq!(text, \"A\");"));
    }

    #[test]
    fn a_variable_goes_with_all_that_mentions_it() {
        let less = Pieces::of(TEST).expect("a test").less();
        let texts: Vec<String> = less.iter().map(Pieces::text).collect();
        assert!(texts.iter().any(|text| !text.contains("other") && text.contains("is_empty")), "{texts:#?}");
        assert!(texts.iter().any(|text| text.contains("let queue")));
        assert!(texts.iter().any(|text| !text.contains("use queue::Queue")));
        assert!(texts.iter().all(|text| text.contains("assert!(!queue.is_empty());")));
    }

    #[test]
    fn a_clones_source_takes_its_place() {
        let test = "#[test]\nfn works() {\n    let a = new();\n    let a2 = a.clone();\n    let a20 = 1;\n    assert_eq!(format!(\"{a2:?}\"), f(a2, a20));\n}\n";
        let all = Pieces::of(test).expect("a test").less();
        let same = all.iter().find(|pieces| !mentions(&pieces.text(), "a2") && pieces.steps() == 3);
        let same = same.expect("one without the clone");
        assert_eq!(same.last(), "assert_eq!(format!(\"{a:?}\"), f(a, a20));");
        let last = same.statements().next_back().and_then(asserted).expect("an assertion");
        assert!(matches!(last, Expr::Macro(_)));
    }
}
