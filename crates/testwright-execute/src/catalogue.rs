//! What a worker told about itself when it was ready.

use testwright_wire::layout::TypeInfo;

/// The worker's own account: its types, its operations, its protections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    /// Sizes, alignments and abilities ([`testwright_wire::layout::ability`]), by type number.
    pub types: Vec<TypeInfo>,
    /// How many operations there are.
    pub operations: u32,
    /// How many coverage counters are reported.
    pub counters: u32,
    /// How many coverage counters the binary has; those past `counters` had no room.
    pub counters_total: u64,
    /// Bits of [`testwright_wire::layout::guard`].
    pub guards: u32,
    /// Bits of [`testwright_wire::layout::steady`].
    pub steady: u32,
}

impl Catalogue {
    /// Whether all of these [`testwright_wire::layout::guard`] bits stand.
    pub fn guarded_by(&self, guards: u32) -> bool {
        self.guards & guards == guards
    }

    /// Whether all of these [`testwright_wire::layout::steady`] bits are fixed.
    pub fn steady_in(&self, sources: u32) -> bool {
        self.steady & sources == sources
    }
}
