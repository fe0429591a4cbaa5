//! A concrete signature becomes an operation: what it takes, what it returns, and where borrows go.

use std::collections::BTreeMap;

use testwright_model::api::{Generics, ParamKind, Where};
use testwright_model::contract::Clause;
use testwright_model::operation::{Flow, Form, Hole, Operations, Origin, Param, Take, fill};
use testwright_model::ty::{Const, Folder};
use testwright_model::{Operation, Region, Ty};

use crate::clauses::{self, Around};
use crate::world::World;

/// A signature with every generic filled in; its regions still have names.
#[derive(Clone, Debug)]
pub struct Signature {
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
    /// `('a, 'b)`: `'a` lives at least as long as `'b`.
    pub outlives: Vec<(String, String)>,
    /// Parameters whose declared type is not fixed by what stands around the call.
    pub open: Vec<bool>,
}

/// Changes regions, but not those inside function pointers, which are their own.
pub fn map_regions(ty: &Ty, map: &mut dyn FnMut(&Region) -> Region) -> Ty {
    struct Map<'m>(&'m mut dyn FnMut(&Region) -> Region);
    impl Folder for Map<'_> {
        fn ty(&mut self, ty: &Ty) -> Ty {
            match ty {
                Ty::FnPtr { .. } => ty.erased(),
                Ty::Ref { region, mutable, to } => {
                    let region = (self.0)(region);
                    let to = match &**to {
                        // `&'a dyn Trait` is `&'a (dyn Trait + 'a)`.
                        Ty::Dyn { bounds, region: Region::Elided | Region::Erased } => Ty::Dyn {
                            bounds: bounds.iter().map(|bound| self.trait_ref(bound)).collect(),
                            region: region.clone(),
                        },
                        to => self.ty(to),
                    };
                    Ty::Ref { region, mutable: *mutable, to: Box::new(to) }
                }
                // `Box<dyn Trait>` is `Box<dyn Trait + 'static>`.
                Ty::Dyn { bounds, region: Region::Elided } => Ty::Dyn {
                    bounds: bounds.iter().map(|bound| self.trait_ref(bound)).collect(),
                    region: Region::Static,
                },
                _ => self.descend(ty),
            }
        }

        fn region(&mut self, region: &Region) -> Region {
            (self.0)(region)
        }
    }
    Map(map).ty(ty)
}

impl Signature {
    /// Names the regions that the source leaves out, by the elision rules.
    pub fn new(params: Vec<(String, Ty)>, result: &Ty, generics: &[&Generics]) -> Signature {
        let mut number = 0;
        let params: Vec<(String, Ty)> = params
            .into_iter()
            .map(|(name, ty)| {
                let ty = map_regions(&ty, &mut |region| match region {
                    Region::Elided | Region::Erased => {
                        number += 1;
                        Region::Named(format!("'e{number}"))
                    }
                    _ => region.clone(),
                });
                (name, ty)
            })
            .collect();
        let receiver = params.first().filter(|(name, _)| name == "self").and_then(|(_, ty)| match ty {
            Ty::Ref { region, .. } => Some(region.clone()),
            Ty::Adt { path, args } if path == "std::pin::Pin" => args.iter().find_map(|arg| match arg {
                testwright_model::GenericArg::Ty(Ty::Ref { region, .. }) => Some(region.clone()),
                _ => None,
            }),
            _ => None,
        });
        let mut all: Vec<Region> = params.iter().flat_map(|(_, ty)| ty.regions()).collect();
        all.retain(|region| matches!(region, Region::Named(_)));
        all.dedup();
        let source = receiver.or_else(|| all.first().cloned()).unwrap_or(Region::Static);
        let result = map_regions(result, &mut |region| match region {
            Region::Elided | Region::Erased => source.clone(),
            _ => region.clone(),
        });
        let open = vec![false; params.len()];
        let outlives = generics.iter().flat_map(|generics| outlives(generics)).collect();
        Signature { params, result, outlives, open }
    }

