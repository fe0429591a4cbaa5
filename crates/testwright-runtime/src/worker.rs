//! The worker's life: map the shared file, fill in the catalogue, enter the sandbox, then run slots until the tool is gone.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::mem::size_of;
use core::sync::atomic::Ordering::{Relaxed, Release};
use std::panic::{catch_unwind, AssertUnwindSafe};

use testwright_wire::layout::{self, death as kind, guard, Area, Header, SlotHead, TypeInfo, MAGIC};
use testwright_wire::{code, descriptor, READY, VERSION};

use crate::batch::Batches;
use crate::coverage::{Counters, Coverage};
use crate::death::{self, cannot_start, die, LastWords};
use crate::interpreter::{Interpreter, Literals};
use crate::libc::{self, nr};
use crate::operation::Operation;
use crate::seeds::Seeds;
use crate::types::Type;
use crate::{allocator, effects, interpose, panic, sandbox, signals};

/// As libtest gives its threads, so that what overflows here overflows in the emitted test.
const STACK: usize = 2 << 20;

/// Runs sequences for the tool until it closes the command pipe. Never returns.
pub fn worker_main(operations: &'static [Operation], types: &'static [Type]) -> ! {
    let (header, bytes) = map_shared();
    check(bytes, header, operations, types);
    fill_catalogue(header, operations, types);
    allocator::set_limit(if header.memory_limit == 0 { u64::MAX } else { header.memory_limit });
    panic::install();
    signals::install();
    #[cfg(testwright_asan)]
    crate::sanitizer::install();
    enter_sandbox(header);

    let interpreter = std::thread::Builder::new()
        .name("testwright".into())
        .stack_size(STACK)
        .spawn(move || interpret(operations, types));
    signals::ignore_ticks();
    match interpreter {
        Ok(thread) => {
            let _ = thread.join();
            die(&LastWords::new(kind::ABORT, "the worker's own thread ended"))
        }
        Err(error) => cannot_start(format_args!("no thread to run on: {error}")),
    }
}

/// The shared file, and how long it is.
fn map_shared() -> (&'static Header, usize) {
    let mut stat = [0_u64; 18];
    let file = descriptor::SHARED as usize;
    // SAFETY: a `struct stat` is 144 bytes, and its size field the seventh word; the mapping replaces nothing.
    unsafe {
        if libc::call(nr::FSTAT, [file, stat.as_mut_ptr() as usize, 0, 0, 0, 0]) < 0 {
            cannot_start(format_args!(
                "descriptor {file} is not open: this program is run by Testwright only"
            ));
        }
        let bytes = stat[6] as usize;
        if bytes < size_of::<Header>() {
            cannot_start(format_args!("the shared file is too short"));
        }
        let base = libc::call(nr::MMAP, [0, bytes, libc::PROT_READ_WRITE, libc::MAP_SHARED, file, 0]);
        if base <= 0 {
            cannot_start(format_args!("the shared file cannot be mapped"));
        }
        let header = base as *mut Header;
        if (*header).magic != MAGIC || (*header).version != VERSION {
            cannot_start(format_args!("the tool speaks another version of the protocol"));
        }
        death::attach(header);
        (&*header, bytes)
    }
}

/// Refuses tables and areas that the interpreter could not rely on.
fn check(bytes: usize, header: &Header, operations: &[Operation], types: &[Type]) {
    let lies_within = |area: Area| area.offset.checked_add(area.bytes).is_some_and(|end| end <= bytes as u64);
    let aligned = |area: Area| area.offset % 64 == 0;
    let slot_areas = header.slots.iter().flat_map(|slot| {
        [Area { offset: slot.head, bytes: size_of::<SlotHead>() as u64 }, slot.request, slot.response]
    });
    for area in slot_areas.chain([header.catalogue, header.seen, header.literals]) {
        if !lies_within(area) || !aligned(area) {
            cannot_start(format_args!(
                "an area of the shared file lies outside of it or is not aligned: {area:?}"
            ));
        }
    }
    if operations.len() > code::MAX_OPERATIONS || types.len() > usize::from(u16::MAX) {
        cannot_start(format_args!("too many operations or types"));
    }
    for (number, operation) in operations.iter().enumerate() {
        if operation.result as usize >= types.len() || operation.arity as usize > Operation::MAX_ARITY {
            cannot_start(format_args!("operation {number} has a bad result type or too many arguments"));
        }
    }
    if let Some(number) = types.iter().position(|entry| u32::try_from(entry.size).is_err()) {
        cannot_start(format_args!("type {number} is too large"));
    }
}

