//! A sequence in the making, checked by the borrow rules and encoded at the same time.

use std::sync::Arc;

use testwright_execute::Batch;
use testwright_model::ledger::State;
use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Ledger, Literal, OpId, Prim, Ty};
use testwright_wire::code;

use super::bank::Bank;
use super::pool::{Entry, Piece};

/// Values that a sequence makes at most: their numbers must fit into the worker's code.
const MOST_VALUES: u32 = 16_000;
/// How deep drops that need other drops before them are followed.
const DROPS_OF_DROPS: u32 = 6;
/// Values that are kept in view.
const VIEW: usize = 24;

#[derive(Clone, Debug)]
pub struct Draft<'a> {
    operations: &'a Operations,
    pub pieces: Vec<Piece>,
    pub words: Vec<u16>,
    pub places: Vec<u32>,
    pub ledger: Ledger<'a>,
    pub calls: u32,
    /// Of them, those into the crate under test.
    subject_calls: u32,
    /// The calls that are not from the pool.
    pub fresh: Vec<Fresh>,
}

/// A call that a proposal adds.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub op: OpId,
    pub args: Vec<Arg>,
    pub value: ValueId,
    /// The classes of its literal arguments: see `choice`.
    pub classes: u64,
}

/// Lengths to go back to.
#[derive(Debug)]
pub struct Mark<'a> {
    pieces: usize,
    words: usize,
    places: usize,
    fresh: usize,
    calls: u32,
    subject_calls: u32,
    ledger: Ledger<'a>,
}

impl Mark<'_> {
    /// What it was made from, to be used again.
    pub fn into_state(self) -> State {
        self.ledger.into_state()
    }
}

impl<'a> Draft<'a> {
    pub fn new(operations: &'a Operations) -> Self {
        Draft {
            operations,
            pieces: Vec::new(),
            words: Vec::new(),
            places: Vec::new(),
            ledger: Ledger::new(operations),
            calls: 0,
            subject_calls: 0,
            fresh: Vec::new(),
        }
    }

