//! Items as rustdoc writes them.

use serde::Deserialize;

use super::tolerant::tolerant_enum;
use super::{Constant, GenericBound, Generics, Header, Id, Path, Signature, Type};

#[derive(Debug, Deserialize)]
pub struct Item {
    #[serde(default)]
    pub crate_id: u32,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub span: Option<Span>,
    pub visibility: Visibility,
    #[serde(default)]
    pub docs: Option<String>,
    #[serde(default)]
    pub attrs: Vec<Attribute>,
    #[serde(default)]
    pub deprecation: Option<serde::de::IgnoredAny>,
    pub inner: Inner,
}

#[derive(Debug, Deserialize)]
pub struct Span {
    pub filename: String,
    /// Line and column.
    pub begin: (u32, u32),
    pub end: (u32, u32),
}

tolerant_enum! {
    pub enum Visibility {
        Public = "public",
        Default = "default",
        Crate = "crate",
        ;
    }
}

tolerant_enum! {
    /// Before format 54 every attribute is its source text, which lands in `Other`.
    pub enum Attribute {
        NonExhaustive = "non_exhaustive",
        AutomaticallyDerived = "automatically_derived",
        ;
        Text(String) = "other",
    }
}

tolerant_enum! {
    pub enum Inner {
        ExternType = "extern_type",
        ;
        Module(Module) = "module",
        ExternCrate(ExternCrate) = "extern_crate",
        Use(Use) = "use",
        Union(Union) = "union",
        Struct(Struct) = "struct",
        StructField(Type) = "struct_field",
        Enum(Enum) = "enum",
        Variant(Variant) = "variant",
        Function(Function) = "function",
        Trait(Trait) = "trait",
        TraitAlias(serde::de::IgnoredAny) = "trait_alias",
        Impl(Impl) = "impl",
        TypeAlias(TypeAlias) = "type_alias",
        Constant(ConstantItem) = "constant",
        Static(Static) = "static",
        Macro(serde::de::IgnoredAny) = "macro",
        ProcMacro(serde::de::IgnoredAny) = "proc_macro",
        Primitive(serde::de::IgnoredAny) = "primitive",
        AssocConst(AssocConst) = "assoc_const",
        AssocType(AssocType) = "assoc_type",
    }
}

#[derive(Debug, Deserialize)]
pub struct Module {
    pub items: Vec<Id>,
}

