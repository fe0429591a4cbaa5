//! Compares the model with the real std: a program that states every callable and every fact in its generic form must compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use testwright_model::api::{
    Constant, Function, GenericParam, Generics, ImplDef, ParamKind, Shape, Span, TraitDef, TypeDef, TypeKind,
    Where,
};
use testwright_model::ty::Folder;
use testwright_model::{Api, Bound, Const, GenericArg, Region, TraitRef, Ty};

use super::{Alias, TEXTS, Text, read};

#[test]
fn texts_are_well_formed() {
    if let Err(error) = read(TEXTS) {
        panic!("{error}");
    }
}

#[test]
fn mistakes_in_a_text_are_told_with_their_place() {
    let check = |source, expected| {
        let error = read(&[Text { file: "a.txt", source }]).expect_err(source);
        assert_eq!(error.to_string(), format!("std_model/a.txt:{expected}"));
    };
    check("mod a {\n struct B;\n impl B { fn c(&self) -> D; }\n}", "3: unknown name D");
    check("mod a {\n struct B<T>;\n impl B {}\n}", "3: std::a::B needs more arguments");
    check("mod a {\n #[pancis(\"never\")] fn b();\n}", "2: unknown attribute");
    check("mod a { struct B; }\nmod b {\n fn f(b: b::B);\n}", "3: unknown name b::B");
    check("mod a { struct B; }\nmod b { struct B; }\nfn f(b: B);", "3: B may be std::a::B or std::b::B");
    check("mod a {\n struct B; struct B;\n}", "2: std::a::B is declared twice");
    check(
        "mod a {\n trait B {}\n fn f<T: B>(t: T::Item);\n}",
        "3: no bound of T has the associated type Item",
    );
}

#[test]
fn every_impl_names_the_associated_types_of_its_trait() {
    let api = super::api();
    for def in &api.impls {
        let Some(trait_) = &def.trait_ else { continue };
        if def.negative {
            continue;
        }
        let mut expected: Vec<&str> =
            api.traits[&trait_.path].assoc_types.iter().map(|a| a.name.as_str()).collect();
        let mut given: Vec<&str> = def.assoc_types.iter().map(|(name, _)| name.as_str()).collect();
        expected.sort_unstable();
        given.sort_unstable();
        assert_eq!(expected, given, "{trait_} for {}, {}", def.for_, place(def.span.as_ref()));
    }
}

#[test]
fn no_impl_stands_twice() {
    let mut seen = BTreeMap::new();
    for def in super::api().impls.iter().filter(|def| def.trait_.is_some()) {
        let key = format!("{} {:?} {}", def.negative, def.trait_, def.for_);
        if let Some(before) = seen.insert(key, def) {
            panic!("{} and {}", place(before.span.as_ref()), place(def.span.as_ref()));
        }
    }
}

#[test]
fn real_std_agrees() {
    let mut program = Program::default();
    program.api(super::api());
    for (path, alias) in super::aliases() {
        program.alias(path, alias);
    }
    if let Some(copy) = std::env::var_os("TESTWRIGHT_STD_MODEL_CHECK") {
        std::fs::write(copy, &program.text).expect("the copy can be written");
    }
    let errors = program.errors();
    assert!(errors.is_empty(), "{}", program.explain(&errors));
}

/// An empty impl of each trait: the compiler then lists what is not provided.
#[test]
fn provided_methods_are_those_of_std() {
    let api = super::api();
    let mut program = Program::default();
    let mut expected = BTreeMap::new();
    for def in api.traits.values().filter(|def| !def.is_auto && !def.path.starts_with("std::marker::")) {
        if CALLS.contains(&def.path.as_str()) || UNWRITABLE.contains(&def.path.as_str()) {
            continue;
        }
        let n = program.next();
        let args = def.generics.params.iter().map(|_| GenericArg::Ty(Ty::unit())).collect();
        let own = TraitRef { args, ..TraitRef::new(&def.path) };
        program.line(def.span.as_ref(), &format!("struct L{n}; impl {own} for L{n} {{}}"));
        let methods = def.methods.iter().filter(|method| !method.has_body).map(|method| method.name.as_str());
        let required: BTreeSet<&str> =
            def.assoc_types.iter().map(|assoc| assoc.name.as_str()).chain(methods).collect();
        if !required.is_empty() {
            expected.insert(n, required);
        }
    }
    let errors = program.errors();
    let mut found = BTreeMap::new();
    for line in errors.lines() {
        let (Some(number), Some((_, missing))) = (line_number(line), line.split_once("missing: `")) else {
            continue;
        };
        let names: BTreeSet<&str> =
            missing.split('`').step_by(2).filter(|name| !name.contains(' ') && !name.is_empty()).collect();
        found.insert(number, names);
    }
    // What std implements for all types cannot be tried.
    for conflict in errors.lines().filter(|line| line.contains("E0119")).filter_map(line_number) {
        expected.remove(&conflict);
    }
    for (n, required) in &expected {
        assert_eq!(Some(required), found.get(n), "{}", program.origins[n - 1]);
    }
    assert_eq!(expected.len(), found.len(), "{errors}");
}

