//! Types: rustdoc's into [`Ty`], with `Self` replaced, aliases expanded and left-out arguments filled in.

use testwright_model::ty::{Const, Folder, GenericArg, Prim, Region, TraitRef, Ty};

use crate::format::{
    self, FunctionPointer, GenericArgs, GenericParamKind, Generics, Id, Inner, PolyTrait, QualifiedPath, Type,
};
use crate::reader::Reader;
use crate::scope::Scope;
use crate::std_paths;
use crate::substitution::Substitution;

impl<'a> Reader<'a> {
    pub fn ty(&self, ty: &'a Type, scope: &Scope<'a>) -> Ty {
        match ty {
            Type::ResolvedPath(path) => self.path_type(path, scope),
            Type::DynTrait(object) => Ty::Dyn {
                bounds: object.traits.iter().map(|bound| self.object_bound(bound, scope)).collect(),
                region: region(object.lifetime.as_deref()),
            },
            Type::Generic(name) if name == "Self" => {
                scope.self_type.clone().unwrap_or_else(|| Ty::Param(name.clone()))
            }
            Type::Generic(name) => Ty::Param(name.clone()),
            Type::Primitive(name) => primitive(name),
            Type::FunctionPointer(pointer) => self.function_pointer(pointer, scope),
            Type::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.ty(part, scope)).collect()),
            Type::Slice(of) => Ty::Slice(Box::new(self.ty(of, scope))),
            Type::Array(array) => {
                Ty::Array(Box::new(self.ty(&array.type_, scope)), self.constant(&array.len, scope))
            }
            Type::Pat(pat) => self.ty(&pat.type_, scope),
            Type::ImplTrait(bounds) => Ty::Impl(self.bounds(bounds, None, scope)),
            Type::Infer => Ty::Unknown("_".to_owned()),
            Type::RawPointer(pointer) => {
                Ty::Ptr { mutable: pointer.is_mutable, to: Box::new(self.ty(&pointer.type_, scope)) }
            }
            Type::BorrowedRef(reference) => Ty::Ref {
                region: region(reference.lifetime.as_deref()),
                mutable: reference.is_mutable,
                to: Box::new(self.ty(&reference.type_, scope)),
            },
            Type::QualifiedPath(path) => self.projection(path, scope),
            Type::Other(kind) => Ty::Unknown(kind.clone()),
        }
    }

    fn path_type(&self, path: &'a format::Path, scope: &Scope<'a>) -> Ty {
        let args = self.args(path.args.as_deref(), scope);
        if let Some(Inner::TypeAlias(alias)) = self.krate.local(path.id).map(|item| &item.inner) {
            let inside = Scope { consts: const_names(&alias.generics), ..Scope::default() };
            let target = self.ty(&alias.type_, &inside);
            return bind(&alias.generics, &self.complete(&alias.generics, args, None)).ty(&target);
        }
        let name = self.path(path.id, &path.path);
        if self.is_alias(path.id)
            && let Some(target) = std_paths::alias(&name, &args)
        {
            return target;
        }
        if name == "std::sync::atomic::Atomic"
            && let Some(GenericArg::Ty(Ty::Prim(prim))) = args.first()
        {
            return Ty::adt(&atomic(*prim), Vec::new());
        }
        let args = match self.generics_of(path.id) {
            Some(generics) => self.complete(generics, args, None),
            None => args,
        };
        self.stand_in(path.id, &args).unwrap_or(Ty::Adt { path: name, args })
    }

    /// `for<'a> Fn(&'a str)` in an object type: its own lifetimes are as good as left out.
    fn object_bound(&self, bound: &'a PolyTrait, scope: &Scope<'a>) -> TraitRef {
        let trait_ = self.trait_ref(&bound.trait_, None, scope);
        elide(&bound.generic_params).trait_ref(&trait_)
    }

    fn function_pointer(&self, pointer: &'a FunctionPointer, scope: &Scope<'a>) -> Ty {
        let params: Vec<Ty> = pointer.sig.inputs.iter().map(|(_, ty)| self.ty(ty, scope)).collect();
        let result =
            Box::new(pointer.sig.output.as_ref().map_or_else(Ty::unit, |output| self.ty(output, scope)));
        let qualifier = match &pointer.header {
            header if header.is_unsafe && header.is_foreign => "unsafe extern ",
            header if header.is_unsafe => "unsafe ",
            header if header.is_foreign || pointer.sig.is_c_variadic => "extern ",
            _ => return elide(&pointer.generic_params).ty(&Ty::FnPtr { params, result }),
        };
        Ty::Unknown(format!("{qualifier}{}", Ty::FnPtr { params, result }))
    }

    /// `Self::Item`, `T::Item`, `<T as Trait>::Item`.
    fn projection(&self, path: &'a QualifiedPath, scope: &Scope<'a>) -> Ty {
        let base = self.ty(&path.self_type, scope);
        let args = self.args(path.args.as_deref(), scope);
        let trait_ = path.trait_.as_ref().map(|trait_| self.projected_trait(trait_, &base, scope));
        let is_own = scope.self_type.as_ref() == Some(&base)
            && match (&trait_, &scope.trait_) {
                (Some(named), Some((_, own))) => named.path == own.path && named.args == own.args,
                (None, _) => true,
                _ => false,
            };
        if is_own
            && let Some(assigned) = scope.assoc.get(path.name.as_str())
            && let Some(target) = &assigned.type_
        {
            let resolved = scope.deeper(|| {
                let target = self.ty(target, scope);
                bind(&assigned.generics, &self.complete(&assigned.generics, args.clone(), None)).ty(&target)
            });
            if let Some(resolved) = resolved {
                return resolved;
            }
        }
        Ty::Proj { base: Box::new(base), trait_: trait_.map(Box::new), name: path.name.clone(), args }
    }

    /// The trait of a projection: rustdoc leaves its arguments out where the source writes `T::Item`.
    fn projected_trait(&self, path: &'a format::Path, base: &Ty, scope: &Scope<'a>) -> TraitRef {
        if path.is_bare() {
            if let Some((id, own)) = &scope.trait_
                && *id == path.id
                && scope.self_type.as_ref() == Some(base)
                && path.path.is_empty()
            {
                return own.clone();
            }
            if let Some(known) = scope.known(base, &self.path(path.id, &path.path)) {
                return TraitRef { args: known.args.clone(), ..TraitRef::new(&known.path) };
            }
        }
        self.trait_ref(path, Some(base), scope)
    }

    pub fn args(&self, args: Option<&'a GenericArgs>, scope: &Scope<'a>) -> Vec<GenericArg> {
        match args {
            Some(GenericArgs::AngleBracketed(angle)) => {
                angle.args.iter().map(|arg| self.arg(arg, scope)).collect()
            }
            Some(GenericArgs::Parenthesized(fn_sugar)) => {
                let inputs = fn_sugar.inputs.iter().map(|input| self.ty(input, scope)).collect();
                vec![GenericArg::Ty(Ty::Tuple(inputs))]
            }
            _ => Vec::new(),
        }
    }

    fn arg(&self, arg: &'a format::GenericArg, scope: &Scope<'a>) -> GenericArg {
        match arg {
            format::GenericArg::Lifetime(name) => GenericArg::Region(region(Some(name))),
            format::GenericArg::Type(Type::Generic(name)) if scope.consts.contains(name) => {
                GenericArg::Const(Const::Param(name.clone()))
            }
            format::GenericArg::Type(ty) => GenericArg::Ty(self.ty(ty, scope)),
            format::GenericArg::Const(constant) => {
                let text = constant.value.as_ref().filter(|_| !constant.is_literal).unwrap_or(&constant.expr);
                GenericArg::Const(self.constant(text, scope))
            }
            format::GenericArg::Infer | format::GenericArg::Other(_) => {
                GenericArg::Ty(Ty::Unknown("_".to_owned()))
            }
        }
    }

    pub fn constant(&self, text: &str, scope: &Scope<'a>) -> Const {
        let inner =
            text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text).trim();
        if scope.consts.iter().any(|name| name == inner) {
            return Const::Param(inner.to_owned());
        }
        let named = self.constant_value(inner.rsplit("::").next().unwrap_or(inner));
        match literal(inner).or_else(|| named.and_then(literal)) {
            Some(value) => Const::Value(value),
            None => Const::Expr(inner.to_owned()),
        }
    }

    /// All arguments for `generics`: elided lifetimes and default arguments are added to those given.
    pub fn complete(
        &self,
        generics: &'a Generics,
        given: Vec<GenericArg>,
        self_type: Option<&Ty>,
    ) -> Vec<GenericArg> {
        let (mut regions, mut others) = (Vec::new(), Vec::new());
        for arg in given {
            if matches!(arg, GenericArg::Region(_)) { regions.push(arg) } else { others.push(arg) }
        }
        let (mut regions, mut others) = (regions.into_iter(), others.into_iter());
        let inside =
            Scope { consts: const_names(generics), self_type: self_type.cloned(), ..Scope::default() };
        let mut bound = Substitution::default();
        let mut args = Vec::new();
        for param in &generics.params {
            let arg = match &param.kind {
                GenericParamKind::Lifetime(_) => regions.next().or(Some(GenericArg::Region(Region::Elided))),
                GenericParamKind::Type(param) if param.is_synthetic => continue,
                GenericParamKind::Type(param) => others.next().or_else(|| {
                    let default = param.default.as_ref().map(|default| self.ty(default, &inside));
                    let known = default.filter(|default| self_type.is_some() || !mentions_self(default));
                    known.map(|default| GenericArg::Ty(bound.ty(&default)))
                }),
                GenericParamKind::Const(param) => others.next().or_else(|| {
                    let default = param.default.as_ref().map(|default| self.constant(default, &inside));
                    default.map(|default| GenericArg::Const(bound.constant(&default)))
                }),
                GenericParamKind::Other(_) => None,
            };
            let Some(arg) = arg else { break };
            bound.bind(&param.name, &arg);
            args.push(arg);
        }
        args.extend(others);
        args
    }

    /// A local type applied to its own parameters: `Self` in its definition.
    pub fn own_type(&self, id: Id, generics: &'a Generics) -> Ty {
        Ty::Adt { path: self.path(id, ""), args: own_args(generics) }
    }
}

