//! The session of a pod: a new one, or one of earlier that goes on.

use std::sync::Arc;

use podward_protocol::SessionId;
use podward_worker::{Entry, History, Parked};

use super::error::PodError;
use super::{PodRequest, SessionChoice};
use crate::children::Inheritance;
use crate::places::Places;
use crate::session::{Opened, Reopened, Session, find_session, new_id};

/// A session as a run finds it.
pub(super) struct Begun {
    pub(super) session: Session,
    pub(super) pod: Option<String>,
    pub(super) last: Option<Opened>,
    pub(super) history: History,
    pub(super) parked: Option<Parked>,
    pub(super) n_turns: u64,
}

/// A new session; what a child is given is kept beside it.
pub(super) fn create(places: &Places, request: &PodRequest) -> Result<Begun, PodError> {
    let id = match &request.session {
        SessionChoice::OfChild(id) => id.clone(),
        SessionChoice::New | SessionChoice::Resume(_) => new_id(request.clock.as_ref()),
    };
    let session = Session::create(places, id, Arc::clone(&request.clock))?;
    if let Some(under) = &request.loaded.under {
        under.keep(session.directory())?;
    }
    Ok(Begun {
        session,
        pod: None,
        last: None,
        history: History::default(),
        parked: None,
        n_turns: 0,
    })
}

/// Opens a session of earlier and makes its history whole.
pub(super) fn resume(
    places: &Places,
    prefix: &str,
    request: &PodRequest,
) -> Result<Begun, PodError> {
    let id = find_session(places, prefix).map_err(PodError::Session)?;
    let is_child = Inheritance::kept(places, &id)
        .map_err(PodError::Child)?
        .is_some();
    if is_child && request.loaded.under.is_none() {
        return Err(PodError::OfChild(id));
    }
    reopen(places, id, request)
}

/// Opens the session of a child that goes on with the pod above, and keeps beside it what the child is given
/// now; `None`: it was never made.
pub(super) fn go_on_below(
    places: &Places,
    id: &SessionId,
    request: &PodRequest,
) -> Result<Option<Begun>, PodError> {
    if !Session::directory_of(places, id).is_dir() {
        return Ok(None);
    }
    let begun = reopen(places, id.clone(), request)?;
    if let Some(under) = &request.loaded.under {
        under.keep(begun.session.directory())?;
    }
    Ok(Some(begun))
}

fn reopen(places: &Places, id: SessionId, request: &PodRequest) -> Result<Begun, PodError> {
    let Reopened {
        mut session,
        created,
        last,
        entries,
    } = Session::reopen(places, id, Arc::clone(&request.clock))?;
    let replayed = History::replay(&entries).map_err(|source| PodError::Replay {
        session: session.id().to_string(),
        source,
    })?;
    session.append_entries(&replayed.repairs)?;
    let is_prompt = |entry: &&Entry| matches!(entry, Entry::Prompt { .. });
    Ok(Begun {
        session,
        pod: created.map(|created| created.pod),
        last,
        history: replayed.history,
        parked: replayed.parked,
        n_turns: entries.iter().filter(is_prompt).count() as u64,
    })
}

/// Gives every call of a session that has no result one: nobody goes on with it. Returns how many.
pub(crate) fn interrupt(
    places: &Places,
    id: SessionId,
    clock: Arc<dyn crate::clock::Clock>,
) -> Result<usize, PodError> {
    let mut reopened = Session::reopen(places, id, clock)?;
    let replayed = History::replay(&reopened.entries).map_err(|source| PodError::Replay {
        session: reopened.session.id().to_string(),
        source,
    })?;
    let repairs = replayed.interrupted().repairs;
    reopened.session.append_entries(&repairs)?;
    Ok(repairs.len())
}
