//! `podward pending [POD]`.

mod text;

use std::path::Path;

use podward_client::{Client, Found};
use podward_protocol::{PermissionList, PermissionRequest, SessionId};
use serde::Serialize;

use super::pods::{all, find, word_for};
use crate::arguments::{Format, Pending};
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// The name of this client.
const NAME: &str = "podward pending";

/// A question as it is printed for programs.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    request: PermissionRequest,
    session: SessionId,
}

pub(super) fn run(arguments: &Pending, screen: Screen) -> Result<Exit, Failure> {
    let running = all()?;
    let sockets = match &arguments.pod {
        Some(pod) => vec![find(pod)?],
        None => running.iter().map(|found| found.socket.clone()).collect(),
    };
    let runtime = super::runtime()?;
    let mut shown = String::new();
    for socket in sockets {
        let (pod, session, requests) = match runtime.block_on(requests(&socket)) {
            Ok(requests) => requests,
            Err(error) if arguments.pod.is_some() => return Err(error),
            // One pod that does not answer hides no other.
            Err(error) => {
                error.report(screen);
                continue;
            }
        };
        for request in requests {
            match arguments.format {
                Format::Json => {
                    let session = session.clone();
                    shown.push_str(&super::json_line(&Line { session, request })?);
                }
                Format::Text => {
                    if !shown.is_empty() {
                        shown.push('\n');
                    }
                    // The path of a socket names a pod that may listen elsewhere.
                    let given = arguments.pod.as_deref().filter(|pod| pod.contains('/'));
                    let word = given.unwrap_or_else(|| word_for(&pod, &session, &running));
                    let asker = asker(&request, &session, &running);
                    shown.push_str(&text::text(request, word, asker, screen.data));
                }
            }
        }
    }
    if shown.is_empty() {
        screen.say(Look::Strong, "pending", "nothing is asked");
    }
    super::finish(screen, &shown, Exit::Done)
}

/// Who asks, the pod that puts the question or one below it; `None`: that is not certain.
fn asker<'a>(
    request: &PermissionRequest,
    session: &'a SessionId,
    running: &'a [Found],
) -> Option<&'a SessionId> {
    if !request.id.as_str().contains('/') {
        return Some(session);
    }
    let mut called = running
        .iter()
        .filter(|found| found.entry.pod == request.pod);
    match (called.next(), called.next()) {
        (Some(found), None) => Some(&found.entry.session),
        _ => None,
    }
}

async fn requests(socket: &Path) -> Result<(String, SessionId, Vec<PermissionRequest>), Failure> {
    let (client, _events) = connect(socket, NAME, CanApprove::No, &["closing"]).await?;
    let welcome = client.welcome();
    let (pod, session) = (welcome.pod.clone(), welcome.session.clone());
    Ok((pod, session, open(&client).await?))
}

/// All open questions of a pod, oldest first.
///
/// # Errors
/// The pod cannot be reached.
pub(super) async fn open(client: &Client) -> Result<Vec<PermissionRequest>, Failure> {
    let mut all: Vec<PermissionRequest> = Vec::new();
    loop {
        let list = PermissionList {
            after: all.last().map(|last| last.id.clone()),
            limit: None,
        };
        let page = client.ask(list).await?;
        let is_last = !page.more || page.requests.is_empty();
        all.extend(page.requests);
        if is_last {
            return Ok(all);
        }
    }
}
