//! Drives `examples/tiny_worker.rs` through the wire: records, deaths, effects, steadiness.
//!
//! The speed is printed by `cargo test --release -p testwright-runtime -- --ignored --nocapture`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod driver;

use driver::{Death, Plan, Record, Worker};
use testwright_wire::code::{Encoder, DEREF, DROP, FORGET, MOVE, STR};
use testwright_wire::layout::{ability, death, guard, steady};
use testwright_wire::record::{effect, flag, section, status, want, TEXT_LIMIT};

/// Places in the example's operation table.
mod op {
    pub const VEC_NEW: u16 = 0;
    pub const VEC_PUSH: u16 = 1;
    pub const VEC_POP: u16 = 2;
    pub const VEC_INDEX: u16 = 3;
    pub const STRING_FROM: u16 = 4;
    pub const STRING_PUSH: u16 = 5;
    pub const STRING_INTO_BYTES: u16 = 6;
    pub const VEC_FIRST_MUT: u16 = 7;
    pub const SET_INT: u16 = 8;
    pub const ABORT: u16 = 9;
    pub const RECURSE: u16 = 10;
    pub const SPIN: u16 = 11;
    pub const ALLOCATE: u16 = 12;
    pub const EXIT: u16 = 13;
    pub const DOUBLE_FREE: u16 = 14;
    pub const WRITE_FILE: u16 = 15;
    pub const SOCKET: u16 = 16;
    pub const SPAWN_PANICKING: u16 = 17;
    pub const MAP_ORDER: u16 = 18;
    pub const NOW: u16 = 19;
    pub const DROP_BOMB: u16 = 20;
    pub const DEBUG_BOMB: u16 = 21;
    pub const CATCH_INSIDE: u16 = 22;
    pub const TRACKED: u16 = 23;
    pub const TRACKED_COPY: u16 = 24;
    pub const LEAK: u16 = 25;
    pub const WRITE_FREED: u16 = 26;
    pub const UNCHECKED: u16 = 27;
    pub const PAGE: u16 = 28;
    pub const RUN_PROGRAM: u16 = 29;
    pub const READ_NULL: u16 = 30;
    pub const PANIC_IN_CLEANUP: u16 = 31;
    pub const PANIC_ANY: u16 = 32;
    pub const READ_FILE: u16 = 33;
    pub const WRITE_PAST: u16 = 34;
    pub const SUM: u16 = 35;
    pub const ADD_TO: u16 = 36;
    pub const REMOVE_FILE: u16 = 37;
    pub const WAIT_FOR_NOBODY: u16 = 38;
    pub const REPLACE_HOOK: u16 = 41;
    pub const CARRY_PANIC: u16 = 42;
    pub const ENDLESS_THREAD: u16 = 43;
    pub const LONG_VEC: u16 = 44;
    pub const SIGNAL_OTHERS: u16 = 45;
    pub const CLOSE_OWN: u16 = 46;
    pub const RESET_HANDLER: u16 = 47;
    pub const EXTERN_PANIC: u16 = 48;
    pub const THREAD_OVERFLOW: u16 = 49;
    pub const RANDOM_IN_THREAD: u16 = 50;
    pub const TRACKED_VEC: u16 = 51;
}

/// Places in the example's type table.
mod ty {
    pub const I32: u16 = 3;
    pub const STR: u16 = 4;
    pub const U64: u16 = 8;
    pub const USIZE: u16 = 15;
    pub const U128: u16 = 16;
    pub const TRACKED: u16 = 12;
    pub const PAGE: u16 = 13;
}

