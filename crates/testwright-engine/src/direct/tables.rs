//! What makes and what takes values of each type, worked out once for a search.

use testwright_model::operation::{Take, TypeId};
use testwright_model::{OpId, Prim, Ty};

use super::{Maker, NEVER};

impl Maker<'_> {
    pub(super) fn index_takers(&mut self, ids: &[OpId]) {
        for id in ids {
            let operation = self.operations.get(*id);
            for param in &operation.params {
                if self.literals[param.ty] {
                    continue;
                }
                let mut fitting = vec![param.ty];
                if param.take != Take::Value {
                    fitting.extend(
                        self.references[param.ty]
                            .iter()
                            .filter(|(_, mutable)| param.take == Take::Shared || *mutable)
                            .map(|(ty, _)| *ty),
                    );
                }
                for ty in fitting {
                    let subject = operation.is_subject().then_some(&mut self.subject_takers[ty]);
                    for takers in subject.into_iter().chain([&mut self.takers[ty]]) {
                        if takers.last() != Some(id) {
                            takers.push(*id);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn costs(&mut self, ids: &[OpId]) {
        for (cost, literal) in self.cost.0.iter_mut().zip(&self.literals.0) {
            if *literal {
                *cost = 1;
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
                let known = &mut self.cost[operation.result];
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
            self.makers[self.operations.get(*id).result].push(*id);
        }
        let is_text = |ty: &Ty| match ty {
            Ty::Ref { to, .. } => match &**to {
                Ty::Slice(of) => **of == Ty::Prim(Prim::U8),
                other => *other == Ty::Str,
            },
            _ => false,
        };
        for (makers, from_text) in self.makers.0.iter().zip(&mut self.from_text.0) {
            from_text.extend(makers.iter().filter(|id| {
                let mut params = self.operations.get(**id).params.iter();
                let only = params.next().filter(|_| params.next().is_none());
                only.is_some_and(|only| {
                    let written = self.references[only.ty].iter().any(|(ty, _)| self.literals[*ty]);
                    let of_reference = only.take == Take::Shared
                        && written
                        && is_text(&Ty::reference(self.operations.ty(only.ty).clone()));
                    self.literals[only.ty] && is_text(self.operations.ty(only.ty)) || of_reference
                })
            }));
        }
        // And what is made from such a value in turn, as a reader from a vector of bytes.
        for ty in 0..self.makers.0.len() {
            let of_made = |id: &OpId| match self.operations.get(*id).params.as_slice() {
                [only] => {
                    only.take == Take::Value
                        && only.ty.0 as usize != ty
                        && !self.from_text[only.ty].is_empty()
                }
                _ => false,
            };
            if self.from_text.0[ty].is_empty() {
                let further: Vec<OpId> = self.makers.0[ty].iter().copied().filter(of_made).collect();
                self.from_text.0[ty] = further;
            }
        }
        for makers in &mut self.makers.0 {
            let total = |id: &OpId| {
                self.operations.get(*id).params.iter().fold(1u32, |sum, param| {
                    let mut cost = self.cost[param.ty];
                    for (reference, _) in &self.references[param.ty] {
                        cost = cost.min(self.cost[*reference]);
                    }
                    sum.saturating_add(cost)
                })
            };
            makers.sort_by_key(total);
        }
    }

    pub(super) fn argument_cost(&self, take: Take, ty: TypeId) -> Option<u32> {
        let mut best = self.cost[ty];
        if take != Take::Value {
            for (reference, mutable) in &self.references[ty] {
                if take == Take::Shared || *mutable {
                    best = best.min(self.cost[*reference]);
                }
            }
        }
        Some(best).filter(|cost| *cost < NEVER)
    }
}
