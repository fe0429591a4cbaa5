//! The statements of a test, from a sequence.
//!
//! The program must do what the worker did, in the same order: a call is a statement, its result a variable that lives to the
//! end of the scope if it has a destructor. Literals, and containers written out of literals, are put where they are used, and
//! calls whose plain result is only asserted stand in the assertion.

use testwright_model::contract::Clause;
use testwright_model::operation::{Operation, Operations, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Literal, Ty};

use crate::contract::Broken;
use crate::literal::{self, Placing};
use crate::names::Names;
use crate::pin::{Check, Pin, check, quoted};

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
    pub assertions: usize,
}

/// Prints the statements. With `observe`, each variable and result with a `Debug` text is handed to `observe!(step, &value)`.
pub fn body(operations: &Operations, sequence: &Sequence, observe: bool) -> Printed {
    let mut printer = Printer::new(operations, sequence);
    printer.observe = observe;
    printer.print()
}

/// Prints the statements with texts and byte strings in other places: in a program's constants, a sanitizer does not see their
/// ends, and their alignment is left to chance. A contract that is broken stands around its call.
pub fn body_placing(
    operations: &Operations,
    sequence: &Sequence,
    placing: Placing,
    broken: Option<Broken<'_>>,
) -> Printed {
    let mut printer = Printer::new(operations, sequence);
    printer.placing = placing;
    printer.broken = broken;
    printer.print()
}

/// Prints the statements with an assertion after each pinned value. If the test `panics`, its last call gives no value.
pub(crate) fn pinned(operations: &Operations, sequence: &Sequence, pins: &[Pin], panics: bool) -> Printed {
    let mut printer = Printer::new(operations, sequence);
    for pin in pins {
        let at = pin.value.0 as usize;
        let check = type_of(operations, sequence, pin.value).and_then(|ty| check(operations, ty, &pin.text));
        if pin.left {
            // Whoever looks at the end needs a variable.
            printer.uses[at].push((sequence.len() - 1, None));
            printer.left.extend(check.map(|check| (pin.value, check)));
        } else if matches!(sequence.steps.get(at), Some(Step::Call { .. })) {
            printer.checks[at] = check;
        }
    }
    if panics {
        printer.ends_at = sequence.steps.iter().rposition(|step| matches!(step, Step::Call { .. }));
    }
    printer.print()
}

pub(crate) struct Printer<'a> {
    pub operations: &'a Operations,
    pub sequence: &'a Sequence,
    /// For each value, the steps and argument positions that use it.
    pub uses: Vec<Vec<(usize, Option<usize>)>>,
    pub names: Names,
    /// What stands for a value: its variable, or the expression itself if it is written in place.
    pub text: Vec<Option<Text>>,
    pub out: Printed,
    pub observe: bool,
    placing: Placing,
    checks: Vec<Option<Check>>,
    /// What is asserted behind the last step.
    left: Vec<(ValueId, Check)>,
    /// The call that panics.
    ends_at: Option<usize>,
    pub broken: Option<Broken<'a>>,
    /// The call whose result a contract speaks of.
    told: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Text {
    Variable(String),
    /// Written where it is used; the second form needs no context for its type.
    Inline {
        plain: String,
        typed: String,
    },
}

/// Who uses each value. The end of a value without destructor is no use: nothing happens there.
fn uses(operations: &Operations, sequence: &Sequence) -> Vec<Vec<(usize, Option<usize>)>> {
    let mut uses = vec![Vec::new(); sequence.len()];
    for (step, what) in sequence.steps.iter().enumerate() {
        match what {
            Step::Call { args, .. } => {
                for (position, arg) in args.iter().enumerate() {
                    uses[arg.value.0 as usize].push((step, Some(position)));
                }
            }
            Step::Drop(value) | Step::Forget(value) if !needs_drop(operations, sequence, *value) => {}
            other => {
                for value in other.uses() {
                    uses[value.0 as usize].push((step, None));
                }
            }
        }
    }
    uses
}

fn type_of(operations: &Operations, sequence: &Sequence, value: ValueId) -> Option<TypeId> {
    match sequence.steps.get(value.0 as usize)? {
        Step::Literal { ty, .. } => Some(*ty),
        Step::Call { op, .. } => Some(operations.get(*op).result),
        _ => None,
    }
}

fn needs_drop(operations: &Operations, sequence: &Sequence, value: ValueId) -> bool {
    type_of(operations, sequence, value).is_some_and(|id| operations.abilities(id).needs_drop)
}

impl<'a> Printer<'a> {
    fn new(operations: &'a Operations, sequence: &'a Sequence) -> Self {
        let none = || vec![None; sequence.len()];
        Printer {
            operations,
            sequence,
            uses: uses(operations, sequence),
            names: Names::default(),
            text: vec![None; sequence.len()],
            out: Printed {
                body: String::new(),
                traits: Vec::new(),
                uses_tracked: false,
                lines: vec![None; sequence.len()],
                variables: none(),
                assertions: 0,
            },
            observe: false,
            placing: Placing::Constant,
            checks: vec![None; sequence.len()],
            left: Vec::new(),
            ends_at: None,
            broken: None,
            told: None,
        }
    }

