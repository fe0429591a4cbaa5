//! Records in a response, as bytes, become [`Execution`]s.
//!
//! The bytes come from a process that runs foreign code, so nothing in them is trusted: what does not fit is [`Corrupt`].

use testwright_wire::record::{self, Compare, Section, effect, section, status};

use crate::outcome::{Details, EffectFact, EffectKind, Ending, Execution, PanicInfo, Phase, Span};

const HEAD: usize = size_of::<record::Head>();

/// A record that cannot be what the worker wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corrupt;

/// Appends the executions that `bytes` hold to `into`, whose length is the index of the first. Those before
/// a corrupt one are good.
pub(crate) fn records(mut bytes: &[u8], sequences: usize, into: &mut Vec<Execution>) -> Result<(), Corrupt> {
    while !bytes.is_empty() {
        let head = Numbers(bytes.get(..HEAD).ok_or(Corrupt)?);
        let end = HEAD + head.u32(44) as usize;
        let sections = bytes.get(HEAD..end).ok_or(Corrupt)?;
        if head.u32(0) as usize != into.len() || into.len() >= sequences {
            return Err(Corrupt);
        }
        into.push(execution(head, sections)?);
        bytes = bytes.get(end.next_multiple_of(8)..).unwrap_or(&[]);
    }
    Ok(())
}

fn execution(head: Numbers<'_>, sections: &[u8]) -> Result<Execution, Corrupt> {
    let (ending, phase) = match head.u16(4) {
        status::COMPLETED => (Ending::Completed, Phase::Idle),
        status::PANICKED => (Ending::Panicked, Phase::Call),
        status::DROP_PANICKED => (Ending::DropPanicked, Phase::Teardown),
        status::OBSERVE_PANICKED => (Ending::ObservePanicked, Phase::Observe),
        status::REFUSED => (Ending::Refused, Phase::Own),
        status::TRUNCATED => (Ending::Truncated, Phase::Own),
        _ => return Err(Corrupt),
    };
    let (details, observed) = details(sections)?;
    Ok(Execution {
        ending,
        phase,
        step: head.u32(8),
        calls: head.u32(12),
        flags: head.u16(6),
        kept_bytes: head.u64(16).cast_signed(),
        allocated: head.u64(24),
        ticks: head.u64(32),
        kept_values: head.u32(40).cast_signed(),
        observed,
        details,
    })
}

/// Most answers hold observed fingerprints at most, which need no box.
fn details(bytes: &[u8]) -> Result<(Option<Box<Details>>, Vec<u64>), Corrupt> {
    let mut boxed: Option<Box<Details>> = None;
    let mut observed = Vec::new();
    for Section { tag, content } in record::sections(bytes) {
        if tag == section::OBSERVED {
            observed = u64s(content);
            continue;
        }
        let details = boxed.get_or_insert_default();
        match tag {
            section::PANIC => details.panic = Some(panic(content)?),
            section::FINGERPRINTS => details.fingerprints = u64s(content),
            section::RESULTS => details.results = u64s(content),
            section::TEXTS => details.texts = texts(content)?,
            section::NEW_COUNTERS => details.new_counters = u32s(content),
            section::COUNTERS => details.counters = u32s(content),
            section::EFFECTS => details.effects = effects(content),
            section::COUNTS => details.counts = counts(content)?,
            section::COMPARES => details.compares = compares(content),
            section::SPANS => details.spans = spans(content)?,
            _ => return Err(Corrupt),
        }
    }
    Ok((boxed, observed))
}

fn panic(content: &[u8]) -> Result<PanicInfo, Corrupt> {
    let numbers = Numbers(content.get(..16).ok_or(Corrupt)?);
    let message_end = 16 + numbers.u32(8) as usize;
    let file_end = message_end + numbers.u32(12) as usize;
    Ok(PanicInfo {
        line: numbers.u32(0),
        column: numbers.u32(4),
        message: text(content.get(16..message_end).ok_or(Corrupt)?),
        file: text(content.get(message_end..file_end).ok_or(Corrupt)?),
    })
}

