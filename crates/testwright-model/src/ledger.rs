//! The borrow rules: which step a sequence may take next and still be a program that the compiler accepts.
//!
//! Receives steps one after the other; answers whether each is legal, and which values must be dropped before it.
//! The rules are those of the borrow checker with non-lexical lifetimes, on whole values: a result holds *loans* of the values
//! it can refer to. A shared use of a value ends the values that borrow it mutably, a mutable use or a move ends all that
//! borrow it. A value without destructor ends silently (the compiler sees that it is used no more); one with a destructor
//! would be used again at the end of its scope, so it must be dropped first.

use crate::operation::{Operation, Operations, Take, TypeId};
use crate::sequence::{Arg, How, Step, ValueId};

/// The state of a sequence's values after its last step.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    operations: &'a Operations,
    /// One entry a step; steps that make no value have an ended one.
    values: Vec<Value>,
}

#[derive(Clone, Debug)]
struct Value {
    ty: TypeId,
    alive: bool,
    loans: Vec<Loan>,
}

/// The holder may refer to `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loan {
    of: ValueId,
    mutable: bool,
}

/// Why a step is not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// A value is used after it was moved, dropped or its borrow ended.
    Gone(ValueId),
    /// Two arguments of one call exclude each other.
    Conflict(ValueId),
    /// A borrow of a local value is passed where `'static` is asked.
    NotStatic(ValueId),
    /// The argument's type or mode does not fit the parameter.
    Mismatch(ValueId),
    /// Values with destructors must be dropped before the step: see [`Ledger::drops_before`].
    DropFirst(ValueId),
}

impl<'a> Ledger<'a> {
    pub fn new(operations: &'a Operations) -> Self {
        Ledger { operations, values: Vec::new() }
    }

    /// The ledger after these steps, or the index of the first illegal one.
    pub fn replay(operations: &'a Operations, steps: &[Step]) -> Result<Self, (usize, Illegal)> {
        let mut ledger = Ledger::new(operations);
        for (index, step) in steps.iter().enumerate() {
            ledger.step(step).map_err(|illegal| (index, illegal))?;
        }
        Ok(ledger)
    }