    fn print(mut self) -> Printed {
        self.keep_clear();
        for index in 0..self.sequence.len() {
            self.step(index);
        }
        for (value, check) in std::mem::take(&mut self.left) {
            if let Some(text) = assertion(&check, &self.variable(value), true) {
                self.out.assertions += 1;
                self.out.body.push_str(&format!("{text}\n"));
            }
        }
        self.out.uses_tracked = self.out.body.contains("testwright::Tracked");
        self.out.traits.sort();
        self.out.traits.dedup();
        self.out
    }

    fn step(&mut self, index: usize) {
        match &self.sequence.steps[index] {
            Step::Literal { ty, value } => {
                let ty = self.operations.ty(*ty).clone();
                if self.place_apart(index, &ty, value) {
                    return;
                }
                let plain = literal::text(&ty, value, false);
                let typed = literal::text(&ty, value, true);
                if self.may_inline_literal(index) {
                    self.text[index] = Some(Text::Inline { plain, typed });
                } else if !self.uses[index].is_empty() {
                    let name = self.names.of_literal(&ty, self.taken_as(index).as_deref());
                    let mutable = if self.is_mutated(index) { "mut " } else { "" };
                    self.line(index, &format!("let {mutable}{name} = {typed};"));
                    self.bind(index, name);
                }
            }
            Step::Call { op, args } => {
                let operation = self.operations.get(*op).clone();
                let clauses = self.broken_clauses(index, &operation);
                let olds: Vec<_> =
                    clauses.iter().map(|clause| self.keep_olds(clause, &operation, args)).collect();
                self.told = clauses.iter().any(Clause::uses_result).then_some(index);
                let expression = self.call(&operation, args);
                self.result(index, &operation, &expression);
                for (clause, olds) in clauses.iter().zip(&olds) {
                    self.assert_clause(clause, index, &operation, args, olds);
                }
            }
            Step::Drop(value) | Step::Forget(value) => {
                if !needs_drop(self.operations, self.sequence, *value) {
                    return;
                }
                let text = self.variable(*value);
                let is_drop = matches!(self.sequence.steps[index], Step::Drop(_));
                let function = if is_drop { "drop" } else { "std::mem::forget" };
                self.line(index, &format!("{function}({text});"));
            }
            Step::Closure(_) => self.line(index, "compile_error!(\"closures are not printed yet\");"),
        }
    }

    /// Gives a text or byte string an owner of its own, if that is asked for and nobody needs it for ever.
    fn place_apart(&mut self, index: usize, ty: &Ty, value: &Literal) -> bool {
        let for_ever =
            self.uses[index].iter().any(|(step, position)| match (&self.sequence.steps[*step], position) {
                (Step::Call { op, .. }, Some(position)) => {
                    self.operations.get(*op).params[*position].needs_static
                }
                _ => false,
            });
        if for_ever || self.uses[index].is_empty() || self.placing.owner(ty, value, "").is_none() {
            return false;
        }
        let name = self.names.of_literal(ty, self.taken_as(index).as_deref());
        let Some((owner, passed)) = self.placing.owner(ty, value, &name) else { return false };
        self.line(index, &format!("let {name} = {owner};"));
        self.text[index] = Some(Text::Inline { plain: passed.clone(), typed: passed });
        true
    }

    fn result(&mut self, index: usize, operation: &Operation, expression: &str) {
        let ty = self.operations.ty(operation.result).clone();
        let abilities = self.operations.abilities(operation.result);
        let told_of = self.told == Some(index);
        let used = !self.uses[index].is_empty() || told_of;
        if self.ends_at == Some(index) {
            let ignored = if ty.is_unit() || ty == Ty::Never { "" } else { "let _ = " };
            return self.line(index, &format!("{ignored}{expression};"));
        }
        // What is unwrapped need not be looked at before.
        let told = matches!(self.checks[index], None | Some(Check::Unwraps(_) | Check::Reads(_)));
        let chains = told && !binds_loosely(expression) && self.may_chain(index, operation);
        if used && !told_of && (chains || self.may_inline_call(index, operation)) {
            let typed = expression.to_owned();
            self.text[index] = Some(Text::Inline { plain: expression.to_owned(), typed });
            return;
        }
        if !self.observe && (ty.is_unit() || ty == Ty::Never) {
            return self.unit(index, operation, expression);
        }
        let observed = self.observe && abilities.debug;
        let check = self.checks[index].take();
        if let Some(check) = &check {
            let alone = !used && (check.is_plain() || !abilities.needs_drop);
            if alone && self.assert_call(index, check, expression) {
                return;
            }
        }
        if !(used || abilities.needs_drop || observed || check.is_some()) {
            return self.line(index, &format!("let _ = {expression};"));
        }
        let mut name = self.names.of_result(operation, &ty, self.taken_as(index).as_deref());
        if !(used || observed || check.is_some()) {
            name.insert(0, '_');
        }
        let mutable = if self.is_mutated(index) { "mut " } else { "" };
        self.line(index, &format!("let {mutable}{name} = {expression};"));
        self.bind(index, name.clone());
        if observed {
            let text = format!("observe!({index}, &{name});\n");
            self.out.body.push_str(&text);
        }
        if let Some(check) = &check {
            if let Some(text) = assertion(check, &name, used) {
                self.out.assertions += 1;
                self.out.body.push_str(&format!("{text}\n"));
            }
        }
    }

