//! Arguments of calls: values at hand, of the pool, new ones, literals.

use rand::Rng;
use rand::seq::IndexedRandom;
use testwright_model::operation::{Origin, Take, TypeId};
use testwright_model::sequence::{Arg, How, ValueId};
use testwright_model::{Literal, OpId, Prim, Ty};

use super::choice;
use super::draft::Draft;
use super::pool::Used;
use super::{LONGEST, MODEST, Maker, Means, NEVER, Notes, any};

impl<'a> Maker<'a> {
    #[expect(clippy::too_many_arguments, reason = "one place of one call, and what it may be made of")]
    pub(super) fn argument(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        others: &[Arg],
        notes: &mut Notes,
        depth: u32,
    ) -> Option<Arg> {
        let ty = self.operations.get(op).params[index].ty;
        let (literal, textual) = (self.literals[ty], !self.from_text[ty].is_empty());
        let number = literal && self.operations.ty(ty).is_int();
        if number && (self.is_count(op, index) || !means.choice.affords(op, index, means.rng)) {
            return self.written(draft, means, op, index, ty, notes);
        }
        // Literals are cheap: mostly take a new one. An operation that panics often is better given a value of which
        // something is known.
        let risky = means.choice.is_risky(op);
        if draft.focus.is_some() {
            if let Some(arg) = self.find(draft, means, op, index, others) {
                return Some(arg);
            }
        }
        if means.rng.random_bool(if literal {
            if risky { 0.7 } else { 0.3 }
        } else if risky {
            0.2
        } else if textual {
            0.6
        } else {
            0.8
        }) {
            let found = self.find(draft, means, op, index, others);
            let known = found.filter(|_| number).and_then(|arg| draft.literal_of(arg.value, means.bank));
            let avoided =
                known.as_ref().is_some_and(|known| means.choice.avoids(op, index, known, means.rng));
            if let Some(arg) = found.filter(|_| !avoided) {
                notes.classes |= match &known {
                    Some(known) => choice::class_bits(index, known),
                    None if number => choice::computed_bits(index),
                    None => 0,
                };
                return Some(arg);
            }
        }
        let pools = if literal {
            0.08
        } else if textual {
            0.6
        } else {
            0.92
        };
        if means.rng.random_bool(pools) {
            if let Some(arg) = self.pooled(draft, means, op, index, notes) {
                notes.classes |= if number { choice::computed_bits(index) } else { 0 };
                return Some(arg);
            }
        }
        self.make(draft, means, op, index, notes, depth)
            .or_else(|| self.find(draft, means, op, index, others))
    }

    /// An argument from the values at hand.
    pub(super) fn find(
        &self,
        draft: &Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        others: &[Arg],
    ) -> Option<Arg> {
        let param = &self.operations.get(op).params[index];
        // Asked for every value at hand, so as much as possible is known before.
        let itself = self.way(param.take, param.ty, param.ty);
        let through: &[(TypeId, bool)] =
            if param.take == Take::Value { &[] } else { &self.references[param.ty] };
        let fit = |value: ValueId, ty: TypeId| {
            let how = if ty == param.ty {
                itself?
            } else {
                through.iter().find(|(reference, _)| *reference == ty)?;
                self.way(param.take, param.ty, ty)?
            };
            let taken = others
                .iter()
                .any(|other| other.value == value && (is_exclusive(how) || is_exclusive(other.how)));
            (!taken).then_some(Arg { value, how })
        };
        if let Some(value) = draft.focus.filter(|value| draft.ledger.is_alive(*value)) {
            return fit(value, draft.ledger.ty(value));
        }
        // Whoever goes on with one value brings it further than whoever does something with each.
        if means.rng.random() {
            let mut recent = draft.recent().filter(|value| draft.ledger.is_alive(*value));
            if let Some(arg) = recent.find_map(|value| fit(value, draft.ledger.ty(value))) {
                return Some(arg);
            }
        }
        any(draft.ledger.alive().filter_map(|(value, ty)| fit(value, ty)), means.rng)
    }

    /// An argument by a sequence of the pool.
    pub(super) fn pooled(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        notes: &mut Notes,
    ) -> Option<Arg> {
        let pool = means.pool?;
        let params = &self.operations.get(op).params;
        let param = &params[index];
        let mut ty = param.ty;
        if param.take != Take::Value {
            let references = &self.references[param.ty];
            let fits = |mutable: bool| param.take == Take::Shared || mutable;
            if let Some((reference, mutable)) = references.choose(means.rng) {
                if fits(*mutable) && means.rng.random_ratio(1, 4) {
                    ty = *reference;
                }
            }
        }
        let alone = params.len() == 1;
        let refused = |fingerprint: u64| alone && means.choice.refuses(op, fingerprint);
        let (place, offer) = (0..3)
            .find_map(|_| pool.choose(ty, means.rng).filter(|(_, offer)| !refused(offer.fingerprint)))?;
        if draft.calls + offer.entry.shape.calls > LONGEST || !draft.has_room_for(&offer.entry) {
            return None;
        }
        if alone {
            notes.of = offer.fingerprint;
        }
        let first = draft.absorb(&offer.entry);
        draft.used.push(Used { ty, place, fingerprint: offer.fingerprint });
        let value = ValueId(offer.value.0 + first);
        let how = self.way(param.take, param.ty, ty)?;
        draft.ledger.is_alive(value).then_some(Arg { value, how })
    }

