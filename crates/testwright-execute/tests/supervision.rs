//! The supervisor against a scripted worker: every way to die costs one sequence, and nothing else is lost.

mod support;

use std::time::{Duration, Instant};

use support::{Stage, batch, plan, stage};
use testwright_execute::{Batch, Ending, ExecuteError, Execution, Phase, Worker};

const NOTHING: u16 = 0;
const PANIC: u16 = 1;
const NOTED_ABORT: u16 = 2;
const SILENT_ABORT: u16 = 3;
const SPIN: u16 = 4;
const BLOCK: u16 = 5;
const EXIT: u16 = 6;
const SEGFAULT: u16 = 7;
const BIG: u16 = 8;
const TOO_BIG: u16 = 9;
const KILL_ALWAYS: u16 = 10;
const KILL_ONCE: u16 = 11;
const CORRUPT_ONCE: u16 = 12;
const CORRUPT_ALWAYS: u16 = 13;
const TEARDOWN_FAULT: u16 = 14;
const AFTERMATH: u16 = 15;
const WORK: u16 = 16;
const ORPHAN: u16 = 17;
const WHO: u16 = 18;
const SLOW: u16 = 19;

/// Runs a good sequence, `operation` as third step of the next, and two good ones; the good ones must come through.
fn second_of(operation: u16) -> (Execution, Stage) {
    let mut stage = stage();
    let batch = batch(&[&[NOTHING], &[NOTHING, NOTHING, operation, NOTHING], &[NOTHING], &[NOTHING, WORK]]);
    let outcome = stage.worker.run(&batch).unwrap();
    assert_eq!(outcome.executions.len(), 4);
    for good in [0, 2, 3] {
        assert_eq!(outcome.executions[good].ending, Ending::Completed, "sequence {good}");
    }
    (outcome.executions[1].clone(), stage)
}

#[track_caller]
fn check_death(operation: u16, ending: Ending, phase: Phase, message: &str) {
    let (execution, stage) = second_of(operation);
    assert_eq!((execution.ending, execution.phase), (ending, phase));
    assert_eq!((execution.step, execution.calls), (2, 3));
    assert_eq!(execution.death().unwrap().message, message);
    assert!(execution.died());
    assert_eq!(stage.worker.restarts(), 1);
}

#[test]
fn worker_introduces_itself() {
    let stage = stage();
    let catalogue = stage.worker.catalogue();
    assert_eq!((catalogue.operations, catalogue.types.len(), catalogue.counters), (20, 1, 100));
    assert_eq!((catalogue.types[0].size, catalogue.types[0].align), (24, 8));
}

#[test]
fn worker_gets_its_descriptors_and_no_others() {
    let (execution, _stage) = second_of(WHO);
    assert_eq!(execution.details.unwrap().fingerprints[1], 6);
}

#[test]
fn ordinary_sequences_complete_without_details() {
    let (execution, stage) = second_of(NOTHING);
    assert_eq!((execution.ending, execution.step, execution.details), (Ending::Completed, 4, None));
    assert_eq!(stage.worker.restarts(), 0);
}

#[test]
fn panic_is_told_with_its_place() {
    let (execution, stage) = second_of(PANIC);
    assert_eq!((execution.ending, execution.phase, execution.step), (Ending::Panicked, Phase::Call, 2));
    let panic = execution.panic().unwrap();
    assert_eq!((panic.message.as_str(), panic.file.as_str(), panic.line), ("boom", "src/lib.rs", 4));
    assert_eq!(stage.worker.restarts(), 0);
}

#[test]
fn noted_abort() {
    check_death(NOTED_ABORT, Ending::Aborted, Phase::Call, "a panic while panicking");
}

#[test]
fn silent_abort() {
    check_death(SILENT_ABORT, Ending::Aborted, Phase::Call, "");
}

#[test]
fn hang_that_no_timer_of_the_worker_ends() {
    check_death(SPIN, Ending::Hung, Phase::Call, "");
}

#[test]
fn sleep_without_end() {
    check_death(BLOCK, Ending::Blocked, Phase::Call, "");
}

#[test]
fn exit() {
    check_death(EXIT, Ending::Exited(7), Phase::Call, "");
}

#[test]
fn silent_fault() {
    check_death(SEGFAULT, Ending::Fault { signal: 11, address: 0 }, Phase::Call, "");
}

#[test]
fn fault_while_values_are_dropped() {
    check_death(TEARDOWN_FAULT, Ending::Fault { signal: 11, address: 0xdead }, Phase::Teardown, "");
}

#[test]
fn death_in_the_aftermath_belongs_to_the_sequence_before() {
    let (execution, _stage) = second_of(AFTERMATH);
    assert_eq!((execution.ending, execution.phase), (Ending::Memory, Phase::Own));
    assert_eq!(execution.death().unwrap().message, "a canary is dead");
}

