//! The ways in which the worker and the tests are compiled.

use serde::{Deserialize, Serialize};

/// Profile settings of one build; each has its own binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variant {
    pub opt_level: u8,
    pub overflow_checks: bool,
    pub debug_assertions: bool,
    pub coverage: Coverage,
    /// `AddressSanitizer`, in everything but std.
    pub sanitizer: bool,
}

/// What is counted while the subject and the wrappers run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Coverage {
    #[default]
    Off,
    /// Edges alone, to search by.
    Edges,
    /// Lines and sides of branches as well, to report them, and what is compared, for whoever asks. It costs a third of the worker's
    /// speed, because what is counted for them is not inlined.
    Lines,
}

impl Variant {
    /// Compiles in the shortest time, and tells most: lines, branches, comparisons.
    pub fn quick() -> Variant {
        Variant {
            opt_level: 0,
            overflow_checks: true,
            debug_assertions: true,
            coverage: Coverage::Lines,
            sanitizer: false,
        }
    }

    /// Runs fast, with all checks.
    pub fn fast() -> Variant {
        Variant { opt_level: 1, coverage: Coverage::Edges, ..Variant::quick() }
    }

    /// For memory errors that a panic would mask otherwise.
    pub fn memory() -> Variant {
        Variant {
            overflow_checks: false,
            debug_assertions: false,
            coverage: Coverage::Edges,
            ..Variant::quick()
        }
    }

    /// [`Variant::memory`] under the sanitizer, which is slow enough: optimised as the manual of the sanitizer says.
    pub fn sanitized() -> Variant {
        Variant { opt_level: 1, sanitizer: true, coverage: Coverage::Off, ..Variant::memory() }
    }

    /// Short and different for each variant; fit for a file's name.
    pub fn name(&self) -> String {
        let mut name = format!("o{}", self.opt_level);
        for (on, word) in [
            (self.overflow_checks, "overflow"),
            (self.debug_assertions, "debug"),
            (self.coverage == Coverage::Edges, "edges"),
            (self.coverage == Coverage::Lines, "lines"),
            (self.sanitizer, "asan"),
        ] {
            if on {
                name.push('-');
                name.push_str(word);
            }
        }
        name
    }

    /// Whether anything is counted.
    pub fn counts(&self) -> bool {
        self.coverage != Coverage::Off
    }

    /// The settings as arguments of cargo.
    pub(crate) fn arguments(self) -> Vec<String> {
        // Coverage and sanitizer are the wrapper's doing, which cargo does not see. The number of codegen units is a
        // setting that hardly matters and that it does see, so it keeps the artifacts apart.
        let units = 16 + self.coverage as u8 + 4 * u8::from(self.sanitizer);
        [
            format!("opt-level={}", self.opt_level),
            format!("overflow-checks={}", self.overflow_checks),
            format!("debug-assertions={}", self.debug_assertions),
            format!("codegen-units={units}"),
        ]
        .into_iter()
        .flat_map(|setting| ["--config".to_owned(), format!("profile.dev.{setting}")])
        .collect()
    }
}

/// The build under which an emitted test must fail or pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Confirm {
    pub overflow_checks: bool,
    pub debug_assertions: bool,
    pub opt_level: u8,
    pub sanitizer: bool,
}

impl Confirm {
    /// What `cargo test` does by default.
    pub fn debug() -> Confirm {
        Confirm { overflow_checks: true, debug_assertions: true, opt_level: 0, sanitizer: false }
    }

    /// What `cargo test --release` does.
    pub fn release() -> Confirm {
        Confirm { overflow_checks: false, debug_assertions: false, opt_level: 3, sanitizer: false }
    }
}

impl From<Confirm> for Variant {
    fn from(confirm: Confirm) -> Variant {
        let Confirm { overflow_checks, debug_assertions, opt_level, sanitizer } = confirm;
        Variant { opt_level, overflow_checks, debug_assertions, coverage: Coverage::Off, sanitizer }
    }
}