fn bind(generics: &Generics, args: &[GenericArg]) -> Substitution {
    let mut bound = Substitution::default();
    for (param, arg) in generics.params.iter().zip(args) {
        bound.bind(&param.name, arg);
    }
    bound
}

/// Replaces the lifetimes of a `for<..>` by none.
fn elide(binder: &[format::GenericParam]) -> Substitution {
    let mut elided = Substitution::default();
    for param in binder {
        elided.bind(&param.name, &GenericArg::Region(Region::Elided));
    }
    elided
}

fn mentions_self(ty: &Ty) -> bool {
    let mut found = false;
    ty.walk(&mut |part| found |= matches!(part, Ty::Param(name) if name == "Self"));
    found
}

/// The parameters themselves, as arguments.
pub fn own_args(generics: &Generics) -> Vec<GenericArg> {
    let arg = |param: &format::GenericParam| match &param.kind {
        GenericParamKind::Lifetime(_) => Some(GenericArg::Region(region(Some(&param.name)))),
        GenericParamKind::Type(kind) if kind.is_synthetic => None,
        GenericParamKind::Type(_) => Some(GenericArg::Ty(Ty::Param(param.name.clone()))),
        GenericParamKind::Const(_) => Some(GenericArg::Const(Const::Param(param.name.clone()))),
        GenericParamKind::Other(_) => None,
    };
    generics.params.iter().filter_map(arg).collect()
}

