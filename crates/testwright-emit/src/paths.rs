//! Long paths in printed code become imports and short names.

use std::collections::BTreeMap;

/// Which crate is under test.
#[derive(Clone, Debug)]
pub struct Imports {
    pub lib: String,
    /// Other crates that may be named.
    pub foreign: Vec<String>,
}

/// Names that need no import.
const PRELUDE: [(&str, &str); 22] = [
    ("std::vec::Vec", "Vec"),
    ("std::string::String", "String"),
    ("std::boxed::Box", "Box"),
    ("std::option::Option", "Option"),
    ("std::result::Result", "Result"),
    ("std::iter::Iterator", "Iterator"),
    ("std::iter::DoubleEndedIterator", "DoubleEndedIterator"),
    ("std::iter::IntoIterator", "IntoIterator"),
    ("std::clone::Clone", "Clone"),
    ("std::default::Default", "Default"),
    ("std::convert::From", "From"),
    ("std::convert::Into", "Into"),
    ("std::convert::AsRef", "AsRef"),
    ("std::convert::AsMut", "AsMut"),
    ("std::cmp::PartialEq", "PartialEq"),
    ("std::cmp::Eq", "Eq"),
    ("std::cmp::PartialOrd", "PartialOrd"),
    ("std::cmp::Ord", "Ord"),
    ("std::iter::ExactSizeIterator", "ExactSizeIterator"),
    ("std::iter::Extend", "Extend"),
    ("std::string::ToString", "ToString"),
    ("testwright::Tracked", "Tracked"),
];

impl Imports {
    /// The paths to import, in order, and the text with these paths shortened.
    pub fn shorten(&self, body: &str, traits: &[String]) -> (Vec<String>, String) {
        let mut short: BTreeMap<String, String> = BTreeMap::new(); // name → path
        for (path, name) in PRELUDE {
            short.insert(name.to_owned(), path.to_owned());
        }
        let mut uses: Vec<String> = Vec::new();
        let mut out = String::new();
        let mut rest = body;
        while let Some((before, path, after)) = next_path(rest) {
            out.push_str(before);
            out.push_str(&self.shortened(path, &mut short, &mut uses));
            rest = after;
        }
        out.push_str(rest);
        for path in traits {
            let name = path.rsplit("::").next().unwrap_or(path);
            if short.get(name).is_none_or(|known| known != path) {
                uses.push(format!("{path} as _"));
            }
        }
        uses.sort();
        uses.dedup();
        (uses, out)
    }

    fn shortened(&self, path: &str, short: &mut BTreeMap<String, String>, uses: &mut Vec<String>) -> String {
        let segments: Vec<&str> = path.split("::").collect();
        let known = segments[0] == self.lib
            || segments[0] == "std"
            || segments[0] == "testwright"
            || self.foreign.iter().any(|name| name == segments[0]);
        let type_at =
            segments.iter().position(|segment| segment.starts_with(|c: char| c.is_ascii_uppercase()));
        let (true, Some(at)) = (known && segments.len() > 1, type_at) else { return path.to_owned() };
        // A constant's name is in capitals: `lib::MAX` reads better with its crate.
        if segments[at].len() > 1
            && segments[at].chars().all(|c| !c.is_ascii_lowercase())
            && at + 1 == segments.len()
        {
            return path.to_owned();
        }
        let full = segments[..=at].join("::");
        let name = segments[at].to_owned();
        match short.get(&name) {
            Some(known) if *known == full => {}
            Some(_) => return path.to_owned(),
            None => {
                short.insert(name, full.clone());
                uses.push(full);
            }
        }
        segments[at..].join("::")
    }
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

/// Where the raw string that begins here ends.
fn raw_string_end(text: &str, start: usize) -> Option<usize> {
    let after = &text[start + 1..];
    let hashes = after.bytes().take_while(|b| *b == b'#').count();
    let content = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = content.find(&close)?;
    Some(start + 1 + hashes + 1 + end + close.len())
}

/// The next `a::b::C` in the text that is not inside a string, with what stands before and after it.
fn next_path(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'r' if !follows_word(bytes, i) && raw_string_end(text, i).is_some() => {
                i = raw_string_end(text, i).unwrap_or(bytes.len());
            }
            b'"' => {
                i += 1;
                while i < bytes.len() && bytes[i] != b'"' {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
                i += 1;
            }
            b'\'' if bytes.get(i + 1) == Some(&b'\\') => {
                i += 2;
                while i < bytes.len() && bytes[i] != b'\'' {
                    i += 1;
                }
                i += 1;
            }
            b'\'' if bytes.get(i + 2) == Some(&b'\'') => i += 3,
            c if c.is_ascii_alphabetic() || c == b'_' => {
                let start = i;
                let mut end = i;
                let mut segments = 0;
                loop {
                    while end < bytes.len() && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_') {
                        end += 1;
                    }
                    segments += 1;
                    let more = bytes.get(end) == Some(&b':')
                        && bytes.get(end + 1) == Some(&b':')
                        && bytes.get(end + 2).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_');
                    if !more {
                        break;
                    }
                    end += 2;
                }
                if segments > 1 {
                    return Some((&text[..start], &text[start..end], &text[end..]));
                }
                i = end;
            }
            _ => i += 1,
        }
    }
    None
}
