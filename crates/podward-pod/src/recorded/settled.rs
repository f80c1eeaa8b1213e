//! What became of a question whose run, or whose place in memory, is gone.

use std::path::Path;

use podward_protocol::{CallId, DecidedBy, Outcome, RefusalCause};

use super::{Line, read_lines, records};
use crate::decision_log::{DECISIONS_FILE, LogContext};
use crate::error::StateError;
use crate::session::{SESSION_FILE, last_ruled};

/// What settled the question about a call of a session, and who did; `None`: nothing has, or nothing was to be
/// asked about it.
///
/// # Errors
/// The log cannot be read.
pub(crate) fn settled_in(
    directory: &Path,
    call: &CallId,
) -> Result<Option<(Outcome, DecidedBy)>, StateError> {
    let lines = read_lines(&directory.join(DECISIONS_FILE))?.unwrap_or_default();
    let mut records = records(&lines, call.as_str());
    records.retain(|record| record.call == *call);
    let is_asked = |record: &Line| {
        let is_futile = matches!(record.refusal, Some(RefusalCause::Futile { .. }));
        record.outcome == "ask" || is_futile
    };
    let was_asked = records.iter().any(is_asked);
    let Some(last) = records.pop().filter(|_| was_asked) else {
        return Ok(None);
    };
    let outcome = match (&*last.outcome, last.refusal) {
        ("run", _) => approved(&last.by, &directory.join(SESSION_FILE), call),
        ("refuse", Some(cause)) => refused(cause),
        _ => return Ok(None), // it is still asked, or was written by another podward
    };
    Ok(Some((outcome, last.by)))
}

/// Who let a call of a session run that was the last to be asked, if a person said yes to this call alone, in the
/// same directory and under the same rules as `now`; a log that cannot be read has no such answer.
pub(crate) fn approved_in(directory: &Path, call: &CallId, now: &LogContext) -> Option<DecidedBy> {
    let lines = read_lines(&directory.join(DECISIONS_FILE)).ok()??;
    let mut records = records(&lines, call.as_str());
    records.retain(|record| record.call == *call);
    let last = records.pop()?;
    let is_same = last.policy_digest == now.policy_digest
        && (&last.workspace, &last.cwd) == (&now.workspace, &now.cwd);
    let word = last_ruled(&directory.join(SESSION_FILE), call)?;
    let is_once = matches!(&*word, "once" | "edited");
    (last.outcome == "run" && is_same && is_once).then_some(last.by)
}

fn approved(by: &DecidedBy, session: &Path, call: &CallId) -> Outcome {
    match by {
        DecidedBy::Grants { grants, .. } => Outcome::ApprovedAlways {
            grants: grants.clone(),
        },
        DecidedBy::Auto => Outcome::Auto,
        DecidedBy::Client { edited: true, .. } => Outcome::ApprovedEdited,
        // The session has the word, and not what was saved.
        DecidedBy::Client { edited: false, .. }
            if last_ruled(session, call).as_deref() == Some("always") =>
        {
            Outcome::ApprovedAlways { grants: Vec::new() }
        }
        DecidedBy::Client { edited: false, .. }
        | DecidedBy::Policy
        | DecidedBy::Pod
        | DecidedBy::Hook { .. } => Outcome::ApprovedOnce,
    }
}

fn refused(cause: RefusalCause) -> Outcome {
    match cause {
        RefusalCause::Policy => Outcome::Policy,
        RefusalCause::NoClient => Outcome::NoClient,
        RefusalCause::NotAuto => Outcome::NotAuto,
        RefusalCause::TooLarge => Outcome::TooLarge,
        RefusalCause::Futile { error } => Outcome::Futile { error },
        RefusalCause::Rejected {
            feedback: Some(feedback),
            ..
        } => Outcome::RejectedWithFeedback { feedback },
        RefusalCause::Rejected { feedback: None, .. } => Outcome::Rejected,
        RefusalCause::Expired => Outcome::Expired,
        RefusalCause::ClientGone => Outcome::ClientGone,
        RefusalCause::Hook { name, text } => Outcome::Hook { name, text },
        RefusalCause::HookFailed { name, why } => Outcome::HookFailed { name, why },
        RefusalCause::Cancelled => Outcome::Cancelled,
        RefusalCause::PodStopped => Outcome::PodStopped,
        RefusalCause::Interrupted
        | RefusalCause::NotJudged
        | RefusalCause::BadCall
        | RefusalCause::UnknownTool => Outcome::Interrupted,
    }
}
