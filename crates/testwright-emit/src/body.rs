//! The statements of a test, from a sequence.
//!
//! The program must do what the worker did, in the same order: a call is a statement, its result a variable that lives to the
//! end of the scope if it has a destructor. Literals, and containers written out of literals, are put where they are used.

use testwright_model::Ty;
use testwright_model::operation::{Hole, Operation, Operations, Origin, Take, fill};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};

use crate::literal;
use crate::names::Names;

/// A printed sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Statements, one a line, with full paths.
    pub body: String,
    /// Traits that must be in scope.
    pub traits: Vec<String>,
    pub uses_tracked: bool,
    /// For each step, the line of the body that carries it out.
    pub lines: Vec<Option<u32>>,
    /// For each step, the variable that holds its value.
    pub variables: Vec<Option<String>>,
}

/// Prints the statements. With `observe`, each variable and result with a `Debug` text is handed to `observe!(step, &value)`.
pub fn body(operations: &Operations, sequence: &Sequence, observe: bool) -> Printed {
    let mut printer = Printer {
        operations,
        sequence,
        uses: uses(sequence),
        names: Names::default(),
        text: vec![None; sequence.len()],
        out: Printed {
            body: String::new(),
            traits: Vec::new(),
            uses_tracked: false,
            lines: vec![None; sequence.len()],
            variables: vec![None; sequence.len()],
        },
        observe,
    };
    for index in 0..sequence.len() {
        printer.step(index);
    }
    printer.out.uses_tracked = printer.out.body.contains("testwright::Tracked");
    printer.out.traits.sort();
    printer.out.traits.dedup();
    printer.out
}

struct Printer<'a> {
    operations: &'a Operations,
    sequence: &'a Sequence,
    /// For each value, the steps and argument positions that use it.
    uses: Vec<Vec<(usize, Option<usize>)>>,
    names: Names,
    /// What stands for a value: its variable, or the expression itself if it is written in place.
    text: Vec<Option<Text>>,
    out: Printed,
    observe: bool,
}

#[derive(Clone, Debug)]
enum Text {
    Variable(String),
    /// Written where it is used; the second form needs no context for its type.
    Inline {
        plain: String,
        typed: String,
    },
}

fn uses(sequence: &Sequence) -> Vec<Vec<(usize, Option<usize>)>> {
    let mut uses = vec![Vec::new(); sequence.len()];
    for (step, what) in sequence.steps.iter().enumerate() {
        match what {
            Step::Call { args, .. } => {
                for (position, arg) in args.iter().enumerate() {
                    uses[arg.value.0 as usize].push((step, Some(position)));
                }
            }
            other => {
                for value in other.uses() {
                    uses[value.0 as usize].push((step, None));
                }
            }
        }
    }
    uses
}

