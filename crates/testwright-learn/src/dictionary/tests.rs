//! Packages in, literals out.

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use rand::SeedableRng;

use super::*;

const LIBRARY: &str = r#"
//! Reads things.
//!
//! ```
//! # fn main() {
//! let version = sample::parse("1.2.3-alpha").unwrap();
//! # }
//! ```
//!
//! ```json
//! {"key": [1, 2]}
//! ```

const SIGNATURE: [u8; 4] = [0x89, b'P', b'N', 0x47];
const LIMIT: u64 = 86_400;

/** Block.
 *
 * ```rust
 * sample::block(b"\x00\xffblock", -273);
 * ```
 */
pub fn keyword(text: &str) -> Option<u32> {
    match text {
        "inf" | "nan" => Some(0x1234),
        _ if text.starts_with("0o") => panic!("message for people"),
        _ => None,
    }
}

macro_rules! table { () => { ("in a macro", 'λ', 2.75, b'~') } }

#[cfg(test)]
mod tests {
    #[test]
    fn reads() {
        super::keyword("inside a test").expect("it was fine");
        let table = [("case one", 7654321)];
    }
}
"#;

fn package(files: &[(&str, &str)]) -> (tempfile::TempDir, Harvest) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }
    let mut harvest = Harvest::new();
    harvest.package(folder.path());
    (folder, harvest)
}

fn of_code(code: &str) -> Dictionary {
    Dictionary::harvest(Path::new("/nothing/here"), &[code.to_owned()])
}

fn texts(dictionary: &Dictionary, seed: u64, count: usize) -> impl Iterator<Item = String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(move |_| dictionary.text(&mut rng))
}

#[test]
fn literals_are_harvested_best_first() {
    let (_folder, harvest) = package(&[
        ("src/lib.rs", LIBRARY),
        ("src/broken.rs", "fn f( { \"lost\""),
        ("tests/reads.rs", "#[test] fn t() { check(&[\"from tests\"]); }"),
        ("README.md", "Text\n```rust\nsample::read(\"from the readme\");\n```\n```sh\ncargo \"add\"\n```\n"),
        ("target/debug/out.rs", "fn f() { g(\"output\") }"),
    ]);
    let texts = harvest.texts.select(100);
    let shown: BTreeSet<&str> = texts[..4].iter().map(String::as_str).collect();
    assert_eq!(shown, BTreeSet::from(["1.2.3-alpha", "inside a test", "from tests", "from the readme"]));
    let named: BTreeSet<&str> = texts[4..8].iter().map(String::as_str).collect();
    assert_eq!(named, BTreeSet::from(["inf", "nan", "0o", "case one"]));
    let rest: BTreeSet<&str> = texts[8..].iter().map(String::as_str).collect();
    assert_eq!(
        rest,
        BTreeSet::from(["message for people", "it was fine", "in a macro", "{\"key\": [1, 2]}"])
    );

    let bytes = harvest.bytes.select(100);
    assert_eq!(bytes, [b"\x00\xffblock".to_vec(), b"\x89PNG".to_vec()]);
    let ints: BTreeSet<i128> = harvest.ints.select(100).into_iter().map(|int| int.value).collect();
    for value in [86_400, -273, 0x1234, 7_654_321, i128::from(b'~')] {
        assert!(ints.contains(&value), "{value} in {ints:?}");
    }
    assert_eq!(harvest.floats.select(10), [2.75f64.to_bits()]);
    assert!(harvest.chars.select(10).contains(&'λ'));
}

#[test]
fn long_strings_are_dropped_and_the_number_is_bounded() {
    let mut code = format!("f({:?});", "x".repeat(401));
    for number in 0..1000 {
        code.push_str(&format!("f(\"text {number}\", b\"b{number}\", {});", number + 1000));
    }
    let mut harvest = Harvest::new();
    harvest.code(&code, true);
    let texts = harvest.texts.select(MOST_TEXTS);
    assert_eq!(texts.len(), MOST_TEXTS);
    assert_eq!(texts[0], "text 0");
    assert!(texts.iter().all(|text| text.len() <= 400));
    assert_eq!(harvest.ints.select(MOST_INTS).len(), MOST_INTS);
}

#[test]
fn deep_nesting_is_survived() {
    let code = format!("{}\"a\"{}", "(".repeat(100_000), ")".repeat(100_000));
    let dictionary = of_code(&code);
    assert!(texts(&dictionary, 1, 100).count() == 100);
}

