//! One of everything: paths, re-exports, aliases, defaults, receivers, generics, flags.

mod private {
    pub struct Inner;

    pub mod deep {
        #[derive(Clone)]
        pub struct Deep(pub u8, u8);
    }

    pub use self::deep::Deep as Deeper;

    pub struct Shadowed;
}

pub use neighbour::*;
pub use neighbour::Neighbour;
pub use private::Inner as Renamed;
pub use private::*;
pub extern crate neighbour as next_door;

/// Hides the one of the glob.
pub struct Shadowed;

pub mod cycle {
    pub use super::cycle as again;
    pub use super::Shadowed as OfCycle;
}

pub mod cursor {
    pub use std::io::Cursor;
}

mod storage {
    pub struct Hold<S>(S);

    pub trait Storage {}

    impl<T, const N: usize> Storage for Held<T, N> {}

    pub type Held<T, const N: usize> = Hold<[T; N]>;
}

pub use storage::{Held, Storage};

mod vault {
    pub struct Lock<S: ?Sized>(S);
}

pub type Locked<T> = vault::Lock<[T]>;

pub fn held<T>(a: Held<T, 2>, b: &Locked<T>) {}

type PrivateAlias<T> = Vec<T>;
pub type Res<T, E = u8> = Result<T, E>;
pub type Pair<'a, T> = (&'a T, Res<T>);

pub fn aliases(a: PrivateAlias<u8>, b: Res<u16>, c: Pair<'static, char>, d: std::io::Result<()>, e: std::fmt::Result) -> Res<u8, Deeper> {
    todo!()
}

pub fn std_types(
    a: std::num::NonZeroU8,
    b: std::sync::atomic::AtomicU8,
    c: std::collections::hash_map::Entry<u8, u8>,
    d: std::ops::RangeInclusive<u8>,
    e: &mut dyn std::io::Read,
    f: std::iter::Peekable<std::str::Chars>,
) {
}

pub fn foreign(a: Neighbour, b: &neighbour::inside::Far) {}

pub struct Holder<'a, T: ?Sized + 'a, U = Vec<T2>, const N: usize = 3> {
    pub t: &'a T,
    pub array: [U; N],
    secret: u8,
    #[doc(hidden)]
    pub unseen: u8,
}

type T2 = u16;

pub struct Chain<T, U = Option<T>, const N: usize = LEN>(pub T, pub U, [u8; N]);

pub fn defaults<T>(a: Holder<T>, b: &Holder<'_, T, u8>, c: Holder<'_, T, u8, 9>, d: Chain<i8>) {}

pub const LEN: usize = 4 * 2;
pub const TEXT: &str = "a\"b";
pub static mut STATE: [u8; LEN] = [0; LEN];

pub fn lengths<const N: usize>(a: [u8; LEN], b: [u8; N], c: Holder<'static, u8, u8, LEN>, d: Chain<u8, u8, N>) {}

pub trait Shape<P = Self> {
    type Out: Clone + Into<P>;
    type Part<'a, X: 'a>
    where
        Self: 'a;
    const SIDES: usize;
    const DEFAULT: u8 = 3;

    fn required(&self, p: &P) -> Self::Out;
    fn provided(self: Box<Self>) -> Option<Self::Out>
    where
        Self: Sized,
    {
        None
    }
    fn part<'b>(&'b self) -> Self::Part<'b, u8>;
    #[doc(hidden)]
    fn unseen(&self) {}
}

pub trait Sub: Iterator + Shape<u8> {
    fn item(&self) -> Self::Item;
    fn out(&self) -> <Self as Shape<u8>>::Out;
    fn both<I: IntoIterator>(i: I) -> I::Item
    where
        I::Item: Clone,
        I::IntoIter: ExactSizeIterator;
    fn known<A: Shape<u8>>(a: A) -> A::Out;
}

pub trait Simple {
    fn call(&self) {}
}

impl<T: Clone + ?Sized> Simple for T {}
impl Simple for [Chain<u8>] {}

#[doc(hidden)]
pub trait Sealed {}

impl Sealed for Walker {}

#[derive(Clone)]
pub struct Walker(u8);

impl Walker {
    /// Makes one.
    ///
    /// # Panics
    ///
    /// If `start` is odd.
    ///
    /// # Examples
    ///
    /// ```
    /// # use items::Walker;
    /// Walker::new(2);
    /// ```
    pub const fn new(start: u8) -> Self {
        Walker(start)
    }

    pub fn boxed(self: Box<Self>) -> std::rc::Rc<Self> {
        todo!()
    }

    pub fn pinned(self: std::pin::Pin<&mut Self>, (a, b): (u8, u8), _: u8) {}

    #[doc(hidden)]
    pub fn unseen(&self) {}

    fn secret(&self) {}
}

impl Iterator for Walker {
    type Item = u8;

    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}

impl<'a> IntoIterator for &'a Walker {
    type Item = Option<Self>;
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        todo!()
    }
}

impl Shape for Walker {
    type Out = Walker;
    type Part<'a, X: 'a> = &'a X;
    const SIDES: usize = 8;

    fn required(&self, p: &Self) -> Self::Out {
        todo!()
    }

    fn part<'b>(&'b self) -> Self::Part<'b, u8> {
        todo!()
    }
}

impl PartialEq<Chain<u8>> for Walker {
    fn eq(&self, other: &Chain<u8>) -> bool {
        true
    }
}

impl From<Walker> for u64 {
    fn from(walker: Walker) -> u64 {
        0
    }
}

pub struct Raw<T>(std::marker::PhantomData<T>, *const u8);

unsafe impl<T: Sync> Sync for Raw<T> {}

pub fn callbacks(
    a: impl Fn(&u8) -> u16 + 'static,
    b: &mut dyn FnMut(),
    c: Box<dyn for<'a> Fn(&'a str) -> &'a str + Send + 'static>,
    d: fn(&u8) -> u8,
) -> impl Iterator<Item = u8> {
    None.into_iter()
}

pub fn higher<F>(f: F)
where
    F: for<'a> Fn(&'a u8) -> &'a u8,
    for<'b> &'b F: Clone,
{
}

pub fn equal<I: Iterator<Item: Clone>, J: Iterator<Item = I::Item>>(i: I, j: J) {}

pub async fn later(text: &str) -> u8 {
    1
}

/// Reads. It *panics* when `p` is null.
///
/// # Safety
/// No.
pub unsafe fn unsound(p: *const u8, q: unsafe extern "C" fn(u8)) -> ! {
    loop {}
}

#[deprecated]
pub fn old() {}

#[doc(hidden)]
pub fn unseen() {}

#[doc(hidden)]
pub mod unseen_module {
    pub fn function() {}
    pub use super::later;
}

#[non_exhaustive]
pub enum Kinds {
    Unit,
    #[doc(hidden)]
    Tuple(u8, String),
    #[non_exhaustive]
    Named { x: u8 },
}

pub union Both {
    pub a: u8,
    b: u16,
}

#[macro_export]
macro_rules! exported {
    () => {};
}

macro_rules! make {
    ($Name:ident) => {
        pub struct $Name;

        impl $Name {
            pub fn made(&self) -> u8 {
                0
            }
        }
    };
}

make!(Made);
