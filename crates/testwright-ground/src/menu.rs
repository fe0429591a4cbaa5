//! Which concrete types to try for a generic parameter, in which order.
//!
//! A *flavor* is one coherent way to fill all parameters: plain integers first, then values with destructors, then the drop
//! ledger's own type, then tiny and zero-sized ones.

use testwright_model::{Bound, Const, GenericArg, Prim, Region, TraitRef, Ty};

/// The type whose values the worker follows from birth to death; tests print it as a small struct of their own.
pub const TRACKED: &str = "testwright::Tracked";

/// How many ways of filling parameters there are.
pub const FLAVORS: usize = 4;

pub fn int() -> Ty {
    Ty::Prim(Prim::I32)
}

pub fn string() -> Ty {
    Ty::adt("std::string::String", Vec::new())
}

pub fn vec_of(ty: Ty) -> Ty {
    Ty::adt("std::vec::Vec", vec![ty])
}

fn static_str() -> Ty {
    Ty::Ref { region: Region::Static, mutable: false, to: Box::new(Ty::Str) }
}

/// The types for a parameter without structural bounds, best first.
pub fn plain(flavor: usize) -> Vec<Ty> {
    let first = match flavor {
        0 => vec![int()],
        1 => vec![string(), Ty::adt("std::boxed::Box", vec![int()])],
        2 => vec![Ty::adt(TRACKED, Vec::new()), string()],
        _ => vec![Ty::unit(), Ty::Prim(Prim::U8)],
    };
    let rest = [
        int(),
        string(),
        Ty::Prim(Prim::U8),
        Ty::Prim(Prim::Usize),
        Ty::Prim(Prim::U32),
        Ty::Prim(Prim::U64),
        Ty::Prim(Prim::I64),
        Ty::Prim(Prim::Char),
        Ty::Prim(Prim::Bool),
        Ty::Prim(Prim::F64),
        Ty::Prim(Prim::U16),
        Ty::unit(),
        Ty::Tuple(vec![int(), int()]),
        vec_of(int()),
        vec_of(Ty::Prim(Prim::U8)),
        Ty::adt("std::option::Option", vec![int()]),
        Ty::adt("std::boxed::Box", vec![int()]),
        static_str(),
        Ty::Array(Box::new(int()), Const::Value("4".to_owned())),
        Ty::Array(Box::new(Ty::Prim(Prim::U8)), Const::Value("4".to_owned())),
        Ty::reference(int()),
        Ty::Prim(Prim::I8),
        Ty::Prim(Prim::I16),
        Ty::Prim(Prim::F32),
        Ty::Prim(Prim::U128),
        Ty::Prim(Prim::I128),
        Ty::Prim(Prim::Isize),
        Ty::Str,
        Ty::Slice(Box::new(int())),
        Ty::Slice(Box::new(Ty::Prim(Prim::U8))),
    ];
    let mut all = first;
    for ty in rest {
        if !all.contains(&ty) {
            all.push(ty);
        }
    }
    all
}

/// Values for a const parameter.
pub fn constants(ty: &Ty, flavor: usize) -> Vec<Const> {
    let of = |values: &[&str]| values.iter().map(|value| Const::Value((*value).to_owned())).collect();
    match ty {
        Ty::Prim(Prim::Bool) => {
            of(if flavor.is_multiple_of(2) { &["true", "false"] } else { &["false", "true"] })
        }
        Ty::Prim(Prim::Char) => of(&["'a'"]),
        _ => of(match flavor {
            0 => &["4", "8", "2", "1", "0", "16", "32"],
            1 => &["2", "4", "1", "0"],
            2 => &["8", "1", "4", "0"],
            _ => &["1", "0", "4"],
        }),
    }
}

/// What a structural bound asks for.
#[derive(Debug)]
pub enum Structural {
    /// Try these types.
    Types(Vec<Ty>),
    /// A function: generated closures are needed.
    Closure,
    /// Nothing special is known about the trait.
    Open,
}

