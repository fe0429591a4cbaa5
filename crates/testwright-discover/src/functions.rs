//! Functions and constants, free or associated: rustdoc's into those of the model.

use testwright_model::api::{Constant, ConstantKind, Function};
use testwright_model::ty::{Region, TraitRef, Ty, last_segment};

use crate::docs::docs;
use crate::format::{self, AssocConst, ConstantItem, Inner, Item, Static};
use crate::reader::{Reader, span};
use crate::scope::Scope;

impl<'a> Reader<'a> {
    /// `scope` is that of the impl, trait or module around.
    pub fn function(
        &self,
        item: &'a Item,
        function: &'a format::Function,
        path: String,
        scope: &Scope<'a>,
    ) -> Function {
        let mut scope = scope.clone();
        let generics = self.generics(&function.generics, &mut scope);
        let inputs = function.sig.inputs.iter().enumerate();
        Function {
            name: item.name().to_owned(),
            path,
            generics,
            params: inputs.map(|(i, (name, ty))| (param_name(name, i), self.ty(ty, &scope))).collect(),
            result: function.sig.output.as_ref().map_or_else(Ty::unit, |output| self.ty(output, &scope)),
            is_unsafe: function.header.is_unsafe,
            is_async: function.header.is_async,
            is_const: function.header.is_const,
            has_body: function.has_body,
            docs: docs(item.docs.as_deref()),
            span: span(item),
            deprecated: item.deprecation.is_some(),
            doc_hidden: item.is_doc_hidden(),
        }
    }

    pub fn free_constant(&self, item: &'a Item, path: String) -> Option<Constant> {
        let (ty, value, kind) = match &item.inner {
            Inner::Constant(ConstantItem { type_, const_ }) => {
                (type_, const_.value.as_deref().unwrap_or(&const_.expr), ConstantKind::Const)
            }
            Inner::Static(Static { type_, is_mutable, expr }) => (
                type_,
                expr.as_str(),
                if *is_mutable { ConstantKind::StaticMut } else { ConstantKind::Static },
            ),
            _ => return None,
        };
        Some(self.constant_item(item, path, ty, Some(value), kind, &Scope::default()))
    }

    pub fn assoc_constant(
        &self,
        item: &'a Item,
        constant: &'a AssocConst,
        path: String,
        scope: &Scope<'a>,
    ) -> Constant {
        self.constant_item(item, path, &constant.type_, constant.value.as_deref(), ConstantKind::Const, scope)
    }

    fn constant_item(
        &self,
        item: &'a Item,
        path: String,
        ty: &'a format::Type,
        value: Option<&str>,
        kind: ConstantKind,
        scope: &Scope<'a>,
    ) -> Constant {
        // A lifetime left out in a constant's type is `'static`.
        let ty = self.ty(ty, scope).map_regions(&mut |region| match region {
            Region::Elided => Region::Static,
            other => other.clone(),
        });
        Constant {
            name: item.name().to_owned(),
            path,
            ty,
            value: value.filter(|value| !matches!(*value, "_" | "")).map(str::to_owned),
            kind,
            docs: docs(item.docs.as_deref()),
            span: span(item),
        }
    }
}

/// Patterns and missing names get one of their own.
fn param_name(name: &str, position: usize) -> String {
    let is_name = name.chars().all(|letter| letter == '_' || letter.is_alphanumeric())
        && name.chars().any(|letter| letter != '_');
    if is_name { name.to_owned() } else { format!("arg{position}") }
}

/// A type as it stands in a function's path: no modules, no arguments.
pub fn short(ty: &Ty) -> String {
    match ty {
        Ty::Adt { path, .. } => last_segment(path).to_owned(),
        Ty::Ref { mutable: false, to, .. } => format!("&{}", short(to)),
        Ty::Ref { mutable: true, to, .. } => format!("&mut {}", short(to)),
        Ty::Ptr { mutable, to } => format!("*{} {}", if *mutable { "mut" } else { "const" }, short(to)),
        Ty::Slice(of) => format!("[{}]", short(of)),
        Ty::Array(of, len) => format!("[{}; {len}]", short(of)),
        Ty::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(short).collect();
            format!("({})", parts.join(", "))
        }
        Ty::Dyn { bounds, .. } => {
            let names: Vec<&str> = bounds.iter().map(TraitRef::name).collect();
            format!("dyn {}", names.join(" + "))
        }
        other => other.to_string(),
    }
}
