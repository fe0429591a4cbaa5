//! What names, documentation and messages say: promises of operations, classes of panics.

use testwright_model::operation::{Operation, Operations};
use testwright_model::{Prim, Ty};

use super::Tier;

/// Whether an operation hands over the duty to drop something.
pub(super) fn leaks_on_purpose(operations: &Operations, operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let mut raw = false;
    operations.ty(operation.result).walk(&mut |ty| {
        raw |= match ty {
            Ty::Ptr { .. } => true,
            Ty::Adt { path, .. } => {
                ["ManuallyDrop", "MaybeUninit", "NonNull"].iter().any(|end| path.ends_with(end))
            }
            _ => false,
        };
    });
    raw || name.split('_').any(|word| matches!(word, "leak" | "leaked" | "forget" | "raw"))
}

/// Whether std says that an implementation of its formatting traits returned an error of its own.
pub(super) fn is_failed_writing(message: &str) -> bool {
    message.starts_with("a formatting trait implementation returned an error")
        || message.starts_with("a Display implementation returned an error unexpectedly")
}

/// Aborts by which the compiler's own checks tell of a broken pointer.
pub(super) fn is_memory_check(message: &str) -> bool {
    message.contains("misaligned pointer dereference")
        || message.contains("null pointer dereference occurred")
        || message.contains("unsafe precondition(s) violated")
}

/// Whether documentation of panics can mean one of this class: "panics if both keys are equal" does not announce an index out of
/// bounds inside.
pub(super) fn speaks_of(said: &str, class: &str) -> bool {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // Said in general terms, or of values that may be anything.
    let general = has(&["invalid", "valid", "illegal", "fail", "may panic", "unexpected", "incorrect"]);
    match class {
        "index" => {
            general
                || has(&[
                    "index",
                    "indices",
                    "bound",
                    "range",
                    "len",
                    "size",
                    "capacity",
                    "exceed",
                    "greater",
                    "less",
                    "larger",
                    "smaller",
                    "more than",
                    "empty",
                    "absent",
                    "present",
                    "exist",
                    "contain",
                    "found",
                    "missing",
                    "position",
                    "offset",
                    "past",
                    "beyond",
                    "outside",
                    "short",
                    "long",
                    "at least",
                    "at most",
                    "end",
                    "start",
                    "boundary",
                    ">",
                    "<",
                    "too ",
                    "none",
                    "out of",
                    "zero",
                    "0",
                    "not ",
                    "n't",
                ])
        }
        _ => true,
    }
}

/// Whether the name says that failure is a result.
pub(super) fn promises(operation: &Operation) -> bool {
    promised_by(&operation.path)
}

