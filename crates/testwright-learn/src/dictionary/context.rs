//! Where a literal stands in the code, as far as tokens tell it.

use proc_macro2::{Delimiter, Group, TokenTree};
use testwright_model::Prim;

use super::collect::Rank;
use super::decode::{Int, Value, decode};

/// What is around the tokens that are being read.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// In a test, an example or a document.
    pub shows_use: bool,
    pub context: Context,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// In the parentheses of a call.
    Argument,
    /// In an array, a pattern, after `=`, in a comparison.
    Named,
    /// In what prints, panics or explains.
    Message,
    Elsewhere,
}

/// Calls whose strings are meant for people.
const MESSAGE_CALLS: [&str; 8] =
    ["expect", "expect_err", "context", "debug_struct", "debug_tuple", "field", "expecting", "warn"];
const MESSAGE_MACROS: [&str; 32] = [
    "format",
    "format_args",
    "print",
    "println",
    "eprint",
    "eprintln",
    "write",
    "writeln",
    "panic",
    "todo",
    "unreachable",
    "unimplemented",
    "assert",
    "debug_assert",
    "error",
    "warn",
    "info",
    "debug",
    "trace",
    "log",
    "bail",
    "anyhow",
    "ensure",
    "compile_error",
    "include_str",
    "include_bytes",
    "include",
    "env",
    "option_env",
    "cfg",
    "concat",
    "stringify",
];
/// Macros whose strings are compared with something, or stand in a list.
const NAMING_MACROS: [&str; 7] =
    ["vec", "assert_eq", "assert_ne", "debug_assert_eq", "debug_assert_ne", "matches", "assert_matches"];
const NOISE_ATTRIBUTES: [&str; 21] = [
    "cfg",
    "cfg_attr",
    "allow",
    "warn",
    "deny",
    "forbid",
    "expect",
    "must_use",
    "deprecated",
    "doc",
    "error",
    "should_panic",
    "ignore",
    "path",
    "link",
    "link_name",
    "link_section",
    "export_name",
    "crate_name",
    "feature",
    "diagnostic",
];
/// Words after which parentheses are no call.
const KEYWORDS: [&str; 16] = [
    "if", "while", "match", "return", "in", "for", "let", "mut", "ref", "as", "else", "move", "where",
    "break", "dyn", "impl",
];

impl Scene {
    pub fn rank(self) -> Rank {
        match self.context {
            Context::Argument if self.shows_use => Rank::Shown,
            Context::Argument | Context::Named => Rank::Named,
            Context::Message | Context::Elsewhere => Rank::Rest,
        }
    }

    /// The scene inside a group that follows these tokens; `test` says that an attribute made what follows a test.
    #[must_use]
    pub fn inside(self, before: &[TokenTree], group: &Group, test: bool) -> Scene {
        let shows_use = self.shows_use || (test && group.delimiter() == Delimiter::Brace);
        Scene { shows_use, context: self.context_inside(before, group.delimiter()) }
    }

    fn context_inside(self, before: &[TokenTree], delimiter: Delimiter) -> Context {
        if let [.., TokenTree::Ident(name), TokenTree::Punct(mark)] = before {
            if mark.as_char() == '!' {
                return in_macro(&name.to_string());
            }
        }
        let word = match before.last() {
            Some(TokenTree::Ident(word)) => Some(word.to_string()),
            _ => None,
        };
        let word = word.as_deref().filter(|word| !KEYWORDS.contains(word));
        match delimiter {
            Delimiter::Parenthesis => match (word, before.last()) {
                (Some(word), _) if MESSAGE_CALLS.contains(&word) => Context::Message,
                (Some(_), _) => Context::Argument,
                // `parse::<u8>("7")`
                (None, Some(TokenTree::Punct(punct))) if punct.as_char() == '>' => Context::Argument,
                (None, _) => self.context,
            },
            Delimiter::Bracket if word.is_some() || self.context == Context::Argument => self.context,
            Delimiter::Bracket => Context::Named,
            Delimiter::Brace => Context::Elsewhere,
            Delimiter::None => self.context,
        }
    }

