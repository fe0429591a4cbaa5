//! Rust types as data, with generic parameters (in an [`Api`](crate::Api)) or without (in operations).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A type as a signature writes it, aliases expanded, paths canonical (see [`crate::api`]).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Ty {
    Prim(Prim),
    Str,
    Never,
    /// A generic parameter; `Self` inside traits is `Param("Self")`.
    Param(String),
    /// A struct, enum or union by its canonical path: `std::vec::Vec`, `slab::Slab`.
    Adt {
        path: String,
        args: Vec<GenericArg>,
    },
    Ref {
        region: Region,
        mutable: bool,
        to: Box<Ty>,
    },
    Ptr {
        mutable: bool,
        to: Box<Ty>,
    },
    Slice(Box<Ty>),
    Array(Box<Ty>, Const),
    /// `()` is the empty tuple.
    Tuple(Vec<Ty>),
    /// `<base as trait_>::name`; without a trait where the source does not name one.
    Proj {
        base: Box<Ty>,
        trait_: Option<Box<TraitRef>>,
        name: String,
        args: Vec<GenericArg>,
    },
    /// `impl Trait`, in argument or result position.
    Impl(Vec<Bound>),
    Dyn {
        bounds: Vec<TraitRef>,
        region: Region,
    },
    FnPtr {
        params: Vec<Ty>,
        result: Box<Ty>,
    },
    /// What cannot be read, in the source's words.
    Unknown(String),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Prim {
    Bool,
    Char,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    F32,
    F64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum GenericArg {
    Region(Region),
    Ty(Ty),
    Const(Const),
}

/// A const generic argument or array length.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Const {
    /// A literal: `4`, `true`, `'x'`.
    Value(String),
    Param(String),
    /// Anything else, as the source writes it.
    Expr(String),
}

/// A lifetime.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Region {
    Static,
    /// With its tick: `'a`.
    Named(String),
    /// Not written, or `'_`.
    Elided,
    /// In the types of values: which borrow it is stands in the ledger, not in the type.
    Erased,
}

/// A trait with its arguments: `std::iter::Iterator<Item = T>`.
///
/// `F: FnMut(&T) -> U` is `std::ops::FnMut` with one tuple argument and the association `Output = U`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TraitRef {
    pub path: String,
    pub args: Vec<GenericArg>,
    /// `Item = T`.
    pub assoc: Vec<(String, Ty)>,
    /// `Item: Clone`.
    pub assoc_bounds: Vec<(String, Vec<Bound>)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Bound {
    /// `for<'a> Trait<'a>`: `binder` holds the lifetimes of the `for`.
    Trait {
        trait_: TraitRef,
        binder: Vec<String>,
    },
    /// `?Sized`.
    MaybeSized,
    Outlives(Region),
}

impl Ty {
    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    pub fn adt(path: &str, args: Vec<Ty>) -> Ty {
        Ty::Adt { path: path.to_owned(), args: args.into_iter().map(GenericArg::Ty).collect() }
    }

    pub fn reference(to: Ty) -> Ty {
        Ty::Ref { region: Region::Erased, mutable: false, to: Box::new(to) }
    }

    pub fn reference_mut(to: Ty) -> Ty {
        Ty::Ref { region: Region::Erased, mutable: true, to: Box::new(to) }
    }

    pub fn is_unit(&self) -> bool {
        matches!(self, Ty::Tuple(parts) if parts.is_empty())
    }

    /// `str`, slices, trait objects and std's own wrappers of them: only ever behind a pointer.
    pub fn is_unsized(&self) -> bool {
        match self {
            Ty::Str | Ty::Slice(_) | Ty::Dyn { .. } => true,
            Ty::Adt { path, .. } => {
                matches!(path.as_str(), "std::path::Path" | "std::ffi::OsStr" | "std::ffi::CStr")
            }
            _ => false,
        }
    }

    pub fn is_int(&self) -> bool {
        matches!(self, Ty::Prim(p) if !matches!(p, Prim::Bool | Prim::Char | Prim::F32 | Prim::F64))
    }

    /// The largest number of an integer type, as literals hold it.
    pub fn largest(&self) -> Option<i128> {
        let Ty::Prim(prim) = self else { return None };
        let unsigned_max = u128::MAX >> (128 - prim.bits());
        let max = if prim.is_signed() { unsigned_max >> 1 } else { unsigned_max };
        self.is_int().then_some(max.cast_signed())
    }

    /// Whether it is a plain container of values that are so, or such a value itself: behind references, in slices, arrays, tuples and
    /// std's own types.
    pub fn is_made_of(&self, is_so: &dyn Fn(&Ty) -> bool) -> bool {
        is_so(self)
            || match self {
                Ty::Adt { path, args } => {
                    let inner = |arg: &GenericArg| matches!(arg, GenericArg::Ty(ty) if ty.is_made_of(is_so));
                    path.starts_with("std::") && args.iter().any(inner)
                }
                Ty::Ref { to, .. } | Ty::Slice(to) | Ty::Array(to, _) => to.is_made_of(is_so),
                Ty::Tuple(parts) => parts.iter().any(|part| part.is_made_of(is_so)),
                _ => false,
            }
    }