/// The same, of an operation's path.
pub(super) fn promised_by(path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap_or("");
    ["checked_", "try_", "saturating_", "wrapping_", "overflowing_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(name, "from_str" | "try_from" | "try_into")
}

/// Whether the operation only asks whether something is so: `has_edge`, `contains_key`, `is_empty`. "No" is an answer to anything.
pub(super) fn asks(operations: &Operations, operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let asks = ["has_", "contains", "is_"].iter().any(|prefix| name.starts_with(prefix));
    asks && *operations.ty(operation.result) == Ty::Prim(Prim::Bool)
}

/// Whether the result of the operation grows beyond all bounds with a number that any text can hold: powers and shifts.
pub(super) fn explodes(operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    name.contains("pow") || name.contains("factorial") || matches!(name, "shl" | "shl_assign")
}

/// Whether the operation makes room for as many as it is told.
pub(super) fn wants_room(operation: &Operation) -> bool {
    let name = operation.path.rsplit("::").next().unwrap_or("");
    ["capacity", "reserve", "with_", "grow", "resize"].iter().any(|part| name.contains(part))
}

/// Whether an explicit panic is worse than one that is only not documented.
pub(super) fn broken_promise(
    operations: &Operations,
    operation: &Operation,
    file: &str,
    message: &str,
) -> bool {
    // A dependency was called in a way that it does not allow.
    let of_dependency = file.contains("/registry/src/");
    // Where a method is added to numbers, what it is called on is an argument like others.
    let of_number =
        operation.params.first().is_some_and(|param| matches!(operations.ty(param.ty), Ty::Prim(_)));
    of_dependency || is_own_assertion(operation, message, of_number)
}

/// Names of parameters that say where.
pub(super) const PLACES: [&str; 14] =
    ["index", "idx", "i", "pos", "position", "at", "from", "to", "node", "edge", "id", "key", "row", "col"];

/// Whether a panic is about a place in something.
pub(super) fn speaks_of_place(class: &str, message: &str) -> bool {
    let assertion = message.strip_prefix(ASSERTED).unwrap_or("");
    class == "index"
        || message.contains(" index ")
        || assertion.contains("idx")
        || assertion.contains("index")
}

/// Whether an operator of a number-like type does what the same operator does on integers: overflows, or divides by a zero
/// that it was given.
pub(super) fn is_arithmetic(path: &str, message: &str) -> bool {
    const OPERATORS: [&str; 10] = ["Add", "Sub", "Mul", "Div", "Rem", "Neg", "Shl", "Shr", "Sum", "Product"];
    let (owner, name) = path.rsplit_once("::").unwrap_or(("", path));
    let trait_ = owner.rsplit_once(" as ").map_or("", |(_, trait_)| trait_.trim_end_matches('>'));
    let operator = trait_.strip_suffix("Assign").unwrap_or(trait_);
    let is_operator = OPERATORS.contains(&operator);
    let divides = ["div", "rem", "mod", "gcd", "lcm", "recip", "inv", "multiple"]
        .iter()
        .any(|part| name.contains(part));
    // Divisions that refuse mostly do so for one reason, and some say nothing.
    let refuses =
        matches!(operator, "Div" | "Rem") && (message.contains("zero") || message == "explicit panic");
    let by_zero = message.ends_with("divide by zero") || message.ends_with("a divisor of zero") || refuses;
    is_operator && (by_zero || message.ends_with("overflow")) || divides && by_zero
}

/// Whether the operation is called as one of std's that panics when an index or a length does not fit, and takes such a thing: its
/// callers know what to expect, though the documentation should say it.
pub(super) fn is_namesake(operations: &Operations, operation: &Operation) -> bool {
    const NAMES: [&str; 12] = [
        "copy_from_slice",
        "clone_from_slice",
        "swap",
        "swap_with_slice",
        "split_at",
        "split_at_mut",
        "split_off",
        "rotate_left",
        "rotate_right",
        "insert",
        "remove",
        "swap_remove",
    ];
    let name = operation.path.rsplit("::").next().unwrap_or("");
    let places = |ty: &Ty| match ty {
        Ty::Prim(prim) => *prim == Prim::Usize,
        Ty::Ref { to, .. } => matches!(**to, Ty::Slice(_)),
        Ty::Slice(_) => true,
        _ => false,
    };
    NAMES.contains(&name) && operation.params.iter().any(|param| places(operations.ty(param.ty)))
}

/// Whether the operation takes in as many items as it is given, for a type that may be full: its trait leaves it no way to refuse, though
/// the documentation should say what happens.
pub(super) fn cannot_refuse(operations: &Operations, operation: &Operation) -> bool {
    let path = operation.path.strip_prefix('<').unwrap_or_default();
    let collects = [" as Extend>::extend", " as FromIterator>::from_iter"];
    let Some(owner) = collects.iter().find_map(|end| path.strip_suffix(end)) else { return false };
    let has = |name: &str| {
        let method =
            |path: &str| path.strip_prefix(owner).and_then(|rest| rest.strip_prefix("::")) == Some(name);
        operations.operations.iter().any(|operation| method(&operation.path))
    };
    ["is_full", "remaining_capacity", "max_capacity"].into_iter().any(has)
        || has("capacity") && !has("reserve")
}

/// Whether such an operation says that there is no room for more.
pub(super) fn is_full(operations: &Operations, operation: &Operation, message: &str) -> bool {
    let asserted = message.strip_prefix(ASSERTED).unwrap_or_default();
    asserted.contains("capacity") && cannot_refuse(operations, operation)
}

/// Whether the name says that somebody else has checked what is given.
pub(super) fn is_unchecked(path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap_or("");
    name.split('_').any(|word| word == "unchecked")
}

/// Whether the name says that the caller does by hand what the library does otherwise: `raw_entry`, `RawVacantEntry`.
pub(super) fn is_raw(path: &str) -> bool {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').any(|name| {
        let camel = name.strip_prefix("Raw").is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()));
        camel || name.split('_').any(|word| word == "raw")
    })
}

/// How the words of an assertion begin that has no message of its own.
pub(super) const ASSERTED: &str = "assertion failed: ";

/// An assertion that is not about an argument is about the library's own state.
pub(super) fn is_own_assertion(operation: &Operation, message: &str, self_is_given: bool) -> bool {
    let Some(expression) = message.strip_prefix(ASSERTED) else { return false };
    let mut words = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    !words.any(|word| {
        operation.params.iter().any(|param| param.name == word && (word != "self" || self_is_given))
    })
}

/// Whether a `RefCell` was borrowed twice.
pub(super) fn is_borrow_conflict(message: &str) -> bool {
    ["already borrowed", "already mutably borrowed", "RefCell already"]
        .iter()
        .any(|start| message.starts_with(start))
}

