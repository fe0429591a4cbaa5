//! Names of tests: what is called, after what, and how it ends.

use std::collections::HashSet;

use testwright_model::law;
use testwright_model::operation::{Operation, Operations, Take, TypeId};
use testwright_model::sequence::{Sequence, Step};
use testwright_model::ty::last_segment;
use testwright_model::{Literal, Prim, Ty};

use crate::pin::Pin;
use crate::regression::RegressionTest;
use crate::words::{Callee, callee, is_identifier, is_keyword, snake};

/// Longer names are no longer read.
const LONGEST: usize = 60;

/// `bounded_stack_push_overflows`, `pop_on_empty_bounded_stack_panics`: the name of a finding's test.
pub fn finding_name(operation_path: &str, class: &str, message: &str) -> String {
    let does = match class {
        "overflow" => "overflows",
        "index" => "goes_out_of_bounds",
        "unwrap" => "unwraps_nothing",
        "abort" if message.starts_with("the process was made to exit") => "exits",
        "abort" => "aborts",
        "hang" => "does_not_end",
        "stack-overflow" => "overflows_the_stack",
        "out-of-memory" => "runs_out_of_memory",
        "memory" => "breaks_memory_safety",
        "leak" => "leaks",
        "contract:requires" => "breaks_a_precondition",
        "contract:ensures" => "breaks_its_postcondition",
        "contract:invariant" => "breaks_the_invariant",
        _ => "panics",
    };
    let of = callee(operation_path);
    let name = &of.name;
    let owner = of.owner.as_deref().map(snake).or(of.module);
    if let Some(law) = law::of_class(class) {
        let of_trait = Some(law.blames.0).filter(|name| !name.is_empty()).map(snake);
        let about = owner.into_iter().chain(of_trait).chain([law.title.to_owned()]);
        return about.collect::<Vec<_>>().join("_");
    }
    if class.starts_with("law:") {
        return owner.map_or_else(|| format!("keeps_{name}"), |owner| format!("{owner}_keeps_{name}"));
    }
    // An assertion may as well demand that something is empty.
    let is_empty = !message.starts_with("assertion")
        && message.split(|c: char| !c.is_alphanumeric()).any(|word| word == "empty");
    match owner {
        Some(owner) if is_empty && does == "panics" => format!("{name}_on_empty_{owner}_{does}"),
        Some(owner) if owner != *name => format!("{owner}_{name}_{does}"),
        _ => format!("{name}_{does}"),
    }
}

/// A test's module and name within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    pub module: String,
    /// The best name first; all are good.
    pub names: Vec<String>,
}

impl Title {
    /// The first name that is still free in the module, numbered if none is.
    pub fn choose(&self, taken: &mut HashSet<String>) -> String {
        let in_module = |name: &str| format!("{}::{name}", self.module);
        for name in &self.names {
            if taken.insert(in_module(name)) {
                return name.clone();
            }
        }
        let base = self.names.last().map_or("works", String::as_str);
        let mut number = 2;
        loop {
            // `len_returns_2` must not look like the second test of `len_returns`.
            let name = format!("{base}_case_{number}");
            if taken.insert(in_module(&name)) {
                return name;
            }
            number += 1;
        }
    }
}

/// What a test is called.
pub fn title(operations: &Operations, test: &RegressionTest) -> Title {
    let RegressionTest { sequence, pins, .. } = test;
    let panics = test.panics.is_some();
    let mut calls = calls(operations, sequence);
    let observers =
        calls.split_off(calls.partition_point(|call| test.about.is_none_or(|about| call.step <= about)));
    let Some(last) = calls.last() else {
        return Title { module: "functions".to_owned(), names: vec!["works".to_owned()] };
    };
    let told = made(pins, last.step);
    let outcome = if panics {
        Some("panics".to_owned())
    } else {
        told.and_then(|text| outcome(operations.ty(last.operation.result), text, last.operation))
            // What the call gave says more than what it left.
            .or_else(|| {
                told.is_none()
                    .then(|| observers.iter().find_map(|call| leaves(call, made(pins, call.step)?)))?
            })
    };
    let name = &last.callee.name;
    let before = context(&calls);
    let mut names = Vec::new();
    names.extend(told.filter(|_| name == "fmt").and_then(|text| printed(&last.operation.path, text)));
    if let Some(outcome) = &outcome {
        let plain = format!("{name}_{outcome}");
        let in_context = before.iter().map(|before| format!("{name}_{before}_{outcome}"));
        if outcome.starts_with("of_") {
            names.push(plain);
            names.extend(in_context);
        } else {
            names.extend(in_context);
            names.push(plain);
        }
        names.extend(given(sequence, last.step).map(|given| format!("{name}_of_{given}_{outcome}")));
    }
    if !panics {
        let earlier = earlier(&calls);
        names.extend(earlier.first().map(|earlier| format!("{earlier}_then_{name}")));
        names.extend(before.iter().map(|before| format!("{name}_{before}")));
        names.extend(given(sequence, last.step).map(|given| format!("{name}_of_{given}")));
        if names.is_empty() {
            names.push(works(last));
        }
    }
    names.retain(|name| name.len() <= LONGEST);
    if names.is_empty() {
        let end = if panics { "panics" } else { "works" };
        let room: String = name.chars().take(LONGEST - 12).collect();
        names.push(format!("{room}_{end}"));
    }
    for name in &mut names {
        if is_keyword(name) {
            name.push_str("_works");
        }
    }
    Title { module: module(&last.callee), names }
}

