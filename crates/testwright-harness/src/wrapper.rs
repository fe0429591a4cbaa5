//! The tool's own binary as cargo's compiler wrapper: adds flags to the crates that are watched, and to no others.
//!
//! Receives a [`Plan`] through one environment variable, set by the module `cargo`, and becomes the real
//! compiler (behind the user's own wrapper, if there is one). Unstable switches are turned on for that one process only,
//! so that no build script sees them.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::variant::Coverage;

/// Holds the [`Plan`] as JSON.
pub(crate) const VARIABLE: &str = "TESTWRIGHT_WRAP";

/// Our generated package that is instrumented, because generic code of the subject is compiled in it.
const WATCHED: &str = "testwright-wrappers";

/// The binary, whose replacements of libc's functions must be found by other libraries.
const WORKER: &str = "testwright-worker";

/// How all our packages are called.
const OURS: &str = "testwright-";

/// Our generated packages that hold printed code.
const PRINTED: [&str; 2] = ["testwright-checks", "testwright-bench"];

/// One 8-bit counter an edge: the counters of `instrument-coverage` leave out the branches whose count follows from others.
const EDGES: [&str; 3] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
];

/// Counters that map to lines and to both sides of each branch, and a call before each comparison. Names stay readable in the binary,
/// where the tool looks functions up.
const LINES: [&str; 4] = [
    "-Cinstrument-coverage",
    "-Cllvm-args=-enable-name-compression=false",
    "-Zcoverage-options=branch",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The subject's package folder, as cargo names it: two versions may share a name, but not a folder.
    pub subject: PathBuf,
    /// The user's own wrapper.
    pub inner: Option<PathBuf>,
    pub coverage: Coverage,
    pub sanitizer: bool,
    /// The real rustdoc, which is to write JSON.
    pub rustdoc: Option<PathBuf>,
}

/// What the process is to become.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    program: OsString,
    args: Vec<OsString>,
    unstable: bool,
}

