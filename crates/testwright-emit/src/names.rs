//! Names for values that a person would choose: by type for the crate's own, by the parameter that takes them or the call
//! that makes them for the rest.

use std::collections::HashSet;

use testwright_model::operation::Operation;
use testwright_model::ty::last_segment;
use testwright_model::{GenericArg, Prim, Ty};

use crate::words::{callee, is_identifier, is_keyword, snake};

#[derive(Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A name for the result of an operation; `taken_as` is what its users call it.
    pub fn of_result(&mut self, operation: &Operation, ty: &Ty, taken_as: Option<&str>) -> String {
        let base = by_type(ty)
            .or_else(|| made_type(operation, ty))
            .or_else(|| taken_as.and_then(telling).filter(|_| names_well(ty)))
            .unwrap_or_else(|| by_call(operation));
        self.unique(&base)
    }

    /// Keeps all words of a text from becoming names, but for those after a dot.
    pub fn reserve(&mut self, text: &str) {
        let mut before = '.';
        for word in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
            let name = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
            if before != '.' && is_identifier(name) {
                self.taken.insert(name.to_owned());
            }
            before = word.chars().last().unwrap_or(' ');
        }
    }

    /// A name for what lies in an `Option` or `Result`.
    pub fn of_inner(&mut self, ty: &Ty) -> String {
        let inner = if let Ty::Adt { args, .. } = ty { first_type(args).and_then(by_type) } else { None };
        self.unique(inner.as_deref().unwrap_or("inner"))
    }

    pub fn of_literal(&mut self, ty: &Ty, taken_as: Option<&str>) -> String {
        let base = taken_as.and_then(telling).unwrap_or_else(|| {
            match ty {
                Ty::Prim(Prim::Bool) => "flag",
                Ty::Prim(Prim::Char) => "letter",
                Ty::Prim(_) => "number",
                Ty::Ref { to, .. } if **to == Ty::Str => "text",
                _ => "data",
            }
            .to_owned()
        });
        self.unique(&base)
    }

    /// Later values of the same name get a number; `log2` is followed by `log2_2`.
    pub fn unique(&mut self, base: &str) -> String {
        // `drop` is no keyword, but a variable of that name would hide the function.
        let base = if is_keyword(base) || base == "drop" { format!("{base}_value") } else { base.to_owned() };
        let separator = if base.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}{separator}{number}");
            number += 1;
        }
        name
    }
}

/// Types that speak for themselves.
fn by_type(ty: &Ty) -> Option<String> {
    match ty {
        Ty::Adt { path, args } => match path.as_str() {
            "std::option::Option" | "std::result::Result" => None,
            "std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc" | "std::borrow::Cow" => {
                by_type(first_type(args)?).or_else(|| Some("boxed".to_owned()))
            }
            "std::string::String" => Some("text".to_owned()),
            "std::vec::Vec" => Some("items".to_owned()),
            "std::cmp::Ordering" => Some("order".to_owned()),
            _ if path.starts_with("std::collections") => {
                let name = snake(last_segment(path));
                Some(name.rsplit('_').next().unwrap_or(&name).to_owned())
            }
            _ => Some(snake(last_segment(path))),
        },
        Ty::Array(..) => Some("array".to_owned()),
        Ty::Dyn { bounds, .. } => bounds.first().map(|bound| snake(last_segment(&bound.path))),
        _ => None,
    }
}

/// `Stack::try_new` makes a stack, if it can.
fn made_type(operation: &Operation, ty: &Ty) -> Option<String> {
    let Ty::Adt { path, args } = ty else { return None };
    if !matches!(path.as_str(), "std::option::Option" | "std::result::Result") {
        return None;
    }
    let name = callee(&operation.path).name;
    let makes = ["new", "try_new", "from", "try_from", "parse", "with", "build"]
        .iter()
        .any(|word| name == *word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_')));
    if makes { by_type(first_type(args)?) } else { None }
}

fn first_type(args: &[GenericArg]) -> Option<&Ty> {
    args.iter().find_map(|arg| match arg {
        GenericArg::Ty(ty) => Some(ty),
        _ => None,
    })
}

/// A number that is passed as `index` is an index; an `Option` that is passed as `value` is still best named by its call.
fn names_well(ty: &Ty) -> bool {
    match ty {
        Ty::Prim(_) => true,
        Ty::Ref { to, .. } => matches!(**to, Ty::Prim(_) | Ty::Str | Ty::Slice(_)),
        _ => false,
    }
}

/// A parameter's name, if it says something.
fn telling(param: &str) -> Option<String> {
    let name = snake(param);
    let says_nothing = name.len() < 2
        || matches!(name.as_str(), "self" | "this" | "other" | "rhs" | "lhs" | "value" | "arg" | "pair")
        || (name.starts_with("part") || name.starts_with("item") || name.starts_with("arg"))
            && name.ends_with(|c: char| c.is_ascii_digit());
    if says_nothing { None } else { Some(name) }
}

/// The plain word of the call, as the thing that it gives.
fn by_call(operation: &Operation) -> String {
    let path = &operation.path;
    if path.starts_with('(') || path == "tuple field" || path.contains('…') || path.ends_with("dyn _") {
        return match path.as_str() {
            "tuple field" => "part",
            "&dyn _" | "Box<dyn _>" => "object",
            _ => "pair",
        }
        .to_owned();
    }
    let name = callee(path).name;
    let shorter = ["get_", "into_", "as_", "to_", "try_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !matches!(*rest, "" | "mut" | "ref" | "unchecked"))
        .unwrap_or(&name);
    match shorter {
        "some" | "ok" | "unwrap" | "get" | "index" | "deref" => "item",
        "get_mut" | "index_mut" | "deref_mut" | "as_mut" => "item_mut",
        "as_ref" | "borrow" => "inner",
        "none" => "nothing",
        "err" => "error",
        "push" => "pushed",
        "pop" => "popped",
        "insert" => "inserted",
        "remove" | "take" => "removed",
        "replace" => "replaced",
        "eq" => "equal",
        "ne" => "unequal",
        "lt" => "less",
        "le" => "at_most",
        "gt" => "greater",
        "ge" => "at_least",
        "cmp" | "partial_cmp" => "order",
        "add" => "sum",
        "sub" => "difference",
        "mul" => "product",
        "div" => "quotient",
        "rem" => "remainder",
        "neg" => "negated",
        "not" => "inverse",
        "clone" | "cloned" | "to_owned" => "copy",
        "fmt" => "text",
        "size_hint" => "hint",
        "split_at" | "split_at_mut" => "halves",
        other => {
            return match other.strip_prefix("field_") {
                Some(_) => "part".to_owned(),
                None => snake(other),
            };
        }
    }
    .to_owned()
}
