//! Types, traits, bounds and generics of the texts as those of the model, with every name resolved and every default filled in.

use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Result, TypeParamBound};
use testwright_model::api::{GenericParam, Generics, ParamKind, Where};
use testwright_model::ty::Folder;
use testwright_model::{Bound, Const, GenericArg, Prim, Region, TraitRef, Ty};

use super::names::{Declared, Kind, Names};

/// What names mean at one place of a text.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub names: &'a Names<'a>,
    pub module: &'a str,
    /// What `Self` is.
    pub self_ty: Option<Ty>,
    /// Inside a trait, the trait.
    pub self_trait: Option<TraitRef>,
    /// Of the item and of what it is in.
    pub generics: Vec<&'a syn::Generics>,
}

impl<'a> Scope<'a> {
    pub fn new(names: &'a Names<'a>, module: &'a str) -> Scope<'a> {
        Scope { names, module, self_ty: None, self_trait: None, generics: Vec::new() }
    }

    pub fn with_generics(&self, generics: &'a syn::Generics) -> Scope<'a> {
        let mut inner = self.clone();
        inner.generics.push(generics);
        inner
    }

    pub fn with_self(&self, self_ty: Ty) -> Scope<'a> {
        Scope { self_ty: Some(self_ty), ..self.clone() }
    }

    pub fn ty(&self, ty: &syn::Type) -> Result<Ty> {
        Ok(match ty {
            syn::Type::Path(path) => self.path_ty(path)?,
            syn::Type::Reference(reference) => Ty::Ref {
                region: reference.lifetime.as_ref().map_or(Region::Elided, region),
                mutable: reference.mutability.is_some(),
                to: Box::new(self.ty(&reference.elem)?),
            },
            syn::Type::Ptr(pointer) => {
                Ty::Ptr { mutable: pointer.mutability.is_some(), to: Box::new(self.ty(&pointer.elem)?) }
            }
            syn::Type::Slice(slice) => Ty::Slice(Box::new(self.ty(&slice.elem)?)),
            syn::Type::Array(array) => Ty::Array(Box::new(self.ty(&array.elem)?), self.constant(&array.len)?),
            syn::Type::Tuple(tuple) => {
                Ty::Tuple(tuple.elems.iter().map(|elem| self.ty(elem)).collect::<Result<_>>()?)
            }
            syn::Type::Never(_) => Ty::Never,
            syn::Type::Paren(inner) => self.ty(&inner.elem)?,
            syn::Type::Group(inner) => self.ty(&inner.elem)?,
            syn::Type::ImplTrait(inner) => Ty::Impl(self.bounds(&inner.bounds, None)?),
            syn::Type::TraitObject(object) => self.object(object)?,
            syn::Type::BareFn(pointer) => Ty::FnPtr {
                params: pointer.inputs.iter().map(|input| self.ty(&input.ty)).collect::<Result<_>>()?,
                result: Box::new(self.result(&pointer.output)?),
            },
            other => return Err(Error::new(other.span(), "this kind of type is not read")),
        })
    }

    pub fn result(&self, output: &syn::ReturnType) -> Result<Ty> {
        match output {
            syn::ReturnType::Default => Ok(Ty::unit()),
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        }
    }

    fn object(&self, object: &syn::TypeTraitObject) -> Result<Ty> {
        let mut bounds = Vec::new();
        let mut region = Region::Elided;
        for bound in self.bounds(&object.bounds, None)? {
            match bound {
                Bound::Trait { trait_, .. } => bounds.push(trait_),
                Bound::Outlives(written) => region = written,
                Bound::MaybeSized => {}
            }
        }
        Ok(Ty::Dyn { bounds, region })
    }

    fn path_ty(&self, path: &syn::TypePath) -> Result<Ty> {
        if let Some(base) = &path.qself {
            return self.qualified(base, &path.path);
        }
        let words: Vec<&syn::Ident> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        match words.as_slice() {
            [word] if *word == "Self" => {
                return self.self_ty.clone().ok_or_else(|| Error::new(word.span(), "there is no Self here"));
            }
            [word] => {
                let name = word.to_string();
                if self.param(&name).is_some() {
                    return Ok(Ty::Param(name));
                }
                if name == "str" {
                    return Ok(Ty::Str);
                }
                if let Some(prim) = Prim::from_name(&name) {
                    return Ok(Ty::Prim(prim));
                }
            }
            [base, name] if *base == "Self" || self.param(&base.to_string()).is_some() => {
                return self.projection(base, name);
            }
            _ => {}
        }
        let declared = self.names.find(self.module, &path.path)?;
        let (args, assoc, _) = self.args(&path.path, None)?;
        if !assoc.is_empty() {
            return Err(Error::new(path.span(), "only traits have associations"));
        }
        let args = self.complete(declared, args, None, path.span())?;
        match &declared.kind {
            Kind::Type => Ok(Ty::Adt { path: declared.path.clone(), args }),
            Kind::Alias(target) => {
                let target = self.inside(declared).ty(target)?;
                Ok(Substitution { generics: declared.generics, args: &args }.ty(&target))
            }
            Kind::Trait { .. } => Err(Error::new(path.span(), "a trait is not a type")),
        }
    }

    /// `<base as Trait>::Name`.
    fn qualified(&self, base: &syn::QSelf, path: &syn::Path) -> Result<Ty> {
        let subject = self.ty(&base.ty)?;
        let mut trait_path = path.clone();
        let Some(last) = trait_path.segments.pop() else {
            return Err(Error::new(path.span(), "a projection names an associated type"));
        };
        let name = last.into_value().ident.to_string();
        if let Some(segment) = trait_path.segments.pop() {
            trait_path.segments.push(segment.into_value());
        }
        let trait_ = self.trait_ref(&trait_path, Some(&subject))?;
        Ok(Ty::Proj { base: Box::new(subject), trait_: Some(Box::new(trait_)), name, args: Vec::new() })
    }

    /// `I::Item`, with the trait found among the bounds of `I`.
    fn projection(&self, base: &syn::Ident, name: &syn::Ident) -> Result<Ty> {
        let assoc = name.to_string();
        let unknown =
            || Error::new(name.span(), format!("no bound of {base} has the associated type {name}"));
        let subject = if base == "Self" {
            self.self_ty.clone().ok_or_else(unknown)?
        } else {
            Ty::Param(base.to_string())
        };
        let mut candidates = Vec::new();
        if base == "Self" {
            candidates.extend(self.self_trait.clone());
        } else {
            for path in self.bound_paths(base) {
                let bound = self.names.find(self.module, path)?;
                if self.names.trait_with_assoc(&bound.path, &assoc).is_some() {
                    // Without associations: they may mention the projection itself.
                    let (args, ..) = self.args(path, Some(&subject))?;
                    candidates.push(TraitRef { args, ..TraitRef::new(&bound.path) });
                }
            }
        }
        let Some(trait_) = candidates.into_iter().find_map(|trait_| {
            let owner = self.names.trait_with_assoc(&trait_.path, &assoc)?;
            Some(if owner == trait_.path { trait_ } else { TraitRef::new(&owner) })
        }) else {
            return Err(unknown());
        };
        let declared = self.names.get(&trait_.path).ok_or_else(unknown)?;
        let args = self.complete(declared, trait_.args, Some(&subject), name.span())?;
        let trait_ = TraitRef { args, ..TraitRef::new(&declared.path) };
        Ok(Ty::Proj {
            base: Box::new(subject),
            trait_: Some(Box::new(trait_)),
            name: assoc,
            args: Vec::new(),
        })
    }

    /// The traits that the generics in scope demand of the parameter.
    fn bound_paths(&self, param: &syn::Ident) -> Vec<&'a syn::Path> {
        let mut bounds: Vec<&TypeParamBound> = Vec::new();
        for generics in &self.generics {
            bounds.extend(generics.type_params().filter(|p| p.ident == *param).flat_map(|p| &p.bounds));
            for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
                if let syn::WherePredicate::Type(predicate) = predicate
                    && let syn::Type::Path(path) = &predicate.bounded_ty
                    && path.path.is_ident(param)
                {
                    bounds.extend(&predicate.bounds);
                }
            }
        }
        let paths = bounds.into_iter().filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) if matches!(bound.modifier, syn::TraitBoundModifier::None) => {
                Some(&bound.path)
            }
            _ => None,
        });
        paths.collect()
    }

    fn param(&self, name: &str) -> Option<&'a syn::GenericParam> {
        self.generics.iter().flat_map(|generics| &generics.params).find(|param| match param {
            syn::GenericParam::Type(param) => param.ident == name,
            syn::GenericParam::Const(param) => param.ident == name,
            syn::GenericParam::Lifetime(_) => false,
        })
    }

    pub fn trait_ref(&self, path: &syn::Path, subject: Option<&Ty>) -> Result<TraitRef> {
        let declared = self.names.find(self.module, path)?;
        if !matches!(declared.kind, Kind::Trait { .. }) {
            return Err(Error::new(path.span(), "this is not a trait"));
        }
        let (args, assoc, assoc_bounds) = self.args(path, subject)?;
        let args = self.complete(declared, args, subject, path.span())?;
        Ok(TraitRef { path: declared.path.clone(), args, assoc, assoc_bounds })
    }

    #[expect(clippy::type_complexity, reason = "the three parts of a trait's angle brackets")]
    fn args(
        &self,
        path: &syn::Path,
        subject: Option<&Ty>,
    ) -> Result<(Vec<GenericArg>, Vec<(String, Ty)>, Vec<(String, Vec<Bound>)>)> {
        let (mut args, mut assoc, mut assoc_bounds) = (Vec::new(), Vec::new(), Vec::new());
        match path.segments.last().map(|segment| &segment.arguments) {
            Some(PathArguments::AngleBracketed(written)) => {
                for arg in &written.args {
                    match arg {
                        GenericArgument::Lifetime(lifetime) => {
                            args.push(GenericArg::Region(region(lifetime)));
                        }
                        GenericArgument::Type(ty) => args.push(self.type_or_const(ty)?),
                        GenericArgument::Const(value) => args.push(GenericArg::Const(self.constant(value)?)),
                        GenericArgument::AssocType(equal) => {
                            assoc.push((equal.ident.to_string(), self.ty(&equal.ty)?));
                        }
                        GenericArgument::Constraint(bound) => {
                            assoc_bounds
                                .push((bound.ident.to_string(), self.bounds(&bound.bounds, subject)?));
                        }
                        other => return Err(Error::new(other.span(), "this kind of argument is not read")),
                    }
                }
            }
            Some(PathArguments::Parenthesized(call)) => {
                let params = call.inputs.iter().map(|input| self.ty(input)).collect::<Result<_>>()?;
                args.push(GenericArg::Ty(Ty::Tuple(params)));
                assoc.push(("Output".to_owned(), self.result(&call.output)?));
            }
            _ => {}
        }
        Ok((args, assoc, assoc_bounds))
    }

    /// A const parameter given as an argument looks like a type.
    fn type_or_const(&self, ty: &syn::Type) -> Result<GenericArg> {
        if let syn::Type::Path(path) = ty
            && let Some(word) = path.path.get_ident()
            && let Some(syn::GenericParam::Const(_)) = self.param(&word.to_string())
        {
            return Ok(GenericArg::Const(Const::Param(word.to_string())));
        }
        Ok(GenericArg::Ty(self.ty(ty)?))
    }

    fn constant(&self, value: &syn::Expr) -> Result<Const> {
        match value {
            syn::Expr::Lit(literal) => {
                Ok(Const::Value(quote::ToTokens::to_token_stream(literal).to_string()))
            }
            syn::Expr::Path(path)
                if path.path.get_ident().is_some_and(|word| self.param(&word.to_string()).is_some()) =>
            {
                Ok(Const::Param(quote::ToTokens::to_token_stream(path).to_string()))
            }
            other => Err(Error::new(other.span(), "a constant is a literal or a parameter")),
        }
    }

    /// All arguments of an item: those given, then elided lifetimes and defaults.
    fn complete(
        &self,
        declared: &Declared<'a>,
        given: Vec<GenericArg>,
        subject: Option<&Ty>,
        at: proc_macro2::Span,
    ) -> Result<Vec<GenericArg>> {
        let (regions, others): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|arg| matches!(arg, GenericArg::Region(_)));
        let (mut regions, mut others) = (regions.into_iter(), others.into_iter());
        let mut args = Vec::new();
        for param in &declared.generics.params {
            let arg = match param {
                syn::GenericParam::Lifetime(_) => {
                    Some(regions.next().unwrap_or(GenericArg::Region(Region::Elided)))
                }
                syn::GenericParam::Const(_) => others.next(),
                syn::GenericParam::Type(param) => match (others.next(), &param.default) {
                    (Some(arg), _) => Some(arg),
                    (None, Some(default)) => {
                        let mut scope = self.inside(declared);
                        scope.self_ty = subject.cloned();
                        Some(GenericArg::Ty(scope.ty(default)?))
                    }
                    (None, None) => None,
                },
            };
            args.push(arg.ok_or_else(|| Error::new(at, format!("{} needs more arguments", declared.path)))?);
        }
        if regions.next().is_some() || others.next().is_some() {
            return Err(Error::new(at, format!("{} has fewer parameters", declared.path)));
        }
        Ok(args)
    }

    /// The scope of an item's own text.
    fn inside(&self, declared: &Declared<'a>) -> Scope<'a> {
        Scope::new(self.names, declared.module).with_generics(declared.generics)
    }

    pub fn bounds<'b>(
        &self,
        bounds: impl IntoIterator<Item = &'b TypeParamBound>,
        subject: Option<&Ty>,
    ) -> Result<Vec<Bound>> {
        bounds.into_iter().map(|bound| self.bound(bound, subject)).collect()
    }

    fn bound(&self, bound: &TypeParamBound, subject: Option<&Ty>) -> Result<Bound> {
        match bound {
            TypeParamBound::Trait(bound) if matches!(bound.modifier, syn::TraitBoundModifier::Maybe(_)) => {
                Ok(Bound::MaybeSized)
            }
            TypeParamBound::Trait(bound) => Ok(Bound::Trait {
                trait_: self.trait_ref(&bound.path, subject)?,
                binder: bound.lifetimes.as_ref().map(binder).unwrap_or_default(),
            }),
            TypeParamBound::Lifetime(lifetime) => Ok(Bound::Outlives(region(lifetime))),
            other => Err(Error::new(other.span(), "this kind of bound is not read")),
        }
    }

    /// The generics of an item; the scope has them already.
    pub fn lower_generics(&self, generics: &syn::Generics) -> Result<Generics> {
        let mut result = Generics::default();
        for param in &generics.params {
            result.params.push(match param {
                syn::GenericParam::Lifetime(param) => GenericParam {
                    name: param.lifetime.to_string(),
                    kind: ParamKind::Lifetime { outlives: param.bounds.iter().map(region).collect() },
                },
                syn::GenericParam::Type(param) => {
                    let name = param.ident.to_string();
                    let bounds = self.bounds(&param.bounds, Some(&Ty::Param(name.clone())))?;
                    let default = param.default.as_ref().map(|default| self.ty(default)).transpose()?;
                    GenericParam { name, kind: ParamKind::Type { bounds, default } }
                }
                syn::GenericParam::Const(param) => GenericParam {
                    name: param.ident.to_string(),
                    kind: ParamKind::Const { ty: self.ty(&param.ty)?, default: None },
                },
            });
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            result.wheres.push(match predicate {
                syn::WherePredicate::Lifetime(predicate) => Where::Outlives {
                    region: region(&predicate.lifetime),
                    longer_than: predicate.bounds.iter().map(region).collect(),
                },
                syn::WherePredicate::Type(predicate) => {
                    let ty = self.ty(&predicate.bounded_ty)?;
                    let bounds = self.bounds(&predicate.bounds, Some(&ty))?;
                    Where::Bound {
                        ty,
                        bounds,
                        binder: predicate.lifetimes.as_ref().map(binder).unwrap_or_default(),
                    }
                }
                other => return Err(Error::new(other.span(), "this kind of condition is not read")),
            });
        }
        Ok(result)
    }
}

fn region(lifetime: &syn::Lifetime) -> Region {
    match lifetime.ident.to_string().as_str() {
        "static" => Region::Static,
        "_" => Region::Elided,
        _ => Region::Named(lifetime.to_string()),
    }
}

fn binder(lifetimes: &syn::BoundLifetimes) -> Vec<String> {
    let names = lifetimes.lifetimes.iter().filter_map(|param| match param {
        syn::GenericParam::Lifetime(param) => Some(param.lifetime.to_string()),
        _ => None,
    });
    names.collect()
}

/// Puts an alias's arguments in the place of its parameters.
struct Substitution<'a> {
    generics: &'a syn::Generics,
    args: &'a [GenericArg],
}

impl Folder for Substitution<'_> {
    fn ty(&mut self, ty: &Ty) -> Ty {
        if let Ty::Param(name) = ty {
            let pairs = self.generics.params.iter().zip(self.args);
            for (param, arg) in pairs {
                if let (syn::GenericParam::Type(param), GenericArg::Ty(arg)) = (param, arg)
                    && param.ident == name
                {
                    return arg.clone();
                }
            }
        }
        self.descend(ty)
    }
}