#[test]
fn kill_from_outside_is_nobodys_doing() {
    let (execution, stage) = second_of(KILL_ONCE);
    assert_eq!(execution.ending, Ending::Completed);
    assert_eq!((stage.worker.restarts(), stage.worker.statistics().strays), (1, 1));
}

#[test]
fn kill_at_the_same_sequence_again_and_again_is_its_doing() {
    let (execution, stage) = second_of(KILL_ALWAYS);
    assert_eq!((execution.ending, execution.step), (Ending::Killed(9), 2));
    assert_eq!(stage.worker.restarts(), 3);
}

#[test]
fn corrupt_answer_is_asked_for_again() {
    let (execution, stage) = second_of(CORRUPT_ONCE);
    assert_eq!(execution.ending, Ending::Completed);
    assert_eq!(stage.worker.restarts(), 1);
}

#[test]
fn corrupt_answers_without_end_are_an_error_that_can_be_left_behind() {
    let mut stage = stage();
    let error = stage.worker.run(&batch(&[&[CORRUPT_ALWAYS]])).unwrap_err();
    assert!(matches!(error, ExecuteError::Protocol(_)), "{error}");
    stage.worker.abandon();
    let outcome = stage.worker.run(&batch(&[&[NOTHING]])).unwrap();
    assert_eq!(outcome.executions[0].ending, Ending::Completed);
}

#[test]
fn truncated_answers_are_asked_for_again() {
    let mut stage = stage();
    let sequences: [&[u16]; 6] = [&[NOTHING], &[BIG], &[TOO_BIG], &[BIG], &[NOTHING], &[BIG, NOTHING]];
    let outcome = stage.worker.run(&batch(&sequences)).unwrap();
    let endings: Vec<Ending> = outcome.executions.iter().map(|execution| execution.ending).collect();
    let mut expected = [Ending::Completed; 6];
    expected[2] = Ending::Truncated;
    assert_eq!(endings, expected);
    assert_eq!(outcome.executions[5].step, 2);
    assert_eq!(stage.worker.under_way(), 0);
}

#[test]
fn all_sequences_may_kill() {
    let mut stage = stage();
    let outcome = stage.worker.run(&batch(&[&[EXIT][..]; 40])).unwrap();
    assert!(outcome.executions.iter().all(|execution| execution.ending == Ending::Exited(7)));
    assert_eq!((outcome.executions.len(), stage.worker.restarts()), (40, 40));
    println!("mean restart: {:?}", stage.worker.mean_restart_cost());
}