#[derive(Debug, Deserialize)]
pub struct ExternCrate {
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub struct Use {
    pub source: String,
    pub name: String,
    #[serde(default)]
    pub id: Option<Id>,
    pub is_glob: bool,
}

#[derive(Debug, Deserialize)]
pub struct Union {
    pub generics: Generics,
}

#[derive(Debug, Deserialize)]
pub struct Struct {
    pub kind: StructKind,
    pub generics: Generics,
}

tolerant_enum! {
    pub enum StructKind {
        Unit = "unit",
        ;
        Tuple(Vec<Option<Id>>) = "tuple",
        Named(NamedFields) = "plain",
    }
}

tolerant_enum! {
    pub enum VariantKind {
        Unit = "plain",
        ;
        Tuple(Vec<Option<Id>>) = "tuple",
        Named(NamedFields) = "struct",
    }
}

#[derive(Debug, Deserialize)]
pub struct NamedFields {
    pub fields: Vec<Id>,
    #[serde(default, alias = "fields_stripped")]
    pub has_stripped_fields: bool,
}

#[derive(Debug, Deserialize)]
pub struct Enum {
    pub generics: Generics,
    #[serde(default)]
    pub has_stripped_variants: bool,
    pub variants: Vec<Id>,
}

#[derive(Debug, Deserialize)]
pub struct Variant {
    pub kind: VariantKind,
}

#[derive(Debug, Deserialize)]
pub struct Function {
    pub sig: Signature,
    pub generics: Generics,
    pub header: Header,
    #[serde(default)]
    pub has_body: bool,
}

#[derive(Debug, Deserialize)]
pub struct Trait {
    pub is_auto: bool,
    pub is_unsafe: bool,
    #[serde(alias = "is_object_safe", default)]
    pub is_dyn_compatible: bool,
    pub items: Vec<Id>,
    pub generics: Generics,
    pub bounds: Vec<GenericBound>,
}

#[expect(clippy::struct_field_names, reason = "rustdoc's name")]
#[derive(Debug, Deserialize)]
pub struct Impl {
    pub generics: Generics,
    #[serde(rename = "trait", default)]
    pub trait_: Option<Path>,
    #[serde(rename = "for")]
    pub for_: Type,
    pub items: Vec<Id>,
    #[serde(alias = "negative", default)]
    pub is_negative: bool,
    #[serde(alias = "synthetic", default)]
    pub is_synthetic: bool,
    /// Of the copy of a blanket impl that stands at a type: what the impl is written for.
    #[serde(default)]
    pub blanket_impl: Option<Type>,
}

#[derive(Debug, Deserialize)]
pub struct TypeAlias {
    #[serde(rename = "type")]
    pub type_: Type,
    pub generics: Generics,
}

#[derive(Debug, Deserialize)]
pub struct ConstantItem {
    #[serde(rename = "type")]
    pub type_: Type,
    #[serde(rename = "const")]
    pub const_: Constant,
}

#[derive(Debug, Deserialize)]
pub struct Static {
    #[serde(rename = "type")]
    pub type_: Type,
    #[serde(default)]
    pub is_mutable: bool,
    #[serde(default)]
    pub expr: String,
}

#[derive(Debug, Deserialize)]
pub struct AssocConst {
    #[serde(rename = "type")]
    pub type_: Type,
    #[serde(alias = "default", default)]
    pub value: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct AssocType {
    pub generics: Generics,
    #[serde(default)]
    pub bounds: Vec<GenericBound>,
    #[serde(rename = "type", alias = "default", default)]
    pub type_: Option<Type>,
}

impl Item {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    pub fn is_public(&self) -> bool {
        matches!(self.visibility, Visibility::Public)
    }

    pub fn is_doc_hidden(&self) -> bool {
        self.has_text("#[doc(hidden")
    }

    pub fn is_non_exhaustive(&self) -> bool {
        self.attrs.iter().any(|attr| matches!(attr, Attribute::NonExhaustive))
            || self.has_text("#[non_exhaustive]")
    }

    pub fn is_derived(&self) -> bool {
        self.attrs.iter().any(|attr| matches!(attr, Attribute::AutomaticallyDerived))
            || self.has_text("#[automatically_derived]")
    }

    fn has_text(&self, start: &str) -> bool {
        self.attrs.iter().any(
            |attr| matches!(attr, Attribute::Text(text) | Attribute::Other(text) if text.starts_with(start)),
        )
    }

    /// rustdoc's word for what it is, as it stands in reports.
    pub fn kind(&self) -> &str {
        match &self.inner {
            Inner::ExternType => "extern type",
            Inner::Module(_) => "module",
            Inner::ExternCrate(_) => "extern crate",
            Inner::Use(_) => "re-export",
            Inner::Union(_) => "union",
            Inner::Struct(_) => "struct",
            Inner::StructField(_) => "field",
            Inner::Enum(_) => "enum",
            Inner::Variant(_) => "variant",
            Inner::Function(_) => "function",
            Inner::Trait(_) => "trait",
            Inner::TraitAlias(_) => "trait alias",
            Inner::Impl(_) => "impl",
            Inner::TypeAlias(_) => "type alias",
            Inner::Constant(_) => "constant",
            Inner::Static(_) => "static",
            Inner::Macro(_) | Inner::ProcMacro(_) => "macro",
            Inner::Primitive(_) => "primitive",
            Inner::AssocConst(_) => "associated constant",
            Inner::AssocType(_) => "associated type",
            Inner::Other(name) => name,
        }
    }
}
