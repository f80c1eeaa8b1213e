//! Why the key of a model cannot be had.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use podward_policy::Location;
use podward_scope::ScopeError;

use super::{KEY_FD_VARIABLE, KeyOrigin};
use crate::file::{FileError, shown};
use crate::hook::ProgramProblem;

/// A key that cannot be taken over or fetched.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The process stays readable for others.
    #[error(transparent)]
    Dumpable(ScopeError),
    /// The key cannot be handed over.
    #[error("the key in `{variable}` cannot be taken out of the environment")]
    HandOver {
        /// The variable that holds it.
        variable: Box<str>,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The key is no text, is empty, or is too long.
    #[error("the key in {origin} is {state}")]
    Unusable {
        /// Where it is.
        origin: KeyOrigin,
        /// What it is.
        state: &'static str,
    },
    /// Somebody else set the variable that names the file descriptor.
    #[error("`{KEY_FD_VARIABLE}` names nothing that podward handed to itself")]
    Foreign,
    /// The variable with the key is not set.
    #[error("the variable `{variable}`, in which the model's key should be, is not set")]
    NotSet {
        /// The variable.
        variable: Box<str>,
        /// Who says so.
        named: Location,
    },
    /// The file with the key is not there.
    #[error(
        "the file `{}`, in which the model's key should be, does not exist",
        shown(path)
    )]
    NoFile {
        /// The file.
        path: PathBuf,
        /// Who says so.
        named: Location,
    },
    /// The file with the key cannot be read, or others could read or write it.
    #[error(transparent)]
    File(FileError),
    /// The command that prints the key is not there, or others could have written what it runs.
    #[error("{0}")]
    Program(ProgramProblem),
    /// Where a pod above keeps its tools from nothing, a file that a child's key comes from is no file to trust.
    #[error(
        "the file `{}`, from which the model's key comes, could be the work of tools of the pods above: it was not \
         there when they started, or they do not know of it",
        shown(path)
    )]
    Made {
        /// The file.
        path: PathBuf,
    },
    /// The command that prints the key cannot be started.
    #[error("the command that prints the model's key, `{program}`, cannot be started")]
    Start {
        /// Its program.
        program: Box<str>,
        /// Who names it.
        named: Location,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The command that prints the key failed.
    #[error(
        "the command that prints the model's key, `{program}`, {how}{}",
        said(stderr)
    )]
    Command {
        /// Its program.
        program: Box<str>,
        /// Who names it.
        named: Location,
        /// How it ended.
        how: String,
        /// What it said.
        stderr: Box<str>,
    },
    /// The command that prints the key did not end.
    #[error("the command that prints the model's key, `{program}`, did not end within {after:?}")]
    Endless {
        /// Its program.
        program: Box<str>,
        /// Who names it.
        named: Location,
        /// How long it had.
        after: Duration,
    },
}

impl KeyError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Foreign => {
                Some("podward sets this variable for itself alone: unset it".to_owned())
            }
            Self::NotSet { variable, named } => Some(format!(
                "set it, `export {variable}=…`, or say at {named} where the key is"
            )),
            Self::NoFile { path, named } => Some(format!(
                "write the key into it and `chmod 600 {}`, or say at {named} where the key is",
                shown(path)
            )),
            Self::File(error) => error.help(),
            Self::Program(problem) => problem.help(),
            Self::Made { .. } => Some("keep it where no tool can write".to_owned()),
            Self::Start { named, .. } | Self::Command { named, .. } => Some(format!(
                "{named} names it: try it in a shell, in the directory of that file; the key alone belongs \
                 on its standard output"
            )),
            Self::Endless { named, .. } => Some(format!(
                "{named} names it; it has no standard input: what asks for a password has to ask elsewhere"
            )),
            Self::Unusable { .. } | Self::Dumpable(_) | Self::HandOver { .. } => None,
        }
    }
}

fn said(stderr: &str) -> String {
    match stderr {
        "" => String::new(),
        stderr => format!(" and said:\n{stderr}"),
    }
}