/// Traits with the sugar of calls.
const CALLS: [&str; 3] = ["std::ops::Fn", "std::ops::FnMut", "std::ops::FnOnce"];
/// Traits that only std can implement.
const UNWRITABLE: [&str; 1] = ["std::slice::SliceIndex"];

/// The checking program: one line per check.
#[derive(Default)]
struct Program {
    text: String,
    /// Where in the model each line comes from.
    origins: Vec<String>,
}

impl Program {
    fn line(&mut self, origin: Option<&Span>, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origins.push(place(origin));
    }

    /// The number of the next line, for names.
    fn next(&self) -> usize {
        self.origins.len() + 1
    }

    /// What the compiler says about the program, one line each.
    fn errors(&self) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("check.rs"), &self.text).expect("the folder is writable");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc)
            .current_dir(folder.path())
            .args([
                "--edition=2021",
                "--crate-type=lib",
                "--emit=metadata",
                "--error-format=short",
                "-Awarnings",
            ])
            .arg("check.rs")
            .output()
            .expect("rustc can be run");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// The compiler's words with places in the model instead of places in the program.
    fn explain(&self, errors: &str) -> String {
        let mut text = String::new();
        for line in errors.lines() {
            let number = line.split(':').nth(1).and_then(|number| number.parse::<usize>().ok());
            match number
                .and_then(|number| Some((self.origins.get(number - 1)?, self.text.lines().nth(number - 1)?)))
            {
                Some((origin, source)) => {
                    writeln!(text, "{origin}: {line}\n    {source}").expect("a string grows");
                }
                None => writeln!(text, "{line}").expect("a string grows"),
            }
        }
        text
    }

    fn api(&mut self, api: &Api) {
        for def in api.types.values() {
            self.type_def(def);
        }
        for def in api.traits.values() {
            self.trait_def(api, def);
        }
        for def in &api.impls {
            if def.negative { self.negative(def) } else { self.impl_def(api, def) }
        }
        for function in &api.functions {
            self.function(&[], function, &function.path);
        }
        for constant in &api.constants {
            self.constant(&Generics::default(), constant, &constant.path);
        }
    }

    fn alias(&mut self, path: &str, alias: &Alias) {
        let n = self.next();
        let (generics, wheres) = printed_generics(&[&alias.generics], &[]);
        let name = Ty::Adt { path: path.to_owned(), args: args_of(&alias.generics) };
        self.line(None, &format!("fn check_{n}{generics}(x: {name}) -> {} {wheres} {{ x }}", alias.ty));
    }

    fn type_def(&mut self, def: &TypeDef) {
        // Its parameter has a bound that only std can write; the impls for each integer are checked.
        if def.path == "std::num::NonZero" {
            return;
        }
        let n = self.next();
        let generics = printed_generics(&[&def.generics], &[]);
        let all = Ty::Adt { path: def.path.clone(), args: args_with_defaults(&def.generics) };
        let few = Ty::Adt { path: def.path.clone(), args: args_without_default(&def.generics) };
        self.line(
            def.span.as_ref(),
            &format!("fn check_{n}{}(x: Box<{few}>) -> Box<{all}> {} {{ x }}", generics.0, generics.1),
        );
        let all = Ty::Adt { path: def.path.clone(), args: args_of(&def.generics) };
        match &def.kind {
            TypeKind::Struct(shape) => self.shape(def, shape, &all, &def.path),
            TypeKind::Enum(variants) => {
                for variant in variants {
                    self.shape(def, &variant.shape, &all, &format!("{}::{}", def.path, variant.name));
                }
            }
            TypeKind::Union => {}
        }
    }

    /// Builds a value by its public fields.
    fn shape(&mut self, def: &TypeDef, shape: &Shape, ty: &Ty, path: &str) {
        let n = self.next();
        let (params, value) = match shape {
            Shape::Unit => (String::new(), path.to_owned()),
            Shape::Tuple(fields) => {
                let fields: Vec<&Ty> = fields.iter().flatten().collect();
                let params: Vec<String> =
                    fields.iter().enumerate().map(|(n, ty)| format!("a{n}: {ty}")).collect();
                let names: Vec<String> = (0..fields.len()).map(|n| format!("a{n}")).collect();
                (params.join(", "), format!("{path}({})", names.join(", ")))
            }
            Shape::Named { has_private: true, .. } => return,
            Shape::Named { fields, .. } => {
                let params: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
                let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                (params.join(", "), format!("{path} {{ {} }}", names.join(", ")))
            }
        };
        let (generics, wheres) = printed_generics(&[&def.generics], &[]);
        self.line(
            def.span.as_ref(),
            &format!("fn check_{n}{generics}({params}) -> {ty} {wheres} {{ {value} }}"),
        );
    }

    fn trait_def(&mut self, api: &Api, def: &TraitDef) {
        let own = TraitRef { args: args_of(&def.generics), ..TraitRef::new(&def.path) };
        let assocs: Vec<(String, Ty)> = def
            .assoc_types
            .iter()
            .map(|assoc| (assoc.name.clone(), Ty::Param(format!("Assoc{}", assoc.name))))
            .collect();
        let calls = CALLS.contains(&def.path.as_str());
        if calls {
            return;
        }
        self.need(def, &own, &assocs);
        let this = this_param(&own);
        for bound in &def.supertraits {
            self.demand(api, def, &this, &Ty::Param("This".to_owned()), bound);
        }
        for assoc in &def.assoc_types {
            let base = Box::new(Ty::Param("This".to_owned()));
            let ty = Ty::Proj {
                base,
                trait_: Some(Box::new(own.clone())),
                name: assoc.name.clone(),
                args: Vec::new(),
            };
            for bound in &assoc.bounds {
                self.demand(api, def, &this, &ty, bound);
            }
        }
        // Destructors cannot be called.
        for method in def.methods.iter().filter(|method| method.path != "Drop::drop") {
            let path = format!("<This as {own}>::{}", method.name);
            self.function(&[&this, &def.generics], &renamed_function(method), &path);
        }
        if def.object_safe && !def.is_auto {
            let n = self.next();
            let assocs = all_assocs(api, def);
            let object = TraitRef { assoc: assocs.clone(), ..own.clone() };
            let unsized_ = assocs.iter().map(|(_, ty)| format!("{ty}: ?Sized")).collect::<Vec<_>>();
            let (generics, wheres) = printed_generics(&[&def.generics], &unsized_);
            self.line(def.span.as_ref(), &format!("fn check_{n}{generics}(_: &dyn {object}) {wheres} {{}}"));
        }
    }

    /// A function that can be called only with a type that has the trait with the given arguments and associated types.
    fn need(&mut self, def: &TraitDef, own: &TraitRef, assocs: &[(String, Ty)]) {
        let trait_ = TraitRef { assoc: assocs.to_vec(), ..own.clone() };
        let mut extra = vec![format!("This: ?Sized + {trait_}")];
        for (assoc, (_, ty)) in def.assoc_types.iter().zip(assocs) {
            extra.push(if assoc.bounds.contains(&Bound::MaybeSized) {
                format!("{ty}: ?Sized")
            } else {
                ty.to_string()
            });
        }
        // The type comes first, then the trait's parameters, then the associated types.
        let own_params: Vec<String> = def.generics.params.iter().map(printed_param).collect();
        let all: Vec<String> =
            extra[..1].iter().cloned().chain(own_params).chain(extra[1..].iter().cloned()).collect();
        let name = need_name(&def.path);
        self.line(def.span.as_ref(), &format!("fn {name}<{}>() {{}}", all.join(", ")));
    }

    /// States that `ty` has the bound whenever `this` has its trait.
    fn demand(&mut self, api: &Api, def: &TraitDef, this: &Generics, ty: &Ty, bound: &Bound) {
        let Bound::Trait { trait_, .. } = bound else { return };
        if !api.traits[&trait_.path].assoc_types.is_empty() {
            let n = self.next();
            let (generics, wheres) = printed_generics(&[this, &def.generics], &[]);
            let (ty, trait_) = (Rename.ty(ty), Rename.trait_ref(trait_));
            self.line(
                def.span.as_ref(),
                &format!("fn check_{n}{generics}(x: {ty}) -> impl {trait_} {wheres} {{ x }}"),
            );
            return;
        }
        let n = self.next();
        let args: Vec<String> =
            trait_.args.iter().map(|arg| printed_arg(&Rename.args(std::slice::from_ref(arg))[0])).collect();
        let all = [vec![Rename.ty(ty).to_string()], args].concat().join(", ");
        let (generics, wheres) = printed_generics(&[this, &def.generics], &[]);
        let need = need_name(&trait_.path);
        self.line(def.span.as_ref(), &format!("fn check_{n}{generics}() {wheres} {{ {need}::<{all}>() }}"));
    }

    fn impl_def(&mut self, api: &Api, def: &ImplDef) {
        if let Some(trait_) = &def.trait_ {
            self.fact(api, def, trait_);
        }
        for method in &def.methods {
            let path = match &def.trait_ {
                Some(trait_) => format!("<{} as {trait_}>::{}", def.for_, method.name),
                None => format!("<{}>::{}", def.for_, method.name),
            };
            self.function(&[&def.generics], method, &path);
        }
        for constant in &def.assoc_consts {
            self.constant(&def.generics, constant, &format!("<{}>::{}", def.for_, constant.name));
        }
    }

    fn fact(&mut self, api: &Api, def: &ImplDef, trait_: &TraitRef) {
        let n = self.next();
        let calls = CALLS.contains(&trait_.path.as_str());
        let (generics, wheres) = printed_generics(&[&def.generics], &[]);
        let for_ = &def.for_;
        if calls {
            let mut trait_ = trait_.clone();
            if let Ty::FnPtr { result, .. } = for_ {
                trait_.assoc.push(("Output".to_owned(), (**result).clone()));
            }
            self.line(
                def.span.as_ref(),
                &format!("fn check_{n}{generics}(x: {for_}) -> impl {trait_} {wheres} {{ x }}"),
            );
            return;
        }
        let args = trait_.args.iter().map(printed_arg);
        let assocs = api.traits[&trait_.path].assoc_types.iter().map(|assoc| {
            let given = def.assoc_types.iter().find(|(name, _)| *name == assoc.name);
            given.map_or_else(|| "_".to_owned(), |(_, ty)| ty.to_string())
        });
        let all: Vec<String> = [for_.to_string()].into_iter().chain(args).chain(assocs).collect();
        // Mentioning the type in the signature brings the bounds that its being well formed implies.
        let need = need_name(&trait_.path);
        let mentioned = [for_].into_iter().chain(trait_.args.iter().filter_map(|arg| match arg {
            GenericArg::Ty(ty) => Some(ty),
            _ => None,
        }));
        let params: Vec<String> = mentioned.map(|ty| format!("_: std::marker::PhantomData<{ty}>")).collect();
        let (params, all) = (params.join(", "), all.join(", "));
        let line = format!("fn check_{n}{generics}({params}) {wheres} {{ {need}::<{all}>() }}");
        self.line(def.span.as_ref(), &line);
    }

    /// The type with `i32` for its parameters has two impls of a trait, hence an ambiguous name, if it has the denied trait.
    fn negative(&mut self, def: &ImplDef) {
        let n = self.next();
        let Some(trait_) = &def.trait_ else { return };
        let mut concrete = Concrete {
            this: Ty::unit(),
            by: Ty::Prim(testwright_model::Prim::I32),
            only: def.generics.params.iter().map(|param| param.name.clone()).collect(),
        };
        let for_ = concrete.ty(&def.for_).map_regions(&mut |_| Region::Elided);
        let line = format!(
            "fn check_{n}() {{ trait A<X> {{ fn it() {{}} }} impl<T: ?Sized> A<()> for T {{}} \
             impl<T: ?Sized + {trait_}> A<u8> for T {{}} let _ = <{for_} as A<_>>::it; }}"
        );
        self.line(def.span.as_ref(), &line);
    }

    fn function(&mut self, outer: &[&Generics], function: &Function, path: &str) {
        let n = self.next();
        let mut all = outer.to_vec();
        all.push(&function.generics);
        let mut params: Vec<Ty> = function.params.iter().map(|(_, ty)| ty.clone()).collect();
        let mut result = function.result.clone();
        let mut extra = Vec::new();
        // As in a method, what is elided in the result comes from the receiver.
        if function.has_receiver()
            && let Some(Ty::Ref { region, .. }) = params.first_mut()
            && *region == Region::Elided
        {
            let receiver = Region::Named("'receiver".to_owned());
            extra.push("'receiver".to_owned());
            *region = receiver.clone();
            result = result.map_regions(&mut |region| {
                if *region == Region::Elided { receiver.clone() } else { region.clone() }
            });
        }
        let (generics, wheres) = printed_generics(&all, &extra);
        let names: Vec<String> = (0..params.len()).map(|n| format!("a{n}")).collect();
        let call = match function.docs.examples.first().and_then(|example| example.strip_prefix("expr:")) {
            Some(template) => filled(template, &params),
            None => format!("{path}{}({})", turbofish(&function.generics), names.join(", ")),
        };
        let params: Vec<String> =
            names.iter().zip(&params).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let line = format!("fn check_{n}{generics}({}) -> {result} {wheres} {{ {call} }}", params.join(", "));
        self.line(function.span.as_ref(), &line);
    }

    fn constant(&mut self, generics: &Generics, constant: &Constant, path: &str) {
        let n = self.next();
        let (generics, wheres) = printed_generics(&[generics], &[]);
        self.line(
            constant.span.as_ref(),
            &format!("fn check_{n}{generics}() -> {} {wheres} {{ {path} }}", constant.ty),
        );
    }
}

