//! Everything that can keep this crate from giving facts, with advice for the user.

use std::io;
use std::path::PathBuf;

/// Why no facts can be given. What code under test does is never an error: it is an [`crate::Ending`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    #[error("the worker `{}` cannot be run: {source}\nIs it a program for this machine, and may it be executed? Building the harness anew repairs a damaged one.", binary.display())]
    Spawn { binary: PathBuf, source: io::Error },

    #[error("the worker refused to start: {message}")]
    Refused { message: String },

    #[error(
        "the worker died {attempts} times before it was ready ({status}){}\nRun `{}` by hand to see what is wrong with it, or build the harness anew.", words(message), binary.display()
    )]
    DiedAtStart { binary: PathBuf, attempts: u32, status: String, message: String },

    #[error(
        "the worker was not ready after {seconds} s\nThe machine may be overloaded; fewer jobs may help."
    )]
    NotReady { seconds: u64 },

    #[error(
        "the worker's binary changed during the run ({what})\nStart again, and build nothing into the same folder meanwhile."
    )]
    Changed { what: String },

    #[error(
        "the worker has {what} {needed}, the plan has room for {room}\nRestrict what is tested (`--only`, `--skip`), or raise the room."
    )]
    NoRoom { what: &'static str, needed: u64, room: u64 },

    #[error("the batch is malformed: {0}")]
    Malformed(String),

    #[error("both slots are under way: collect a batch before submitting another")]
    Busy,

    #[error("no batch is under way")]
    Nothing,

    #[error("the worker answers nonsense: {0}")]
    Protocol(String),

    #[error(
        "the kernel offers no {missing}, so foreign code cannot be kept in its folder\nLinux 5.13 or newer with Landlock and seccomp is needed (in a container, its profile must permit both); \
         or allow running unguarded if you trust the code."
    )]
    Unguarded { missing: &'static str },

    #[error("the program `{}` cannot be run: {source}", program.display())]
    Launch { program: PathBuf, source: io::Error },

    #[error("the scratch folder `{}` cannot be used: {source}", folder.display())]
    Scratch { folder: PathBuf, source: io::Error },

    #[error("the operating system refused to {attempt}: {source}")]
    System { attempt: &'static str, source: io::Error },
}

impl ExecuteError {
    pub(crate) fn system(attempt: &'static str) -> impl FnOnce(rustix::io::Errno) -> ExecuteError {
        move |errno| ExecuteError::System { attempt, source: errno.into() }
    }
}

fn words(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
