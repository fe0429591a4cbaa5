//! The supervisor with a real worker, the runtime's `tiny_worker` example: what the two agree on, end to end.

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use support::Stage;
use testwright_execute::{Batch, Ending, Execution, Phase, Worker, WorkerPlan};
use testwright_wire::code::{Encoder, MOVE, STR};
use testwright_wire::layout::{ability, guard};
use testwright_wire::record::want;

/// Places in the example's type table.
const I32: u16 = 3;
const STR_TYPE: u16 = 4;
const STRING: usize = 5;
const U64: u16 = 8;

/// The example's operations by name, read off its table.
fn operation(name: &str) -> u16 {
    static OPERATIONS: OnceLock<BTreeMap<&str, u16>> = OnceLock::new();
    let operations = OPERATIONS.get_or_init(|| {
        let source = include_str!("../../testwright-runtime/examples/tiny_worker.rs");
        let table = source.split_once("= operations![").expect("it has a table").1;
        let entries = table.split_once(']').expect("the table ends").0.split(',');
        entries.filter_map(|entry| entry.split_whitespace().next()).zip(0..).collect()
    });
    operations[name]
}

fn tiny_worker() -> &'static PathBuf {
    static TINY: OnceLock<PathBuf> = OnceLock::new();
    TINY.get_or_init(|| support::example("testwright-runtime", "tiny_worker"))
}

fn stage() -> Stage {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = WorkerPlan::new(tiny_worker(), scratch.path());
    plan.limits.call = Duration::from_millis(300);
    plan.limits.memory = 256 << 20;
    Stage { worker: Worker::start(plan).unwrap(), scratch }
}

/// A vector with one number pushed, as `count` sequences of it.
fn pushes(batch: &mut Batch, count: usize) {
    for number in 0..count {
        let mut sequence = batch.sequence();
        sequence.call(operation("vec_new"));
        sequence.int(I32, number as u64);
        sequence.call(operation("vec_push"));
        sequence.argument(0, 0);
        sequence.argument(1, MOVE);
        sequence.finish();
    }
}

