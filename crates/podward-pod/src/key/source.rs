//! Fetches the key of a model from where the manifest says that it is.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use podward_manifest::{Key, KeyCommand, KeySource, Model};
use podward_protocol::is_invisible;
use tokio::process::Command;

use super::{KeyError, KeyOrigin, ModelKey, state_of};
use crate::children::Inheritance;
use crate::file::read_private;
use crate::hook::{Program, Writable, environment, key_program};
use crate::layers::Loaded;
use crate::pipe::{Keep, Pipe};
use crate::places::Places;

/// How long the command that prints a key may take: a person may have to type a password.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// The key for the requests of the model that a manifest names; `None` if it names none.
///
/// `handed` is what [`start`](crate::start) took over. A model that asks nobody needs no key: then
/// no file is read and no command is run.
///
/// # Errors
/// The key is not where the manifest says, or is no key.
pub async fn model_key(
    loaded: &Loaded,
    places: &Places,
    handed: Option<ModelKey>,
) -> Result<Option<ModelKey>, KeyError> {
    match &loaded.resolved.model {
        Model::Remote(_) => {}
        Model::Undeclared | Model::Scripted(_) => return Ok(handed),
    }
    let Some(key) = &loaded.resolved.key else {
        return Ok(None);
    };
    let variables: Vec<_> = std::env::vars_os().collect();
    let ground = Ground {
        places,
        variables: &variables,
        writable: Writable::of_pod(places, loaded, &loaded.workspace),
        under: loaded.under.as_deref(),
        timeout: COMMAND_TIMEOUT,
    };
    fetch(key, &ground, handed).await.map(Some)
}

/// What a key is fetched from.
struct Ground<'a> {
    places: &'a Places,
    variables: &'a [(OsString, OsString)],
    writable: Writable,
    under: Option<&'a Inheritance>,
    timeout: Duration,
}

impl Ground<'_> {
    /// Refuses what tools of a pod above could have put where it is: they have run before.
    fn check<'f>(&self, files: impl IntoIterator<Item = &'f PathBuf>) -> Result<(), KeyError> {
        let Some(under) = self.under else {
            return Ok(());
        };
        let is_kept = |file: &PathBuf| {
            under
                .estate
                .scope
                .protected()
                .any(|kept| kept.path == *file)
        };
        let mut files = files.into_iter();
        match files.find(|file| self.writable.can_make(file) && !is_kept(file)) {
            Some(file) => Err(KeyError::Made { path: file.clone() }),
            None => Ok(()),
        }
    }
}

async fn fetch(
    key: &Key,
    ground: &Ground<'_>,
    handed: Option<ModelKey>,
) -> Result<ModelKey, KeyError> {
    let (origin, bytes) = match &key.source {
        KeySource::Variable(variable) => {
            let origin = KeyOrigin::Variable(variable.as_str().into());
            let handed = handed.filter(|handed| handed.origin == origin);
            return match handed {
                Some(handed) => checked(origin, handed.value.as_bytes()),
                None => Err(not_set(variable.as_str(), key)),
            };
        }
        // The manifest has no key then.
        KeySource::Nowhere => return Err(not_set("", key)),
        KeySource::File(path) => {
            let bytes = in_file(path, key, ground.places)?;
            ground.check([path])?;
            (KeyOrigin::File(path.clone()), bytes)
        }
        KeySource::Command(command) => {
            let origin = KeyOrigin::Command(program(command).into());
            (origin, printed_by(command, ground).await?)
        }
    };
    checked(origin, &bytes)
}

fn not_set(variable: &str, key: &Key) -> KeyError {
    KeyError::NotSet {
        variable: variable.into(),
        named: key.location.clone(),
    }
}

/// A key without the white space around it: visible characters of ASCII, as it goes into a header.
fn checked(origin: KeyOrigin, bytes: &[u8]) -> Result<ModelKey, KeyError> {
    let unusable = |origin, state| Err(KeyError::Unusable { origin, state });
    if let Some(state) = state_of(bytes) {
        return unusable(origin, state);
    }
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    if text.lines().nth(1).is_some() {
        return unusable(origin, "more than one line");
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return unusable(origin, "no key: it has a character that no key has");
    }
    Ok(ModelKey {
        origin,
        value: text.into(),
    })
}

fn in_file(path: &Path, key: &Key, places: &Places) -> Result<Vec<u8>, KeyError> {
    match read_private(path, places.accounts()) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(KeyError::NoFile {
            path: path.into(),
            named: key.location.clone(),
        }),
        Err(error) => Err(KeyError::File(error)),
    }
}

fn program(command: &KeyCommand) -> &str {
    command.argv.first().map_or("", String::as_str)
}

/// What a command prints, with the user's environment and without standard input. It is not confined.
async fn printed_by(command: &KeyCommand, ground: &Ground<'_>) -> Result<Vec<u8>, KeyError> {
    let Ground {
        places,
        writable,
        timeout,
        ..
    } = ground;
    let variables = environment(ground.variables, |_, _| false, writable);
    let found = key_program(command, &variables, places.accounts(), writable);
    let found = found.map_err(KeyError::Program)?;
    ground.check(&found.files)?;
    let program: Box<str> = program(command).into();
    let named = || command.location.clone();
    let ran = tokio::time::timeout(*timeout, run(&found, command, variables)).await;
    let Ok(ran) = ran else {
        return Err(KeyError::Endless {
            program,
            named: named(),
            after: *timeout,
        });
    };
    let printed = ran.map_err(|source| KeyError::Start {
        program: program.clone(),
        named: named(),
        source,
    })?;
    if printed.status.success() {
        return Ok(printed.stdout);
    }
    Err(KeyError::Command {
        program,
        named: named(),
        how: match printed.status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => "was killed".to_owned(),
        },
        stderr: visible(&printed.stderr).into(),
    })
}

struct Printed {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a command to its end; what it leaves running may hold its output open.
async fn run(
    program: &Program,
    command: &KeyCommand,
    variables: Vec<(OsString, OsString)>,
) -> io::Result<Printed> {
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let mut started = Command::new(&program.path);
    started
        .args(&program.arguments)
        .current_dir(&command.directory)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .kill_on_drop(true);
    let mut child = started.spawn()?;
    // It holds ends of the pipes that only the command shall hold.
    drop(started);
    let mut stdout = Pipe::new(stdout.into(), Keep::Beginning)?;
    let mut stderr = Pipe::new(stderr.into(), Keep::End)?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            () = stdout.read() => {}
            () = stderr.read() => {}
        }
    };
    // What it wrote just before its end is still in the pipes.
    stdout.drain();
    stderr.drain();
    Ok(Printed {
        status,
        stdout: stdout.into_bytes(),
        stderr: stderr.into_end(),
    })
}

/// What a command said, for people: what a terminal obeys or does not show is escaped.
fn visible(stderr: &str) -> String {
    let mut text = String::new();
    for character in stderr.chars() {
        if character != '\n' && (character.is_control() || is_invisible(character)) {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests;