fn fill_catalogue(header: &'static Header, operations: &[Operation], types: &[Type]) {
    if header.catalogue.bytes < (types.len() * size_of::<TypeInfo>()) as u64 {
        cannot_start(format_args!("the catalogue has no room for {} types", types.len()));
    }
    let base = death::shared();
    for (number, entry) in types.iter().enumerate() {
        let info = TypeInfo {
            size: entry.size as u32,
            align: entry.align as u32,
            abilities: entry.abilities,
            reserved: 0,
        };
        // SAFETY: the area lies in the mapping, is aligned and has room, as checked.
        unsafe { base.add(header.catalogue.offset as usize).cast::<TypeInfo>().add(number).write(info) };
    }
    header.operations.store(operations.len() as u32, Relaxed);
    header.types.store(types.len() as u32, Relaxed);
    header.counters.store(Counters::of_binary().count() as u64, Relaxed);
}

fn enter_sandbox(header: &Header) {
    let mut scratch = std::env::var_os("TESTWRIGHT_SCRATCH")
        .map_or_else(|| b".".to_vec(), std::os::unix::ffi::OsStringExt::into_vec);
    scratch.push(0);
    let guards = sandbox::enter(&scratch);
    if let (Some(why), 0) = (guards.missing, header.options & layout::option::ALLOW_UNGUARDED) {
        cannot_start(format_args!("no sandbox: {why}"));
    }
    let memory = if allocator::CHECKING { guard::ALLOCATOR } else { guard::ADDRESS_SANITIZER };
    header.guards.store(guards.bits | memory, Relaxed);
}

/// The interpreter's thread.
fn interpret(operations: &[Operation], types: &'static [Type]) {
    panic::adopt_thread();
    let life = catch_unwind(AssertUnwindSafe(|| {
        let batches = death::header().and_then(|header| prepare(header, operations, types));
        match batches {
            Some(batches) => serve(batches),
            None => cannot_start(format_args!("no address space for cells")),
        }
    }));
    if life.is_err() {
        die(&LastWords::new(kind::ABORT, "the worker itself failed"));
    }
}

fn prepare(header: &'static Header, operations: &[Operation], types: &'static [Type]) -> Option<Batches> {
    signals::adopt_thread()?;
    let base = death::shared();
    let at = |area: Area| base.wrapping_add(area.offset as usize);
    let literals = Literals { base: at(header.literals), bytes: header.literals.bytes as usize };
    let covers = header.options & layout::option::COVERAGE != 0;
    let coverage = if covers {
        Some(Coverage::new(Counters::of_binary(), at(header.seen), header.seen.bytes as usize)?)
    } else {
        None
    };
    let seeds = Seeds::find();
    let (entropy, clock) = interpose::in_place();
    let bits = [
        (entropy, layout::steady::ENTROPY),
        (seeds.is_some(), layout::steady::HASH_SEEDS),
        (clock, layout::steady::CLOCK),
    ];
    header.steady.store(bits.iter().filter(|bit| bit.0).map(|bit| bit.1).sum(), Relaxed);
    let interpreter = Interpreter::new(operations, types, &header.progress, literals)?;
    Some(Batches { header, interpreter, coverage, seeds })
}

fn serve(mut batches: Batches) -> ! {
    interpose::begin();
    // What the worker did itself until here is nobody's effect.
    effects::take_flags();
    effects::clear();
    signals::start_clock();
    batches.header.progress.phase.store(layout::phase::IDLE, Release);
    send(READY);
    loop {
        let Some(slot) = receive() else { death::exit(0) };
        if usize::from(slot) < layout::SLOTS {
            batches.run(usize::from(slot));
        }
        send(slot);
    }
}

fn send(byte: u8) {
    let address = core::ptr::addr_of!(byte) as usize;
    loop {
        // SAFETY: one byte is read.
        match unsafe { libc::call(nr::WRITE, [descriptor::EVENT as usize, address, 1, 0, 0, 0]) } {
            1 => return,
            error if error == -libc::EINTR => {}
            // Nobody listens.
            _ => death::exit(0),
        }
    }
}

fn receive() -> Option<u8> {
    let mut byte = 0_u8;
    let address = core::ptr::addr_of_mut!(byte) as usize;
    loop {
        // SAFETY: one byte is written.
        match unsafe { libc::call(nr::READ, [descriptor::COMMAND as usize, address, 1, 0, 0, 0]) } {
            1 => return Some(byte),
            error if error == -libc::EINTR => {}
            _ => return None,
        }
    }
}