/// The text of what a step made.
fn made(pins: &[Pin], step: usize) -> Option<&str> {
    pins.iter().rfind(|pin| !pin.left && pin.value.0 as usize == step).map(|pin| pin.text.as_str())
}

/// `leaves_len_2`: what an observer says of the state that the call left.
fn leaves(observer: &Call<'_>, text: &str) -> Option<String> {
    match (observer.callee.name.as_str(), text) {
        ("len", "0") | ("is_empty", "true") | (_, "[]") => Some("leaves_nothing".to_owned()),
        ("is_empty", "false") => Some("leaves_something".to_owned()),
        ("len", "1") => Some("leaves_1_item".to_owned()),
        ("len", _) => Some(format!("leaves_{text}_items")),
        _ => None,
    }
}

struct Call<'a> {
    step: usize,
    operation: &'a Operation,
    callee: Callee,
    /// Whether the first parameter is the object.
    has_receiver: bool,
}

impl Call<'_> {
    /// Constructors say little about what a test does.
    fn makes(&self) -> bool {
        !self.has_receiver
    }

    /// Whether later calls may see that this one was made.
    fn changes(&self) -> bool {
        self.has_receiver && self.operation.params.first().is_some_and(|param| param.take != Take::Shared)
    }
}

/// The calls into the crate under test; all calls if there are none.
fn calls<'a>(operations: &'a Operations, sequence: &Sequence) -> Vec<Call<'a>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    for (step, what) in sequence.steps.iter().enumerate() {
        let Step::Call { op, .. } = what else { continue };
        let operation = operations.get(*op);
        let first = operation.params.first();
        let callee = callee(&operation.path);
        let is_owner = |id: TypeId| match operations.ty(id) {
            Ty::Adt { path, .. } => callee.owner.as_deref() == Some(last_segment(path)),
            _ => false,
        };
        let has_receiver = operation.form.preferred().starts_with("{self}")
            || first.is_some_and(|param| param.name == "self" || is_owner(param.ty));
        calls.push(Call { step, operation, callee, has_receiver });
    }
    if calls.iter().any(|call| call.operation.is_subject()) {
        calls.retain(|call| call.operation.is_subject());
    }
    calls
}