    /// Whether an associated type is in it somewhere.
    pub fn has_projection(&self) -> bool {
        let mut has = false;
        self.walk(&mut |ty| has |= matches!(ty, Ty::Proj { .. }));
        has
    }

    /// Calls `see` on this type and on every type inside it, outermost first.
    pub fn walk(&self, see: &mut dyn FnMut(&Ty)) {
        see(self);
        match self {
            Ty::Prim(_) | Ty::Str | Ty::Never | Ty::Param(_) | Ty::Unknown(_) => {}
            Ty::Adt { args, .. } => walk_args(args, see),
            Ty::Ref { to, .. } | Ty::Ptr { to, .. } | Ty::Slice(to) | Ty::Array(to, _) => to.walk(see),
            Ty::Tuple(parts) => parts.iter().for_each(|part| part.walk(see)),
            Ty::Proj { base, trait_, args, .. } => {
                base.walk(see);
                if let Some(trait_) = trait_ {
                    trait_.walk(see);
                }
                walk_args(args, see);
            }
            Ty::Impl(bounds) => {
                for bound in bounds {
                    if let Bound::Trait { trait_, .. } = bound {
                        trait_.walk(see);
                    }
                }
            }
            Ty::Dyn { bounds, .. } => bounds.iter().for_each(|bound| bound.walk(see)),
            Ty::FnPtr { params, result } => {
                for param in params {
                    param.walk(see);
                }
                result.walk(see);
            }
        }
    }

    /// The same type with every region given by `region`.
    #[must_use]
    pub fn map_regions(&self, region: &mut dyn FnMut(&Region) -> Region) -> Ty {
        struct Regions<'a>(&'a mut dyn FnMut(&Region) -> Region);
        impl Folder for Regions<'_> {
            fn region(&mut self, region: &Region) -> Region {
                (self.0)(region)
            }
        }
        Regions(region).ty(self)
    }

    /// Every region in the type, outermost first, with repetitions.
    pub fn regions(&self) -> Vec<Region> {
        let mut all = Vec::new();
        let _ = self.map_regions(&mut |region| {
            all.push(region.clone());
            region.clone()
        });
        all
    }

    /// All regions erased: the type of a value as the worker stores it.
    #[must_use]
    pub fn erased(&self) -> Ty {
        self.map_regions(&mut |_| Region::Erased)
    }

    /// How deeply type constructors nest.
    pub fn depth(&self) -> usize {
        let inner = match self {
            Ty::Adt { args, .. } => args
                .iter()
                .map(|arg| if let GenericArg::Ty(ty) = arg { ty.depth() } else { 0 })
                .max()
                .unwrap_or(0),
            Ty::Ref { to, .. } | Ty::Ptr { to, .. } | Ty::Slice(to) | Ty::Array(to, _) => to.depth(),
            Ty::Tuple(parts) => parts.iter().map(Ty::depth).max().unwrap_or(0),
            Ty::Proj { base, .. } => base.depth(),
            Ty::FnPtr { .. } | Ty::Impl(_) | Ty::Dyn { .. } => 1,
            _ => return 0,
        };
        inner + 1
    }

    /// Whether a generic parameter, projection or `impl Trait` is left in it.
    pub fn is_ground(&self) -> bool {
        let mut ground = true;
        self.walk(&mut |ty| match ty {
            Ty::Param(_)
            | Ty::Proj { .. }
            | Ty::Impl(_)
            | Ty::Unknown(_)
            | Ty::Array(_, Const::Param(_) | Const::Expr(_)) => ground = false,
            Ty::Adt { args, .. } => {
                ground &= !args
                    .iter()
                    .any(|arg| matches!(arg, GenericArg::Const(Const::Param(_) | Const::Expr(_))));
            }
            _ => {}
        });
        ground
    }
}

fn walk_args(args: &[GenericArg], see: &mut dyn FnMut(&Ty)) {
    for arg in args {
        if let GenericArg::Ty(ty) = arg {
            ty.walk(see);
        }
    }
}

impl TraitRef {
    pub fn new(path: &str) -> TraitRef {
        TraitRef { path: path.to_owned(), args: Vec::new(), assoc: Vec::new(), assoc_bounds: Vec::new() }
    }

    fn walk(&self, see: &mut dyn FnMut(&Ty)) {
        walk_args(&self.args, see);
        self.assoc.iter().for_each(|(_, ty)| ty.walk(see));
    }

