//! The key of a model: taken out of the environment before any tool can run.
//!
//! A process cannot take anything out of `/proc/self/environ`, so podward starts itself again
//! without the variable. The key goes over in a file in memory, which is emptied as soon as it is
//! read. The process is not dumpable: other processes of the same user can read neither its memory
//! nor its environment, and a crash writes no core file.

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

use podward_scope::ScopeError;
use rustix::fs::MemfdFlags;

/// The variable that names the file descriptor over which the key goes.
pub const KEY_FD_VARIABLE: &str = "PODWARD_KEY_FD";

/// The name of the file in memory.
const MEMFD_NAME: &str = "podward-key";

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 64 * 1024;

/// The key of a model.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelKey {
    variable: Box<str>,
    value: Box<str>,
}

impl ModelKey {
    /// The variable that held it.
    #[must_use]
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// The key itself: for the model's requests and for nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.value
    }
}

/// Shows the variable's name only.
impl fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelKey")
            .field("variable", &self.variable)
            .finish_non_exhaustive()
    }
}

/// A key that cannot be taken over.
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
    #[error("the key in `{variable}` is {state}")]
    Unusable {
        /// The variable that holds it.
        variable: Box<str>,
        /// What it is.
        state: &'static str,
    },
    /// Somebody else set the variable that names the file descriptor.
    #[error("`{KEY_FD_VARIABLE}` names nothing that podward handed to itself")]
    Foreign,
}

impl KeyError {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Foreign => Some("podward sets this variable for itself alone: unset it"),
            Self::Dumpable(_) | Self::HandOver { .. } | Self::Unusable { .. } => None,
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

/// Starts this program again, with the same arguments, without a variable that holds the key.
///
/// Returns only if the variable is not set, or on error. Must be called before there is anything
/// that a second start would lose: standard input read, a session opened, a task begun.
///
/// # Errors
/// The key is no text, is empty or too long, or the program cannot be started again.
pub fn hand_over(variable: &str) -> Result<(), KeyError> {
    let Some(value) = std::env::var_os(variable) else {
        return Ok(());
    };
    check_key(variable, &value)?;
    match start_again(variable, &value) {
        Ok(never) => match never {},
        Err(source) => Err(KeyError::HandOver {
            variable: variable.into(),
            source,
        }),
    }
}

fn check_key(variable: &str, value: &OsStr) -> Result<(), KeyError> {
    let state = match value.to_str() {
        None => "not UTF-8",
        Some(text) if text.trim().is_empty() => "empty",
        Some(text) if text.len() > MAX_KEY_BYTES => "too long",
        Some(_) => return Ok(()),
    };
    Err(KeyError::Unusable {
        variable: variable.into(),
        state,
    })
}

fn start_again(variable: &str, value: &OsStr) -> io::Result<Infallible> {
    // Not closed on exec: the next start finds it by its number.
    let fd = rustix::fs::memfd_create(MEMFD_NAME, MemfdFlags::empty())?;
    let mut file = File::from(fd);
    file.write_all(variable.as_bytes())?;
    file.write_all(b"=")?;
    file.write_all(value.as_bytes())?;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| "podward".into());
    Err(Command::new("/proc/self/exe")
        .arg0(name)
        .args(arguments)
        .env_remove(variable)
        .env(KEY_FD_VARIABLE, file.as_raw_fd().to_string())
        .exec())
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
        variable: variable.into(),
        value: value.into(),
    })
}
