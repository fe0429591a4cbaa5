//! The paths by which users name items of std: receives definition paths (`alloc::collections::btree::map::BTreeMap`),
//! hands on public ones (`std::collections::BTreeMap`), and the meaning of std's own type aliases.
//!
//! std defines its items in private modules below public ones, so the rule is: rename the few modules that are shown under
//! another name, cut the rest back to the nearest public module, and shorten what is re-exported further up.

use testwright_model::ty::{GenericArg, Prim, Region, TraitRef, Ty};

/// Crates that a user sees as `std`.
pub fn is_std(crate_name: &str) -> bool {
    matches!(crate_name, "std" | "core" | "alloc")
}

/// Modules shown under another name, longest first where one begins with another.
const RENAMED: [(&str, &str); 10] = [
    ("collections::btree::map", "collections::btree_map"),
    ("collections::btree::set", "collections::btree_set"),
    ("collections::hash::map", "collections::hash_map"),
    ("collections::hash::set", "collections::hash_set"),
    ("core_arch", "arch"),
    ("core_simd", "simd"),
    ("ffi::c_str", "ffi"),
    ("os::linux::raw::arch", "os::linux::raw"),
    ("os::net::linux_ext", "os::linux::net"),
    ("sync::poison", "sync"),
];

/// Public modules of std that hold types or traits.
const PUBLIC: [&str; 81] = [
    "alloc",
    "any",
    "arch",
    "array",
    "ascii",
    "async_iter",
    "backtrace",
    "borrow",
    "boxed",
    "bstr",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "collections::binary_heap",
    "collections::btree_map",
    "collections::btree_set",
    "collections::hash_map",
    "collections::hash_set",
    "collections::linked_list",
    "collections::vec_deque",
    "convert",
    "default",
    "env",
    "error",
    "ffi",
    "ffi::os_str",
    "fmt",
    "fs",
    "future",
    "hash",
    "hint",
    "io",
    "iter",
    "marker",
    "mem",
    "mem::type_info",
    "net",
    "num",
    "ops",
    "option",
    "os::fd",
    "os::linux::fs",
    "os::linux::net",
    "os::linux::process",
    "os::linux::raw",
    "os::raw",
    "os::unix::ffi",
    "os::unix::fs",
    "os::unix::io",
    "os::unix::net",
    "os::unix::process",
    "os::unix::thread",
    "os::windows::ffi",
    "os::windows::fs",
    "os::windows::io",
    "os::windows::process",
    "panic",
    "path",
    "pin",
    "process",
    "ptr",
    "random",
    "range",
    "rc",
    "result",
    "slice",
    "str",
    "str::pattern",
    "string",
    "sync",
    "sync::atomic",
    "sync::mpmc",
    "sync::mpsc",
    "sync::nonpoison",
    "sync::oneshot",
    "task",
    "thread",
    "time",
    "vec",
];

/// Items re-exported one module up, where users take them from.
const LIFTED: [(&str, &str); 9] = [
    ("collections::binary_heap::BinaryHeap", "collections::BinaryHeap"),
    ("collections::btree_map::BTreeMap", "collections::BTreeMap"),
    ("collections::btree_set::BTreeSet", "collections::BTreeSet"),
    ("collections::hash_map::HashMap", "collections::HashMap"),
    ("collections::hash_set::HashSet", "collections::HashSet"),
    ("collections::linked_list::LinkedList", "collections::LinkedList"),
    ("collections::vec_deque::VecDeque", "collections::VecDeque"),
    ("ffi::os_str::OsStr", "ffi::OsStr"),
    ("ffi::os_str::OsString", "ffi::OsString"),
];

/// `["core", "ops", "range", "RangeInclusive"]` → `std::ops::RangeInclusive`.
pub fn public(definition: &[String]) -> String {
    let [_, modules @ .., name] = definition else { return definition.join("::") };
    let mut module = modules.join("::");
    for (private, shown) in RENAMED {
        if let Some(rest) =
            module.strip_prefix(private).filter(|rest| rest.is_empty() || rest.starts_with("::"))
        {
            module = format!("{shown}{rest}");
            break;
        }
    }
    while PUBLIC.binary_search(&module.as_str()).is_err() {
        let Some(end) = module.rfind("::") else { break };
        module.truncate(end);
    }
    let path = if module.is_empty() { name.clone() } else { format!("{module}::{name}") };
    let lifted = LIFTED.iter().find(|(from, _)| *from == path);
    format!("std::{}", lifted.map_or(path.as_str(), |(_, to)| to))
}

