//! The items of the texts as those of an [`Api`].

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::{Attribute, Error, ImplItem, Item, Result, TraitItem, TraitItemConst, TraitItemFn};
use testwright_model::api::{
    AssocType, Constant, ConstantKind, Docs, Function, Generics, ImplDef, ParamKind, Shape, Skipped, Span,
    TraitDef, TypeDef, TypeKind, Variant, Where,
};
use testwright_model::ty::last_segment;
use testwright_model::{Api, Bound, GenericArg, Region, TraitRef, Ty};

use super::expand::{Found, take_attr};
use super::names::Names;
use super::scope::Scope;
use super::{Alias, Model};

/// The Rust version whose stable API the texts keep to.
const VERSION: &str = "1.80.0";

pub(super) fn model(items: &[Found], names: &Names<'_>) -> std::result::Result<Model, (&'static str, Error)> {
    let mut lowering = Lowering {
        api: Api { lib: "std".to_owned(), version: VERSION.to_owned(), ..Api::default() },
        aliases: BTreeMap::new(),
        file: "",
    };
    for found in items {
        lowering.file = found.file;
        lowering.entry(found, &Scope::new(names, &found.module)).map_err(|error| (found.file, error))?;
    }
    let safe: Vec<String> =
        lowering.api.traits.keys().filter(|path| is_object_safe(&lowering.api, path)).cloned().collect();
    for path in safe {
        if let Some(trait_) = lowering.api.traits.get_mut(&path) {
            trait_.object_safe = true;
        }
    }
    Ok(Model { api: lowering.api, aliases: lowering.aliases })
}

struct Lowering {
    api: Api,
    aliases: BTreeMap<String, Alias>,
    file: &'static str,
}

/// What the attributes of an item say.
struct Marks {
    docs: Docs,
    skip: Option<String>,
    unit: bool,
    derive: Vec<syn::Path>,
    implements: Vec<syn::Path>,
}

impl Lowering {
    fn entry(&mut self, found: &Found, scope: &Scope<'_>) -> Result<()> {
        let module = found.module.as_str();
        match &found.item {
            Item::Struct(item) => self.structure(module, item, scope),
            Item::Enum(item) => self.enumeration(module, item, scope),
            Item::Trait(item) => self.trait_def(module, item, scope),
            Item::Impl(item) => self.impl_def(item, scope),
            Item::Type(item) => {
                let scope = scope.with_generics(&item.generics);
                let alias =
                    Alias { generics: scope.lower_generics(&item.generics)?, ty: scope.ty(&item.ty)? };
                self.aliases.insert(format!("{module}::{}", item.ident), alias);
                Ok(())
            }
            // What has no body or value syn knows in traits only.
            Item::Verbatim(tokens) => match syn::parse2(tokens.clone())? {
                TraitItem::Fn(item) => {
                    let function = self.function(module, &item, scope)?;
                    self.api.functions.push(function);
                    Ok(())
                }
                TraitItem::Const(item) => {
                    let constant = self.constant(module, &item, scope)?;
                    self.api.constants.push(constant);
                    Ok(())
                }
                other => Err(Error::new(other.span(), "this kind of item is not read")),
            },
            other => Err(Error::new(other.span(), "this kind of item is not read")),
        }
    }

    fn structure(&mut self, module: &str, item: &syn::ItemStruct, outer: &Scope<'_>) -> Result<()> {
        let marks = marks(&item.attrs)?;
        let scope = outer.with_generics(&item.generics);
        let shape = match &item.fields {
            syn::Fields::Unit if marks.unit => Shape::Unit,
            syn::Fields::Unit => Shape::Named { fields: Vec::new(), has_private: true },
            fields => shape(fields, &scope)?,
        };
        self.type_def(module, &item.ident, &item.generics, TypeKind::Struct(shape), marks, &scope)
    }

    fn enumeration(&mut self, module: &str, item: &syn::ItemEnum, outer: &Scope<'_>) -> Result<()> {
        let mut attrs = item.attrs.clone();
        let non_exhaustive = take_attr(&mut attrs, "non_exhaustive").is_some();
        let scope = outer.with_generics(&item.generics);
        let variants = item.variants.iter().map(|variant| {
            Ok(Variant {
                name: variant.ident.to_string(),
                shape: shape(&variant.fields, &scope)?,
                non_exhaustive: false,
                doc_hidden: false,
            })
        });
        let kind = TypeKind::Enum(variants.collect::<Result<_>>()?);
        self.type_def(module, &item.ident, &item.generics, kind, marks(&attrs)?, &scope)?;
        if let Some(def) = self.api.types.get_mut(&format!("{module}::{}", item.ident)) {
            def.non_exhaustive = non_exhaustive;
        }
        Ok(())
    }

