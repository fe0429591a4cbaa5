//! The random strategy: legal sequences by picking operations and finding or making their arguments.
//!
//! It proposes and never runs. Every step goes through the [`Ledger`], so that each proposal is also a legal program.

use std::collections::{HashMap, HashSet};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use testwright_ground::reach::is_literal;
use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Ledger, Literal, OpId, Prim, Ty};

/// What the strategy knows of the operations.
#[derive(Debug)]
pub struct Maker<'a> {
    operations: &'a Operations,
    /// Operations that make a value of the type, cheapest first.
    makers: HashMap<TypeId, Vec<OpId>>,
    /// How many steps it takes at least to make a value.
    cost: HashMap<TypeId, u32>,
    /// By type, the types of references to it: shared and mutable ones.
    references: HashMap<TypeId, Vec<(TypeId, bool)>>,
    /// One list of operations for each callable of the subject, so that callables have equal chances.
    families: Vec<Vec<OpId>>,
    others: Vec<OpId>,
    /// Integers stay small, so that no capacity or length asked for costs more than the call.
    modest: bool,
}

/// Arguments of arguments of arguments, at most.
const DEPTH: u32 = 8;

impl<'a> Maker<'a> {
    pub fn new(operations: &'a Operations, usable: &HashSet<OpId>) -> Self {
        let mut references: HashMap<TypeId, Vec<(TypeId, bool)>> = HashMap::new();
        for (ty, id) in operations.types.iter().zip(0..) {
            if let Ty::Ref { mutable, to, .. } = ty {
                if let Some(target) = operations.find_type(to) {
                    references.entry(target).or_default().push((TypeId(id), *mutable));
                }
            }
        }
        let mut maker = Maker {
            operations,
            makers: HashMap::new(),
            cost: HashMap::new(),
            references,
            families: Vec::new(),
            others: Vec::new(),
            modest: false,
        };
        let mut ids: Vec<OpId> = usable.iter().copied().collect();
        ids.sort_unstable();
        maker.costs(&ids);
        let mut families: HashMap<u32, Vec<OpId>> = HashMap::new();
        for id in ids {
            match operations.get(id).origin {
                testwright_model::operation::Origin::Subject(callable) => {
                    families.entry(callable).or_default().push(id);
                }
                _ => maker.others.push(id),
            }
        }
        let mut families: Vec<(u32, Vec<OpId>)> = families.into_iter().collect();
        families.sort_unstable();
        maker.families = families.into_iter().map(|(_, family)| family).collect();
        maker
    }

    /// With small integers only.
    #[must_use]
    pub fn modest(mut self) -> Self {
        self.modest = true;
        self
    }