#[test]
fn orphans_neither_hide_a_death_nor_stay() {
    let begin = Instant::now();
    let (execution, stage) = second_of(ORPHAN);
    assert_eq!(execution.ending, Ending::Fault { signal: 11, address: 0 });
    assert!(begin.elapsed() < Duration::from_secs(4));
    let orphan = std::fs::read_to_string(stage.scratch.path().join("orphan")).unwrap();
    let gone = || match std::fs::read_to_string(format!("/proc/{orphan}/stat")) {
        Ok(stat) => stat.contains(") Z"),
        Err(_) => true,
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !gone() {
        assert!(Instant::now() < deadline, "process {orphan} still lives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn slow_progress_is_not_blocked() {
    let mut stage = stage();
    let outcome = stage.worker.run(&batch(&[&[SLOW; 20]])).unwrap();
    assert_eq!(outcome.executions[0].ending, Ending::Completed);
}

#[test]
fn two_batches_are_under_way_and_come_back_in_order() {
    let mut stage = stage();
    let worker = &mut stage.worker;
    let mut expected = Vec::new();
    let mut collected = Vec::new();
    for round in 0..30 {
        let killer = if round % 3 == 0 { EXIT } else { NOTHING };
        let batch = batch(&[&[NOTHING], &vec![NOTHING; round + 1], &[killer], &[NOTHING, NOTHING]]);
        if worker.under_way() == 2 {
            assert!(matches!(worker.submit(&batch), Err(ExecuteError::Busy)));
            collected.push(worker.collect().unwrap());
        }
        let ticket = worker.submit(&batch).unwrap();
        expected.push((ticket, u32::try_from(round + 1).unwrap(), killer == EXIT));
    }
    while worker.under_way() > 0 {
        collected.push(worker.collect().unwrap());
    }
    assert!(matches!(worker.collect(), Err(ExecuteError::Nothing)));
    assert_eq!(collected.len(), expected.len());
    for (outcome, (ticket, steps, died)) in collected.iter().zip(expected) {
        assert_eq!((outcome.ticket, outcome.executions.len()), (ticket, 4));
        assert_eq!(outcome.executions[1].step, steps);
        assert_eq!(outcome.executions[2].died(), died);
        assert_eq!(outcome.executions[3].step, 2);
    }
    assert_eq!(worker.restarts(), 10);
}

#[test]
fn fresh_runs_have_a_process_each() {
    let mut stage = stage();
    let sequences: [&[u16]; 5] = [&[WHO], &[WHO], &[EXIT], &[WHO], &[WHO]];
    let outcome = stage.worker.run_fresh(&batch(&sequences)).unwrap();
    let mut processes: Vec<u64> = outcome
        .executions
        .iter()
        .filter(|execution| !execution.died())
        .map(|execution| execution.details.as_ref().unwrap().fingerprints[0])
        .collect();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!((processes.len(), outcome.executions[2].ending), (4, Ending::Exited(7)));
    assert_eq!((stage.worker.statistics().renewals, stage.worker.restarts()), (3, 1));
}

#[test]
fn ten_kills_from_outside_lose_nothing() {
    let mut stage = stage();
    let worker = &mut stage.worker;
    let mut sequences = Batch::new(0);
    for index in 0..400 {
        let mut sequence = sequences.sequence();
        for _ in 0..=index % 7 {
            sequence.call(WORK);
        }
        sequence.finish();
    }
    let mut kills = 0;
    let mut killed = None;
    let mut batches = 0;
    // The killing comes from this thread between submission and collection, at a moment that shifts through the run.
    while kills < 10 {
        worker.submit(&sequences).unwrap();
        worker.submit(&sequences).unwrap();
        std::thread::sleep(Duration::from_millis(7 + 13 * kills));
        let process = worker.process_id().unwrap();
        assert_ne!(killed.replace(process), Some(process));
        let status = std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
        assert!(status.success());
        kills += 1;
        for _ in 0..2 {
            let outcome = worker.collect().unwrap();
            batches += 1;
            assert_eq!(outcome.executions.len(), 400);
            for (index, execution) in (0u32..).zip(&outcome.executions) {
                assert_eq!((execution.ending, execution.step), (Ending::Completed, index % 7 + 1));
            }
        }
    }
    assert_eq!((worker.restarts(), batches), (10, 20));
}

#[test]
fn idle_death_is_survived() {
    let mut stage = stage();
    let process = stage.worker.process_id().unwrap().to_string();
    std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let outcome = stage.worker.run(&batch(&[&[NOTHING], &[NOTHING]])).unwrap();
    assert!(outcome.executions.iter().all(|execution| execution.ending == Ending::Completed));
}

#[test]
fn literals_and_seen_counters_outlive_processes() {
    let mut stage = stage();
    let worker = &mut stage.worker;
    let (offset, length) = worker.literal("grüße".as_bytes()).unwrap();
    assert_eq!(worker.literal("grüße".as_bytes()), Some((offset, length)));
    worker.set_seen(&[3, 99, 5], true);
    worker.set_seen(&[5], false);
    let mut literal = batch(&[&[EXIT]]);
    let mut sequence = literal.sequence();
    sequence.literal(testwright_wire::code::STR, 0, offset, length);
    sequence.finish();
    let outcome = worker.run(&literal).unwrap();
    let details = outcome.executions[1].details.as_ref().unwrap();
    assert_eq!(details.texts, [Some("grüße".to_owned())]);
    assert_eq!((worker.seen_count(), worker.seen_counters()), (2, vec![3, 99]));
    worker.clear_seen();
    assert_eq!(worker.seen_count(), 0);
}

#[test]
fn empty_batches_and_malformed_ones() {
    let mut stage = stage();
    assert_eq!(stage.worker.run(&Batch::new(0)).unwrap().executions, []);
    let mut malformed = batch(&[&[NOTHING]]);
    malformed.words.push(0);
    assert!(matches!(stage.worker.submit(&malformed), Err(ExecuteError::Malformed(_))));
    assert_eq!(stage.worker.run(&batch(&[&[NOTHING]])).unwrap().executions.len(), 1);
}

#[test]
fn worker_that_cannot_start_says_why() {
    let scratch = tempfile::tempdir().unwrap();
    let start = |manner: &str| {
        let mut plan = plan(&scratch);
        plan.environment.push(("PUPPET".to_owned(), manner.to_owned()));
        plan.limits.start = Duration::from_millis(500);
        Worker::start(plan).unwrap_err()
    };
    let refused = start("refuse");
    assert!(matches!(&refused, ExecuteError::Refused { message } if message == "no strings attached"));
    let died = start("die");
    assert!(matches!(&died, ExecuteError::DiedAtStart { status, .. } if status == "exit code 3"), "{died}");
    assert!(matches!(start("silent"), ExecuteError::NotReady { .. }));
    let mut nowhere = plan(&scratch);
    nowhere.binary = "/nonexistent/worker".into();
    assert!(matches!(Worker::start(nowhere), Err(ExecuteError::Spawn { .. })));
}

#[test]
fn dropped_worker_leaves_no_process() {
    let stage = stage();
    let process = stage.worker.process_id().unwrap();
    drop(stage);
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}

#[test]
fn worker_can_be_handed_to_another_thread() {
    let mut stage = std::thread::spawn(stage).join().unwrap();
    let outcome = stage.worker.run(&batch(&[&[NOTHING]])).unwrap();
    assert_eq!(outcome.executions[0].ending, Ending::Completed);
}
