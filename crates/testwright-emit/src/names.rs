//! Names for values that a person would choose: by type for the crate's own, by the call for the rest.

use std::collections::HashMap;

use testwright_model::operation::Operation;
use testwright_model::ty::last_segment;
use testwright_model::{GenericArg, Ty};

#[derive(Debug, Default)]
pub struct Names {
    taken: HashMap<String, u32>,
}

impl Names {
    /// A name for the result of an operation.
    pub fn of_result(&mut self, operation: &Operation, ty: &Ty) -> String {
        let base = by_type(ty).unwrap_or_else(|| by_call(&operation.path));
        self.unique(&base)
    }

    pub fn of_literal(&mut self, ty: &Ty) -> String {
        let base = match ty {
            Ty::Prim(testwright_model::Prim::Bool) => "flag".to_owned(),
            Ty::Prim(testwright_model::Prim::Char) => "letter".to_owned(),
            Ty::Prim(_) => "number".to_owned(),
            Ty::Ref { to, .. } if **to == Ty::Str => "text".to_owned(),
            _ => "data".to_owned(),
        };
        self.unique(&base)
    }

    fn unique(&mut self, base: &str) -> String {
        let base = safe(base);
        let count = self.taken.entry(base.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { base } else { format!("{base}{count}") }
    }
}

/// Types that speak for themselves.
fn by_type(ty: &Ty) -> Option<String> {
    match ty {
        Ty::Adt { path, args } => match path.as_str() {
            "std::option::Option" | "std::result::Result" => None,
            "std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc" => match args.first() {
                Some(GenericArg::Ty(inner)) => by_type(inner).or_else(|| Some("boxed".to_owned())),
                _ => None,
            },
            "std::string::String" => Some("text".to_owned()),
            "std::vec::Vec" => Some("items".to_owned()),
            _ => Some(snake(last_segment(path))),
        },
        Ty::Array(..) => Some("array".to_owned()),
        Ty::Dyn { bounds, .. } => bounds.first().map(|bound| snake(last_segment(&bound.path))),
        _ => None,
    }
}

/// `Slab::get_mut` → `get_mut` → `got`? No: the plain word, without accessors' prefixes.
fn by_call(path: &str) -> String {
    let name = path.rsplit(['.', ':']).next().unwrap_or(path).trim_end_matches('=');
    let name = name.trim_start_matches("get_").trim_start_matches("into_").trim_start_matches("as_");
    match name {
        "Some" | "Ok" | "unwrap" | "get" | "index" => "item".to_owned(),
        "index_mut" => "item_mut".to_owned(),
        "None" => "nothing".to_owned(),
        "Err" => "error".to_owned(),
        _ if name.chars().all(|c| c.is_ascii_digit()) => "part".to_owned(),
        _ if name.starts_with('(') || name.starts_with('…') || name.contains(' ') => "pair".to_owned(),
        _ => snake(name),
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous = None;
    for c in name.chars() {
        let before = previous.replace(c);
        if c.is_ascii_uppercase() {
            if before.is_some_and(|before| !before.is_ascii_uppercase() && before != '_') {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii_alphanumeric() || c == '_' {
            out.push(c);
        }
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) { format!("value{out}") } else { out }
}

/// Keywords and what would hide a common name.
fn safe(name: &str) -> String {
    match name {
        "as" | "break" | "const" | "continue" | "crate" | "dyn" | "else" | "enum" | "extern" | "false"
        | "fn" | "for" | "if" | "impl" | "in" | "let" | "loop" | "match" | "mod" | "move" | "mut" | "pub"
        | "ref" | "return" | "self" | "static" | "struct" | "super" | "trait" | "true" | "type"
        | "unsafe" | "use" | "where" | "while" | "async" | "await" | "try" | "gen" | "yield" | "box"
        | "drop" | "abstract" | "final" | "macro" | "override" | "priv" | "do" | "typeof" | "unsized"
        | "virtual" | "become" => {
            format!("{name}_value")
        }
        // A name that ends in a digit would run into the numbers that keep names apart.
        _ if name.ends_with(|c: char| c.is_ascii_digit()) => format!("{name}_"),
        _ => name.to_owned(),
    }
}
