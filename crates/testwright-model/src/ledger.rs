//! The borrow rules: which step a sequence may take next and still be a program that the compiler accepts.
//!
//! Receives steps one after the other; answers whether each is legal, and which values must be dropped before it.
//! The rules are those of the borrow checker with non-lexical lifetimes, on whole values: a result holds *loans* of the values
//! it can refer to. A shared use of a value ends the values that borrow it mutably, a mutable use or a move ends all that
//! borrow it. A value without destructor ends silently (the compiler sees that it is used no more); one with a destructor
//! would be used again at the end of its scope, so it must be dropped first.

use crate::operation::{Operation, Operations, Take, TypeId};
use crate::sequence::{Arg, How, Step, ValueId};

/// The values of a sequence after its last step.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    operations: &'a Operations,
    state: State,
}

/// What a ledger knows, apart from the operations, so that it can be kept with a sequence and joined to another's.
#[derive(Debug, Default)]
pub struct State {
    /// Steps taken, and values made by them.
    steps: u32,
    made: u32,
    /// The values that are alive, oldest first.
    values: Vec<Value>,
}

#[derive(Debug)]
struct Value {
    id: ValueId,
    ty: TypeId,
    /// How many values were made before it.
    number: u32,
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

// By hand, so that what is written over keeps its memory: strategies do that several times a call.
impl Clone for State {
    fn clone(&self) -> Self {
        State { steps: self.steps, made: self.made, values: self.values.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.steps, self.made) = (source.steps, source.made);
        self.values.clone_from(&source.values);
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Value { id: self.id, ty: self.ty, number: self.number, loans: self.loans.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.id, self.ty, self.number) = (source.id, source.ty, source.number);
        self.loans.clone_from(&source.loans);
    }
}

impl State {
    /// The steps taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

impl<'a> Ledger<'a> {
    pub fn new(operations: &'a Operations) -> Self {
        Ledger { operations, state: State::default() }
    }

    /// Goes on from a state.
    pub fn resume(operations: &'a Operations, state: State) -> Self {
        Ledger { operations, state }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn into_state(self) -> State {
        self.state
    }

    /// Takes all steps of another sequence, whose state at its end is `other`.
    pub fn absorb(&mut self, other: &State) {
        let (steps, made) = (self.state.steps, self.state.made);
        self.state.values.extend(other.values.iter().map(|value| {
            Value {
                id: ValueId(value.id.0 + steps),
                ty: value.ty,
                number: value.number + made,
                loans: value
                    .loans
                    .iter()
                    .map(|loan| Loan { of: ValueId(loan.of.0 + steps), mutable: loan.mutable })
                    .collect(),
            }
        }));
        self.state.steps += other.steps;
        self.state.made += other.made;
    }

    /// Keeps track of at most about `most` values: the oldest that neither hold a loan nor are lent are left alone from now
    /// on, which no rule can mind.
    pub fn forget_idle(&mut self, most: usize) {
        let surplus = self.state.values.len().saturating_sub(most);
        if surplus == 0 {
            return;
        }
        let lent: Vec<ValueId> =
            self.state.values.iter().flat_map(|value| &value.loans).map(|loan| loan.of).collect();
        let mut open = surplus;
        self.state.values.retain(|value| {
            let idle = open > 0 && value.loans.is_empty() && !lent.contains(&value.id);
            open -= usize::from(idle);
            !idle
        });
    }

    /// How many alive values are kept track of.
    pub fn in_view(&self) -> usize {
        self.state.values.len()
    }

    /// The steps taken.
    pub fn steps(&self) -> u32 {
        self.state.steps
    }

    /// The values made by them.
    pub fn made(&self) -> u32 {
        self.state.made
    }

    /// How many values were made before this one, which must be alive.
    pub fn number(&self, value: ValueId) -> u32 {
        self.value(value).number
    }

    fn place(&self, value: ValueId) -> Option<usize> {
        self.state.values.binary_search_by_key(&value, |value| value.id).ok()
    }

    fn value(&self, value: ValueId) -> &Value {
        &self.state.values[self.place(value).expect("the value is alive")]
    }

    /// What an alive value may refer to.
    fn loans(&self, value: ValueId) -> &[Loan] {
        self.place(value).map_or(&[], |place| &self.state.values[place].loans)
    }

    fn end(&mut self, value: ValueId) {
        if let Some(place) = self.place(value) {
            self.state.values.remove(place);
        }
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
        self.place(value).is_some()
    }

    /// The type of an alive value.
    pub fn ty(&self, value: ValueId) -> TypeId {
        self.value(value).ty
    }

    /// Whether the value holds borrows of other values.
    pub fn holds_loans(&self, value: ValueId) -> bool {
        !self.loans(value).is_empty()
    }

    /// Alive values, oldest first.
    pub fn alive(&self) -> impl Iterator<Item = (ValueId, TypeId)> + '_ {
        self.state.values.iter().map(|value| (value.id, value.ty))
    }

