//! The decision log: one line for every decision, on the disk before the decision has an effect.
//!
//! Each line holds the digest of the one before, and the first one that of the session's name, so
//! a line that was changed, moved, added or taken out shows. What shows nothing by itself is that
//! the last lines are gone: the session names the digest of every decision it knows of.

use std::collections::BTreeSet;
use std::path::Path;

use podward_protocol::{CallId, RefusalCause, SessionId, Time};
use podward_worker::Decision;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::digest;
use crate::error::StateError;
use crate::line_file::LineFile;
use crate::redact::{Redaction, Secrets};
use crate::wire;

/// The version of a line's format.
pub const DECISION_FORMAT: u32 = 1;

/// The name of the file in a session's directory.
pub(crate) const DECISIONS_FILE: &str = "decisions.jsonl";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Record<'a> {
    format: u32,
    number: u64,
    time: Time,
    pod: &'a str,
    session: &'a SessionId,
    call: CallId,
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<CallId>,
    workspace: Value,
    cwd: Value,
    tool: String,
    arguments: Value,
    replayable: bool,
    operations: Value,
    outcome: &'static str,
    verdict: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Value>,
    by: Value,
    policy_digest: &'a str,
    previous: &'a str,
}

/// What every line of a run has in common.
#[derive(Debug, Clone)]
pub(crate) struct LogContext {
    pub(crate) pod: String,
    pub(crate) session: SessionId,
    pub(crate) workspace: String,
    pub(crate) cwd: String,
    pub(crate) policy_digest: String,
    pub(crate) secrets: Secrets,
}

/// The log of one session.
#[derive(Debug)]
pub(crate) struct DecisionLog {
    file: LineFile,
    n_records: u64,
    head: String,
}

impl DecisionLog {
    /// Opens the log of a session, or makes it, and goes over its chain.
    ///
    /// `known` are the digests that the session names.
    pub(crate) fn open(
        directory: &Path,
        session: &SessionId,
        known: &[String],
    ) -> Result<Self, StateError> {
        let path = directory.join(DECISIONS_FILE);
        let opened = LineFile::open(&path)?;
        let chain = verify(&opened.lines, session)
            .and_then(|chain| chain.check_holds(known).map(|()| chain))
            .map_err(|error| StateError::corrupt(&path, error.line, error.why))?;
        Ok(Self {
            file: opened.file,
            n_records: opened.lines.len() as u64,
            head: chain.head,
        })
    }

    /// Whether nothing was decided yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.n_records == 0
    }

    /// Writes decisions down and returns their digests when they are on the disk.
    pub(crate) fn append<'a>(
        &mut self,
        decisions: impl IntoIterator<Item = &'a Decision>,
        context: &LogContext,
        now: Time,
    ) -> Result<Vec<String>, StateError> {
        let mut number = self.n_records;
        let mut head = self.head.clone();
        let mut lines = Vec::new();
        let mut digests = Vec::new();
        for decision in decisions {
            let line = line(decision, context, now, number, &head)
                .map_err(|error| StateError::io("write", self.file.path(), error))?;
            head = digest(line.as_bytes());
            number += 1;
            digests.push(head.clone());
            lines.push(line);
        }
        self.file.append(lines.iter().map(String::as_str))?;
        self.n_records = number;
        self.head = head;
        Ok(digests)
    }
}

fn line(
    decision: &Decision,
    context: &LogContext,
    now: Time,
    number: u64,
    previous: &str,
) -> Result<String, serde_json::Error> {
    let secrets = &context.secrets;
    let decided = wire::decided(decision);
    let text = decision.arguments();
    // A bad call's arguments may be no JSON: then they are a string.
    let arguments = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let (arguments, redaction) = secrets.redact_json(arguments);
    let redacted = |value: Value| secrets.redact_json(value).0;
    let refusal = decided.refusal.as_ref().map(RefusalCause::as_str);
    serde_json::to_string(&Record {
        format: DECISION_FORMAT,
        number,
        time: now,
        pod: &context.pod,
        session: &context.session,
        call: CallId::new(decision.id().as_str()),
        part_of: decision.part_of().map(|id| CallId::new(id.as_str())),
        workspace: redacted(Value::String(context.workspace.clone())),
        cwd: redacted(Value::String(context.cwd.clone())),
        tool: secrets.redact(decision.tool()).0,
        arguments,
        replayable: redaction == Redaction::Nothing
            && decision.facts().is_some()
            && decision.part_of().is_none(),
        operations: redacted(serde_json::to_value(&decided.operations)?),
        outcome: match decision {
            Decision::Run { .. } => "run",
            Decision::Ask(_) => "ask",
            Decision::Refuse(_) => "refuse",
        },
        verdict: redacted(serde_json::to_value(&decided.ruling)?),
        refusal: refusal
            .is_some()
            .then(|| serde_json::to_value(&decided.refusal).map(&redacted))
            .transpose()?,
        by: redacted(serde_json::to_value(&decided.by)?),
        policy_digest: &context.policy_digest,
        previous,
    })
}

/// A log whose chain is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    digests: Vec<String>,
    head: String,
}

/// A line that was changed, moved, added or taken out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ChainError {
    line: usize,
    why: String,
}

impl ChainError {
    fn new(idx: usize, why: impl Into<String>) -> Self {
        Self {
            line: idx + 1,
            why: why.into(),
        }
    }

    /// The line, from 1: it, or the one before it, is not what was written.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }
}

/// What the reader of a chain looks at; other fields are passed over.
#[derive(Deserialize)]
struct Link {
    format: u32,
    number: u64,
    session: SessionId,
    previous: String,
}

/// Goes over the lines of a session's log, without their newlines.
///
/// # Errors
/// The first line that does not follow from the one before it.
pub fn verify(lines: &[Vec<u8>], session: &SessionId) -> Result<Chain, ChainError> {
    let mut head = genesis(session);
    let mut digests = Vec::new();
    for (idx, line) in lines.iter().enumerate() {
        let link: Link = serde_json::from_slice(line)
            .map_err(|error| ChainError::new(idx, format!("no decision: {error}")))?;
        if link.format != DECISION_FORMAT {
            let why = format!(
                "a decision of format {}, not {DECISION_FORMAT}",
                link.format
            );
            return Err(ChainError::new(idx, why));
        }
        if link.session != *session {
            let why = format!("a decision of the session {}", link.session);
            return Err(ChainError::new(idx, why));
        }
        if link.previous != head || link.number != idx as u64 {
            let why = "it does not follow the line before it: one of them was changed, or lines \
                       between them are gone";
            return Err(ChainError::new(idx, why));
        }
        head = digest(line);
        digests.push(head.clone());
    }
    Ok(Chain { digests, head })
}

impl Chain {
    /// How many lines there are.
    #[must_use]
    pub fn n_records(&self) -> usize {
        self.digests.len()
    }

    /// Checks that all these decisions are in the log.
    ///
    /// # Errors
    /// One is not: the last lines were changed or taken out.
    pub fn check_holds(&self, known: &[String]) -> Result<(), ChainError> {
        let ours: BTreeSet<&String> = self.digests.iter().collect();
        if known.iter().all(|digest| ours.contains(digest)) {
            return Ok(());
        }
        let why = "the session knows a decision that is not in the log: the last lines were \
                   changed or are gone";
        Err(ChainError::new(self.digests.len(), why))
    }
}

/// What the first line follows.
fn genesis(session: &SessionId) -> String {
    digest(format!("podward decisions {DECISION_FORMAT} {session}").as_bytes())
}

#[cfg(test)]
mod tests;
