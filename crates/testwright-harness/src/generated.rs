//! The generated Rust files, and the way back from a file and line to what was written there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::error::HarnessError;
use crate::files;
use crate::source::HarnessSource;

/// Wrappers in one file, which is also what one codegen unit starts from.
const WRAPPERS_A_FILE: usize = 100;

/// What a piece of generated text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Piece {
    Operation(usize),
    Type(usize),
    /// The second number counts the operation's checks.
    Check(usize, usize),
}

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extent {
    pub operations: BTreeSet<usize>,
    pub types: BTreeSet<usize>,
    pub checks: BTreeSet<(usize, usize)>,
}

/// Files by their path below the workspace, with the lines of each piece.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    files: BTreeMap<String, File>,
}

#[derive(Debug, Default)]
struct File {
    text: String,
    lines: usize,
    /// First and last line, 1-based, in ascending order.
    pieces: Vec<(usize, usize, Piece)>,
}

impl File {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
        self.lines += text.lines().count().max(1);
    }

    fn push_piece(&mut self, text: &str, piece: Piece) {
        let first = self.lines + 1;
        self.push(text);
        self.pieces.push((first, self.lines, piece));
    }
}

impl Generated {
    pub fn new(source: &HarnessSource, extent: &Extent) -> Generated {
        let mut generated = Generated::default();
        generated.wrappers(source, extent);
        generated.checks(source, extent);
        generated
    }

    /// What stands at a line of a file that the compiler names relative to the workspace, or with its whole path.
    pub fn piece_at(&self, file: &str, line: usize, root: &Path) -> Option<Piece> {
        let name = Path::new(file).strip_prefix(root).unwrap_or(Path::new(file)).to_str()?;
        let pieces = &self.files.get(name)?.pieces;
        let at = pieces.partition_point(|(first, ..)| *first <= line).checked_sub(1)?;
        let (_, last, piece) = pieces[at];
        (line <= last).then_some(piece)
    }

    /// Writes what changed; files of an earlier round that are no longer needed are not mentioned by any other.
    pub fn write(&self, root: &Path) -> Result<(), HarnessError> {
        for (name, file) in &self.files {
            files::write_if_changed(&root.join(name), &file.text)?;
        }
        Ok(())
    }

    fn wrappers(&mut self, source: &HarnessSource, extent: &Extent) {
        let mut root = File::default();
        root.push(
            "#![allow(warnings)]\n#![recursion_limit = \"512\"]\nextern crate testwright_runtime as tw;",
        );
        let mut table = File::default();
        table.push("use crate::*;\n\npub static OPERATIONS: &[tw::Operation] = &[");
        for (at, chunk) in source.operations.chunks(WRAPPERS_A_FILE).enumerate() {
            let mut file = File::default();
            file.push("use crate::*;");
            let _ = writeln!(root.text, "mod w{at};");
            root.lines += 1;
            for (within, operation) in chunk.iter().enumerate() {
                let index = at * WRAPPERS_A_FILE + within;
                if extent.operations.contains(&index) {
                    let text = operation.wrapper.trim_start();
                    let text = text.strip_prefix("pub ").unwrap_or(text);
                    file.push_piece(&format!("pub {text}"), Piece::Operation(index));
                    table.push_piece(
                        &operation_entry(at, index, operation.arity, operation.result),
                        Piece::Operation(index),
                    );
                } else {
                    table.push(&format!(
                        "    tw::Operation {{ call: removed, arity: {}, result: 0 }},",
                        operation.arity
                    ));
                }
            }
            self.files.insert(format!("wrappers/src/w{at}.rs"), file);
        }
        table.push("];\n\nunsafe fn removed(_: *const *mut u8, _: *mut u8) { std::process::abort() }\n");
        table.push("\npub static TYPES: &[tw::Type] = &[");
        for (index, ty) in source.types.iter().enumerate() {
            if extent.types.contains(&index) {
                table.push_piece(&format!("    tw::type_entry!({ty}),"), Piece::Type(index));
            } else {
                table.push("    tw::type_entry!(()),");
            }
        }
        table.push("];");
        root.push("mod table;\npub use table::{OPERATIONS, TYPES};");
        root.push(&source.prelude);
        self.files.insert("wrappers/src/lib.rs".to_owned(), root);
        self.files.insert("wrappers/src/table.rs".to_owned(), table);
    }

    fn checks(&mut self, source: &HarnessSource, extent: &Extent) {
        let mut root = File::default();
        root.push(
            "#![allow(warnings)]\n#![recursion_limit = \"512\"]\nextern crate testwright_runtime as tw;",
        );
        for (at, chunk) in source.operations.chunks(WRAPPERS_A_FILE).enumerate() {
            let mut file = File::default();
            root.push(&format!("mod c{at};"));
            for (within, operation) in chunk.iter().enumerate() {
                let index = at * WRAPPERS_A_FILE + within;
                for (choice, check) in operation.checks.iter().enumerate() {
                    if extent.checks.contains(&(index, choice)) {
                        file.push(&format!("mod c{index}_{choice} {{ use crate::*;"));
                        file.push_piece(check, Piece::Check(index, choice));
                        file.push("}");
                    }
                }
            }
            self.files.insert(format!("checks/src/c{at}.rs"), file);
        }
        root.push(&source.prelude);
        self.files.insert("checks/src/lib.rs".to_owned(), root);
    }
}

fn operation_entry(file: usize, index: usize, arity: u8, result: usize) -> String {
    format!("    tw::Operation {{ call: w{file}::w{index}, arity: {arity}, result: {result} }},")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::OperationSource;

    #[test]
    fn lines_lead_back_to_their_piece() {
        let operation = |index: usize| OperationSource {
            wrapper: format!("unsafe fn w{index}(a: *const *mut u8, r: *mut u8) {{\n}}"),
            checks: vec![format!("fn check_{index}() {{}}"); 2],
            ..OperationSource::default()
        };
        let source = HarnessSource {
            operations: (0..250).map(operation).collect(),
            types: vec!["()".to_owned()],
            ..HarnessSource::default()
        };
        let extent = Extent {
            operations: (0..250).filter(|index| index % 7 != 0).collect(),
            types: BTreeSet::from([0]),
            checks: (0..250).map(|index| (index, 1)).collect(),
        };
        let generated = Generated::new(&source, &extent);
        let root = Path::new("/h");
        let mut found = 0;
        for (name, file) in &generated.files {
            assert_eq!(file.text.lines().count(), file.lines, "{name}");
            for (at, line) in file.text.lines().enumerate() {
                if let Some(number) = line.strip_prefix("pub unsafe fn w") {
                    let index =
                        number.split('(').next().and_then(|text| text.parse().ok()).expect("a number");
                    for line in [at + 1, at + 2] {
                        assert_eq!(generated.piece_at(name, line, root), Some(Piece::Operation(index)));
                    }
                    found += 1;
                }
            }
        }
        assert_eq!(found, extent.operations.len());
        assert_eq!(generated.piece_at("/h/checks/src/c0.rs", 2, root), Some(Piece::Check(0, 1)));
        assert_eq!(generated.piece_at("checks/src/c0.rs", 3, root), None);
    }
}