#[test]
fn a_seed_decides_everything() {
    let types = [
        Ty::Prim(Prim::U64),
        Ty::Prim(Prim::Char),
        Ty::Prim(Prim::F32),
        Ty::Prim(Prim::Bool),
        Ty::reference(Ty::Str),
        Ty::reference(Ty::Slice(Box::new(Ty::Prim(Prim::U8)))),
    ];
    let draw = |seed| {
        let mut dictionary = of_code(LIBRARY);
        dictionary.learn_text("learnt");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..3000).map(|i| dictionary.literal(&types[i % types.len()], &mut rng)).collect::<Vec<Literal>>()
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

#[test]
fn literals_have_the_kind_of_their_type() {
    let dictionary = of_code(LIBRARY);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for prim in Prim::ALL {
        let literal = dictionary.literal(&Ty::Prim(prim), &mut rng);
        let fits = match prim {
            Prim::Bool => matches!(literal, Literal::Bool(_)),
            Prim::Char => matches!(literal, Literal::Char(_)),
            Prim::F32 => matches!(literal, Literal::Float(bits) if u32::try_from(bits).is_ok()),
            Prim::F64 => matches!(literal, Literal::Float(_)),
            _ => matches!(literal, Literal::Int(_)),
        };
        assert!(fits, "{prim:?}: {literal:?}");
    }
}

#[test]
fn marks_alone_come_up() {
    let dictionary = of_code("render(\"{# comment #}\");");
    assert!(texts(&dictionary, 1, 200_000).any(|text| text == "{#}"));
}

#[test]
fn a_letter_before_marks_comes_up() {
    let dictionary = of_code("open(\"https://example.com/path\");");
    let found: BTreeSet<char> = texts(&dictionary, 1, 200_000)
        .filter(|text| text.len() == 4 && text.ends_with("://"))
        .filter_map(|text| text.chars().next().filter(char::is_ascii_lowercase))
        .collect();
    assert!(found.len() > 3, "{found:?}");
}

#[test]
fn numbers_in_strings_are_replaced_by_edges() {
    let dictionary = of_code("parse(\"v1.22.3\");");
    let drawn: BTreeSet<String> = texts(&dictionary, 1, 50_000).collect();
    for text in ["v1.256.3", "v18446744073709551616.22.3", "v1.22.-3", "v1..22.3", "v1.22.0", "v1.22"] {
        assert!(drawn.contains(text), "{text}");
    }
}

#[test]
fn strings_are_joined_where_both_have_the_same_mark() {
    let dictionary = of_code("parse(\"name=value\"); parse(\"other=thing\");");
    let drawn: BTreeSet<String> = texts(&dictionary, 1, 20_000).collect();
    assert!(drawn.contains("name=thing") && drawn.contains("other=value"));
}

#[test]
fn harvested_strings_are_a_large_part() {
    let dictionary = of_code("parse(\"one text\"); parse(\"other\"); parse(\"the-third\");");
    let whole = texts(&dictionary, 1, 10_000)
        .filter(|text| ["one text", "other", "the-third"].contains(&text.as_str()))
        .count();
    assert!((3_700..5_000).contains(&whole), "{whole}");
}

#[test]
fn repetitions_are_mostly_short_and_sometimes_deep() {
    let dictionary = of_code("parse(\"<a href>\");");
    let lengths: Vec<usize> = texts(&dictionary, 1, 200_000).map(|text| text.len()).collect();
    let deep = lengths.iter().filter(|length| **length >= 20_000).count();
    assert!((5..200).contains(&deep), "{deep}");
    assert!(lengths.iter().all(|length| *length <= 20_000 * 12));
    let distinct: BTreeSet<String> =
        texts(&dictionary, 2, 400_000).filter(|text| text.len() >= 20_000).collect();
    assert!(distinct.len() <= 32, "{}", distinct.len());
}

#[test]
fn bytes_are_harvested_changed_and_made_up() {
    let dictionary = of_code("read(&[0x89, b'P', b'N', b'G', 0, 0, 0, 9]); let tag = 0xa5;");
    let whole = b"\x89PNG\0\0\0\x09".to_vec();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let drawn: Vec<Vec<u8>> = (0..50_000).map(|_| dictionary.bytes(&mut rng)).collect();
    assert!(drawn.iter().filter(|bytes| **bytes == whole).count() > 15_000);
    assert!(drawn.contains(&b"\x89PNG\xff\xff\xff\xff".to_vec()), "a length field of ones");
    assert!(drawn.contains(&b"\x89PN".to_vec()), "a truncation");
    assert!(drawn.iter().any(|bytes| matches!(bytes.as_slice(), [0xa5, 2, _, _])), "a record");
    assert!(drawn.contains(&Vec::new()));
}

#[test]
fn what_is_learnt_comes_up_and_goes_again() {
    let mut dictionary = Dictionary::default();
    dictionary.learn_text("first learnt");
    dictionary.learn_bytes(b"\x01\x02\x03\x04\x05");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    assert!(texts(&dictionary, 1, 1000).any(|text| text == "first learnt"));
    assert!((0..1000).any(|_| dictionary.bytes(&mut rng) == [1, 2, 3, 4, 5]));
    for number in 0..200 {
        dictionary.learn_text(&format!("learnt {number}"));
    }
    assert!(!texts(&dictionary, 1, 20_000).any(|text| text == "first learnt"));
    dictionary.learn_text(&"x".repeat(401));
    dictionary.learn_text("");
    assert!(texts(&dictionary, 1, 20_000).any(|text| text == "learnt 199"));
}

#[test]
fn characters_of_every_length_come_up() {
    let dictionary = of_code("f('§');");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let drawn: BTreeSet<char> = (0..10_000).map(|_| dictionary.char(&mut rng)).collect();
    for c in ['a', 'Z', '0', ' ', '\n', '\0', '§', 'é', '日', '😀', '\u{301}', '\u{10ffff}'] {
        assert!(drawn.contains(&c), "{c:?}");
    }
}

/// `cargo test --release -p testwright-learn -- --ignored --nocapture` prints the cost of a draw.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_literal() {
    const DRAWS: u32 = 2_000_000;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testwright-ground");
    let start = Instant::now();
    let dictionary = Dictionary::harvest(&root, &[]);
    println!("harvest: {:?}", start.elapsed());
    for ty in [
        Ty::Prim(Prim::U8),
        Ty::Prim(Prim::I64),
        Ty::Prim(Prim::U128),
        Ty::Prim(Prim::F64),
        Ty::Prim(Prim::Char),
        Ty::reference(Ty::Str),
        Ty::reference(Ty::Slice(Box::new(Ty::Prim(Prim::U8)))),
    ] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let start = Instant::now();
        for _ in 0..DRAWS {
            black_box(dictionary.literal(&ty, &mut rng));
        }
        println!("{ty}: {} ns", (start.elapsed() / DRAWS).as_nanos());
    }
}
