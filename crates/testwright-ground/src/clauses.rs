//! The Rust text of clauses: in wrappers, where a panic of the expression itself is kept apart, and in stand-alone checks.

use testwright_model::contract::{As, Clause, Part, When, quoted, write};

/// What wrappers with clauses use.
pub const PRELUDE: &str = "\
#[inline]
pub fn testwright_answer<T>(question: impl FnOnce() -> T, unanswered: &str) -> T {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(question)) {
        Ok(answer) => answer,
        Err(_) => panic!(\"{unanswered}\"),
    }
}
";

/// The statements around a call.
#[derive(Debug, Default)]
pub struct Around {
    pub before: String,
    pub after: String,
}

/// For a wrapper: `refers` says which arguments are references, the result is `v`.
pub fn in_wrapper(clauses: &[Clause], refers: &dyn Fn(usize) -> bool) -> Around {
    let mut around = Around::default();
    // What is refused is refused before anything else is asked.
    for (number, clause) in clauses.iter().enumerate().filter(|(_, clause)| clause.when == When::Before) {
        around.before.push_str(&in_worker(number, clause, refers));
    }
    for (number, clause) in clauses.iter().enumerate().filter(|(_, clause)| clause.when == When::After) {
        let unanswered = format!("{:?}", clause.unanswered());
        for (index, old) in clause.olds.iter().enumerate() {
            let value = expression(number, &old.value, refers, clause);
            around.before.push_str(&format!(
                "    let old{number}_{index} = testwright_answer(|| {{ {value} }}, {unanswered});\n"
            ));
        }
        around.after.push_str(&in_worker(number, clause, refers));
    }
    around
}

fn in_worker(number: usize, clause: &Clause, refers: &dyn Fn(usize) -> bool) -> String {
    let holds = expression(number, &clause.holds, refers, clause);
    let (says, unanswered) = (quoted(&clause.says), clause.unanswered());
    let check =
        format!("if !testwright_answer(|| -> bool {{ {holds} }}, {unanswered:?}) {{ core::panic!({says}) }}");
    inside(clause, &check)
}

/// For a check, in which the clauses stand as a test would print them; the result is `v`.
pub fn in_check(clauses: &[Clause], refers: &dyn Fn(usize) -> bool) -> Around {
    let mut around = Around::default();
    for (number, clause) in clauses.iter().enumerate().filter(|(_, clause)| clause.when == When::After) {
        for (index, old) in clause.olds.iter().enumerate() {
            let value = expression(number, &old.value, refers, clause);
            around.before.push_str(&format!("let old{number}_{index} = {value}; "));
        }
        let holds = expression(number, &clause.holds, refers, clause);
        around.after.push_str(&inside(clause, &format!("assert!({holds});")));
    }
    around
}

/// With what lies in the result as `it`, if it is about that.
fn inside(clause: &Clause, check: &str) -> String {
    match &clause.inside {
        Some(variant) => format!("    if let {variant}(it) = &v {{ {check} }}\n"),
        None => format!("    {check}\n"),
    }
}

fn expression(number: usize, parts: &[Part], refers: &dyn Fn(usize) -> bool, clause: &Clause) -> String {
    write(parts, |part, _| match part {
        Part::Text(text) => text.clone(),
        Part::Old(index) => format!("old{number}_{index}"),
        Part::Argument(index, how) => written(&format!("a{index}"), refers(*index), *how),
        Part::Result(how) => match clause.inside {
            Some(_) => written("it", true, *how),
            None => written("v", false, *how),
        },
    })
}

fn written(name: &str, refers: bool, how: As) -> String {
    match (how, refers) {
        (As::Itself, _) | (As::Place, false) => name.to_owned(),
        (As::Place, true) => format!("(*{name})"),
        (As::Reference, true) => format!("(&*{name})"),
        (As::Reference, false) => format!("(&{name})"),
    }
}
