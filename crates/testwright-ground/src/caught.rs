//! Calls whose panic is caught, so that a sequence goes on behind it: a second operation beside each that may leave something half changed.

use testwright_model::contract::When;
use testwright_model::operation::{CAUGHT, Flow, Form, Take};
use testwright_model::{OpId, Ty};

use crate::Grounded;

impl Grounded<'_> {
    /// Adds one for each call of the subject that takes something by `&mut`, as long as there is room for so many operations in all; how many
    /// found none.
    pub fn catch_panics(&mut self, room: usize) -> usize {
        let unit = self.operations.type_id(&Ty::unit());
        let mut left_out = 0;
        for id in self.operations.ids() {
            let operation = self.operations.get(id);
            if !operation.is_subject() || !operation.params.iter().any(|param| param.take == Take::Mut) {
                continue;
            }
            if self.operations.operations.len() >= room {
                left_out += 1;
                continue;
            }
            let returns = operation.result != unit;
            let caught = |form: &str| {
                // A result is dropped where it was made: it may borrow from what only the closure has.
                let call = if returns { format!("{{ let _ = {form}; }}") } else { form.to_owned() };
                format!("{CAUGHT}{call})))")
            };
            let form = Form {
                full: caught(&operation.form.full),
                short: if operation.form.short.is_empty() {
                    String::new()
                } else {
                    caught(&operation.form.short)
                },
                ..operation.form.clone()
            };
            let mut added = operation.clone();
            // What holds after a call need not hold after a panic.
            let clauses = form.clauses.iter().filter(|clause| clause.when == When::Before).cloned().collect();
            added.flow = Flow { stores: operation.flow.stores.clone(), ..Flow::default() };
            added.result = unit;
            added.form = Form { clauses, ..form };
            let mut signature = self.signatures[id.0 as usize].clone();
            signature.result = Ty::unit();
            self.enter(id, added, signature);
        }
        left_out
    }

    fn enter(&mut self, of: OpId, added: testwright_model::Operation, signature: crate::Signature) {
        let id = OpId(u32::try_from(self.operations.operations.len()).expect("fewer than 2^32 operations"));
        self.operations.operations.push(added);
        self.signatures.push(signature);
        if let Some(callable) = self.callables.iter_mut().find(|callable| callable.operations.contains(&of)) {
            callable.operations.push(id);
        }
    }
}
