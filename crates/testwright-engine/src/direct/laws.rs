//! Values for laws: pairs and triples that are nearly equal, for that is where laws break.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use testwright_model::operation::{Take, TypeId};
use testwright_model::sequence::{Arg, ValueId};
use testwright_model::{Literal, OpId};

use super::draft::Draft;
use super::pool::Used;
use super::{DEPTH, LONGEST, Maker, Means, Notes, code};

/// A literal of a history that was replaced by one next to it: which one, and by what.
struct Nudged {
    place: usize,
    near: Literal,
}

impl<'a> Maker<'a> {
    /// Checks a law, and others that are about the same values.
    pub(super) fn judge_values(&self, draft: &mut Draft<'a>, means: &mut Means<'_>) -> Option<()> {
        let laws = self.laws.choose(means.rng)?;
        let (one, other) = (*laws.choose(means.rng)?, *laws.choose(means.rng)?);
        let op = if means.choice.weight(one) <= means.choice.weight(other) { one } else { other };
        if !means.choice.dares(op, means.rng) {
            return None;
        }
        let operation = self.operations.get(op);
        let mut args: Vec<Arg> = Vec::with_capacity(operation.params.len());
        let mut model = None;
        let mut nudged = None;
        for index in 0..operation.params.len() {
            let chosen = match (index, model) {
                (0, _) => self.plain(draft, means, op).map(|(arg, used)| {
                    model = Some(used);
                    arg
                }),
                (_, Some(model)) => self.like(draft, means, op, index, model, &mut nudged),
                _ => None,
            };
            let arg = match chosen {
                Some(arg) => arg,
                None => self.argument(draft, means, op, index, &args, &mut Notes::default(), DEPTH)?,
            };
            args.push(arg);
        }
        // Which of them is in the middle matters to some laws.
        if operation
            .params
            .iter()
            .all(|param| (param.take, param.ty) == (Take::Shared, operation.params[0].ty))
        {
            args.shuffle(means.rng);
        }
        draft.call(op, &args, 0, 0)?;
        for law in laws.iter().filter(|law| **law != op) {
            let params = &self.operations.get(*law).params;
            let same = params.len() <= args.len()
                && params.iter().zip(&operation.params).all(|(one, other)| {
                    one.take == Take::Shared && (one.take, one.ty) == (other.take, other.ty)
                });
            if same && means.choice.dares(*law, means.rng) && means.rng.random_bool(0.7) {
                draft.call(*law, &args[..params.len()], 0, 0);
            }
        }
        Some(())
    }

    /// A value of the pool with a short history, of which a small change is not lost among others.
    fn plain(&self, draft: &mut Draft<'a>, means: &mut Means<'_>, op: OpId) -> Option<(Arg, Used)> {
        let param = &self.operations.get(op).params[0];
        let pool = means.pool?;
        // Texts can be changed in more ways than numbers, and hold more of what comparing may overlook.
        let texts = means.rng.random();
        let offers = (0..6).filter_map(|_| pool.choose(param.ty, means.rng));
        let (place, offer) =
            offers.min_by_key(|(_, offer)| (texts && !offer.entry.has_text(), offer.entry.shape.calls))?;
        if means.rng.random_ratio(1, 4) || !draft.has_room_for(&offer.entry) {
            return None;
        }
        let how = self.way(param.take, param.ty, param.ty)?;
        let first = draft.absorb(&offer.entry);
        let used = Used { ty: param.ty, place, fingerprint: offer.fingerprint };
        draft.used.push(used);
        let value = ValueId(offer.value.0 + first);
        // Values of the pool differ in what they show; what they went through may matter too.
        for _ in 0..means.rng.random_range(0..3) {
            self.change(draft, means, param.ty, value);
        }
        draft.ledger.is_alive(value).then_some((Arg { value, how }, used))
    }

    /// Calls something of the subject with the value, if it is still there.
    fn change(&self, draft: &mut Draft<'a>, means: &mut Means<'_>, ty: TypeId, value: ValueId) {
        let Some(op) = self.subject_takers[ty].choose(means.rng) else { return };
        if draft.ledger.is_alive(value) && means.choice.dares(*op, means.rng) {
            draft.focus = Some(value);
            self.call(draft, means, *op, 3);
            draft.focus = None;
        }
    }

    /// A value that has the history of the first one, mostly with another literal, or with something done to it since.
    fn like(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
        used: Used,
        nudged: &mut Option<Nudged>,
    ) -> Option<Arg> {
        if means.rng.random_ratio(1, 3) {
            return None;
        }
        let param = &self.operations.get(op).params[index];
        let offer = means.pool?.get(&used)?;
        if draft.calls + offer.entry.shape.calls > LONGEST || !draft.has_room_for(&offer.entry) {
            return None;
        }
        let how = self.way(param.take, param.ty, used.ty)?;
        let sites = draft.literals();
        let first = draft.absorb(&offer.entry);
        let value = ValueId(offer.value.0 + first);
        match means.rng.random_range(0..4) {
            0 | 1 => self.nudge(draft, means, sites, nudged),
            2 => self.change(draft, means, used.ty, value),
            _ => {}
        }
        draft.ledger.is_alive(value).then_some(Arg { value, how })
    }

    /// Replaces one of the literals from number `first` on by one next to it. Half of the time it is one on the other side of what
    /// the value before has there: what holds between neighbours may not hold between theirs.
    fn nudge(&self, draft: &mut Draft<'a>, means: &mut Means<'_>, first: usize, nudged: &mut Option<Nudged>) {
        let before = nudged.take().filter(|_| means.rng.random());
        let count = draft.literals() - first;
        let place = before.as_ref().map_or_else(|| means.rng.random_range(0..count.max(1)), |it| it.place);
        let Some((site, words)) = draft.literal_at(first + place) else { return };
        let ty = TypeId(u32::from(words[1]));
        let opposite = before.and_then(|before| {
            let written = code::read_literal(self.operations, means.bank, words);
            testwright_learn::opposite(&written, &before.near, self.operations.ty(ty))
        });
        let Some(near) = opposite.or_else(|| self.near(words, site, means)) else { return };
        let mut written = Vec::new();
        if code::write_literal(self.operations, ty, &near, means.bank, &mut written).is_some() {
            draft.rewrite(site, &written);
            *nudged = Some(Nudged { place, near });
        }
    }
}
