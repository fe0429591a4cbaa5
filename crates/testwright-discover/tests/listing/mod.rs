//! An Api as lines of text, one fact each: for tests, and for people who want to look at one.

use testwright_model::Api;
use testwright_model::api::{
    Constant, Function, Generics, ImplDef, ParamKind, Shape, TraitDef, TypeDef, TypeKind, Where,
};
use testwright_model::ty::Bound;

pub fn counts(api: &Api) -> String {
    let impls = |is: fn(&ImplDef) -> bool| api.impls.iter().filter(|def| is(def)).count();
    format!(
        "{}: {} types, {} traits, {} impls ({} synthetic, {} derived), {} free functions, {} impl methods, {} trait methods, {} constants, {} skipped, foreign {:?}",
        api.lib,
        api.types.len(),
        api.traits.len(),
        api.impls.len(),
        impls(|def| def.synthetic),
        impls(|def| def.derived),
        api.functions.len(),
        api.impls.iter().map(|def| def.methods.len()).sum::<usize>(),
        api.traits.values().map(|def| def.methods.len()).sum::<usize>(),
        api.constants.len(),
        api.skipped.len(),
        api.foreign.keys().collect::<Vec<_>>(),
    )
}

pub fn lines(api: &Api) -> Vec<String> {
    let mut lines = vec![counts(api)];
    lines.extend(api.types.values().flat_map(type_lines));
    lines.extend(api.traits.values().flat_map(trait_lines));
    lines.extend(api.impls.iter().flat_map(impl_lines));
    lines.extend(api.functions.iter().map(function));
    lines.extend(api.constants.iter().map(constant));
    let skipped = api.skipped.iter();
    lines.extend(
        skipped.map(|skipped| format!("skipped {} {}: {}", skipped.kind, skipped.path, skipped.reason)),
    );
    lines.extend(
        api.foreign.values().map(|foreign| format!("foreign {}: {}", foreign.name, foreign.paths.join(", "))),
    );
    lines
}

fn type_lines(def: &TypeDef) -> Vec<String> {
    let open = if def.non_exhaustive { " non_exhaustive" } else { "" };
    let (kind, body) = match &def.kind {
        TypeKind::Struct(fields) => ("struct", shape(fields)),
        TypeKind::Enum(_) => ("enum", String::new()),
        TypeKind::Union => ("union", String::new()),
    };
    let mut lines = vec![format!("{kind} {}{}{body}{open}", def.path, generics(&def.generics))];
    if let TypeKind::Enum(variants) = &def.kind {
        lines.extend(variants.iter().map(|variant| {
            let hidden = if variant.doc_hidden { " hidden" } else { "" };
            let open = if variant.non_exhaustive { " non_exhaustive" } else { "" };
            format!("    {}{}{hidden}{open}", variant.name, shape(&variant.shape))
        }));
    }
    lines
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Unit => String::new(),
        Shape::Tuple(fields) => {
            let fields =
                fields.iter().map(|field| field.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string));
            format!("({})", fields.collect::<Vec<_>>().join(", "))
        }
        Shape::Named { fields, has_private } => {
            let mut fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            if *has_private {
                fields.push("..".to_owned());
            }
            format!(" {{ {} }}", fields.join(", "))
        }
    }
}

fn trait_lines(def: &TraitDef) -> Vec<String> {
    let flags = flags(&[(def.is_unsafe, "unsafe "), (def.is_auto, "auto "), (def.doc_hidden, "hidden ")]);
    let safe = if def.object_safe { " dyn" } else { "" };
    let mut lines = vec![format!(
        "{flags}trait {}{}: {}{safe}",
        def.path,
        generics(&def.generics),
        bounds(&def.supertraits)
    )];
    lines.extend(def.assoc_types.iter().map(|assoc| {
        let default = assoc.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        format!("    type {}{}: {}{default}", assoc.name, generics(&assoc.generics), bounds(&assoc.bounds))
    }));
    lines.extend(def.assoc_consts.iter().map(constant));
    lines.extend(def.methods.iter().map(function));
    lines
}

fn impl_lines(def: &ImplDef) -> Vec<String> {
    let flags = flags(&[
        (def.negative, "negative "),
        (def.synthetic, "synthetic "),
        (def.blanket, "blanket "),
        (def.derived, "derived "),
    ]);
    let trait_ = def.trait_.as_ref().map(|trait_| format!("{trait_} for ")).unwrap_or_default();
    let mut lines = vec![format!("{flags}impl{} {trait_}{}", generics(&def.generics), def.for_)];
    lines.extend(def.assoc_types.iter().map(|(name, ty)| format!("    type {name} = {ty}")));
    lines.extend(def.assoc_consts.iter().map(constant));
    lines.extend(def.methods.iter().map(function));
    lines
}

fn constant(constant: &Constant) -> String {
    let value = constant.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
    format!("    {:?} {}: {}{value}", constant.kind, constant.path, constant.ty)
}

fn function(function: &Function) -> String {
    let flags = flags(&[
        (function.doc_hidden, "hidden "),
        (function.deprecated, "deprecated "),
        (function.docs.panics.is_some(), "panicking "),
        (!function.has_body, "required "),
        (function.is_const, "const "),
        (function.is_async, "async "),
        (function.is_unsafe, "unsafe "),
    ]);
    let params: Vec<String> = function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let generics = generics(&function.generics);
    format!("    {flags}fn {}{generics}({}) -> {}", function.path, params.join(", "), function.result)
}

fn flags(flags: &[(bool, &str)]) -> String {
    flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect()
}

fn bounds(bounds: &[Bound]) -> String {
    bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
}

fn generics(generics: &Generics) -> String {
    let params = generics.params.iter().map(|param| match &param.kind {
        ParamKind::Lifetime { outlives } => {
            let outlives: Vec<String> = outlives.iter().map(ToString::to_string).collect();
            format!("{}: {}", param.name, outlives.join(" + "))
        }
        ParamKind::Type { bounds: all, default } => {
            let default = default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
            format!("{}: {}{default}", param.name, bounds(all))
        }
        ParamKind::Const { ty, default } => {
            let default = default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
            format!("const {}: {ty}{default}", param.name)
        }
    });
    let params: Vec<String> =
        params.map(|param| param.trim_end_matches([':', ' ']).replace(":  =", " =")).collect();
    let wheres = generics.wheres.iter().map(|clause| match clause {
        Where::Bound { ty, bounds: all, binder } if binder.is_empty() => format!("{ty}: {}", bounds(all)),
        Where::Bound { ty, bounds: all, binder } => {
            format!("for<{}> {ty}: {}", binder.join(", "), bounds(all))
        }
        Where::Outlives { region, longer_than } => {
            let regions: Vec<String> = longer_than.iter().map(ToString::to_string).collect();
            format!("{region}: {}", regions.join(" + "))
        }
        Where::Equal { left, right } => format!("{left} = {right}"),
    });
    let wheres: Vec<String> = wheres.collect();
    let mut text = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    if !wheres.is_empty() {
        text.push_str(" where ");
        text.push_str(&wheres.join(", "));
        text.push(' ');
    }
    text
}
