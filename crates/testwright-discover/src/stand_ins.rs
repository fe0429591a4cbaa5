//! Public aliases that stand for types without a public path of their own, as `OwnedStorage<T, N>` for `Inner<[T; N]>`.
//!
//! Aliases are expanded everywhere else; here expansion would end in a type that no user can write, so the other way is taken:
//! whatever has the form of the alias's target becomes the alias, which then counts as a type.

use testwright_model::api::{Shape, TypeDef, TypeKind};
use testwright_model::ty::{Const, GenericArg, Ty};

use crate::docs::docs;
use crate::format::{Id, Inner, Type, TypeAlias};
use crate::reader::{Reader, span};
use crate::scope::Scope;
use crate::types::{const_names, own_args};

#[derive(Debug)]
pub struct StandIn {
    /// The type that has no path.
    target: Id,
    /// Its arguments in the alias's definition.
    pattern: Vec<GenericArg>,
    /// The alias applied to its own parameters.
    alias: Vec<GenericArg>,
    path: String,
}

impl<'a> Reader<'a> {
    /// Finds the aliases; types read before that keep the paths of their definitions.
    pub fn with_stand_ins(mut self) -> Self {
        let mut found = Vec::new();
        for (id, name) in self.names.all() {
            if let Some((alias, target)) = self.nameless_target(id) {
                let scope = Scope { consts: const_names(&alias.generics), ..Scope::default() };
                let Ty::Adt { args, .. } = self.ty(&alias.type_, &scope) else { continue };
                let alias = own_args(&alias.generics);
                found.push(StandIn { target, pattern: args, alias, path: name.path.clone() });
            }
        }
        self.stand_ins = found;
        self
    }

    fn nameless_target(&self, id: Id) -> Option<(&'a TypeAlias, Id)> {
        let Inner::TypeAlias(alias) = &self.krate.local(id)?.inner else { return None };
        let Type::ResolvedPath(path) = &alias.type_ else { return None };
        let is_nameless = self.is_local(path.id)
            && !self.is_alias(path.id)
            && self.names.get(path.id).is_none()
            && !self.is_left_out(id);
        is_nameless.then_some((alias, path.id))
    }

    /// The alias for a nameless type with these arguments.
    pub fn stand_in(&self, target: Id, args: &[GenericArg]) -> Option<Ty> {
        self.stand_ins.iter().filter(|known| known.target == target).find_map(|known| {
            let mut bound = Bindings::default();
            bound.fit_args(&known.pattern, args).then_some(())?;
            let args = known.alias.iter().map(|param| bound.get(param)).collect::<Option<_>>()?;
            Some(Ty::Adt { path: known.path.clone(), args })
        })
    }

    /// An alias that stands for a nameless type, as an opaque struct.
    pub fn stand_in_def(&self, id: Id, path: &str) -> Option<TypeDef> {
        let (alias, _) = self.nameless_target(id)?;
        let item = self.krate.local(id)?;
        Some(TypeDef {
            path: path.to_owned(),
            generics: self.generics(&alias.generics, &mut Scope::default()),
            kind: TypeKind::Struct(Shape::Named { fields: Vec::new(), has_private: true }),
            non_exhaustive: false,
            docs: docs(item.docs.as_deref()),
            span: span(item),
            deprecated: item.deprecation.is_some(),
        })
    }
}

/// Parameters of an alias with what they match.
#[derive(Default)]
struct Bindings(Vec<(GenericArg, GenericArg)>);

impl Bindings {
    fn get(&self, param: &GenericArg) -> Option<GenericArg> {
        self.0.iter().find(|(known, _)| known == param).map(|(_, value)| value.clone())
    }

    fn bind(&mut self, param: GenericArg, value: GenericArg) -> bool {
        if let Some(known) = self.get(&param) {
            return known == value;
        }
        self.0.push((param, value));
        true
    }

    fn fit_args(&mut self, pattern: &[GenericArg], args: &[GenericArg]) -> bool {
        pattern.len() == args.len()
            && pattern.iter().zip(args).all(|(pattern, arg)| match (pattern, arg) {
                (GenericArg::Ty(pattern), GenericArg::Ty(ty)) => self.fit(pattern, ty),
                (GenericArg::Const(pattern), GenericArg::Const(value)) => self.fit_const(pattern, value),
                (GenericArg::Region(_), GenericArg::Region(_)) => self.bind(pattern.clone(), arg.clone()),
                _ => false,
            })
    }

    fn fit_const(&mut self, pattern: &Const, value: &Const) -> bool {
        match pattern {
            Const::Param(_) => {
                self.bind(GenericArg::Const(pattern.clone()), GenericArg::Const(value.clone()))
            }
            _ => pattern == value,
        }
    }

    fn fit(&mut self, pattern: &Ty, ty: &Ty) -> bool {
        match (pattern, ty) {
            (Ty::Param(_), _) => self.bind(GenericArg::Ty(pattern.clone()), GenericArg::Ty(ty.clone())),
            (Ty::Adt { path, args }, Ty::Adt { path: other, args: given }) => {
                path == other && self.fit_args(args, given)
            }
            (Ty::Slice(pattern), Ty::Slice(ty)) => self.fit(pattern, ty),
            (Ty::Array(pattern, len), Ty::Array(ty, given)) => {
                self.fit(pattern, ty) && self.fit_const(len, given)
            }
            (Ty::Tuple(patterns), Ty::Tuple(parts)) => {
                patterns.len() == parts.len()
                    && patterns.iter().zip(parts).all(|(pattern, ty)| self.fit(pattern, ty))
            }
            _ => pattern == ty,
        }
    }
}
