//! The type table: what the compiler can say about a type, found at compile time without asking for any trait.
//!
//! A constant of [`Probe`] that needs a bound wins over the constant of the same name in [`Lacks`] exactly where the bound
//! holds, because inherent items come first.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::hash::{Fingerprint, TextFingerprint};

pub type DropFn = unsafe fn(*mut u8);
pub type FingerprintFn = unsafe fn(*const u8) -> u64;
pub type TextFn = unsafe fn(*const u8, &mut dyn fmt::Write) -> fmt::Result;
pub type CloneFn = unsafe fn(*const u8, *mut u8);
pub type EqFn = unsafe fn(*const u8, *const u8) -> bool;

/// One type of the generated type table; made by [`type_entry!`](crate::type_entry). Each function expects the address of a
/// live value of the type.
#[derive(Debug, Clone, Copy)]
pub struct Type {
    pub size: usize,
    pub align: usize,
    /// Bits of `testwright_wire::layout::ability`.
    pub abilities: u32,
    /// `None` if there is nothing to drop.
    pub drop: Option<DropFn>,
    /// By `Hash`, else by the `Debug` text; never 0.
    pub fingerprint: Option<FingerprintFn>,
    /// What decides whether a value is new: mostly the same.
    pub novelty: Option<FingerprintFn>,
    /// The `Debug` text.
    pub text: Option<TextFn>,
    /// Writes a clone to the second address.
    pub clone: Option<CloneFn>,
    pub eq: Option<EqFn>,
}

/// Carries the type whose traits are asked for.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

/// The answers for types that lack a trait.
pub trait Lacks {
    const COPY: bool = false;
    const ORD: bool = false;
    const HASH: Option<FingerprintFn> = None;
    const DEBUG: Option<TextFn> = None;
    const DEBUG_HASH: Option<FingerprintFn> = None;
    const DISPLAY: bool = false;
    const DEFAULT: bool = false;
    const CLONE: Option<CloneFn> = None;
    const EQ: Option<EqFn> = None;
}

impl<T> Lacks for Probe<T> {}

impl<T: Copy> Probe<T> {
    pub const COPY: bool = true;
}
impl<T: Ord> Probe<T> {
    pub const ORD: bool = true;
}
impl<T: fmt::Display> Probe<T> {
    pub const DISPLAY: bool = true;
}
impl<T: Default> Probe<T> {
    pub const DEFAULT: bool = true;
}
impl<T: Hash> Probe<T> {
    pub const HASH: Option<FingerprintFn> = Some(hash_of::<T>);
}
impl<T: fmt::Debug> Probe<T> {
    pub const DEBUG: Option<TextFn> = Some(debug_of::<T>);
    pub const DEBUG_HASH: Option<FingerprintFn> = Some(debug_hash_of::<T>);
}
impl<T: Clone> Probe<T> {
    pub const CLONE: Option<CloneFn> = Some(clone_of::<T>);
}
impl<T: PartialEq> Probe<T> {
    pub const EQ: Option<EqFn> = Some(equal::<T>);
}
impl<T> Probe<T> {
    pub const DROP: Option<DropFn> = if core::mem::needs_drop::<T>() { Some(drop_of::<T>) } else { None };
}

/// The first function there is.
pub const fn either(first: Option<FingerprintFn>, second: Option<FingerprintFn>) -> Option<FingerprintFn> {
    match first {
        Some(_) => first,
        None => second,
    }
}

/// The bit if the answer is yes.
pub const fn bit(answer: bool, bit: u32) -> u32 {
    if answer {
        bit
    } else {
        0
    }
}