fn line_number(error: &str) -> Option<usize> {
    error.split(':').nth(1)?.parse().ok()
}

fn place(span: Option<&Span>) -> String {
    span.map(|span| format!("{}:{}", span.file, span.line)).unwrap_or_default()
}

fn need_name(path: &str) -> String {
    format!("need_{}", path.replace("::", "_").to_lowercase())
}

fn args_of(generics: &Generics) -> Vec<GenericArg> {
    generics.params.iter().map(arg_of).collect()
}

fn args_without_default(generics: &Generics) -> Vec<GenericArg> {
    let without = |param: &&GenericParam| !matches!(&param.kind, ParamKind::Type { default: Some(_), .. });
    generics.params.iter().filter(without).map(arg_of).collect()
}

/// Parameters with a default given by it.
fn args_with_defaults(generics: &Generics) -> Vec<GenericArg> {
    let arg = |param: &GenericParam| match &param.kind {
        ParamKind::Type { default: Some(default), .. } => GenericArg::Ty(default.clone()),
        _ => arg_of(param),
    };
    generics.params.iter().map(arg).collect()
}

fn arg_of(param: &GenericParam) -> GenericArg {
    match &param.kind {
        ParamKind::Lifetime { .. } => GenericArg::Region(Region::Named(param.name.clone())),
        ParamKind::Type { .. } => GenericArg::Ty(Ty::Param(param.name.clone())),
        ParamKind::Const { .. } => GenericArg::Const(Const::Param(param.name.clone())),
    }
}

