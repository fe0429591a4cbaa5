//! Collections of very many items, made at one stroke: what a library builds of them may be so deep that whoever walks or drops it by
//! calling itself overflows the stack. Chance makes none, because each costs as much as thousands of calls.

use rand::Rng;
use testwright_model::operation::{Origin, TypeId};
use testwright_model::sequence::Arg;
use testwright_model::{Literal, OpId, Prim, Ty};

use super::draft::{Draft, Proposal};
use super::{DEPTH, Maker, Means, Notes};

/// Enough to overflow a stack with the smallest frames, and few enough to be made in some milliseconds; no less than what counts as an absurd
/// demand, should a call take too long with them.
const ITEMS: i128 = crate::judge::ABSURD;
/// Calls that may follow.
const AFTERMATH: u32 = 2;

impl<'a> Maker<'a> {
    /// For each callable of the subject that takes a collection which can be filled: an operation, and which argument that is.
    pub fn takers_of_many(&self) -> Vec<(OpId, usize)> {
        let takes_many = |op: &OpId| {
            let mut params = self.operations.get(*op).params.iter();
            params.position(|param| self.filler(param.ty).is_some()).map(|index| (*op, index))
        };
        self.families.iter().filter_map(|family| family.iter().find_map(takes_many)).collect()
    }

    /// `vec![item; count]` for the type, if it is one that this makes.
    fn filler(&self, ty: TypeId) -> Option<OpId> {
        self.makers[ty].iter().copied().find(|op| {
            let operation = self.operations.get(*op);
            operation.origin == Origin::Std && operation.form.full == "vec![{0}; {1}]"
        })
    }

    /// A call of the operation with very many items, and a few calls with what it gives.
    pub fn propose_many(
        &self,
        draft: &mut Draft<'a>,
        means: &mut Means<'_>,
        op: OpId,
        index: usize,
    ) -> Option<Proposal> {
        self.start(draft, means);
        let params = &self.operations.get(op).params;
        let filler = self.filler(params[index].ty)?;
        let mut notes = Notes::default();
        let item = self.argument(draft, means, filler, 0, &[], &mut notes, DEPTH)?;
        let usize = self.operations.find_type(&Ty::Prim(Prim::Usize))?;
        let count = draft.literal(usize, &Literal::Int(ITEMS), Some((filler, 1)), means.bank)?;
        let how = self.way(self.operations.get(filler).params[1].take, usize, usize)?;
        let many = draft.call(filler, &[item, Arg { value: count, how }], notes.classes, 0)?;
        let mut args: Vec<Arg> = Vec::with_capacity(params.len());
        for (place, param) in params.iter().enumerate() {
            args.push(if place == index {
                Arg { value: many, how: self.way(param.take, param.ty, param.ty)? }
            } else {
                self.argument(draft, means, op, place, &args, &mut notes, DEPTH)?
            });
        }
        draft.call(op, &args, notes.classes, 0)?;
        for _ in 0..means.rng.random_range(0..=AFTERMATH) {
            if let Some(next) = self.follow(draft, means) {
                self.call(draft, means, next, DEPTH);
            }
        }
        Some(draft.propose())
    }
}