/// A [`Type`] for a sized type without free lifetimes, in a constant or static.
#[macro_export]
macro_rules! type_entry {
    ($type:ty) => {{
        #[allow(unused_imports)]
        use $crate::types::{either, Lacks as _, Probe};
        $crate::type_entry!($type, as either(<Probe<$type>>::HASH, <Probe<$type>>::DEBUG_HASH))
    }};
    // By the `Debug` text, whether or not there is a `Hash`.
    ($type:ty, representation) => {{
        const fn shown<T: ::core::fmt::Debug>() {}
        const _: () = shown::<$type>();
        #[allow(unused_imports)]
        use $crate::types::{either, Lacks as _, Probe};
        $crate::type_entry!($type, as either(<Probe<$type>>::DEBUG_HASH, <Probe<$type>>::HASH))
    }};
    // By `==`.
    ($type:ty, equality) => {{
        const fn compared<T: Clone + PartialEq + ::core::fmt::Debug>() {}
        const _: () = compared::<$type>();
        unsafe fn fingerprint(value: *const u8) -> u64 {
            #[allow(unused_imports)]
            use $crate::types::{either, Lacks as _, Probe};
            static KNOWN: $crate::novelty::Representatives = $crate::novelty::Representatives::new();
            let means = $crate::novelty::Means {
                size: ::core::mem::size_of::<$type>(),
                align: ::core::mem::align_of::<$type>(),
                clone: <Probe<$type>>::CLONE,
                eq: <Probe<$type>>::EQ,
                own: either(<Probe<$type>>::HASH, <Probe<$type>>::DEBUG_HASH),
            };
            KNOWN.fingerprint(value, means)
        }
        $crate::type_entry!($type, as Some(fingerprint))
    }};
    // By what an expression over the value gives.
    ($type:ty, by |$value:ident| $by:expr) => {{
        unsafe fn fingerprint(value: *const u8) -> u64 {
            let $value: &$type = &*value.cast::<$type>();
            $crate::types::text_fingerprint(&$by)
        }
        $crate::type_entry!($type, as Some(fingerprint))
    }};
    ($type:ty, as $novelty:expr) => {{
        #[allow(unused_imports)]
        use $crate::types::{ability, bit, Lacks as _, Probe};
        $crate::Type {
            size: ::core::mem::size_of::<$type>(),
            align: ::core::mem::align_of::<$type>(),
            abilities: bit(::core::mem::needs_drop::<$type>(), ability::NEEDS_DROP)
                | bit(<Probe<$type>>::COPY, ability::COPY)
                | bit(<Probe<$type>>::CLONE.is_some(), ability::CLONE)
                | bit(<Probe<$type>>::EQ.is_some(), ability::EQ)
                | bit(<Probe<$type>>::ORD, ability::ORD)
                | bit(<Probe<$type>>::HASH.is_some(), ability::HASH)
                | bit(<Probe<$type>>::DEBUG.is_some(), ability::DEBUG)
                | bit(<Probe<$type>>::DISPLAY, ability::DISPLAY)
                | bit(<Probe<$type>>::DEFAULT, ability::DEFAULT),
            drop: <Probe<$type>>::DROP,
            fingerprint: $crate::types::either(<Probe<$type>>::HASH, <Probe<$type>>::DEBUG_HASH),
            novelty: $novelty,
            text: <Probe<$type>>::DEBUG,
            clone: <Probe<$type>>::CLONE,
            eq: <Probe<$type>>::EQ,
        }
    }};
}

pub use testwright_wire::layout::ability;

unsafe fn drop_of<T>(value: *mut u8) {
    core::ptr::drop_in_place(value.cast::<T>());
}

unsafe fn hash_of<T: Hash>(value: *const u8) -> u64 {
    let mut hasher = Fingerprint::new();
    (*value.cast::<T>()).hash(&mut hasher);
    hasher.finish()
}

unsafe fn debug_of<T: fmt::Debug>(value: *const u8, out: &mut dyn fmt::Write) -> fmt::Result {
    write!(out, "{:?}", *value.cast::<T>())
}

unsafe fn debug_hash_of<T: fmt::Debug>(value: *const u8) -> u64 {
    text_fingerprint(&*value.cast::<T>())
}

/// The fingerprint of a `Debug` text.
pub fn text_fingerprint<T: fmt::Debug + ?Sized>(value: &T) -> u64 {
    let mut writer = TextFingerprint::new();
    // An error of the type's own `Debug` is part of what it shows.
    let outcome = fmt::write(&mut writer, format_args!("{value:?}"));
    if outcome.is_err() && !writer.gave_up() {
        return 1;
    }
    writer.finish()
}

unsafe fn clone_of<T: Clone>(value: *const u8, to: *mut u8) {
    core::ptr::write(to.cast::<T>(), (*value.cast::<T>()).clone());
}

unsafe fn equal<T: PartialEq>(one: *const u8, other: *const u8) -> bool {
    *one.cast::<T>() == *other.cast::<T>()
}

