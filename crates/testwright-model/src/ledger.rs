//! The borrow rules: which step a sequence may take next and still be a program that the compiler accepts.
//!
//! Receives steps one after the other; answers whether each is legal, and which values must be dropped before it.
//! The rules are those of the borrow checker with non-lexical lifetimes, on whole values: a result holds *loans* of the values
//! it can refer to. A shared use of a value ends the values that borrow it mutably, a mutable use or a move ends all that
//! borrow it. A value without destructor ends silently (the compiler sees that it is used no more); one with a destructor
//! would be used again at the end of its scope, so it must be dropped first.

use crate::operation::{OpId, Operation, Operations, Param, Take, TypeId};
use crate::sequence::{Arg, Closure, How, Step, ValueId};

/// The values of a sequence after its last step.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    operations: &'a Operations,
    state: State,
}

/// What a ledger knows, apart from the operations, so that it can be kept with a sequence and joined to another's.
///
/// Two flat lists: strategies copy it several times a call.
#[derive(Debug, Default)]
pub struct State {
    /// Steps taken, and values made by them.
    steps: u32,
    made: u32,
    /// The values that are alive, oldest first.
    values: Vec<Value>,
    /// What they hold; those of one holder in the order in which it got them.
    loans: Vec<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    id: ValueId,
    ty: TypeId,
    /// How many values were made before it.
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    by: ValueId,
    loan: Loan,
}

/// Who holds it may refer to `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loan {
    of: ValueId,
    mutable: bool,
}