fn printed_arg(arg: &GenericArg) -> String {
    match arg {
        GenericArg::Region(region) => region.to_string(),
        GenericArg::Ty(ty) => ty.to_string(),
        GenericArg::Const(constant) => constant.to_string(),
    }
}

/// `<'a, T: Clone>` and `where …` of all of them together, lifetimes first.
fn printed_generics(all: &[&Generics], extra: &[String]) -> (String, String) {
    let params = all.iter().flat_map(|generics| &generics.params);
    let mut printed: Vec<String> = extra.to_vec();
    printed.extend(params.map(printed_param));
    printed.sort_by_key(|param| !param.starts_with('\''));
    let wheres: Vec<String> = all
        .iter()
        .flat_map(|generics| &generics.wheres)
        .map(|condition| match condition {
            Where::Bound { ty, bounds, binder } => {
                let binder =
                    if binder.is_empty() { String::new() } else { format!("for<{}> ", binder.join(", ")) };
                format!("{binder}{ty}: {}", printed_bounds(bounds))
            }
            Where::Outlives { region, longer_than } => {
                let regions: Vec<String> = longer_than.iter().map(ToString::to_string).collect();
                format!("{region}: {}", regions.join(" + "))
            }
            Where::Equal { left, right } => format!("{left} == {right}"),
        })
        .collect();
    let wheres = if wheres.is_empty() { String::new() } else { format!("where {}", wheres.join(", ")) };
    (if printed.is_empty() { String::new() } else { format!("<{}>", printed.join(", ")) }, wheres)
}

