//! Drives a worker as the tool does: one shared memory file, two pipes, and a process that may die.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use testwright_wire::layout::{Area, Header, SlotHead, SlotPlace, TypeInfo, MAGIC, SLOTS};
use testwright_wire::record::{sections, Head};
use testwright_wire::{READY, VERSION};

extern "C" {
    fn memfd_create(name: *const u8, flags: u32) -> i32;
    fn mmap(address: *mut u8, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn munmap(address: *mut u8, length: usize) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
    fn fcntl(file: i32, command: i32, argument: i32) -> i32;
    fn pipe2(ends: *mut i32, flags: i32) -> i32;
}

const CLOEXEC: i32 = 0o2_000_000;
const DUPFD_CLOEXEC: i32 = 1030;

const CATALOGUE: Area = Area { offset: 8 << 10, bytes: 8 << 10 };
const SEEN: Area = Area { offset: 16 << 10, bytes: 16 << 10 };
const LITERALS: Area = Area { offset: 32 << 10, bytes: 32 << 10 };
const SLOT_BYTES: u64 = 8 << 20;
const BYTES: usize = (64 << 10) + SLOTS * SLOT_BYTES as usize;

fn slot(number: u64) -> SlotPlace {
    let head = (64 << 10) + number * SLOT_BYTES;
    let request = Area { offset: head + 64, bytes: SLOT_BYTES / 2 - 64 };
    SlotPlace { head, request, response: Area { offset: head + SLOT_BYTES / 2, bytes: SLOT_BYTES / 2 } }
}

/// Limits and options of a worker.
pub struct Plan {
    pub call_limit_ms: u32,
    pub sequence_limit_ms: u32,
    pub memory_limit: u64,
    pub options: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { call_limit_ms: 500, sequence_limit_ms: 2000, memory_limit: 64 << 20, options: 1 }
    }
}

pub struct Worker {
    base: *mut u8,
    child: Child,
    command: Option<File>,
    event: File,
    literals: usize,
    pub scratch: PathBuf,
}

/// A record as read back.
#[derive(Debug, Clone)]
pub struct Record {
    pub head: Head,
    pub sections: Vec<(u32, Vec<u8>)>,
}

impl Record {
    pub fn section(&self, tag: u32) -> Option<&[u8]> {
        self.sections.iter().find(|section| section.0 == tag).map(|section| section.1.as_slice())
    }

    pub fn u64s(&self, tag: u32) -> Vec<u64> {
        let words = self.section(tag).unwrap_or_default().chunks_exact(8);
        words.map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect()
    }

    pub fn u32s(&self, tag: u32) -> Vec<u32> {
        let words = self.section(tag).unwrap_or_default().chunks_exact(4);
        words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
    }

    /// Message and file of the panic, and its line.
    pub fn panic(&self) -> Option<(String, String, u32)> {
        let content = self.section(testwright_wire::record::section::PANIC)?;
        let number = |at: usize| u32::from_le_bytes(content[at..at + 4].try_into().expect("4 bytes"));
        let message = 16 + number(8) as usize;
        let text = |range: std::ops::Range<usize>| String::from_utf8(content[range].to_vec()).expect("text");
        Some((text(16..message), text(message..message + number(12) as usize), number(0)))
    }

    /// The texts of the values, `None` for those without `Debug`.
    pub fn texts(&self) -> Vec<Option<String>> {
        let mut content = self.section(testwright_wire::record::section::TEXTS).unwrap_or_default();
        let mut texts = Vec::new();
        while !content.is_empty() {
            let length = u32::from_le_bytes(content[..4].try_into().expect("4 bytes"));
            content = &content[4..];
            if length == u32::MAX {
                texts.push(None);
            } else {
                texts.push(Some(String::from_utf8(content[..length as usize].to_vec()).expect("text")));
                content = &content[length as usize..];
            }
        }
        texts
    }
}

/// Last words as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    pub kind: u32,
    pub signal: u32,
    pub detail: u64,
    pub message: String,
    pub file: String,
}

/// The worker next to this test in the target folder, or another build of it to be measured.
pub fn worker_path(name: &str) -> PathBuf {
    if let Some(path) = std::env::var_os("TESTWRIGHT_TINY_WORKER") {
        return path.into();
    }
    let own = std::env::current_exe().expect("the test has a path");
    let profile = own.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    profile.join("examples").join(name)
}

impl Worker {
    pub fn start(plan: &Plan) -> Worker {
        Worker::start_program(&worker_path("tiny_worker"), plan)
    }

    pub fn start_program(program: &Path, plan: &Plan) -> Worker {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let scratch = std::env::temp_dir().join(format!(
            "testwright-runtime-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Relaxed)
        ));
        std::fs::create_dir_all(&scratch).expect("a scratch folder");
        // SAFETY: plain libc calls; the mapping lives as long as the worker.
        let (shared, base) = unsafe {
            let shared = OwnedFd::from_raw_fd(memfd_create(b"testwright\0".as_ptr(), 1));
            let file = File::from(shared);
            file.set_len(BYTES as u64).expect("room");
            let base = mmap(std::ptr::null_mut(), BYTES, 3, 1, file.as_raw_fd(), 0);
            (file, base)
        };
        // SAFETY: the header lies at the start of the zeroed mapping.
        let header = unsafe { &mut *base.cast::<Header>() };
        header.magic = MAGIC;
        header.version = VERSION;
        header.options = plan.options;
        header.call_limit_ms = plan.call_limit_ms;
        header.sequence_limit_ms = plan.sequence_limit_ms;
        header.memory_limit = plan.memory_limit;
        header.catalogue = CATALOGUE;
        header.seen = SEEN;
        header.literals = LITERALS;
        header.slots = [slot(0), slot(1)];

        let (command_read, command) = pipe();
        let (event, event_write) = pipe();
        let child =
            spawn(program, &scratch, [shared.as_raw_fd(), command_read.as_raw_fd(), event_write.as_raw_fd()]);
        drop((command_read, event_write));
        let mut worker = Worker { base, child, command: Some(command), event, literals: 0, scratch };
        let ready = worker.wait();
        assert_eq!(ready, Some(READY), "{:?}", worker.death());
        worker
    }