    fn costs(&mut self, ids: &[OpId]) {
        for (ty, id) in self.operations.types.iter().zip(0..) {
            if is_literal(ty) {
                self.cost.insert(TypeId(id), 1);
            }
        }
        loop {
            let mut changed = false;
            for id in ids {
                let operation = self.operations.get(*id);
                let cost = operation.params.iter().try_fold(1u32, |sum, param| {
                    self.argument_cost(param.take, param.ty).map(|cost| sum.saturating_add(cost))
                });
                let Some(cost) = cost else { continue };
                let known = self.cost.entry(operation.result).or_insert(u32::MAX);
                if cost < *known {
                    *known = cost;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for id in ids {
            self.makers.entry(self.operations.get(*id).result).or_default().push(*id);
        }
        for makers in self.makers.values_mut() {
            let total = |id: &OpId| {
                self.operations.get(*id).params.iter().fold(1u32, |sum, param| {
                    let mut cost = self.cost.get(&param.ty).copied().unwrap_or(u32::MAX);
                    for (reference, _) in self.references.get(&param.ty).into_iter().flatten() {
                        cost = cost.min(self.cost.get(reference).copied().unwrap_or(u32::MAX));
                    }
                    sum.saturating_add(cost)
                })
            };
            makers.sort_by_key(total);
        }
    }

    fn argument_cost(&self, take: Take, ty: TypeId) -> Option<u32> {
        let mut best = self.cost.get(&ty).copied();
        if take != Take::Value {
            for (reference, mutable) in self.references.get(&ty).into_iter().flatten() {
                if take == Take::Shared || *mutable {
                    best = match (best, self.cost.get(reference)) {
                        (Some(a), Some(b)) => Some(a.min(*b)),
                        (a, b) => a.or(b.copied()),
                    };
                }
            }
        }
        best.filter(|cost| *cost < u32::MAX)
    }

    /// A legal sequence of about `length` calls of the subject; if `goal` is given, it ends with that operation.
    pub fn sequence(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        length: usize,
        goal: Option<OpId>,
    ) -> Option<Sequence> {
        let mut draft = Draft { sequence: Sequence::default(), ledger: Ledger::new(self.operations) };
        let mut tries = 0;
        let mut calls = 0;
        while calls < length && tries < 4 * length {
            tries += 1;
            let op = self.pick(rng);
            if self.call(&mut draft, rng, op, DEPTH).is_some() {
                calls += 1;
            }
        }
        if let Some(goal) = goal {
            let mut made = false;
            for _ in 0..20 {
                if self.call(&mut draft, rng, goal, DEPTH).is_some() {
                    made = true;
                    break;
                }
            }
            if !made {
                return None;
            }
        }
        finish(&mut draft);
        (!draft.sequence.is_empty()).then_some(draft.sequence)
    }

    fn pick(&self, rng: &mut Xoshiro256PlusPlus) -> OpId {
        if !self.families.is_empty() && (self.others.is_empty() || rng.random_bool(0.85)) {
            let family = self.families.choose(rng).expect("not empty");
            *family.choose(rng).expect("families are not empty")
        } else {
            *self.others.choose(rng).expect("there is an operation")
        }
    }

    /// Appends a call with all that it needs; leaves the draft as it was if that fails.
    fn call(
        &self,
        draft: &mut Draft<'a>,
        rng: &mut Xoshiro256PlusPlus,
        op: OpId,
        depth: u32,
    ) -> Option<ValueId> {
        let saved = (draft.sequence.len(), draft.ledger.clone());
        let made = self.try_call(draft, rng, op, depth);
        if made.is_none() {
            draft.sequence.steps.truncate(saved.0);
            draft.ledger = saved.1;
        }
        made
    }

    fn try_call(
        &self,
        draft: &mut Draft<'a>,
        rng: &mut Xoshiro256PlusPlus,
        op: OpId,
        depth: u32,
    ) -> Option<ValueId> {
        let operation = self.operations.get(op);
        let mut args: Vec<Arg> = Vec::with_capacity(operation.params.len());
        for index in 0..operation.params.len() {
            let arg = self
                .find(draft, rng, op, index, &args)
                .or_else(|| self.make(draft, rng, op, index, depth))?;
            args.push(arg);
        }
        draft.take(Step::Call { op, args })
    }

    /// An argument from the values at hand.
    fn find(
        &self,
        draft: &Draft<'a>,
        rng: &mut Xoshiro256PlusPlus,
        op: OpId,
        index: usize,
        others: &[Arg],
    ) -> Option<Arg> {
        let operation = self.operations.get(op);
        let param = &operation.params[index];
        // Literals are cheap: mostly take a new one.
        let reuse = if is_literal(self.operations.ty(param.ty)) { 0.3 } else { 0.85 };
        if !rng.random_bool(reuse) {
            return None;
        }
        let mut fitting: Vec<Arg> = Vec::new();
        for (value, ty) in draft.ledger.alive() {
            for how in self.ways(param.take, param.ty, ty) {
                let arg = Arg { value, how };
                if draft.ledger.fits(operation, index, arg)
                    && !others
                        .iter()
                        .any(|other| other.value == value && (is_exclusive(how) || is_exclusive(other.how)))
                {
                    fitting.push(arg);
                }
            }
        }
        fitting.choose(rng).copied()
    }

    /// How a value of type `ty` can be passed for a parameter.
    fn ways(&self, take: Take, wanted: TypeId, ty: TypeId) -> Vec<How> {
        if ty == wanted {
            return match take {
                Take::Value if self.operations.abilities(ty).copy => vec![How::Copy],
                Take::Value if matches!(self.operations.ty(ty), Ty::Ref { mutable: true, .. }) => {
                    vec![How::ReborrowMut]
                }
                Take::Value => vec![How::Move],
                Take::Shared => vec![How::Ref],
                Take::Mut => vec![How::RefMut],
            };
        }
        if take == Take::Value {
            return Vec::new();
        }
        let reference = self.references.get(&wanted).into_iter().flatten().find(|(id, _)| *id == ty);
        match (take, reference) {
            (Take::Shared, Some(_)) => vec![How::Reborrow],
            (Take::Mut, Some((_, true))) => vec![How::ReborrowMut],
            _ => Vec::new(),
        }
    }

    /// A new value for a parameter.
    fn make(
        &self,
        draft: &mut Draft<'a>,
        rng: &mut Xoshiro256PlusPlus,
        op: OpId,
        index: usize,
        depth: u32,
    ) -> Option<Arg> {
        let param = &self.operations.get(op).params[index];
        let mut wanted = vec![param.ty];
        if param.take != Take::Value {
            for (reference, mutable) in self.references.get(&param.ty).into_iter().flatten() {
                if (param.take == Take::Shared || *mutable) && self.cost.contains_key(reference) {
                    wanted.push(*reference);
                }
            }
        }
        wanted.retain(|ty| self.cost.contains_key(ty));
        let ty = if param.ty == *wanted.first()? && rng.random_bool(0.8) {
            param.ty
        } else {
            *wanted.choose(rng)?
        };
        let value = self.value(draft, rng, ty, depth)?;
        let how = *self.ways(param.take, param.ty, ty).first()?;
        Some(Arg { value, how })
    }

    fn value(
        &self,
        draft: &mut Draft<'a>,
        rng: &mut Xoshiro256PlusPlus,
        ty: TypeId,
        depth: u32,
    ) -> Option<ValueId> {
        let literal = is_literal(self.operations.ty(ty));
        if literal && (rng.random_bool(0.9) || !self.makers.contains_key(&ty)) {
            let value = match self.operations.ty(ty) {
                ty if self.modest && ty.is_int() => Literal::Int(rng.random_range(0..32)),
                ty => literal_of(ty, rng),
            };
            return draft.take(Step::Literal { ty, value });
        }
        let makers = self.makers.get(&ty)?;
        if depth == 0 {
            return None;
        }
        // Near the bottom only the cheapest ways lead anywhere.
        let choices = if depth < 4 { &makers[..makers.len().min(2)] } else { makers };
        for _ in 0..3 {
            let op = *choices.choose(rng)?;
            if let Some(value) = self.call(draft, rng, op, depth - 1) {
                return Some(value);
            }
        }
        None
    }
}

fn is_exclusive(how: How) -> bool {
    matches!(how, How::Move | How::RefMut | How::ReborrowMut)
}

/// A sequence in the making.
struct Draft<'a> {
    sequence: Sequence,
    ledger: Ledger<'a>,
}

impl Draft<'_> {
    /// Appends a step, after the drops that it needs.
    fn take(&mut self, step: Step) -> Option<ValueId> {
        for value in self.ledger.drops_before(&step).ok()? {
            let drop = Step::Drop(value);
            self.ledger.step(&drop).ok()?;
            self.sequence.push(drop);
        }
        self.ledger.step(&step).ok()?;
        Some(self.sequence.push(step))
    }
}

/// Appends the drops that the end of the scope would do in the wrong order.
fn finish(draft: &mut Draft<'_>) {
    for value in draft.ledger.drops_at_end() {
        let drop = Step::Drop(value);
        if draft.ledger.step(&drop).is_ok() {
            draft.sequence.push(drop);
        }
    }
}

/// Makes a list of steps legal again: adds the drops that it needs, or says that it cannot be.
pub fn repair(operations: &Operations, steps: &[Step]) -> Option<Sequence> {
    let mut draft = Draft { sequence: Sequence::default(), ledger: Ledger::new(operations) };
    let mut moved: Vec<Option<ValueId>> = Vec::with_capacity(steps.len());
    for step in steps {
        let renumber = |value: ValueId| moved.get(value.0 as usize).copied().flatten();
        let step = match step {
            Step::Call { op, args } => {
                let args: Option<Vec<Arg>> =
                    args.iter().map(|arg| Some(Arg { value: renumber(arg.value)?, how: arg.how })).collect();
                Step::Call { op: *op, args: args? }
            }
            // Drops are put back where they are needed.
            Step::Drop(value) | Step::Forget(value) => {
                if let Some(value) = renumber(*value).filter(|value| draft.ledger.is_alive(*value)) {
                    let step =
                        if matches!(step, Step::Drop(_)) { Step::Drop(value) } else { Step::Forget(value) };
                    draft.take(step)?;
                }
                moved.push(None);
                continue;
            }
            other => other.clone(),
        };
        moved.push(Some(draft.take(step)?));
    }
    finish(&mut draft);
    Some(draft.sequence)
}

/// A literal of a type for which [`is_literal`] holds.
fn literal_of(ty: &Ty, rng: &mut Xoshiro256PlusPlus) -> Literal {
    match ty {
        Ty::Prim(Prim::Bool) => Literal::Bool(rng.random()),
        Ty::Prim(Prim::Char) => {
            Literal::Char(*['a', 'b', '0', ' ', 'é', '\u{10ffff}', '\0', 'Z'].choose(rng).unwrap_or(&'a'))
        }
        Ty::Prim(prim @ (Prim::F32 | Prim::F64)) => float(*prim, rng),
        Ty::Prim(prim) => Literal::Int(int(*prim, rng)),
        Ty::Ref { to, .. } if **to == Ty::Str => Literal::Str(text(rng)),
        _ => Literal::Bytes(bytes(rng)),
    }
}

fn int(prim: Prim, rng: &mut Xoshiro256PlusPlus) -> i128 {
    let bits = prim.bits();
    let (min, max) = if prim.is_signed() {
        (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits))
    } else {
        (0, if bits == 128 { -1 } else { (1i128 << bits) - 1 })
    };
    let value = match rng.random_range(0..20) {
        0..=9 => rng.random_range(0..4),
        10..=13 => rng.random_range(0..20),
        14 => -1,
        15 => return min,
        16 => return max,
        17 => i128::from(rng.random_range(0..300)),
        18 => max - 1,
        _ => i128::from(rng.random::<i64>()),
    };
    if prim.is_signed() {
        value.clamp(min, max)
    } else if bits == 128 {
        value
    } else {
        value & max
    }
}

fn float(prim: Prim, rng: &mut Xoshiro256PlusPlus) -> Literal {
    let value = *[0.0, 1.0, -1.0, 0.5, 2.0, 1e10, f64::NAN, f64::INFINITY, -0.0, f64::MIN_POSITIVE, 3.25]
        .choose(rng)
        .unwrap_or(&0.0);
    #[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is wanted")]
    let bits = if prim == Prim::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
    Literal::Float(bits)
}

fn text(rng: &mut Xoshiro256PlusPlus) -> String {
    const PARTS: [&str; 16] = [
        "",
        "a",
        "b",
        "ab",
        "hello",
        "0",
        "1",
        "-1",
        "1.0",
        " ",
        "\n",
        "é",
        "日本",
        "/",
        "x=1",
        "abcdefghijklmnopqrstuvwxyz",
    ];
    let mut text = String::new();
    for _ in 0..rng.random_range(1..=2) {
        text.push_str(PARTS.choose(rng).unwrap_or(&""));
    }
    text
}

fn bytes(rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let length = *[0usize, 1, 2, 3, 4, 8, 16].choose(rng).unwrap_or(&0);
    (0..length).map(|_| if rng.random_bool(0.5) { rng.random_range(0..4) } else { rng.random() }).collect()
}