impl Printer<'_> {
    fn step(&mut self, index: usize) {
        match &self.sequence.steps[index] {
            Step::Literal { ty, value } => {
                let ty = self.operations.ty(*ty).clone();
                let plain = literal::text(&ty, value, false);
                let typed = literal::text(&ty, value, true);
                if self.may_inline_literal(index) {
                    self.text[index] = Some(Text::Inline { plain, typed });
                } else {
                    let name = self.names.of_literal(&ty);
                    let mutable = if self.is_mutated(index) { "mut " } else { "" };
                    self.line(index, &format!("let {mutable}{name} = {typed};"));
                    self.bind(index, name);
                }
            }
            Step::Call { op, args } => {
                let operation = self.operations.get(*op).clone();
                let expression = self.call(&operation, args);
                self.result(index, &operation, &expression);
            }
            Step::Drop(value) => {
                let text = self.variable(*value);
                self.line(index, &format!("drop({text});"));
            }
            Step::Forget(value) => {
                let text = self.variable(*value);
                self.line(index, &format!("std::mem::forget({text});"));
            }
            Step::Closure(_) => self.line(index, "compile_error!(\"closures are not printed yet\");"),
        }
    }

    fn result(&mut self, index: usize, operation: &Operation, expression: &str) {
        let ty = self.operations.ty(operation.result).clone();
        let abilities = self.operations.abilities(operation.result);
        let used = !self.uses[index].is_empty();
        if used && self.may_inline_call(index, operation) {
            let typed = expression.to_owned();
            self.text[index] = Some(Text::Inline { plain: expression.to_owned(), typed });
            return;
        }
        if !used && ty.is_unit() && !self.observe {
            return self.line(index, &format!("{expression};"));
        }
        let observed = self.observe && abilities.debug;
        if !(used || abilities.needs_drop || observed) {
            return self.line(index, &format!("let _ = {expression};"));
        }
        let mut name = self.names.of_result(operation, &ty);
        if !(used || observed) {
            name.insert(0, '_');
        }
        let mutable = if self.is_mutated(index) { "mut " } else { "" };
        self.line(index, &format!("let {mutable}{name} = {expression};"));
        self.bind(index, name.clone());
        if observed {
            let text = format!("observe!({index}, &{name});\n");
            self.out.body.push_str(&text);
        }
    }

    fn bind(&mut self, index: usize, name: String) {
        self.out.variables[index] = Some(name.clone());
        self.text[index] = Some(Text::Variable(name));
    }

    fn line(&mut self, index: usize, text: &str) {
        let line = u32::try_from(self.out.body.matches('\n').count()).unwrap_or(u32::MAX);
        self.out.lines[index] = Some(line);
        self.out.body.push_str(text);
        self.out.body.push('\n');
    }

    fn variable(&self, value: ValueId) -> String {
        match &self.text[value.0 as usize] {
            Some(Text::Variable(name)) => name.clone(),
            Some(Text::Inline { typed, .. }) => typed.clone(),
            None => "()".to_owned(),
        }
    }

    fn call(&mut self, operation: &Operation, args: &[Arg]) -> String {
        let form = operation.form.preferred().to_owned();
        if !operation.form.only_full && !operation.form.short.is_empty() {
            self.out.traits.extend(operation.form.traits.iter().cloned());
        }
        fill(&form, |hole, after| match hole {
            Hole::Value(index) => {
                let tight =
                    form.starts_with('-') || form.starts_with('!') || form.contains(&format!("{{{index}}}."));
                let text = self.argument(operation, index, args[index], form.starts_with("({0})"));
                let loose = text.starts_with('-') || text.starts_with('*') || text.starts_with('&');
                let binary = is_operator(&form) && (text.contains(' ') || text.starts_with('-'));
                if (tight && loose) || binary { format!("({text})") } else { text }
            }
            Hole::Receiver => {
                let text = self.place(args[0], true);
                if text.starts_with(['-', '*', '&']) || text.contains(" as ") {
                    format!("({text})")
                } else {
                    text
                }
            }
            Hole::Place(index) => {
                let text = self.place(args[index], false);
                let followed = after.starts_with('.') || after.starts_with('[');
                if (followed && text.starts_with(['*', '-', '&']))
                    || (is_operator(&form) && text.starts_with('&'))
                {
                    format!("({text})")
                } else {
                    text
                }
            }
        })
    }

    /// The argument as the parameter's type takes it.
    fn argument(&self, operation: &Operation, index: usize, arg: Arg, is_receiver: bool) -> String {
        let text = &self.text[arg.value.0 as usize];
        // A trait may be there for many types: only the literal's own form says which is meant.
        let of_trait = operation.path.starts_with('<') && !operation.form.preferred().contains("}[{");
        let open = operation.params[index].open || (is_receiver && index == 0) || of_trait;
        let plain = match text {
            Some(Text::Inline { plain, typed }) => {
                // `&b"…"` is a reference to an array's reference, not to a slice's.
                let bytes = arg.how == How::Ref && plain.starts_with("b\"");
                if open || bytes { typed.clone() } else { plain.clone() }
            }
            _ => self.variable(arg.value),
        };
        match arg.how {
            How::Move | How::Copy => plain,
            How::Ref => format!("&{}", guarded(&plain)),
            How::RefMut => format!("&mut {}", guarded(&plain)),
            How::Reborrow => {
                if self.is_shared_reference(arg.value) {
                    plain
                } else {
                    format!("&*{plain}")
                }
            }
            How::ReborrowMut => format!("&mut *{plain}"),
        }
    }

    /// The place that the argument is or refers to. Method calls find their way through references by themselves.
    fn place(&self, arg: Arg, is_receiver: bool) -> String {
        let text = self.variable(arg.value);
        let refers = match arg.how {
            How::Ref | How::RefMut => false,
            How::Reborrow | How::ReborrowMut => true,
            // A `&str` or `&[T]` that is passed as it is.
            How::Move | How::Copy => matches!(self.ty(arg.value), Some(Ty::Ref { .. })),
        };
        // `r.cmp(…)` with `r: &mut T` would find the method of `&mut T`.
        let through = arg.how == How::Reborrow && !self.is_shared_reference(arg.value);
        if refers && (!is_receiver || through) { format!("*{text}") } else { text }
    }

    fn is_shared_reference(&self, value: ValueId) -> bool {
        matches!(self.ty(value), Some(Ty::Ref { mutable: false, .. }))
    }

    fn ty(&self, value: ValueId) -> Option<&Ty> {
        match &self.sequence.steps[value.0 as usize] {
            Step::Literal { ty, .. } => Some(self.operations.ty(*ty)),
            Step::Call { op, .. } => Some(self.operations.ty(self.operations.get(*op).result)),
            _ => None,
        }
    }

    /// A literal can stand where it is used, unless something mutates it or borrows it for longer than the statement.
    fn may_inline_literal(&self, index: usize) -> bool {
        self.uses[index].iter().all(|(step, position)| match (&self.sequence.steps[*step], position) {
            (Step::Call { op, args }, Some(position)) => {
                let how = args[*position].how;
                match how {
                    How::Move | How::Copy => true,
                    // A borrow that outlives the statement needs a variable.
                    How::Ref => {
                        let operation = self.operations.get(*op);
                        let number = u8::try_from(*position).unwrap_or(u8::MAX);
                        operation.params[*position].take == Take::Shared
                            && !operation.flow.outer.contains(&number)
                            && !operation.flow.stores.iter().any(|(_, from)| *from == number)
                    }
                    How::Reborrow | How::RefMut | How::ReborrowMut => false,
                }
            }
            _ => false,
        }) && !self.uses[index].is_empty()
    }

    /// Tuples, arrays, strings and the like made of inline things, used once by value in the very next step that is a statement.
    fn may_inline_call(&self, index: usize, operation: &Operation) -> bool {
        let simple = match operation.origin {
            Origin::Subject(_) => false,
            Origin::Made => matches!(operation.path.as_str(), "(…)" | "[…]" | "Tracked::new"),
            Origin::Std => {
                matches!(
                    operation.path.as_str(),
                    "std::option::Option::Some"
                        | "std::option::Option::None"
                        | "std::result::Result::Ok"
                        | "std::result::Result::Err"
                        | "Vec::new"
                        | "String::new"
                        | "String::from"
                        | "<String as From>::from"
                ) || operation.form.full.starts_with("vec![")
            }
        };
        let [(step, Some(position))] = self.uses[index].as_slice() else { return false };
        let Step::Call { args, .. } = &self.sequence.steps[*step] else { return false };
        let Step::Call { args: own, .. } = &self.sequence.steps[index] else { return false };
        simple
            && matches!(args[*position].how, How::Move | How::Copy)
            && own.iter().all(|arg| matches!(self.text[arg.value.0 as usize], Some(Text::Inline { .. })))
            && !(self.observe && self.operations.abilities(operation.result).debug)
    }

    fn is_mutated(&self, index: usize) -> bool {
        self.uses[index].iter().any(|(step, position)| match (&self.sequence.steps[*step], position) {
            (Step::Call { args, .. }, Some(position)) => args[*position].how == How::RefMut,
            _ => false,
        })
    }
}

/// `&` binds tighter than what may stand in an inline expression.
fn guarded(text: &str) -> String {
    if text.contains(" as ") || text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

fn is_operator(form: &str) -> bool {
    form.starts_with("{0} ") || form.starts_with("{*0} ") || form == "-{0}" || form == "!{0}"
}
