//! Light colouring of Rust: comments, strings, numbers and keywords, all else plain.
//!
//! It takes text apart as the compiler's lexer would, as far as that matters for a test that was already compiled; text that is
//! no Rust comes out uncoloured or oddly coloured, but whole.

use super::markup::text;
use crate::words::is_keyword;

/// The source as HTML, escaped, with `span`s of the classes `c`, `s`, `n` and `k`.
pub fn rust(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while !rest.is_empty() {
        let (length, class) = token(rest);
        let (piece, after) = rest.split_at(length);
        match class {
            Some(class) => out.push_str(&format!("<span class=\"{class}\">{}</span>", text(piece))),
            None => out.push_str(&text(piece).to_string()),
        }
        rest = after;
    }
    out
}

/// How many bytes belong together at the start, at least one character, and their colour.
fn token(rest: &str) -> (usize, Option<&'static str>) {
    let first = rest.chars().next().unwrap_or(' ');
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Some("c"));
    }
    if rest.starts_with("/*") {
        return (rest.find("*/").map_or(rest.len(), |end| end + 2), Some("c"));
    }
    if let Some(length) = string(rest).or_else(|| character(rest)) {
        return (length, Some("s"));
    }
    if first.is_ascii_digit() {
        return (numeral(rest), Some("n"));
    }
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        return (length, is_keyword(&rest[..length]).then_some("k"));
    }
    (first.len_utf8(), None)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `"…"`, `b"…"`, `c"…"`, and raw ones with any number of `#`.
fn string(rest: &str) -> Option<usize> {
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).filter(|length| *length <= 2)?;
    let after = &rest[prefix..];
    if rest[..prefix].ends_with('r') {
        let hashes = after.find(|c| c != '#')?;
        let body = after[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = body.find(&close).map_or(body.len(), |end| end + close.len());
        return Some(prefix + hashes + 1 + end);
    }
    let body = after.strip_prefix('"')?;
    Some(prefix + 1 + closing(body, '"').unwrap_or(body.len()))
}

/// `'a'` and `b'\n'`, but not the lifetime `'a`.
fn character(rest: &str) -> Option<usize> {
    let prefix = usize::from(rest.starts_with('b'));
    let body = rest[prefix..].strip_prefix('\'')?;
    let mut letters = body.chars();
    let first = letters.next()?;
    if first == '\\' || letters.next() == Some('\'') {
        return closing(body, '\'').map(|end| prefix + 1 + end);
    }
    None
}

/// The bytes up to and with the quote that no backslash precedes.
fn closing(body: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// `0x1f_u8`, `1.5e-3`; of `1..2` and `x.0.len()` only the digits.
fn numeral(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next_is_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let in_exponent = at > 0 && matches!(bytes[at - 1], b'e' | b'E') && !rest.starts_with("0x");
        match bytes[at] {
            b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => at += 1,
            b'.' if next_is_digit => at += 1,
            b'+' | b'-' if in_exponent && next_is_digit => at += 1,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let mut shown = rust(source);
        for class in ["c", "s", "n", "k"] {
            shown = shown.replace(&format!("<span class=\"{class}\">"), &format!("{class}‹"));
        }
        assert_eq!(shown.replace("</span>", "›"), expected);
    }

    #[test]
    fn each_kind_has_its_colour() {
        check("let x = 1;", "k‹let› x = n‹1›;");
        check("f(-1.5e-3_f64, 0x1e-1)", "f(-n‹1.5e-3_f64›, n‹0x1e›-n‹1›)");
        check("// let\nlet", "c‹// let›\nk‹let›");
        check("a /* b */ c", "a c‹/* b */› c");
        check("0..10", "n‹0›..n‹10›");
        check("letter.0.len()", "letter.n‹0›.len()");
    }

    #[test]
    fn strings_end_where_they_end() {
        check(r#"f("a\"b", c)"#, "f(s‹&quot;a\\&quot;b&quot;›, c)");
        check(r##"r#"a"b"# + b"c""##, "s‹r#&quot;a&quot;b&quot;#› + s‹b&quot;c&quot;›");
        check("bar(cr)", "bar(cr)");
        check("\"no end", "s‹&quot;no end›");
    }

    #[test]
    fn a_lifetime_is_no_character() {
        check(
            "f::<'a>('a', '\\'', b'\\n')",
            "f::&lt;&#39;a&gt;(s‹&#39;a&#39;›, s‹&#39;\\&#39;&#39;›, s‹b&#39;\\n&#39;›)",
        );
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_markup() {
        check("é<script>'", "é&lt;script&gt;&#39;");
    }
}
