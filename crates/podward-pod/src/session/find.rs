//! From the front of an id to a session.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use podward_protocol::{CallId, SessionId};
use podward_worker::Entry;

use super::SESSION_FILE;
use super::record::{Created, Line, Opened, Record};
use crate::error::{StateError, shown_id};
use crate::places::Places;

/// The first line of a session says who began it; it is not long.
const FIRST_LINE_MAX: u64 = 64 * 1024;

/// No session, or more than one, has an id that begins so.
#[derive(Debug, thiserror::Error)]
pub enum SessionNotFound {
    /// None.
    #[error("no session has an id that begins with `{prefix}`")]
    None {
        /// What was asked for.
        prefix: String,
        /// The newest session that there is.
        newest: Option<SessionId>,
    },
    /// Several.
    #[error("{} sessions have an id that begins with `{prefix}`", .candidates.len())]
    Several {
        /// What was asked for.
        prefix: String,
        /// Their ids, oldest first.
        candidates: Vec<SessionId>,
    },
    /// None of a pod.
    #[error("pod `{pod}` has no session in `{workspace}`")]
    NoneOf {
        /// The pod's name.
        pod: String,
        /// The workspace.
        workspace: String,
    },
    /// The sessions cannot be listed.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Finds the session whose id is or begins with a text; small letters stand for capitals.
///
/// # Errors
/// There is none, or more than one.
pub fn find_session(places: &Places, prefix: &str) -> Result<SessionId, SessionNotFound> {
    let wanted = prefix.to_ascii_uppercase();
    let shown = || shown_id(prefix);
    let mut all = sessions(places)?;
    all.sort();
    let candidates: Vec<SessionId> = all
        .iter()
        .filter(|id| !wanted.is_empty() && id.as_str().starts_with(&wanted))
        .cloned()
        .collect();
    match candidates.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(SessionNotFound::None {
            prefix: shown(),
            newest: all.pop(),
        }),
        [_, _, ..] => Err(SessionNotFound::Several {
            prefix: shown(),
            candidates,
        }),
    }
}

/// The newest session of a pod in a workspace.
///
/// # Errors
/// There is none.
pub fn newest_session(
    places: &Places,
    pod: &str,
    workspace: &Path,
) -> Result<SessionId, SessionNotFound> {
    let workspace = workspace.to_string_lossy();
    let mut all = sessions(places)?;
    all.sort();
    let mut newest_first = all.into_iter().rev();
    let found = newest_first.find(|id| {
        let path = places.sessions_dir().join(id.as_str()).join(SESSION_FILE);
        // One whose beginning cannot be read is none that could be gone on with.
        created(&path).is_some_and(|created| created.pod == pod && created.workspace == workspace)
    });
    found.ok_or_else(|| SessionNotFound::NoneOf {
        pod: pod.to_owned(),
        workspace: workspace.escape_debug().to_string(),
    })
}

/// Who began a session: its first line.
fn created(path: &Path) -> Option<Created> {
    let mut line = String::new();
    let file = File::open(path).ok()?;
    BufReader::new(file.take(FIRST_LINE_MAX))
        .read_line(&mut line)
        .ok()?;
    let line: Line = serde_json::from_str(&line).ok()?;
    match line.record {
        Record::Created(created) => Some(created),
        Record::Opened(_) | Record::Entry(_) => None,
    }
}

/// What the last run of a session was made of, as far as its file can be read.
pub(crate) fn last_run(path: &Path) -> Option<Opened> {
    let file = BufReader::new(File::open(path).ok()?);
    let runs = file.lines().map_while(Result::ok).filter_map(|line| {
        let line: Line = serde_json::from_str(&line).ok()?;
        match line.record {
            Record::Opened(run) => Some(run),
            Record::Created(_) | Record::Entry(_) => None,
        }
    });
    runs.last()
}

/// The word for why it was decided about a call as it was, in the last entry about it.
pub(crate) fn last_ruled(path: &Path, call: &CallId) -> Option<String> {
    let file = BufReader::new(File::open(path).ok()?);
    let rulings = file.lines().map_while(Result::ok).filter_map(|line| {
        let line: Line = serde_json::from_str(&line).ok()?;
        let Record::Entry(recorded) = line.record else {
            return None;
        };
        match recorded.entry.into_owned() {
            Entry::Ruled {
                call: of, cause, ..
            } if of == call.as_str() => Some(cause),
            _ => None, // about something else
        }
    });
    rulings.last()
}

/// Every session there is.
pub(crate) fn sessions(places: &Places) -> Result<Vec<SessionId>, StateError> {
    let directory = places.sessions_dir();
    let error = |error| StateError::io("list", &directory, error);
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(error(source)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(error)?.file_name();
        ids.extend(name.to_str().and_then(|name| SessionId::new(name).ok()));
    }
    Ok(ids)
}
