//! What tool and worker say to each other: one shared memory file, two pipes, plain integers.
//!
//! Receives nothing, depends on nothing. The tool encodes sequences with [`code`], the worker
//! interprets them and answers with [`record`]s; [`layout`] says where in the shared file things lie.
//! Both sides compare [`layout::MAGIC`] and [`VERSION`] before anything else.

pub mod code;
pub mod layout;
pub mod record;
pub mod size;

/// Raised with every change of layout, code or record.
pub const VERSION: u32 = 3;

/// Descriptors that the launcher leaves open in the worker, and nothing else but 0, 1, 2.
pub mod descriptor {
    /// The shared memory file.
    pub const SHARED: i32 = 3;
    /// The worker reads one byte here: the number of the slot to run.
    pub const COMMAND: i32 = 4;
    /// The worker writes one byte here: the number of the slot it has finished ([`super::READY`] at start).
    pub const EVENT: i32 = 5;
}

/// The byte that the worker writes once, when it stands in its sandbox and has filled the catalogue.
pub const READY: u8 = 0xff;