fn texts(mut content: &[u8]) -> Result<Vec<Option<String>>, Corrupt> {
    let mut texts = Vec::new();
    // Fewer than four bytes can only be padding.
    while let Some(prefix) = content.get(..4) {
        let length = Numbers(prefix).u32(0);
        content = &content[4..];
        if length == u32::MAX {
            texts.push(None);
        } else {
            let (bytes, rest) = content.split_at_checked(length as usize).ok_or(Corrupt)?;
            texts.push(Some(text(bytes)));
            content = rest;
        }
    }
    Ok(texts)
}

fn effects(content: &[u8]) -> Vec<EffectFact> {
    let of = |chunk| {
        let numbers = Numbers(chunk);
        EffectFact {
            step: numbers.u32(0),
            kind: match numbers.u32(4) {
                effect::NETWORK => EffectKind::Network,
                effect::FILES => EffectKind::Files,
                effect::PROCESS => EffectKind::Process,
                effect::SIGNAL => EffectKind::Signal,
                effect::THREAD => EffectKind::Thread,
                effect::SLEEP => EffectKind::Sleep,
                _ => EffectKind::Other,
            },
            call: numbers.u32(8),
            allowed: numbers.u32(12) != 0,
        }
    };
    content.chunks_exact(size_of::<record::Effect>()).map(of).collect()
}

fn compares(content: &[u8]) -> Vec<Compare> {
    let of = |chunk| {
        let numbers = Numbers(chunk);
        Compare { site: numbers.u64(0), left: numbers.u64(8), right: numbers.u64(16), width: numbers.u64(24) }
    };
    content.chunks_exact(size_of::<Compare>()).map(of).collect()
}

fn spans(mut content: &[u8]) -> Result<Vec<Span>, Corrupt> {
    let mut spans = Vec::new();
    // Fewer than eight bytes can only be padding.
    while let Some(prefix) = content.get(..8) {
        let length = usize::try_from(Numbers(prefix).u64(0)).map_err(|_| Corrupt)?;
        let (left, rest) = content[8..].split_at_checked(length).ok_or(Corrupt)?;
        let (right, rest) = rest.split_at_checked(length).ok_or(Corrupt)?;
        spans.push((left.to_vec(), right.to_vec()));
        content = rest;
    }
    Ok(spans)
}

fn counts(content: &[u8]) -> Result<Vec<(u32, u64)>, Corrupt> {
    let of = |chunk| {
        let numbers = Numbers(chunk);
        Ok((u32::try_from(numbers.u64(0)).map_err(|_| Corrupt)?, numbers.u64(8)))
    };
    content.chunks_exact(16).map(of).collect()
}

fn u64s(content: &[u8]) -> Vec<u64> {
    content.chunks_exact(8).map(|chunk| Numbers(chunk).u64(0)).collect()
}

fn u32s(content: &[u8]) -> Vec<u32> {
    content.chunks_exact(4).map(|chunk| Numbers(chunk).u32(0)).collect()
}

