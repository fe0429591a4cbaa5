//! The subject's callables, one a definition, and what became of each.

use std::collections::BTreeMap;

use testwright_model::api::{Function, ImplDef};
use testwright_model::{Api, OpId, Ty};

use crate::choose::Refusal;

/// A function or method definition of the subject.
#[derive(Clone, Debug)]
pub struct Callable<'a> {
    pub function: &'a Function,
    pub place: Place<'a>,
    /// Operations that call it.
    pub operations: Vec<OpId>,
    /// Why there is none, the first reason seen.
    pub refusal: Option<Reason>,
}

#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    Free,
    Inherent(&'a ImplDef),
    /// A method that an impl of a trait writes out.
    TraitImpl(&'a ImplDef),
    /// A method that a trait of the subject provides.
    Provided(&'a testwright_model::api::TraitDef),
}

/// Why a callable has no operation. The first four are beyond what plain calls can do; they do not count as missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    Unsafe,
    Async,
    Closure,
    NeedsImpl(String),
    Hidden,
    NeverReturns,
    NoChoice(String),
    Unstorable(String),
    /// The compiler's words.
    Rejected(String),
    /// No operation makes an argument of this type.
    NoMaker(String),
    Budget,
    /// Ends a value's life: every sequence does it.
    Drop,
    /// The receiver's type has no concrete form.
    NoReceiver(String),
}

impl Reason {
    /// Whether the callable is left out of the share that must have operations.
    pub fn is_out_of_reach(&self) -> bool {
        matches!(
            self,
            Reason::Unsafe
                | Reason::Async
                | Reason::Closure
                | Reason::NeedsImpl(_)
                | Reason::Hidden
                | Reason::Drop
        )
    }

    /// A short name for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::Unsafe => "unsafe function",
            Reason::Async => "async function",
            Reason::Closure => "takes a closure",
            Reason::NeedsImpl(_) => "needs a user-made trait implementation",
            Reason::Hidden => "hidden from documentation",
            Reason::NeverReturns => "never returns",
            Reason::NoChoice(_) => "no types at hand satisfy its bounds",
            Reason::Unstorable(_) => "a type is not understood or cannot be named",
            Reason::Rejected(_) => "rejected by the compiler",
            Reason::NoMaker(_) => "nothing makes one of its arguments",
            Reason::Budget => "not grounded: budget",
            Reason::Drop => "runs when values are dropped",
            Reason::NoReceiver(_) => "its type has no concrete form",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::NeedsImpl(what) => write!(f, "{}: {what}", self.kind()),
            Reason::NoChoice(what) | Reason::Unstorable(what) => f.write_str(what),
            Reason::Rejected(what) => write!(f, "rejected by the compiler: {what}"),
            Reason::NoMaker(what) => write!(f, "no operation makes a `{what}`"),
            Reason::NoReceiver(what) => write!(f, "no concrete form of its type: {what}"),
            _ => f.write_str(self.kind()),
        }
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Closure => Reason::Closure,
            Refusal::NeedsImpl(path) => Reason::NeedsImpl(path),
            Refusal::NoChoice(text) => Reason::NoChoice(crate::sign::tidy(&text)),
        }
    }
}

/// All callables of the subject, in the order of its documentation.
pub fn list(api: &Api) -> Vec<Callable<'_>> {
    let mut all = Vec::new();
    let mut add =
        |function, place| all.push(Callable { function, place, operations: Vec::new(), refusal: None });
    for function in &api.functions {
        add(function, Place::Free);
    }
    for def in api.impls.iter().filter(|def| !def.synthetic && !def.negative) {
        for function in &def.methods {
            add(function, if def.trait_.is_some() { Place::TraitImpl(def) } else { Place::Inherent(def) });
        }
    }
    for def in api.traits.values() {
        for function in def.methods.iter().filter(|function| function.has_body) {
            add(function, Place::Provided(def));
        }
    }
    all
}

/// Callables by the address of their definition.
pub fn index(callables: &[Callable<'_>]) -> BTreeMap<*const Function, usize> {
    callables.iter().enumerate().map(|(i, callable)| (std::ptr::from_ref(callable.function), i)).collect()
}

/// Why a function is not even tried.
pub fn refused(function: &Function) -> Option<Reason> {
    if function.is_unsafe {
        Some(Reason::Unsafe)
    } else if function.is_async {
        Some(Reason::Async)
    } else if function.doc_hidden {
        Some(Reason::Hidden)
    } else if function.result == Ty::Never {
        Some(Reason::NeverReturns)
    } else if function.params.iter().any(|(_, ty)| has_fn_pointer(ty)) {
        Some(Reason::Closure)
    } else {
        None
    }
}

fn has_fn_pointer(ty: &Ty) -> bool {
    let mut found = false;
    ty.walk(&mut |part| {
        found |= match part {
            Ty::FnPtr { .. } => true,
            Ty::Dyn { bounds, .. } => bounds.iter().any(|bound| {
                matches!(bound.path.as_str(), "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce")
            }),
            Ty::Impl(bounds) => crate::menu::asks_for_closure(bounds),
            _ => false,
        }
    });
    found
}