    /// The scene of the literal at this place: its neighbours may name it.
    #[must_use]
    pub fn at(self, tokens: &[TokenTree], at: usize) -> Scene {
        let punct = |token: Option<&TokenTree>, marks: &[char]| matches!(token, Some(TokenTree::Punct(punct)) if marks.contains(&punct.as_char()));
        let named = punct(at.checked_sub(1).and_then(|before| tokens.get(before)), &['=', '|', ':'])
            || punct(tokens.get(at + 1), &['=', '|', '!'])
            || matches!(tokens.get(at + 1), Some(TokenTree::Ident(word)) if word == "if");
        let context = if self.context == Context::Elsewhere && named { Context::Named } else { self.context };
        Scene { context, ..self }
    }
}

fn in_macro(name: &str) -> Context {
    if MESSAGE_MACROS.contains(&name) {
        Context::Message
    } else if NAMING_MACROS.contains(&name) {
        Context::Named
    } else {
        // Macros of the crate's own are how many test suites write their cases.
        Context::Argument
    }
}

/// The line of a comment that the lexer made an attribute of: `doc = "…"`.
pub fn doc_line(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().take(4).collect();
    let [TokenTree::Ident(name), TokenTree::Punct(equals), TokenTree::Literal(text)] = tokens.as_slice()
    else {
        return None;
    };
    if name != "doc" || equals.as_char() != '=' {
        return None;
    }
    let Some(Value::Str(text)) = decode(&text.to_string()) else { return None };
    if !text.contains('\n') {
        // The space after the slashes belongs to the comment.
        return Some(text.strip_prefix(' ').unwrap_or(&text).to_owned());
    }
    // Block comments often have a star before each line.
    let bare = |line: &str| {
        let inner = line.trim_start();
        inner.strip_prefix("* ").or(inner.strip_prefix('*')).unwrap_or(line).to_owned() + "\n"
    };
    Some(text.lines().map(bare).collect())
}

/// `#[test]`, `#[cfg(test)]`, `#[tokio::test]`; not `#[cfg(not(test))]`.
pub fn marks_test(attribute: &Group) -> bool {
    fn search(group: &Group) -> bool {
        let mut found = false;
        for token in group.stream() {
            match token {
                TokenTree::Ident(word) if word == "not" => return false,
                TokenTree::Ident(word) => found |= word == "test" || word == "bench",
                TokenTree::Group(inner) => found |= search(&inner),
                _ => {}
            }
        }
        found
    }
    search(attribute)
}

/// Whether an attribute's strings are for the compiler or for people.
pub fn is_noise_attribute(attribute: &Group) -> bool {
    match attribute.stream().into_iter().next() {
        Some(TokenTree::Ident(name)) => NOISE_ATTRIBUTES.iter().any(|noise| name == noise),
        _ => true,
    }
}

/// The bytes of `[0x89, b'P', …]` or `[0; 4]`, and how many elements are written; file signatures look like this.
pub fn byte_array(group: &Group) -> Option<(Vec<u8>, usize)> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    if let [TokenTree::Literal(element), TokenTree::Punct(mark), TokenTree::Literal(count)] =
        tokens.as_slice()
    {
        if mark.as_char() == ';' {
            let element = byte(&element.to_string())?;
            let Some(Value::Int(Int { value: count @ 2..=64, .. })) = decode(&count.to_string()) else {
                return None;
            };
            return Some((vec![element; usize::try_from(count).ok()?], 1));
        }
    }
    let mut bytes = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Literal(literal) if index % 2 == 0 => bytes.push(byte(&literal.to_string())?),
            TokenTree::Punct(punct) if index % 2 == 1 && punct.as_char() == ',' => {}
            _ => return None,
        }
    }
    let count = bytes.len();
    (count >= 2).then_some((bytes, count))
}

fn byte(token: &str) -> Option<u8> {
    match decode(token)? {
        Value::Byte(byte) => Some(byte),
        Value::Int(Int { value, suffix: None | Some(Prim::U8) }) => u8::try_from(value).ok(),
        _ => None,
    }
}
