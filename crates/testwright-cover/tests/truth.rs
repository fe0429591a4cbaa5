//! A program whose executed lines are known, compiled by the compiler at hand: what the reader makes of its map and counters.
//!
//! In the library below, `// +` marks lines that hold code and are executed, `// -` those that are not; `fn` with `// f+`
//! or `// f-` is a function as well. Every other line must have no code. The brace that closes an `if` without `else` stands
//! for its other branch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testwright_cover::{CoverError, Map, Package};

const LIBRARY: &str = "\
pub fn sign(number: i32) -> &'static str { // f+
    if number < 0 { // +
        return \"minus\"; // -
    } // +
    let text = match number { // +
        0 => \"none\", // -
        _ => \"plus\", // +
    };
    text // +
} // +

pub fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> { // f+
    let mut largest = *items.first()?; // +
    for item in items { // +
        if *item > largest { // +
            largest = *item; // +
        } // +
    }
    Some(largest) // +
} // +

pub fn unused<T: Default>() -> T { // f-
    T::default() // -
} // -

fn private() -> u8 { // f-
    1 // -
} // -

pub fn calls_private() -> u8 { // f-
    private() // -
} // -

#[inline]
pub fn halves(items: &[u8]) -> Vec<u8> { // f+
    items // +
        .iter() // +
        .map(|item| { // +
            if *item > 100 { // +
                return 50; // -
            } // +
            item / 2 // +
        }) // +
        .collect() // +
} // +

#[derive(Debug, Clone, PartialEq)]
pub struct Plain(pub u8);

#[cfg(test)]
mod tests {
    #[test]
    fn not_compiled() {
        assert_eq!(1, 1);
    }
}
";

/// Instances of `largest` reach its lines together, none alone. The program prints its own counters.
const PROGRAM: &str = "\
unsafe extern \"C\" {
    static __start___llvm_prf_cnts: u64;
    static __stop___llvm_prf_cnts: u64;
}

fn main() {
    subject::sign(3);
    subject::largest::<u8>(&[]);
    subject::largest(&[1.5, 2.5]);
    subject::halves(&[3]);
    let mut counter = &raw const __start___llvm_prf_cnts;
    while counter != &raw const __stop___llvm_prf_cnts {
        unsafe {
            println!(\"{}\", *counter);
            counter = counter.add(1);
        }
    }
}
";

struct Built {
    folder: TempDir,
    counts: Vec<u64>,
}

impl Built {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn package(&self) -> Package {
        Package::new(&self.path("subject"), &self.path("subject/target"))
    }
}

fn build(library: &str, program: &str, flags: &[&str]) -> Built {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("subject/target")).expect("writable");
    fs::write(at("subject/lib.rs"), library).expect("writable");
    // Our wrappers lie in the package's target folder.
    fs::write(at("subject/target/main.rs"), program).expect("writable");
    let rustc = |args: &[&str]| {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command
            .current_dir(folder.path())
            .args(["--edition=2024", "-Cinstrument-coverage", "-Cllvm-args=-enable-name-compression=false"])
            .args(flags)
            .args(args);
        let output = command.output().expect("rustc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    rustc(&["--crate-name=subject", "--crate-type=rlib", "subject/lib.rs"]);
    rustc(&["--crate-name=program", "--extern=subject=libsubject.rlib", "subject/target/main.rs"]);
    let output =
        Command::new(at("program")).env("LLVM_PROFILE_FILE", "/dev/null").output().expect("it starts");
    let printed = String::from_utf8(output.stdout).expect("numbers");
    let counts = printed.lines().map(|line| line.parse().expect("a number")).collect();
    Built { folder, counts }
}

/// Lines by mark.
fn marked(library: &str) -> (BTreeMap<u32, bool>, Vec<(u32, bool)>) {
    let (mut lines, mut functions) = (BTreeMap::new(), Vec::new());
    for (line, text) in (1..).zip(library.lines()) {
        let Some((_, mark)) = text.split_once("// ") else { continue };
        let hit = mark.ends_with('+');
        lines.insert(line, hit);
        if mark.starts_with('f') {
            functions.push((line, hit));
        }
    }
    (lines, functions)
}

#[track_caller]
fn check(flags: &[&str]) {
    let built = build(LIBRARY, PROGRAM, flags);
    let mut map = Map::of_binary(&built.path("program")).expect("readable");
    assert_eq!(map.counters(), built.counts.len());
    map.add_library(&built.path("libsubject.rlib")).expect("readable");
    let cover = map.cover(&built.counts, &built.package());
    let (lines, functions) = marked(LIBRARY);
    let found: Vec<_> = cover.functions.iter().map(|function| (function.line, function.hit)).collect();
    assert_eq!(found, functions, "{:#?}", cover.functions);
    assert_eq!(cover.files.len(), 1, "the program's own file is not the package's");
    assert_eq!(cover.files[0].file, "lib.rs");
    assert_eq!(cover.files[0].lines, lines);
    let missed: Vec<&str> = cover.missed().map(|function| function.name.as_str()).collect();
    assert_eq!(missed[1..], ["subject::private", "subject::calls_private"]);
    assert!(missed[0].starts_with("subject::unused"), "{missed:?}");
}

#[test]
fn lines_are_those_that_were_executed() {
    check(&["-Copt-level=0"]);
}

#[test]
fn optimisation_and_objects_change_nothing() {
    check(&["-Copt-level=1", "-Ccodegen-units=16"]);
}

#[test]
fn a_library_that_is_not_linked_counts_in_the_totals() {
    let library = "pub fn one<T: Default>() -> T {\n    T::default()\n}\npub fn two<T: Default>() -> T {\n    T::default()\n}\n";
    let program = PROGRAM.replace("subject::", "// ").replacen(
        "fn main() {",
        "fn main() {\n    subject::one::<u8>();",
        1,
    );
    let built = build(library, &program, &[]);
    let mut map = Map::of_binary(&built.path("program")).expect("readable");
    let alone = map.cover(&built.counts, &built.package());
    assert_eq!((alone.functions_hit(), alone.functions_total()), (1, 1), "the reason for the library");
    map.add_library(&built.path("libsubject.rlib")).expect("readable");
    let cover = map.cover(&built.counts, &built.package());
    assert_eq!((cover.functions_hit(), cover.functions_total()), (1, 2));
    assert_eq!((cover.lines_hit(), cover.lines_total()), (3, 6));
}

#[test]
fn what_is_no_program_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("text");
    assert!(matches!(Map::of_binary(&path), Err(CoverError::Read { .. })));
    fs::write(&path, "no program").expect("writable");
    assert!(matches!(Map::of_binary(&path), Err(CoverError::Object { .. })));
    assert!(matches!(Map::default().add_library(&path), Err(CoverError::Object { .. })));
    let plain = Map::of_binary(Path::new("/proc/self/exe")).expect("a program");
    assert_eq!(plain.counters(), 0, "this test is not instrumented");
}