/// What a step does, as far as the borrow rules mind.
#[derive(Clone, Copy, Debug)]
pub enum Act<'s> {
    Literal(TypeId),
    /// Drops or forgets a value.
    End(ValueId),
    Call(OpId, &'s [Arg]),
    Closure(&'s Closure),
}

impl<'s> From<&'s Step> for Act<'s> {
    fn from(step: &'s Step) -> Self {
        match step {
            Step::Literal { ty, .. } => Act::Literal(*ty),
            Step::Drop(value) | Step::Forget(value) => Act::End(*value),
            Step::Call { op, args } => Act::Call(*op, args),
            Step::Closure(closure) => Act::Closure(closure),
        }
    }
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

// By hand, so that what is written over keeps its memory.
impl Clone for State {
    fn clone(&self) -> Self {
        State { steps: self.steps, made: self.made, values: self.values.clone(), loans: self.loans.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.steps, self.made) = (source.steps, source.made);
        self.values.clone_from(&source.values);
        self.loans.clone_from(&source.loans);
    }
}

impl State {
    /// The types of the values that are alive.
    pub fn types(&self) -> impl Iterator<Item = TypeId> + '_ {
        self.values.iter().map(|value| value.ty)
    }

    /// The steps taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    fn clear(&mut self) {
        (self.steps, self.made) = (0, 0);
        self.values.clear();
        self.loans.clear();
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

    /// Back to the beginning.
    pub fn clear(&mut self) {
        self.state.clear();
    }

    /// Takes all steps of another sequence, whose state at its end is `other`.
    pub fn absorb(&mut self, other: &State) {
        let (steps, made) = (self.state.steps, self.state.made);
        let moved = |value: ValueId| ValueId(value.0 + steps);
        self.state.values.extend(other.values.iter().map(|value| Value {
            id: moved(value.id),
            ty: value.ty,
            number: value.number + made,
        }));
        self.state.loans.extend(other.loans.iter().map(|held| Held {
            by: moved(held.by),
            loan: Loan { of: moved(held.loan.of), mutable: held.loan.mutable },
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
        // The oldest are looked at, a bit for each.
        let mut busy = [0u64; 4];
        for held in &self.state.loans {
            for place in [held.by, held.loan.of].into_iter().filter_map(|value| self.place(value)) {
                if let Some(bits) = busy.get_mut(place / 64) {
                    *bits |= 1 << (place % 64);
                }
            }
        }
        let (mut open, mut place) = (surplus, 0);
        self.state.values.retain(|_| {
            let is_idle = |bits: &u64| bits & (1 << (place % 64)) == 0;
            let idle = open > 0 && busy.get(place / 64).is_some_and(is_idle);
            place += 1;
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

    /// How many values were made before this one; `None` if it is not alive.
    pub fn number(&self, value: ValueId) -> Option<u32> {
        self.find(value).map(|value| value.number)
    }

    fn place(&self, value: ValueId) -> Option<usize> {
        self.state.values.binary_search_by_key(&value, |value| value.id).ok()
    }

    fn find(&self, value: ValueId) -> Option<&Value> {
        self.place(value).map(|place| &self.state.values[place])
    }

    /// What an alive value may refer to.
    fn loans(&self, value: ValueId) -> impl Iterator<Item = Loan> + '_ {
        self.state.loans.iter().filter(move |held| held.by == value).map(|held| held.loan)
    }

    fn end(&mut self, value: ValueId) {
        if let Some(place) = self.place(value) {
            self.state.values.remove(place);
            self.state.loans.retain(|held| held.by != value);
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
        self.find(value).expect("the value is alive").ty
    }

    /// Whether the value holds borrows of other values.
    pub fn holds_loans(&self, value: ValueId) -> bool {
        self.loans(value).next().is_some()
    }

    /// Alive values, oldest first.
    pub fn alive(&self) -> impl Iterator<Item = (ValueId, TypeId)> + Clone + '_ {
        self.state.values.iter().map(|value| (value.id, value.ty))
    }

    /// Whether an argument of this type, passed so, fits the parameter.
    fn fits(&self, param: &Param, ty: TypeId, how: How) -> bool {
        match (param.take, how) {
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
        let ended = self.check(step.into())?;
        Ok(self.in_drop_order(ended.into_iter().filter(|value| self.needs_drop(*value)).collect()))
    }

    /// Takes the step.
    pub fn step(&mut self, step: &Step) -> Result<(), Illegal> {
        let act = step.into();
        let ended = self.check(act)?;
        if let Some(value) = ended.iter().find(|value| self.needs_drop(**value)) {
            return Err(Illegal::DropFirst(*value));
        }
        self.carry_out(act, ended);
        Ok(())
    }

    /// Takes the step if nothing must be dropped before it; otherwise does nothing and says what, in order.
    pub fn act_or_drops(&mut self, act: Act<'_>) -> Result<Vec<ValueId>, Illegal> {
        let ended = self.check(act)?;
        if ended.iter().any(|value| self.needs_drop(*value)) {
            return Ok(
                self.in_drop_order(ended.into_iter().filter(|value| self.needs_drop(*value)).collect())
            );
        }
        self.carry_out(act, ended);
        Ok(Vec::new())
    }

    fn carry_out(&mut self, act: Act<'_>, ended: Vec<ValueId>) {
        for value in ended {
            self.end(value);
        }
        let (ty, loans) = match act {
            Act::Literal(ty) => (ty, Vec::new()),
            Act::End(value) => {
                self.end(value);
                self.state.steps += 1;
                return;
            }
            Act::Call(op, args) => {
                let operation = self.operations.get(op);
                (operation.result, self.call(operation, args))
            }
            Act::Closure(closure) => {
                let mut loans = Vec::new();
                for arg in &closure.captures {
                    self.borrow(*arg, true, true, &mut loans);
                }
                (closure.ty, loans)
            }
        };
        let (id, number) = (ValueId(self.state.steps), self.state.made);
        self.state.values.push(Value { id, ty, number });
        self.state.loans.extend(loans.into_iter().map(|loan| Held { by: id, loan }));
        self.state.steps += 1;
        self.state.made += 1;
    }

    /// Values to drop, in this order, at the end of the sequence: those that would be dropped by their scope after
    /// something which they may refer to.
    pub fn drops_at_end(&self) -> Vec<ValueId> {
        // Nearly always everything refers to what was there before.
        if self.state.loans.iter().all(|held| held.loan.of <= held.by) {
            return Vec::new();
        }
        let early: Vec<ValueId> = self
            .alive()
            .map(|(value, _)| value)
            .filter(|value| self.needs_drop(*value) && self.loans(*value).any(|loan| loan.of > *value))
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
    fn check(&self, act: Act<'_>) -> Result<Vec<ValueId>, Illegal> {
        let mut ended = Vec::new();
        match act {
            Act::Literal(_) => {}
            Act::End(value) => {
                if !self.is_alive(value) {
                    return Err(Illegal::Gone(value));
                }
                self.end_borrowers(value, true, &mut ended);
            }
            Act::Call(op, args) => self.check_call(self.operations.get(op), args, &mut ended)?,
            Act::Closure(closure) => {
                if let Some(gone) = closure.captures.iter().find(|arg| !self.is_alive(arg.value)) {
                    return Err(Illegal::Gone(gone.value));
                }
                self.check_args(&closure.captures, &mut ended)?;
            }
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
        for (param, arg) in operation.params.iter().zip(args) {
            let Some(value) = self.find(arg.value) else { return Err(Illegal::Gone(arg.value)) };
            if !self.fits(param, value.ty, arg.how) {
                return Err(Illegal::Mismatch(arg.value));
            }
            if param.needs_static
                && (self.holds_loans(arg.value) || matches!(arg.how, How::Ref | How::RefMut))
            {
                return Err(Illegal::NotStatic(arg.value));
            }
        }
        self.check_args(args, ended)
    }

    /// Of arguments that are alive.
    fn check_args(&self, args: &[Arg], ended: &mut Vec<ValueId>) -> Result<(), Illegal> {
        for (index, arg) in args.iter().enumerate() {
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
        for Held { by, loan } in &self.state.loans {
            if *by != value && loan.of == value && (all || loan.mutable) && !ended.contains(by) {
                ended.push(*by);
                self.end_borrowers(*by, true, ended);
            }
        }
    }

    /// Orders values so that each comes before what it may refer to.
    fn in_drop_order(&self, mut values: Vec<ValueId>) -> Vec<ValueId> {
        let mut ordered = Vec::new();
        while !values.is_empty() {
            let free = values.iter().rposition(|value| {
                !values.iter().any(|other| other != value && self.loans(*other).any(|loan| loan.of == *value))
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
        let mut add = |loan: Loan| {
            if !loans.contains(&loan) {
                loans.push(loan);
            }
        };
        match arg.how {
            How::Move | How::Copy if outer || inner => self.loans(arg.value).for_each(&mut add),
            How::Ref if outer => add(Loan { of: arg.value, mutable: false }),
            How::RefMut | How::ReborrowMut if outer => add(Loan { of: arg.value, mutable: true }),
            // `&*r` of a `&T` is a copy of `r`; of a `&mut T` it freezes `r`.
            How::Reborrow if outer => {
                if self.operations.abilities(self.ty(arg.value)).copy {
                    self.loans(arg.value).for_each(&mut add);
                } else {
                    add(Loan { of: arg.value, mutable: false });
                }
            }
            _ => {}
        }
        if inner && !matches!(arg.how, How::Move | How::Copy) {
            self.loans(arg.value).for_each(&mut add);
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
            if !self.is_alive(holder) {
                continue;
            }
            for loan in loans {
                if loan.of != holder && !self.loans(holder).any(|held| held == *loan) {
                    self.state.loans.push(Held { by: holder, loan: *loan });
                }
            }
        }
    }
}

/// Whether passing an argument so needs the value alone.
fn exclusive(how: How) -> bool {
    matches!(how, How::Move | How::RefMut | How::ReborrowMut)
}
