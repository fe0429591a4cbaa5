//! Results whose type nobody can write: `impl Trait` is kept as a boxed trait object.

use testwright_model::Region;
use testwright_model::operation::Form;
use testwright_model::ty::{Bound, GenericArg, TraitRef, Ty, last_segment as last};

use crate::callable::Reason;

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