fn printed_param(param: &GenericParam) -> String {
    match &param.kind {
        ParamKind::Lifetime { outlives } if outlives.is_empty() => param.name.clone(),
        ParamKind::Lifetime { outlives } => {
            let regions: Vec<String> = outlives.iter().map(ToString::to_string).collect();
            format!("{}: {}", param.name, regions.join(" + "))
        }
        ParamKind::Type { bounds, .. } if bounds.is_empty() => param.name.clone(),
        ParamKind::Type { bounds, .. } => format!("{}: {}", param.name, printed_bounds(bounds)),
        ParamKind::Const { ty, .. } => format!("const {}: {ty}", param.name),
    }
}

fn printed_bounds(bounds: &[Bound]) -> String {
    bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
}

/// The template with `a0`, `a1` … in its holes.
fn filled(template: &str, params: &[Ty]) -> String {
    let mut text = template.replace("{self}", "a0");
    for (n, ty) in params.iter().enumerate() {
        let place = if matches!(ty, Ty::Ref { .. }) { format!("(*a{n})") } else { format!("a{n}") };
        text = text.replace(&format!("{{*{n}}}"), &place).replace(&format!("{{{n}}}"), &format!("a{n}"));
    }
    text
}

/// The function's own parameters as arguments: there must be as many of them as std's function has.
fn turbofish(generics: &Generics) -> String {
    let args: Vec<&str> = generics
        .params
        .iter()
        .filter(|param| !matches!(param.kind, ParamKind::Lifetime { .. }))
        .map(|param| param.name.as_str())
        .collect();
    if args.is_empty() { String::new() } else { format!("::<{}>", args.join(", ")) }
}

