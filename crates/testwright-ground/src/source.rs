//! The Rust text of wrappers and of their stand-alone checks.

use testwright_model::operation::{Hole, Operations, Take, fill};
use testwright_model::{Operation, Region, Ty};

use crate::clauses;
use crate::menu::TRACKED;
use crate::sign::{Signature, map_regions};

/// A type as the worker writes it: every erased region is `'static`.
pub fn type_text(ty: &Ty) -> String {
    let text = map_regions(ty, &mut |_| Region::Static).to_string();
    text.replace(TRACKED, "testwright_runtime::Tracked")
}

/// The wrapper that reads its arguments from cells, makes the call and writes the result.
pub fn wrapper(operations: &Operations, index: usize, operation: &Operation) -> String {
    let mut text = format!("unsafe fn w{index}(a: *const *mut u8, r: *mut u8) {{\n");
    for (i, param) in operation.params.iter().enumerate() {
        let ty = type_text(operations.ty(param.ty));
        let line = match param.take {
            Take::Value => format!("    let mut a{i} = core::ptr::read(*a.add({i}) as *const {ty});\n"),
            Take::Shared => format!("    let a{i} = &*(*a.add({i}) as *const {ty});\n"),
            Take::Mut => format!("    let a{i} = &mut *(*a.add({i}) as *mut {ty});\n"),
        };
        text.push_str(&line);
    }
    let result = type_text(operations.ty(operation.result));
    let place = |index: usize| match operation.params[index].take {
        Take::Value => match operations.ty(operation.params[index].ty) {
            Ty::Ref { .. } => format!("(*a{index})"),
            _ => format!("a{index}"),
        },
        _ => format!("(*a{index})"),
    };
    let call = fill(&operation.form.full, |hole, _| match hole {
        Hole::Receiver => "a0".to_owned(),
        Hole::Value(index) => format!("a{index}"),
        Hole::Place(index) => place(index),
    })
    .replace(TRACKED, "testwright_runtime::Tracked");
    let clauses =
        clauses::in_wrapper(&operation.form.clauses, &|index| operation.params[index].take != Take::Value);
    text.push_str(&clauses.before);
    text.push_str(&format!("    let v: {result} = {call};\n"));
    text.push_str(&clauses.after);
    text.push_str(&format!("    core::ptr::write(r as *mut {result}, v);\n}}\n"));
    text
}

/// The checks of an operation, preferred form first.
pub fn checks(index: usize, operation: &Operation, signature: &Signature) -> Vec<String> {
    let name = format!("check_{index}");
    let clauses = &operation.form.clauses;
    let mut all = Vec::new();
    if !operation.form.short.is_empty() {
        all.push(signature.check(&name, &operation.form.short, &operation.form.traits, clauses));
    }
    all.push(signature.check(&name, &operation.form.full, &[], clauses));
    all
}
