//! A worker that does what a sequence's first call says, dying included: the counterpart for tests of the supervisor.
//!
//! It follows the wire contract by reading and writing the shared file, so it shares no code with the real worker and can
//! misbehave where that one cannot. Operations are those of [`act`]; each takes no argument.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use testwright_wire::code::{CALL_BASE, STR};
use testwright_wire::layout::{Area, Death, Header, SlotHead, SlotPlace, TypeInfo, death, phase};
use testwright_wire::record::{Head, section, status};
use testwright_wire::{READY, VERSION};

/// What the operations do, by number; any other does nothing.
mod act {
    pub const PANIC: u16 = 1;
    pub const NOTED_ABORT: u16 = 2;
    pub const SILENT_ABORT: u16 = 3;
    pub const SPIN: u16 = 4;
    pub const BLOCK: u16 = 5;
    pub const EXIT: u16 = 6;
    pub const SEGFAULT: u16 = 7;
    /// The answer needs the room to itself.
    pub const BIG: u16 = 8;
    pub const TOO_BIG: u16 = 9;
    pub const KILL_ALWAYS: u16 = 10;
    pub const KILL_ONCE: u16 = 11;
    pub const CORRUPT_ONCE: u16 = 12;
    pub const CORRUPT_ALWAYS: u16 = 13;
    pub const TEARDOWN_FAULT: u16 = 14;
    /// Dies of a noted error after its answer was given.
    pub const AFTERMATH: u16 = 15;
    pub const WORK: u16 = 16;
    /// Leaves a child behind that holds the pipes open.
    pub const ORPHAN: u16 = 17;
    /// Tells the number of the process and how many descriptors it was given, as fingerprints.
    pub const WHO: u16 = 18;
    /// Sleeps now and then for a moment, makes progress all the time.
    pub const SLOW: u16 = 19;
}

struct Puppet {
    shared: File,
    literals: u64,
    slots: [SlotPlace; 2],
    calls: u64,
    started: u64,
    descriptors: u64,
}

fn main() {
    // The folder itself is one of them.
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("a folder").count() as u64 - 1;
    let open = |descriptor| {
        let path = format!("/proc/self/fd/{descriptor}");
        OpenOptions::new().read(descriptor != 5).write(descriptor != 4).open(path).expect("it is open")
    };
    let (shared, mut command, mut event) = (open(3), open(4), open(5));
    let mut puppet = Puppet::new(shared, descriptors);
    match std::env::var("PUPPET").as_deref() {
        Ok("refuse") => puppet.die(death::START, "no strings attached"),
        Ok("die") => std::process::exit(3),
        Ok("silent") => std::thread::sleep(Duration::from_secs(1000)),
        _ => {}
    }
    puppet.introduce();
    event.write_all(&[READY]).expect("the tool listens");
    let mut slot = [0];
    while command.read_exact(&mut slot).is_ok() {
        puppet.run(slot[0]);
        puppet.set(offset_of!(Header, progress.phase), phase::IDLE);
        event.write_all(&slot).expect("the tool listens");
    }
}

impl Puppet {
    fn new(shared: File, descriptors: u64) -> Self {
        let mut puppet = Puppet {
            shared,
            literals: 0,
            slots: [(); 2].map(|()| {
                let none = Area { offset: 0, bytes: 0 };
                SlotPlace { head: 0, request: none, response: none }
            }),
            calls: 0,
            started: 0,
            descriptors,
        };
        assert_eq!(puppet.u32(offset_of!(Header, version) as u64), VERSION);
        puppet.literals = puppet.u64(offset_of!(Header, literals.offset) as u64);
        for slot in 0..2 {
            let place = (offset_of!(Header, slots) + slot * size_of::<SlotPlace>()) as u64;
            puppet.slots[slot].head = puppet.u64(place + offset_of!(SlotPlace, head) as u64);
            puppet.slots[slot].request.offset =
                puppet.u64(place + offset_of!(SlotPlace, request.offset) as u64);
            puppet.slots[slot].response.offset =
                puppet.u64(place + offset_of!(SlotPlace, response.offset) as u64);
        }
        puppet
    }

