//! Operations that no crate has, for tests.

use testwright_model::operation::{Flow, Form, Operation, Origin, Param, Take, TypeId};

/// An operation of the subject whose parameters, each with its name and the number of its type, are taken by value.
pub fn operation(path: &str, params: &[(&str, u32)], result: u32) -> Operation {
    let param = |(name, ty): &(&str, u32)| Param {
        name: (*name).to_owned(),
        take: Take::Value,
        ty: TypeId(*ty),
        needs_static: false,
        open: false,
    };
    Operation {
        path: path.to_owned(),
        origin: Origin::Subject(0),
        params: params.iter().map(param).collect(),
        result: TypeId(result),
        flow: Flow::default(),
        form: Form::default(),
        panics: None,
        grounding: String::new(),
    }
}