    /// Where the draft is now; `spare` is written over.
    pub fn mark(&self, mut spare: State) -> Mark<'a> {
        spare.clone_from(self.ledger.state());
        Mark {
            pieces: self.pieces.len(),
            words: self.words.len(),
            places: self.places.len(),
            fresh: self.fresh.len(),
            calls: self.calls,
            subject_calls: self.subject_calls,
            ledger: Ledger::resume(self.operations, spare),
        }
    }

    /// Goes back; the state that is given up can be used again.
    pub fn go_back(&mut self, mark: Mark<'a>) -> State {
        self.pieces.truncate(mark.pieces);
        self.words.truncate(mark.words);
        self.places.truncate(mark.places);
        self.fresh.truncate(mark.fresh);
        self.calls = mark.calls;
        self.subject_calls = mark.subject_calls;
        std::mem::replace(&mut self.ledger, mark.ledger).into_state()
    }

    /// Appends a pool sequence; the number that its first step has here.
    pub fn absorb(&mut self, entry: &Arc<Entry>) -> u32 {
        let (steps, made) = (self.ledger.steps(), self.ledger.made());
        let base = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.extend_from_slice(&entry.words);
        let number = u16::try_from(made).unwrap_or(u16::MAX);
        for place in &entry.places {
            self.words[(base + place) as usize] += number;
        }
        self.places.extend(entry.places.iter().map(|place| place + base));
        self.pieces.push(Piece::Shared(Arc::clone(entry), steps));
        self.calls += entry.calls;
        self.subject_calls += entry.subject_calls;
        self.ledger.absorb(&entry.state);
        steps
    }

    /// Appends a step, after the drops that it needs.
    pub fn take(&mut self, step: Step, bank: &mut Bank) -> Option<ValueId> {
        self.take_after(step, bank, DROPS_OF_DROPS)
    }

    /// `left`: values that hold each other would have to be dropped one before the other, for ever.
    fn take_after(&mut self, step: Step, bank: &mut Bank, left: u32) -> Option<ValueId> {
        if self.ledger.made() >= MOST_VALUES {
            return None;
        }
        let start = (self.words.len(), self.places.len());
        let encoded = self.encode(&step, bank);
        let drops = if encoded { self.ledger.step_or_drops(&step) } else { Ok(Vec::new()) };
        match drops {
            Ok(drops) if encoded && drops.is_empty() => {}
            Ok(drops) if encoded => {
                self.words.truncate(start.0);
                self.places.truncate(start.1);
                let left = left.checked_sub(1)?;
                for value in drops {
                    // One drop may end others.
                    if self.ledger.is_alive(value) {
                        self.take_after(Step::Drop(value), bank, left)?;
                    }
                }
                return self.take_after(step, bank, left);
            }
            _ => {
                self.words.truncate(start.0);
                self.places.truncate(start.1);
                return None;
            }
        }
        if let Step::Call { op, .. } = &step {
            self.calls += 1;
            self.subject_calls += u32::from(self.operations.get(*op).is_subject());
        }
        self.pieces.push(Piece::Own(step));
        if self.ledger.in_view() > 2 * VIEW {
            self.ledger.forget_idle(VIEW);
        }
        Some(ValueId(self.ledger.steps() - 1))
    }

    fn encode(&mut self, step: &Step, bank: &mut Bank) -> bool {
        match step {
            Step::Call { op, args } => {
                let operation = self.operations.get(*op);
                self.words.push(code::CALL_BASE + u16::try_from(op.0).unwrap_or(u16::MAX));
                for (param, arg) in operation.params.iter().zip(args) {
                    if !self.ledger.is_alive(arg.value) {
                        return false;
                    }
                    let bits = match (arg.how, param.take) {
                        (How::Move, _) => code::MOVE,
                        (How::Reborrow | How::ReborrowMut, Take::Shared | Take::Mut) => code::DEREF,
                        _ => 0,
                    };
                    self.value_word(arg.value, bits);
                }
            }
            Step::Literal { ty, value } => return self.literal(*ty, value, bank),
            Step::Drop(value) | Step::Forget(value) if !self.ledger.is_alive(*value) => return false,
            Step::Drop(value) => {
                self.words.push(code::DROP);
                self.value_word(*value, 0);
            }
            Step::Forget(value) => {
                self.words.push(code::FORGET);
                self.value_word(*value, 0);
            }
            Step::Closure(_) => return false,
        }
        true
    }

    fn value_word(&mut self, value: ValueId, bits: u16) {
        self.places.push(u32::try_from(self.words.len()).unwrap_or(u32::MAX));
        let number = u16::try_from(self.ledger.number(value)).unwrap_or(code::VALUE);
        self.words.push((number & code::VALUE) | bits);
    }

    fn literal(&mut self, ty: TypeId, value: &Literal, bank: &mut Bank) -> bool {
        let number = u16::try_from(ty.0).unwrap_or(u16::MAX);
        let (code, bits, words) = match value {
            Literal::Bool(value) => (code::INT, u128::from(*value), 4),
            Literal::Char(value) => (code::INT, u128::from(u32::from(*value)), 4),
            Literal::Float(bits) => (code::INT, u128::from(*bits), 4),
            Literal::Int(value) => match self.operations.ty(ty) {
                Ty::Prim(Prim::I128 | Prim::U128) => (code::WIDE, value.cast_unsigned(), 8),
                _ => (code::INT, value.cast_unsigned(), 4),
            },
            Literal::Str(text) => match bank.place(text.as_bytes()) {
                Some((offset, length)) => (code::STR, u128::from(offset) | (u128::from(length) << 32), 4),
                None => return false,
            },
            Literal::Bytes(bytes) => match bank.place(bytes) {
                Some((offset, length)) => (code::BYTES, u128::from(offset) | (u128::from(length) << 32), 4),
                None => return false,
            },
        };
        self.words.extend_from_slice(&[code, number]);
        for word in 0..words {
            #[expect(clippy::cast_possible_truncation, reason = "word by word")]
            self.words.push((bits >> (16 * word)) as u16);
        }
        true
    }

    /// The sequence as steps, with the drops that the end of the scope would do in the wrong order.
    pub fn finished(&self) -> Sequence {
        let mut sequence = super::pool::flatten(&self.pieces);
        for value in self.ledger.drops_at_end() {
            sequence.push(Step::Drop(value));
        }
        sequence
    }

    /// A sequence that ran in an earlier run, with every call as a new one; `None` if it is not legal as it stands.
    pub fn retrace(operations: &'a Operations, sequence: &Sequence, bank: &mut Bank) -> Option<Self> {
        let mut draft = Draft::new(operations);
        for step in &sequence.steps {
            // Nothing is forgotten on the way: what the steps use was in view where they were first joined.
            let legal = draft.ledger.drops_before(step).is_ok_and(|drops| drops.is_empty());
            if !legal || draft.ledger.made() >= MOST_VALUES || !draft.encode(step, bank) {
                return None;
            }
            draft.ledger.step(step).ok()?;
            draft.pieces.push(Piece::Own(step.clone()));
            if let Step::Call { op, args } = step {
                let value = ValueId(draft.ledger.steps() - 1);
                draft.fresh.push(Fresh { op: *op, args: args.clone(), value, classes: 0 });
                draft.calls += 1;
            }
        }
        (draft.calls > 0).then_some(draft)
    }

    /// A proposal from the draft, which observes what the new calls made and changed.
    pub fn propose(self) -> Proposal {
        let mut observed: Vec<ValueId> = Vec::new();
        for fresh in self.fresh.iter().rev() {
            let changed = fresh.args.iter().filter(|arg| matches!(arg.how, How::RefMut));
            for value in changed.map(|arg| arg.value).chain([fresh.value]) {
                if observed.len() < OBSERVED && !observed.contains(&value) && self.ledger.is_alive(value) {
                    observed.push(value);
                }
            }
        }
        self.propose_observing(&observed)
    }

    /// A proposal which observes these values, as far as they are alive.
    pub fn propose_observing(mut self, observed: &[ValueId]) -> Proposal {
        let observed: Vec<Observed> = observed
            .iter()
            .copied()
            .filter(|value| self.ledger.is_alive(*value))
            .take(OBSERVED)
            .map(|value| Observed { value, ty: self.ledger.ty(value), number: self.number(value) })
            .collect();
        let drops = self.ledger.drops_at_end();
        let drops = drops.into_iter().map(|value| (value, self.number(value))).collect();
        self.ledger.forget_idle(VIEW);
        Proposal {
            entry: Arc::new(Entry {
                pieces: self.pieces,
                words: self.words.into_boxed_slice(),
                places: self.places.into_boxed_slice(),
                calls: self.calls,
                subject_calls: self.subject_calls,
                state: self.ledger.into_state(),
            }),
            observed,
            drops,
            fresh: self.fresh,
        }
    }

    fn number(&self, value: ValueId) -> u16 {
        u16::try_from(self.ledger.number(value)).unwrap_or(code::VALUE) & code::VALUE
    }
}