    fn introduce(&self) {
        let catalogue = self.u64(offset_of!(Header, catalogue.offset) as u64);
        self.write(catalogue + offset_of!(TypeInfo, size) as u64, &24u32.to_le_bytes());
        self.write(catalogue + offset_of!(TypeInfo, align) as u64, &8u32.to_le_bytes());
        self.set(offset_of!(Header, types), 1);
        self.set(offset_of!(Header, operations), 20);
        self.write(offset_of!(Header, counters) as u64, &100u64.to_le_bytes());
    }

    fn run(&mut self, slot: u8) {
        let SlotPlace { head, request, .. } = self.slots[usize::from(slot)];
        let field = |offset: usize| self.u32(head + offset as u64);
        let sequences = field(offset_of!(SlotHead, sequences));
        let mut word = field(offset_of!(SlotHead, resume_word));
        let first = field(offset_of!(SlotHead, resume_sequence));
        self.set(offset_of!(Header, progress.slot), slot.into());
        for sequence in first..sequences {
            let start = request.offset + u64::from(word) * 2;
            let length = self.u32(start);
            self.started += 1;
            self.write(offset_of!(Header, progress.started) as u64, &self.started.to_le_bytes());
            self.set(offset_of!(Header, progress.sequence), sequence);
            let mut code = vec![0; length as usize * 2];
            self.shared.read_exact_at(&mut code, start + 4).expect("it is there");
            let code: Vec<u16> =
                code.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect();
            self.sequence(slot, sequence, &code);
            word += 2 + length;
        }
    }

    fn sequence(&mut self, slot: u8, sequence: u32, code: &[u16]) {
        if code.first() == Some(&STR) {
            let (offset, length) = (u32::from(code[2]) | u32::from(code[3]) << 16, u32::from(code[4]));
            let mut text = vec![0; length as usize];
            self.shared.read_exact_at(&mut text, self.literals + u64::from(offset)).expect("it is there");
            let content = [&length.to_le_bytes()[..], &text].concat();
            self.answer(slot, sequence, status::COMPLETED, 1, Some((section::TEXTS, &content)));
            return;
        }
        let mut steps = 0;
        for &code in code {
            self.calls += 1;
            self.write(offset_of!(Header, progress.calls) as u64, &self.calls.to_le_bytes());
            self.set(offset_of!(Header, progress.step), steps);
            self.set(offset_of!(Header, progress.phase), phase::CALL);
            if self.answered_by(code - CALL_BASE, slot, sequence, steps) {
                return;
            }
            steps += 1;
        }
        self.set(offset_of!(Header, progress.phase), phase::OWN);
        self.answer(slot, sequence, status::COMPLETED, steps, None);
    }

    /// Does what the operation says; true if that answered the sequence.
    fn answered_by(&mut self, operation: u16, slot: u8, sequence: u32, step: u32) -> bool {
        let kill = |signal| kill_process(getpid(), signal).expect("one may kill oneself");
        let head = self.slots[usize::from(slot)].head;
        match operation {
            act::PANIC => {
                let mut content: Vec<u8> = [4u32, 9, 4, 10].iter().flat_map(|n| n.to_le_bytes()).collect();
                content.extend(b"boomsrc/lib.rs");
                self.answer(slot, sequence, status::PANICKED, step, Some((section::PANIC, &content)));
                return true;
            }
            act::NOTED_ABORT => self.die(death::ABORT, "a panic while panicking"),
            act::SILENT_ABORT => std::process::abort(),
            act::SPIN => loop {
                std::hint::spin_loop();
            },
            act::BLOCK => std::thread::sleep(Duration::from_secs(1000)),
            act::EXIT => std::process::exit(7),
            act::SEGFAULT => segfault(),
            act::BIG | act::TOO_BIG => {
                let alone = self.u32(head + offset_of!(SlotHead, answered) as u64) == 0;
                if operation == act::TOO_BIG || !alone {
                    self.answer(slot, sequence, status::TRUNCATED, step, None);
                    return true;
                }
            }
            act::KILL_ALWAYS => kill(Signal::KILL),
            act::KILL_ONCE if once("killed") => kill(Signal::KILL),
            act::CORRUPT_ONCE if !once("corrupt") => {}
            act::CORRUPT_ONCE | act::CORRUPT_ALWAYS => {
                self.answer(slot, sequence + 1000, 99, step, None);
                return true;
            }
            act::TEARDOWN_FAULT => {
                self.set(offset_of!(Header, progress.phase), phase::TEARDOWN);
                self.write(offset_of!(Header, death.detail) as u64, &0xdead_u64.to_le_bytes());
                self.set(offset_of!(Header, death.signal), 11);
                self.die(death::FAULT, "");
            }
            act::AFTERMATH => {
                self.answer(slot, sequence, status::COMPLETED, step + 1, None);
                self.set(offset_of!(Header, progress.phase), phase::OWN);
                self.die(death::MEMORY, "a canary is dead");
            }
            act::WORK => {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_micros(200) {}
            }
            act::ORPHAN => {
                let child = Command::new("/bin/sh").args(["-c", "sleep 1000 & sleep 1000"]).spawn();
                std::fs::write("orphan", child.expect("there is a shell").id().to_string())
                    .expect("writable");
                segfault();
            }
            act::WHO => {
                let numbers = [u64::from(std::process::id()), self.descriptors].map(u64::to_le_bytes);
                let content = numbers.concat();
                let content = Some((section::FINGERPRINTS, &content[..]));
                self.answer(slot, sequence, status::COMPLETED, step + 1, content);
                return true;
            }
            act::SLOW => std::thread::sleep(Duration::from_millis(60)),
            _ => {}
        }
        false
    }

