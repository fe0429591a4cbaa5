//! Results whose type nobody can write: `impl Trait` is kept as a boxed trait object, what has no public path is used up at once.

use testwright_model::operation::Form;
use testwright_model::ty::{Bound, GenericArg, TraitRef, Ty, last_segment as last};
use testwright_model::{Prim, Region};

use crate::callable::Reason;
use crate::menu;
use crate::world::World;

/// `impl Trait` results are kept as boxed trait objects.
pub fn result(result: Ty, form: &mut Form) -> Result<Ty, Reason> {
    let Ty::Impl(bounds) = &result else { return Ok(result) };
    let mut traits: Vec<&TraitRef> = Vec::new();
    let mut region = Region::Static;
    for bound in bounds {
        match bound {
            Bound::Trait { trait_, .. } => traits.push(trait_),
            Bound::Outlives(named) => region = named.clone(),
            Bound::MaybeSized => {}
        }
    }
    let rank = |trait_: &TraitRef| match last(&trait_.path) {
        "DoubleEndedIterator" => 0,
        "ExactSizeIterator" => 1,
        "Iterator" => 2,
        "Fn" | "FnMut" | "FnOnce" => 9,
        _ => 5,
    };
    traits.sort_by_key(|trait_| rank(trait_));
    let Some(main) = traits.first() else {
        return Err(Reason::Unstorable(format!("result `{result}`")));
    };
    if rank(main) == 9 {
        return Err(Reason::Closure);
    }
    let mut main = (*main).clone();
    // `impl DoubleEndedIterator + Iterator<Item = T>`: the item's type may stand on the other bound.
    if main.assoc.is_empty() {
        if let Some(other) = traits.iter().find(|other| !other.assoc.is_empty()) {
            main.assoc.clone_from(&other.assoc);
        }
    }
    if bounds.iter().all(|bound| !matches!(bound, Bound::Outlives(_))) {
        // What an `impl Trait` captures is not written before edition 2024; assume it may hold its arguments.
        region = Region::Elided;
    }
    let object = Ty::Dyn { bounds: vec![main], region: region.clone() };
    let boxed = Ty::adt("std::boxed::Box", vec![object]);
    form.full = format!("std::boxed::Box::new({}) as std::boxed::Box<{}>", form.full, dyn_text(&boxed));
    if !form.short.is_empty() {
        form.short = format!("Box::new({}) as Box<{}>", form.short, dyn_text(&boxed));
    }
    // Through `Signature`, an elided region becomes the receiver's or the first argument's.
    Ok(match boxed {
        Ty::Adt { path, args } => Ty::Adt { path, args: mark_captured(args, &region) },
        other => other,
    })
}

/// Whether the type is a public one of the subject in a private module.
pub fn is_nameless(ty: &Ty, world: &World<'_>) -> bool {
    matches!(ty, Ty::Adt { path, .. } if world.is_subject_path(path) && world.type_def(path).is_none())
}

/// Ways to use up a result in the expression that makes it, with the types that they give. Which traits a nameless type implements is not
/// known, so each is tried; the compiler takes out what is wrong.
pub fn uses(form: &Form) -> [(Ty, Form); 2] {
    let taken = |text: &str| format!("{text}.take({ITEMS}).count()");
    let (short, traits) = (&form.short, &form.traits);
    let with = |full: String, short: String| Form { full, short, traits: traits.clone(), ..form.clone() };
    let counted = with(
        format!("std::iter::Iterator::count(std::iter::Iterator::take({}, {ITEMS}))", form.full),
        match short {
            short if short.is_empty() => taken(&form.full),
            short => taken(short),
        },
    );
    let shown = with(
        format!("std::format!(\"{{:?}}\", {})", form.full),
        format!("format!(\"{{:?}}\", {})", if short.is_empty() { &form.full } else { short }),
    );
    [(Ty::Prim(Prim::Usize), counted), (menu::string(), shown)]
}

/// Items that are asked for at most: some iterators never end, and that is right.
const ITEMS: usize = 1000;

/// `dyn Iterator<Item = _>`: the object type with what the compiler can find out by itself left open.
fn dyn_text(boxed: &Ty) -> String {
    let Ty::Adt { args, .. } = boxed else { return boxed.to_string() };
    match args.first() {
        Some(GenericArg::Ty(Ty::Dyn { bounds, .. })) => {
            let mut text = format!("dyn {}", bounds[0].path);
            let args: Vec<String> = bounds[0]
                .args
                .iter()
                .map(|_| "_".to_owned())
                .chain(bounds[0].assoc.iter().map(|(name, _)| format!("{name} = _")))
                .collect();
            if !args.is_empty() {
                text.push_str(&format!("<{}>", args.join(", ")));
            }
            text.push_str(" + '_");
            text
        }
        _ => boxed.to_string(),
    }
}

/// Marks the region of a boxed object as one to be found by elision.
fn mark_captured(args: Vec<GenericArg>, region: &Region) -> Vec<GenericArg> {
    args.into_iter()
        .map(|arg| match arg {
            GenericArg::Ty(Ty::Dyn { bounds, .. }) => GenericArg::Ty(Ty::Dyn {
                bounds,
                region: match region {
                    Region::Elided => Region::Erased,
                    other => other.clone(),
                },
            }),
            other => other,
        })
        .collect()
}
