//! The grants of all workspaces: to look at and take back, without a pod.

use std::path::PathBuf;

use podward_protocol::{Grant, GrantFor, GrantId, SessionId};

use super::file::{Change, GrantFile, GrantProblem};
use super::record::Record;
use crate::clock::Clock;
use crate::error::{StateError, shown_id, with_causes};
use crate::places::Places;

/// The grants of one workspace.
#[derive(Debug, Clone)]
pub struct StoredGrants {
    /// The file.
    pub file: PathBuf,
    /// The grants that are not over, oldest first.
    pub grants: Vec<StoredGrant>,
    /// What of the file does not count.
    pub problems: Vec<GrantProblem>,
}

/// A grant with what only its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The workspace.
    pub workspace: String,
    /// The session that it was given in.
    pub given_in: SessionId,
    /// The grant.
    pub grant: Grant,
}

impl StoredGrant {
    /// The only session in which it counts, if it is for one.
    #[must_use]
    pub fn only_in(&self) -> Option<&SessionId> {
        match self.grant.lasts {
            GrantFor::Session => Some(&self.given_in),
            GrantFor::Project | GrantFor::Until { .. } | GrantFor::Uses { .. } => None,
        }
    }

    fn of(record: &Record) -> Self {
        Self {
            workspace: record.project.clone(),
            given_in: record.session.clone(),
            grant: record.grant.clone(),
        }
    }
}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revoked {
    /// The grants.
    pub grants: Vec<GrantId>,
    /// Lines that did not count and are gone too.
    pub n_others: usize,
}

/// No grant, or more than one, has an id that begins so.
#[derive(Debug, thiserror::Error)]
pub enum GrantNotFound {
    /// None.
    #[error("no grant has an id that begins with `{prefix}`")]
    None {
        /// What was asked for.
        prefix: String,
    },
    /// Several.
    #[error("{} grants have an id that begins with `{prefix}`", .candidates.len())]
    Several {
        /// What was asked for.
        prefix: String,
        /// Their ids.
        candidates: Vec<GrantId>,
    },
    /// Their files cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
}

impl GrantNotFound {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::None { .. } => Some("`podward grants list` shows those that there are".into()),
            Self::Several { candidates, .. } => {
                let ids: Vec<&str> = candidates.iter().map(GrantId::as_str).collect();
                Some(format!("write more of one of {}", ids.join(", ")))
            }
            Self::State(error) => error.help(),
        }
    }
}

/// The grants of every workspace that has a file, by the files' names.
///
/// A file that cannot be used is a problem of its own.
///
/// # Errors
/// The directory cannot be listed, or is open to others.
pub fn stored_grants(places: &Places, clock: &dyn Clock) -> Result<Vec<StoredGrants>, StateError> {
    all_stored(places, clock, |record| !record.is_used_up())
}

fn all_stored(
    places: &Places,
    clock: &dyn Clock,
    is_wanted: impl Fn(&Record) -> bool,
) -> Result<Vec<StoredGrants>, StateError> {
    let now = clock.now().unix_milliseconds();
    let is_wanted = |record: &Record| !record.is_over(now) && is_wanted(record);
    let files = GrantFile::all(&super::directory(places))?;
    Ok(files.iter().map(|file| stored(file, is_wanted)).collect())
}

fn stored(file: &GrantFile, is_wanted: impl Fn(&Record) -> bool) -> StoredGrants {
    let path = file.path().to_owned();
    match file.read() {
        Ok((content, _)) => StoredGrants {
            file: path,
            grants: content
                .grants()
                .filter(|record| is_wanted(record))
                .map(StoredGrant::of)
                .collect(),
            problems: file.problems(&content),
        },
        Err(error) => StoredGrants {
            problems: vec![GrantProblem {
                file: path.clone(),
                line: None,
                why: with_causes(&error),
            }],
            file: path,
            grants: Vec::new(),
        },
    }
}

/// The grant whose id is or begins with a text; small letters stand for capitals.
///
/// # Errors
/// There is none, or more than one.
pub fn find_grant(
    places: &Places,
    clock: &dyn Clock,
    prefix: &str,
) -> Result<StoredGrant, GrantNotFound> {
    let wanted = prefix.to_ascii_uppercase();
    let shown = || shown_id(prefix);
    // One that is used up is found too: what is taken back is not given back any more.
    let stored = all_stored(places, clock, |_| true)?;
    let all = stored.into_iter().flat_map(|stored| stored.grants);
    let is_wanted = |id: &str| !wanted.is_empty() && id.to_ascii_uppercase().starts_with(&wanted);
    let mut found: Vec<_> = all
        .filter(|stored| is_wanted(stored.grant.id.as_str()))
        .collect();
    match (found.pop(), found.as_slice()) {
        (None, _) => Err(GrantNotFound::None { prefix: shown() }),
        (Some(only), []) => Ok(only),
        (Some(last), [..]) => {
            found.push(last);
            let ids = found.into_iter().map(|stored| stored.grant.id);
            Err(GrantNotFound::Several {
                prefix: shown(),
                candidates: ids.collect(),
            })
        }
    }
}

/// Takes back the grant whose id is or begins with a text; that is on disk when this returns.
///
/// # Errors
/// There is no such grant, or it cannot be written.
pub fn revoke_grant(
    places: &Places,
    clock: &dyn Clock,
    prefix: &str,
) -> Result<StoredGrant, GrantNotFound> {
    let found = find_grant(places, clock, prefix)?;
    let file = GrantFile::of(&super::directory(places), &found.workspace);
    file.change(|content| {
        let is_meant = |record: &Record| record.grant.id == found.grant.id;
        Ok::<_, StateError>(match content.retain(|record| !is_meant(record)) {
            // Somebody else was faster.
            0 => Change::Keep(()),
            _ => Change::Write(()),
        })
    })?;
    Ok(found)
}

/// Takes back every grant of every workspace, or of one; also removes what does not count.
///
/// # Errors
/// A file cannot be used; those before it are done.
pub fn revoke_all(places: &Places, workspace: Option<&str>) -> Result<Revoked, StateError> {
    let directory = super::directory(places);
    let files = match workspace {
        Some(workspace) => vec![GrantFile::of(&directory, workspace)],
        None => GrantFile::all(&directory)?,
    };
    let mut revoked = Revoked::default();
    for file in files {
        let changed = file.change(|content| {
            let ids: Vec<_> = content
                .grants()
                .map(|record| record.grant.id.clone())
                .collect();
            Ok::<_, StateError>(match content.clear() {
                0 => Change::Keep((ids, 0)),
                n_lines => Change::Write((ids, n_lines)),
            })
        })?;
        let (mut ids, n_lines) = changed.value;
        revoked.n_others += n_lines.saturating_sub(ids.len());
        revoked.grants.append(&mut ids);
    }
    Ok(revoked)
}