    /// Where borrows go.
    fn flow(&self, world: &World<'_>) -> Flow {
        let mut flow = Flow::default();
        let returned = self.longer(names(&self.result));
        for (index, (_, ty)) in (0u8..).zip(&self.params) {
            let (outer, inner) = split(ty);
            if outer.is_some_and(|outer| returned.contains(&outer)) {
                flow.outer.push(index);
            }
            if inner.iter().any(|region| returned.contains(region)) {
                flow.inner.push(index);
            }
        }
        for (to, (_, target)) in (0u8..).zip(&self.params) {
            let may_store = match target {
                Ty::Ref { mutable: true, .. } => true,
                Ty::Ref { to, .. } => {
                    matches!(&**to, Ty::Adt { path, .. } if world.is_subject_path(path) || path.starts_with("std::cell"))
                }
                _ => true,
            };
            let kept = self.longer(split(target).1);
            if !may_store || kept.is_empty() {
                continue;
            }
            for (from, (_, source)) in (0u8..).zip(&self.params) {
                if from != to && names(source).iter().any(|region| kept.contains(region)) {
                    flow.stores.push((to, from));
                }
            }
        }
        flow
    }

    /// The regions and all that are declared to outlive one of them.
    fn longer(&self, mut regions: Vec<String>) -> Vec<String> {
        let mut next = 0;
        while next < regions.len() {
            for (longer, shorter) in &self.outlives {
                if *shorter == regions[next] && !regions.contains(longer) {
                    regions.push(longer.clone());
                }
            }
            next += 1;
        }
        regions
    }

    /// The operation, its types entered into the table; or what stands in the way.
    pub fn operation(
        &self,
        operations: &mut Operations,
        world: &World<'_>,
        path: String,
        origin: Origin,
        form: Form,
    ) -> Result<Operation, String> {
        if self.params.len() > 200 {
            return Err("too many parameters".to_owned());
        }
        for (_, ty) in &self.params {
            storable(ty, world)?;
        }
        storable(&self.result, world)?;
        let flow = self.flow(world);
        let params = self
            .params
            .iter()
            .zip(&self.open)
            .map(|((name, ty), open)| {
                let (take, of) = match ty {
                    Ty::Ref { region, mutable, to } if !world.is_unsized(to) && *region != Region::Static => {
                        (if *mutable { Take::Mut } else { Take::Shared }, to.erased())
                    }
                    _ => (Take::Value, ty.erased()),
                };
                let needs_static = ty.regions().contains(&Region::Static);
                Param { name: name.clone(), take, ty: operations.type_id(&of), needs_static, open: *open }
            })
            .collect();
        let result = operations.type_id(&self.result.erased());
        Ok(Operation { path, origin, params, result, flow, form, panics: None, grounding: String::new() })
    }

    /// The signature as a stand-alone generic function whose body is the given form, with what is asserted of the call.
    pub fn check(&self, name: &str, form: &str, traits: &[String], clauses: &[Clause]) -> String {
        let mut regions = BTreeMap::new();
        let mut order = Vec::new();
        let mut print = |ty: &Ty| {
            map_regions(ty, &mut |region| match region {
                Region::Named(name) => {
                    let new = regions.entry(name.clone()).or_insert_with(|| {
                        let new = format!("'r{}", order.len());
                        order.push(new.clone());
                        new
                    });
                    Region::Named(new.clone())
                }
                _ => region.clone(),
            })
            .to_string()
        };
        let params: Vec<String> =
            self.params.iter().enumerate().map(|(i, (_, ty))| format!("mut a{i}: {}", print(ty))).collect();
        let result = print(&self.result);
        let bounds: Vec<String> = self
            .outlives
            .iter()
            .filter_map(|(longer, shorter)| {
                Some(format!("{}: {}", regions.get(longer)?, regions.get(shorter)?))
            })
            .collect();
        let bound = if bounds.is_empty() { String::new() } else { format!("where {} ", bounds.join(", ")) };
        let uses: String =
            traits.iter().map(|path| format!("#[allow(unused_imports)] use {path} as _; ")).collect();
        let call = fill(form, |hole, _| match hole {
            Hole::Receiver => "a0".to_owned(),
            Hole::Value(index) => format!("a{index}"),
            Hole::Place(index) => self.place(index),
        });
        let regions = order.join(", ");
        let params = params.join(", ");
        let Around { before, after } =
            clauses::in_check(clauses, &|index| matches!(self.params[index].1, Ty::Ref { .. }));
        let (known, alone) = if before.is_empty() && after.is_empty() {
            (call.clone(), format!("let _ = {call};"))
        } else {
            let text = |v: &str| format!("{before}let {v} = {call};\n{after}");
            (format!("{} v", text(&format!("v: {result}"))), text("v"))
        };
        // Once with its result's type known, once without: a test may not use the result at all.
        format!(
            "fn {name}<{regions}>({params}) -> {result} {bound}{{ {uses}{known} }}\n\
             fn {name}_alone<{regions}>({params}) {bound}{{ {uses}{alone} }}\n"
        )
        .replace(crate::menu::TRACKED, "testwright_runtime::Tracked")
    }

