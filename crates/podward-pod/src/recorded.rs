//! A call of an earlier or a running session, as the decision log has it.

mod settled;

use std::io;
use std::path::Path;

use podward_protocol as wire;
use podward_protocol::{CallId, SessionId, Time};
use serde::Deserialize;
use serde_json::Value;

use crate::decision_log::{ChainError, DECISIONS_FILE, verify};
use crate::error::{StateError, shown_id};
use crate::places::Places;
use crate::private::read_regular;
use crate::session::{
    LayerDigest, SESSION_FILE, SessionNotFound, find_session, last_run, sessions,
};
use crate::wire::told_only;

pub(crate) use settled::{approved_in, settled_in};

/// Ids that a message names at most.
const MOST_NAMED: usize = 5;

/// What the log has of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The pod's name.
    pub pod: String,
    /// The running call that it is a part of.
    pub part_of: Option<CallId>,
    /// The tool.
    pub tool: String,
    /// The arguments, without secrets.
    pub arguments: Value,
    /// Whether the arguments are whole, and the call one of the model's: it can be judged again.
    replayable: bool,
    /// The workspace.
    pub workspace: String,
    /// The directory.
    pub cwd: String,
    /// What the call would do.
    pub operations: Vec<wire::Operation>,
    /// The judgement.
    pub ruling: wire::Ruling,
    /// All that was decided about it, in order.
    pub decisions: Vec<wire::PastDecision>,
    /// The digest of the rules that judged it.
    pub policy_digest: String,
    /// The files of the layers of the session's last run; empty if they are not known.
    pub layers: Vec<LayerDigest>,
    /// How many other sessions have a call of this id too.
    pub n_other_sessions: usize,
    /// What is wrong with the chain of the log: what stands here may be made up.
    pub broken: Option<String>,
}

