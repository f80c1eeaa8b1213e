//! What a pod says to its child, and hears of it.

use std::path::Path;

use podward_client::{Client, ClientError, Events};
use podward_model::Usage;
use podward_protocol::{
    Attend, Cancel, ChildWork, Event, Hello, PROTOCOL_VERSION, Run, Stop, TurnEnded,
};
use podward_worker::{CallCount, Meter, Spent};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::ChildError;
use super::above::Up;
use super::over::{Left, Over, answers};
use super::told::Told;

/// The name under which a pod talks to its children.
const NAME: &str = "parent";

/// Has a child work through a prompt, or go on with its turn, unless it is `over` before; the meter shows what it spent by then.
pub(super) async fn talk(
    stream: UnixStream,
    child: &str,
    prompt: Option<String>,
    mut up: Option<&mut Up>,
    meter: &mut Meter,
    over: &Over<'_>,
) -> Left {
    let (client, mut events) = match meet(stream, child, up.as_deref_mut(), over).await {
        Ok(met) => met,
        Err(error) => {
            let (told, until) = (Err(error), over.latest_end());
            return Left { told, until };
        }
    };
    let comes = over.comes(&client);
    tokio::pin!(comes);
    let begun = tokio::select! {
        begun = begin(&client, prompt, up.as_deref()) => begun,
        error = &mut comes => Err(error),
    };
    let working = follow(&mut events, &client, up, meter);
    tokio::pin!(working);
    let worked = match begun {
        Ok(()) => tokio::select! {
            told = &mut working => Ok(told),
            error = &mut comes => Err(error),
        },
        Err(error) => Err(error),
    };
    let until = over.latest_end();
    let told = match worked {
        Ok(told) => told.ok_or(ChildError::Lost {
            said: String::new(),
        }),
        Err(error) => {
            let is_told = match &error {
                ChildError::Hung(_) => false,
                _ if over.is_kept() => answers(&client, Stop {}).await,
                _ => answers(&client, Cancel {}).await,
            };
            if !is_told {
                let (told, until) = (Err(error), Instant::now());
                return Left { told, until };
            }
            // By the end of its turn its questions are settled or kept, and what it has spent is told.
            let _ = tokio::time::timeout_at(until, working).await;
            Err(error)
        }
    };
    // It may be gone already.
    answers(&client, Stop {}).await;
    Left { told, until }
}

async fn begin(client: &Client, prompt: Option<String>, up: Option<&Up>) -> Result<(), ChildError> {
    if let Some(up) = up {
        up.began(client).await;
    }
    let run = Run {
        prompt,
        skill: None,
    };
    client.ask(run).await.map(drop).map_err(ended)
}

/// Greets a child that starts.
async fn meet(
    stream: UnixStream,
    child: &str,
    up: Option<&mut Up>,
    over: &Over<'_>,
) -> Result<(Client, Events), ChildError> {
    let hello = Hello {
        protocol: PROTOCOL_VERSION,
        client: NAME.to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        can_approve: up.is_some_and(|up| *up.is_attended.borrow_and_update()),
        events: None,
    };
    tokio::select! {
        began = Client::over(stream, Path::new(child), hello) => began.map_err(ended),
        error = over.comes_early() => Err(error),
    }
}

const fn ended(why: ClientError) -> ChildError {
    ChildError::Ended {
        said: String::new(),
        why,
    }
}

/// Follows a turn to its end; `None`: it has none.
async fn follow(
    events: &mut Events,
    client: &Client,
    mut up: Option<&mut Up>,
    meter: &mut Meter,
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
            Event::Usage(used) => meter.read(Spent {
                steps: count(used.n_steps),
                usage: Usage {
                    input_tokens: used.input_tokens,
                    output_tokens: used.output_tokens,
                },
                ..meter.shown()
            }),
            Event::Error(raised) => error = Some(raised.message),
            Event::TurnEnded(end) => {
                meter.read(Spent {
                    steps: count(end.n_steps),
                    calls: calls(&end),
                    ..meter.shown()
                });
                return Some(Told::of(text, &end, error));
            }
            // Nothing else is part of the result.
            _ => {}
        }
    }
}

/// The calls of a child and of those below it.
fn calls(end: &TurnEnded) -> CallCount {
    CallCount {
        made: count(end.n_calls.saturating_add(end.children.n_calls)),
        refused: count(end.n_refused.saturating_add(end.children.n_refused)),
    }
}

fn count(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
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
