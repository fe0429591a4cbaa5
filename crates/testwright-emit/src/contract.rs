//! A broken contract in the test that shows it: what is kept from before the call, and the assertion after it.

use testwright_model::contract::{As, Clause, Part, When, goes_on, quoted, write};
use testwright_model::operation::Operation;
use testwright_model::sequence::{Arg, How, Step};

use crate::body::{Printer, Text};

/// Assertions with more text than this take several lines.
const LONG: usize = 80;

/// The contract that a call of the sequence breaks.
#[derive(Clone, Copy, Debug)]
pub struct Broken<'a> {
    pub step: usize,
    pub says: &'a str,
}

/// The variable that holds what a contract calls the result, or a reference to what lies in it.
#[derive(Clone, Copy, Default)]
struct Told<'t> {
    name: &'t str,
    refers: bool,
}

/// The variables that stand for old values.
pub(crate) type Olds = Vec<String>;

impl Printer<'_> {
    /// The clauses that are to be printed with a step; one that speaks of several values may stand there several times.
    pub fn broken_clauses(&self, index: usize, operation: &Operation) -> Vec<Clause> {
        let Some(broken) = self.broken.filter(|broken| broken.step == index) else { return Vec::new() };
        let is_it = |clause: &&Clause| clause.when == When::After && clause.says == broken.says;
        operation.form.clauses.iter().filter(is_it).cloned().collect()
    }

    /// Names that the broken contract itself uses are not for variables of the test.
    pub fn keep_clear(&mut self) {
        let Some(broken) = self.broken else { return };
        let Some(Step::Call { op, .. }) = self.sequence.steps.get(broken.step) else { return };
        for clause in self.broken_clauses(broken.step, self.operations.get(*op)) {
            let olds = clause.olds.iter().flat_map(|old| &old.value);
            for part in olds.chain(&clause.holds) {
                if let Part::Text(text) = part {
                    self.names.reserve(text);
                }
            }
        }
    }

    /// The statements before the call; the names of what they keep.
    pub fn keep_olds(&mut self, clause: &Clause, operation: &Operation, args: &[Arg]) -> Olds {
        let mut names = Olds::new();
        for old in &clause.olds {
            let value = self.expression(&old.value, operation, args, &names, Told::default());
            let name = self.names.unique(&old.name);
            self.out.body.push_str(&format!("let {name} = {value};\n"));
            names.push(name);
        }
        names
    }

    /// The assertion after the call.
    pub fn assert_clause(
        &mut self,
        clause: &Clause,
        index: usize,
        operation: &Operation,
        args: &[Arg],
        olds: &Olds,
    ) {
        let result = match &self.text[index] {
            Some(Text::Variable(name)) => name.clone(),
            _ => "()".to_owned(),
        };
        let inner = clause.inside.as_ref().map(|variant| {
            let name = self.names.of_inner(self.operations.ty(operation.result));
            (format!("if let {variant}({name}) = &{result} "), name)
        });
        let told = match &inner {
            Some((_, name)) => Told { name, refers: true },
            None => Told { name: &result, refers: false },
        };
        let holds = self.expression(&clause.holds, operation, args, olds, told);
        let says = quoted(&clause.says);
        // What is too long for a line rustfmt does not break up.
        let mut assertion = if holds.len() + says.len() > LONG {
            format!("assert!(\n    {holds},\n    {says}\n);")
        } else {
            format!("assert!({holds}, {says});")
        };
        if let Some((head, _)) = &inner {
            let lines = assertion.lines().map(|line| format!("    {line}\n"));
            assertion = format!("{head}{{\n{}}}", lines.collect::<String>());
        }
        self.out.body.push_str(&format!("{assertion}\n"));
        self.out.assertions += 1;
    }

    fn expression(
        &self,
        parts: &[Part],
        operation: &Operation,
        args: &[Arg],
        olds: &Olds,
        told: Told<'_>,
    ) -> String {
        write(parts, |part, after| match part {
            Part::Text(text) => text.clone(),
            Part::Old(index) => olds[*index].clone(),
            Part::Argument(index, how) => self.meant(operation, *index, args[*index], *how, goes_on(after)),
            Part::Result(As::Place) if told.refers && !goes_on(after) => format!("*{}", told.name),
            Part::Result(As::Reference) if !told.refers => format!("&{}", told.name),
            Part::Result(_) => told.name.to_owned(),
        })
    }

    /// The argument as an expression over variables.
    fn meant(&self, operation: &Operation, index: usize, arg: Arg, how: As, goes_on: bool) -> String {
        let text = match (how, arg.how) {
            (As::Place, _) => self.place(arg, goes_on),
            (As::Reference, How::Ref | How::RefMut | How::Move | How::Copy) => {
                format!("&{}", self.variable(arg.value))
            }
            (As::Reference, How::Reborrow | How::ReborrowMut) => {
                self.argument(operation, index, Arg { how: How::Reborrow, ..arg }, false)
            }
            (As::Itself, _) if goes_on => self.variable(arg.value),
            (As::Itself, _) => self.argument(operation, index, arg, false),
        };
        if goes_on && text.starts_with(['*', '-', '&']) { format!("({text})") } else { text }
    }
}