/// The parameter that stands for `Self` outside the trait.
fn this_param(own: &TraitRef) -> Generics {
    let bounds = vec![Bound::Trait { trait_: own.clone(), binder: Vec::new() }];
    Generics {
        params: vec![GenericParam {
            name: "This".to_owned(),
            kind: ParamKind::Type { bounds, default: None },
        }],
        wheres: Vec::new(),
    }
}

fn renamed_function(function: &Function) -> Function {
    let mut function = function.clone();
    for (_, ty) in &mut function.params {
        *ty = Rename.ty(ty);
    }
    function.result = Rename.ty(&function.result);
    function.generics = folded_generics(&function.generics, &mut Rename);
    function
}

fn folded_generics(generics: &Generics, folder: &mut impl Folder) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        if let ParamKind::Type { bounds, .. } = &mut param.kind {
            *bounds = bounds.iter().map(|bound| folder.bound(bound)).collect();
        }
    }
    for condition in &mut generics.wheres {
        if let Where::Bound { ty, bounds, .. } = condition {
            *ty = folder.ty(ty);
            *bounds = bounds.iter().map(|bound| folder.bound(bound)).collect();
        }
    }
    generics
}

/// The associated types of a trait and of its supertraits, with a parameter for each.
fn all_assocs(api: &Api, def: &TraitDef) -> Vec<(String, Ty)> {
    let mut assocs: Vec<(String, Ty)> = def
        .assoc_types
        .iter()
        .map(|assoc| (assoc.name.clone(), Ty::Param(format!("Assoc{}", assoc.name))))
        .collect();
    for bound in &def.supertraits {
        if let Bound::Trait { trait_, .. } = bound {
            assocs.extend(all_assocs(api, &api.traits[&trait_.path]));
        }
    }
    assocs
}

/// `This` for `Self`.
struct Rename;

impl Folder for Rename {
    fn ty(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Param(name) if name == "Self" => Ty::Param("This".to_owned()),
            _ => self.descend(ty),
        }
    }
}

/// One type for all parameters of a list, and one for `Self`.
struct Concrete {
    this: Ty,
    by: Ty,
    only: Vec<String>,
}

impl Folder for Concrete {
    fn ty(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Param(name) if name == "Self" => self.this.clone(),
            Ty::Param(name) if self.only.contains(name) => self.by.clone(),
            _ => self.descend(ty),
        }
    }
}