/// The class of a panic by its message, and how bad it is.
pub(super) fn classify(message: &str) -> (&'static str, Tier) {
    let has = |part: &str| message.contains(part);
    if message.starts_with("attempt to ") && has("overflow") {
        return ("overflow", Tier::Bug);
    }
    if message.starts_with("attempt to divide by zero")
        || message.starts_with("attempt to calculate the remainder")
    {
        return ("panic", Tier::Bug);
    }
    let index = has("index out of bounds")
        || has("out of range for slice")
        || has("slice index starts at")
        || has("is not a char boundary")
        || (message.starts_with("byte index")
            || message.starts_with("start byte index")
            || message.starts_with("end byte index"))
        || has("mid > len")
        || message.starts_with("range start index")
        || message.starts_with("range end index")
        || message.starts_with("copy_from_slice: source slice length");
    if index {
        return ("index", Tier::Bug);
    }
    if message.starts_with("called `Option::unwrap()`") || message.starts_with("called `Result::unwrap()`") {
        return ("unwrap", Tier::Bug);
    }
    // Old crates have macros of their own for it, which say no more than the second part.
    let unreachable = message.strip_prefix("internal error: ").unwrap_or(message);
    let internal = unreachable.starts_with("entered unreachable code")
        || is_borrow_conflict(message)
        || message.starts_with("not implemented")
        || message.starts_with("not yet implemented");
    ("panic", if internal { Tier::Bug } else { Tier::UndocumentedPanic })
}