pub fn const_names(generics: &Generics) -> Vec<String> {
    let consts = generics.params.iter().filter(|param| matches!(param.kind, GenericParamKind::Const(_)));
    consts.map(|param| param.name.clone()).collect()
}

pub fn region(name: Option<&str>) -> Region {
    match name {
        None | Some("'_" | "") => Region::Elided,
        Some("'static") => Region::Static,
        Some(name) => Region::Named(name.to_owned()),
    }
}

fn primitive(name: &str) -> Ty {
    match name {
        "str" => Ty::Str,
        "never" => Ty::Never,
        "unit" => Ty::unit(),
        _ => Prim::from_name(name).map_or_else(|| Ty::Unknown(name.to_owned()), Ty::Prim),
    }
}

/// `Atomic<u8>`, which newer compilers show for `AtomicU8`.
fn atomic(prim: Prim) -> String {
    let mut name = prim.name().to_owned();
    name[..1].make_ascii_uppercase();
    format!("std::sync::atomic::Atomic{name}")
}

/// A literal without separators and type suffix.
fn literal(text: &str) -> Option<String> {
    if matches!(text, "true" | "false") || (text.len() > 2 && text.starts_with('\'') && text.ends_with('\''))
    {
        return Some(text.to_owned());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let plain = text.replace('_', "");
    let suffix =
        Prim::ALL.into_iter().filter(|prim| !prim.is_float()).find(|prim| plain.ends_with(prim.name()));
    let number = suffix.map_or(plain.as_str(), |suffix| &plain[..plain.len() - suffix.name().len()]);
    let is_number = match number.strip_prefix('-').unwrap_or(number).split_at_checked(2) {
        Some(("0x" | "0o" | "0b", rest)) => rest.chars().all(|digit| digit.is_ascii_hexdigit()),
        _ => number.strip_prefix('-').unwrap_or(number).chars().all(|digit| digit.is_ascii_digit()),
    };
    is_number.then(|| number.to_owned())
}