/// The types that are made for one bound. `item` stands for an element type where the bound leaves it open.
pub fn structural(trait_: &TraitRef, flavor: usize) -> Structural {
    let element = plain(flavor).swap_remove(0);
    let assoc = |name: &str| {
        trait_
            .assoc
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, ty)| ty)
            .filter(|ty| !matches!(ty, Ty::Param(_)))
    };
    let arg = || match trait_.args.first() {
        Some(GenericArg::Ty(ty)) if !matches!(ty, Ty::Param(_)) => Some(ty.clone()),
        _ => None,
    };
    let types = match trait_.path.as_str() {
        "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce" => return Structural::Closure,
        "std::iter::IntoIterator" => collections(assoc("Item").unwrap_or(&element)),
        "std::iter::Iterator"
        | "std::iter::DoubleEndedIterator"
        | "std::iter::ExactSizeIterator"
        | "std::iter::FusedIterator" => iterators(assoc("Item").unwrap_or(&element)),
        "std::convert::Into" => match arg() {
            Some(ty) if ty == string() => vec![static_str(), string()],
            Some(ty) => vec![ty],
            None => return Structural::Open,
        },
        "std::convert::AsRef" => match arg() {
            Some(Ty::Str) => vec![static_str(), string()],
            Some(Ty::Slice(of)) if *of == Ty::Prim(Prim::U8) => {
                vec![vec_of(*of), Ty::reference(Ty::Slice(Box::new(Ty::Prim(Prim::U8)))), static_str()]
            }
            Some(Ty::Slice(of)) => vec![vec_of((*of).clone()), Ty::reference(Ty::Slice(of))],
            Some(Ty::Adt { path, .. }) if path == "std::path::Path" || path == "std::ffi::OsStr" => {
                vec![static_str(), string()]
            }
            Some(ty) => vec![ty.clone(), Ty::adt("std::boxed::Box", vec![ty.clone()]), Ty::reference(ty)],
            None => return Structural::Open,
        },
        "std::convert::AsMut" => match arg() {
            Some(Ty::Slice(of)) => vec![vec_of((*of).clone()), Ty::reference_mut(Ty::Slice(of))],
            Some(ty) => vec![ty.clone(), Ty::adt("std::boxed::Box", vec![ty])],
            None => return Structural::Open,
        },
        "std::borrow::Borrow" | "std::borrow::BorrowMut" => match arg() {
            Some(Ty::Str) => vec![string(), static_str()],
            Some(Ty::Slice(of)) => vec![vec_of(*of)],
            Some(ty) => vec![ty.clone(), Ty::reference(ty)],
            None => return Structural::Open,
        },
        "std::ops::Deref" | "std::ops::DerefMut" => match assoc("Target") {
            Some(Ty::Slice(of)) => vec![vec_of((**of).clone())],
            Some(Ty::Str) => vec![string()],
            Some(ty) => vec![Ty::adt("std::boxed::Box", vec![ty.clone()])],
            None => vec![Ty::adt("std::boxed::Box", vec![element]), vec_of(int())],
        },
        "std::io::Read" | "std::io::BufRead" => {
            vec![Ty::reference(Ty::Slice(Box::new(Ty::Prim(Prim::U8)))), cursor()]
        }
        "std::io::Seek" => vec![cursor()],
        "std::io::Write" => vec![vec_of(Ty::Prim(Prim::U8)), cursor()],
        "std::fmt::Write" => vec![string()],
        "std::hash::Hasher" => vec![Ty::adt("std::hash::DefaultHasher", Vec::new())],
        "std::hash::BuildHasher" => vec![Ty::adt("std::hash::RandomState", Vec::new())],
        "std::ops::RangeBounds" => {
            let idx = arg().unwrap_or(Ty::Prim(Prim::Usize));
            vec![
                Ty::adt("std::ops::Range", vec![idx.clone()]),
                Ty::adt("std::ops::RangeInclusive", vec![idx.clone()]),
                Ty::adt("std::ops::RangeTo", vec![idx]),
                Ty::adt("std::ops::RangeFull", Vec::new()),
            ]
        }
        "std::slice::SliceIndex" => {
            vec![Ty::Prim(Prim::Usize), Ty::adt("std::ops::Range", vec![Ty::Prim(Prim::Usize)])]
        }
        "std::error::Error" => vec![Ty::adt("std::fmt::Error", Vec::new())],
        _ => return Structural::Open,
    };
    Structural::Types(rotate(types, flavor))
}

/// Puts another candidate first for each flavor.
fn rotate(mut types: Vec<Ty>, flavor: usize) -> Vec<Ty> {
    let len = types.len().max(1);
    types.rotate_left(flavor % len);
    types
}

fn cursor() -> Ty {
    Ty::adt("std::io::Cursor", vec![vec_of(Ty::Prim(Prim::U8))])
}

/// What can be handed over as `impl IntoIterator<Item = item>`.
fn collections(item: &Ty) -> Vec<Ty> {
    let mut all = vec![vec_of(item.clone()), filtered(item)];
    if let Ty::Ref { mutable, to, region } = item {
        let slice = |of: Ty| Ty::Ref { region: region.clone(), mutable: *mutable, to: Box::new(of) };
        all.insert(0, slice(vec_of((**to).clone())));
        all.insert(1, slice(Ty::Slice(to.clone())));
    }
    all.push(Ty::Array(Box::new(item.clone()), Const::Value("2".to_owned())));
    all.extend(iterators(item));
    all.push(Ty::adt("std::option::Option", vec![item.clone()]));
    all
}

/// What can be handed over as `impl Iterator<Item = item>`.
fn iterators(item: &Ty) -> Vec<Ty> {
    let mut all = vec![into_iter(item), filtered(item)];
    if item.is_int() {
        all.push(Ty::adt("std::ops::Range", vec![item.clone()]));
    }
    if let Ty::Ref { mutable: false, to, region } = item {
        if !to.is_unsized() {
            all.insert(
                0,
                Ty::Adt {
                    path: "std::slice::Iter".to_owned(),
                    args: vec![GenericArg::Region(region.clone()), GenericArg::Ty((**to).clone())],
                },
            );
        }
    }
    if *item == Ty::Prim(Prim::Char) {
        all.push(Ty::Adt {
            path: "std::str::Chars".to_owned(),
            args: vec![GenericArg::Region(Region::Erased)],
        });
    }
    all
}

fn into_iter(item: &Ty) -> Ty {
    Ty::adt("std::vec::IntoIter", vec![item.clone()])
}

/// An iterator whose `size_hint` is not exact.
fn filtered(item: &Ty) -> Ty {
    let predicate = Ty::FnPtr {
        params: vec![Ty::Ref { region: Region::Erased, mutable: false, to: Box::new(item.clone()) }],
        result: Box::new(Ty::Prim(Prim::Bool)),
    };
    Ty::adt("std::iter::Filter", vec![into_iter(item), predicate])
}

/// Whether any of the bounds is a function trait.
pub fn asks_for_closure(bounds: &[Bound]) -> bool {
    bounds.iter().any(|bound| match bound {
        Bound::Trait { trait_, .. } => {
            matches!(trait_.path.as_str(), "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce")
        }
        _ => false,
    })
}