/// What an alias of std stands for; `None` when `path` is no alias.
pub fn alias(path: &str, args: &[GenericArg]) -> Option<Ty> {
    let first = || match args.first() {
        Some(GenericArg::Ty(ty)) => ty.clone(),
        _ => Ty::unit(),
    };
    let result = |ok: Ty, error: Ty| Ty::adt("std::result::Result", vec![ok, error]);
    let name = path.strip_prefix("std::")?;
    if let Some(int) = name.strip_prefix("num::NonZero").filter(|int| !int.is_empty()) {
        let prim = Prim::from_name(&int.to_ascii_lowercase())?;
        return Some(Ty::adt("std::num::NonZero", vec![Ty::Prim(prim)]));
    }
    if let Some(c_name) = name.strip_prefix("ffi::").or_else(|| name.strip_prefix("os::raw::")) {
        return c_type(c_name).map(Ty::Prim);
    }
    Some(match name {
        "io::Result" => result(first(), Ty::adt("std::io::Error", vec![])),
        "fmt::Result" => result(Ty::unit(), Ty::adt("std::fmt::Error", vec![])),
        "string::ParseError" => Ty::adt("std::convert::Infallible", vec![]),
        "io::RawOsError" | "os::fd::RawFd" | "os::unix::io::RawFd" => Ty::Prim(Prim::I32),
        "sync::LockResult" => result(first(), Ty::adt("std::sync::PoisonError", vec![first()])),
        "sync::TryLockResult" => result(first(), Ty::adt("std::sync::TryLockError", vec![first()])),
        "thread::Result" => {
            let bounds = vec![TraitRef::new("std::any::Any"), TraitRef::new("std::marker::Send")];
            result(first(), Ty::adt("std::boxed::Box", vec![Ty::Dyn { bounds, region: Region::Static }]))
        }
        _ => return None,
    })
}

/// C's number types on 64-bit Linux.
fn c_type(name: &str) -> Option<Prim> {
    Some(match name {
        "c_char" if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) => Prim::U8,
        "c_char" | "c_schar" => Prim::I8,
        "c_uchar" => Prim::U8,
        "c_short" => Prim::I16,
        "c_ushort" => Prim::U16,
        "c_int" => Prim::I32,
        "c_uint" => Prim::U32,
        "c_long" | "c_longlong" => Prim::I64,
        "c_ulong" | "c_ulonglong" => Prim::U64,
        "c_float" => Prim::F32,
        "c_double" => Prim::F64,
        "c_size_t" => Prim::Usize,
        "c_ssize_t" | "c_ptrdiff_t" => Prim::Isize,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_become_what_users_write() {
        let cases = [
            ("alloc::vec::Vec", "vec::Vec"),
            ("alloc::vec::into_iter::IntoIter", "vec::IntoIter"),
            ("alloc::borrow::Cow", "borrow::Cow"),
            ("alloc::collections::btree::map::BTreeMap", "collections::BTreeMap"),
            ("alloc::collections::btree::map::entry::Entry", "collections::btree_map::Entry"),
            ("alloc::collections::binary_heap::BinaryHeap", "collections::BinaryHeap"),
            ("alloc::collections::vec_deque::drain::Drain", "collections::vec_deque::Drain"),
            ("alloc::collections::TryReserveError", "collections::TryReserveError"),
            ("alloc::ffi::c_str::CString", "ffi::CString"),
            ("core::iter::traits::iterator::Iterator", "iter::Iterator"),
            ("core::iter::adapters::filter::Filter", "iter::Filter"),
            ("core::slice::iter::Iter", "slice::Iter"),
            ("core::str::iter::Chars", "str::Chars"),
            ("core::num::nonzero::NonZero", "num::NonZero"),
            ("core::ops::range::RangeInclusive", "ops::RangeInclusive"),
            ("core::panic::unwind_safe::UnwindSafe", "panic::UnwindSafe"),
            ("core::alloc::layout::Layout", "alloc::Layout"),
            ("core::sync::atomic::AtomicBool", "sync::atomic::AtomicBool"),
            ("std::collections::hash::map::HashMap", "collections::HashMap"),
            ("std::collections::hash::set::Iter", "collections::hash_set::Iter"),
            ("std::hash::random::RandomState", "hash::RandomState"),
            ("std::io::buffered::bufreader::BufReader", "io::BufReader"),
            ("std::sync::poison::mutex::Mutex", "sync::Mutex"),
            ("std::os::fd::owned::OwnedFd", "os::fd::OwnedFd"),
            ("std::ffi::os_str::OsString", "ffi::OsString"),
        ];
        for (definition, expected) in cases {
            let definition: Vec<String> = definition.split("::").map(str::to_owned).collect();
            assert_eq!(public(&definition), format!("std::{expected}"));
        }
    }

    #[test]
    fn public_modules_are_sorted_for_the_search() {
        assert!(PUBLIC.is_sorted());
    }

    #[test]
    fn aliases_of_std_are_expanded() {
        let arg = [GenericArg::Ty(Ty::Str)];
        let expand = |path: &str| alias(path, &arg).map(|ty| ty.to_string());
        assert_eq!(expand("std::io::Result").as_deref(), Some("std::result::Result<str, std::io::Error>"));
        assert_eq!(expand("std::num::NonZeroU8").as_deref(), Some("std::num::NonZero<u8>"));
        assert_eq!(expand("std::ffi::c_int").as_deref(), Some("i32"));
        assert_eq!(expand("std::num::NonZero"), None);
    }
}