    pub fn is_alive(&self, value: ValueId) -> bool {
        self.values.get(value.0 as usize).is_some_and(|value| value.alive)
    }

    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.0 as usize].ty
    }

    /// Whether the value holds borrows of other values.
    pub fn holds_loans(&self, value: ValueId) -> bool {
        !self.values[value.0 as usize].loans.is_empty()
    }

    /// Alive values, oldest first.
    pub fn alive(&self) -> impl Iterator<Item = (ValueId, TypeId)> + '_ {
        (0..).zip(&self.values).filter(|(_, value)| value.alive).map(|(i, value)| (ValueId(i), value.ty))
    }

    /// Whether `arg` fits the parameter by type and mode.
    pub fn fits(&self, operation: &Operation, index: usize, arg: Arg) -> bool {
        let param = &operation.params[index];
        let ty = self.values[arg.value.0 as usize].ty;
        match (param.take, arg.how) {
            (Take::Value, How::Copy) => ty == param.ty && self.operations.abilities(ty).copy,
            // An unsized referent: `&mut [T]` is passed on without being given away.
            (Take::Value, How::ReborrowMut) => {
                ty == param.ty && matches!(self.operations.ty(ty), crate::Ty::Ref { mutable: true, .. })
            }
            (Take::Value, How::Move) | (Take::Shared, How::Ref) | (Take::Mut, How::RefMut) => ty == param.ty,
            (Take::Shared, How::Reborrow) => self.refers_to(ty, param.ty, false),
            (Take::Mut, How::ReborrowMut) => self.refers_to(ty, param.ty, true),
            _ => false,
        }
    }

    /// `ty` is `&target` or `&mut target` (only the latter if `mutable`).
    fn refers_to(&self, ty: TypeId, target: TypeId, mutable: bool) -> bool {
        match self.operations.ty(ty) {
            crate::Ty::Ref { mutable: is_mut, to, .. } => {
                (*is_mut || !mutable) && **to == *self.operations.ty(target)
            }
            _ => false,
        }
    }

    /// The values that must be dropped, in this order, before `step` can be taken; an error if nothing helps.
    pub fn drops_before(&self, step: &Step) -> Result<Vec<ValueId>, Illegal> {
        let ended = self.check(step)?;
        Ok(self.in_drop_order(ended.into_iter().filter(|value| self.needs_drop(*value)).collect()))
    }

    /// Takes the step.
    pub fn step(&mut self, step: &Step) -> Result<(), Illegal> {
        let ended = self.check(step)?;
        if let Some(value) = ended.iter().find(|value| self.needs_drop(**value)) {
            return Err(Illegal::DropFirst(*value));
        }
        for value in ended {
            self.values[value.0 as usize].alive = false;
        }
        let made = match step {
            Step::Literal { ty, .. } => Value { ty: *ty, alive: true, loans: Vec::new() },
            Step::Drop(value) | Step::Forget(value) => {
                self.values[value.0 as usize].alive = false;
                Value { ty: TypeId(0), alive: false, loans: Vec::new() }
            }
            Step::Call { op, args } => self.call(self.operations.get(*op), args),
            Step::Closure(closure) => {
                let mut loans = Vec::new();
                for arg in &closure.captures {
                    self.borrow(*arg, true, true, &mut loans);
                }
                Value { ty: closure.ty, alive: true, loans }
            }
        };
        self.values.push(made);
        Ok(())
    }

    /// Values to drop, in this order, at the end of the sequence: those that would be dropped by their scope after
    /// something which they may refer to.
    pub fn drops_at_end(&self) -> Vec<ValueId> {
        let early: Vec<ValueId> = self
            .alive()
            .map(|(value, _)| value)
            .filter(|value| {
                self.needs_drop(*value)
                    && self.values[value.0 as usize].loans.iter().any(|loan| loan.of > *value)
            })
            .collect();
        let mut ended = early.clone();
        for value in early {
            self.end_borrowers(value, true, &mut ended);
        }
        ended.sort_unstable();
        ended.dedup();
        self.in_drop_order(ended.into_iter().filter(|value| self.needs_drop(*value)).collect())
    }

    /// Which alive values end by this step.
    fn check(&self, step: &Step) -> Result<Vec<ValueId>, Illegal> {
        let mut ended = Vec::new();
        match step {
            Step::Literal { .. } => {}
            Step::Drop(value) | Step::Forget(value) => {
                if !self.is_alive(*value) {
                    return Err(Illegal::Gone(*value));
                }
                self.end_borrowers(*value, true, &mut ended);
            }
            Step::Call { op, args } => self.check_call(self.operations.get(*op), args, &mut ended)?,
            Step::Closure(closure) => self.check_args(&closure.captures, &mut ended)?,
        }
        ended.sort_unstable();
        ended.dedup();
        Ok(ended)
    }

    fn check_call(
        &self,
        operation: &Operation,
        args: &[Arg],
        ended: &mut Vec<ValueId>,
    ) -> Result<(), Illegal> {
        if args.len() != operation.params.len() {
            return Err(Illegal::Mismatch(ValueId(0)));
        }
        for (index, arg) in args.iter().enumerate() {
            if !self.is_alive(arg.value) {
                return Err(Illegal::Gone(arg.value));
            }
            if !self.fits(operation, index, *arg) {
                return Err(Illegal::Mismatch(arg.value));
            }
            if operation.params[index].needs_static
                && (self.holds_loans(arg.value) || matches!(arg.how, How::Ref | How::RefMut))
            {
                return Err(Illegal::NotStatic(arg.value));
            }
        }
        self.check_args(args, ended)
    }

    fn check_args(&self, args: &[Arg], ended: &mut Vec<ValueId>) -> Result<(), Illegal> {
        for (index, arg) in args.iter().enumerate() {
            if !self.is_alive(arg.value) {
                return Err(Illegal::Gone(arg.value));
            }
            let twice = args[..index].iter().find(|other| other.value == arg.value);
            if twice.is_some_and(|other| exclusive(other.how) || exclusive(arg.how)) {
                return Err(Illegal::Conflict(arg.value));
            }
            self.end_borrowers(arg.value, exclusive(arg.how), ended);
        }
        match args.iter().find(|arg| ended.contains(&arg.value)) {
            Some(arg) => Err(Illegal::Conflict(arg.value)),
            None => Ok(()),
        }
    }

    /// Adds the alive values that hold a loan of `value` (only mutable ones unless `all`), and all that hold loans of these.
    fn end_borrowers(&self, value: ValueId, all: bool, ended: &mut Vec<ValueId>) {
        for (holder, _) in self.alive() {
            let held = &self.values[holder.0 as usize].loans;
            if holder != value
                && !ended.contains(&holder)
                && held.iter().any(|loan| loan.of == value && (all || loan.mutable))
            {
                ended.push(holder);
                self.end_borrowers(holder, true, ended);
            }
        }
    }

    /// Orders values so that each comes before what it may refer to.
    fn in_drop_order(&self, mut values: Vec<ValueId>) -> Vec<ValueId> {
        let mut ordered = Vec::new();
        while !values.is_empty() {
            let free = values.iter().rposition(|value| {
                !values.iter().any(|other| {
                    other != value && self.values[other.0 as usize].loans.iter().any(|l| l.of == *value)
                })
            });
            ordered.push(values.remove(free.unwrap_or(values.len() - 1)));
        }
        ordered
    }

    fn needs_drop(&self, value: ValueId) -> bool {
        self.operations.abilities(self.ty(value)).needs_drop
    }

    /// Effects of a legal call on its arguments; the value it makes.
    fn call(&mut self, operation: &Operation, args: &[Arg]) -> Value {
        let mut loans = Vec::new();
        for (index, arg) in (0u8..).zip(args) {
            let outer = operation.flow.outer.contains(&index);
            let inner = operation.flow.inner.contains(&index);
            self.borrow(*arg, outer, inner, &mut loans);
        }
        for &(to, from) in &operation.flow.stores {
            let mut stored = Vec::new();
            self.borrow(args[from as usize], true, true, &mut stored);
            self.store(args[to as usize].value, &stored);
        }
        for arg in args {
            if arg.how == How::Move {
                self.values[arg.value.0 as usize].alive = false;
            }
        }
        Value { ty: operation.result, alive: true, loans }
    }

    /// The loans that a result gets from one argument: of the argument's own place (`outer`), and what the argument holds (`inner`).
    fn borrow(&self, arg: Arg, outer: bool, inner: bool, loans: &mut Vec<Loan>) {
        let held = &self.values[arg.value.0 as usize].loans;
        let mut add = |loan: Loan| {
            if !loans.contains(&loan) {
                loans.push(loan);
            }
        };
        match arg.how {
            How::Move | How::Copy if outer || inner => held.iter().copied().for_each(&mut add),
            How::Ref if outer => add(Loan { of: arg.value, mutable: false }),
            How::RefMut | How::ReborrowMut if outer => add(Loan { of: arg.value, mutable: true }),
            // `&*r` of a `&T` is a copy of `r`; of a `&mut T` it freezes `r`.
            How::Reborrow if outer => {
                if self.operations.abilities(self.ty(arg.value)).copy {
                    held.iter().copied().for_each(&mut add);
                } else {
                    add(Loan { of: arg.value, mutable: false });
                }
            }
            _ => {}
        }
        if inner && !matches!(arg.how, How::Move | How::Copy) {
            held.iter().copied().for_each(&mut add);
        }
    }

    /// `value`, and whatever it refers to mutably, may hold these loans from now on.
    fn store(&mut self, value: ValueId, loans: &[Loan]) {
        let mut places = vec![value];
        let mut next = 0;
        while next < places.len() {
            for loan in self.values[places[next].0 as usize].loans.clone() {
                if loan.mutable && !places.contains(&loan.of) {
                    places.push(loan.of);
                }
            }
            next += 1;
        }
        for place in places {
            for loan in loans {
                let held = &mut self.values[place.0 as usize].loans;
                if loan.of != place && !held.contains(loan) {
                    held.push(*loan);
                }
            }
        }
    }
}

/// Whether passing an argument so needs the value alone.
fn exclusive(how: How) -> bool {
    matches!(how, How::Move | How::RefMut | How::ReborrowMut)
}
