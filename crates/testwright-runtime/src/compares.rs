//! What the crate under test compares with what, in a build that traces comparisons.
//!
//! The instrumented code calls `__sanitizer_cov_trace_…` before each comparison of numbers; comparisons of texts are libc's
//! `memcmp`. Both end here while a sequence that asks for it runs; `batch` writes what was noted.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use testwright_wire::record::Compare;

use crate::lock::SpinLock;

/// Comparisons of a sequence that are noted at most, and of one place: loops make many.
const MOST: usize = 4096;
const PER_SITE: usize = 6;
/// Places are found by their hashes here.
const SITES: usize = 8192;
/// Texts up to this length are noted, so many bytes of them.
const LONGEST: usize = 64;
const ROOM: usize = 1 << 15;

static NOTES: AtomicBool = AtomicBool::new(false);
static NOTED: SpinLock<Noted> = SpinLock::new(Noted {
    compares: [Compare { site: 0, left: 0, right: 0, width: 0 }; MOST],
    count: 0,
    sites: [(0, 0); SITES],
    spans: [0; ROOM],
    span_bytes: 0,
});

struct Noted {
    compares: [Compare; MOST],
    count: usize,
    /// A place and how often it was noted.
    sites: [(u64, u8); SITES],
    spans: [u8; ROOM],
    span_bytes: usize,
}

/// Forgets what was noted, and notes from now on.
pub fn begin() {
    NOTED.with(|noted| {
        noted.count = 0;
        noted.span_bytes = 0;
        noted.sites = [(0, 0); SITES];
    });
    NOTES.store(true, Relaxed);
}

/// Stops, and shows what was noted: numbers and texts.
pub fn end(mut show: impl FnMut(&[Compare], &[u8])) {
    NOTES.store(false, Relaxed);
    NOTED.with(|noted| show(&noted.compares[..noted.count], &noted.spans[..noted.span_bytes]));
}

/// Notes a comparison of two numbers.
#[cfg_attr(not(testwright_traced), allow(dead_code))]
pub fn numbers(left: u64, right: u64, address: u64, width: u64) {
    if !NOTES.load(Relaxed) {
        return;
    }
    // The binary may lie anywhere.
    let site = address.wrapping_sub(begin as *const () as usize as u64);
    NOTED.with(|noted| {
        let hash = site.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51;
        let (known, times) = &mut noted.sites[hash as usize % SITES];
        if *known != site {
            (*known, *times) = (site, 0);
        }
        if usize::from(*times) >= PER_SITE || noted.count == MOST {
            return;
        }
        let compare = Compare { site, left, right, width };
        let from = noted.count.saturating_sub(4 * PER_SITE);
        if noted.compares[from..noted.count].contains(&compare) {
            return;
        }
        *times += 1;
        noted.compares[noted.count] = compare;
        noted.count += 1;
    });
}

/// Compares as libc does, and notes it.
///
/// # Safety
/// Both must point to `length` bytes.
#[cfg_attr(not(testwright_traced), allow(dead_code))]
pub unsafe fn texts(left: *const u8, right: *const u8, length: usize) -> i32 {
    // Words first, then bytes one by one, read so that the compiler does not make a call of `memcmp` of it.
    let mut same = 0;
    while same + 8 <= length {
        let word = |text: *const u8| text.add(same).cast::<[u8; 8]>().read_volatile();
        if u64::from_ne_bytes(word(left)) != u64::from_ne_bytes(word(right)) {
            break;
        }
        same += 8;
    }
    let mut difference = 0;
    for place in same..length {
        let sides = (left.add(place).read_volatile(), right.add(place).read_volatile());
        if sides.0 != sides.1 {
            difference = i32::from(sides.0) - i32::from(sides.1);
            break;
        }
    }
    if difference != 0 && length <= LONGEST && NOTES.load(Relaxed) {
        NOTED.with(|noted| {
            let start = noted.span_bytes;
            if start + 8 + 2 * length <= ROOM {
                let mut put = |byte: u8| {
                    noted.spans[noted.span_bytes] = byte;
                    noted.span_bytes += 1;
                };
                (length as u64).to_le_bytes().into_iter().for_each(&mut put);
                for side in [left, right] {
                    (0..length).for_each(|place| put(side.add(place).read_volatile()));
                }
            }
        });
    }
    difference
}

