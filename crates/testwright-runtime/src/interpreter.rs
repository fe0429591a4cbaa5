//! Runs one sequence: decodes its words, calls operations over cells, observes values, and tears everything down.
//!
//! Receives checked tables once and words per sequence; hands an [`Outcome`] to `batch`. Numbers in the words are checked, so
//! that a malformed sequence is refused; that arguments have the right types is the tool's duty.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::any::Any;
use core::mem::size_of;
use core::sync::atomic::Ordering::Relaxed;
use std::panic::{catch_unwind, AssertUnwindSafe};

use testwright_wire::code::{
    BYTES, CALL_BASE, DEREF, DROP, FORGET, INT, MAX_VALUES, MOVE, OBSERVE, STR, VALUE, WIDE,
};
use testwright_wire::layout::{phase, Progress};
use testwright_wire::record::{status, want};

use crate::cells::Arena;
use crate::libc;
use crate::observations::Observations;
use crate::operation::Operation;
use crate::panic;
use crate::types::Type;

/// An operation with what its result's type needs, in one place.
#[derive(Clone, Copy)]
struct Prepared {
    call: unsafe fn(*const *mut u8, *mut u8),
    size: u32,
    mask: u32,
    result: u16,
    arity: u8,
    drops: bool,
}

#[derive(Clone, Copy)]
struct Value {
    /// Null once the value is gone.
    cell: *mut u8,
    ty: u16,
}

/// Literals that sequences refer to.
#[derive(Debug, Clone, Copy)]
pub struct Literals {
    pub base: *const u8,
    pub bytes: usize,
}

/// How a sequence went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// One of [`status`].
    pub status: u16,
    pub step: u32,
    pub calls: u32,
    /// Panics that left a call, a destructor, an observation or a panic's payload.
    pub escaped: u64,
}

/// What is asked of the interpreter is wrong.
struct Refused;

pub struct Interpreter {
    operations: Vec<Prepared>,
    types: &'static [Type],
    progress: &'static Progress,
    literals: Literals,
    #[cfg(testwright_asan)]
    copies: crate::sanitizer::Copies,
    arena: Arena,
    values: *mut Value,
    count: usize,
    /// Values with destructors, in order of creation.
    droppable: *mut u16,
    droppable_count: usize,
    step: u32,
    /// Calls of this sequence, and of all.
    calls: u32,
    all_calls: u64,
    pub observations: Observations,
}

impl Interpreter {
    /// The tables must be sound: see `worker::check`.
    pub fn new(
        operations: &[Operation],
        types: &'static [Type],
        progress: &'static Progress,
        literals: Literals,
    ) -> Option<Self> {
        let prepare = |operation: &Operation| {
            let result = &types[operation.result as usize];
            Prepared {
                call: operation.call,
                size: result.size as u32,
                mask: result.align as u32 - 1,
                result: operation.result,
                arity: operation.arity,
                drops: result.drop.is_some(),
            }
        };
        let operations = operations.iter().map(prepare).collect();
        Some(Interpreter {
            operations,
            types,
            progress,
            literals,
            #[cfg(testwright_asan)]
            copies: crate::sanitizer::Copies::default(),
            arena: Arena::new()?,
            values: libc::reserve(MAX_VALUES * size_of::<Value>())?.cast(),
            count: 0,
            droppable: libc::reserve(MAX_VALUES * 2)?.cast(),
            droppable_count: 0,
            step: 0,
            calls: 0,
            all_calls: 0,
            observations: Observations::new()?,
        })
    }

    /// Runs the steps, then drops all values; tells `panicked` of the first panic that escapes.
    pub fn run(&mut self, words: &[u16], wants: u32, mut panicked: impl FnMut(&panic::Note)) -> Outcome {
        self.arena.reset();
        self.count = 0;
        self.droppable_count = 0;
        self.step = 0;
        self.calls = 0;
        self.observations.clear();
        let mut outcome = Outcome { status: status::COMPLETED, step: 0, calls: 0, escaped: 0 };

        let raised = panic::raised();
        // SAFETY: the tool encodes sequences whose arguments have the types that the operations take.
        let steps = catch_unwind(AssertUnwindSafe(|| unsafe { self.steps(words, wants) }));
        outcome.step = self.step;
        outcome.calls = self.calls;
        match steps {
            Ok(Ok(())) => {}
            Ok(Err(Refused)) => outcome.status = status::REFUSED,
            Err(payload) => {
                outcome.escaped += 1 + self.note(payload, raised, &mut panicked);
                outcome.status = status::PANICKED;
                if let Some(value) = self.observations.under_way.take() {
                    outcome.status = status::OBSERVE_PANICKED;
                    outcome.step = value;
                }
            }
        }
        self.tear_down(&mut outcome, panicked);
        outcome
    }

