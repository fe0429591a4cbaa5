//! Chooses concrete types for generics and traits: `Api` in, `Operations` out.
//!
//! Receives what `testwright-discover` read and the hand-written model of std; hands on the table of operations, the source text of
//! their wrappers, and for every callable of the subject what became of it. Nothing is left out silently.
//! Whether a choice type-checks is for the compiler to say: the grounding is generous, `testwright-harness` prunes.

mod ambiguous;
mod appetite;
pub mod callable;
mod caught;
mod choose;
mod clauses;
mod companions;
mod construct;
mod contracts;
mod expression;
mod form;
mod grounder;
pub mod inquiry;
mod laws;
pub mod menu;
mod opened;
mod pairs;
pub mod reach;
mod sign;
mod solve;
mod source;
pub mod std_model;
mod world;

use std::collections::BTreeMap;

use testwright_model::law::{Added, Law};
use testwright_model::operation::{Operation, Operations};
use testwright_model::{Api, OpId, Ty};

pub use callable::{Callable, Place, Reason};
pub use sign::Signature;

/// Default number of operations that one harness holds.
pub const BUDGET: usize = 3000;

/// The outcome of grounding.
#[derive(Debug)]
pub struct Grounded<'a> {
    pub operations: Operations,
    pub signatures: Vec<Signature>,
    pub callables: Vec<Callable<'a>>,
}

/// Grounds the whole API.
pub fn ground(api: &Api, budget: usize) -> Grounded<'_> {
    ground_with(api, budget, &[])
}

/// Grounds the whole API, with laws of the crate's author.
pub fn ground_with<'a>(api: &'a Api, budget: usize, added: &[(Added, &'static Law)]) -> Grounded<'a> {
    let world = world::World::new(api, std_model::api());
    let solver = solve::Solver::new(&world);
    let chooser = choose::Chooser::new(&solver);
    let mut grounder = grounder::Grounder::new(&world, &chooser, budget, added);
    grounder.run();
    ambiguous::clear(&mut grounder.operations);
    let (operations, signatures, callables) = (grounder.operations, grounder.signatures, grounder.callables);
    Grounded { operations, signatures, callables }
}

/// The source of one operation for the harness.
#[derive(Clone, Debug)]
pub struct OperationText {
    pub wrapper: String,
    pub checks: Vec<String>,
}

impl Grounded<'_> {
    /// Takes out what no sequence can ever call, and types that nothing mentions any more; the rest is numbered anew.
    pub fn retain_reachable(&mut self) {
        self.retain(|_| true);
    }

    /// The same without the operations that are not wanted.
    pub fn retain(&mut self, wanted: impl Fn(&Operation) -> bool) {
        let (types, callable) = reach::reachable(&self.operations, |id| wanted(self.operations.get(id)));
        let old = std::mem::take(&mut self.operations);
        let signatures = std::mem::take(&mut self.signatures);
        let mut numbers = BTreeMap::new();
        let mut missing = BTreeMap::new();
        for (index, (operation, signature)) in (0..).zip(old.operations.iter().zip(signatures)) {
            if callable.contains(&OpId(index)) {
                let mut operation = operation.clone();
                for param in &mut operation.params {
                    param.ty = self.operations.type_id(old.ty(param.ty));
                }
                operation.result = self.operations.type_id(old.ty(operation.result));
                numbers.insert(
                    OpId(index),
                    OpId(u32::try_from(self.signatures.len()).expect("fewer than 2^32")),
                );
                self.operations.operations.push(operation);
                self.signatures.push(signature);
            } else {
                let lacking =
                    operation.params.iter().find(|param| !reach::offers(&old, &types, param.take, param.ty));
                let name = lacking.map_or_else(String::new, |param| old.ty(param.ty).to_string());
                missing.insert(OpId(index), Reason::NoMaker(name));
            }
        }
        self.reject(&missing);
        for callable in &mut self.callables {
            for id in &mut callable.operations {
                *id = numbers[id];
            }
        }
    }

    pub fn text(&self, id: OpId) -> OperationText {
        let index = id.0 as usize;
        let operation = self.operations.get(id);
        OperationText {
            wrapper: source::wrapper(&self.operations, index, operation),
            checks: source::checks(index, operation, &self.signatures[index]),
        }
    }

    /// Items that the operations' texts use.
    pub fn prelude(&self) -> String {
        let has_clauses =
            self.operations.operations.iter().any(|operation| !operation.form.clauses.is_empty());
        if has_clauses { clauses::PRELUDE.to_owned() } else { String::new() }
    }

    /// The types of the table as Rust text.
    pub fn type_texts(&self) -> Vec<String> {
        self.operations.types.iter().map(source::type_text).collect()
    }

    /// Takes operations out of their callables, with the reason for those that have none left.
    pub fn reject(&mut self, rejected: &BTreeMap<OpId, Reason>) {
        for callable in &mut self.callables {
            let before = callable.operations.len();
            let first = callable.operations.iter().find_map(|id| rejected.get(id)).cloned();
            callable.operations.retain(|id| !rejected.contains_key(id));
            if callable.operations.is_empty() && before > 0 {
                callable.refusal = first;
            }
        }
    }
}

/// Names of crates other than std and the subject that occur in a type or form.
pub fn foreign_crates(api: &Api, operations: &Operations) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |path: &str| {
        let first = path.trim_start_matches('<').split("::").next().unwrap_or(path);
        if api.foreign.contains_key(first) && !found.iter().any(|known| known == first) {
            found.push(first.to_owned());
        }
    };
    for ty in &operations.types {
        ty.walk(&mut |part| {
            if let Ty::Adt { path, .. } = part {
                add(path);
            }
        });
    }
    for operation in &operations.operations {
        for name in api.foreign.keys() {
            if operation.form.full.contains(&format!("{name}::")) {
                add(name);
            }
        }
    }
    let beside = operations.operations.iter().filter_map(|operation| operation.law()?.beside);
    found.extend(beside.map(str::to_owned));
    found.sort();
    found.dedup();
    found
}