/// Must be the first thing in `main`: if cargo started this process as a compiler wrapper, it becomes the compiler and
/// does not return. An exit code is returned only if that fails; `None` means that this is an ordinary start.
pub fn act_as_rustc_wrapper() -> Option<ExitCode> {
    let plan = std::env::var(VARIABLE).ok()?;
    let Ok(plan) = serde_json::from_str::<Plan>(&plan) else {
        eprintln!("{VARIABLE} does not hold a plan");
        return Some(ExitCode::from(70));
    };
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A build script that tries the compiler must see it as it is; this variable is set for build scripts alone.
    let call = if std::env::var_os("CARGO_CFG_TARGET_OS").is_some() {
        plan.plain(args)
    } else {
        plan.call(args, &package, folder)
    };
    // A build that is stopped leaves no compiler behind; where that is refused, the compiler ends by itself.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut command = Command::new(&call.program);
    command.args(&call.args).env_remove(VARIABLE);
    if call.unstable {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    let error = command.exec();
    eprintln!("cannot start `{}`: {error}", call.program.display());
    Some(ExitCode::from(101))
}

impl Plan {
    fn call(&self, mut args: Vec<OsString>, package: &str, folder: Option<PathBuf>) -> Call {
        let compiles = |args: &[OsString]| args.iter().any(|arg| arg == "--crate-name");
        // Cargo names the compiler first; rustdoc is started without that.
        if args.first().is_none_or(|first| first.to_string_lossy().starts_with('-')) {
            let program = self.rustdoc.clone().unwrap_or_else(|| PathBuf::from("rustdoc")).into_os_string();
            let unstable = compiles(&args);
            if unstable {
                args.extend(words(&[
                    "-Zunstable-options",
                    "--output-format",
                    "json",
                    // A hidden module may be shown by a re-export elsewhere; what stays hidden is marked.
                    "--document-hidden-items",
                    "--cap-lints",
                    "allow",
                ]));
            }
            return Call { program, args, unstable };
        }
        let mut unstable = false;
        if compiles(&args) {
            let build_script = crate_name(&args).is_some_and(|name| name.starts_with("build_script_"));
            let is_subject = !build_script && folder.is_some_and(|folder| folder == self.subject);
            // What is printed for users must pass the lints that stop a build.
            if !PRINTED.contains(&package) && !args.iter().any(|arg| arg == "--cap-lints") {
                args.extend(words(&["--cap-lints", "allow"]));
            }
            if is_subject || package.starts_with(OURS) {
                name_by_itself(&mut args, package);
            }
            if is_subject || package == WATCHED {
                if self.coverage != Coverage::Off {
                    args.extend(words(&EDGES));
                }
                if self.coverage == Coverage::Lines {
                    args.extend(words(&LINES));
                    unstable = true;
                }
            }
            if self.coverage == Coverage::Lines {
                args.extend(words(&["--cfg", "testwright_traced"]));
            }
            if package == WORKER {
                args.extend(words(&["-Clink-arg=-rdynamic"]));
            }
            // Cargo names a target for everything but build scripts and procedural macros.
            if self.sanitizer && args.iter().any(|arg| arg == "--target") {
                args.extend(words(&["-Zsanitizer=address", "--cfg", "testwright_asan"]));
                unstable = true;
            }
        }
        Call { unstable, ..self.plain(args) }
    }

    /// The compiler named first, behind the user's wrapper.
    fn plain(&self, mut args: Vec<OsString>) -> Call {
        let program = match &self.inner {
            Some(inner) => inner.clone().into_os_string(),
            None if args.is_empty() => OsString::from("rustc"),
            None => args.remove(0),
        };
        Call { program, args, unstable: false }
    }
}

/// Puts a package's own name in the place of what cargo tells one crate from another by: that depends on the folder, and decides the order
/// of functions, what is inlined, and so how many edges there are. Other versions of a crate keep cargo's.
fn name_by_itself(args: &mut [OsString], package: &str) {
    let mut digest = Digest::new();
    digest.text(package);
    for pair in args.windows(2).filter(|pair| pair[0] == "--cfg") {
        digest.text(&pair[1].to_string_lossy());
    }
    let name = digest.finish();
    for arg in args.iter_mut().filter(|arg| arg.to_string_lossy().starts_with("metadata=")) {
        *arg = format!("metadata={name}").into();
    }
}

fn words(words: &[&str]) -> impl Iterator<Item = OsString> {
    words.iter().map(OsString::from).collect::<Vec<_>>().into_iter()
}

fn crate_name(args: &[OsString]) -> Option<String> {
    let at = args.iter().position(|arg| arg == "--crate-name")?;
    Some(args.get(at + 1)?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan { subject: PathBuf::from("/s"), coverage: Coverage::Lines, ..Plan::default() }
    }

    fn call(plan: &Plan, args: &[&str], package: &str, folder: &str) -> (String, String) {
        let call = plan.call(words(args).collect(), package, Some(PathBuf::from(folder)));
        let args: Vec<_> = call.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        (call.program.to_string_lossy().into_owned(), args.join(" "))
    }

    #[test]
    fn only_subject_and_wrappers_are_instrumented() {
        let args = ["rustc", "--crate-name", "x"];
        let watched = |package, folder| call(&plan(), &args, package, folder).1.contains("instrument");
        assert!(watched("x", "/s"));
        assert!(watched(WATCHED, "/h/wrappers"));
        assert!(!watched("x", "/other-version"));
        assert!(
            !call(&plan(), &["rustc", "--crate-name", "build_script_build"], "x", "/s").1.contains("instr")
        );
        assert_eq!(call(&plan(), &["rustc", "-vV"], "x", "/s"), ("rustc".into(), "-vV".into()));
    }

    #[test]
    fn lines_are_counted_only_where_that_is_asked_for() {
        let counted = |coverage| {
            let args = call(&Plan { coverage, ..plan() }, &["rustc", "--crate-name", "x"], "x", "/s").1;
            let has = |flag| args.contains(flag);
            (has("inline-8bit-counters"), has("instrument-coverage"), has("trace-compares"))
        };
        assert_eq!(counted(Coverage::Off), (false, false, false));
        assert_eq!(counted(Coverage::Edges), (true, false, false));
        assert_eq!(counted(Coverage::Lines), (true, true, true));
    }

    #[test]
    fn what_is_built_does_not_depend_on_the_folder() {
        let compiled = |cargo: &str, cfg: &str, package, folder| {
            let named = format!("metadata={cargo}");
            call(&plan(), &["rustc", "--crate-name", "x", "--cfg", cfg, "-C", &named], package, folder).1
        };
        for package in ["x", WATCHED, "testwright-runtime"] {
            assert_eq!(compiled("1", "a", package, "/s"), compiled("2", "a", package, "/s"));
            assert_ne!(compiled("1", "a", package, "/s"), compiled("1", "b", package, "/s"));
        }
        assert!(compiled("1", "a", "x", "/other-version").contains("metadata=1"));
    }

    #[test]
    fn the_users_wrapper_is_chained() {
        let plan = Plan { inner: Some(PathBuf::from("sccache")), ..plan() };
        assert_eq!(call(&plan, &["rustc", "-vV"], "", ""), ("sccache".into(), "rustc -vV".into()));
    }

    #[test]
    fn host_crates_are_not_sanitized() {
        let plan = Plan { sanitizer: true, ..plan() };
        assert!(!call(&plan, &["rustc", "--crate-name", "syn"], "syn", "/d").1.contains("-Zsan"));
        assert!(call(&plan, &["rustc", "--crate-name", "d", "--target", "t"], "d", "/d").1.contains("-Zsan"));
    }

    #[test]
    fn rustdoc_writes_json() {
        let (program, args) = call(&plan(), &["--crate-name", "x"], "x", "/s");
        assert_eq!(program, "rustdoc");
        assert!(args.ends_with("--output-format json --document-hidden-items --cap-lints allow"));
    }
}
