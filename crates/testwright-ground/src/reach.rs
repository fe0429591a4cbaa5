//! Which operations can ever be called: every argument must be made by some other operation or be a literal.

use std::collections::HashSet;

use testwright_model::operation::{Operations, Take, TypeId};
use testwright_model::{OpId, Prim, Ty};

/// Whether values of the type can be written as literals.
pub fn is_literal(ty: &Ty) -> bool {
    match ty {
        Ty::Prim(_) => true,
        Ty::Ref { mutable: false, to, .. } => {
            matches!(&**to, Ty::Str) || matches!(&**to, Ty::Slice(of) if **of == Ty::Prim(Prim::U8))
        }
        _ => false,
    }
}

/// The types that can be made by operations for which `usable` holds, and the operations that can be called.
pub fn reachable(operations: &Operations, usable: impl Fn(OpId) -> bool) -> (HashSet<TypeId>, HashSet<OpId>) {
    let mut types: HashSet<TypeId> =
        operations.types.iter().zip(0..).filter(|(ty, _)| is_literal(ty)).map(|(_, id)| TypeId(id)).collect();
    let mut callable = HashSet::new();
    loop {
        let before = callable.len();
        for id in operations.ids().filter(|id| usable(*id)) {
            if callable.contains(&id) {
                continue;
            }
            let operation = operations.get(id);
            if operation.params.iter().all(|param| offers(operations, &types, param.take, param.ty)) {
                callable.insert(id);
                types.insert(operation.result);
            }
        }
        if callable.len() == before {
            return (types, callable);
        }
    }
}

/// Whether an argument can be had: a value of the type, or for borrows a reference to one.
pub fn offers(operations: &Operations, types: &HashSet<TypeId>, take: Take, ty: TypeId) -> bool {
    if types.contains(&ty) {
        return true;
    }
    let referenced = |mutable| {
        let target = operations.ty(ty).clone();
        let reference = if mutable { Ty::reference_mut(target) } else { Ty::reference(target) };
        operations.find_type(&reference).is_some_and(|id| types.contains(&id))
    };
    match take {
        Take::Value => false,
        Take::Shared => referenced(false) || referenced(true),
        Take::Mut => referenced(true),
    }
}
