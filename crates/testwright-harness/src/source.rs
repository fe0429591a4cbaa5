//! What the grounding hands over: wrappers, types and printed forms as text, numbered as the worker will number them.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessSource {
    pub operations: Vec<OperationSource>,
    /// Rust type text, erased lifetimes as `'static`.
    pub types: Vec<String>,
    /// Names in code of other crates that the texts mention.
    pub foreign: Vec<String>,
    /// Items that wrappers and checks may use; stands at the root of both crates, where the runtime is
    /// `tw`.
    pub prelude: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSource {
    /// `unsafe fn w12(a: *const *mut u8, r: *mut u8) { … }`, the number being its place in the list.
    pub wrapper: String,
    pub arity: u8,
    /// Index into the types.
    pub result: usize,
    /// Every type that it mentions.
    pub types: Vec<usize>,
    /// Stand-alone functions named `check_12` that show the printed form, preferred first; an operation without any needs none.
    pub checks: Vec<String>,
}

impl HarnessSource {
    pub(crate) fn digest(&self) -> String {
        let mut digest = Digest::new();
        digest.text(&self.prelude);
        for text in self.types.iter().chain(&self.foreign) {
            digest.text(text);
        }
        for operation in &self.operations {
            digest.text(&operation.wrapper).bytes(&[operation.arity]).text(&operation.result.to_string());
            for check in &operation.checks {
                digest.text(check);
            }
        }
        digest.finish()
    }
}