    fn tear_down(&mut self, outcome: &mut Outcome, mut panicked: impl FnMut(&panic::Note)) {
        self.progress.phase.store(phase::TEARDOWN, Relaxed);
        while self.droppable_count > 0 {
            let raised = panic::raised();
            // SAFETY: values are dropped once: each is taken off the stack, and its cell marked empty, before its destructor.
            let Err(payload) = catch_unwind(AssertUnwindSafe(|| unsafe { self.drop_values() })) else {
                break;
            };
            outcome.escaped += 1;
            let value = self.progress.step.load(Relaxed);
            if outcome.status == status::COMPLETED {
                outcome.status = status::DROP_PANICKED;
                outcome.step = value;
                outcome.escaped += self.note(payload, raised, &mut panicked);
            } else {
                outcome.escaped += panic::discard(payload);
            }
        }
        self.progress.phase.store(phase::OWN, Relaxed);
    }

    /// Hands a panic on and drops its payload; how many panics that raised.
    fn note(
        &self,
        payload: Box<dyn Any + Send>,
        raised: u64,
        panicked: &mut impl FnMut(&panic::Note),
    ) -> u64 {
        self.progress.phase.store(phase::OWN, Relaxed);
        panicked(panic::escaped(&*payload, panic::raised() != raised));
        self.progress.phase.store(phase::TEARDOWN, Relaxed);
        panic::discard(payload)
    }

    unsafe fn drop_values(&mut self) {
        while self.droppable_count > 0 {
            self.droppable_count -= 1;
            let number = *self.droppable.add(self.droppable_count);
            let value = &mut *self.values.add(number as usize);
            let cell = core::mem::replace(&mut value.cell, core::ptr::null_mut());
            if !cell.is_null() {
                self.progress.step.store(u32::from(number), Relaxed);
                if let Some(drop) = self.types[value.ty as usize].drop {
                    drop(cell);
                }
            }
        }
    }

    unsafe fn steps(&mut self, words: &[u16], wants: u32) -> Result<(), Refused> {
        let mut next = words.as_ptr();
        let end = next.add(words.len());
        let mut arguments = [core::ptr::null_mut::<u8>(); Operation::MAX_ARITY];
        let observes = wants & (want::TEXTS | want::RESULTS) != 0;
        self.progress.phase.store(phase::CALL, Relaxed);
        while next < end {
            let code = *next;
            next = next.add(1);
            let left = end.offset_from(next) as usize;
            self.progress.step.store(self.step, Relaxed);
            if code >= CALL_BASE {
                let operation = *self.operations.get((code - CALL_BASE) as usize).ok_or(Refused)?;
                let arity = operation.arity as usize;
                if left < arity || self.count >= MAX_VALUES {
                    return Err(Refused);
                }
                for place in 0..arity {
                    *arguments.get_unchecked_mut(place) = self.argument(*next.add(place))?;
                }
                next = next.add(arity);
                let cell =
                    self.arena.cell(operation.size as usize, operation.mask as usize).ok_or(Refused)?;
                self.calls += 1;
                self.all_calls += 1;
                self.progress.calls.store(self.all_calls, Relaxed);
                (operation.call)(arguments.as_ptr(), cell);
                self.push(cell, operation.result, operation.drops);
                if observes {
                    self.observe_made(wants);
                }
            } else {
                let first = next;
                next = next.add(self.small_step(code, next, left)?);
                if observes && code == OBSERVE && wants & want::LEFT != 0 {
                    self.observe_text(*first);
                } else if observes && code > FORGET && code != OBSERVE {
                    self.observe_made(wants);
                }
            }
            self.step += 1;
        }
        if wants & want::FINGERPRINTS != 0 {
            self.observe_left();
        }
        Ok(())
    }

    #[inline]
    unsafe fn argument(&mut self, word: u16) -> Result<*mut u8, Refused> {
        let number = (word & VALUE) as usize;
        if number >= self.count {
            return Err(Refused);
        }
        let value = &mut *self.values.add(number);
        let mut address = value.cell;
        if address.is_null() {
            return Err(Refused);
        }
        if word & MOVE != 0 {
            value.cell = core::ptr::null_mut();
        }
        if word & DEREF != 0 {
            address = *address.cast::<*mut u8>();
        }
        Ok(address)
    }