    pub fn header(&self) -> &Header {
        // SAFETY: as in `start_program`.
        unsafe { &*self.base.cast::<Header>() }
    }

    pub fn type_info(&self, ty: usize) -> TypeInfo {
        // SAFETY: the worker has filled the catalogue.
        unsafe { self.base.add(CATALOGUE.offset as usize).cast::<TypeInfo>().add(ty).read() }
    }

    /// Appends a literal, if it is not there; returns offset and length.
    pub fn literal(&mut self, text: &str) -> (u32, u32) {
        // SAFETY: the area lies in the mapping.
        let known =
            unsafe { std::slice::from_raw_parts(self.base.add(LITERALS.offset as usize), self.literals) };
        if let Some(offset) = known.windows(text.len()).position(|window| window == text.as_bytes()) {
            return (offset as u32, text.len() as u32);
        }
        let offset = self.literals;
        // SAFETY: the tests' literals are few.
        unsafe {
            let place = self.base.add(LITERALS.offset as usize + offset);
            std::ptr::copy_nonoverlapping(text.as_ptr(), place, text.len());
        }
        self.literals += text.len();
        (offset as u32, text.len() as u32)
    }

    fn slot_head(&self, number: usize) -> &SlotHead {
        // SAFETY: slots lie in the mapping.
        unsafe { &*self.base.add(slot(number as u64).head as usize).cast::<SlotHead>() }
    }

    /// Fills a slot and starts it.
    pub fn send(&mut self, number: usize, words: &[u16], sequences: u32, want: u32) {
        self.slot_head(number).want.store(want, Relaxed);
        self.send_from(number, words, sequences, 0, 0);
    }

    /// The same from a sequence in the middle, as after a death.
    pub fn send_from(&mut self, number: usize, words: &[u16], sequences: u32, word: u32, sequence: u32) {
        // SAFETY: the request area has room for the tests' words.
        unsafe {
            let request = self.base.add(slot(number as u64).request.offset as usize);
            std::ptr::copy_nonoverlapping(words.as_ptr(), request.cast(), words.len());
        }
        let head = self.slot_head(number);
        head.answered.store(0, Relaxed);
        head.finished.store(0, Relaxed);
        head.resume_word.store(word, Relaxed);
        head.resume_sequence.store(sequence, Relaxed);
        head.sequences.store(sequences, Relaxed);
        head.words.store(words.len() as u32, Relaxed);
        let _ = self.command.as_mut().expect("open").write_all(&[number as u8]);
    }

    /// The worker's next byte; `None` if it is gone.
    pub fn wait(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.event.read_exact(&mut byte).ok().map(|()| byte[0])
    }

    pub fn records(&self, number: usize) -> Vec<Record> {
        let answered = self.slot_head(number).answered.load(Acquire) as usize;
        // SAFETY: so many bytes hold complete records.
        let mut bytes = unsafe {
            std::slice::from_raw_parts(self.base.add(slot(number as u64).response.offset as usize), answered)
        };
        let mut records = Vec::new();
        while !bytes.is_empty() {
            // SAFETY: a record starts with its head.
            let head = unsafe { bytes.as_ptr().cast::<Head>().read() };
            let (content, rest) = bytes[size_of::<Head>()..].split_at(head.sections as usize);
            let sections = sections(content).map(|section| (section.tag, section.content.to_vec())).collect();
            records.push(Record { head, sections });
            bytes = rest;
        }
        records
    }

    pub fn death(&self) -> Death {
        let words = &self.header().death;
        let text = |bytes: *const u8, length: u32| {
            // SAFETY: so many bytes are written.
            String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes, length as usize) })
                .into_owned()
        };
        Death {
            kind: words.kind.load(Acquire),
            signal: words.signal.load(Relaxed),
            detail: words.detail.load(Relaxed),
            message: text(words.message[0].get(), words.message_len.load(Relaxed)),
            file: text(words.file[0].get(), words.file_len.load(Relaxed)),
        }
    }

    /// Closes the command pipe and waits for the end.
    pub fn finish(&mut self) -> ExitStatus {
        self.command = None;
        self.child.wait().expect("a child")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.command = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.scratch);
        // SAFETY: nobody holds a reference any more.
        unsafe { munmap(self.base, BYTES) };
    }
}

fn pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: two descriptors are written, and owned by the files then.
    unsafe {
        assert_eq!(pipe2(ends.as_mut_ptr(), CLOEXEC), 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    }
}

fn spawn(program: &Path, scratch: &Path, files: [i32; 3]) -> Child {
    let mut command = Command::new(program);
    command.current_dir(scratch).env_clear().env("TESTWRIGHT_SCRATCH", scratch).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let high = files.map(|file| fcntl(file, DUPFD_CLOEXEC, 10));
            for (place, file) in high.into_iter().enumerate() {
                dup2(file, 3 + place as i32);
            }
            Ok(())
        });
    }
    command.spawn().expect("the example is built with the tests")
}
