//! From the front of an id to a session.

use std::io;

use podward_protocol::SessionId;

use crate::error::StateError;
use crate::places::Places;

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
    let shown = || {
        prefix
            .chars()
            .take(64)
            .flat_map(char::escape_debug)
            .collect()
    };
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

/// Every session there is.
fn sessions(places: &Places) -> Result<Vec<SessionId>, StateError> {
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