    /// The last word of its path.
    pub fn name(&self) -> &str {
        last_segment(&self.path)
    }
}

/// The last word of a path: `Vec` of `std::vec::Vec`.
pub fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Rebuilds a type with some of its parts replaced; each method by default descends and changes nothing.
pub trait Folder {
    fn ty(&mut self, ty: &Ty) -> Ty {
        self.descend(ty)
    }

    fn region(&mut self, region: &Region) -> Region {
        region.clone()
    }

    fn constant(&mut self, constant: &Const) -> Const {
        constant.clone()
    }

    fn descend(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Prim(_) | Ty::Str | Ty::Never | Ty::Param(_) | Ty::Unknown(_) => ty.clone(),
            Ty::Adt { path, args } => Ty::Adt { path: path.clone(), args: self.args(args) },
            Ty::Ref { region, mutable, to } => {
                Ty::Ref { region: self.region(region), mutable: *mutable, to: Box::new(self.ty(to)) }
            }
            Ty::Ptr { mutable, to } => Ty::Ptr { mutable: *mutable, to: Box::new(self.ty(to)) },
            Ty::Slice(of) => Ty::Slice(Box::new(self.ty(of))),
            Ty::Array(of, len) => Ty::Array(Box::new(self.ty(of)), self.constant(len)),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.ty(part)).collect()),
            Ty::Proj { base, trait_, name, args } => Ty::Proj {
                base: Box::new(self.ty(base)),
                trait_: trait_.as_ref().map(|trait_| Box::new(self.trait_ref(trait_))),
                name: name.clone(),
                args: self.args(args),
            },
            Ty::Impl(bounds) => Ty::Impl(bounds.iter().map(|bound| self.bound(bound)).collect()),
            Ty::Dyn { bounds, region } => Ty::Dyn {
                bounds: bounds.iter().map(|bound| self.trait_ref(bound)).collect(),
                region: self.region(region),
            },
            Ty::FnPtr { params, result } => Ty::FnPtr {
                params: params.iter().map(|param| self.ty(param)).collect(),
                result: Box::new(self.ty(result)),
            },
        }
    }

    fn args(&mut self, args: &[GenericArg]) -> Vec<GenericArg> {
        args.iter()
            .map(|arg| match arg {
                GenericArg::Region(region) => GenericArg::Region(self.region(region)),
                GenericArg::Ty(ty) => GenericArg::Ty(self.ty(ty)),
                GenericArg::Const(constant) => GenericArg::Const(self.constant(constant)),
            })
            .collect()
    }

    fn trait_ref(&mut self, trait_: &TraitRef) -> TraitRef {
        TraitRef {
            path: trait_.path.clone(),
            args: self.args(&trait_.args),
            assoc: trait_.assoc.iter().map(|(name, ty)| (name.clone(), self.ty(ty))).collect(),
            assoc_bounds: trait_
                .assoc_bounds
                .iter()
                .map(|(name, bounds)| (name.clone(), bounds.iter().map(|bound| self.bound(bound)).collect()))
                .collect(),
        }
    }

    fn bound(&mut self, bound: &Bound) -> Bound {
        match bound {
            Bound::Trait { trait_, binder } => {
                Bound::Trait { trait_: self.trait_ref(trait_), binder: binder.clone() }
            }
            Bound::MaybeSized => Bound::MaybeSized,
            Bound::Outlives(region) => Bound::Outlives(self.region(region)),
        }
    }
}

impl Prim {
    pub const ALL: [Prim; 16] = [
        Prim::Bool,
        Prim::Char,
        Prim::I8,
        Prim::I16,
        Prim::I32,
        Prim::I64,
        Prim::I128,
        Prim::Isize,
        Prim::U8,
        Prim::U16,
        Prim::U32,
        Prim::U64,
        Prim::U128,
        Prim::Usize,
        Prim::F32,
        Prim::F64,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Prim::Bool => "bool",
            Prim::Char => "char",
            Prim::I8 => "i8",
            Prim::I16 => "i16",
            Prim::I32 => "i32",
            Prim::I64 => "i64",
            Prim::I128 => "i128",
            Prim::Isize => "isize",
            Prim::U8 => "u8",
            Prim::U16 => "u16",
            Prim::U32 => "u32",
            Prim::U64 => "u64",
            Prim::U128 => "u128",
            Prim::Usize => "usize",
            Prim::F32 => "f32",
            Prim::F64 => "f64",
        }
    }

    pub fn from_name(name: &str) -> Option<Prim> {
        Prim::ALL.into_iter().find(|prim| prim.name() == name)
    }

    /// Width in bits; `isize` and `usize` as on 64-bit machines.
    pub fn bits(self) -> u32 {
        match self {
            Prim::Bool | Prim::I8 | Prim::U8 => 8,
            Prim::I16 | Prim::U16 => 16,
            Prim::Char | Prim::I32 | Prim::U32 | Prim::F32 => 32,
            Prim::I64 | Prim::U64 | Prim::Isize | Prim::Usize | Prim::F64 => 64,
            Prim::I128 | Prim::U128 => 128,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64 | Prim::I128 | Prim::Isize)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Prim::F32 | Prim::F64)
    }
}

