//! One callable of the generated operation table.

/// A wrapper around one function of the crate under test or the std model.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Gets the addresses of its arguments and the cell for its result; the caller guarantees that they hold and take the right types.
    pub call: unsafe fn(*const *mut u8, *mut u8),
    /// How many arguments it takes, at most [`Operation::MAX_ARITY`].
    pub arity: u8,
    /// The result's place in the type table.
    pub result: u16,
}

impl Operation {
    pub const MAX_ARITY: usize = 32;
}
