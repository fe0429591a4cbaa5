//! AddressSanitizer: its report becomes the worker's last words.
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
