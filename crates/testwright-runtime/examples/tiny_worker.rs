//! A worker with hand-written wrappers, as the harness would generate them; `tests/worker.rs` drives it.

// Wrappers that never return, or that misuse a vector, are what is wanted here.
#![allow(clippy::diverging_sub_expression, clippy::useless_vec)]

use std::collections::HashMap;
use testwright_runtime as tw;

tw::global_allocator!();
tw::interpose!();

/// One wrapper: argument patterns `own`, `shared`, `exclusive` as generated code reads them.
macro_rules! wrapper {
    ($name:ident, ($($arg:ident: $how:ident $type:ty),*) -> $result:ty, $body:expr) => {
        #[allow(unused_mut, unused_assignments, unused_variables, unreachable_code)]
        unsafe fn $name(a: *const *mut u8, r: *mut u8) {
            let mut place = 0;
            $(
                let $arg = wrapper!(@$how $type, *a.add(place));
                place += 1;
            )*
            core::ptr::write(r as *mut $result, $body);
        }
    };
    (@own $type:ty, $address:expr) => { core::ptr::read($address as *const $type) };
    (@shared $type:ty, $address:expr) => { &*($address as *const $type) };
    (@exclusive $type:ty, $address:expr) => { &mut *($address as *mut $type) };
}

#[repr(align(4096))]
#[allow(dead_code)]
struct Page(u8);

struct DropBomb;
impl Drop for DropBomb {
    fn drop(&mut self) {
        panic!("bomb in drop");
    }
}

struct DebugBomb;
impl std::fmt::Debug for DebugBomb {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("bomb in debug");
    }
}