/// Runs good sequences around one that `encode` makes, and returns what became of that one.
fn one(want: u32, encode: impl FnOnce(&mut Encoder<'_>)) -> (Execution, Stage) {
    let mut stage = stage();
    let mut batch = Batch::new(want);
    pushes(&mut batch, 3);
    let mut sequence = batch.sequence();
    encode(&mut sequence);
    sequence.finish();
    pushes(&mut batch, 3);
    let outcome = stage.worker.run(&batch).unwrap();
    assert_eq!(outcome.executions.len(), 7);
    for good in [0, 1, 2, 4, 5, 6] {
        let Execution { ending, step, calls, .. } = outcome.executions[good];
        assert_eq!((ending, step, calls), (Ending::Completed, 3, 2), "sequence {good}");
    }
    (outcome.executions[3].clone(), stage)
}

#[track_caller]
fn check_death(ending: Ending, encode: impl FnOnce(&mut Encoder<'_>)) -> Execution {
    let (execution, stage) = one(0, encode);
    assert_eq!((execution.ending, execution.phase), (ending, Phase::Call), "{execution:?}");
    assert_eq!((execution.step, execution.calls), (1, 1));
    assert_eq!(stage.worker.restarts(), 1);
    execution
}

fn call_with(name: &'static str, ty: u16, value: u64) -> impl FnOnce(&mut Encoder<'_>) {
    move |sequence| {
        sequence.int(ty, value);
        sequence.call(operation(name));
        sequence.argument(0, MOVE);
    }
}

fn call_second(name: &'static str) -> impl FnOnce(&mut Encoder<'_>) {
    move |sequence| {
        sequence.int(I32, 0);
        sequence.call(operation(name));
    }
}

#[test]
fn catalogue_tells_types_and_guards() {
    let stage = stage();
    let catalogue = stage.worker.catalogue();
    assert!(catalogue.operations as usize > usize::from(operation("remove_file")));
    assert_eq!((catalogue.types[usize::from(I32)].size, catalogue.types[STRING].size), (4, 24));
    assert_ne!(catalogue.types[STRING].abilities & ability::NEEDS_DROP, 0);
    assert!(catalogue.guarded_by(guard::LANDLOCK | guard::SECCOMP | guard::LIMITS));
}

#[test]
fn panics_carry_message_and_place() {
    let (execution, stage) = one(0, |sequence| {
        sequence.call(operation("vec_new"));
        sequence.int(15, 5);
        sequence.call(operation("vec_index"));
        sequence.argument(0, 0);
        sequence.argument(1, MOVE);
    });
    assert_eq!((execution.ending, execution.step), (Ending::Panicked, 2));
    let panic = execution.panic().unwrap();
    assert!(panic.message.contains("the len is 0 but the index is 5"), "{panic:?}");
    assert!(panic.file.ends_with("tiny_worker.rs") && panic.line > 0);
    assert_eq!(stage.worker.restarts(), 0);
}

#[test]
fn panics_of_destructors_and_of_observation() {
    let (execution, _stage) = one(0, call_second("drop_bomb"));
    assert_eq!(
        (execution.ending, execution.phase, execution.step),
        (Ending::DropPanicked, Phase::Teardown, 1)
    );
    let (execution, _stage) = one(want::TEXTS, call_second("debug_bomb"));
    assert_eq!((execution.ending, execution.phase), (Ending::ObservePanicked, Phase::Observe));
}

#[test]
fn deaths_are_told_apart() {
    check_death(Ending::Aborted, call_second("abort"));
    let double = check_death(Ending::Aborted, call_second("panic_in_cleanup"));
    assert!(!double.death().unwrap().message.is_empty());
    check_death(Ending::Hung, call_second("spin"));
    check_death(Ending::Exited(7), call_with("exit", I32, 7));
    check_death(Ending::StackOverflow, call_with("recurse", U64, 1 << 40));
    check_death(Ending::OutOfMemory, call_with("allocate", U64, 1 << 40));
    let memory = check_death(Ending::Memory, call_second("double_free"));
    assert!(!memory.death().unwrap().message.is_empty());
}

#[test]
fn faults_tell_their_address() {
    let fault = check_death(Ending::Fault { signal: 11, address: 8 }, call_second("read_null"));
    assert_eq!(fault.death().unwrap().detail, 8);
}

#[test]
fn observations_come_through() {
    let mut stage = stage();
    let (offset, length) = stage.worker.literal("grüße".as_bytes()).unwrap();
    let mut batch = Batch::new(want::TEXTS | want::RESULTS | want::FINGERPRINTS);
    let mut sequence = batch.sequence();
    sequence.literal(STR, STR_TYPE, offset, length);
    sequence.call(operation("string_from"));
    sequence.argument(0, MOVE);
    sequence.finish();
    let executions = stage.worker.run(&batch).unwrap().executions;
    let details = executions[0].details.as_ref().unwrap();
    assert_eq!(details.texts, vec![Some("\"grüße\"".to_owned()); 2]);
    assert_eq!((details.results.len(), details.fingerprints.len()), (2, 2));
    let timeless = |executions: &[Execution]| -> Vec<Execution> {
        executions.iter().map(|execution| Execution { ticks: 0, ..execution.clone() }).collect()
    };
    let fresh = stage.worker.run_fresh(&batch).unwrap().executions;
    assert_eq!(timeless(&fresh), timeless(&executions));
}

#[test]
fn large_answers_are_split_until_they_fit() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = WorkerPlan::new(tiny_worker(), scratch.path());
    plan.rooms.response = 6144;
    let mut worker = Worker::start(plan).unwrap();
    let mut batch = Batch::new(want::TEXTS | want::RESULTS);
    pushes(&mut batch, 100);
    let outcome = worker.run(&batch).unwrap();
    for (number, execution) in outcome.executions.iter().enumerate() {
        assert_eq!(execution.ending, Ending::Completed);
        assert_eq!(execution.details.as_ref().unwrap().texts[1], Some(number.to_string()));
    }
}

#[test]
fn kills_from_another_thread_lose_nothing() {
    let mut stage = stage();
    let mut batch = Batch::new(0);
    pushes(&mut batch, 20_000);
    let process = AtomicU32::new(stage.worker.process_id().unwrap());
    let over = AtomicBool::new(false);
    let kills = std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            let mut kills = 0;
            while kills < 10 {
                std::thread::sleep(Duration::from_millis(23));
                let victim = process.swap(0, Ordering::SeqCst);
                if victim != 0 {
                    // It may be the number of one that is dead already, if its death was not noticed yet.
                    let kill = std::process::Command::new("kill").args(["-9", &victim.to_string()]).output();
                    kills += u32::from(kill.unwrap().status.success());
                }
            }
            over.store(true, Ordering::SeqCst);
            kills
        });
        let worker = &mut stage.worker;
        worker.submit(&batch).unwrap();
        while !over.load(Ordering::SeqCst) || worker.under_way() > 0 {
            if !over.load(Ordering::SeqCst) {
                worker.submit(&batch).unwrap();
            }
            process.store(worker.process_id().unwrap(), Ordering::SeqCst);
            let outcome = worker.collect().unwrap();
            assert_eq!((outcome.executions.len(), outcome.calls), (20_000, 40_000));
            let good = |execution: &Execution| execution.ending == Ending::Completed && execution.step == 3;
            assert!(outcome.executions.iter().all(good));
        }
        killer.join().unwrap()
    });
    assert_eq!(kills, 10);
    assert!((1..=10).contains(&stage.worker.restarts()), "{}", stage.worker.restarts());
    println!("{} restarts, {:?} each", stage.worker.restarts(), stage.worker.mean_restart_cost());
}

/// Prints what supervision costs; `cargo test --release -p testwright-execute --test worker -- --nocapture pace`.
#[test]
fn pace() {
    let mut stage = stage();
    let worker = &mut stage.worker;
    let mut batch = Batch::new(0);
    pushes(&mut batch, 2000);
    let rounds = 200;
    let begin = Instant::now();
    worker.submit(&batch).unwrap();
    for _ in 1..rounds {
        worker.submit(&batch).unwrap();
        worker.collect().unwrap();
    }
    worker.collect().unwrap();
    let rate = f64::from(rounds) * 2000.0 / begin.elapsed().as_secs_f64();
    let mut killers = Batch::new(0);
    for _ in 0..50 {
        let mut sequence = killers.sequence();
        sequence.call(operation("abort"));
        sequence.finish();
    }
    worker.run(&killers).unwrap();
    println!("{rate:.0} sequences/s, restart {:?}", worker.mean_restart_cost());
    assert_eq!(worker.restarts(), 50);
}
