//! The lines of a session's file.

use std::borrow::Cow;
use std::path::Path;

use podward_protocol::{SessionId, Time};
use podward_worker::Entry;
use serde::{Deserialize, Serialize};

use crate::error::StateError;

/// The version of the format of a session's file.
pub const SESSION_FORMAT: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line<'a> {
    /// Its place, from 0: a line that is missing shows.
    pub(super) number: u64,
    pub(super) time: Time,
    #[serde(flatten)]
    pub(super) record: Record<'a>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub(super) enum Record<'a> {
    /// The first line.
    Created(Created),
    /// A run of podward begins.
    Opened(Opened),
    /// Something happened.
    Entry(Recorded<'a>),
}

/// Who began a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Created {
    pub(crate) format: u32,
    pub(crate) session: SessionId,
    pub(crate) pod: String,
    pub(crate) workspace: String,
}

/// What a run of a session is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The version of podward.
    pub podward: String,
    /// The pod's name.
    pub pod: String,
    /// The model's name.
    pub model: String,
    /// The directory that the manifest names as workspace.
    pub workspace: String,
    /// The directory of the run's temporary files, and of the copy of the workspace if there is
    /// one.
    pub temp: String,
    /// The digest of all rules.
    pub policy_digest: String,
    /// The files of all layers.
    pub layers: Vec<LayerDigest>,
    /// What keeps commands inside the declared directories, for people.
    pub confinement: String,
}

/// A file that the manifest was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerDigest {
    /// The layer: `machine`, `user`, `project`, `manifest`, `command-line` or `environment`.
    pub layer: String,
    /// The file, as it is shown to people.
    pub file: String,
    /// The digest of its text.
    pub digest: String,
}

/// Something that happened, and for a decision its digest in the decision log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Recorded<'a> {
    // A message of the model may be large.
    pub(super) entry: Cow<'a, Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<String>,
}

/// What the lines of a session say.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) created: Option<Created>,
    pub(super) last: Option<Opened>,
    pub(super) entries: Vec<Entry>,
    pub(super) decisions: Vec<String>,
}

/// Reads the lines of a session's file.
pub(super) fn read(
    path: &Path,
    lines: &[Vec<u8>],
    session: &SessionId,
) -> Result<Content, StateError> {
    let mut content = Content::default();
    for (idx, bytes) in lines.iter().enumerate() {
        let error = |why: String| StateError::corrupt(path, idx + 1, why);
        let line: Line<'_> = serde_json::from_slice(bytes)
            .map_err(|source| error(format!("no line of a session: {source}")))?;
        if line.number != idx as u64 {
            let number = line.number;
            return Err(error(format!(
                "it is numbered {number}, lines are missing or moved"
            )));
        }
        match (line.record, idx) {
            (Record::Created(created), 0) => {
                if created.format != SESSION_FORMAT {
                    let format = created.format;
                    return Err(error(format!(
                        "a session of format {format}, this podward reads {SESSION_FORMAT}"
                    )));
                }
                if created.session != *session {
                    return Err(error(format!("it is the session {}", created.session)));
                }
                content.created = Some(created);
            }
            (Record::Created(_), _) => return Err(error("a second beginning".into())),
            (_, 0) => return Err(error("no beginning of a session".into())),
            (Record::Opened(run), _) => content.last = Some(run),
            (Record::Entry(recorded), _) => {
                content.entries.push(recorded.entry.into_owned());
                content.decisions.extend(recorded.decision);
            }
        }
    }
    Ok(content)
}
