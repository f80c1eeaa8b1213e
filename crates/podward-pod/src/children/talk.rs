//! What a pod says to its child, and hears of it.

use std::path::Path;
use std::time::Duration;

use podward_client::{Client, Events};
use podward_model::Usage;
use podward_protocol::{
    Attend, ChildWork, Event, Hello, PROTOCOL_VERSION, Run, Stop, TurnEndReason, TurnEnded,
};
use podward_tools::ToolOutput;
use podward_worker::Spent;
use tokio::net::UnixStream;

use super::ChildError;
use super::above::Up;

/// The name under which a pod talks to its children.
const NAME: &str = "parent";

/// How long a child may take to say that it stops.
const STOP_TIME: Duration = Duration::from_secs(1);

/// What became of a child's turn.
pub(super) struct Told {
    text: String,
    end: TurnEnded,
    error: Option<String>,
}

/// Has a child work through a prompt, unless it is `over` before; writes down what it spent by then.
pub(super) async fn talk(
    stream: UnixStream,
    child: &str,
    prompt: String,
    mut up: Option<&mut Up>,
    spent: &mut Spent,
    over: impl Future<Output = ChildError>,
) -> Result<Told, ChildError> {
    tokio::pin!(over);
    let is_attended = up
        .as_mut()
        .is_some_and(|up| *up.is_attended.borrow_and_update());
    let hello = Hello {
        protocol: PROTOCOL_VERSION,
        client: NAME.to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        can_approve: is_attended,
        events: None,
    };
    let ended = |why| ChildError::Ended {
        said: String::new(),
        why,
    };
    let (client, mut events) = tokio::select! {
        began = Client::over(stream, Path::new(child), hello) => began.map_err(ended)?,
        error = &mut over => return Err(error),
    };
    let run = Run {
        prompt: Some(prompt),
        skill: None,
    };
    let working = async {
        if let Some(up) = &up {
            up.began(&client).await;
        }
        client.ask(run).await.map_err(ended)?;
        let told = follow(&mut events, &client, up, spent).await;
        told.ok_or(ChildError::Lost {
            said: String::new(),
        })
    };
    let told = tokio::select! {
        told = working => told,
        error = over => Err(error),
    };
    // It may be gone already, or hear nothing any more.
    let _ = tokio::time::timeout(STOP_TIME, client.ask(Stop {})).await;
    told
}

/// Follows a turn to its end; `None`: it has none.
async fn follow(
    events: &mut Events,
    client: &Client,
    mut up: Option<&mut Up>,
    spent: &mut Spent,
) -> Option<Told> {
    let mut text = String::new();
    let mut error = None;
    loop {
        let event = tokio::select! {
            event = events.next() => event?.event,
            can_approve = attendance(up.as_deref_mut()) => {
                // One that is gone hears nothing, and its events end.
                let _ = client.ask(Attend { can_approve }).await;
                continue;
            }
        };
        match &event {
            Event::TextDelta(delta) => text.push_str(&delta.text),
            // What it wrote before it went on working is not its result.
            Event::ToolCallArguments(_) => text.clear(),
            _ => {} // no text of its own
        }
        if let Some(up) = &up {
            tell(up, &event).await;
        }
        match event {
            Event::Usage(usage) => {
                // Each is told after a request; the end tells how many there were.
                spent.steps = spent.steps.saturating_add(1);
                spent.usage = Usage {
                    input_tokens: usage.input_tokens,
                    output_tokens: usage.output_tokens,
                };
            }
            Event::Error(raised) => error = Some(raised.message),
            Event::TurnEnded(end) => {
                spent.steps = u32::try_from(end.n_steps).unwrap_or(u32::MAX);
                return Some(Told { text, end, error });
            }
            // Nothing else is part of the result.
            _ => {}
        }
    }
}

/// Tells the server around the pod above what its clients hear of.
async fn tell(up: &Up, event: &Event) {
    match event.clone() {
        Event::TextDelta(delta) => up.did(ChildWork::TextDelta(delta)).await,
        Event::ToolCallArguments(call) => up.did(ChildWork::ToolCallArguments(call)).await,
        Event::ToolCallVerdict(verdict) => {
            up.did(ChildWork::ToolCallVerdict(Box::new(verdict))).await
        }
        Event::ToolCallFinished(finished) => up.did(ChildWork::ToolCallFinished(finished)).await,
        Event::ChildWorked(worked) => up.worked(worked).await,
        Event::PermissionRequest(request) => up.asked(request).await,
        Event::PermissionSettled(settled) => up.settled(settled).await,
        _ => {} // not for the clients of another pod
    }
}

/// Waits until somebody is there who can answer, or nobody is any more.
async fn attendance(up: Option<&mut Up>) -> bool {
    if let Some(up) = up
        && up.is_attended.changed().await.is_ok()
    {
        return *up.is_attended.borrow_and_update();
    }
    std::future::pending().await
}

impl Told {
    /// What the model reads: at most so many bytes of what the child wrote.
    pub(super) fn output(self, child: &str, most: usize) -> ToolOutput {
        let Self {
            mut text,
            end,
            error,
        } = self;
        if text.len() > most {
            let n_bytes = text.len();
            let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(cut.unwrap_or(0));
            text += &format!("\n[cut: {most} of {n_bytes} bytes]");
        }
        let refused = match end.n_refused {
            0 => String::new(),
            n => format!("\n[refused calls of `{child}`: {n} of {}]", end.n_calls),
        };
        let why = match &end.reason {
            TurnEndReason::Done => {
                let text = match text.trim().is_empty() {
                    true => format!("[the child `{child}` ended without a word]"),
                    false => text,
                };
                return ToolOutput::success(format!("{text}{refused}"));
            }
            TurnEndReason::Limit { limit } => format!("its limit `{}` was reached", limit.0),
            TurnEndReason::Aborted { reason } => format!("a hook ended its turn: {reason}"),
            TurnEndReason::Cancelled => "its turn was cancelled".to_owned(),
            TurnEndReason::Failed => match error {
                Some(error) => format!("its turn failed: {error}"),
                None => "its turn failed".to_owned(),
            },
        };
        let text = match text.trim().is_empty() {
            true => text,
            false => format!("\nIt wrote:\n{text}"),
        };
        ToolOutput::failure(format!(
            "the child `{child}` did not do it: {why}{refused}{text}"
        ))
    }
}
