//! How a call and its arguments are written: as values, as places, or in place of a variable.

use testwright_model::operation::{Hole, Operation, Origin, Take, fill};
use testwright_model::sequence::{Arg, How, Step, ValueId};
use testwright_model::{Prim, Ty};

use crate::body::{Printer, Text};
use crate::words::{callee, is_identifier};

impl Printer<'_> {
    pub fn call(&mut self, operation: &Operation, args: &[Arg]) -> String {
        let form = self.form(operation, args);
        if form == operation.form.preferred() && form != operation.form.full {
            self.out.traits.extend(operation.form.traits.iter().cloned());
        }
        let form = self.with_shorthands(form, operation, args);
        if let Some(text) = self.inlined_format(&form, args) {
            return text;
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
                if let Some(bytes) = as_array(&text, after) {
                    bytes.to_owned()
                } else if text.starts_with(['-', '*', '&']) || text.contains(" as ") {
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

    /// `a == a` looks like a slip, and clippy takes it for one: it is written as the call that it is. So is a trait's
    /// method that a type's own of the same name would hide.
    fn form(&self, operation: &Operation, args: &[Arg]) -> String {
        let form = operation.form.preferred();
        if self.is_hidden(operation) && !operation.form.full.is_empty() {
            return operation.form.full.clone();
        }
        let same = match args {
            [left, right] => self.variable(left.value) == self.variable(right.value),
            _ => false,
        };
        let assigns = form.contains("= {") && !form.contains("== {") && !form.contains("!= {");
        if same && is_operator(form) && !assigns { &operation.form.full } else { form }.to_owned()
    }

    /// Numbers have own methods for nearly everything; of other types, the operations tell.
    fn is_hidden(&self, operation: &Operation) -> bool {
        let callee = callee(&operation.path);
        let Some(owner) = callee.owner.filter(|_| !operation.form.traits.is_empty()) else { return false };
        let own = format!("{owner}::{}", callee.name);
        Prim::from_name(&owner).is_some() || self.operations.operations.iter().any(|other| other.path == own)
    }

    /// `Point { x: x }` is `Point { x }`, and `(items).into_iter()` needs no parentheses.
    fn with_shorthands(&self, mut form: String, operation: &Operation, args: &[Arg]) -> String {
        for (index, (param, arg)) in operation.params.iter().zip(args).enumerate() {
            let field = format!(" {}: {{{index}}}", param.name);
            if form.contains(&field) && self.argument(operation, index, *arg, false) == param.name {
                form = form.replace(&field, &format!(" {{{index}}}"));
            }
        }
        match (form.strip_prefix("({0})."), args.first()) {
            (Some(rest), Some(arg)) if is_identifier(&self.argument(operation, 0, *arg, true)) => {
                format!("{{0}}.{rest}")
            }
            _ => match form.split_once(" as &(dyn ") {
                // The parentheses are for more than one bound.
                Some((value, object)) if !object.contains('+') => {
                    format!("{value} as &dyn {}", object.trim_end_matches(')'))
                }
                _ => form,
            },
        }
    }

    /// `format!("{:x}", number)` as `format!("{number:x}")`.
    fn inlined_format(&self, form: &str, args: &[Arg]) -> Option<String> {
        let (specification, rest) = form.strip_prefix("format!(\"{")?.split_once("}\", ")?;
        let name = self.variable(args.first()?.value);
        let whole = matches!(rest, "{0})" | "{*0})");
        if whole && is_identifier(&name) {
            Some(format!("format!(\"{{{name}{specification}}}\")"))
        } else {
            None
        }
    }

    /// The argument as the parameter's type takes it.
    pub fn argument(&self, operation: &Operation, index: usize, arg: Arg, is_receiver: bool) -> String {
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
    pub fn place(&self, arg: Arg, is_receiver: bool) -> String {
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

    /// A literal can stand where it is used, unless something mutates it or borrows it for longer than the statement.
    pub fn may_inline_literal(&self, index: usize) -> bool {
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

    /// A call whose result is unwrapped at once and not looked at otherwise: `Url::parse("a:").unwrap()`.
    pub fn may_chain(&self, index: usize, operation: &Operation) -> bool {
        let [(step, Some(0))] = self.uses[index].as_slice() else { return false };
        let Step::Call { op, args } = &self.sequence.steps[*step] else { return false };
        let at_once =
            self.sequence.steps[index + 1..*step].iter().all(|step| matches!(step, Step::Literal { .. }));
        matches!(self.operations.get(*op).path.as_str(), "Option::unwrap" | "Result::unwrap")
            && args[0].how == How::Move
            && at_once
            && !(self.observe && self.operations.abilities(operation.result).debug)
    }

    /// Tuples, arrays, strings and the like made of inline things, used once by value in the very next step that is a statement.
    pub fn may_inline_call(&self, index: usize, operation: &Operation) -> bool {
        let simple = match operation.origin {
            Origin::Subject(_) | Origin::Law(_) => false,
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
}

/// `&` binds tighter than what may stand in an inline expression.
fn guarded(text: &str) -> String {
    if text.contains(" as ") || text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

/// `b"ab"` where `&b"ab"[..]` stands before a method that slices have and arrays have not, so that they lend it.
fn as_array<'t>(text: &'t str, after: &str) -> Option<&'t str> {
    const METHODS: [&str; 6] = ["to_vec", "iter", "first", "last", "starts_with", "ends_with"];
    let method = after.strip_prefix('.')?.split('(').next()?;
    let bytes = text.strip_prefix('&')?.strip_suffix("[..]")?;
    (bytes.starts_with("b\"") && METHODS.contains(&method)).then_some(bytes)
}

fn is_operator(form: &str) -> bool {
    form.starts_with("{0} ") || form.starts_with("{*0} ") || form == "-{0}" || form == "!{0}"
}

#[cfg(test)]
mod tests {
    use super::as_array;

    #[test]
    fn byte_strings_need_no_slice_before_methods_of_slices() {
        assert_eq!(as_array("&b\"ab\"[..]", ".to_vec()"), Some("b\"ab\""));
        assert_eq!(as_array("&b\"ab\"[..]", ".to_owned()"), None, "of an array, that is an array");
        assert_eq!(as_array("&items[..]", ".to_vec()"), None);
    }
}
