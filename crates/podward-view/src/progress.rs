//! How far calls and turns have come, in a few words.

use podward_protocol::{RefusalCause, ToolOutcome, TurnEndReason, TurnEnded, Verdict};

use crate::rows::Look;
use crate::visible::{Lines, visible};
use crate::wording::{counted, refusal_text};

/// A verdict in a word.
#[must_use]
pub const fn verdict_word(verdict: Verdict) -> (Look, &'static str) {
    match verdict {
        Verdict::Allow => (Look::Good, "allow"),
        Verdict::Ask => (Look::Warning, "ask"),
        Verdict::Deny => (Look::Bad, "deny"),
    }
}

/// What became of a call.
#[must_use]
pub fn result_text(outcome: &ToolOutcome) -> (Look, String) {
    match outcome {
        ToolOutcome::Done => (Look::Good, "done".to_owned()),
        ToolOutcome::Failed => (Look::Warning, "failed".to_owned()),
        ToolOutcome::Stopped { cause } => (Look::Bad, format!("stopped ({})", refusal_text(cause))),
        // The error that it would have ended with stands below it.
        ToolOutcome::Refused {
            cause: RefusalCause::Futile { .. },
        } => (
            Look::Warning,
            "failed (nobody was asked, for it could only fail)".to_owned(),
        ),
        ToolOutcome::Refused { cause } => (Look::Bad, format!("refused ({})", refusal_text(cause))),
    }
}

/// How a turn ended.
#[must_use]
pub fn turn_end_text(reason: &TurnEndReason) -> (Look, String) {
    let (look, why) = match reason {
        TurnEndReason::Done => (Look::Good, "done".to_owned()),
        TurnEndReason::Limit { limit } => {
            (Look::Bad, format!("stopped by the limit `{}`", limit.0))
        }
        TurnEndReason::Aborted { reason } => (Look::Bad, format!("aborted: {reason}")),
        TurnEndReason::Cancelled => (Look::Warning, "cancelled".to_owned()),
        TurnEndReason::Failed => (Look::Bad, "failed".to_owned()),
    };
    (look, visible(&why, Lines::Escape))
}

/// How many calls a turn had, and how many of them were refused; those of children for themselves.
#[must_use]
pub fn turn_calls_text(ended: &TurnEnded) -> String {
    let own = calls_text(ended.n_calls, ended.n_refused);
    match ended.children.n_calls {
        0 => own,
        n_calls => {
            let below = calls_text(n_calls, ended.children.n_refused);
            format!("{own} · children: {below}")
        }
    }
}

fn calls_text(n_calls: u64, n_refused: u64) -> String {
    format!("{}, {n_refused} refused", counted(n_calls, "call"))
}
