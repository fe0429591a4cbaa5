//! Which laws are for which types: each becomes an operation.

use testwright_model::api::{ImplDef, Shape, TypeKind};
use testwright_model::law::{self, Law, LawRef};
use testwright_model::operation::{Form, Origin, Take};
use testwright_model::{GenericArg, Prim, TraitRef, Ty};

use crate::companions::Companion;
use crate::grounder::{Draft, Grounder};
use crate::sign::Signature;
use crate::solve::Answer;
use crate::world::Bindings;

/// Concrete forms of one type that laws are checked for.
const FORMS: usize = 2;
/// Types deeper than this are checked where they stand alone.
const DEPTH: usize = 3;

impl Grounder<'_, '_, '_, '_> {
    /// The laws of all types of the subject that are known by now.
    pub(crate) fn laws(&mut self) {
        let instances: Vec<Ty> = self
            .chooser
            .instances
            .borrow()
            .values()
            .flat_map(|forms| forms.iter().filter(|ty| ty.depth() <= DEPTH).take(FORMS))
            .cloned()
            .collect();
        for ty in instances {
            for law in law::all() {
                if self.is_for(law, &ty) {
                    for companion in self.companions(law, &ty) {
                        self.law(law, &ty, companion);
                    }
                }
            }
            for (added, law) in self.added {
                if is_named(&ty, &added.ty) {
                    self.law(law, &ty, Companion::default());
                }
            }
        }
    }

    fn is_for(&self, law: &Law, ty: &Ty) -> bool {
        let by_hand =
            law.written.is_empty() || law.written.iter().any(|path| self.is_written(path, law.overrides, ty));
        by_hand
            && (!law.sealed || self.is_sealed(ty))
            && law.needs.iter().all(|path| self.implements(path, ty))
            && (!law.unbounded || !self.is_bounded(ty))
            && law.methods.iter().all(|signature| self.has_method(signature, ty))
    }

    fn implements(&self, path: &str, ty: &Ty) -> bool {
        let (path, named) = argument(path);
        let other = named.or_else(|| is_binary(path).then(|| ty.clone()));
        let args = other.into_iter().map(GenericArg::Ty).collect();
        let trait_ = TraitRef { path: path.to_owned(), args, assoc: Vec::new(), assoc_bounds: Vec::new() };
        self.chooser.solver.prove(ty, &trait_, &mut Bindings::new()) == Answer::Yes
    }

    /// Whether the subject implements the trait for the type with its own code, and in it one of these methods, if there are any.
    pub(crate) fn is_written(&self, path: &str, methods: &[&str], ty: &Ty) -> bool {
        let (path, named) = argument(path);
        let writes =
            |def: &ImplDef| methods.is_empty() || def.methods.iter().any(|own| methods.contains(&&*own.name));
        let itself = |def: &ImplDef, arg: &GenericArg| match (arg, &def.for_) {
            (GenericArg::Ty(Ty::Adt { path: other, .. }), Ty::Adt { path, .. }) => other == path,
            (GenericArg::Ty(other), for_) => other == for_,
            _ => false,
        };
        self.world.impls_for(ty).any(|def| {
            let of_trait = def.trait_.as_ref().filter(|trait_| trait_.path == path);
            let fits = of_trait.is_some_and(|trait_| match (&named, trait_.args.first()) {
                (Some(named), Some(GenericArg::Ty(arg))) => arg == named,
                (None, Some(arg)) => !is_binary(path) || itself(def, arg),
                _ => named.is_none(),
            });
            fits && !def.derived && !def.negative && writes(def) && self.world.is_subject_impl(def)
        })
    }

    /// Whether no other crate can set a part of a value.
    fn is_sealed(&self, ty: &Ty) -> bool {
        let Ty::Adt { path, .. } = ty else { return false };
        let open = |shape: &Shape| match shape {
            Shape::Unit => false,
            Shape::Tuple(parts) => parts.iter().any(Option::is_some),
            Shape::Named { fields, .. } => !fields.is_empty(),
        };
        self.world.type_def(path).is_some_and(|def| match &def.kind {
            TypeKind::Struct(shape) => !open(shape),
            TypeKind::Enum(variants) => !variants.iter().any(|variant| open(&variant.shape)),
            TypeKind::Union => false,
        })
    }

    fn law(&mut self, law: &'static Law, ty: &Ty, companion: Companion) {
        let named = |grounder: &Self| grounder.chooser.name_regions(ty);
        let params = law
            .takes
            .iter()
            .zip(["one", "other", "third"])
            .map(|(take, name)| {
                let ty = named(self);
                let ty = if *take == Take::Value { ty } else { Ty::reference(ty) };
                (name.to_owned(), ty)
            })
            .chain(companion.params)
            .collect();
        let name = match ty {
            Ty::Adt { path, .. } => path.rsplit("::").next().unwrap_or(path),
            _ => return,
        };
        let (trait_, method) = law.blames;
        let path = if trait_.is_empty() {
            format!("{name}::{method}")
        } else {
            format!("<{name} as {trait_}>::{method}")
        };
        let filled = |text: &str| {
            companion.names.iter().fold(text.to_owned(), |text, (name, by)| text.replace(name, by))
        };
        let full = filled(&law.code.replace("{T}", &ty.erased().to_string()));
        let _ = self.add(Draft {
            path: filled(&path),
            origin: Origin::Law(LawRef(law)),
            callable: None,
            signature: Signature::new(params, &Ty::unit(), &[]),
            form: Form { full, ..Form::default() },
            panics: None,
            generation: 0,
        });
    }
}

/// Whether the type is meant by its name, or by its path with or without the crate's name.
pub(crate) fn is_named(ty: &Ty, name: &str) -> bool {
    matches!(ty, Ty::Adt { path, .. } if path == name || path.ends_with(&format!("::{name}")))
}

/// The path of a trait, and the argument that stands behind it.
fn argument(path: &str) -> (&str, Option<Ty>) {
    path.strip_suffix("<usize>").map_or((path, None), |path| (path, Some(Ty::Prim(Prim::Usize))))
}

/// Whether the trait has another side, which is the type itself if nothing is said.
fn is_binary(path: &str) -> bool {
    let unary = ["Neg", "Not", "Deref", "DerefMut"];
    let operator = path.strip_prefix("std::ops::").is_some_and(|name| !unary.contains(&name));
    operator || matches!(path, "std::cmp::PartialEq" | "std::cmp::PartialOrd")
}