    /// A unit needs no variable: whoever takes it gets `()`.
    fn unit(&mut self, index: usize, operation: &Operation, expression: &str) {
        if expression != "()" {
            // A block or an `if` is a statement by itself.
            let end = if operation.law().is_some() && expression.ends_with('}') { "" } else { ";" };
            self.line(index, &format!("{expression}{end}"));
        }
        if self.uses[index].is_empty() {
            return;
        }
        if self.may_inline_literal(index) {
            self.text[index] = Some(Text::Inline { plain: "()".to_owned(), typed: "()".to_owned() });
        } else {
            let ty = Ty::unit();
            let name = self.names.of_result(operation, &ty, self.taken_as(index).as_deref());
            let mutable = if self.is_mutated(index) { "mut " } else { "" };
            self.out.body.push_str(&format!("let {mutable}{name} = ();\n"));
            self.bind(index, name);
        }
    }

    /// The call inside its assertion, if it can stand there.
    fn assert_call(&mut self, index: usize, check: &Check, expression: &str) -> bool {
        let text = assertion(check, expression, false);
        if let Some(text) = &text {
            self.out.assertions += 1;
            self.line(index, text);
        }
        text.is_some()
    }

    /// What the value's users call it: the name of the first parameter that takes it.
    fn taken_as(&self, index: usize) -> Option<String> {
        self.uses[index].iter().find_map(|(step, position)| match (&self.sequence.steps[*step], position) {
            (Step::Call { op, .. }, Some(position)) => {
                Some(self.operations.get(*op).params[*position].name.clone())
            }
            _ => None,
        })
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

    pub fn variable(&self, value: ValueId) -> String {
        match &self.text[value.0 as usize] {
            Some(Text::Variable(name)) => name.clone(),
            Some(Text::Inline { typed, .. }) => typed.clone(),
            None => "()".to_owned(),
        }
    }

    pub fn ty(&self, value: ValueId) -> Option<&Ty> {
        type_of(self.operations, self.sequence, value).map(|id| self.operations.ty(id))
    }

    fn is_mutated(&self, index: usize) -> bool {
        self.uses[index].iter().any(|(step, position)| match (&self.sequence.steps[*step], position) {
            (Step::Call { args, .. }, Some(position)) => {
                matches!(args.get(*position), Some(Arg { how: How::RefMut, .. }))
            }
            _ => false,
        })
    }
}

/// The statement that asserts it; none if the expression cannot stand there. `kept` values must survive.
fn assertion(check: &Check, expression: &str, kept: bool) -> Option<String> {
    let bound = binds_loosely(expression);
    let called = if bound { format!("({expression})") } else { expression.to_owned() };
    Some(match check {
        Check::True => format!("assert!({expression});"),
        // `!(a == b)` and `!a.is_some()` ask to be written as another call.
        Check::False if bound || has_opposite(expression) => return None,
        Check::False => format!("assert!(!{expression});"),
        Check::IsNan => format!("assert!({called}.is_nan());"),
        Check::IsEmpty => format!("assert!({called}.is_empty());"),
        Check::IsNone => format!("assert!({called}.is_none());"),
        Check::Equals(source) => match (expression.strip_prefix('&'), source.strip_prefix('&')) {
            (Some(place), Some(source)) if !binds_loosely(place) && !source.starts_with("mut ") => {
                format!("assert_eq!({place}, {source});")
            }
            _ => format!("assert_eq!({expression}, {source});"),
        },
        Check::Unwraps(_) if kept => format!("assert!({called}.is_ok());"),
        Check::Unwraps(None) => format!("{called}.unwrap();"),
        Check::Unwraps(Some(source)) => format!("assert_eq!({called}.unwrap(), {source});"),
        Check::Reads(text) => {
            let text = quoted(text);
            if crate::words::is_identifier(expression) {
                format!("assert_eq!(format!(\"{{{expression}:?}}\"), {text});")
            } else {
                format!("assert_eq!(format!(\"{{:?}}\", {expression}), {text});")
            }
        }
    })
}

fn has_opposite(expression: &str) -> bool {
    [".is_some()", ".is_none()", ".is_ok()", ".is_err()"].iter().any(|call| expression.ends_with(call))
}

/// Whether a method call or `!` before or after the expression would take only a part of it.
fn binds_loosely(expression: &str) -> bool {
    let mut depth = 0_i32;
    let mut chars = expression.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), _) if c == open => quote = None,
            (None, '"') => quote = Some('"'),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}' | '>') => depth -= 1,
            (None, ' ') if depth <= 0 => return true,
            _ => {}
        }
    }
    expression.starts_with(['&', '*', '-', '!'])
}