wrapper!(vec_new, () -> Vec<i32>, Vec::new());
wrapper!(vec_push, (v: exclusive Vec<i32>, x: own i32) -> (), v.push(x));
wrapper!(vec_pop, (v: exclusive Vec<i32>) -> Option<i32>, v.pop());
wrapper!(vec_index, (v: shared Vec<i32>, i: own usize) -> i32, v[i]);
wrapper!(string_from, (s: own &'static str) -> String, String::from(s));
wrapper!(string_push, (s: exclusive String, t: own &'static str) -> (), s.push_str(t));
wrapper!(string_into_bytes, (s: own String) -> Vec<u8>, s.into_bytes());
wrapper!(vec_first_mut, (v: exclusive Vec<i32>) -> &'static mut i32, core::mem::transmute::<&mut i32, &'static mut i32>(&mut v[0]));
wrapper!(set_int, (p: exclusive i32, x: own i32) -> (), *p = x);
wrapper!(abort, () -> (), std::process::abort());
wrapper!(recurse, (n: own u64) -> u64, recursion(n));
wrapper!(spin, () -> (), loop { core::hint::spin_loop() });
wrapper!(allocate, (n: own u64) -> Vec<u8>, Vec::with_capacity(n as usize));
wrapper!(exit, (n: own i32) -> (), std::process::exit(n));
wrapper!(double_free, () -> (), {
    let b = Box::new(7_u64);
    let copy: Box<u64> = core::ptr::read(&b);
    drop(b);
    drop(copy);
});
wrapper!(write_file, (path: own &'static str) -> bool, std::fs::write(path, b"x").is_ok());
wrapper!(socket, () -> bool, std::net::UdpSocket::bind("127.0.0.1:0").is_ok());
wrapper!(spawn_panicking, () -> bool, std::thread::spawn(|| panic!("in a thread")).join().is_err());
wrapper!(map_order, () -> Vec<i32>, {
    let map: HashMap<i32, ()> = (0..20).map(|key| (key, ())).collect();
    map.into_keys().collect()
});
wrapper!(now, () -> u64, {
    std::thread::sleep(std::time::Duration::from_secs(3600));
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
});
wrapper!(drop_bomb, () -> DropBomb, DropBomb);
wrapper!(debug_bomb, () -> DebugBomb, DebugBomb);
wrapper!(catch_inside, () -> bool, std::panic::catch_unwind(|| panic!("inner")).is_err());
wrapper!(tracked, (x: own i32) -> tw::Tracked, tw::Tracked::new(x));
wrapper!(tracked_copy, (t: shared tw::Tracked) -> tw::Tracked, core::ptr::read(t));
wrapper!(leak, (t: own tw::Tracked) -> (), core::mem::forget(t));
wrapper!(write_freed, () -> (), {
    let p = Box::into_raw(Box::new([1_u64; 4]));
    drop(Box::from_raw(p));
    p.cast::<u64>().add(1).write_volatile(5);
});
wrapper!(unchecked, (i: own usize) -> i32, *[1, 2, 3].get_unchecked(i));
wrapper!(page, () -> Page, Page(1));
wrapper!(run_program, () -> bool, std::process::Command::new("/bin/true").spawn().is_ok());
wrapper!(read_null, () -> u8, core::ptr::read_volatile(core::hint::black_box(8 as *const u8)));
wrapper!(panic_in_cleanup, () -> (), {
    let _bomb = DropBomb;
    panic!("first")
});
wrapper!(panic_any, () -> (), std::panic::panic_any(DropBomb));
wrapper!(read_file, (path: own &'static str) -> bool, std::fs::read(path).is_ok());
wrapper!(write_past, (n: own usize) -> (), {
    let mut bytes = vec![0_u8; 13];
    bytes.as_mut_ptr().add(core::hint::black_box(n)).write_volatile(1);
    drop(bytes);
});
wrapper!(sum, (a: own i32, b: own i32) -> i32, a + b);
wrapper!(add_to, (a: exclusive i32, b: own i32) -> (), *a = a.wrapping_add(b));
wrapper!(remove_file, (path: own &'static str) -> bool, std::fs::remove_file(path).is_ok());

wrapper!(wait_for_nobody, () -> bool, {
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    receiver.recv_timeout(std::time::Duration::from_secs(86_400)).is_err()
});
wrapper!(read_past, (n: own usize) -> u8, {
    let bytes = vec![0_u8; 13];
    bytes.as_ptr().add(core::hint::black_box(n)).read()
});
wrapper!(replace_hook, () -> (), std::panic::set_hook(Box::new(|_| ())));
wrapper!(carry_panic, () -> (), {
    let thread = std::thread::spawn(|| panic!("carried"));
    std::panic::resume_unwind(thread.join().unwrap_err())
});
wrapper!(endless_thread, () -> (), {
    std::thread::spawn(|| loop {
        std::thread::park();
    });
});
wrapper!(long_vec, (n: own usize) -> Vec<u64>, vec![7; n]);
wrapper!(signal_others, () -> i32, kill(1, 0));
wrapper!(close_own, () -> i32, close(4));
wrapper!(reset_handler, () -> usize, signal(11, 0));
wrapper!(extern_panic, () -> (), must_not_unwind());
wrapper!(thread_overflow, () -> bool, std::thread::spawn(|| recursion(1 << 40)).join().is_err());
wrapper!(random_in_thread, () -> Vec<i32>, {
    let keys = || (0..20).map(|key| (key, ())).collect::<HashMap<i32, ()>>().into_keys().collect();
    std::thread::spawn(keys).join().unwrap_or_default()
});
wrapper!(tracked_vec, () -> Vec<tw::Tracked>, (0..3).map(tw::Tracked::new).collect());

extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
    fn close(descriptor: i32) -> i32;
    fn signal(signal: i32, handler: usize) -> usize;
}

extern "C" fn must_not_unwind() {
    panic!("in extern C");
}
wrapper!(branch, (n: own i32) -> i32, branches(n));

fn branches(n: i32) -> i32 {
    match n {
        1 => 10,
        2 => 20,
        _ => 0,
    }
}

fn recursion(n: u64) -> u64 {
    let big = core::hint::black_box([n; 64]);
    if n == 0 {
        0
    } else {
        1 + recursion(n - 1) + big[(n % 64) as usize] - n
    }
}

macro_rules! operations {
    ($($call:ident $arity:literal $result:literal),* $(,)?) => {
        &[$(tw::Operation { call: $call, arity: $arity, result: $result }),*]
    };
}

// Result types are places in `TYPES`.
static OPERATIONS: &[tw::Operation] = operations![
    vec_new 0 0, vec_push 2 1, vec_pop 1 2, vec_index 2 3, string_from 1 5, string_push 2 1, string_into_bytes 1 6,
    vec_first_mut 1 7, set_int 2 1, abort 0 1, recurse 1 8, spin 0 1, allocate 1 6, exit 1 1, double_free 0 1,
    write_file 1 9, socket 0 9, spawn_panicking 0 9, map_order 0 0, now 0 8, drop_bomb 0 10, debug_bomb 0 11,
    catch_inside 0 9, tracked 1 12, tracked_copy 1 12, leak 1 1, write_freed 0 1, unchecked 1 3, page 0 13,
    run_program 0 9, read_null 0 14, panic_in_cleanup 0 1, panic_any 0 1, read_file 1 9, write_past 1 1, sum 2 3,
    add_to 2 1, remove_file 1 9, wait_for_nobody 0 9, read_past 1 14, branch 1 3,
    replace_hook 0 1, carry_panic 0 1, endless_thread 0 1, long_vec 1 18, signal_others 0 3, close_own 0 3,
    reset_handler 0 15, extern_panic 0 1, thread_overflow 0 9, random_in_thread 0 0, tracked_vec 0 19,
];

static TYPES: &[tw::Type] = &[
    tw::type_entry!(Vec<i32>),         // 0
    tw::type_entry!(()),               // 1
    tw::type_entry!(Option<i32>),      // 2
    tw::type_entry!(i32),              // 3
    tw::type_entry!(&'static str),     // 4
    tw::type_entry!(String),           // 5
    tw::type_entry!(Vec<u8>),          // 6
    tw::type_entry!(&'static mut i32), // 7
    tw::type_entry!(u64),              // 8
    tw::type_entry!(bool),             // 9
    tw::type_entry!(DropBomb),         // 10
    tw::type_entry!(DebugBomb),        // 11
    tw::type_entry!(tw::Tracked),      // 12
    tw::type_entry!(Page),             // 13
    tw::type_entry!(u8),               // 14
    tw::type_entry!(usize),            // 15
    tw::type_entry!(u128),             // 16
    tw::type_entry!(&'static [u8]),    // 17
    tw::type_entry!(Vec<u64>),         // 18
    tw::type_entry!(Vec<tw::Tracked>), // 19
];

fn main() {
    tw::worker_main(OPERATIONS, TYPES)
}