    /// The type, with the impls that its `derive` and `implements` attributes stand for.
    fn type_def(
        &mut self,
        module: &str,
        name: &syn::Ident,
        generics: &syn::Generics,
        kind: TypeKind,
        marks: Marks,
        scope: &Scope<'_>,
    ) -> Result<()> {
        let path = format!("{module}::{name}");
        let span = self.span(name.span());
        let generics = scope.lower_generics(generics)?;
        let ty = Ty::Adt { path: path.clone(), args: own_args(&generics) };
        for (trait_path, derived) in marks
            .derive
            .iter()
            .map(|path| (path, true))
            .chain(marks.implements.iter().map(|path| (path, false)))
        {
            let mut generics = without_defaults(&generics);
            if derived {
                for param in &mut generics.params {
                    if let ParamKind::Type { bounds, .. } = &mut param.kind {
                        let trait_ = scope.trait_ref(trait_path, Some(&Ty::Param(param.name.clone())))?;
                        bounds.push(Bound::Trait { trait_, binder: Vec::new() });
                    }
                }
            }
            self.api.impls.push(ImplDef {
                generics,
                trait_: Some(scope.trait_ref(trait_path, Some(&ty))?),
                for_: ty.clone(),
                methods: Vec::new(),
                assoc_types: Vec::new(),
                assoc_consts: Vec::new(),
                negative: false,
                synthetic: false,
                blanket: false,
                derived,
                span: Some(self.span(trait_path.span())),
            });
        }
        let def = TypeDef {
            path: path.clone(),
            generics,
            kind,
            non_exhaustive: false,
            docs: marks.docs,
            span: Some(span),
            deprecated: false,
        };
        self.api.types.insert(path, def);
        Ok(())
    }

    fn trait_def(&mut self, module: &str, item: &syn::ItemTrait, outer: &Scope<'_>) -> Result<()> {
        let marks = marks(&item.attrs)?;
        let path = format!("{module}::{}", item.ident);
        let this = Ty::Param("Self".to_owned());
        let mut scope = outer.with_generics(&item.generics).with_self(this.clone());
        let generics = scope.lower_generics(&item.generics)?;
        scope.self_trait = Some(TraitRef { args: own_args(&generics), ..TraitRef::new(&path) });
        let mut def = TraitDef {
            path: path.clone(),
            generics,
            supertraits: scope.bounds(&item.supertraits, Some(&this))?,
            assoc_types: Vec::new(),
            assoc_consts: Vec::new(),
            methods: Vec::new(),
            is_unsafe: item.unsafety.is_some(),
            is_auto: item.auto_token.is_some(),
            object_safe: false,
            docs: marks.docs,
            span: Some(self.span(item.ident.span())),
            doc_hidden: false,
        };
        let head = item.ident.to_string();
        for part in &item.items {
            match part {
                TraitItem::Type(assoc) => {
                    let name = assoc.ident.to_string();
                    let trait_ = scope.self_trait.clone().map(Box::new);
                    let subject = Ty::Proj {
                        base: Box::new(this.clone()),
                        trait_,
                        name: name.clone(),
                        args: Vec::new(),
                    };
                    def.assoc_types.push(AssocType {
                        name,
                        generics: Generics::default(),
                        bounds: scope.bounds(&assoc.bounds, Some(&subject))?,
                        default: None,
                    });
                }
                TraitItem::Fn(method) => {
                    let mut function = self.function(&head, method, &scope)?;
                    function.has_body = method.default.is_some();
                    def.methods.push(function);
                }
                other => return Err(Error::new(other.span(), "this kind of trait item is not read")),
            }
        }
        self.api.traits.insert(path, def);
        Ok(())
    }