/// A step of a sequence, for readable tests.
#[derive(Clone, Copy)]
enum Step<'a> {
    Int(u16, u64),
    Text(&'a str),
    Call(u16, &'a [u16]),
    Drop(u16),
    Forget(u16),
    Wide(u128),
}
use Step::{Call, Drop as DropValue, Forget, Int, Text, Wide};

fn encode(worker: &mut Worker, words: &mut Vec<u16>, steps: &[Step<'_>]) {
    let mut encoder = Encoder::new(words);
    for step in steps {
        match step {
            Int(ty, value) => encoder.int(*ty, *value),
            Wide(value) => encoder.wide(ty::U128, *value),
            Text(text) => {
                let (offset, length) = worker.literal(text);
                encoder.literal(STR, ty::STR, offset, length);
            }
            Call(operation, arguments) => {
                encoder.call(*operation);
                for argument in *arguments {
                    encoder.argument(*argument, *argument & (MOVE | DEREF));
                }
            }
            DropValue(value) => encoder.end_of(DROP, *value),
            Forget(value) => encoder.end_of(FORGET, *value),
        }
    }
    encoder.finish();
}

/// Runs sequences in one batch; `Err` with the last words if the worker dies.
fn run(worker: &mut Worker, sequences: &[&[Step<'_>]], wants: u32) -> Result<Vec<Record>, Death> {
    let mut words = Vec::new();
    for steps in sequences {
        encode(worker, &mut words, steps);
    }
    worker.send(0, &words, sequences.len() as u32, wants);
    match worker.wait() {
        Some(0) => Ok(worker.records(0)),
        Some(other) => panic!("slot {other}"),
        None => {
            worker.finish();
            Err(worker.death())
        }
    }
}

#[track_caller]
fn one(worker: &mut Worker, steps: &[Step<'_>], wants: u32) -> Record {
    let mut records = run(worker, &[steps], wants).expect("the worker lives");
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// How a fresh worker dies of these steps.
#[track_caller]
fn death_of(steps: &[Step<'_>]) -> Death {
    let mut worker = Worker::start(&Plan::default());
    run(&mut worker, &[steps], 0).expect_err("the worker dies")
}

fn kinds(record: &Record) -> Vec<(u32, u32)> {
    record.u32s(section::EFFECTS).chunks_exact(4).map(|effect| (effect[1], effect[3])).collect()
}

#[test]
fn starts_guarded_and_steady_and_ends_when_told() {
    let mut worker = Worker::start(&Plan::default());
    let header = worker.header();
    let load = |number: &std::sync::atomic::AtomicU32| number.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(load(&header.operations), 52);
    assert_eq!(load(&header.types), 20);
    assert_eq!(load(&header.guards), guard::LANDLOCK | guard::SECCOMP | guard::LIMITS | guard::ALLOCATOR);
    assert_eq!(load(&header.steady), steady::ENTROPY | steady::HASH_SEEDS | steady::CLOCK);
    let page = worker.type_info(ty::PAGE as usize);
    assert_eq!((page.size, page.align, page.abilities), (4096, 4096, 0));
    let tracked = worker.type_info(ty::TRACKED as usize);
    let all = ability::CLONE | ability::EQ | ability::ORD | ability::HASH | ability::DEBUG | ability::DEFAULT;
    assert_eq!(tracked.abilities, ability::NEEDS_DROP | all);
    assert!(worker.finish().success());
    assert_eq!(worker.death().kind, death::NONE);
}

#[test]
fn values_are_made_moved_dropped_and_observed() {
    let mut worker = Worker::start(&Plan::default());
    let steps = [
        Call(op::VEC_NEW, &[]),             // value 0
        Int(ty::I32, 5),                    // 1
        Call(op::VEC_PUSH, &[0, 1]),        // 2
        Int(ty::I32, -7_i64 as u64),        // 3
        Call(op::VEC_PUSH, &[0, 3]),        // 4
        Call(op::VEC_FIRST_MUT, &[0]),      // 5
        Call(op::SET_INT, &[5 | DEREF, 3]), // 6
        Forget(5),
        Call(op::VEC_POP, &[0]),                  // 7
        Text("ab"),                               // 8
        Call(op::STRING_FROM, &[8]),              // 9
        Call(op::STRING_PUSH, &[9, 8]),           // 10
        Call(op::STRING_INTO_BYTES, &[9 | MOVE]), // 11
        Call(op::PAGE, &[]),                      // 12
        Wide(1 << 100),                           // 13
        DropValue(11),
    ];
    let record = one(&mut worker, &steps, want::FINGERPRINTS | want::TEXTS | want::RESULTS);
    assert_eq!((record.head.status, record.head.step, record.head.calls), (status::COMPLETED, 16, 10));
    assert_eq!((record.head.kept_bytes, record.head.kept_values), (0, 0));
    let texts = record.texts();
    let texts: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("-")).collect();
    assert_eq!(
        texts,
        [
            "[]",
            "5",
            "()",
            "-7",
            "()",
            "5",
            "()",
            "Some(-7)",
            "\"ab\"",
            "\"ab\"",
            "()",
            "[97, 98, 97, 98]",
            "-",
            "1267650600228229401496703205376"
        ]
    );
    let (results, fingerprints) = (record.u64s(section::RESULTS), record.u64s(section::FINGERPRINTS));
    assert_eq!((results.len(), fingerprints.len()), (14, 14));
    assert_ne!(results[0], fingerprints[0], "the vector changed");
    assert_eq!(results[1], fingerprints[1]);
    assert_eq!(results[8], results[9], "str and String hash alike");
    for gone in [5, 9, 11, 12] {
        assert_eq!(fingerprints[gone], 0);
    }
    let again = one(&mut worker, &steps, want::FINGERPRINTS);
    assert_eq!(again.u64s(section::FINGERPRINTS), fingerprints);
}

#[test]
fn panics_are_recorded_and_the_rest_is_dropped() {
    let mut worker = Worker::start(&Plan::default());
    let steps = [
        Int(ty::I32, 1),
        Call(op::TRACKED, &[0]),
        Call(op::VEC_NEW, &[]),
        Int(ty::USIZE, 3),
        Call(op::VEC_INDEX, &[2, 3]),
        Call(op::ABORT, &[]),
    ];
    for _ in 0..3 {
        let record = one(&mut worker, &steps, 0);
        assert_eq!((record.head.status, record.head.step, record.head.calls), (status::PANICKED, 4, 3));
        assert_eq!((record.head.kept_values, record.head.kept_bytes, record.head.flags), (0, 0, 0));
        let (message, file, line) = record.panic().expect("a panic section");
        assert_eq!(message, "index out of bounds: the len is 0 but the index is 3");
        assert!(file.ends_with("tiny_worker.rs") && line > 0, "{file}:{line}");
    }
    let bomb = [Int(ty::I32, 1), Call(op::TRACKED, &[0]), Call(op::DROP_BOMB, &[])];
    let record = one(&mut worker, &bomb, 0);
    assert_eq!((record.head.status, record.head.step), (status::DROP_PANICKED, 2));
    assert_eq!(record.panic().expect("a panic").0, "bomb in drop");
    assert_eq!(record.head.kept_values, 0);

    let record = one(&mut worker, &[Call(op::DROP_BOMB, &[]), DropValue(0)], 0);
    assert_eq!((record.head.status, record.head.step), (status::PANICKED, 1));

    let record = one(&mut worker, &[Call(op::DEBUG_BOMB, &[])], want::FINGERPRINTS);
    assert_eq!((record.head.status, record.head.step), (status::OBSERVE_PANICKED, 0));
    assert_eq!(record.panic().expect("a panic").0, "bomb in debug");

    let record = one(&mut worker, &[Call(op::CATCH_INSIDE, &[])], 0);
    assert_eq!((record.head.status, record.head.flags), (status::COMPLETED, flag::INNER_PANIC));

    let record = one(&mut worker, &[Call(op::PANIC_ANY, &[])], 0);
    assert_eq!((record.head.status, record.head.flags), (status::PANICKED, 0));
    assert_eq!(record.panic().expect("a panic").0, "Box<dyn Any>");
}

#[test]
fn malformed_sequences_are_refused() {
    let mut worker = Worker::start(&Plan::default());
    let cases: &[&[Step<'_>]] = &[
        &[Call(999, &[])],
        &[Call(op::VEC_POP, &[0])],
        &[Call(op::VEC_NEW, &[]), DropValue(0), Call(op::VEC_POP, &[0])],
        &[Call(op::VEC_NEW, &[]), Forget(0), Forget(0)],
        &[Call(op::STRING_PUSH, &[])],
        &[Int(0, 1)],
        &[Int(99, 1)],
        &[Int(ty::U128, 1)],
    ];
    let records = run(&mut worker, cases, want::FINGERPRINTS | want::TEXTS).expect("it lives");
    assert_eq!(records.len(), cases.len());
    for record in records {
        assert_eq!((record.head.status, record.head.kept_bytes), (status::REFUSED, 0));
    }
    // A length that leads outside ends the batch, and everything has an answer.
    worker.send(0, &[50, 0, 16], 3, 0);
    assert_eq!(worker.wait(), Some(0));
    let statuses: Vec<u16> = worker.records(0).iter().map(|record| record.head.status).collect();
    assert_eq!(statuses, [status::REFUSED; 3]);
}

#[test]
fn deaths_leave_last_words() {
    let dead = death_of(&[Call(op::ABORT, &[])]);
    assert_eq!((dead.kind, dead.signal), (death::ABORT, 6));

    let dead = death_of(&[Int(ty::U64, 1 << 40), Call(op::RECURSE, &[0])]);
    assert_eq!((dead.kind, dead.signal), (death::STACK_OVERFLOW, 11));

    let dead = death_of(&[Call(op::READ_NULL, &[])]);
    assert_eq!((dead.kind, dead.signal, dead.detail), (death::FAULT, 11, 8));

    let dead = death_of(&[Call(op::SPIN, &[])]);
    assert_eq!((dead.kind, dead.message.as_str()), (death::HANG, "call"));
    assert!((500..1000).contains(&dead.detail), "{}", dead.detail);

    let dead = death_of(&[Int(ty::U64, 65 << 20), Call(op::ALLOCATE, &[0])]);
    assert_eq!((dead.kind, dead.detail), (death::OUT_OF_MEMORY, 65 << 20));

    let dead = death_of(&[Int(ty::I32, 3), Call(op::EXIT, &[0])]);
    assert_eq!((dead.kind, dead.detail), (death::EXIT, 3));

    let dead = death_of(&[Call(op::DOUBLE_FREE, &[])]);
    assert_eq!((dead.kind, dead.message.as_str()), (death::MEMORY, "double free"));

    let dead = death_of(&[Call(op::WRITE_FREED, &[])]);
    assert_eq!(dead.message, "write to freed memory, in a block of 32 bytes");

    let dead = death_of(&[Int(ty::USIZE, 13), Call(op::WRITE_PAST, &[0])]);
    assert_eq!(dead.message, "write past the end of a heap block of 13 bytes");

    let dead = death_of(&[Int(ty::I32, 3), Call(op::TRACKED, &[0]), Call(op::TRACKED_COPY, &[1])]);
    assert_eq!((dead.kind, dead.message.as_str()), (death::MEMORY, "a value was dropped twice"));

    let dead = death_of(&[Call(op::PANIC_IN_CLEANUP, &[])]);
    assert_eq!(dead.kind, death::ABORT);
    assert_eq!(dead.message, "panic in a destructor during cleanup: bomb in drop");
    assert!(dead.file.ends_with("tiny_worker.rs"), "{dead:?}");

    if cfg!(debug_assertions) {
        let dead = death_of(&[Int(ty::USIZE, 3), Call(op::UNCHECKED, &[0])]);
        assert_eq!(dead.kind, death::MEMORY);
        assert!(dead.message.starts_with("unsafe precondition(s) violated"), "{dead:?}");
    }
}

#[test]
fn a_death_tells_where_it_happened_and_a_new_worker_goes_on() {
    let mut worker = Worker::start(&Plan::default());
    let fine: &[Step<'_>] = &[Call(op::VEC_NEW, &[])];
    let fatal: &[Step<'_>] = &[Call(op::VEC_NEW, &[]), Call(op::ABORT, &[])];
    run(&mut worker, &[fine, fatal, fine], 0).expect_err("the worker dies");
    let load = |number: &std::sync::atomic::AtomicU32| number.load(std::sync::atomic::Ordering::Relaxed);
    let progress = &worker.header().progress;
    assert_eq!((load(&progress.sequence), load(&progress.step), load(&progress.phase)), (1, 1, 1));
    assert_eq!(load(&progress.word), 3);
    assert_eq!(worker.records(0).len(), 1);

    let mut next = Worker::start(&Plan::default());
    let mut words = Vec::new();
    for steps in [fine, fatal, fine] {
        encode(&mut next, &mut words, steps);
    }
    next.send(0, &[], 0, 0);
    assert_eq!(next.wait(), Some(0));
    next.send_from(0, &words, 3, 7, 2);
    assert_eq!(next.wait(), Some(0));
    let records = next.records(0);
    assert_eq!((records.len(), records[0].head.sequence), (1, 2));
}

#[test]
fn effects_are_seen_and_confined() {
    let mut worker = Worker::start(&Plan::default());
    let outside = std::env::temp_dir().join(format!("testwright-outside-{}", std::process::id()));
    let outside_text = outside.to_str().expect("text").to_owned();
    let inside = worker.scratch.join("inside");
    std::fs::write(worker.scratch.join("old"), "x").expect("a file");

    let steps = [Text("inside"), Call(op::WRITE_FILE, &[0]), Text(&outside_text), Call(op::WRITE_FILE, &[2])];
    let record = one(&mut worker, &steps, want::TEXTS);
    assert_eq!(kinds(&record), [(effect::FILES, 1), (effect::FILES, 0)]);
    assert_eq!(record.u32s(section::EFFECTS)[..1], [1], "at step 1");
    assert_eq!(record.texts()[1].as_deref(), Some("true"));
    assert_eq!(record.texts()[3].as_deref(), Some("false"));
    assert!(inside.exists() && !outside.exists());

    let record = one(&mut worker, &[Text("old"), Call(op::REMOVE_FILE, &[0])], 0);
    assert_eq!(kinds(&record), [(effect::FILES, 1)]);
    assert!(!worker.scratch.join("old").exists());

    let steps = [Text("inside"), Call(op::READ_FILE, &[0]), Text("/etc/passwd"), Call(op::READ_FILE, &[2])];
    let record = one(&mut worker, &steps, want::TEXTS);
    assert_eq!((record.texts()[1].as_deref(), record.texts()[3].as_deref()), (Some("true"), Some("false")));
    assert_eq!(kinds(&record), [(effect::FILES, 0)], "only what was refused");

    let record = one(&mut worker, &[Call(op::SOCKET, &[])], want::TEXTS);
    assert_eq!(kinds(&record), [(effect::NETWORK, 0)]);
    assert_eq!(record.texts()[0].as_deref(), Some("false"));

    let record = one(&mut worker, &[Call(op::RUN_PROGRAM, &[])], want::TEXTS);
    assert!(kinds(&record).contains(&(effect::PROCESS, 0)), "{:?}", kinds(&record));
    assert_eq!(record.texts()[0].as_deref(), Some("false"));

    let record = one(&mut worker, &[Call(op::SPAWN_PANICKING, &[])], want::TEXTS);
    assert_eq!(record.head.flags, flag::THREADS | flag::THREAD_PANICKED | flag::EFFECTS);
    assert_eq!(kinds(&record), [(effect::THREAD, 1)]);
    assert_eq!((record.head.status, record.texts()[0].as_deref()), (status::COMPLETED, Some("true")));

    let record = one(&mut worker, &[Call(op::VEC_NEW, &[])], 0);
    assert_eq!((record.head.flags, record.sections.len()), (0, 0), "nothing is left over");
}

#[test]
fn chance_and_time_are_steady() {
    let observe = |worker: &mut Worker| {
        let steps = [
            Call(op::MAP_ORDER, &[]),
            Call(op::NOW, &[]),
            Call(op::WAIT_FOR_NOBODY, &[]),
            Call(op::RANDOM_IN_THREAD, &[]),
            Call(op::NOW, &[]),
        ];
        let record = one(worker, &steps, want::TEXTS);
        assert_eq!(kinds(&record).last(), Some(&(effect::SLEEP, 1)));
        record.texts()
    };
    let mut worker = Worker::start(&Plan::default());
    let started = std::time::Instant::now();
    let first = observe(&mut worker);
    assert_eq!(observe(&mut worker), first);
    assert_eq!(observe(&mut Worker::start(&Plan::default())), first);
    assert!(started.elapsed().as_secs() < 60, "nobody waits");
}

#[test]
fn panics_of_other_threads_and_foreign_hooks_do_not_confuse() {
    let mut worker = Worker::start(&Plan::default());
    let record = one(&mut worker, &[Call(op::CARRY_PANIC, &[])], 0);
    assert_eq!(record.head.status, status::PANICKED);
    assert_eq!(record.head.flags & (flag::THREAD_PANICKED | flag::INNER_PANIC), flag::THREAD_PANICKED);
    let (message, file, _) = record.panic().expect("a panic");
    assert!(message == "carried" && file.ends_with("tiny_worker.rs"), "{message} {file}");

    let index = [Call(op::VEC_NEW, &[]), Int(ty::USIZE, 3), Call(op::VEC_INDEX, &[0, 1])];
    one(&mut worker, &[Call(op::REPLACE_HOOK, &[])], 0);
    for has_place in [false, true] {
        let (message, file, _) = one(&mut worker, &index, 0).panic().expect("a panic");
        assert_eq!(message, "index out of bounds: the len is 0 but the index is 3");
        assert_eq!(!file.is_empty(), has_place, "the hook is put back after the first panic without it");
    }
}

#[test]
fn threads_that_never_end_do_not_matter() {
    let mut worker = Worker::start(&Plan::default());
    for _ in 0..3 {
        let record = one(&mut worker, &[Call(op::ENDLESS_THREAD, &[])], 0);
        assert_eq!((record.head.status, kinds(&record)), (status::COMPLETED, vec![(effect::THREAD, 1)]));
    }
    assert!(worker.finish().success());
    let dead = death_of(&[Call(op::THREAD_OVERFLOW, &[])]);
    assert_eq!(dead.kind, death::STACK_OVERFLOW);
}

#[test]
fn worker_protects_itself() {
    let mut worker = Worker::start(&Plan::default());
    let steps = [Call(op::SIGNAL_OTHERS, &[]), Call(op::CLOSE_OWN, &[]), Call(op::RESET_HANDLER, &[])];
    let record = one(&mut worker, &steps, want::TEXTS);
    assert_eq!(kinds(&record), [(effect::SIGNAL, 0), (effect::OTHER, 0)]);
    assert_eq!(record.texts()[..2], [Some("-1".to_owned()), Some("-1".to_owned())]);
    let dead = run(&mut worker, &[&[Call(op::READ_NULL, &[])]], 0).expect_err("it dies");
    assert_eq!(dead.kind, death::FAULT, "its handler is still there");
    let dead = death_of(&[Call(op::EXTERN_PANIC, &[])]);
    assert_eq!(dead.message, "panic in a function that cannot unwind: in extern C");
}

#[test]
fn long_texts_are_cut_and_full_responses_truncate() {
    let mut worker = Worker::start(&Plan::default());
    let long: &[Step<'_>] = &[Int(ty::USIZE, 10_000), Call(op::LONG_VEC, &[0])];
    let record = one(&mut worker, long, want::TEXTS);
    let text = record.texts()[1].clone().expect("it has Debug");
    assert_eq!(text.len(), TEXT_LIMIT);
    assert!(text.starts_with("[7, 7, 7"));

    let mut many = vec![Int(ty::USIZE, 2_000)];
    many.extend((0..2_000).map(|_| Call(op::LONG_VEC, &[0])));
    let records = run(&mut worker, &[long, &many, long], want::TEXTS).expect("it lives");
    let statuses: Vec<u16> = records.iter().map(|record| record.head.status).collect();
    assert_eq!(statuses, [status::COMPLETED, status::TRUNCATED, status::COMPLETED]);
    assert!(records[1].sections.is_empty());
}

#[test]
fn leaks_and_kept_values_are_counted() {
    let mut worker = Worker::start(&Plan::default());
    let record =
        one(&mut worker, &[Int(ty::I32, 1), Call(op::TRACKED, &[0]), Call(op::LEAK, &[1 | MOVE])], 0);
    assert_eq!((record.head.kept_values, record.head.kept_bytes), (1, 4));
    let record = one(&mut worker, &[Call(op::TRACKED_VEC, &[])], want::TEXTS);
    assert_eq!((record.head.kept_values, record.head.kept_bytes), (0, 0));
    assert_eq!(record.texts()[0].as_deref(), Some("[Tracked(0), Tracked(1), Tracked(2)]"));
}

#[test]
fn a_long_sequence_may_not_take_longer_than_its_limit() {
    let mut worker = Worker::start(&Plan { sequence_limit_ms: 300, ..Plan::default() });
    let mut steps = vec![Int(ty::U64, 500)];
    steps.extend((0..16_000).map(|_| Call(op::RECURSE, &[0])));
    let dead = run(&mut worker, &[&steps[..]; 1], 0);
    // Fast machines finish in time; what matters is that a slow one says "sequence".
    if let Err(dead) = dead {
        assert_eq!((dead.kind, dead.message.as_str()), (death::HANG, "sequence"));
    }
}

#[test]
#[ignore = "prints the speed; run with --release --nocapture"]
fn speed() {
    let started = std::time::Instant::now();
    for _ in 0..20 {
        Worker::start(&Plan::default()).finish();
    }
    println!("start and end of a worker: {:.1} ms", started.elapsed().as_secs_f64() * 1000.0 / 20.0);

    let mut worker = Worker::start(&Plan::default());
    let repeated = |start: &[Step<'static>], pair: [Step<'static>; 2]| {
        start.iter().chain(pair.iter().cycle().take(20)).copied().collect::<Vec<_>>()
    };
    let ints = [Int(ty::I32, 5), Int(ty::I32, 6)];
    let cases = [
        (
            "push/pop",
            repeated(
                &[Call(op::VEC_NEW, &[]), Int(ty::I32, 5)],
                [Call(op::VEC_PUSH, &[0, 1]), Call(op::VEC_POP, &[0])],
            ),
        ),
        ("arithmetic", repeated(&ints, [Call(op::SUM, &[0, 1]), Call(op::ADD_TO, &[0, 1])])),
        ("strings", repeated(&[Text("abc")], [Call(op::STRING_FROM, &[0]), Call(op::STRING_FROM, &[0])])),
        ("tracked", repeated(&ints, [Call(op::TRACKED, &[0]), Call(op::TRACKED, &[0])])),
        ("panic", vec![Call(op::VEC_NEW, &[]), Int(ty::USIZE, 5), Call(op::VEC_INDEX, &[0, 1])]),
    ];
    for (what, steps) in &cases {
        let sequences = 20_000;
        let mut words = Vec::new();
        for _ in 0..sequences {
            encode(&mut worker, &mut words, steps);
        }
        for wants in [0, want::FINGERPRINTS] {
            let mut best = f64::MAX;
            for _ in 0..20 {
                let started = std::time::Instant::now();
                worker.send(0, &words, sequences, wants);
                assert_eq!(worker.wait(), Some(0));
                best = best.min(started.elapsed().as_secs_f64());
            }
            let calls: u32 = worker.records(0).iter().map(|record| record.head.calls).sum();
            let (rate, each) = (f64::from(calls) / best / 1e6, best / f64::from(sequences) * 1e9);
            println!("{what}, wants {wants}: {rate:.1} M calls/s, {each:.0} ns a sequence");
        }
    }
}
