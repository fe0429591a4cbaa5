//! Regression suites: what is printed for which pins, and that the compiler, clippy and the tests themselves agree.

mod package;
mod shelf;

use package::Package;
use shelf::{Line, Shelf, imports};
use testwright_emit::{Pin, RegressionTest, regression_file, regression_single, tidy};
use testwright_model::Prim::{I32, U8, U32, Usize};
use testwright_model::ValueId;

use Line::{Call, Drop, Int};

/// The statements of a single test, without what stands around them.
fn statements(test: &RegressionTest) -> String {
    let file = regression_single("header", &Shelf::new().operations, test, &imports());
    let (_, body) = file.split_once("() {\n").expect("a test");
    let (body, _) = body.split_once("    }\n").expect("its end");
    body.lines().map(|line| format!("{}\n", line.trim_start())).collect()
}

fn check(lines: &[Line<'_>], expected: &str) {
    let test = Shelf::new().test(lines);
    let expected = format!("let mut shelf = Shelf::new();\n{expected}");
    assert_eq!(statements(&test), expected);
}

const NEW: Line<'_> = Call("Shelf::new", &[], "");

#[test]
fn a_call_whose_result_is_only_asserted_stands_in_the_assertion() {
    check(
        &[
            NEW,
            Int(3, I32),
            Call("Shelf::insert", &[0, 1], "0"),
            Call("Shelf::get", &[0, 2], "Some(3)"),
            Call("Shelf::label", &[0], "\"1 items\""),
            Call("Shelf::items", &[0], "[3]"),
        ],
        "let key = shelf.insert(3);\n\
         assert_eq!(key, 0);\n\
         assert_eq!(shelf.get(key), Some(&3));\n\
         assert_eq!(shelf.label(), \"1 items\");\n\
         assert_eq!(shelf.items(), [3]);\n",
    );
}

#[test]
fn flags_and_empty_lists_have_assertions_of_their_own() {
    check(
        &[
            NEW,
            Call("Shelf::is_empty", &[0], "true"),
            Call("<Shelf as Shake>::shake", &[0], "false"),
            Call("Shelf::items", &[0], "[]"),
            Call("Shelf::mean", &[0], "NaN"),
        ],
        "assert!(shelf.is_empty());\n\
         assert!(!shelf.shake());\n\
         assert!(shelf.items().is_empty());\n\
         assert!(shelf.mean().is_nan());\n",
    );
}

#[test]
fn variants_are_written_as_the_crate_names_them() {
    check(
        &[NEW, Int(-1, I32), Call("Shelf::insert", &[0, 1], ""), Call("Shelf::side", &[0], "Some(Left)")],
        "let _ = shelf.insert(-1);\nassert_eq!(shelf.side(), Some(Side::Left));\n",
    );
}

#[test]
fn results_that_cannot_be_compared_are_unwrapped_or_read() {
    check(
        &[
            NEW,
            Int(1, I32),
            Call("Shelf::try_insert", &[0, 1], "Ok(())"),
            Call("Shelf::try_insert", &[0, 1], "Err(Full { at: 2 })"),
        ],
        "shelf.try_insert(1).unwrap();\n\
         assert_eq!(format!(\"{:?}\", shelf.try_insert(1)), \"Err(Full { at: 2 })\");\n",
    );
}

#[test]
fn other_types_are_read_and_keep_their_variable_if_they_have_a_destructor() {
    let test = Shelf::new().test(&[
        Call("Shelf::new", &[], "Shelf { items: [] }"),
        Call("Shelf::size", &[0], "Size { width: 0, height: 1 }"),
    ]);
    assert_eq!(
        statements(&test),
        "let shelf = Shelf::new();\n\
         assert_eq!(format!(\"{shelf:?}\"), \"Shelf { items: [] }\");\n\
         assert_eq!(format!(\"{:?}\", shelf.size()), \"Size { width: 0, height: 1 }\");\n",
    );
}

#[test]
fn what_a_call_left_is_asserted_at_the_end_and_the_test_is_named_by_the_call() {
    let shelf = Shelf::new();
    let mut test = shelf.test(&[
        NEW,
        Int(3, I32),
        Call("Shelf::insert", &[0, 1], ""),
        Call("Shelf::clear", &[0], ""),
        Call("Shelf::len", &[0], "0"),
    ]);
    test.about = Some(3);
    test.pins.push(Pin { value: ValueId(0), text: "Shelf { items: [] }".to_owned(), left: true });
    assert_eq!(
        statements(&test),
        "let mut shelf = Shelf::new();\n\
         let _ = shelf.insert(3);\n\
         shelf.clear();\n\
         assert_eq!(shelf.len(), 0);\n\
         assert_eq!(format!(\"{shelf:?}\"), \"Shelf { items: [] }\");\n",
    );
    let suite = regression_file("header", &shelf.operations, &[test.clone()], &imports());
    assert_eq!(suite.names, ["shelf::clear_after_insert_leaves_nothing"]);
    // Private parts are nobody's business.
    test.pins[1].text = "Shelf { inner: PhantomData }".to_owned();
    assert!(!statements(&test).contains("PhantomData"));
}

#[test]
fn addresses_and_long_texts_are_not_asserted() {
    let long = format!("\"{}\"", "a".repeat(300));
    check(
        &[
            NEW,
            Call("Shelf::clear", &[0], ""),
            Call("Shelf::size", &[0], "Size(0x7f01)"),
            Call("Shelf::label", &[0], &long),
        ],
        "shelf.clear();\nlet _ = shelf.size();\nlet _text = shelf.label();\n",
    );
}

#[test]
fn comparisons_that_are_false_get_a_variable() {
    check(
        &[
            NEW,
            Call("Shelf::clear", &[0], "()"),
            NEW,
            Call("<Shelf as PartialEq>::eq", &[0, 2], "true"),
            Call("<Shelf as PartialEq>::eq", &[0, 2], "false"),
            Call("<Shelf as PartialEq>::eq", &[0, 0], "true"),
            Drop(0),
        ],
        "shelf.clear();\n\
         let shelf2 = Shelf::new();\n\
         assert!(shelf == shelf2);\n\
         let equal = shelf == shelf2;\n\
         assert!(!equal);\n\
         assert!(<Shelf as PartialEq>::eq(&shelf, &shelf));\n\
         drop(shelf);\n",
    );
}

#[test]
fn fields_and_struct_literals_are_short() {
    check(
        &[
            NEW,
            Call("Shelf::clear", &[0], ""),
            Call("Shelf::size", &[0], ""),
            Call("Size.width", &[2], "0"),
            Int(7, U32),
            Call("Size", &[3, 4], ""),
            Call("Size.width", &[5], "0"),
        ],
        "shelf.clear();\n\
         let size = shelf.size();\n\
         let width = size.width;\n\
         assert_eq!(width, 0);\n\
         let size2 = Size { width, height: 7 };\n\
         assert_eq!(size2.width, 0);\n",
    );
}

/// Tests of all kinds, true of the library.
fn many(shelf: &Shelf) -> Vec<RegressionTest> {
    let insert = Call("Shelf::insert", &[0, 1], "0");
    let mut tests = vec![
        shelf.test(&[NEW, Call("Shelf::len", &[0], "0")]),
        shelf.test(&[NEW, Int(3, I32), insert, Call("Shelf::len", &[0], "1")]),
        shelf.test(&[
            NEW,
            Int(3, I32),
            Call("Shelf::insert", &[0, 1], "0"),
            Call("Shelf::remove", &[0, 2], "3"),
            Call("Shelf::len", &[0], "0"),
        ]),
        shelf.test(&[NEW, Int(9, Usize), Call("Shelf::get", &[0, 1], "None")]),
        shelf.test(&[
            NEW,
            Int(-4, I32),
            Call("Shelf::insert", &[0, 1], "0"),
            Call("Shelf::side", &[0], "Some(Left)"),
            Call("Shelf::items", &[0], "[-4]"),
            Call("Shelf::clear", &[0], "()"),
        ]),
        shelf.test(&[
            NEW,
            Int(1, I32),
            Call("Shelf::try_insert", &[0, 1], "Ok(())"),
            Call("Shelf::try_insert", &[0, 1], "Ok(())"),
            Call("Shelf::try_insert", &[0, 1], "Err(Full { at: 2 })"),
        ]),
        shelf.test(&[NEW, Call("<Shelf as Shake>::shake", &[0], "false")]),
        shelf.test(&[
            Call("Shelf::new", &[], "Shelf { items: [] }"),
            Call("Shelf::is_empty", &[0], "true"),
            Call("<Shelf as PartialEq>::eq", &[0, 0], "true"),
            Call("Shelf::mean", &[0], "NaN"),
            Call("Shelf::label", &[0], "\"0 items\""),
        ]),
        shelf.test(&[Int(4, U8), Call("shelf::count::twice", &[0], "8")]),
        shelf.test(&[
            NEW,
            Call("Shelf::size", &[0], "Size { width: 0, height: 1 }"),
            Call("Size.width", &[1], "0"),
            Int(7, U32),
            Call("Size", &[2, 3], "Size { width: 0, height: 7 }"),
        ]),
    ];
    let mut panics = shelf.test(&[NEW, Int(0, Usize), Call("Shelf::remove", &[0, 1], "")]);
    panics.panics = Some("no such \"key\"".to_owned());
    tests.push(panics);
    tests
}

#[test]
fn tests_are_named_by_call_context_and_outcome() {
    let shelf = Shelf::new();
    let mut tests = many(&shelf);
    tests.extend(many(&shelf).into_iter().take(3));
    let suite = regression_file("header", &shelf.operations, &tests, &imports());
    assert_eq!(
        suite.names,
        [
            "shelf::len_on_new_shelf_returns_0",
            "shelf::len_after_insert_returns_1",
            "shelf::len_after_remove_returns_0",
            "shelf::get_of_missing_key_is_none",
            "shelf::insert_then_clear",
            "shelf::try_insert_again_fails",
            "shelf::shake_on_new_shelf_returns_false",
            "shelf::label_on_new_shelf",
            "count::twice_returns_8",
            "shelf::size_on_new_shelf",
            "shelf::remove_on_new_shelf_panics",
            "shelf::len_returns_0",
            "shelf::len_returns_1",
            "shelf::len_after_insert_and_remove_returns_0",
        ]
    );
    assert_eq!(suite.assertions, [1, 2, 3, 1, 3, 3, 1, 5, 1, 3, 1, 1, 2, 3]);
}

#[test]
fn a_suite_is_one_file_of_modules() {
    let shelf = Shelf::new();
    let tests: Vec<RegressionTest> = many(&shelf).into_iter().skip(6).step_by(2).collect();
    let suite = regression_file("Written by hand.\n\nSeed 0.", &shelf.operations, &tests, &imports());
    let expected = "\
//! Written by hand.
//!
//! Seed 0.

// Every call is here because it is under test, also where a shorter way exists.
#![allow(deprecated, clippy::complexity, clippy::perf, clippy::style)]

mod count {
    #[test]
    fn twice_returns_8() {
        assert_eq!(shelf::count::twice(4), 8);
    }
}

mod shelf {
    use shelf::Shelf;

    #[test]
    fn shake_on_new_shelf_returns_false() {
        use shelf::Shake as _;

        let mut shelf = Shelf::new();
        assert!(!shelf.shake());
    }

    #[test]
    #[should_panic(expected = r#\"no such \"key\"\"#)]
    fn remove_on_new_shelf_panics() {
        let mut shelf = Shelf::new();
        let _ = shelf.remove(0);
    }
}
";
    assert_eq!(suite.text, expected);
}

#[test]
fn the_suite_compiles_passes_and_is_clean() {
    let shelf = Shelf::new();
    let suite = regression_file("A suite.", &shelf.operations, &many(&shelf), &imports());
    let text = tidy(&suite.text);
    assert_eq!(tidy(&text), text);
    Package::new("shelf", shelf::SOURCE).accepts(&text, suite.names.len());
}
