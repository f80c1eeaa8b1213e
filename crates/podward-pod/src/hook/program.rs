//! Finds what a hook starts, or what prints a key, and holds it to what nobody else could have written.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use podward_manifest::{DeclaredHook, HookArgument, HookProgram, KeyCommand};
use podward_policy::Location;
use rustix::fs::Access;

use super::script::{is_named_like_a_script, scripts};
use super::writable::Writable;
use crate::accounts::Accounts;
use crate::file::{FileError, check_guarded, shown};

/// What podward starts by itself, as the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The files among them: what they hold decides what it does.
    pub(crate) files: Vec<PathBuf>,
}

/// Where it runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) directory: &'a Path,
    /// The `PATH` of podward, without what is not absolute.
    pub(super) path: &'a OsStr,
    pub(super) accounts: &'a Accounts,
    pub(super) writable: &'a Writable,
}

/// A hook, or a command that prints a key, that cannot be started or that others could have written.
#[derive(Debug)]
pub struct ProgramProblem {
    what: String,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    /// No directory of the `PATH` has the program.
    NotAlongPath(String),
    NoProgram(PathBuf),
    NoScript(PathBuf),
    NotExecutable(PathBuf),
    /// On the way to a file lies a symlink that tools can make lead elsewhere.
    Link {
        file: PathBuf,
        link: PathBuf,
    },
    File(FileError),
}

impl ProgramProblem {
    /// Whether it is only of concern where the program is to run: it is not there, and no tool can put it
    /// there.
    pub(crate) fn is_harmless(&self, writable: &Writable) -> bool {
        match &self.fault {
            Fault::NotAlongPath(_) => true,
            Fault::NoProgram(path) | Fault::NoScript(path) => !writable.can_make(path),
            Fault::NotExecutable(_) | Fault::Link { .. } | Fault::File(_) => false,
        }
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match &self.fault {
            Fault::NotAlongPath(_) => Some(
                "install it, or write its path: one that begins with `./` starts at the \
                 directory of the file that names it. Directories in which tools can write are \
                 left out of the `PATH`"
                    .to_owned(),
            ),
            Fault::NoProgram(_) => Some(
                "a program with a `/` in its name starts at the directory of the file that \
                 names it"
                    .to_owned(),
            ),
            Fault::NoScript(_) => Some(
                "a script in an argument of a hook starts at the workspace, unless it is written \
                 with `./`, `../`, `~/` or `/` in front; one of a `key_command`, at the directory of \
                 the file that names it"
                    .to_owned(),
            ),
            Fault::NotExecutable(path) => Some(format!("`chmod +x {}`", shown(path))),
            Fault::Link { file, .. } => Some(match file.canonicalize() {
                Ok(target) => format!("name the file itself, `{}`", shown(&target)),
                Err(_) => "name the file itself".to_owned(),
            }),
            Fault::File(error) => error.help(),
        }
    }
}

impl fmt::Display for ProgramProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be used: ", self.what)?;
        match &self.fault {
            Fault::NotAlongPath(name) => write!(f, "there is no program `{name}` along the `PATH`"),
            Fault::NoProgram(path) | Fault::NoScript(path) => {
                write!(f, "there is no file `{}`", shown(path))
            }
            Fault::NotExecutable(path) => write!(f, "`{}` is not executable", shown(path)),
            Fault::Link { file, link } => write!(
                f,
                "tools could make the symlink `{}` lead elsewhere, by which `{}` is found",
                shown(link),
                shown(file)
            ),
            Fault::File(error) => {
                error.fmt(f)?;
                match std::error::Error::source(error) {
                    Some(source) => write!(f, ": {source}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Finds the program of a hook and checks every file that its command names.
pub(super) fn find(
    hook: &DeclaredHook,
    surroundings: Surroundings<'_>,
) -> Result<Program, ProgramProblem> {
    let what = format!("the hook `{}` ({})", hook.name, place(&hook.location));
    find_named(what, &hook.program, &hook.arguments, surroundings)
}

/// The same of a command that prints a key.
pub(super) fn find_key(
    command: &KeyCommand,
    surroundings: Surroundings<'_>,
) -> Result<Program, ProgramProblem> {
    let name = command.argv.first().map_or("", String::as_str);
    let place = place(&command.location);
    let what = format!("the command that prints the model's key, `{name}` ({place}),");
    let arguments: Vec<_> = (command.arguments())
        .map(|word| HookArgument::Text(word.to_owned()))
        .collect();
    find_named(what, &command.program(), &arguments, surroundings)
}

fn place(location: &Location) -> String {
    shown(Path::new(&location.to_string())).to_string()
}

fn find_named(
    what: String,
    named: &HookProgram,
    arguments: &[HookArgument],
    surroundings: Surroundings<'_>,
) -> Result<Program, ProgramProblem> {
    let problem = |fault| ProgramProblem {
        what: what.clone(),
        fault,
    };
    let path = program(named, surroundings).map_err(problem)?;
    let mut files = guarded(&path, surroundings)
        .map_err(problem)?
        .ok_or_else(|| problem(Fault::NoProgram(path.clone())))?;
    if rustix::fs::access(&path, Access::EXEC_OK).is_err() {
        return Err(problem(Fault::NotExecutable(path)));
    }
    let scripts = scripts(&path, arguments);
    for (idx, argument) in arguments.iter().enumerate() {
        let file = match argument {
            HookArgument::Text(text) => surroundings.directory.join(text),
            HookArgument::Path(path) => path.clone(),
        };
        let is_script = scripts.contains(&idx)
            || (is_named_like_a_script(argument) && surroundings.writable.can_make(&file));
        // Another kind of file is nothing that it runs.
        if !is_script && !file.is_file() {
            continue;
        }
        match guarded(&file, surroundings).map_err(problem)? {
            Some(found) => files.extend(found),
            None if is_script => return Err(problem(Fault::NoScript(file))),
            None => {}
        }
    }
    Ok(Program {
        path,
        arguments: arguments.iter().map(argument).collect(),
        files,
    })
}

fn argument(argument: &HookArgument) -> OsString {
    match argument {
        HookArgument::Text(text) => text.into(),
        HookArgument::Path(path) => path.into(),
    }
}

fn program(program: &HookProgram, surroundings: Surroundings<'_>) -> Result<PathBuf, Fault> {
    let name = match program {
        HookProgram::At(path) => return Ok(path.clone()),
        HookProgram::Named(name) => name,
    };
    surroundings
        .path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|entry| Path::new(OsStr::from_bytes(entry)).join(name))
        .find(|file| file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok())
        .ok_or_else(|| Fault::NotAlongPath(name.clone()))
}

/// The names of a file, if it is there: as it is written, and without symlinks.
fn guarded(path: &Path, surroundings: Surroundings<'_>) -> Result<Option<Vec<PathBuf>>, Fault> {
    let target = check_guarded(path, surroundings.accounts).map_err(Fault::File)?;
    if let Some(link) = surroundings.writable.replaceable_link(path) {
        let file = path.to_path_buf();
        return Err(Fault::Link { file, link });
    }
    Ok(target.map(|target| {
        let named = path.to_path_buf();
        if named == target {
            vec![target]
        } else {
            vec![named, target]
        }
    }))
}