    fn place(&self, index: usize) -> String {
        if matches!(self.params[index].1, Ty::Ref { .. }) {
            format!("(*a{index})")
        } else {
            format!("a{index}")
        }
    }
}

/// The reference's own region, and the regions inside.
fn split(ty: &Ty) -> (Option<String>, Vec<String>) {
    match ty {
        Ty::Ref { region, to, .. } => {
            let outer = if let Region::Named(name) = region { Some(name.clone()) } else { None };
            (outer, names(to))
        }
        _ => (None, names(ty)),
    }
}

fn names(ty: &Ty) -> Vec<String> {
    let mut names: Vec<String> = ty
        .regions()
        .into_iter()
        .filter_map(|region| if let Region::Named(name) = region { Some(name) } else { None })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn outlives(generics: &Generics) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut add = |longer: &str, shorter: &[Region]| {
        for region in shorter {
            if let Region::Named(name) = region {
                pairs.push((longer.to_owned(), name.clone()));
            }
        }
    };
    for param in &generics.params {
        if let ParamKind::Lifetime { outlives } = &param.kind {
            add(&param.name, outlives);
        }
    }
    for clause in &generics.wheres {
        if let Where::Outlives { region: Region::Named(name), longer_than } = clause {
            add(name, longer_than);
        }
    }
    pairs
}

/// Items of an array that lies in a cell, at most: it is copied from one to another.
const LONGEST: u128 = 1 << 16;

/// Whether a value of the type can lie in a cell of the worker.
fn storable(ty: &Ty, world: &World<'_>) -> Result<(), String> {
    let mut problem = None;
    if world.is_unsized(ty) {
        problem = Some(format!("`{ty}` is passed by value but has no known size"));
    }
    ty.walk(&mut |part| {
        let found = match part {
            Ty::Param(name) => Some(format!("parameter `{}` stays open", crate::choose::base_name(name))),
            Ty::Proj { .. } => Some(format!("associated type `{}` is not known", tidy(&part.to_string()))),
            Ty::Impl(_) => Some("`impl Trait` inside another type".to_owned()),
            Ty::Unknown(text) => Some(format!("type `{text}` is not understood")),
            Ty::Array(_, Const::Value(length))
                if length.parse().is_ok_and(|length: u128| length > LONGEST) =>
            {
                Some(format!("`{}` is too large for a cell", tidy(&part.to_string())))
            }
            Ty::Adt { path, .. } if world.is_subject_path(path) && world.type_def(path).is_none() => {
                Some(format!("type `{path}` cannot be named from outside"))
            }
            _ => None,
        };
        problem = problem.take().or(found);
    });
    problem.map_or(Ok(()), Err)
}

/// Removes the numbers that keep names apart.
pub fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '$' {
            while chars.peek().is_some_and(char::is_ascii_digit) {
                chars.next();
            }
        } else {
            out.push(c);
        }
    }
    out
}
