//! For each kind of result, a function that returns it, its `Debug` text and the assertion; then all of it compiled and run.

mod package;

use package::Package;
use testwright_emit::{Imports, Pin, RegressionTest, regression_file, tidy};
use testwright_model::operation::{Abilities, Flow, Form, Operations, Origin};
use testwright_model::sequence::{Sequence, Step};
use testwright_model::{Const, OpId, Operation, Prim, Region, Ty, ValueId};

/// Type, value, its text, and what is compared with `given::call()`.
type Row = (Ty, &'static str, &'static str, &'static str);

#[expect(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    let std = |path: &str, args: Vec<Ty>| Ty::adt(&format!("std::{path}"), args);
    let option = |of: Ty| std("option::Option", vec![of]);
    let vec = |of: Ty| std("vec::Vec", vec![of]);
    let reference = |to: Ty, mutable: bool| Ty::Ref { region: Region::Static, mutable, to: Box::new(to) };
    let (int, byte) = (Ty::Prim(Prim::I64), Ty::Prim(Prim::U8));
    let string = std("string::String", Vec::new());
    let str_ = reference(Ty::Str, false);
    let slice = |of: &Ty, mutable| reference(Ty::Slice(Box::new(of.clone())), mutable);
    let array = |of: &Ty, n: usize| Ty::Array(Box::new(of.clone()), Const::Value(n.to_string()));
    let cow = Ty::Adt {
        path: "std::borrow::Cow".to_owned(),
        args: vec![
            testwright_model::GenericArg::Region(Region::Static),
            testwright_model::GenericArg::Ty(Ty::Str),
        ],
    };
    vec![
        (int.clone(), "-3", "-3", "assert_eq!(given::CALL, -3);"),
        (int.clone(), "i64::MIN", "-9223372036854775808", "assert_eq!(given::CALL, i64::MIN);"),
        (byte.clone(), "255", "255", "assert_eq!(given::CALL, 255);"),
        (Ty::Prim(Prim::Bool), "false", "false", "assert!(!given::CALL);"),
        (Ty::Prim(Prim::Char), "'\\''", "'\\''", "assert_eq!(given::CALL, '\\'');"),
        (Ty::Prim(Prim::F64), "1e300", "1e300", "assert_eq!(given::CALL, 1e300);"),
        (Ty::Prim(Prim::F32), "f32::INFINITY", "inf", "assert_eq!(given::CALL, f32::INFINITY);"),
        (Ty::Prim(Prim::F32), "f32::NAN", "NaN", "assert!(given::CALL.is_nan());"),
        (str_.clone(), "\"a\\n\"", "\"a\\n\"", "assert_eq!(given::CALL, \"a\\n\");"),
        (string.clone(), "String::new()", "\"\"", "assert_eq!(given::CALL, \"\");"),
        (cow, "\"a\".into()", "\"a\"", "assert_eq!(given::CALL, \"a\");"),
        (option(str_.clone()), "Some(\"a\")", "Some(\"a\")", "assert_eq!(given::CALL, Some(\"a\"));"),
        (
            option(string.clone()),
            "Some(\"a\".into())",
            "Some(\"a\")",
            "assert_eq!(given::CALL, Some(String::from(\"a\")));",
        ),
        (option(int.clone()), "None", "None", "assert_eq!(given::CALL, None);"),
        (vec(int.clone()), "vec![1, 2]", "[1, 2]", "assert_eq!(given::CALL, [1, 2]);"),
        (vec(int.clone()), "vec![]", "[]", "assert!(given::CALL.is_empty());"),
        (vec(string.clone()), "vec![\"a\".into()]", "[\"a\"]", "assert_eq!(given::CALL, [\"a\"]);"),
        (
            vec(option(int.clone())),
            "vec![None, Some(1)]",
            "[None, Some(1)]",
            "assert_eq!(given::CALL, [None, Some(1)]);",
        ),
        (vec(vec(int.clone())), "vec![vec![1]]", "[[1]]", "assert_eq!(given::CALL, [[1]]);"),
        (
            vec(vec(int.clone())),
            "vec![vec![]]",
            "[[]]",
            "assert_eq!(format!(\"{:?}\", given::CALL), \"[[]]\");",
        ),
        (option(vec(int.clone())), "Some(vec![])", "Some([])", "assert_eq!(given::CALL, Some(vec![]));"),
        (slice(&int, false), "&[1]", "[1]", "assert_eq!(given::CALL, [1]);"),
        (slice(&byte, true), "Vec::leak(vec![1])", "[1]", "assert_eq!(given::CALL, [1]);"),
        (
            option(slice(&byte, false)),
            "Some(b\"a\")",
            "Some([97])",
            "assert_eq!(given::CALL, Some(&[97][..]));",
        ),
        (array(&string, 1), "[\"a\".into()]", "[\"a\"]", "assert_eq!(given::CALL, [\"a\"]);"),
        (array(&int, 0), "[]", "[]", "assert_eq!(format!(\"{:?}\", given::CALL), \"[]\");"),
        (reference(int.clone(), false), "&4", "4", "assert_eq!(given::CALL, &4);"),
        (reference(int.clone(), true), "Box::leak(Box::new(4))", "4", "assert_eq!(given::CALL, &mut 4);"),
        (
            option(reference(int.clone(), true)),
            "Some(Box::leak(Box::new(4)))",
            "Some(4)",
            "assert_eq!(given::CALL, Some(&mut 4));",
        ),
        (
            reference(string.clone(), true),
            "Box::leak(Box::new(\"a\".into()))",
            "\"a\"",
            "assert_eq!(given::CALL, \"a\");",
        ),
        (
            reference(vec(int.clone()), false),
            "Box::leak(Box::new(vec![1]))",
            "[1]",
            "assert_eq!(given::CALL, &[1]);",
        ),
        (
            Ty::Tuple(vec![int.clone(), string.clone()]),
            "(1, \"a\".into())",
            "(1, \"a\")",
            "assert_eq!(given::CALL, (1, String::from(\"a\")));",
        ),
        (Ty::Tuple(vec![int.clone()]), "(1,)", "(1,)", "assert_eq!(given::CALL, (1,));"),
        (
            std("result::Result", vec![Ty::unit(), string.clone()]),
            "Ok(())",
            "Ok(())",
            "assert_eq!(given::CALL, Ok(()));",
        ),
        (
            std("result::Result", vec![int.clone(), string]),
            "Err(\"a\".into())",
            "Err(\"a\")",
            "assert_eq!(given::CALL, Err(String::from(\"a\")));",
        ),
        (std("boxed::Box", vec![int.clone()]), "Box::new(1)", "1", "assert_eq!(given::CALL, Box::new(1));"),
        (
            std("cmp::Ordering", Vec::new()),
            "std::cmp::Ordering::Less",
            "Less",
            "assert_eq!(given::CALL, Ordering::Less);",
        ),
        (
            std("collections::VecDeque", vec![int]),
            "std::collections::VecDeque::from([1])",
            "[1]",
            "assert_eq!(given::CALL, [1]);",
        ),
    ]
}

