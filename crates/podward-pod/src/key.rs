//! The key of a model: taken out of the environment before any tool can run.
//!
//! A process cannot take anything out of `/proc/self/environ`, so podward starts itself again
//! without the variable. The key goes over in a file in memory, which is emptied as soon as it is
//! read. The process is not dumpable: other processes of the same user can read neither its memory
//! nor its environment, and a crash writes no core file.

mod error;
mod source;

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::MemfdFlags;

pub use error::KeyError;
pub use source::model_key;

use crate::file::shown;
use crate::pipe::MAX_OUTPUT_BYTES;

/// The variable that names the file descriptor over which the key goes.
pub const KEY_FD_VARIABLE: &str = "PODWARD_KEY_FD";

/// The name of the file in memory.
const MEMFD_NAME: &str = "podward-key";

/// The longest key, in bytes: so much is read of a command that prints one.
const MAX_KEY_BYTES: usize = MAX_OUTPUT_BYTES;

/// The key of a model.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelKey {
    origin: KeyOrigin,
    value: Box<str>,
}

/// Where a key came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// A variable.
    Variable(Box<str>),
    /// A file.
    File(PathBuf),
    /// What a program printed.
    Command(Box<str>),
}

impl ModelKey {
    /// The key that a pod above took over from a variable.
    pub(crate) fn of_variable(variable: &str, value: &str) -> Self {
        Self {
            origin: KeyOrigin::Variable(variable.into()),
            value: value.into(),
        }
    }

    /// Where it came from.
    #[must_use]
    pub const fn origin(&self) -> &KeyOrigin {
        &self.origin
    }

    /// The key itself: for the model's requests and for nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.value
    }
}

/// Shows where it came from only.
impl fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelKey")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// For people: ``the variable `NAME` ``.
impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable `{name}`"),
            Self::File(path) => write!(f, "the file `{}`", shown(path)),
            Self::Command(program) => write!(f, "the output of `{program}`"),
        }
    }
}

/// The first thing a podward process does: makes itself unreadable for others, and takes the key
/// that an earlier start handed over, if there was one.
///
/// # Errors
/// The process cannot be made unreadable, or what was handed over is no key.
pub fn start() -> Result<Option<ModelKey>, KeyError> {
    podward_scope::harden_process().map_err(KeyError::Dumpable)?;
    let Some(fd) = std::env::var_os(KEY_FD_VARIABLE) else {
        return Ok(None);
    };
    // The program's file is `/proc/self/exe` after the second start, and so would its name be.
    let _ = rustix::thread::set_name(c"podward");
    take_over(&fd).map(Some)
}

/// Starts this program again, with the same arguments, without the variables that hold keys.
///
/// The value of `key` goes over to the next start; those of `others` are left behind. Returns only
/// if none of them is set, or on error. Must be called before there is anything that a second start
/// would lose: standard input read, a session opened, a task begun.
///
/// # Errors
/// The key is no text, is empty or too long, or the program cannot be started again.
pub fn hand_over(key: Option<&str>, others: &[&str]) -> Result<(), KeyError> {
    let set = |variable: &str| std::env::var_os(variable);
    let key = key.and_then(|variable| Some((variable, set(variable)?)));
    if let Some((variable, value)) = &key
        && let Some(state) = state_of(value.as_bytes())
    {
        return Err(KeyError::Unusable {
            origin: KeyOrigin::Variable((*variable).into()),
            state,
        });
    }
    let others: Vec<&str> = others
        .iter()
        .copied()
        .filter(|other| set(other).is_some())
        .collect();
    let Some(variable) = key
        .as_ref()
        .map(|(variable, _)| *variable)
        .or(others.first().copied())
    else {
        return Ok(());
    };
    let key = key.as_ref().map(|(variable, value)| (*variable, &**value));
    match start_again(key, &others) {
        Ok(never) => match never {},
        Err(source) => Err(KeyError::HandOver {
            variable: variable.into(),
            source,
        }),
    }
}

/// Why bytes are no key, if they are none.
fn state_of(bytes: &[u8]) -> Option<&'static str> {
    match std::str::from_utf8(bytes) {
        Err(_) => Some("not UTF-8"),
        Ok(text) if text.trim().is_empty() => Some("empty"),
        Ok(text) if text.len() > MAX_KEY_BYTES => Some("too long"),
        Ok(_) => None,
    }
}

fn start_again(key: Option<(&str, &OsStr)>, others: &[&str]) -> io::Result<Infallible> {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| "podward".into());
    let mut command = Command::new("/proc/self/exe");
    command.arg0(name).args(arguments);
    for other in others {
        command.env_remove(other);
    }
    // It has to live until the program is started.
    let mut handed = None;
    if let Some((variable, value)) = key {
        // Not closed on exec: the next start finds it by its number.
        let fd = rustix::fs::memfd_create(MEMFD_NAME, MemfdFlags::empty())?;
        let file = handed.insert(File::from(fd));
        file.write_all(variable.as_bytes())?;
        file.write_all(b"=")?;
        file.write_all(value.as_bytes())?;
        command
            .env_remove(variable)
            .env(KEY_FD_VARIABLE, file.as_raw_fd().to_string());
    }
    Err(command.exec())
}

fn take_over(fd: &OsStr) -> Result<ModelKey, KeyError> {
    let number: u32 = fd
        .to_str()
        .and_then(|text| text.parse().ok())
        .ok_or(KeyError::Foreign)?;
    let path = PathBuf::from(format!("/proc/self/fd/{number}"));
    let leads_to = std::fs::read_link(&path).map_err(|_| KeyError::Foreign)?;
    if leads_to.as_os_str() != OsStr::new(&format!("/memfd:{MEMFD_NAME} (deleted)")) {
        return Err(KeyError::Foreign);
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|_| KeyError::Foreign)?;
    // Only a file in memory has seals: a file that merely bears its name is left alone.
    rustix::fs::fcntl_get_seals(&file).map_err(|_| KeyError::Foreign)?;
    let mut text = String::new();
    let read = file.read_to_string(&mut text);
    // The descriptor it came over stays open and goes on to children: there must be nothing in it.
    file.set_len(0).map_err(|_| KeyError::Foreign)?;
    read.map_err(|_| KeyError::Foreign)?;
    let (variable, value) = text.split_once('=').ok_or(KeyError::Foreign)?;
    Ok(ModelKey {
        origin: KeyOrigin::Variable(variable.into()),
        value: value.into(),
    })
}