    fn impl_def(&mut self, item: &syn::ItemImpl, outer: &Scope<'_>) -> Result<()> {
        marks(&item.attrs)?;
        let scope = outer.with_generics(&item.generics);
        let for_ = scope.ty(&item.self_ty)?;
        let scope = scope.with_self(for_.clone());
        let mut def = ImplDef {
            generics: scope.lower_generics(&item.generics)?,
            trait_: None,
            for_: for_.clone(),
            methods: Vec::new(),
            assoc_types: Vec::new(),
            assoc_consts: Vec::new(),
            negative: false,
            synthetic: false,
            blanket: matches!(for_, Ty::Param(_)),
            derived: false,
            span: Some(self.span(item.self_ty.span())),
        };
        let mut head = word_of(&for_);
        if let Some((not, path, _)) = &item.trait_ {
            let trait_ = scope.trait_ref(path, Some(&for_))?;
            head = format!("<{head} as {}>", trait_.name());
            def.negative = not.is_some();
            def.trait_ = Some(trait_);
        }
        for part in &item.items {
            match part {
                ImplItem::Type(assoc) => {
                    def.assoc_types.push((assoc.ident.to_string(), scope.ty(&assoc.ty)?));
                }
                ImplItem::Verbatim(tokens) => match syn::parse2(tokens.clone())? {
                    TraitItem::Fn(method) => {
                        let method = self.function(&head, &method, &scope)?;
                        def.methods.push(method);
                    }
                    TraitItem::Const(constant) => {
                        let constant = self.constant(&head, &constant, &scope)?;
                        def.assoc_consts.push(constant);
                    }
                    other => return Err(Error::new(other.span(), "this kind of impl item is not read")),
                },
                other => return Err(Error::new(other.span(), "an item of an impl has no body or value")),
            }
        }
        self.api.impls.push(def);
        Ok(())
    }

    /// A function whose path is `head::name`.
    fn function(&mut self, head: &str, item: &TraitItemFn, outer: &Scope<'_>) -> Result<Function> {
        let marks = marks(&item.attrs)?;
        let name = item.sig.ident.to_string();
        let path = format!("{head}::{name}");
        let scope = outer.with_generics(&item.sig.generics);
        let params = item.sig.inputs.iter().map(|input| match input {
            syn::FnArg::Receiver(receiver) => Ok(("self".to_owned(), scope.ty(&receiver.ty)?)),
            syn::FnArg::Typed(input) => match &*input.pat {
                syn::Pat::Ident(pattern) => Ok((pattern.ident.to_string(), scope.ty(&input.ty)?)),
                other => Err(Error::new(other.span(), "a parameter is a name")),
            },
        });
        let function = Function {
            params: params.collect::<Result<_>>()?,
            result: scope.result(&item.sig.output)?,
            generics: scope.lower_generics(&item.sig.generics)?,
            name,
            path: path.clone(),
            is_unsafe: item.sig.unsafety.is_some(),
            is_async: item.sig.asyncness.is_some(),
            is_const: item.sig.constness.is_some(),
            has_body: true,
            docs: marks.docs,
            span: Some(self.span(item.sig.ident.span())),
            deprecated: false,
            doc_hidden: marks.skip.is_some(),
        };
        if let Some(reason) = marks.skip {
            self.api.skipped.push(Skipped { path, kind: "function".to_owned(), reason });
        }
        Ok(function)
    }

    fn constant(&self, head: &str, item: &TraitItemConst, scope: &Scope<'_>) -> Result<Constant> {
        let name = item.ident.to_string();
        Ok(Constant {
            path: format!("{head}::{name}"),
            name,
            ty: scope.ty(&item.ty)?,
            value: None,
            kind: ConstantKind::Const,
            docs: marks(&item.attrs)?.docs,
            span: Some(self.span(item.ident.span())),
        })
    }

    fn span(&self, span: proc_macro2::Span) -> Span {
        let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        Span {
            file: format!("std_model/{}", self.file),
            line: line(span.start().line),
            end_line: line(span.end().line),
        }
    }
}