/// Values whose fingerprints a proposal asks for, at most.
const OBSERVED: usize = 5;

#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub value: ValueId,
    pub ty: TypeId,
    number: u16,
}

/// A sequence to run, and what to look at.
#[derive(Debug)]
pub struct Proposal {
    pub entry: Arc<Entry>,
    pub observed: Vec<Observed>,
    /// Values to drop at the very end, in this order.
    drops: Vec<(ValueId, u16)>,
    pub fresh: Vec<Fresh>,
}

impl Proposal {
    /// Appends the proposal's code.
    pub fn add_to(&self, batch: &mut Batch) {
        let Batch { starts, words, .. } = batch;
        starts.push(u32::try_from(words.len()).unwrap_or(u32::MAX));
        let length = self.entry.words.len() + 2 * (self.observed.len() + self.drops.len());
        #[expect(clippy::cast_possible_truncation, reason = "word by word")]
        words.extend_from_slice(&[length as u16, (length >> 16) as u16]);
        words.extend_from_slice(&self.entry.words);
        for observed in &self.observed {
            words.extend_from_slice(&[code::OBSERVE, observed.number]);
        }
        for (_, number) in &self.drops {
            words.extend_from_slice(&[code::DROP, *number]);
        }
    }

    /// The steps as run; observations are not among them.
    pub fn sequence(&self) -> Sequence {
        let mut sequence = super::pool::flatten(&self.entry.pieces);
        for (value, _) in &self.drops {
            sequence.push(Step::Drop(*value));
        }
        sequence
    }

    /// The worker counts observations as steps; the number of a step in [`Proposal::sequence`].
    pub fn step(&self, executed: u32) -> u32 {
        let steps = self.entry.state.steps();
        let observed = u32::try_from(self.observed.len()).unwrap_or(0);
        if executed < steps { executed } else { executed.saturating_sub(observed).max(steps) }
    }
}
