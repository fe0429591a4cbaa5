//! What only the compiler knows of other crates' traits: which of the types at hand implement those that the API's parameters
//! are bounded by. The `Api` in, questions out; the answers go into [`Api::asked`].

use std::collections::BTreeSet;

use testwright_model::api::{Function, Generics, ParamKind, Where};
use testwright_model::{Api, Bound, Const, GenericArg, Region, TraitRef, Ty};

use crate::menu;

/// More traits of other crates than this are not asked about: each takes the compiler some milliseconds.
const TRAITS: usize = 24;

/// Whether a type implements a trait, to be put to the compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// As bounds write it, see [`Api::asked`].
    pub trait_: String,
    pub ty: Ty,
    /// Items that compile if the answer is yes.
    pub text: String,
}

/// Every trait of another crate that a type parameter or `impl Trait` argument is bounded by, with every type of the menu and every
/// plain type of other crates that the API mentions.
pub fn questions(api: &Api) -> Vec<Question> {
    let mut seen = Seen { api, traits: BTreeSet::new(), types: BTreeSet::new() };
    seen.api();
    let mut types = menu::plain(0);
    types.extend(seen.types.into_iter().map(|path| Ty::adt(&path, Vec::new())));
    types.extend(numbers(api));
    let mut all = Vec::new();
    for trait_ in seen.traits.iter().take(TRAITS) {
        for ty in &types {
            let text = format!("fn has<T: ?Sized + {trait_}>() {{}} fn ask() {{ has::<{ty}>() }}");
            all.push(Question { trait_: trait_.clone(), ty: ty.clone(), text });
        }
    }
    all
}

/// Numbers as types, the lengths of generic arrays: no signature mentions those that its users choose.
fn numbers(api: &Api) -> Vec<Ty> {
    let from = [("typenum", "typenum"), ("generic_array", "generic_array::typenum")];
    let found = from.iter().find(|(name, _)| api.foreign.contains_key(*name));
    let of =
        |(_, path): &(&str, &str)| ["U4", "U8"].map(|name| Ty::adt(&format!("{path}::{name}"), Vec::new()));
    found.map(of).into_iter().flatten().collect()
}

struct Seen<'a> {
    api: &'a Api,
    /// As bounds write them.
    traits: BTreeSet<String>,
    /// Types of other crates that have no arguments.
    types: BTreeSet<String>,
}

impl Seen<'_> {
    fn api(&mut self) {
        let api = self.api;
        for def in api.types.values() {
            self.generics(&def.generics);
        }
        for def in api.traits.values() {
            self.generics(&def.generics);
            def.methods.iter().for_each(|function| self.function(function));
        }
        for def in &api.impls {
            self.generics(&def.generics);
            self.ty(&def.for_);
            def.methods.iter().for_each(|function| self.function(function));
        }
        api.functions.iter().for_each(|function| self.function(function));
    }

    fn function(&mut self, function: &Function) {
        self.generics(&function.generics);
        for (_, ty) in &function.params {
            if let Ty::Impl(bounds) = ty {
                self.bounds(bounds);
            }
            self.ty(ty);
        }
        self.ty(&function.result);
    }

    fn generics(&mut self, generics: &Generics) {
        for param in &generics.params {
            if let ParamKind::Type { bounds, .. } = &param.kind {
                self.bounds(bounds);
            }
        }
        for clause in &generics.wheres {
            if let Where::Bound { ty: Ty::Param(_), bounds, .. } = clause {
                self.bounds(bounds);
            }
        }
    }

    fn bounds(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            let Bound::Trait { trait_, .. } = bound else { continue };
            if self.is_foreign(&trait_.path) {
                self.traits.extend(written(trait_));
            }
        }
    }

    fn ty(&mut self, ty: &Ty) {
        let mut found = Vec::new();
        ty.walk(&mut |part| {
            if let Ty::Adt { path, args } = part
                && args.is_empty()
            {
                found.push(path.clone());
            }
        });
        found.retain(|path| self.is_foreign(path));
        self.types.extend(found);
    }

    fn is_foreign(&self, path: &str) -> bool {
        path.split("::").next().is_some_and(|name| self.api.foreign.contains_key(name))
    }
}

/// The trait with its arguments; none if a parameter is among them, since what implements it depends on that.
fn written(trait_: &TraitRef) -> Option<String> {
    let is_ground = |arg: &GenericArg| match arg {
        GenericArg::Region(_) => true,
        GenericArg::Ty(ty) => ty.is_ground(),
        GenericArg::Const(constant) => matches!(constant, Const::Value(_)),
    };
    let for_ever = |arg: &GenericArg| match arg {
        GenericArg::Region(_) => GenericArg::Region(Region::Static),
        GenericArg::Ty(ty) => GenericArg::Ty(ty.map_regions(&mut |_| Region::Static)),
        GenericArg::Const(constant) => GenericArg::Const(constant.clone()),
    };
    let args: Vec<GenericArg> = trait_.args.iter().map(for_ever).collect();
    args.iter().all(is_ground).then(|| TraitRef { args, ..TraitRef::new(&trait_.path) }.to_string())
}