/// Prints Rust source; [`Region::Erased`] and [`Region::Elided`] print as nothing in references and as `'_` in paths.
impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Prim(prim) => f.write_str(prim.name()),
            Ty::Str => f.write_str("str"),
            Ty::Never => f.write_str("!"),
            Ty::Param(name) => f.write_str(name),
            Ty::Adt { path, args } => {
                f.write_str(path)?;
                write_args(f, args, &[])
            }
            Ty::Ref { region, mutable, to } => {
                f.write_str("&")?;
                if let Region::Static | Region::Named(_) = region {
                    write!(f, "{region} ")?;
                }
                if *mutable {
                    f.write_str("mut ")?;
                }
                match &**to {
                    Ty::Dyn { bounds, region }
                        if bounds.len() > 1 || matches!(region, Region::Static | Region::Named(_)) =>
                    {
                        write!(f, "({to})")
                    }
                    Ty::Impl(bounds) if bounds.len() > 1 => write!(f, "({to})"),
                    _ => write!(f, "{to}"),
                }
            }
            Ty::Ptr { mutable, to } => write!(f, "*{} {to}", if *mutable { "mut" } else { "const" }),
            Ty::Slice(of) => write!(f, "[{of}]"),
            Ty::Array(of, len) => write!(f, "[{of}; {len}]"),
            Ty::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if parts.len() == 1 { ",)" } else { ")" })
            }
            Ty::Proj { base, trait_, name, args } => {
                match trait_ {
                    Some(trait_) => write!(f, "<{base} as {trait_}>::{name}")?,
                    None => write!(f, "{base}::{name}")?,
                }
                write_args(f, args, &[])
            }
            Ty::Impl(bounds) => {
                f.write_str("impl ")?;
                for (i, bound) in bounds.iter().enumerate() {
                    write!(f, "{}{bound}", if i > 0 { " + " } else { "" })?;
                }
                Ok(())
            }
            Ty::Dyn { bounds, region } => {
                f.write_str("dyn ")?;
                for (i, bound) in bounds.iter().enumerate() {
                    write!(f, "{}{bound}", if i > 0 { " + " } else { "" })?;
                }
                if let Region::Static | Region::Named(_) = region {
                    write!(f, " + {region}")?;
                }
                Ok(())
            }
            Ty::FnPtr { params, result } => {
                f.write_str("fn(")?;
                for (i, param) in params.iter().enumerate() {
                    write!(f, "{}{param}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")?;
                if result.is_unit() { Ok(()) } else { write!(f, " -> {result}") }
            }
            Ty::Unknown(text) => f.write_str(text),
        }
    }
}

fn write_args(f: &mut fmt::Formatter<'_>, args: &[GenericArg], assoc: &[(String, Ty)]) -> fmt::Result {
    if args.is_empty() && assoc.is_empty() {
        return Ok(());
    }
    f.write_str("<")?;
    let mut first = true;
    for arg in args {
        f.write_str(if first { "" } else { ", " })?;
        first = false;
        match arg {
            GenericArg::Region(region) => write!(f, "{region}")?,
            GenericArg::Ty(ty) => write!(f, "{ty}")?,
            GenericArg::Const(constant) => write!(f, "{constant}")?,
        }
    }
    for (name, ty) in assoc {
        write!(f, "{}{name} = {ty}", if first { "" } else { ", " })?;
        first = false;
    }
    f.write_str(">")
}

impl fmt::Display for TraitRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if matches!(self.path.as_str(), "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce") {
            if let [GenericArg::Ty(params)] = self.args.as_slice() {
                write!(f, "{params}")?;
                return match self.assoc.first() {
                    Some((_, result)) if !result.is_unit() => write!(f, " -> {result}"),
                    _ => Ok(()),
                };
            }
        }
        write_args(f, &self.args, &self.assoc)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Trait { trait_, binder } if binder.is_empty() => write!(f, "{trait_}"),
            Bound::Trait { trait_, binder } => write!(f, "for<{}> {trait_}", binder.join(", ")),
            Bound::MaybeSized => f.write_str("?Sized"),
            Bound::Outlives(region) => write!(f, "{region}"),
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::Value(text) | Const::Param(text) => f.write_str(text),
            Const::Expr(text) => write!(f, "{{ {text} }}"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Region::Static => f.write_str("'static"),
            Region::Named(name) => f.write_str(name),
            Region::Elided | Region::Erased => f.write_str("'_"),
        }
    }
}
