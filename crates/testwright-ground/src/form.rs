//! How a call is written: fully qualified for the worker, and as a person would.

use testwright_model::api::{Function, ParamKind};
use testwright_model::operation::Form;
use testwright_model::ty::last_segment;
use testwright_model::{GenericArg, TraitRef, Ty};

use crate::world::Bindings;

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee<'c> {
    Free { path: &'c str },
    Inherent { self_ty: &'c Ty },
    Trait { self_ty: &'c Ty, trait_: &'c TraitRef },
}

/// Writes a call of `function` with these concrete parameters.
pub fn call(callee: &Callee<'_>, function: &Function, params: &[(String, Ty)], bindings: &Bindings) -> Form {
    let turbofish = turbofish(function, bindings);
    let name = raw(&function.name);
    let args = holes(0..params.len());
    let full = match callee {
        Callee::Free { path } => format!("{path}{turbofish}({args})"),
        Callee::Inherent { self_ty } => format!("<{}>::{name}{turbofish}({args})", self_ty.erased()),
        Callee::Trait { self_ty, trait_ } => {
            format!("<{} as {}>::{name}{turbofish}({args})", self_ty.erased(), bare(trait_))
        }
    };
    let (short, traits) = short(callee, function, params, &turbofish).unwrap_or_default();
    Form { full, short, traits, only_full: false, clauses: Vec::new() }
}

fn short(
    callee: &Callee<'_>,
    function: &Function,
    params: &[(String, Ty)],
    turbofish: &str,
) -> Option<(String, Vec<String>)> {
    let name = raw(&function.name);
    let traits = match callee {
        Callee::Trait { trait_, .. } if !is_prelude(&trait_.path) => vec![trait_.path.clone()],
        _ => Vec::new(),
    };
    if let Callee::Trait { trait_, .. } = callee {
        if let Some(operator) = operator(&trait_.path, &function.name) {
            return Some((operator.to_owned(), Vec::new()));
        }
    }
    if function.has_receiver() {
        let self_ty = match callee {
            Callee::Inherent { self_ty } | Callee::Trait { self_ty, .. } => self_ty,
            Callee::Free { .. } => return None,
        };
        let rest = holes(1..params.len());
        let needed = if infers(function) { "" } else { turbofish };
        // A method of `&T` taken by value: the reference is the receiver, not what it points to.
        let by_value = params[0].1.erased() == self_ty.erased();
        let of_reference = matches!(self_ty, Ty::Ref { .. });
        if of_reference && !by_value {
            // `text.cmp(…)` with `text: &str` would find the method of `str`.
            return None;
        }
        let receiver = if of_reference { "({0})" } else { "{self}" };
        return Some((format!("{receiver}.{name}{needed}({rest})"), traits));
    }
    match callee {
        Callee::Inherent { self_ty: Ty::Adt { path, args } } => {
            let ty = with_arguments(path, args);
            let needed = if infers(function) { "" } else { turbofish };
            Some((format!("{ty}::{name}{needed}({})", holes(0..params.len())), traits))
        }
        Callee::Free { path } if infers(function) => {
            Some((format!("{path}({})", holes(0..params.len())), traits))
        }
        _ => None,
    }
}

/// A type's path in an expression: `SmallVec::<[i32; 3]>`.
pub fn with_arguments(path: &str, args: &[GenericArg]) -> String {
    let types: Vec<String> = args
        .iter()
        .filter_map(|arg| match arg {
            GenericArg::Ty(ty) => Some(ty.erased().to_string()),
            GenericArg::Const(constant) => Some(constant.to_string()),
            GenericArg::Region(_) => None,
        })
        .collect();
    if types.is_empty() { path.to_owned() } else { format!("{path}::<{}>", types.join(", ")) }
}

/// The trait without its associated types, which an expression's path does not take.
fn bare(trait_: &TraitRef) -> String {
    let mut bare = trait_.clone();
    bare.assoc.clear();
    let text = Ty::Impl(vec![testwright_model::Bound::Trait { trait_: bare, binder: Vec::new() }])
        .erased()
        .to_string();
    text.trim_start_matches("impl ").to_owned()
}

fn holes(range: std::ops::Range<usize>) -> String {
    range.map(|index| format!("{{{index}}}")).collect::<Vec<_>>().join(", ")
}

/// `::<i32, 4>` for the function's own parameters.
fn turbofish(function: &Function, bindings: &Bindings) -> String {
    let mut args = Vec::new();
    for param in &function.generics.params {
        match (&param.kind, bindings.get(&param.name)) {
            (ParamKind::Lifetime { .. }, _) => {}
            (_, Some(GenericArg::Ty(ty))) => {
                args.push(crate::world::apply(ty, bindings).erased().to_string());
            }
            (_, Some(GenericArg::Const(constant))) => args.push(constant.to_string()),
            _ => args.push("_".to_owned()),
        }
    }
    if args.is_empty() { String::new() } else { format!("::<{}>", args.join(", ")) }
}

/// Whether all own parameters of the function follow from its arguments.
fn infers(function: &Function) -> bool {
    function.generics.params.iter().all(|param| match &param.kind {
        ParamKind::Lifetime { .. } => true,
        ParamKind::Type { .. } => {
            let mut found = false;
            for (_, ty) in &function.params {
                ty.walk(&mut |part| found |= matches!(part, Ty::Param(name) if *name == param.name));
            }
            found
        }
        ParamKind::Const { .. } => function.params.iter().any(|(_, ty)| ty.to_string().contains(&param.name)),
    })
}

/// Keywords as names need `r#`.
pub fn raw(name: &str) -> String {
    match name {
        "as" | "async" | "await" | "break" | "const" | "continue" | "dyn" | "else" | "enum" | "extern"
        | "fn" | "for" | "if" | "impl" | "in" | "let" | "loop" | "match" | "mod" | "move" | "mut" | "pub"
        | "ref" | "return" | "static" | "struct" | "trait" | "try" | "type" | "unsafe" | "use" | "where"
        | "while" | "yield" | "abstract" | "become" | "box" | "do" | "final" | "macro" | "override"
        | "priv" | "typeof" | "unsized" | "virtual" | "gen" | "true" | "false" => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

fn is_prelude(path: &str) -> bool {
    matches!(
        last_segment(path),
        "Clone"
            | "Default"
            | "PartialEq"
            | "Eq"
            | "PartialOrd"
            | "Ord"
            | "Iterator"
            | "DoubleEndedIterator"
            | "ExactSizeIterator"
            | "IntoIterator"
            | "Extend"
            | "From"
            | "Into"
            | "TryFrom"
            | "TryInto"
            | "FromIterator"
            | "AsRef"
            | "AsMut"
            | "ToOwned"
            | "ToString"
            | "Drop"
    ) && path.starts_with("std::")
}

/// The operator that stands for a trait's method.
fn operator(trait_path: &str, method: &str) -> Option<&'static str> {
    if !trait_path.starts_with("std::") {
        return None;
    }
    Some(match (last_segment(trait_path), method) {
        ("Add", "add") => "{0} + {1}",
        ("Sub", "sub") => "{0} - {1}",
        ("Mul", "mul") => "{0} * {1}",
        ("Div", "div") => "{0} / {1}",
        ("Rem", "rem") => "{0} % {1}",
        ("BitAnd", "bitand") => "{0} & {1}",
        ("BitOr", "bitor") => "{0} | {1}",
        ("BitXor", "bitxor") => "{0} ^ {1}",
        ("Shl", "shl") => "{0} << {1}",
        ("Shr", "shr") => "{0} >> {1}",
        ("AddAssign", "add_assign") => "{*0} += {1}",
        ("SubAssign", "sub_assign") => "{*0} -= {1}",
        ("MulAssign", "mul_assign") => "{*0} *= {1}",
        ("DivAssign", "div_assign") => "{*0} /= {1}",
        ("RemAssign", "rem_assign") => "{*0} %= {1}",
        ("BitAndAssign", "bitand_assign") => "{*0} &= {1}",
        ("BitOrAssign", "bitor_assign") => "{*0} |= {1}",
        ("BitXorAssign", "bitxor_assign") => "{*0} ^= {1}",
        ("ShlAssign", "shl_assign") => "{*0} <<= {1}",
        ("ShrAssign", "shr_assign") => "{*0} >>= {1}",
        ("Neg", "neg") => "-{0}",
        ("Not", "not") => "!{0}",
        ("Index", "index") => "&{*0}[{1}]",
        ("IndexMut", "index_mut") => "&mut {*0}[{1}]",
        ("PartialEq", "eq") => "{*0} == {*1}",
        ("PartialEq", "ne") => "{*0} != {*1}",
        ("PartialOrd", "lt") => "{*0} < {*1}",
        ("PartialOrd", "le") => "{*0} <= {*1}",
        ("PartialOrd", "gt") => "{*0} > {*1}",
        ("PartialOrd", "ge") => "{*0} >= {*1}",
        _ => return None,
    })
}

/// The format string for a formatting trait: `{:?}` for `Debug`.
pub fn format_string(trait_path: &str) -> Option<&'static str> {
    Some(match trait_path {
        "std::fmt::Debug" => "{:?}",
        "std::fmt::Display" => "{}",
        "std::fmt::LowerHex" => "{:x}",
        "std::fmt::UpperHex" => "{:X}",
        "std::fmt::Octal" => "{:o}",
        "std::fmt::Binary" => "{:b}",
        "std::fmt::LowerExp" => "{:e}",
        "std::fmt::UpperExp" => "{:E}",
        "std::fmt::Pointer" => "{:p}",
        _ => return None,
    })
}
