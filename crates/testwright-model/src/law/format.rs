//! The traits of `std::fmt`: nothing but the writer makes writing fail, whatever width, fill, precision and sign are asked for.

use super::{Law, ONE};

macro_rules! law {
    ($name:literal, $formats:literal) => {
        Law {
            class: concat!("law:", $name, ".infallible"),
            title: "does_not_fail",
            blames: ($name, "fmt"),
            needs: &[concat!("std::fmt::", $name)],
            written: &[concat!("std::fmt::", $name)],
            // A call of `format!` asks for nothing of the kind.
            shows_panics: true,
            takes: ONE,
            code: concat!(
                "{\n    let written = std::fmt::Write::write_fmt(&mut String::new(), format_args!(\"",
                $formats,
                "\", {*0}, {*0}, {*0}));\n    assert!(written.is_ok(), \"a value is written unless the writer fails\");\n}"
            ),
            says: "a value is written unless the writer fails",
            source: "std::fmt: \"a formatting implementation must and may only return an error if the passed-in Formatter returns an error\"",
            ..Law::NONE
        }
    };
}

pub const LAWS: &[Law] = &[
    law!("Debug", "{:?} {:#?} {:*>+12.2?}"),
    law!("Display", "{} {:#} {:*>+12.2}"),
    law!("LowerHex", "{:x} {:#x} {:*>+12.2x}"),
    law!("UpperHex", "{:X} {:#X} {:*>+12.2X}"),
    law!("Octal", "{:o} {:#o} {:*>+12.2o}"),
    law!("Binary", "{:b} {:#b} {:*>+12.2b}"),
    law!("LowerExp", "{:e} {:#e} {:*>+12.2e}"),
    law!("UpperExp", "{:E} {:#E} {:*>+12.2E}"),
    law!("Pointer", "{:p} {:#p} {:*>+12.2p}"),
];
