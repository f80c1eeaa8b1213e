//! What was changed and brought back, in words.

use std::fmt::Write as _;

use podward_protocol::Time;
use podward_undo::{Change, Conflict, Listed, Node, Reason, State};
use podward_view::{Lines, one_line, visible};

/// Paths that are shown of one deed.
const SHOWN: usize = 100;

/// Characters of a command that are shown.
const COMMAND: usize = 80;

/// Every deed of a session, oldest first.
pub(super) fn list(all: &[Listed]) -> String {
    let mut text = String::new();
    for one in all {
        let time = Time::from_unix_milliseconds(one.time).unwrap_or(Time::UNIX_EPOCH);
        let state = match &one.state {
            State::Done => String::new(),
            State::CutOff => "  [cut off]".to_owned(),
            State::Undone(by) => format!("  [undone by {by}]"),
            State::Running => "  [running]".to_owned(),
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}  {time}{state}", one.id);
        for deed in &one.calls {
            let id = if deed.call == one.id {
                String::new()
            } else {
                format!("{}: ", deed.call)
            };
            let summary = one_line(&deed.summary, COMMAND);
            let _ = writeln!(text, "  {id}{} {summary}", deed.tool);
        }
        if let Some(undid) = &one.undid {
            let _ = writeln!(text, "  undid {undid}");
        }
        text.push_str(&changes(&one.changes));
    }
    text
}

/// The calls that are undone, or not, with the one that was named.
pub(super) fn others(calls: &[String]) -> String {
    let named: Vec<String> = calls.iter().map(|call| format!("`{call}`")).collect();
    match named.as_slice() {
        [] => String::new(),
        [one] => format!(" together with {one}, which ran at the same time"),
        [first @ .., last] => {
            let first = first.join(", ");
            format!(" together with {first} and {last}, which ran at the same time")
        }
    }
}

/// What an undo does.
pub(super) fn steps(steps: &[Change]) -> String {
    changes(steps)
}

fn changes(changes: &[Change]) -> String {
    let mut text = String::new();
    let told = changes
        .iter()
        .filter(|change| change.before != change.after);
    for change in told.clone().take(SHOWN) {
        let _ = writeln!(text, "  {}", line(change));
    }
    let n_more = told.count().saturating_sub(SHOWN);
    if n_more > 0 {
        let _ = writeln!(text, "  and {n_more} more");
    }
    text
}

fn line(change: &Change) -> String {
    let path = visible(&change.path.to_string(), Lines::Escape);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            let (was, is) = (what(before), what(after));
            if was == is {
                format!("changed  {path} ({is}, rights or content)")
            } else {
                format!("changed  {path} ({was} -> {is})")
            }
        }
        (None, Some(after)) => format!("made     {path} ({})", what(after)),
        (Some(before), None) => format!("removed  {path} ({})", what(before)),
        (None, None) => path,
    }
}

fn what(node: &Node) -> String {
    match node {
        Node::File { len, .. } => size(*len),
        Node::Directory { .. } => "directory".to_owned(),
        Node::Link { .. } => "link".to_owned(),
        Node::Unkept { why, .. } => {
            let size = node.size().map_or_else(String::new, |len| size(len) + ", ");
            format!("{size}not kept: {}", why.reason())
        }
    }
}

fn size(bytes: u64) -> String {
    format!("{bytes} B")
}

/// Something that stands against an undo.
pub(super) fn conflict(conflict: &Conflict) -> String {
    let path = visible(&conflict.path.to_string(), Lines::Escape);
    let reason = match &conflict.reason {
        Reason::Changed => "is not as the call left it".to_owned(),
        Reason::Holds(child) => {
            let child = visible(&child.to_string(), Lines::Escape);
            format!("holds `{child}`, which the call did not make")
        }
        Reason::InTheWay => "is in the way of a directory".to_owned(),
    };
    let later = match conflict.later.as_slice() {
        [] => String::new(),
        later => format!("; changed later by {}", later.join(", ")),
    };
    format!("`{path}` {reason}{later}")
}

#[cfg(test)]
mod tests;
