//! The launcher with a program that tries what it may not.

mod support;

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testwright_execute::ExecuteError;
use testwright_execute::launcher::{ExitKind, Launch, TestRun, run_confirmed};

fn culprit() -> &'static Path {
    static CULPRIT: OnceLock<PathBuf> = OnceLock::new();
    CULPRIT.get_or_init(|| support::example("testwright-execute", "culprit"))
}

fn run_in(scratch: &Path, arguments: &[&str]) -> TestRun {
    run_confirmed(culprit(), arguments, Duration::from_secs(2), scratch).unwrap()
}

fn run(arguments: &[&str]) -> TestRun {
    run_in(scratch().path(), arguments)
}

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn endings_are_told_apart() {
    assert_eq!(run(&["exit", "0"]).exit, ExitKind::Code(0));
    assert_eq!(run(&["exit", "9"]).exit, ExitKind::Code(9));
    assert_eq!(run(&["abort"]).exit, ExitKind::Signal(6));
    let panic = run(&["panic"]);
    assert_eq!(panic.exit, ExitKind::Code(101));
    assert!(panic.stderr.contains("as asked"), "{}", panic.stderr);
    assert!(panic.guarded);
}

#[test]
fn endless_work_is_ended() {
    let run = run_confirmed(culprit(), &["spin"], Duration::from_millis(500), scratch().path()).unwrap();
    assert_eq!(run.exit, ExitKind::TimedOut);
    assert!(run.cpu >= Duration::from_millis(500), "{:?}", run.cpu);
}

#[test]
fn endless_sleep_is_ended() {
    let run = run_confirmed(culprit(), &["sleep"], Duration::from_millis(500), scratch().path()).unwrap();
    assert_eq!(run.exit, ExitKind::TimedOut);
    assert!(run.wall < Duration::from_secs(5), "{:?}", run.wall);
}

#[test]
fn flood_is_kept_in_bounds() {
    let run = run(&["flood", "30000000"]);
    assert_eq!((run.exit, run.cut), (ExitKind::Code(0), true));
    assert!(run.stdout.len() < 200_000 && run.stderr.len() < 200_000);
    assert!(run.stdout.ends_with("the end\n"));
}

#[test]
fn endless_flood_is_ended() {
    let most = usize::MAX.to_string();
    let begin = Instant::now();
    let run = run_confirmed(culprit(), &["flood", &most], Duration::from_millis(300), scratch().path());
    assert_eq!(run.unwrap().exit, ExitKind::TimedOut);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn only_the_scratch_folder_is_written() {
    let scratch = scratch();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(run_in(scratch.path(), &["write", "inside"]).stdout, "write: done\n");
    assert_eq!(run_in(scratch.path(), &["write", file]).stdout, "write: PermissionDenied\n");
    assert_eq!(run_in(scratch.path(), &["remove", file]).stdout, "remove: PermissionDenied\n");
    assert_eq!(run_in(scratch.path(), &["chmod", file]).stdout, "chmod: PermissionDenied\n");
    let touched = run_in(scratch.path(), &["touch", file]).stdout;
    assert_eq!(touched, "mode: PermissionDenied\ntimes: PermissionDenied\n");
    assert_eq!(run_in(scratch.path(), &["read", file]).stdout, "read: done\n");
    assert_eq!(run_in(scratch.path(), &["null"]).stdout, "null: done\n");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
    assert!(scratch.path().join("inside").exists());
}

#[test]
fn no_socket_reaches_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let told = run(&["network", path.to_str().unwrap()]).stdout;
    for refused in ["listen", "connect", "datagram", "local", "elsewhere", "reconnect"] {
        assert!(told.contains(&format!("{refused}: PermissionDenied")), "{told}");
    }
    for granted in ["pair", "write", "read", "send", "receive"] {
        assert!(told.contains(&format!("{granted}: done")), "{told}");
    }
    assert!(socket.recv(&mut [0]).is_err(), "something came through");
}

#[test]
fn nobody_else_is_killed() {
    let mut bystander = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let told = run(&["kill", &bystander.id().to_string()]);
    let survived = bystander.try_wait().unwrap().is_none();
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert!(survived, "{told:?}");
}

#[test]
fn children_run_in_the_same_sandbox_and_end_with_it() {
    assert_eq!(run(&["child"]).stdout, "child: Ok(Some(5))\n");
    let begin = Instant::now();
    let orphaned = run(&["orphan"]);
    assert_eq!(orphaned.exit, ExitKind::Code(0));
    assert!(begin.elapsed() < Duration::from_secs(3), "it waited for the orphan");
    let alive = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while let Some(pid) = orphaned.stdout.split_whitespace().find(alive) {
        assert!(Instant::now() < deadline, "process {pid} still lives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn environment_is_the_launchers() {
    let scratch = scratch();
    let mut launch = Launch::new(culprit(), scratch.path(), Duration::from_secs(2));
    launch.arguments = vec!["environment".into()];
    launch.environment = vec![("EXTRA".to_owned(), "1".to_owned())];
    let told = launch.run().unwrap().stdout;
    let folder = scratch.path().canonicalize().unwrap();
    assert!(told.contains("EXTRA=1\n") && !told.contains("CARGO"), "{told}");
    assert!(told.contains(&format!("folder={}", folder.display())), "{told}");
}

#[test]
fn memory_limit_holds() {
    let scratch = scratch();
    let mut launch = Launch::new(culprit(), scratch.path(), Duration::from_secs(2));
    launch.arguments = vec!["allocate".into(), "400000000".into()];
    assert_eq!(launch.run().unwrap().exit, ExitKind::Code(0));
    launch.memory = Some(200_000_000);
    assert_eq!(launch.run().unwrap().exit, ExitKind::Signal(6));
    // Nobody who forgets to set one lets a program take the machine's.
    let greedy = run(&["allocate", "8000000000"]);
    assert_eq!(greedy.exit, ExitKind::Signal(6));
    assert!(greedy.stderr.contains("memory allocation of"), "{}", greedy.stderr);
}

#[test]
fn no_descriptor_goes_over() {
    assert_eq!(run(&["descriptors"]).stdout, "3\n");
}

#[test]
fn missing_program_is_an_error() {
    let missing = run_confirmed(Path::new("/nonexistent"), &[""], Duration::from_secs(1), scratch().path());
    assert!(matches!(missing, Err(ExecuteError::Launch { .. })));
}
