//! Types, generics and bounds as rustdoc writes them.

use serde::Deserialize;

use super::Id;
use super::tolerant::tolerant_enum;

tolerant_enum! {
    pub enum Type {
        Infer = "infer",
        ;
        ResolvedPath(Path) = "resolved_path",
        DynTrait(DynTrait) = "dyn_trait",
        Generic(String) = "generic",
        Primitive(String) = "primitive",
        FunctionPointer(Box<FunctionPointer>) = "function_pointer",
        Tuple(Vec<Type>) = "tuple",
        Slice(Box<Type>) = "slice",
        Array(Array) = "array",
        Pat(Pat) = "pat",
        ImplTrait(Vec<GenericBound>) = "impl_trait",
        RawPointer(RawPointer) = "raw_pointer",
        BorrowedRef(BorrowedRef) = "borrowed_ref",
        QualifiedPath(Box<QualifiedPath>) = "qualified_path",
    }
}

#[expect(clippy::struct_field_names, reason = "rustdoc's name")]
#[derive(Debug, Deserialize)]
pub struct Path {
    /// As the source writes it; formats before 43 call it `name`.
    #[serde(alias = "name", default)]
    pub path: String,
    pub id: Id,
    #[serde(default)]
    pub args: Option<Box<GenericArgs>>,
}

