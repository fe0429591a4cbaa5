//! `--workspace`: the members one after the other, each as `--package` runs it, and what came of all of them.
//!
//! Receives from a command how it does one package; hands back the most serious exit code.

use std::fmt::Write as _;

use testwright_engine::workbench;
use testwright_harness::{Member, Members, Places, members};

use crate::flags::{MemberFlags, MessageFormat, SubjectFlags};
use crate::{exit, output};

/// What came of one package.
#[derive(Debug)]
pub struct Done {
    pub exit: u8,
    /// In one line.
    pub said: String,
}

/// A command over what is selected.
#[derive(Debug)]
pub struct Tour<'a> {
    pub subject: &'a SubjectFlags,
    pub members: &'a MemberFlags,
    pub format: MessageFormat,
}

impl Tour<'_> {
    /// Does one package: as the flags say, or a member in its place.
    pub fn run(&self, one: &dyn Fn(Option<&Member>) -> anyhow::Result<Done>) -> anyhow::Result<u8> {
        if !self.members.workspace {
            return Ok(one(None)?.exit);
        }
        let manifest_path = self.subject.manifest_path.as_deref();
        let Members { chosen, single } =
            members(manifest_path, &self.members.exclude, &self.subject.feature_choice())?;
        if single && !chosen.is_empty() {
            return Ok(one(None)?.exit);
        }
        let mut done: Vec<Done> = Vec::new();
        for member in &chosen {
            self.print(&format!("== {} ({} of {})\n", title(member), done.len() + 1, chosen.len()));
            done.push(self.visit(member, one));
            self.print("\n");
            if done.last().is_some_and(|last| last.exit == exit::INTERRUPTED) {
                break;
            }
        }
        self.print(&summary(&chosen, &done));
        let code = exit::most_serious(done.iter().map(|done| done.exit));
        if code == exit::NOTHING_TESTABLE {
            eprintln!("error: no member of the workspace has anything to test");
        }
        Ok(code)
    }

    /// One member; whatever is wrong with it, the others are still to come.
    fn visit(&self, member: &Member, one: &dyn Fn(Option<&Member>) -> anyhow::Result<Done>) -> Done {
        let result = match &member.no_library {
            Some(error) => Err(error.clone().into()),
            None => exit::caught(|| one(Some(member))).map_err(|error| self.rather_nothing(member, error)),
        };
        let error = match result {
            Ok(done) => return done,
            Err(error) => error,
        };
        let said = first_line(&error);
        let exit = match exit::code(&error) {
            exit::NOTHING_TESTABLE => {
                eprintln!("{}: skipped: {said}", title(member));
                exit::NOTHING_TESTABLE
            }
            _ => exit::report(&error),
        };
        Done { exit, said }
    }

    /// A suite or a campaign that is not there is no mistake where there is nothing to call.
    fn rather_nothing(&self, member: &Member, error: anyhow::Error) -> anyhow::Error {
        if exit::code(&error) != exit::USAGE {
            return error;
        }
        let subject = self.subject.of_member(member);
        let look = || -> anyhow::Result<()> {
            let selection = subject.selection()?;
            let places = Places::for_selection(&selection, &output::default_out(&selection))?;
            Ok(workbench::look_for_calls(&selection, &places, subject.operations as usize)?)
        };
        match look() {
            Err(nothing) if exit::code(&nothing) == exit::NOTHING_TESTABLE => nothing,
            _ => error,
        }
    }

    fn print(&self, text: &str) {
        if self.format == MessageFormat::Human {
            output::print(text);
        }
    }
}

fn title(member: &Member) -> String {
    format!("{} {}", member.name, member.version)
}

fn first_line(error: &anyhow::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

fn summary(chosen: &[Member], done: &[Done]) -> String {
    let mut text = format!("== {} of {} members\n", done.len(), chosen.len());
    for (index, member) in chosen.iter().enumerate() {
        let said = done.get(index).map_or("not begun", |done| &done.said);
        let _ = writeln!(text, "{}: {said}", title(member));
    }
    text
}
