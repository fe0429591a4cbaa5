//! How much of std is worth operations: the whole model on every type would drown the subject.
//!
//! A type's *generation* says how far it is from the subject: 0 if a signature of the subject names it, one more for each
//! std operation in between.

use testwright_model::Ty;
use testwright_model::api::{Function, ImplDef};
use testwright_model::ty::last_segment;

/// Types further away get no operations at all.
pub const GENERATIONS: u8 = 2;

/// Whether an impl of the std model matters for a value of the type.
pub fn wants_impl(def: &ImplDef, ty: &Ty, generation: u8) -> bool {
    let Some(trait_) = &def.trait_ else { return true };
    if matches!(def.for_, Ty::Param(_) | Ty::Ref { .. }) || matches!(ty, Ty::Prim(_)) {
        return false;
    }
    match trait_.path.as_str() {
        "std::iter::Iterator" | "std::ops::Deref" | "std::ops::DerefMut" => generation <= 1,
        "std::iter::DoubleEndedIterator"
        | "std::iter::ExactSizeIterator"
        | "std::io::Read"
        | "std::io::Write"
        | "std::io::BufRead"
        | "std::hash::Hasher" => generation == 0,
        "std::clone::Clone" => generation == 0 && matches!(ty, Ty::Adt { .. }),
        "std::default::Default" => {
            generation <= 1 && matches!(ty, Ty::Adt { path, .. } if !has_constructor(path))
        }
        "std::iter::IntoIterator" => matches!(ty, Ty::Adt { path, .. } if path == "std::vec::Vec"),
        _ => false,
    }
}

/// Whether a method of the std model matters for a value of the type.
pub fn wants_method(function: &Function, ty: &Ty, generation: u8) -> bool {
    let name = function.name.as_str();
    let constructor = !function.has_receiver();
    if constructor {
        return !matches!(
            name,
            "from_utf8_lossy" | "with_hasher" | "with_capacity_and_hasher" | "from_raw_parts"
        );
    }
    let (full, lean): (&[&str], &[&str]) = match ty {
        Ty::Adt { path, .. } => match path.as_str() {
            "std::option::Option" => {
                (&["unwrap", "is_some", "as_ref", "as_mut", "take", "is_none"], &["unwrap"])
            }
            "std::result::Result" => (&["unwrap", "is_ok", "ok", "unwrap_err"], &["unwrap"]),
            "std::vec::Vec" => (
                &[
                    "push",
                    "pop",
                    "len",
                    "insert",
                    "remove",
                    "as_slice",
                    "as_mut_slice",
                    "into_iter",
                    "iter",
                    "is_empty",
                    "clear",
                ],
                &["push", "as_slice", "as_mut_slice", "into_iter", "iter"],
            ),
            "std::string::String" => {
                (&["push_str", "push", "as_str", "len", "as_bytes", "into_bytes"], &["push_str", "as_str"])
            }
            _ => (&[], &["next", "deref", "deref_mut", "borrow", "borrow_mut", "as_ref", "get"]),
        },
        Ty::Str => {
            (&["len", "to_string", "to_owned", "as_bytes", "chars", "is_empty"], &["to_owned", "chars"])
        }
        Ty::Slice(_) => (
            &["len", "get", "to_vec", "iter", "iter_mut", "is_empty", "first", "get_mut"],
            &["iter", "to_vec"],
        ),
        Ty::Array(..) => (&["as_slice", "as_mut_slice", "into_iter", "iter"], &["as_slice", "as_mut_slice"]),
        _ => (&[], &["next", "deref"]),
    };
    match generation {
        0 => full.is_empty() || full.contains(&name),
        1 => lean.contains(&name),
        _ => false,
    }
}

/// Which provided methods of a std trait are called on the subject's own types: those that a type can get wrong by what it
/// writes itself, not the adapters.
pub fn wants_provided(trait_path: &str, name: &str, of_subject: bool, generation: u8) -> bool {
    let basic = match last_segment(trait_path) {
        "Iterator" => matches!(name, "next" | "size_hint" | "nth"),
        "DoubleEndedIterator" => name == "next_back",
        _ => true,
    };
    let more = match last_segment(trait_path) {
        "Iterator" => matches!(name, "next" | "size_hint" | "nth" | "count" | "last" | "max" | "min"),
        "DoubleEndedIterator" => matches!(name, "next_back" | "nth_back"),
        "PartialOrd" | "PartialEq" | "Ord" | "Clone" => false,
        _ => true,
    };
    if of_subject {
        more
    } else if generation == 0 {
        basic
    } else {
        basic && !matches!(name, "size_hint" | "nth" | "clone_from")
    }
}

/// Types that the model makes in another way.
fn has_constructor(path: &str) -> bool {
    path.starts_with("std::option::")
        || path.starts_with("std::result::")
        || path.starts_with("std::vec::")
        || path.starts_with("std::string::")
        || path.starts_with("std::slice::")
        || path.starts_with("std::collections::")
        || path.starts_with("std::boxed::")
}