#[cfg(test)]
mod tests {
    use super::ability::*;
    use super::Type;
    use core::fmt;

    struct Plain;
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    struct Rich(u8);
    #[derive(Debug)]
    #[repr(align(4096))]
    #[allow(dead_code)]
    struct Wide(f64);
    struct OwnDrop;
    impl Drop for OwnDrop {
        fn drop(&mut self) {}
    }
    struct Shown<T>(T);
    impl<T: fmt::Display> fmt::Display for Shown<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    static TABLE: &[Type] = &[
        crate::type_entry!(Plain),
        crate::type_entry!(Rich),
        crate::type_entry!(Wide),
        crate::type_entry!(OwnDrop),
        crate::type_entry!(Shown<i32>),
        crate::type_entry!(Shown<Vec<i32>>),
        crate::type_entry!(String),
        crate::type_entry!(()),
        crate::type_entry!(f64),
        crate::type_entry!(&'static mut [String]),
    ];

    #[test]
    fn abilities_are_those_of_the_type() {
        let abilities: Vec<u32> = TABLE.iter().map(|entry| entry.abilities).collect();
        let all = CLONE | EQ | ORD | HASH | DEBUG | DEFAULT;
        let expected = [
            0,
            COPY | all,
            DEBUG,
            NEEDS_DROP,
            DISPLAY,
            NEEDS_DROP,
            NEEDS_DROP | all | DISPLAY,
            COPY | all,
            COPY | CLONE | EQ | DEBUG | DISPLAY | DEFAULT,
            EQ | ORD | HASH | DEBUG | DEFAULT,
        ];
        assert_eq!(abilities, expected);
        assert_eq!((TABLE[2].size, TABLE[2].align), (4096, 4096));
        assert_eq!((TABLE[7].size, TABLE[7].align), (0, 1));
    }

    #[test]
    fn values_are_told_apart_as_asked_for() {
        static BY: &[Type] = &[
            crate::type_entry!(f64, equality),
            crate::type_entry!(String, by | a | a.len()),
            crate::type_entry!(Rich, representation),
        ];
        let of = |entry: &Type, value: *const u8| {
            // SAFETY: each address is that of a value of the entry's type.
            unsafe { entry.novelty.expect("there is one")(value) }
        };
        let float = |value: f64| of(&BY[0], core::ptr::addr_of!(value).cast());
        assert_eq!(float(0.0), float(-0.0), "they are equal and print differently");
        assert_ne!(float(0.0), float(1.0));
        let text = |value: &str| {
            let value = String::from(value);
            of(&BY[1], core::ptr::addr_of!(value).cast())
        };
        assert_eq!(text("ab"), text("cd"));
        assert_ne!(text("ab"), text("abc"));
        let (by_text, by_hash) = (Rich(1), crate::type_entry!(Rich));
        let at = core::ptr::addr_of!(by_text).cast();
        assert_ne!(of(&BY[2], at), of(&by_hash, at));
    }

    #[test]
    fn functions_work_on_values() {
        let text = String::from("abc");
        let same = text.clone();
        let entry = &TABLE[6];
        let address = |value: &String| core::ptr::addr_of!(*value).cast::<u8>();
        let fingerprint = entry.fingerprint.expect("String has Hash");
        let mut shown = String::new();
        // SAFETY: the addresses are those of strings, as the entry expects.
        unsafe {
            assert_eq!(fingerprint(address(&text)), fingerprint(address(&same)));
            assert!(entry.eq.expect("String has PartialEq")(address(&text), address(&same)));
            entry.text.expect("String has Debug")(address(&text), &mut shown).expect("String takes all");
            let mut copy = core::mem::MaybeUninit::<String>::uninit();
            entry.clone.expect("String has Clone")(address(&text), copy.as_mut_ptr().cast());
            assert_eq!(copy.assume_init_ref(), "abc");
            entry.drop.expect("String needs drop")(copy.as_mut_ptr().cast());
        }
        assert_eq!(shown, "\"abc\"");
        assert!(TABLE[0].fingerprint.is_none() && TABLE[0].drop.is_none());
        assert!(TABLE[8].fingerprint.is_some(), "by its Debug text");
    }
}