    fn answer(&self, slot: u8, sequence: u32, status: u16, step: u32, section: Option<(u32, &[u8])>) {
        let place = self.slots[usize::from(slot)];
        let mut body = Vec::new();
        if let Some((tag, content)) = section {
            body.extend(tag.to_le_bytes());
            body.extend(u32::try_from(content.len()).expect("it is short").to_le_bytes());
            body.extend(content);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let mut bytes = Vec::new();
        // Steps that completed are calls; so is the one that did not.
        let calls = if status == status::COMPLETED { step } else { step + 1 };
        for number in [sequence, status.into(), step, calls] {
            bytes.extend(number.to_le_bytes());
        }
        // Nothing was kept or allocated, and no time taken; the last number is the size of what follows.
        bytes.resize(size_of::<Head>() - 4, 0);
        let size = u32::try_from(body.len()).expect("it is short");
        bytes.extend(size.to_le_bytes());
        bytes.extend(body);
        let answered = self.u32(place.head + offset_of!(SlotHead, answered) as u64);
        let finished = self.u32(place.head + offset_of!(SlotHead, finished) as u64);
        self.write(place.response.offset + u64::from(answered), &bytes);
        let total = answered + u32::try_from(size_of::<Head>()).expect("it is short") + size;
        self.write(place.head + offset_of!(SlotHead, answered) as u64, &total.to_le_bytes());
        self.write(place.head + offset_of!(SlotHead, finished) as u64, &(finished + 1).to_le_bytes());
    }

    fn die(&self, kind: u32, message: &str) -> ! {
        self.write((offset_of!(Header, death) + offset_of!(Death, message)) as u64, message.as_bytes());
        let length = u32::try_from(message.len()).expect("it is short");
        self.set(offset_of!(Header, death.message_len), length);
        self.set(offset_of!(Header, death.kind), kind);
        std::process::exit(99)
    }

    fn u32(&self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.shared.read_exact_at(&mut bytes, offset).expect("it is there");
        u32::from_le_bytes(bytes)
    }

    fn u64(&self, offset: u64) -> u64 {
        u64::from(self.u32(offset)) | u64::from(self.u32(offset + 4)) << 32
    }

    fn set(&self, offset: usize, value: u32) {
        self.write(offset as u64, &value.to_le_bytes());
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        self.shared.write_all_at(bytes, offset).expect("it is there");
    }
}

/// The first signal only meets std's handler, which takes it for no stack overflow and steps back.
fn segfault() -> ! {
    loop {
        kill_process(getpid(), Signal::SEGV).expect("one may kill oneself");
    }
}

/// Whether this is the first time, told by a file in the scratch folder.
fn once(name: &str) -> bool {
    OpenOptions::new().write(true).create_new(true).open(name).is_ok()
}
