//! Definitions of types and traits: rustdoc's into those of the model.

use testwright_model::api::{AssocType, Shape, TraitDef, TypeDef, TypeKind, Variant};
use testwright_model::ty::{TraitRef, Ty, last_segment};

use crate::docs::docs;
use crate::format::{Id, Inner, Item, NamedFields, StructKind, Trait, VariantKind};
use crate::generics::learn_bounds;
use crate::reader::{Reader, span};
use crate::scope::Scope;
use crate::types::own_args;

impl<'a> Reader<'a> {
    /// `None` for what is not a type.
    pub fn type_def(&self, id: Id, item: &'a Item, path: &str) -> Option<TypeDef> {
        let generics = self.generics_of(id)?;
        let mut scope = Scope::with_self(self.own_type(id, generics));
        let generics = self.generics(generics, &mut scope);
        let (kind, has_more) = match &item.inner {
            Inner::Struct(item) => (TypeKind::Struct(self.struct_shape(&item.kind, &scope)), false),
            Inner::Enum(item) => {
                let variants = item.variants.iter().filter_map(|id| self.variant(*id, &scope)).collect();
                (TypeKind::Enum(variants), item.has_stripped_variants)
            }
            Inner::Union(_) => (TypeKind::Union, false),
            _ => return None,
        };
        Some(TypeDef {
            path: path.to_owned(),
            generics,
            kind,
            // Variants out of sight mean the same to a user as `#[non_exhaustive]`.
            non_exhaustive: item.is_non_exhaustive() || has_more,
            docs: docs(item.docs.as_deref()),
            span: span(item),
            deprecated: item.deprecation.is_some(),
        })
    }

    fn struct_shape(&self, kind: &'a StructKind, scope: &Scope<'a>) -> Shape {
        match kind {
            StructKind::Unit => Shape::Unit,
            StructKind::Tuple(fields) => self.tuple_shape(fields, scope),
            StructKind::Named(fields) => self.named_shape(fields, scope),
            StructKind::Other(_) => Shape::Named { fields: Vec::new(), has_private: true },
        }
    }

    fn variant(&self, id: Id, scope: &Scope<'a>) -> Option<Variant> {
        let item = self.krate.local(id)?;
        let Inner::Variant(variant) = &item.inner else { return None };
        let shape = match &variant.kind {
            VariantKind::Unit => Shape::Unit,
            VariantKind::Tuple(fields) => self.tuple_shape(fields, scope),
            VariantKind::Named(fields) => self.named_shape(fields, scope),
            VariantKind::Other(_) => Shape::Named { fields: Vec::new(), has_private: true },
        };
        Some(Variant {
            name: item.name().to_owned(),
            shape,
            non_exhaustive: item.is_non_exhaustive(),
            doc_hidden: item.is_doc_hidden(),
        })
    }

    fn tuple_shape(&self, fields: &[Option<Id>], scope: &Scope<'a>) -> Shape {
        Shape::Tuple(fields.iter().map(|id| self.field((*id)?, scope).map(|(_, ty)| ty)).collect())
    }

    fn named_shape(&self, named: &NamedFields, scope: &Scope<'a>) -> Shape {
        let fields: Vec<(String, Ty)> = named.fields.iter().filter_map(|id| self.field(*id, scope)).collect();
        let has_private = named.has_stripped_fields || fields.len() < named.fields.len();
        Shape::Named { fields, has_private }
    }

    fn field(&self, id: Id, scope: &Scope<'a>) -> Option<(String, Ty)> {
        let item = self.krate.local(id)?;
        let Inner::StructField(ty) = &item.inner else { return None };
        if self.is_left_out(id) {
            return None;
        }
        Some((item.name().to_owned(), self.ty(ty, scope)))
    }

    pub fn trait_def(&self, id: Id, item: &'a Item, trait_: &'a Trait, path: &str) -> TraitDef {
        let this = Ty::Param("Self".to_owned());
        let own = TraitRef { args: own_args(&trait_.generics), ..TraitRef::new(path) };
        let mut scope = Scope { trait_: Some((id, own)), ..Scope::with_self(this.clone()) };
        let generics = self.generics(&trait_.generics, &mut scope);
        let supertraits = self.bounds(&trait_.bounds, Some(&this), &scope);
        learn_bounds(&this, &supertraits, &mut scope);

        let mut def = TraitDef {
            path: path.to_owned(),
            generics,
            supertraits,
            assoc_types: Vec::new(),
            assoc_consts: Vec::new(),
            methods: Vec::new(),
            is_unsafe: trait_.is_unsafe,
            is_auto: trait_.is_auto,
            object_safe: trait_.is_dyn_compatible,
            docs: docs(item.docs.as_deref()),
            span: span(item),
            doc_hidden: self.names.get(id).is_some_and(|name| name.hidden) || item.is_doc_hidden(),
        };
        for member in trait_.items.iter().filter_map(|id| self.krate.local(*id)) {
            let path = format!("{}::{}", last_segment(path), member.name());
            match &member.inner {
                Inner::Function(function) => {
                    let mut method = self.function(member, function, path, &scope);
                    method.doc_hidden |= def.doc_hidden;
                    def.methods.push(method);
                }
                Inner::AssocConst(constant) => {
                    def.assoc_consts.push(self.assoc_constant(member, constant, path, &scope));
                }
                Inner::AssocType(assoc) => {
                    let mut scope = scope.clone();
                    let generics = self.generics(&assoc.generics, &mut scope);
                    def.assoc_types.push(AssocType {
                        name: member.name().to_owned(),
                        generics,
                        bounds: self.bounds(&assoc.bounds, None, &scope),
                        default: assoc.type_.as_ref().map(|default| self.ty(default, &scope)),
                    });
                }
                _ => {}
            }
        }
        def
    }
}