/// The types that were asked about, if the trait was.
fn asked<'a>(api: &'a Api, trait_: &TraitRef) -> Option<&'a [(Ty, bool)]> {
    // Most crates ask nothing, and this is looked up at every step of a proof.
    if api.asked.is_empty() {
        return None;
    }
    api.asked.get(&written(trait_)?).map(Vec::as_slice)
}

/// What the compiler said, if it was asked.
pub fn answer(api: &Api, trait_: &TraitRef, ty: &Ty) -> Option<bool> {
    let asked = asked(api, trait_)?;
    // One that stays borrowed for ever may implement what one that does not cannot; nobody asks for more than the latter.
    let ty = ty.erased();
    asked.iter().find(|(of, _)| of.erased() == ty).map(|(_, yes)| *yes)
}

/// The types that are known to implement the trait, best first: in the menu's order if its first one does, else each flavor begins
/// with another.
pub fn implementors(api: &Api, trait_: &TraitRef, flavor: usize) -> Vec<Ty> {
    let Some(asked) = asked(api, trait_) else { return Vec::new() };
    let mut all: Vec<Ty> = asked.iter().filter(|(_, yes)| *yes).map(|(ty, _)| ty.clone()).collect();
    let menu = menu::plain(flavor);
    let place = |ty: &Ty| menu.iter().position(|other| other == ty).unwrap_or(menu.len());
    if all.iter().any(|ty| place(ty) == 0) {
        all.sort_by_key(place);
    } else if !all.is_empty() {
        let first = flavor % all.len();
        all.rotate_left(first);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use testwright_model::Prim;
    use testwright_model::api::{Foreign, GenericParam};

    fn float() -> TraitRef {
        TraitRef::new("num_traits::Float")
    }

    fn api() -> Api {
        let bounds = vec![Bound::Trait { trait_: float(), binder: Vec::new() }];
        let param = GenericParam { name: "T".to_owned(), kind: ParamKind::Type { bounds, default: None } };
        let function = Function {
            name: "half".to_owned(),
            path: "own::half".to_owned(),
            generics: Generics { params: vec![param], wheres: Vec::new() },
            params: vec![("of".to_owned(), Ty::Param("T".to_owned()))],
            result: Ty::Param("T".to_owned()),
            is_unsafe: false,
            is_async: false,
            is_const: false,
            has_body: true,
            docs: testwright_model::api::Docs::default(),
            span: None,
            deprecated: false,
            doc_hidden: false,
        };
        let foreign = Foreign { name: "num_traits".to_owned(), paths: vec![float().path] };
        Api {
            lib: "own".to_owned(),
            functions: vec![function],
            foreign: BTreeMap::from([("num_traits".to_owned(), foreign)]),
            ..Api::default()
        }
    }

    /// The API with the answers of a compiler that knows floats.
    fn told() -> Api {
        let mut api = api();
        for question in questions(&api) {
            let yes = matches!(question.ty, Ty::Prim(prim) if prim.is_float());
            api.asked.entry(question.trait_).or_default().push((question.ty, yes));
        }
        api
    }

    #[test]
    fn a_foreign_bound_is_asked_about_with_every_type_of_the_menu() {
        let all = questions(&api());
        assert_eq!(all.len(), menu::plain(0).len());
        assert_eq!(all[0].text, "fn has<T: ?Sized + num_traits::Float>() {} fn ask() { has::<i32>() }");
    }

    #[test]
    fn arguments_belong_to_the_question_unless_they_are_open() {
        let with = |arg| TraitRef { args: vec![arg], ..TraitRef::new("near::Length") };
        let of = |arg| written(&with(arg));
        assert_eq!(of(GenericArg::Ty(menu::int())).as_deref(), Some("near::Length<i32>"));
        assert_eq!(of(GenericArg::Region(Region::Erased)).as_deref(), Some("near::Length<'static>"));
        assert_eq!(of(GenericArg::Ty(Ty::Param("T".to_owned()))), None);
    }

    #[test]
    fn each_flavor_begins_with_another_implementor() {
        let first = |flavor| implementors(&told(), &float(), flavor).first().cloned();
        assert_eq!(first(0), Some(Ty::Prim(Prim::F64)));
        assert_eq!(first(1), Some(Ty::Prim(Prim::F32)));
        assert_eq!(answer(&told(), &float(), &menu::int()), Some(false));
        assert_eq!(answer(&told(), &TraitRef::new("num_traits::Real"), &menu::int()), None);
    }

    #[test]
    fn a_parameter_is_given_a_type_that_implements_the_foreign_trait() {
        let told = told();
        let parameters = |api: &Api| -> Vec<Ty> {
            let grounded = crate::ground(api, 100);
            let operations = grounded.callables[0].operations.iter();
            operations
                .map(|id| grounded.operations.ty(grounded.operations.get(*id).params[0].ty).clone())
                .collect()
        };
        assert_eq!(parameters(&told), [Ty::Prim(Prim::F64), Ty::Prim(Prim::F32)]);
    }
}
