//! How far a child has come that was started before, and whose pod above goes on after it has died.

use std::sync::Arc;

use podward_gate::RefusalCause;
use podward_model::{Block, Role};
use podward_protocol::{CallCount, SessionId};
use podward_worker::{Entry, History, RuledOutcome};

use super::ChildError;
use super::told::Told;
use crate::clock::Clock;
use crate::places::Places;
use crate::session::Session;

/// How far a child has come.
pub(super) enum Past {
    /// Its prompt is not on record.
    NotBegun,
    /// Its turn is not over.
    InTurn,
    /// What came of it.
    Ended(Told),
}

/// Reads it off the child's session, whose process may still be ending: that is waited for.
pub(super) fn past(
    places: &Places,
    session: &SessionId,
    clock: Arc<dyn Clock>,
) -> Result<Past, ChildError> {
    let there = Session::directory_of(places, session);
    if !there.is_dir() {
        return Ok(Past::NotBegun);
    }
    let entries = Session::reopen(places, session.clone(), clock)?.entries;
    let is_prompt = |entry: &Entry| matches!(entry, Entry::Prompt { .. });
    let turn = entries.iter().rposition(is_prompt);
    let Some(turn) = turn.and_then(|at| entries.get(at..)) else {
        return Ok(Past::NotBegun);
    };
    let replayed = History::replay(&entries)?;
    let last = replayed.history.messages().last();
    let last = last.filter(|last| last.role == Role::Assistant);
    let reason = match (turn.last(), last) {
        (Some(Entry::TurnEnded { reason }), _) => reason.as_str(),
        // It was about to end.
        (_, Some(_)) if replayed.parked.is_none() => "done",
        _ => return Ok(Past::InTurn),
    };
    let texts = last.into_iter().flat_map(|last| &last.content);
    let text = texts.filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        // Not said to anybody.
        _ => None,
    });
    Ok(Past::Ended(Told {
        text: text.collect(),
        own: CallCount {
            n_calls: turn.iter().map(n_calls).sum(),
            n_refused: turn.iter().filter(|entry| is_refusal(entry)).count() as u64,
        },
        // They are in the result of the call that started them.
        children: CallCount::default(),
        failure: failure(reason),
    }))
}

/// Why a turn did not do what it was to do, by the word for its end ([`EndReason::as_str`](podward_worker::EndReason)).
fn failure(reason: &str) -> Option<String> {
    let why = match reason {
        "done" => return None,
        "limit" => "a limit of it was reached",
        "aborted" => "a hook ended its turn",
        "cancelled" => "its turn was cancelled",
        _ => "its turn failed",
    };
    Some(why.to_owned())
}

fn is_refusal(entry: &Entry) -> bool {
    matches!(entry, Entry::Ruled { outcome: RuledOutcome::Refuse, cause, .. }
        if RefusalCause::is_no_word(cause))
}

fn n_calls(entry: &Entry) -> u64 {
    let Entry::Assistant { content } = entry else {
        return 0;
    };
    let calls = content
        .iter()
        .filter(|block| matches!(block, Block::ToolUse { .. }));
    calls.count() as u64
}

#[cfg(test)]
mod tests;