impl Path {
    /// Without arguments; before format 51 that is an empty list.
    pub fn is_bare(&self) -> bool {
        match self.args.as_deref() {
            None => true,
            Some(GenericArgs::AngleBracketed(angle)) => angle.args.is_empty() && angle.constraints.is_empty(),
            Some(_) => false,
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct DynTrait {
    pub traits: Vec<PolyTrait>,
    #[serde(default)]
    pub lifetime: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct PolyTrait {
    #[serde(rename = "trait")]
    pub trait_: Path,
    #[serde(default)]
    pub generic_params: Vec<GenericParam>,
}

#[derive(Debug, Deserialize)]
pub struct FunctionPointer {
    pub sig: Signature,
    #[serde(default)]
    pub generic_params: Vec<GenericParam>,
    pub header: Header,
}

#[derive(Debug, Deserialize)]
pub struct Array {
    #[serde(rename = "type")]
    pub type_: Box<Type>,
    pub len: String,
}

#[derive(Debug, Deserialize)]
pub struct Pat {
    #[serde(rename = "type")]
    pub type_: Box<Type>,
}

#[derive(Debug, Deserialize)]
pub struct RawPointer {
    pub is_mutable: bool,
    #[serde(rename = "type")]
    pub type_: Box<Type>,
}

#[derive(Debug, Deserialize)]
pub struct BorrowedRef {
    #[serde(default)]
    pub lifetime: Option<String>,
    pub is_mutable: bool,
    #[serde(rename = "type")]
    pub type_: Box<Type>,
}

#[derive(Debug, Deserialize)]
pub struct QualifiedPath {
    pub name: String,
    #[serde(default)]
    pub args: Option<Box<GenericArgs>>,
    pub self_type: Type,
    #[serde(rename = "trait", default)]
    pub trait_: Option<Path>,
}

#[derive(Debug, Deserialize)]
pub struct Signature {
    pub inputs: Vec<(String, Type)>,
    #[serde(default)]
    pub output: Option<Type>,
    #[serde(default)]
    pub is_c_variadic: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "rustdoc's shape")]
#[derive(Debug, Deserialize)]
pub struct Header {
    pub is_const: bool,
    pub is_unsafe: bool,
    pub is_async: bool,
    #[serde(rename = "abi", deserialize_with = "is_foreign_abi", default)]
    pub is_foreign: bool,
}

/// Any calling convention but Rust's own.
fn is_foreign_abi<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    tolerant_enum! {
        pub enum Abi {
            Rust = "Rust",
            ;
        }
    }
    Ok(!matches!(Abi::deserialize(deserializer)?, Abi::Rust))
}

tolerant_enum! {
    pub enum GenericArgs {
        ReturnTypeNotation = "return_type_notation",
        ;
        AngleBracketed(AngleBracketed) = "angle_bracketed",
        Parenthesized(Parenthesized) = "parenthesized",
    }
}

#[derive(Debug, Deserialize)]
pub struct AngleBracketed {
    pub args: Vec<GenericArg>,
    /// Formats before 33 call it `bindings`.
    #[serde(alias = "bindings", default)]
    pub constraints: Vec<Constraint>,
}

#[derive(Debug, Deserialize)]
pub struct Parenthesized {
    pub inputs: Vec<Type>,
    #[serde(default)]
    pub output: Option<Type>,
}

tolerant_enum! {
    pub enum GenericArg {
        Infer = "infer",
        ;
        Lifetime(String) = "lifetime",
        Type(Type) = "type",
        Const(Constant) = "const",
    }
}

#[derive(Debug, Deserialize)]
pub struct Constant {
    pub expr: String,
    #[serde(default)]
    pub value: Option<String>,
    #[serde(default)]
    pub is_literal: bool,
}

/// `Item = T` or `Item: Clone` between a trait's angle brackets.
#[derive(Debug, Deserialize)]
pub struct Constraint {
    pub name: String,
    pub binding: Binding,
}

tolerant_enum! {
    pub enum Binding {
        ;
        Equality(Term) = "equality",
        Constraint(Vec<GenericBound>) = "constraint",
    }
}

tolerant_enum! {
    pub enum Term {
        ;
        Type(Type) = "type",
        Constant(Constant) = "constant",
    }
}

#[derive(Debug, Default, Deserialize)]
pub struct Generics {
    pub params: Vec<GenericParam>,
    pub where_predicates: Vec<WherePredicate>,
}

#[derive(Debug, Deserialize)]
pub struct GenericParam {
    pub name: String,
    pub kind: GenericParamKind,
}

tolerant_enum! {
    pub enum GenericParamKind {
        ;
        Lifetime(LifetimeParam) = "lifetime",
        Type(TypeParam) = "type",
        Const(ConstParam) = "const",
    }
}

#[derive(Debug, Deserialize)]
pub struct LifetimeParam {
    #[serde(default)]
    pub outlives: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct TypeParam {
    #[serde(default)]
    pub bounds: Vec<GenericBound>,
    #[serde(default)]
    pub default: Option<Type>,
    /// Stands for an `impl Trait` argument.
    #[serde(default, alias = "synthetic")]
    pub is_synthetic: bool,
}

#[derive(Debug, Deserialize)]
pub struct ConstParam {
    #[serde(rename = "type")]
    pub type_: Type,
    #[serde(default)]
    pub default: Option<String>,
}

tolerant_enum! {
    pub enum WherePredicate {
        ;
        Bound(BoundPredicate) = "bound_predicate",
        Lifetime(LifetimePredicate) = "lifetime_predicate",
        Eq(EqPredicate) = "eq_predicate",
    }
}

#[derive(Debug, Deserialize)]
pub struct BoundPredicate {
    #[serde(rename = "type")]
    pub type_: Type,
    pub bounds: Vec<GenericBound>,
    #[serde(default)]
    pub generic_params: Vec<GenericParam>,
}

#[derive(Debug, Deserialize)]
pub struct LifetimePredicate {
    pub lifetime: String,
    #[serde(default)]
    pub outlives: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct EqPredicate {
    pub lhs: Type,
    pub rhs: Term,
}

tolerant_enum! {
    /// `use<..>` is among the others.
    pub enum GenericBound {
        ;
        Trait(TraitBound) = "trait_bound",
        Outlives(String) = "outlives",
    }
}

#[derive(Debug, Deserialize)]
pub struct TraitBound {
    #[serde(rename = "trait")]
    pub trait_: Path,
    #[serde(default)]
    pub generic_params: Vec<GenericParam>,
    /// `none`, `maybe` (`?Sized`) or `maybe_const`.
    #[serde(default)]
    pub modifier: String,
}