    /// How a value of type `ty` can be passed for a parameter.
    pub(super) fn way(&self, take: Take, wanted: TypeId, ty: TypeId) -> Option<How> {
        if ty == wanted {
            return Some(match take {
                Take::Value if self.operations.abilities(ty).copy => How::Copy,
                Take::Value if matches!(self.operations.ty(ty), Ty::Ref { mutable: true, .. }) => {
                    How::ReborrowMut
                }
                Take::Value => How::Move,
                Take::Shared => How::Ref,
                Take::Mut => How::RefMut,
            });
        }
        if take == Take::Value {
            return None;
        }
        let (_, mutable) = self.references[wanted].iter().find(|(id, _)| *id == ty)?;
        match take {
            Take::Shared => Some(How::Reborrow),
            Take::Mut if *mutable => Some(How::ReborrowMut),
            _ => None,
        }
    }

    /// A new value for a parameter.
    pub(super) fn make(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        notes: &mut Notes,
        depth: u32,
    ) -> Option<Arg> {
        let param = &self.operations.get(op).params[index];
        let usable = |ty: TypeId| self.cost[ty] < NEVER;
        let ty = if usable(param.ty) && means.rng.random_bool(0.8) {
            param.ty
        } else {
            let references = self.references[param.ty].iter().filter(|(_, mutable)| match param.take {
                Take::Value => false,
                Take::Shared => true,
                Take::Mut => *mutable,
            });
            let types = [param.ty].into_iter().chain(references.map(|(ty, _)| *ty));
            any(types.filter(|ty| usable(*ty)), means.rng)?
        };
        if self.writes_literal(ty, means) {
            return self.written(draft, means, op, index, ty, notes);
        }
        let how = self.way(param.take, param.ty, ty)?;
        if self.operations.ty(ty).is_int() {
            notes.classes |= choice::computed_bits(index);
        }
        let value = self.value(draft, means, ty, depth)?;
        Some(Arg { value, how })
    }

    /// A literal of type `ty` for a parameter.
    fn written(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        ty: TypeId,
        notes: &mut Notes,
    ) -> Option<Arg> {
        let param = &self.operations.get(op).params[index];
        let how = self.way(param.take, param.ty, ty)?;
        // Keys that are put in are to be taken out again.
        let again = !self.is_count(op, index) && means.rng.random_ratio(1, 3);
        let known = if again { draft.known_literal(ty, means) } else { None };
        let known = known.filter(|known| !means.choice.avoids(op, index, known, means.rng));
        let literal = known.unwrap_or_else(|| self.literal_for(op, index, ty, means));
        notes.classes |= choice::class_bits(index, &literal);
        let value = draft.literal(ty, &literal, Some((op, index)), means.bank)?;
        Some(Arg { value, how })
    }

    /// A count or an index for std's own: a large one costs time and memory, and finds nothing.
    pub(super) fn is_count(&self, op: OpId, index: usize) -> bool {
        let operation = self.operations.get(op);
        let param = &operation.params[index];
        operation.origin == Origin::Std
            && !param.open
            && *self.operations.ty(param.ty) == Ty::Prim(Prim::Usize)
    }

    /// A literal that an operation is likely to bear.
    pub(super) fn literal_for(&self, op: OpId, index: usize, ty: TypeId, means: &mut Means<'_>) -> Literal {
        let mut literal = self.literal(ty, means);
        let mut avoided = means.choice.avoids(op, index, &literal, means.rng);
        for _ in 0..3 {
            if !avoided {
                break;
            }
            literal = self.literal(ty, means);
            avoided = means.choice.avoids(op, index, &literal, means.rng);
        }
        let too_large = matches!(literal, Literal::Int(value) if !(0..=MODEST).contains(&value));
        if too_large && (avoided || self.is_count(op, index)) {
            literal = Literal::Int(self.wishes.clamp(means.rng.random_range(0..24)));
        }
        literal
    }

    pub(super) fn writes_literal(&self, ty: TypeId, means: &mut Means<'_>) -> bool {
        self.literals[ty] && (means.rng.random_bool(0.92) || self.makers[ty].is_empty())
    }

    pub(super) fn literal(&self, ty: TypeId, means: &mut Means<'_>) -> Literal {
        match self.operations.ty(ty) {
            ty if self.modest && ty.is_int() => Literal::Int(means.rng.random_range(0..32)),
            ty => {
                let literal = self.dictionary.literal(ty, means.rng);
                match literal {
                    Literal::Str(text) if means.bank.is_full() => {
                        let known = means.bank.any(means.rng).and_then(|bytes| str::from_utf8(bytes).ok());
                        Literal::Str(known.map_or(text, str::to_owned))
                    }
                    Literal::Bytes(bytes) if means.bank.is_full() => {
                        Literal::Bytes(means.bank.any(means.rng).map_or(bytes, <[u8]>::to_vec))
                    }
                    Literal::Int(value) => Literal::Int(self.wishes.clamp(value)),
                    other => other,
                }
            }
        }
    }

    pub(super) fn value(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        ty: TypeId,
        depth: u32,
    ) -> Option<ValueId> {
        let makers = &self.makers[ty];
        if depth == 0 || makers.is_empty() {
            return None;
        }
        // Near the bottom only the cheapest ways lead anywhere.
        let from_text = &self.from_text[ty];
        let choices = match depth {
            _ if !from_text.is_empty() && means.rng.random_bool(0.5) => from_text,
            0..4 => &makers[..makers.len().min(2)],
            _ => &makers[..],
        };
        for _ in 0..3 {
            let op = *choices.choose(means.rng)?;
            if means.choice.dares(op, means.rng) {
                if let Some(value) = self.call(draft, means, op, depth - 1) {
                    return Some(value);
                }
            }
        }
        None
    }
}

fn is_exclusive(how: How) -> bool {
    how == How::Move || how.is_mut()
}
