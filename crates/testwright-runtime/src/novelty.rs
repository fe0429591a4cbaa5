//! Values that are the same because `==` says so: each is told apart by the fingerprint of the first one that it equals.

use crate::ledger;
use crate::lock::SpinLock;
use crate::types::{CloneFn, EqFn, FingerprintFn};

/// Values of one type that others are compared with, at most; what equals none of them has its own fingerprint.
const KEPT: usize = 256;

/// Clones of the values of one type, each different from the others, with their fingerprints. They are never dropped.
#[derive(Debug)]
pub struct Representatives(SpinLock<Vec<(*mut u8, u64)>>);

/// What has to be known of the type.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    pub size: usize,
    pub align: usize,
    pub clone: Option<CloneFn>,
    pub eq: Option<EqFn>,
    pub own: Option<FingerprintFn>,
}

impl Representatives {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Representatives(SpinLock::new(Vec::new()))
    }

    /// The fingerprint of the first value that equals this one; the caller's value and means are of one type.
    ///
    /// # Safety
    ///
    /// `value` is the address of a live value of the type, and the thread is the interpreter's.
    pub unsafe fn fingerprint(&self, value: *const u8, means: Means) -> u64 {
        let Some(own) = means.own else { return 0 };
        let (Some(clone), Some(eq)) = (means.clone, means.eq) else { return own(value) };
        // `==` may panic, so it is not called under the lock.
        let mut at = 0;
        while let Some((known, fingerprint)) = self.0.with(|all| all.get(at).copied()) {
            if eq(value, known) {
                return fingerprint;
            }
            at += 1;
        }
        let fingerprint = own(value);
        let room = std::alloc::Layout::from_size_align(means.size.max(1), means.align);
        if let (true, Ok(room)) = (at < KEPT, room) {
            let room = std::alloc::alloc(room);
            if !room.is_null() {
                // The clones outlive the sequence on purpose.
                ledger::uncounted(|| clone(value, room));
                self.0.with(|all| all.push((room, fingerprint)));
            }
        }
        fingerprint
    }
}
