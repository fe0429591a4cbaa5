//! Rust code → the literals in it, ranked by where they stand.
//!
//! Only tokens are looked at: code in macros counts like all other, and nothing has to compile.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use testwright_model::Prim;

use super::blocks::{Block, blocks};
use super::collect::{Collected, Rank};
use super::context::{Context, Scene, byte_array, doc_line, is_noise_attribute, marks_test};
use super::decode::{Int, Value, decode};
use super::sources;

/// Longer strings cost more to run than they teach.
pub const MOST_LENGTH: usize = 400;
/// Groups inside groups; the lexer has no limit, the stack has.
const MOST_DEPTH: usize = 128;
/// Tables of numbers would drown the numbers that mean something.
const MOST_ELEMENTS: usize = 16;

/// All that was found so far.
#[derive(Clone, Debug)]
pub struct Harvest {
    pub texts: Collected<String>,
    pub bytes: Collected<Vec<u8>>,
    pub ints: Collected<Int>,
    /// By their bits.
    pub floats: Collected<u64>,
    pub chars: Collected<char>,
}

impl Harvest {
    pub fn new() -> Self {
        Harvest {
            texts: Collected::new(),
            bytes: Collected::new(),
            ints: Collected::new(),
            floats: Collected::new(),
            chars: Collected::new(),
        }
    }

    /// Everything that a package's folder holds.
    pub fn package(&mut self, root: &Path) {
        sources::rust_files(root, &mut |source| self.code(&source.text, source.shows_use));
        if let Some(text) = sources::readme(root) {
            self.next_source();
            self.markdown(&text, 0);
        }
    }

    /// One text of Rust code; text that does not lex gives nothing.
    pub fn code(&mut self, text: &str, shows_use: bool) {
        self.next_source();
        self.tokens_of(text, shows_use, 0);
    }

    fn next_source(&mut self) {
        self.texts.next_source();
        self.bytes.next_source();
        self.ints.next_source();
        self.floats.next_source();
        self.chars.next_source();
    }

    fn tokens_of(&mut self, text: &str, shows_use: bool, depth: usize) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Ok(tokens) = TokenStream::from_str(text) {
            self.stream(tokens, Scene { shows_use, context: Context::Elsewhere }, depth);
        }
    }

    fn markdown(&mut self, text: &str, depth: usize) {
        for block in blocks(text) {
            match block {
                Block::Rust(code) => self.tokens_of(&code, true, depth),
                Block::Other(example) => self.text(example, Rank::Rest),
            }
        }
    }

    fn stream(&mut self, tokens: TokenStream, scene: Scene, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut doc = String::new();
        let mut test_follows = false;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some((attribute, after)) = attribute(&tokens, at) {
                at = after;
                if let Some(line) = doc_line(attribute) {
                    doc.push_str(&line);
                    doc.push('\n');
                } else if marks_test(attribute) {
                    test_follows = true;
                } else if !is_noise_attribute(attribute) {
                    let scene = Scene { context: Context::Elsewhere, ..scene };
                    self.stream(attribute.stream(), scene, depth + 1);
                }
                continue;
            }
            self.documentation(&mut doc, depth);
            match token {
                TokenTree::Group(group) => {
                    let braces = group.delimiter() == Delimiter::Brace;
                    let scene = scene.inside(&tokens[..at], group, test_follows);
                    test_follows &= !braces;
                    self.group(group, scene, depth);
                }
                TokenTree::Literal(literal) => self.literal(&literal.to_string(), &tokens, at, scene),
                TokenTree::Punct(punct) => test_follows &= punct.as_char() != ';',
                TokenTree::Ident(_) => {}
            }
            at += 1;
        }
        self.documentation(&mut doc, depth);
    }

    /// A comment has ended: its examples count as tests.
    fn documentation(&mut self, doc: &mut String, depth: usize) {
        if !doc.is_empty() {
            self.markdown(doc, depth + 1);
            doc.clear();
        }
    }

    fn group(&mut self, group: &Group, scene: Scene, depth: usize) {
        if group.delimiter() == Delimiter::Bracket {
            if let Some((bytes, elements)) = byte_array(group) {
                self.byte_string(bytes, scene.rank());
                if elements > MOST_ELEMENTS {
                    return;
                }
            }
        }
        self.stream(group.stream(), scene, depth + 1);
    }

    fn literal(&mut self, text: &str, tokens: &[TokenTree], at: usize, scene: Scene) {
        let rank = scene.at(tokens, at).rank();
        match decode(text) {
            Some(Value::Str(value)) => self.text(value, rank),
            Some(Value::Bytes(value)) => self.byte_string(value, rank),
            Some(Value::Char(value)) => self.chars.add(value, rank),
            Some(Value::Byte(value)) => {
                self.ints.add(Int { value: value.into(), suffix: Some(Prim::U8) }, rank);
                if value.is_ascii() {
                    self.chars.add(value.into(), rank);
                }
            }
            Some(Value::Int(int)) if !is_field(&tokens[..at]) => {
                let negative = is_negated(&tokens[..at]) && !int.is_wide();
                let value = if negative { -int.value } else { int.value };
                self.ints.add(Int { value, ..int }, rank);
            }
            Some(Value::Float(value)) => {
                let value = if is_negated(&tokens[..at]) { -value } else { value };
                self.floats.add(value.to_bits(), rank);
            }
            Some(Value::Int(_)) | None => {}
        }
    }

    fn text(&mut self, value: String, rank: Rank) {
        if !value.is_empty() && value.len() <= MOST_LENGTH {
            self.texts.add(value, rank);
        }
    }

    fn byte_string(&mut self, value: Vec<u8>, rank: Rank) {
        if !value.is_empty() && value.len() <= MOST_LENGTH {
            self.bytes.add(value, rank);
        }
    }
}

/// `#[…]` or `#![…]` at this place, and the place after it.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<(&Group, usize)> {
    let TokenTree::Punct(mark) = tokens.get(at)? else { return None };
    if mark.as_char() != '#' {
        return None;
    }
    let inner = matches!(tokens.get(at + 1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    let at = at + 1 + usize::from(inner);
    match tokens.get(at)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some((group, at + 1)),
        _ => None,
    }
}

/// Whether a number after these tokens is a tuple's field: `pair.0`, but not `0..9`.
fn is_field(before: &[TokenTree]) -> bool {
    let dot = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.');
    match before {
        [.., first, second] => dot(second) && !dot(first),
        _ => false,
    }
}

/// Whether the `-` before a number is its sign, not a subtraction.
fn is_negated(before: &[TokenTree]) -> bool {
    match before {
        [.., left, TokenTree::Punct(minus)] if minus.as_char() == '-' => match left {
            TokenTree::Punct(_) => true,
            TokenTree::Ident(word) => word == "return" || word == "in",
            _ => false,
        },
        [TokenTree::Punct(minus)] => minus.as_char() == '-',
        _ => false,
    }
}
