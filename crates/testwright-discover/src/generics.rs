//! Generic parameters, bounds and where clauses: rustdoc's into those of the model.

use testwright_model::api::{self, GenericParam, ParamKind, Where};
use testwright_model::ty::{Bound, TraitRef, Ty};

use crate::format::{
    self, Binding, GenericArgs, GenericBound, GenericParamKind, Generics, Term, WherePredicate,
};
use crate::reader::Reader;
use crate::scope::Scope;
use crate::types::{const_names, region};

impl<'a> Reader<'a> {
    /// Translates parameters and clauses, and puts what they declare into `scope`.
    pub fn generics(&self, generics: &'a Generics, scope: &mut Scope<'a>) -> api::Generics {
        scope.consts.extend(const_names(generics));
        // Twice: the first round learns the bounds, so that projections in the second know their trait's arguments.
        let draft = self.declarations(generics, scope);
        learn(&draft, scope);
        self.declarations(generics, scope)
    }

    fn declarations(&self, generics: &'a Generics, scope: &Scope<'a>) -> api::Generics {
        api::Generics {
            params: generics.params.iter().filter_map(|param| self.param(param, scope)).collect(),
            wheres: generics
                .where_predicates
                .iter()
                .filter_map(|clause| self.clause(clause, scope))
                .collect(),
        }
    }

    fn param(&self, param: &'a format::GenericParam, scope: &Scope<'a>) -> Option<GenericParam> {
        let kind = match &param.kind {
            GenericParamKind::Lifetime(_) if param.name == "'_" => return None,
            GenericParamKind::Lifetime(lifetime) => ParamKind::Lifetime {
                outlives: lifetime.outlives.iter().map(|name| region(Some(name))).collect(),
            },
            GenericParamKind::Type(kind) if kind.is_synthetic => return None,
            GenericParamKind::Type(kind) => ParamKind::Type {
                bounds: self.bounds(&kind.bounds, Some(&Ty::Param(param.name.clone())), scope),
                default: kind.default.as_ref().map(|default| self.ty(default, scope)),
            },
            GenericParamKind::Const(kind) => ParamKind::Const {
                ty: self.ty(&kind.type_, scope),
                default: kind.default.as_ref().map(|default| self.constant(default, scope)),
            },
            GenericParamKind::Other(_) => return None,
        };
        Some(GenericParam { name: param.name.clone(), kind })
    }

    fn clause(&self, clause: &'a WherePredicate, scope: &Scope<'a>) -> Option<Where> {
        Some(match clause {
            WherePredicate::Bound(clause) => {
                let ty = self.ty(&clause.type_, scope);
                let bounds = self.bounds(&clause.bounds, Some(&ty), scope);
                Where::Bound { ty, bounds, binder: binder(&clause.generic_params) }
            }
            WherePredicate::Lifetime(clause) => Where::Outlives {
                region: region(Some(&clause.lifetime)),
                longer_than: clause.outlives.iter().map(|name| region(Some(name))).collect(),
            },
            WherePredicate::Eq(clause) => {
                Where::Equal { left: self.ty(&clause.lhs, scope), right: self.term(&clause.rhs, scope) }
            }
            WherePredicate::Other(_) => return None,
        })
    }

    /// `subject` is the bounded type where there is one: the default of `Rhs = Self`.
    pub fn bounds(&self, bounds: &'a [GenericBound], subject: Option<&Ty>, scope: &Scope<'a>) -> Vec<Bound> {
        bounds.iter().filter_map(|bound| self.bound(bound, subject, scope)).collect()
    }

    fn bound(&self, bound: &'a GenericBound, subject: Option<&Ty>, scope: &Scope<'a>) -> Option<Bound> {
        Some(match bound {
            GenericBound::Trait(bound) if bound.modifier == "maybe" => Bound::MaybeSized,
            GenericBound::Trait(bound) => Bound::Trait {
                trait_: self.trait_ref(&bound.trait_, subject, scope),
                binder: binder(&bound.generic_params),
            },
            GenericBound::Outlives(name) => Bound::Outlives(region(Some(name))),
            GenericBound::Other(_) => return None,
        })
    }

    pub fn trait_ref(&self, path: &'a format::Path, subject: Option<&Ty>, scope: &Scope<'a>) -> TraitRef {
        let mut args = self.args(path.args.as_deref(), scope);
        if let Some(generics) = self.generics_of(path.id) {
            args = self.complete(generics, args, subject);
        }
        let mut trait_ = TraitRef { args, ..TraitRef::new(&self.path(path.id, &path.path)) };
        match path.args.as_deref() {
            Some(GenericArgs::AngleBracketed(angle)) => {
                for constraint in &angle.constraints {
                    let name = constraint.name.clone();
                    match &constraint.binding {
                        Binding::Equality(term) => trait_.assoc.push((name, self.term(term, scope))),
                        Binding::Constraint(bounds) => {
                            trait_.assoc_bounds.push((name, self.bounds(bounds, None, scope)));
                        }
                        Binding::Other(_) => {}
                    }
                }
            }
            Some(GenericArgs::Parenthesized(fn_sugar)) => {
                let output = fn_sugar.output.as_ref().map_or_else(Ty::unit, |output| self.ty(output, scope));
                trait_.assoc.push(("Output".to_owned(), output));
            }
            _ => {}
        }
        trait_
    }

    fn term(&self, term: &'a Term, scope: &Scope<'a>) -> Ty {
        match term {
            Term::Type(ty) => self.ty(ty, scope),
            Term::Constant(constant) => Ty::Unknown(constant.expr.clone()),
            Term::Other(kind) => Ty::Unknown(kind.clone()),
        }
    }
}

/// Adds the bounds of `generics` to those that are known in `scope`.
fn learn(generics: &api::Generics, scope: &mut Scope<'_>) {
    for param in &generics.params {
        if let ParamKind::Type { bounds, .. } = &param.kind {
            learn_bounds(&Ty::Param(param.name.clone()), bounds, scope);
        }
    }
    for clause in &generics.wheres {
        if let Where::Bound { ty, bounds, .. } = clause {
            learn_bounds(ty, bounds, scope);
        }
    }
}

pub fn learn_bounds(ty: &Ty, bounds: &[Bound], scope: &mut Scope<'_>) {
    for bound in bounds {
        if let Bound::Trait { trait_, .. } = bound
            && !trait_.args.is_empty()
        {
            scope.bounds.push((ty.clone(), trait_.clone()));
        }
    }
}

fn binder(params: &[format::GenericParam]) -> Vec<String> {
    params.iter().map(|param| param.name.clone()).collect()
}
