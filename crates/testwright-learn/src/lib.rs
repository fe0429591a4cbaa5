//! What a package's own code teaches about good arguments: its sources go in, literals for generated calls come out.

pub mod dictionary;
mod nearby;

pub use dictionary::Dictionary;
pub use nearby::{nearby, opposite};
