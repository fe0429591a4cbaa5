//! A literal token's text → its value.
//!
//! `proc-macro2` hands literals out as source text on stable compilers, so the few rules of the lexer are written down here.

use testwright_model::Prim;

/// What a literal token means.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Int(Int),
    Float(f64),
    Char(char),
    /// `b'x'`.
    Byte(u8),
    Str(String),
    Bytes(Vec<u8>),
}

/// An integer as a [`testwright_model::Literal::Int`] has it: two's complement in 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Int {
    pub value: i128,
    /// As written; `u128` also for numbers that fit no other type, whose `value` is negative then.
    pub suffix: Option<Prim>,
}

impl Int {
    /// Whether it is above `i128::MAX`.
    pub fn is_wide(self) -> bool {
        self.value < 0 && self.suffix == Some(Prim::U128)
    }
}

/// The value of a literal token; none for C strings and for what is not a literal after all.
pub fn decode(token: &str) -> Option<Value> {
    let first = *token.as_bytes().first()?;
    match first {
        b'0'..=b'9' => number(token),
        b'"' | b'r' => String::from_utf8(quoted(token)?).ok().map(Value::Str),
        b'\'' => {
            let text = String::from_utf8(unescape(between(token, '\'')?)?).ok()?;
            let mut chars = text.chars();
            let only = chars.next()?;
            chars.next().is_none().then_some(Value::Char(only))
        }
        b'b' if token[1..].starts_with('\'') => match unescape(between(token, '\'')?)?.as_slice() {
            [byte] => Some(Value::Byte(*byte)),
            _ => None,
        },
        b'b' => quoted(&token[1..]).map(Value::Bytes),
        _ => None,
    }
}

/// The content of `"…"` or `r#"…"#`.
fn quoted(token: &str) -> Option<Vec<u8>> {
    let body = between(token, '"')?;
    if token.starts_with('r') { Some(body.replace("\r\n", "\n").into_bytes()) } else { unescape(body) }
}

/// What stands between the first and the last of these marks; a suffix may follow.
fn between(token: &str, mark: char) -> Option<&str> {
    let first = token.find(mark)?;
    let last = token.rfind(mark)?;
    token.get(first + 1..last)
}

fn unescape(body: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find(['\\', '\r']) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let tail = &rest[at + 1..];
        if rest.as_bytes()[at] == b'\r' {
            // A line's end counts as one character, however the file writes it.
            if !tail.starts_with('\n') {
                out.push(b'\r');
            }
            rest = tail;
            continue;
        }
        let kind = tail.chars().next()?;
        rest = &tail[kind.len_utf8()..];
        match kind {
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            '0' => out.push(0),
            '\\' | '\'' | '"' => out.push(u8::try_from(kind).ok()?),
            'x' => {
                out.push(u8::from_str_radix(rest.get(..2)?, 16).ok()?);
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                let value = char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?;
                out.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            '\n' | '\r' => rest = rest.trim_start_matches([' ', '\t', '\n', '\r']),
            _ => return None,
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

fn number(token: &str) -> Option<Value> {
    let text = token.replace('_', "");
    let (radix, digits) = match text.get(..2) {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        _ => (10, text.as_str()),
    };
    let marks: &[char] = if radix == 16 { &['i', 'u'] } else { &['i', 'u', 'f'] };
    let (digits, suffix) = digits.split_at(digits.find(marks).unwrap_or(digits.len()));
    let suffix = Prim::from_name(suffix);
    if radix == 10 && (digits.contains(['.', 'e', 'E']) || suffix.is_some_and(Prim::is_float)) {
        return digits.parse().ok().map(Value::Float);
    }
    let value = u128::from_str_radix(digits, radix).ok()?;
    let int = match i128::try_from(value) {
        Ok(value) => Int { value, suffix },
        Err(_) => Int { value: value.cast_signed(), suffix: Some(Prim::U128) },
    };
    Some(Value::Int(int))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i128, suffix: Option<Prim>) -> Value {
        Value::Int(Int { value, suffix })
    }

    #[test]
    fn literals_have_the_values_the_compiler_gives_them() {
        let cases = [
            ("17", int(17, None)),
            ("0xff_u8", int(255, Some(Prim::U8))),
            ("1_000usize", int(1000, Some(Prim::Usize))),
            ("0b11", int(3, None)),
            ("0o17i64", int(15, Some(Prim::I64))),
            ("340282366920938463463374607431768211455", int(-1, Some(Prim::U128))),
            ("0x1f32", int(0x1f32, None)),
            ("1f32", Value::Float(1.0)),
            ("2.5e3", Value::Float(2500.0)),
            ("1e2_f64", Value::Float(100.0)),
            ("'\\u{1F600}'", Value::Char('😀')),
            ("'\\''", Value::Char('\'')),
            ("b'\\xff'", Value::Byte(255)),
            ("b'''", Value::Byte(b'\'')),
            (r#""a\n\"\u{e9}\x41""#, Value::Str("a\n\"éA".to_owned())),
            ("\"a\\\n   b\"", Value::Str("ab".to_owned())),
            ("\"a\r\nb\"", Value::Str("a\nb".to_owned())),
            (r##"r#"a\n"b"#"##, Value::Str("a\\n\"b".to_owned())),
            (r#"b"\x89PNG\0""#, Value::Bytes(b"\x89PNG\0".to_vec())),
            (r#"br"\x""#, Value::Bytes(b"\\x".to_vec())),
        ];
        for (token, value) in cases {
            assert_eq!(decode(token), Some(value), "{token}");
        }
        assert_eq!(decode("c\"a\""), None);
        assert_eq!(decode("0x"), None);
    }
}