/// Texts may be cut in the middle of a character, and `Debug` may write anything.
pub(crate) fn text(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Little-endian numbers at fixed places; the slice is long enough for them.
#[derive(Clone, Copy)]
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        self.0[at..at + N].try_into().expect("the range has this length")
    }

    fn u16(self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sequence: u32, status: u16, sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (tag, content) in sections {
            body.extend(tag.to_le_bytes());
            body.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
            body.extend(content);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let mut bytes = Vec::new();
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(status.to_le_bytes());
        bytes.extend(8u16.to_le_bytes());
        bytes.extend(5u32.to_le_bytes());
        bytes.extend(4u32.to_le_bytes());
        bytes.extend((-24i64).to_le_bytes());
        bytes.extend(100u64.to_le_bytes());
        bytes.extend(7u64.to_le_bytes());
        bytes.extend((-2i32).to_le_bytes());
        bytes.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn panic_section() -> Vec<u8> {
        let mut content: Vec<u8> = [12u32, 7, 4, 6].iter().flat_map(|n| n.to_le_bytes()).collect();
        content.extend(b"boomlib.rs");
        content
    }

    #[test]
    fn records_become_executions_in_order() {
        let mut bytes = record(0, status::COMPLETED, &[]);
        bytes.extend(record(1, status::PANICKED, &[(section::PANIC, panic_section())]));
        let mut executions = Vec::new();
        assert_eq!(records(&bytes, 2, &mut executions), Ok(()));
        assert_eq!(executions[0].ending, Ending::Completed);
        assert_eq!(executions[0].kept_bytes, -24);
        assert_eq!((executions[0].kept_values, executions[0].allocated), (-2, 100));
        assert_eq!(executions[0].details, None);
        assert_eq!(executions[1].step, 5);
        let panic = executions[1].panic().unwrap();
        assert_eq!((panic.message.as_str(), panic.file.as_str()), ("boom", "lib.rs"));
        assert_eq!((panic.line, panic.column), (12, 7));
    }

    #[test]
    fn sections_are_read_whole() {
        let mut texts = 2u32.to_le_bytes().to_vec();
        texts.extend(b"[]");
        texts.extend(u32::MAX.to_le_bytes());
        let effect: Vec<u8> = [3, effect::SLEEP, 35, 1].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        let sections = [
            (section::FINGERPRINTS, 9u64.to_le_bytes().to_vec()),
            (section::TEXTS, texts),
            (section::NEW_COUNTERS, [3u32, 8].iter().flat_map(|n| n.to_le_bytes()).collect()),
            (section::EFFECTS, effect),
            (section::COUNTS, [3u64, 1 << 40].iter().flat_map(|n| n.to_le_bytes()).collect()),
            (section::OBSERVED, 5u64.to_le_bytes().to_vec()),
            (section::COMPARES, [1u64, 2, 3, 4].iter().flat_map(|n| n.to_le_bytes()).collect()),
            (section::SPANS, [&2u64.to_le_bytes()[..], b"abcd"].concat()),
        ];
        let mut executions = Vec::new();
        records(&record(0, status::COMPLETED, &sections), 1, &mut executions).unwrap();
        let details = executions[0].details.as_ref().unwrap();
        assert_eq!(executions[0].observed, [5]);
        assert_eq!(details.fingerprints, [9]);
        assert_eq!(details.texts, [Some("[]".to_owned()), None]);
        assert_eq!(details.new_counters, [3, 8]);
        assert_eq!(
            details.effects,
            [EffectFact { step: 3, kind: EffectKind::Sleep, call: 35, allowed: true }]
        );
        assert_eq!(details.counts, [(3, 1 << 40)]);
        assert_eq!(details.compares, [Compare { site: 1, left: 2, right: 3, width: 4 }]);
        assert_eq!(details.spans, [(b"ab".to_vec(), b"cd".to_vec())]);
    }

    #[test]
    fn nonsense_is_refused() {
        let good = record(0, status::COMPLETED, &[]);
        assert_eq!(records(&good[..47], 1, &mut Vec::new()), Err(Corrupt));
        assert_eq!(records(&record(1, status::COMPLETED, &[]), 2, &mut Vec::new()), Err(Corrupt));
        assert_eq!(records(&record(0, 77, &[]), 1, &mut Vec::new()), Err(Corrupt));
        assert_eq!(records(&good, 0, &mut Vec::new()), Err(Corrupt));
        let mut long_panic = panic_section();
        long_panic[8] = 255;
        let bytes = record(0, status::PANICKED, &[(section::PANIC, long_panic)]);
        assert_eq!(records(&bytes, 1, &mut Vec::new()), Err(Corrupt));
        let far: Vec<u8> = [1u64 << 32, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let bytes = record(0, status::COMPLETED, &[(section::COUNTS, far)]);
        assert_eq!(records(&bytes, 1, &mut Vec::new()), Err(Corrupt));
        for length in [3u64, u64::MAX] {
            let span = [&length.to_le_bytes()[..], b"abcd"].concat();
            let bytes = record(0, status::COMPLETED, &[(section::SPANS, span)]);
            assert_eq!(records(&bytes, 1, &mut Vec::new()), Err(Corrupt), "{length}");
        }
    }

    #[test]
    fn cut_characters_are_dropped() {
        assert_eq!(text("aé".as_bytes().split_last().unwrap().1), "a");
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
    }
}