fn marks(attrs: &[Attribute]) -> Result<Marks> {
    let mut marks =
        Marks { docs: Docs::default(), skip: None, unit: false, derive: Vec::new(), implements: Vec::new() };
    let text = |attr: &Attribute| attr.parse_args::<syn::LitStr>().map(|text| text.value());
    let paths = |attr: &Attribute| {
        let list =
            attr.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated)?;
        Ok::<_, Error>(list.into_iter().collect())
    };
    for attr in attrs {
        let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "panics" => marks.docs.panics = Some(text(attr)?),
            "expr" => marks.docs.examples.push(format!("expr:{}", text(attr)?)),
            "unordered" => "unordered".clone_into(&mut marks.docs.text),
            "skip" => marks.skip = Some(text(attr)?),
            "unit" => marks.unit = true,
            "derive" => marks.derive = paths(attr)?,
            "implements" => marks.implements = paths(attr)?,
            _ => return Err(Error::new(attr.span(), "unknown attribute")),
        }
    }
    Ok(marks)
}

fn shape(fields: &syn::Fields, scope: &Scope<'_>) -> Result<Shape> {
    Ok(match fields {
        syn::Fields::Unit => Shape::Unit,
        syn::Fields::Unnamed(fields) => Shape::Tuple(
            fields.unnamed.iter().map(|field| scope.ty(&field.ty).map(Some)).collect::<Result<_>>()?,
        ),
        syn::Fields::Named(fields) => {
            let fields = fields.named.iter().map(|field| {
                let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                Ok((name, scope.ty(&field.ty)?))
            });
            Shape::Named { fields: fields.collect::<Result<_>>()?, has_private: false }
        }
    })
}

/// An item's parameters as arguments: `<'a, T, N>`.
fn own_args(generics: &Generics) -> Vec<GenericArg> {
    let args = generics.params.iter().map(|param| match param.kind {
        ParamKind::Lifetime { .. } => GenericArg::Region(Region::Named(param.name.clone())),
        ParamKind::Type { .. } => GenericArg::Ty(Ty::Param(param.name.clone())),
        ParamKind::Const { .. } => GenericArg::Const(testwright_model::Const::Param(param.name.clone())),
    });
    args.collect()
}

fn without_defaults(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        if let ParamKind::Type { default, .. } = &mut param.kind {
            *default = None;
        }
    }
    generics
}

/// How reports call a type: `Vec`, `slice`, `i32`.
fn word_of(ty: &Ty) -> String {
    match ty {
        Ty::Adt { path, .. } => last_segment(path).to_owned(),
        Ty::Slice(_) => "slice".to_owned(),
        Ty::Array(..) => "array".to_owned(),
        Ty::Ref { to, mutable, .. } => format!("&{}{}", if *mutable { "mut " } else { "" }, word_of(to)),
        other => other.to_string(),
    }
}

fn is_object_safe(api: &Api, path: &str) -> bool {
    let Some(trait_) = api.traits.get(path) else { return false };
    let mentions_self = |ty: &Ty| {
        let (mut all, mut projected) = (0, 0);
        // `Self::Item` is fine, `Self` is not.
        ty.walk(&mut |ty| match ty {
            Ty::Param(name) if name == "Self" => all += 1,
            Ty::Proj { base, .. } if matches!(&**base, Ty::Param(name) if name == "Self") => projected += 1,
            _ => {}
        });
        all > projected
    };
    let on_self = |bound: &Bound| match bound {
        Bound::Trait { trait_, .. } => {
            trait_.args.iter().any(|arg| matches!(arg, GenericArg::Ty(ty) if mentions_self(ty)))
        }
        _ => false,
    };
    let supertraits = trait_.supertraits.iter().all(|bound| match bound {
        Bound::Trait { trait_, .. } => !on_self(bound) && is_object_safe(api, &trait_.path),
        _ => true,
    });
    let assocs = trait_.assoc_types.iter().flat_map(|assoc| &assoc.bounds).all(|bound| !on_self(bound));
    let methods = trait_.methods.iter().all(|method| {
        let needs_sized = method.generics.wheres.iter().any(|condition| match condition {
            Where::Bound { ty: Ty::Param(name), bounds, .. } if name == "Self" => bounds.iter().any(
                |bound| matches!(bound, Bound::Trait { trait_, .. } if trait_.path == "std::marker::Sized"),
            ),
            _ => false,
        });
        let is_generic =
            method.generics.params.iter().any(|param| !matches!(param.kind, ParamKind::Lifetime { .. }));
        let others = method.params.iter().skip(1).map(|(_, ty)| ty).chain([&method.result]);
        needs_sized || method.has_receiver() && !is_generic && !others.into_iter().any(mentions_self)
    });
    path != "std::marker::Sized" && supertraits && assocs && methods
}