    /// Whether `arg` fits the parameter by type and mode.
    pub fn fits(&self, operation: &Operation, index: usize, arg: Arg) -> bool {
        let param = &operation.params[index];
        let ty = self.ty(arg.value);
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
        self.carry_out(step, ended);
        Ok(())
    }

    /// Takes the step if nothing must be dropped before it; otherwise does nothing and says what, in order.
    pub fn step_or_drops(&mut self, step: &Step) -> Result<Vec<ValueId>, Illegal> {
        let ended = self.check(step)?;
        if ended.iter().any(|value| self.needs_drop(*value)) {
            return Ok(
                self.in_drop_order(ended.into_iter().filter(|value| self.needs_drop(*value)).collect())
            );
        }
        self.carry_out(step, ended);
        Ok(Vec::new())
    }

    fn carry_out(&mut self, step: &Step, ended: Vec<ValueId>) {
        for value in ended {
            self.end(value);
        }
        let (ty, loans) = match step {
            Step::Literal { ty, .. } => (*ty, Vec::new()),
            Step::Drop(value) | Step::Forget(value) => {
                self.end(*value);
                self.state.steps += 1;
                return;
            }
            Step::Call { op, args } => {
                let operation = self.operations.get(*op);
                (operation.result, self.call(operation, args))
            }
            Step::Closure(closure) => {
                let mut loans = Vec::new();
                for arg in &closure.captures {
                    self.borrow(*arg, true, true, &mut loans);
                }
                (closure.ty, loans)
            }
        };
        let (id, number) = (ValueId(self.state.steps), self.state.made);
        self.state.values.push(Value { id, ty, number, loans });
        self.state.steps += 1;
        self.state.made += 1;
    }

    /// Values to drop, in this order, at the end of the sequence: those that would be dropped by their scope after
    /// something which they may refer to.
    pub fn drops_at_end(&self) -> Vec<ValueId> {
        let early: Vec<ValueId> = self
            .alive()
            .map(|(value, _)| value)
            .filter(|value| self.needs_drop(*value) && self.loans(*value).iter().any(|loan| loan.of > *value))
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
        for holder in &self.state.values {
            if holder.id != value
                && holder.loans.iter().any(|loan| loan.of == value && (all || loan.mutable))
                && !ended.contains(&holder.id)
            {
                ended.push(holder.id);
                self.end_borrowers(holder.id, true, ended);
            }
        }
    }

    /// Orders values so that each comes before what it may refer to.
    fn in_drop_order(&self, mut values: Vec<ValueId>) -> Vec<ValueId> {
        let mut ordered = Vec::new();
        while !values.is_empty() {
            let free = values.iter().rposition(|value| {
                !values
                    .iter()
                    .any(|other| other != value && self.loans(*other).iter().any(|loan| loan.of == *value))
            });
            ordered.push(values.remove(free.unwrap_or(values.len() - 1)));
        }
        ordered
    }

    fn needs_drop(&self, value: ValueId) -> bool {
        self.operations.abilities(self.ty(value)).needs_drop
    }

    /// Effects of a legal call on its arguments; the loans of the value it makes.
    fn call(&mut self, operation: &Operation, args: &[Arg]) -> Vec<Loan> {
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
                self.end(arg.value);
            }
        }
        loans
    }

    /// The loans that a result gets from one argument: of the argument's own place (`outer`), and what the argument holds (`inner`).
    fn borrow(&self, arg: Arg, outer: bool, inner: bool, loans: &mut Vec<Loan>) {
        let held = self.loans(arg.value);
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
            for loan in self.loans(places[next]) {
                if loan.mutable && !places.contains(&loan.of) {
                    places.push(loan.of);
                }
            }
            next += 1;
        }
        for holder in places {
            let Some(place) = self.place(holder) else { continue };
            let held = &mut self.state.values[place].loans;
            for loan in loans {
                if loan.of != holder && !held.contains(loan) {
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
