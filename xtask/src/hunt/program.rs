//! Calls into the crate in the program that is known to show a bug.
//!
//! By tokens, so approximately: in `main`, a path call counts if its path begins with the crate or with a name that is imported from it,
//! a method call unless its name is one that std's types have and that does nothing to a library. A loop over a written range counts
//! as often as it runs. Operators do not count, nor does a law in our tests.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Methods of std's types and of values in general.
const PLAIN: &[&str] = &[
    "and_then",
    "as_bytes",
    "as_mut",
    "as_ref",
    "as_slice",
    "as_str",
    "collect",
    "cloned",
    "count",
    "enumerate",
    "err",
    "expect",
    "finish",
    "into",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_some",
    "len",
    "load",
    "map",
    "ok",
    "repeat",
    "set",
    "store",
    "swap",
    "take",
    "to_owned",
    "to_string",
    "to_vec",
    "unwrap",
    "unwrap_err",
    "unwrap_or",
    "wrapping_add",
    "zip",
];

/// How many calls into the crate (by the name that programs use) the program's `main` makes; `None` if that cannot be told.
pub fn calls(program: &str, library: &str) -> Option<usize> {
    let tokens: Vec<TokenTree> = program.parse::<TokenStream>().ok()?.into_iter().collect();
    let names = imported(&tokens, library);
    let main = tokens.iter().position(|token| is(token, "main"))?;
    let body = tokens[main..].iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    })?;
    Some(count(body, &names)).filter(|calls| *calls > 0)
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// What comes from the crate: its own name, and all words of its `use` declarations. After `use library::*`, a star.
fn imported(tokens: &[TokenTree], library: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::from([library.to_owned()]);
    let mut at = 0;
    while at < tokens.len() {
        if is(&tokens[at], "use") && tokens.get(at + 1).is_some_and(|token| is(token, library)) {
            let end = (at..tokens.len()).find(|end| is_mark(tokens.get(*end), ';')).unwrap_or(tokens.len());
            words(tokens[at + 1..end].iter().cloned().collect(), &mut names);
            at = end;
        }
        at += 1;
    }
    names
}

fn words(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(names.insert(ident.to_string())),
            TokenTree::Group(group) => words(group.stream(), names),
            TokenTree::Punct(punct) if punct.as_char() == '*' => drop(names.insert("*".to_owned())),
            _ => {}
        }
    }
}

fn count(tokens: TokenStream, names: &BTreeSet<String>) -> usize {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut calls, mut times) = (0, 1);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if ident == "for" => times = rounds(&tokens[at..]),
            TokenTree::Ident(ident) if is_called(&tokens, at) => {
                let method = is_mark(at.checked_sub(1).and_then(|before| tokens.get(before)), '.');
                let counts = if method {
                    !PLAIN.contains(&ident.to_string().as_str())
                } else {
                    is_ours(&first_of_path(&tokens, at), names)
                };
                calls += usize::from(counts);
            }
            TokenTree::Group(group) => {
                let inside = count(group.stream(), names);
                let is_body = group.delimiter() == Delimiter::Brace;
                calls += inside * if is_body { std::mem::replace(&mut times, 1) } else { 1 };
            }
            _ => {}
        }
    }
    calls
}

fn is_ours(name: &str, names: &BTreeSet<String>) -> bool {
    const STD: [&str; 9] = ["Some", "Ok", "Err", "Box", "String", "Vec", "Rc", "Arc", "Cell"];
    let is_type = name.starts_with(char::is_uppercase) && !STD.contains(&name);
    names.contains(name) || (names.contains("*") && is_type)
}

/// Whether parentheses follow, perhaps behind `::<…>`.
fn is_called(tokens: &[TokenTree], at: usize) -> bool {
    let mut next = at + 1;
    if is_mark(tokens.get(next), ':') && is_mark(tokens.get(next + 2), '<') {
        let mut open = 0;
        next += 2;
        while let Some(token) = tokens.get(next) {
            open += i32::from(is_mark(Some(token), '<')) - i32::from(is_mark(Some(token), '>'));
            next += 1;
            if open == 0 {
                break;
            }
        }
    }
    let group = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    tokens.get(next).is_some_and(group)
}

/// `Url` of `Url::parse`, `a` of `a::B::<C>::d`.
fn first_of_path(tokens: &[TokenTree], mut at: usize) -> String {
    while at >= 3 && is_mark(tokens.get(at - 1), ':') && is_mark(tokens.get(at - 2), ':') {
        at -= 3;
        if is_mark(tokens.get(at), '>') {
            let mut open = 0;
            while at > 0 {
                open += i32::from(is_mark(tokens.get(at), '>')) - i32::from(is_mark(tokens.get(at), '<'));
                at -= 1;
                if open == 0 {
                    break;
                }
            }
            // `<T>::f` begins here; `T::<U>::f` has a name and two colons before.
            if at >= 2 && is_mark(tokens.get(at), ':') {
                at -= 2;
            }
        }
    }
    tokens.get(at).map(ToString::to_string).unwrap_or_default()
}

/// How often a loop runs whose range is written in numbers; otherwise once.
fn rounds(tokens: &[TokenTree]) -> usize {
    let start = tokens.iter().position(|token| is(token, "in")).map_or(tokens.len(), |at| at + 1);
    let number = |token: &TokenTree| -> Option<usize> {
        let text = token.to_string();
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    let range: Vec<&TokenTree> =
        tokens[start..].iter().take_while(|token| !matches!(token, TokenTree::Group(_))).collect();
    let marks: String =
        range.iter().filter(|t| matches!(t, TokenTree::Punct(_))).map(ToString::to_string).collect();
    let numbers: Vec<usize> = range.iter().filter_map(|token| number(token)).collect();
    match (marks.as_str(), numbers.as_slice()) {
        ("..", [from, to]) => to.saturating_sub(*from),
        ("..=", [from, to]) => (to + 1).saturating_sub(*from),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::calls;

    #[test]
    fn calls_into_the_crate_are_counted() {
        let check = |expected: Option<usize>, library: &str, program: &str| {
            assert_eq!(calls(program, library), expected, "{program}");
        };
        check(Some(1), "strsim", r#"fn main() { println!("{}", strsim::jaro("a", "b")); }"#);
        check(
            Some(3),
            "vers_vecs",
            "use vers_vecs::*; fn main() { let mut b = BitVec::new(); b.append_bits(u64::MAX, 1); let r = RsVec::from_bit_vec(b); println!(\"{}\", r.len()); }",
        );
        check(
            Some(2),
            "adtensor",
            "use adtensor::vector::Vector; fn helper() { Vector::new(); } fn main() { let x = Vector::<String, U40>::from_iter(std::iter::repeat(String::from(\"a\")).take(10)); x.rank::<u8>(); }",
        );
        check(
            Some(7),
            "ring",
            "use ring::{Ring, other}; fn main() { let mut a = Ring::<5>::new(); for i in 1..=5 { a.push(i); } assert!(a == a); other(Some(1)).unwrap(); }",
        );
        check(None, "ring", "fn main() { let a = vec![1]; a.len(); }");
        check(None, "ring", "fn other() {}");
    }
}
