//! AddressSanitizer: its report becomes the worker's last words, and literals lie where it sees who reads past their end.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu", testwright_asan))]

use core::ffi::{c_char, CStr};

use testwright_wire::layout::death;

use crate::death::{die, LastWords};

extern "C" {
    fn __asan_set_error_report_callback(callback: unsafe extern "C" fn(*const c_char));
}

/// From here on a report ends the process.
pub fn install() {
    // SAFETY: the callback has the signature that the sanitizer asks for.
    unsafe { __asan_set_error_report_callback(on_report) };
}

unsafe extern "C" fn on_report(report: *const c_char) {
    let mut last = LastWords::new(death::MEMORY, "");
    last.message = beginning(CStr::from_ptr(report).to_bytes());
    die(&last)
}

/// The report without its rule of `=` signs; what does not fit into last words is cut there.
fn beginning(report: &[u8]) -> &[u8] {
    let start = report.iter().position(|byte| !matches!(byte, b'=' | b'\n')).unwrap_or(0);
    &report[start..]
}

/// Literals in blocks of their own. What lies in shared memory has neighbours that may be read unseen.
#[derive(Debug, Default)]
pub struct Copies {
    /// By address and length in shared memory. Never freed: code under test may keep what is `'static`.
    known: std::collections::BTreeMap<(usize, usize), &'static [u8]>,
    bytes: usize,
}

/// Bytes that are copied at most, the sanitizer's own around each included; later literals stay where they are.
const COPIED: usize = 48 << 20;
const AROUND: usize = 64;

impl Copies {
    pub fn of(&mut self, bytes: &'static [u8]) -> &'static [u8] {
        let key = (bytes.as_ptr() as usize, bytes.len());
        if let Some(copy) = self.known.get(&key) {
            return copy;
        }
        if self.bytes > COPIED {
            return bytes;
        }
        self.bytes += bytes.len() + AROUND;
        let copy: &'static [u8] = Box::leak(bytes.into());
        self.known.insert(key, copy);
        copy
    }
}
