//! `podward pods`, and which pod a name means.

use std::path::{Path, PathBuf};
use std::time::Duration;

use podward_client::{Found, look};
use podward_pod::Inheritance;
use podward_protocol::{Event, SessionId, Status};
use podward_view::{Lines, visible};
use serde::Serialize;

use crate::arguments::{Format, Pods};
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};
use crate::shell_word::shell_word;

/// How long a pod may take to say what it does.
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of this client.
const NAME: &str = "podward pods";

/// A pod as it is printed for programs.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    entry: podward_protocol::PodEntry,
    socket: PathBuf,
    /// `idle`, `busy`, `waiting`, `retry`; absent if it did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// How many questions are open; absent if it did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_pending: Option<usize>,
}

pub(super) fn run(arguments: &Pods, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let look = look(places.run_dir())?;
    for unreadable in &look.unreadable {
        screen.say(Look::Warning, "warning", unreadable);
    }
    for Found { entry, .. } in &look.left_over {
        let (pod, session) = (&entry.pod, &entry.session);
        let manifest = entry.manifest.as_deref().map(shell_word);
        let manifest = manifest.as_deref().unwrap_or("MANIFEST");
        let by_hand = format!("`podward serve {manifest} --resume {session}`");
        let what = match Inheritance::of_session(&places, session.as_str()) {
            Ok(Some(_)) => format!(
                "the child `{pod}` was killed, or stopped while it asked: it goes on with the session of the \
                 pod above, and by hand with {by_hand}"
            ),
            Ok(None) | Err(_) => format!(
                "`{pod}` was killed, or stopped while it asked; {by_hand} goes on with its session"
            ),
        };
        screen.say(Look::Warning, "warning", what);
    }
    let lines = super::runtime()?.block_on(lines(look.running));
    let text = match arguments.format {
        Format::Json => {
            let lines: Result<Vec<String>, Failure> = lines.iter().map(super::json_line).collect();
            lines?.concat()
        }
        Format::Text if lines.is_empty() => {
            screen.say(Look::Strong, "pods", "none is running");
            String::new()
        }
        Format::Text => table(&lines),
    };
    super::finish(screen, &text, Exit::Done)
}

/// Asks all of them at the same time: one that is silent holds up no other.
async fn lines(found: Vec<Found>) -> Vec<Line> {
    let asked: Vec<_> = found
        .into_iter()
        .map(|found| {
            let socket = found.socket.clone();
            let said = tokio::spawn(async move {
                let said = tokio::time::timeout(PATIENCE, state(&socket)).await;
                said.ok().and_then(Result::ok).flatten()
            });
            (found, said)
        })
        .collect();
    let mut lines = Vec::new();
    for (found, said) in asked {
        let said = said.await.ok().flatten();
        lines.push(Line {
            entry: found.entry,
            socket: found.socket,
            state: said.map(|(state, _)| state),
            n_pending: said.map(|(_, n_pending)| n_pending),
        });
    }
    lines
}

/// What a pod does, and how many questions are open.
async fn state(socket: &Path) -> Result<Option<(&'static str, usize)>, Failure> {
    let wanted = ["status", "permission_request"];
    let (_client, mut events) = connect(socket, NAME, CanApprove::No, &wanted).await?;
    let (mut state, mut n_pending) = (None, 0);
    while let Some(envelope) = events.next().await {
        match envelope.event {
            Event::Status(status) => state = Some(state_text(&status)),
            Event::PermissionRequest(_) => n_pending += 1,
            Event::SnapshotEnd(_) => break,
            _ => {} // not asked for
        }
    }
    Ok(state.map(|state| (state, n_pending)))
}

const fn state_text(status: &Status) -> &'static str {
    match status {
        Status::Idle => "idle",
        Status::Busy => "busy",
        Status::Waiting => "waiting",
        Status::Retry { .. } => "retry",
    }
}

fn table(lines: &[Line]) -> String {
    let mut rows =
        vec![["POD", "SESSION", "STATE", "PENDING", "PID", "WORKSPACE"].map(str::to_owned)];
    for line in lines {
        rows.push([
            visible(&line.entry.pod, Lines::Escape),
            line.entry.session.to_string(),
            line.state.unwrap_or("silent").to_owned(),
            line.n_pending
                .map_or_else(|| "?".to_owned(), |n| n.to_string()),
            line.entry.pid.to_string(),
            visible(&line.entry.workspace, Lines::Escape),
        ]);
    }
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(&format!("{}\n", cells.join("  ").trim_end()));
    }
    text
}

/// All pods that listen.
pub(super) fn all() -> Result<Vec<Found>, Failure> {
    let places = layers::places()?;
    Ok(podward_client::pods(places.run_dir())?)
}

/// The socket of a pod: by its name, the beginning of its session's id, or the socket's path.
///
/// # Errors
/// There is no such pod, or more than one.
pub(super) fn find(name: &str) -> Result<PathBuf, Failure> {
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    Ok(found(name)?.socket)
}

/// The same pod, as it says itself.
///
/// # Errors
/// There is no such pod, or more than one.
pub(super) fn found(name: &str) -> Result<Found, Failure> {
    let mut found = all()?;
    let all_names = found.iter().map(called).collect();
    found.retain(|found| is_called(found, name) || found.socket == Path::new(name));
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Failure::NoPod {
            name: name.to_owned(),
            all: all_names,
        }),
        several => Err(Failure::SeveralPods {
            name: name.to_owned(),
            found: several.iter().map(called).collect(),
        }),
    }
}

/// What names a pod and no other of these, for a command: its name, or the id of its session.
pub(super) fn word_for<'a>(pod: &'a str, session: &'a SessionId, all: &[Found]) -> &'a str {
    let n_called = all.iter().filter(|found| is_called(found, pod)).count();
    if n_called == 1 { pod } else { session.as_str() }
}

fn is_called(found: &Found, name: &str) -> bool {
    let session = found.entry.session.as_str();
    let is_front = !name.is_empty() && session.starts_with(&name.to_ascii_uppercase());
    found.entry.pod == name || is_front
}

fn called(found: &Found) -> String {
    format!("{} ({})", found.entry.pod, found.entry.session)
}

#[cfg(test)]
mod tests;