#[cfg(testwright_traced)]
mod traced {
    /// Where the instrumented code's calls arrive, with the address that they return to.
    #[no_mangle]
    extern "C" fn testwright_compared(left: u64, right: u64, address: u64, width: u64) {
        super::numbers(left, right, address, width);
    }

    /// The value of a `match`, the number of its cases, their width in bits, and the cases.
    #[no_mangle]
    unsafe extern "C" fn testwright_switched(value: u64, cases: *const u64, address: u64) {
        let width = *cases.add(1) / 8;
        for case in 0..(*cases).min(super::PER_SITE as u64 * 2) {
            // Each case is a comparison of its own.
            super::numbers(value, *cases.add(2 + case as usize), address.wrapping_add(case << 48), width);
        }
    }

    core::arch::global_asm!(
        ".macro testwright_trace name, width, left, right",
        ".globl \\name",
        "\\name:",
        "\\left",
        "\\right",
        "mov rdx, [rsp]",
        "mov ecx, \\width",
        "jmp testwright_compared",
        ".endm",
        "testwright_trace __sanitizer_cov_trace_cmp1, 1, \"movzx edi, dil\", \"movzx esi, sil\"",
        "testwright_trace __sanitizer_cov_trace_const_cmp1, 1, \"movzx edi, dil\", \"movzx esi, sil\"",
        "testwright_trace __sanitizer_cov_trace_cmp2, 2, \"movzx edi, di\", \"movzx esi, si\"",
        "testwright_trace __sanitizer_cov_trace_const_cmp2, 2, \"movzx edi, di\", \"movzx esi, si\"",
        "testwright_trace __sanitizer_cov_trace_cmp4, 4, \"mov edi, edi\", \"mov esi, esi\"",
        "testwright_trace __sanitizer_cov_trace_const_cmp4, 4, \"mov edi, edi\", \"mov esi, esi\"",
        "testwright_trace __sanitizer_cov_trace_cmp8, 8, \"\", \"\"",
        "testwright_trace __sanitizer_cov_trace_const_cmp8, 8, \"\", \"\"",
        ".globl __sanitizer_cov_trace_switch",
        "__sanitizer_cov_trace_switch:",
        "mov rdx, [rsp]",
        "jmp testwright_switched",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_noted_between_begin_and_end() {
        let compares = |left: &[u8], right: &[u8]| {
            assert_eq!(left.len(), right.len());
            // SAFETY: both have so many bytes.
            unsafe { texts(left.as_ptr(), right.as_ptr(), left.len()) }
        };
        numbers(1, 2, 100, 4);
        begin();
        for turn in 0..100 {
            numbers(turn, 50, 100, 4);
            numbers(7, 7, 200, 8);
        }
        assert!(compares(b"abc", b"abd") < 0 && compares(b"b", b"a") > 0 && compares(b"x", b"x") == 0);
        let mut shown = (Vec::new(), Vec::new());
        end(|numbers, texts| shown = (numbers.to_vec(), texts.to_vec()));
        assert_eq!(shown.0.len(), PER_SITE + 1, "loops do not fill it");
        assert_eq!((shown.0[0].left, shown.0[0].right, shown.0[1].left), (0, 50, 7));
        assert_eq!(
            shown.1,
            [&[3, 0, 0, 0, 0, 0, 0, 0][..], b"abcabd", &[1, 0, 0, 0, 0, 0, 0, 0], b"ba"].concat()
        );
        numbers(1, 2, 300, 4);
        end(|numbers, _| assert_eq!(numbers.len(), PER_SITE + 1));
    }
}