/// No call is meant, or more than one.
#[derive(Debug, thiserror::Error)]
pub enum CallNotFound {
    /// None.
    #[error("no call has an id that begins with `{call}`")]
    None {
        /// What was asked for.
        call: String,
    },
    /// Several of one session.
    #[error("{n} calls of the session {session} have an id that begins with `{call}`: {}", ids.join(", "))]
    Several {
        /// What was asked for.
        call: String,
        /// The session.
        session: SessionId,
        /// How many.
        n: usize,
        /// The first of them.
        ids: Vec<String>,
    },
    /// There is no such session.
    #[error(transparent)]
    Session(#[from] SessionNotFound),
    /// A log cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Finds a call by its id or a beginning of it: in one session, or in the newest that has it.
///
/// # Errors
/// There is none, or more than one, or a log cannot be read.
pub fn recorded_call(
    places: &Places,
    session: Option<&str>,
    call: &str,
) -> Result<RecordedCall, CallNotFound> {
    let sessions = match session {
        Some(prefix) => vec![find_session(places, prefix)?],
        None => {
            let mut all = sessions(places)?;
            all.sort();
            all.reverse();
            all
        }
    };
    let mut found: Option<RecordedCall> = None;
    for session in sessions {
        let directory = places.sessions_dir().join(session.as_str());
        let Some(lines) = read_lines(&directory.join(DECISIONS_FILE))? else {
            continue;
        };
        let records = records(&lines, call);
        if records.is_empty() {
            continue;
        }
        match &mut found {
            Some(found) => found.n_other_sessions += 1,
            None => found = Some(one_call(&directory, session, call, &lines, records)?),
        }
    }
    found.ok_or_else(|| CallNotFound::None {
        call: shown_id(call),
    })
}

/// The call of just this id in one session.
///
/// # Errors
/// There is none, or the log cannot be read.
pub(crate) fn recorded_in(
    directory: &Path,
    session: SessionId,
    call: &CallId,
) -> Result<RecordedCall, CallNotFound> {
    let lines = read_lines(&directory.join(DECISIONS_FILE))?.unwrap_or_default();
    let mut records = records(&lines, call.as_str());
    records.retain(|record| record.call == *call);
    one_call(directory, session, call.as_str(), &lines, records)
}

impl RecordedCall {
    /// What was decided, for clients; what the rules of now say is left to those who have them.
    #[must_use]
    pub fn explained(self) -> wire::ExplainedCall {
        let why = "its arguments are not all in the log, or it was no call of the model";
        wire::ExplainedCall {
            session: self.session,
            call: self.call,
            pod: self.pod,
            part_of: self.part_of,
            tool: self.tool,
            arguments: self.arguments,
            workspace: self.workspace,
            cwd: self.cwd,
            decisions: self.decisions,
            then: told_only(self.ruling, self.operations),
            policy_digest: self.policy_digest,
            policy_digest_now: None,
            now: None,
            why_not_now: (!self.replayable).then(|| why.to_owned()),
        }
    }
}

/// What is read of a line of the log; other fields are passed over.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    time: Time,
    pod: String,
    call: CallId,
    #[serde(default)]
    part_of: Option<CallId>,
    workspace: String,
    cwd: String,
    tool: String,
    arguments: Value,
    replayable: bool,
    operations: Vec<wire::Operation>,
    outcome: String,
    verdict: wire::Ruling,
    #[serde(default)]
    refusal: Option<wire::RefusalCause>,
    by: wire::DecidedBy,
    policy_digest: String,
}

/// The lines about calls whose id begins so; an id that is the very text stands for itself alone.
fn records(lines: &[Vec<u8>], call: &str) -> Vec<Line> {
    let all = lines
        .iter()
        .filter_map(|line| serde_json::from_slice(line).ok());
    let mut of_it: Vec<Line> = all
        .filter(|line: &Line| line.call.as_str().starts_with(call))
        .collect();
    if of_it.iter().any(|line| line.call.as_str() == call) {
        of_it.retain(|line| line.call.as_str() == call);
    }
    of_it
}

fn one_call(
    directory: &Path,
    session: SessionId,
    call: &str,
    lines: &[Vec<u8>],
    records: Vec<Line>,
) -> Result<RecordedCall, CallNotFound> {
    let mut ids: Vec<String> = records
        .iter()
        .map(|record| record.call.as_str().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        let n = ids.len();
        ids.truncate(MOST_NAMED);
        return Err(CallNotFound::Several {
            call: shown_id(call),
            session,
            n,
            ids: ids.iter().map(|id| shown_id(id)).collect(),
        });
    }
    let decisions = records.iter().map(|record| wire::PastDecision {
        time: record.time,
        outcome: record.outcome.clone(),
        by: record.by.clone(),
        refusal: record.refusal.clone(),
    });
    let decisions = decisions.collect();
    let broken = verify(lines, &session).err();
    let mut records = records.into_iter();
    let Some(first) = records.next() else {
        return Err(CallNotFound::None {
            call: shown_id(call),
        });
    };
    Ok(RecordedCall {
        layers: last_run(&directory.join(SESSION_FILE)).map_or_else(Vec::new, |run| run.layers),
        session,
        call: first.call,
        pod: first.pod,
        part_of: first.part_of,
        tool: first.tool,
        arguments: first.arguments,
        replayable: first.replayable,
        workspace: first.workspace,
        cwd: first.cwd,
        operations: first.operations,
        ruling: first.verdict,
        decisions,
        policy_digest: first.policy_digest,
        n_other_sessions: 0,
        broken: broken.as_ref().map(ChainError::to_string),
    })
}

/// The whole lines of a file that another process may be writing; `None`: there is none.
fn read_lines(path: &Path) -> Result<Option<Vec<Vec<u8>>>, StateError> {
    let bytes = match read_regular(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StateError::io("read", path, source)),
    };
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    // What stands behind the last newline is being written.
    lines.pop();
    Ok(Some(lines))
}

#[cfg(test)]
mod tests;