    #[inline]
    unsafe fn push(&mut self, cell: *mut u8, ty: u16, drops: bool) {
        *self.values.add(self.count) = Value { cell, ty };
        if drops {
            *self.droppable.add(self.droppable_count) = self.count as u16;
            self.droppable_count += 1;
        }
        self.count += 1;
    }

    /// Observes the value made last.
    #[cold]
    unsafe fn observe_made(&mut self, wants: u32) {
        let number = self.count - 1;
        let value = *self.values.add(number);
        self.begin_observing(number);
        self.observations.made(number, value.cell, &self.types[value.ty as usize], wants);
        self.progress.phase.store(phase::CALL, Relaxed);
        self.progress.step.store(self.step, Relaxed);
    }

    /// Takes the text of a value that was just observed.
    #[cold]
    unsafe fn observe_text(&mut self, word: u16) {
        let number = (word & VALUE) as usize;
        let value = *self.values.add(number);
        self.begin_observing(number);
        self.observations.text_again(number, value.cell, &self.types[value.ty as usize]);
        self.progress.phase.store(phase::CALL, Relaxed);
        self.progress.step.store(self.step, Relaxed);
    }

    /// Observes the values that are left at the end.
    #[cold]
    unsafe fn observe_left(&mut self) {
        for number in 0..self.count {
            let value = *self.values.add(number);
            self.begin_observing(number);
            self.observations.left(number, value.cell, &self.types[value.ty as usize]);
        }
    }

    fn begin_observing(&self, number: usize) {
        self.progress.step.store(number as u32, Relaxed);
        self.progress.phase.store(phase::OBSERVE, Relaxed);
    }

    /// Any step but a call; returns how many words it took behind its code.
    unsafe fn small_step(&mut self, code: u16, words: *const u16, left: usize) -> Result<usize, Refused> {
        let takes = match code {
            DROP | FORGET | OBSERVE => 1,
            INT | STR | BYTES => 5,
            WIDE => 9,
            _ => return Err(Refused),
        };
        if left < takes || self.count >= MAX_VALUES {
            return Err(Refused);
        }
        let first = *words;
        if takes == 1 {
            if code == OBSERVE {
                self.observe(first)?;
            } else {
                self.end_of(first, code == DROP)?;
            }
            return Ok(takes);
        }
        let ty = self.types.get(first as usize).ok_or(Refused)?;
        let cell = self.arena.cell(ty.size, ty.align - 1).ok_or(Refused)?;
        let number = words.add(1);
        let fits = ty.drop.is_none()
            && match code {
                INT => matches!(ty.size, 1 | 2 | 4 | 8),
                _ => ty.size == 16,
            };
        if !fits {
            return Err(Refused);
        }
        match code {
            // Little endian: the low bytes come first.
            INT | WIDE => core::ptr::copy_nonoverlapping(number.cast::<u8>(), cell, ty.size),
            _ => cell.cast::<&'static [u8]>().write(self.literal(number, code == STR)?),
        }
        self.push(cell, first, false);
        Ok(takes)
    }

    unsafe fn literal(&mut self, words: *const u16, text: bool) -> Result<&'static [u8], Refused> {
        let offset = words.cast::<u32>().read_unaligned() as usize;
        let length = words.add(2).cast::<u32>().read_unaligned() as usize;
        if offset + length > self.literals.bytes {
            return Err(Refused);
        }
        let bytes = core::slice::from_raw_parts(self.literals.base.add(offset), length);
        if text && core::str::from_utf8(bytes).is_err() {
            return Err(Refused);
        }
        #[cfg(testwright_asan)]
        let bytes = self.copies.of(bytes);
        Ok(bytes)
    }

    /// Takes the fingerprint of a value that the tool asks for.
    unsafe fn observe(&mut self, word: u16) -> Result<(), Refused> {
        let number = (word & VALUE) as usize;
        if number >= self.count {
            return Err(Refused);
        }
        let value = *self.values.add(number);
        if value.cell.is_null() {
            return Err(Refused);
        }
        self.begin_observing(number);
        self.observations.asked(number, value.cell, &self.types[value.ty as usize]);
        self.progress.phase.store(phase::CALL, Relaxed);
        Ok(())
    }

    unsafe fn end_of(&mut self, word: u16, drops: bool) -> Result<(), Refused> {
        let number = (word & VALUE) as usize;
        if number >= self.count {
            return Err(Refused);
        }
        let value = &mut *self.values.add(number);
        let cell = core::mem::replace(&mut value.cell, core::ptr::null_mut());
        if cell.is_null() {
            return Err(Refused);
        }
        if let (true, Some(drop)) = (drops, self.types[value.ty as usize].drop) {
            drop(cell);
        }
        Ok(())
    }
}