/// The names of the calls before the last one that may have changed something, the latest first.
fn earlier<'c>(calls: &'c [Call<'_>]) -> Vec<&'c str> {
    let Some((last, before)) = calls.split_last() else { return Vec::new() };
    let mut names = Vec::new();
    for call in before.iter().rev().filter(|call| call.changes()) {
        let name = call.callee.name.as_str();
        if !names.contains(&name) && name != last.callee.name {
            names.push(name);
        }
    }
    names
}

/// `after_insert`, `on_new_stack`.
fn context(calls: &[Call<'_>]) -> Vec<String> {
    let Some((last, before)) = calls.split_last() else { return Vec::new() };
    let mut all = Vec::new();
    let is_again = before.iter().any(|call| call.callee == last.callee && call.changes());
    let fresh = ["new", "default"];
    let made = before.iter().rev().find(|call| call.makes() && call.callee.owner == last.callee.owner);
    match (earlier(calls).as_slice(), made) {
        ([], _) if is_again => all.push("again".to_owned()),
        ([], Some(made)) if last.has_receiver => {
            let owner = last.callee.owner.as_deref().map(snake).unwrap_or_default();
            if fresh.contains(&made.callee.name.as_str()) {
                all.push(format!("on_new_{owner}"));
            } else if made.callee.name != owner {
                all.push(format!("after_{}", made.callee.name));
            }
        }
        ([one], _) => all.push(format!("after_{one}")),
        ([one, two, ..], _) => {
            all.push(format!("after_{one}"));
            all.push(format!("after_{two}_and_{one}"));
        }
        _ => {}
    }
    all
}

/// How the call ended, in words, where there are short ones.
fn outcome(ty: &Ty, text: &str, operation: &Operation) -> Option<String> {
    let returns = |word: &str| Some(format!("returns_{word}"));
    match ty {
        Ty::Prim(Prim::Bool) => returns(text),
        Ty::Prim(Prim::Char) => None,
        Ty::Prim(prim) if prim.is_float() => None,
        Ty::Prim(_) if text.len() <= 6 => returns(&text.replace('-', "minus_")),
        Ty::Ref { to, .. } if !matches!(**to, Ty::Str | Ty::Slice(_)) => outcome(to, text, operation),
        Ty::Adt { path, .. } if path == "std::option::Option" => {
            let key = operation.params.get(1).map(|param| snake(&param.name));
            match (text, key) {
                ("None", Some(key)) if matches!(key.as_str(), "key" | "index" | "id" | "name") => {
                    Some(format!("of_missing_{key}_is_none"))
                }
                ("None", _) => Some("is_none".to_owned()),
                _ => Some("is_some".to_owned()),
            }
        }
        Ty::Adt { path, .. } if path == "std::result::Result" => {
            Some(if text.starts_with("Ok(") { "succeeds" } else { "fails" }.to_owned())
        }
        _ if matches!(text, "\"\"" | "[]" | "{}") => Some("is_empty".to_owned()),
        Ty::Adt { path, .. } if is_identifier(text) && text.len() <= 20 && last_segment(path) != text => {
            returns(&snake(text))
        }
        _ => None,
    }
}

/// `displays_an_index_is_vacant`: what an implementation of a formatting trait printed.
fn printed(path: &str, text: &str) -> Option<String> {
    let does = if path.contains(" as Display>") {
        "displays"
    } else if path.contains(" as Debug>") {
        "debug_prints"
    } else {
        "prints"
    };
    Some(format!("{does}_{}", some_words(text)?))
}

/// The first number or text that is written out as an argument of the step.
fn given(sequence: &Sequence, step: usize) -> Option<String> {
    let Step::Call { args, .. } = sequence.steps.get(step)? else { return None };
    args.iter().find_map(|arg| match sequence.steps.get(arg.value.0 as usize)? {
        Step::Literal { value: Literal::Int(value), .. } if value.unsigned_abs() < 1_000_000 => {
            Some(value.to_string().replace('-', "minus_"))
        }
        Step::Literal { value: Literal::Str(text), .. } if text.is_empty() => Some("nothing".to_owned()),
        Step::Literal { value: Literal::Str(text), .. } => some_words(text),
        _ => None,
    })
}

/// The first words of a text as part of a name; `None` if there are none, or one that is too long.
fn some_words(text: &str) -> Option<String> {
    const ROOM: usize = 32;
    let mut words = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if words.len() + word.len() > ROOM {
            break;
        }
        if !words.is_empty() {
            words.push('_');
        }
        words.push_str(&word.to_ascii_lowercase());
    }
    Some(words).filter(|words| !words.is_empty())
}

fn works(call: &Call<'_>) -> String {
    match (&call.callee.owner, call.has_receiver) {
        (Some(owner), false) if snake(owner) != call.callee.name => {
            format!("{}_makes_{}", call.callee.name, snake(owner))
        }
        _ => format!("{}_works", call.callee.name),
    }
}

fn module(callee: &Callee) -> String {
    let name = match (&callee.owner, &callee.module) {
        (Some(owner), _) => snake(owner),
        (None, Some(module)) => module.clone(),
        (None, None) => "functions".to_owned(),
    };
    if is_keyword(&name) { format!("{name}_type") } else { name }
}

#[cfg(test)]
mod tests {
    use super::{finding_name, printed, some_words};

    #[test]
    fn texts_become_parts_of_names() {
        assert_eq!(some_words("https://example.org/a?b"), Some("https_example_org_a_b".to_owned()));
        assert_eq!(
            some_words("an index, which is vacant, cannot be used"),
            Some("an_index_which_is_vacant_cannot".to_owned())
        );
        assert_eq!(some_words("«»"), None);
        let display = "<GetDisjointMutError as Display>::fmt";
        assert_eq!(
            printed(display, "\"an index is vacant\""),
            Some("displays_an_index_is_vacant".to_owned())
        );
    }

    #[test]
    fn broken_laws_are_named_by_what_should_hold() {
        let name = |path: &str, class: &str| finding_name(path, class, "");
        assert_eq!(name("<Seq as Ord>::cmp", "law:Ord.antisymmetric"), "seq_ord_is_antisymmetric");
        assert_eq!(name("Slab::fits", "law:Slab.fits"), "slab_keeps_fits");
        assert_eq!(name("BitSet::is_empty", "law:len.is_empty"), "bit_set_is_empty_if_its_len_is_0");
    }

    #[test]
    fn findings_are_named_by_type_call_and_end() {
        for (path, class, message, expected) in [
            ("BoundedStack::push", "overflow", "attempt to add", "bounded_stack_push_overflows"),
            ("Stack::pop", "panic", "the stack is empty", "pop_on_empty_stack_panics"),
            ("<Stack as Index>::index", "index", "index out of bounds", "stack_index_goes_out_of_bounds"),
            ("rogue::memory::leak", "leak", "", "memory_leak_leaks"),
            ("rogue::spin", "hang", "", "spin_does_not_end"),
            ("rogue::exit", "abort", "the process was made to exit with status 1", "exit_exits"),
            ("rogue::abort", "abort", "abort", "abort_aborts"),
        ] {
            assert_eq!(finding_name(path, class, message), expected);
        }
    }
}