/// The message without addresses and process numbers, which differ from run to run.
pub(super) fn steady(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message.split_once("==ERROR: ").map_or(message, |(_, report)| report);
    // The rest of a sanitizer's report is about this machine: addresses, threads, the worker's own file.
    if rest.starts_with("AddressSanitizer: ") {
        rest = rest.lines().next().unwrap_or(rest);
        for end in [" on address 0x", " on unknown address", " on 0x", " in thread "] {
            rest = rest.split_once(end).map_or(rest, |(what, _)| what);
        }
    }
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        out.push_str(if digits >= 9 { "0x…" } else { &rest[at..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// With parameters of these names.
    pub fn operation(path: &str, names: &[&str]) -> Operation {
        let params: Vec<(&str, u32)> = names.iter().map(|name| (*name, 0)).collect();
        crate::invented::operation(path, &params, 0)
    }

    /// A crate whose only type is this.
    fn of(ty: Ty) -> Operations {
        let mut operations = Operations::default();
        operations.types = vec![ty];
        operations
    }

    #[test]
    fn assertions_about_arguments_are_the_callers_business() {
        let urls = &of(Ty::adt("url::Url", Vec::new()));
        let insert = operation("SmallVec::insert_many", &["self", "index", "iterable"]);
        assert!(!broken_promise(urls, &insert, "src/lib.rs", "assertion failed: index <= old_len"));
        let set_host = operation("Url::set_host", &["self", "host"]);
        let own = "assertion failed: self.byte_at(self.path_start) == b'/'";
        assert!(broken_promise(urls, &set_host, "src/lib.rs", own));
        assert!(!broken_promise(urls, &set_host, "src/lib.rs", "no host given"));
        let seconds = operation("<i32 as Seconds>::seconds", &["self"]);
        let own = "assertion failed: self >= 0";
        assert!(!broken_promise(&of(Ty::Prim(Prim::I32)), &seconds, "src/lib.rs", own));
    }

    #[test]
    fn names_and_dependencies_promise_more() {
        assert!(promises(&operation("NaiveDate::checked_add_days", &["self", "days"])));
        assert!(promises(&operation("<Fraction as FromStr>::from_str", &["text"])));
        assert!(!promises(&operation("Fraction::new", &["numerator"])));
        let plain = operation("Fraction::new", &["numerator"]);
        let fractions = &of(Ty::adt("fraction::Fraction", Vec::new()));
        assert!(broken_promise(
            fractions,
            &plain,
            "/x/registry/src/index/num-rational-0.4.2/src/lib.rs",
            "denominator == 0"
        ));
        assert!(!broken_promise(fractions, &plain, "src/lib.rs", "denominator == 0"));
    }

    #[test]
    fn documentation_of_one_panic_does_not_excuse_another() {
        assert!(!speaks_of("This function will panic if `key1` and `key2` are the same.", "index"));
        assert!(speaks_of("Panics if `index` is out of bounds.", "index"));
        assert!(speaks_of("Panics if the key is not in the map.", "index"));
        assert!(speaks_of("Panics if both keys are equal.", "panic"));
    }

    #[test]
    fn messages_are_the_same_in_every_run() {
        let report =
            "2840==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502000000010 at pc 0x5";
        assert_eq!(steady(report), "AddressSanitizer: heap-buffer-overflow");
        let twice = "77==ERROR: AddressSanitizer: attempting double-free on 0x5020000000f0 in thread T1:\n    #0 0x5  (/home/x/worker+0x2)";
        assert_eq!(steady(twice), "AddressSanitizer: attempting double-free");
        assert_eq!(steady("signal 11 at address 0x7f00112233445566"), "signal 11 at address 0x…");
        assert_eq!(steady("expected 0x1f"), "expected 0x1f");
    }

    #[test]
    fn operators_may_do_what_they_do_on_integers() {
        assert!(is_arithmetic("<DynaInt as Div>::div", "attempt to divide by zero"));
        assert!(is_arithmetic("<Money as AddAssign>::add_assign", "attempt to add with overflow"));
        let remainder = "attempt to calculate the remainder with a divisor of zero";
        assert!(is_arithmetic("DynaInt::mod_floor", remainder));
        assert!(is_arithmetic("<Ratio as DivAssign>::div_assign", "denominator must not be zero"));
        assert!(!is_arithmetic("<Ratio as Mul>::mul", "explicit panic"));
        assert!(!is_arithmetic("Table::insert", remainder));
        assert!(!is_arithmetic("Table::size", "attempt to add with overflow"));
        assert!(!is_arithmetic("<Table as Index>::index", "attempt to add with overflow"));
    }

    #[test]
    fn classes_by_the_messages_of_std() {
        for (message, class, tier) in [
            ("attempt to subtract with overflow", "overflow", Tier::Bug),
            ("attempt to divide by zero", "panic", Tier::Bug),
            ("index out of bounds: the len is 0 but the index is 0", "index", Tier::Bug),
            ("range end index 5 out of range for slice of length 3", "index", Tier::Bug),
            ("end byte index 2 is not a char boundary; it is inside 'é'", "index", Tier::Bug),
            ("called `Option::unwrap()` on a `None` value", "unwrap", Tier::Bug),
            ("internal error: entered unreachable code: x", "panic", Tier::Bug),
            ("entered unreachable code: x", "panic", Tier::Bug),
            ("never entered unreachable code", "panic", Tier::UndocumentedPanic),
            ("RefCell already borrowed", "panic", Tier::Bug),
            ("invalid key", "panic", Tier::UndocumentedPanic),
        ] {
            assert_eq!(classify(message), (class, tier), "{message}");
        }
    }

    #[test]
    fn what_may_be_full_cannot_refuse_in_extend() {
        let mut operations = of(Ty::adt("heap::Queue", Vec::new()));
        let extend = operation("<Queue as Extend>::extend", &["self", "iter"]);
        assert!(!cannot_refuse(&operations, &extend));
        operations.operations.push(operation("Queue::capacity", &["self"]));
        operations.operations.push(operation("LongQueue::reserve", &["self", "more"]));
        assert!(cannot_refuse(&operations, &extend));
        assert!(!cannot_refuse(&operations, &operation("Queue::push", &["self", "item"])));
        operations.operations.push(operation("Queue::reserve", &["self", "more"]));
        assert!(!cannot_refuse(&operations, &extend));
    }

    #[test]
    fn an_assertion_about_room_is_a_refusal_where_there_is_no_other() {
        let mut operations = of(Ty::adt("stack::Vec", Vec::new()));
        operations.operations.push(operation("Stack::capacity", &["self"]));
        let full = "assertion failed: self.len() + upper_bound <= self.capacity()";
        let extend = operation("<Stack as Extend>::extend", &["self", "iter"]);
        assert!(is_full(&operations, &extend, full));
        assert!(!is_full(&operations, &extend, "assertion failed: self.len() > 0"));
        assert!(!is_full(&operations, &operation("Stack::grow", &["self"]), full));
    }

    #[test]
    fn unchecked_is_a_word_of_the_name() {
        assert!(is_unchecked("Bitmap::deserialize_unchecked_from"));
        assert!(is_unchecked("Bitmap::get_unchecked"));
        assert!(!is_unchecked("Bitmap::uncheckedness"));
        assert!(!is_unchecked("unchecked::Bitmap::get"));
    }

    #[test]
    fn raw_is_a_word_of_a_name() {
        assert!(is_raw("IndexMap::raw_entry_mut_v1"));
        assert!(is_raw("RawVacantEntryMut::insert"));
        assert!(!is_raw("Rawhide::draw"));
        assert!(!is_raw("Canvas::draw"));
    }

    #[test]
    fn only_some_names_speak_of_room() {
        assert!(wants_room(&operation("SlotMap::with_capacity", &["capacity"])));
        assert!(!wants_room(&operation("PeekNth::peek_nth", &["self", "n"])));
    }
}
