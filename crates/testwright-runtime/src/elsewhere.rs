//! Systems that workers do not run on: the same names, and a refusal at start.
#![cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]

use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use std::alloc::System;

use crate::{Operation, Type};

/// The system's allocator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout);
    }
}

/// Nothing is replaced here.
#[macro_export]
macro_rules! interpose {
    () => {};
}

/// Tells the tool that workers do not run here.
pub fn worker_main(_: &'static [Operation], _: &'static [Type]) -> ! {
    const WHY: &str = "unsupported platform: workers need x86-64 Linux with glibc";
    tell(WHY);
    eprintln!("testwright worker: {WHY}");
    std::process::exit(86)
}

#[cfg(unix)]
fn tell(why: &str) {
    use std::os::fd::FromRawFd;
    use std::os::unix::fs::FileExt;
    use testwright_wire::layout::{death, Header};

    let header = core::mem::MaybeUninit::<Header>::uninit();
    let base = header.as_ptr();
    // SAFETY: only addresses of fields are computed; the descriptor is the launcher's, and the process ends after this.
    let (file, offset) = unsafe {
        let offset = |field: usize| (field - base as usize) as u64;
        let words = core::ptr::addr_of!((*base).death);
        let places = [
            offset(core::ptr::addr_of!((*words).message_len) as usize),
            offset(core::ptr::addr_of!((*words).message) as usize),
            offset(core::ptr::addr_of!((*words).kind) as usize),
        ];
        (std::fs::File::from_raw_fd(testwright_wire::descriptor::SHARED), places)
    };
    let _ = file.write_all_at(&(why.len() as u32).to_ne_bytes(), offset[0]);
    let _ = file.write_all_at(why.as_bytes(), offset[1]);
    let _ = file.write_all_at(&death::START.to_ne_bytes(), offset[2]);
}

#[cfg(not(unix))]
fn tell(_: &str) {}

/// The ledger saw an error.
pub fn memory_error(what: fmt::Arguments<'_>) -> ! {
    eprintln!("testwright worker: {what}");
    std::process::abort()
}