#[test]
fn literals_are_compared_as_the_compiler_and_clippy_like_it() {
    let mut operations = Operations::default();
    let mut library = String::new();
    let mut tests = Vec::new();
    let mut expected = Vec::new();
    for (index, (ty, value, text, assertion)) in rows().into_iter().enumerate() {
        let name = format!("give{index}");
        library.push_str(&format!("pub fn {name}() -> {ty} {{\n    {value}\n}}\n"));
        expected.push(assertion.replace("CALL", &format!("{name}()")));
        let result = operations.type_id(&ty);
        operations.abilities[result.0 as usize] = Abilities { eq: true, debug: true, ..Abilities::default() };
        operations.operations.push(Operation {
            path: format!("given::{name}"),
            origin: Origin::Subject(0),
            params: Vec::new(),
            result,
            flow: Flow::default(),
            form: Form { full: format!("given::{name}()"), ..Form::default() },
            panics: None,
            grounding: String::new(),
        });
        let op = OpId(u32::try_from(index).expect("few rows"));
        let sequence = Sequence { steps: vec![Step::Call { op, args: Vec::new() }] };
        let pins = vec![Pin { value: ValueId(0), text: text.to_owned(), left: false }];
        tests.push(RegressionTest { sequence, pins, ..RegressionTest::default() });
    }
    let imports = Imports { lib: "given".to_owned(), foreign: Vec::new() };
    let suite = regression_file("Literals.", &operations, &tests, &imports);
    let printed: Vec<&str> =
        suite.text.lines().map(str::trim).filter(|line| line.starts_with("assert")).collect();
    assert_eq!(printed, expected);
    Package::new("given", &library).accepts(&tidy(&suite.text), tests.len());
}
