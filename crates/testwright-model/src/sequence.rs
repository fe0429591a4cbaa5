//! A straight-line program over operations: pure data, which knows nothing of its execution.

use serde::{Deserialize, Serialize};

use crate::operation::{OpId, TypeId};

/// Steps in order. Every step but [`Step::Drop`] and [`Step::Forget`] makes one value, named by the step's index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sequence {
    pub steps: Vec<Step>,
}

/// A value, by the index of the step that makes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ValueId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    Call {
        op: OpId,
        args: Vec<Arg>,
    },
    Literal {
        ty: TypeId,
        value: Literal,
    },
    /// `drop(value)`.
    Drop(ValueId),
    /// `std::mem::forget(value)`.
    Forget(ValueId),
    /// A closure whose body is a sequence of its own; captures name values of the sequence around it.
    Closure(Box<Closure>),
}

/// A closure literal. Its parameters are the body's first values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Closure {
    pub ty: TypeId,
    pub params: Vec<TypeId>,
    pub captures: Vec<Arg>,
    pub body: Sequence,
    /// The body's value that is returned.
    pub result: ValueId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arg {
    pub value: ValueId,
    pub how: How,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum How {
    /// `value`, gone afterwards.
    Move,
    /// `value` of a `Copy` type.
    Copy,
    /// `&value`.
    Ref,
    /// `&mut value`.
    RefMut,
    /// `&*value` or `value`, where the value is a reference: the callee gets a shared reborrow.
    Reborrow,
    /// `&mut *value`, where the value is a `&mut`.
    ReborrowMut,
}

impl How {
    /// Whether the callee may change the value and give it back.
    pub fn is_mut(self) -> bool {
        matches!(self, How::RefMut | How::ReborrowMut)
    }
}

/// A value written out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Literal {
    Bool(bool),
    Char(char),
    /// Any integer type, as its two's complement in 128 bits.
    Int(i128),
    /// `f32` or `f64` by its bits.
    Float(u64),
    /// `&'static str`.
    Str(String),
    /// `&'static [u8]`.
    Bytes(Vec<u8>),
}

impl Sequence {
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds a step; the value it makes, if it makes one.
    pub fn push(&mut self, step: Step) -> ValueId {
        let id = ValueId(u32::try_from(self.steps.len()).expect("sequences are short"));
        self.steps.push(step);
        id
    }
}

impl Step {
    pub fn makes_value(&self) -> bool {
        !matches!(self, Step::Drop(_) | Step::Forget(_))
    }

    /// The same step in a sequence that has `by` more steps before it.
    pub fn shift(&mut self, by: u32) {
        match self {
            Step::Call { args, .. } => args.iter_mut().for_each(|arg| arg.value.0 += by),
            Step::Drop(value) | Step::Forget(value) => value.0 += by,
            Step::Closure(closure) => closure.captures.iter_mut().for_each(|arg| arg.value.0 += by),
            Step::Literal { .. } => {}
        }
    }

    /// The values that the step uses.
    pub fn uses(&self) -> Vec<ValueId> {
        match self {
            Step::Call { args, .. } => args.iter().map(|arg| arg.value).collect(),
            Step::Drop(value) | Step::Forget(value) => vec![*value],
            Step::Closure(closure) => closure.captures.iter().map(|arg| arg.value).collect(),
            Step::Literal { .. } => Vec::new(),
        }
    }
}
