//! Children: what they ask is put to the clients of this pod too, and the child takes the answer.

mod open;

use std::collections::BTreeMap;

use podward_client::{Client, ClientError};
use podward_protocol as wire;
use podward_protocol::{
    ChildWork, ChildWorked, DecidedBy, Event, Method, MethodError, MethodErrorCode, Outcome,
    PermissionRejectAll, PermissionReply, PermissionRequest, PermissionSettled, Reply, RequestId,
    Settled, json_line,
};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use self::open::{Open, Place};
use super::{Fits, Hub};
use crate::children::FromBelow;
use crate::serve::pending::ReplyTo;

/// Answers that children may have to take at the same time.
const MAX_PASSING: usize = 4096;

/// What is told of a result of a child's call, in bytes.
const RESULT_BYTES: usize = 4 * 1024;

/// What is told of anything else that a child does, in bytes.
const WORK_BYTES: usize = 64 * 1024;

/// The children that run, and what they ask.
pub(in crate::serve) struct Below {
    /// Those that run, by the call that started each.
    running: BTreeMap<String, Client>,
    open: Open,
    passing: JoinSet<Passed>,
    /// Whether somebody is there who can answer: all children follow it.
    attended: watch::Sender<bool>,
}

/// What became of an answer that was passed on.
pub(in crate::serve) struct Passed {
    to: Option<ReplyTo>,
    result: Result<Reply, MethodError>,
}

impl Below {
    pub(in crate::serve) fn new(attended: watch::Sender<bool>) -> Self {
        Self {
            running: BTreeMap::new(),
            open: Open::default(),
            passing: JoinSet::new(),
            attended,
        }
    }

    /// What is asked, after one of them; `None`: all of it.
    pub(super) fn open_after(
        &self,
        place: Option<Place>,
    ) -> impl Iterator<Item = &PermissionRequest> {
        self.open.after(place)
    }

    pub(super) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// The place of a question among those that are open.
    pub(super) fn place(&self, id: &RequestId) -> Option<Place> {
        self.open.place(id)
    }

    /// Whether an id is that of something that a child asks, or has asked.
    pub(super) fn asks(&self, id: &RequestId) -> bool {
        self.asker(id).is_some()
    }

    /// The child that asks something, by the call that started it, and what it calls the question.
    fn asker(&self, id: &RequestId) -> Option<(String, Client, RequestId)> {
        let (call, own) = id.as_str().split_once('/')?;
        let client = self.running.get(call)?.clone();
        Some((call.to_owned(), client, RequestId::new(own)))
    }

    /// Waits for an answer that a child has taken, or not.
    pub(super) async fn next(&mut self) -> Passed {
        loop {
            match self.passing.join_next().await {
                Some(Ok(passed)) => return passed,
                Some(Err(error)) => tracing::error!(%error, "an answer was lost on its way"),
                None => return std::future::pending().await,
            }
        }
    }

    fn pass(&mut self, to: Option<ReplyTo>, call: String, client: Client, method: Method) {
        self.passing.spawn(async move {
            let result = asked_below(&call, &client, method).await;
            Passed { to, result }
        });
    }

    /// Nobody waits for what is on its way any more.
    pub(super) fn give_up(&mut self) {
        self.passing.abort_all();
    }
}

impl Hub {
    /// Takes what a child tells.
    pub(super) fn take_from_below(&mut self, from: FromBelow) {
        match from {
            FromBelow::Began { call, client } => {
                self.below.running.insert(call, client);
            }
            FromBelow::Asked(request) => self.ask_for(*request),
            FromBelow::Settled(settled) => {
                if self.below.open.take(&settled.id).is_some() {
                    self.publish(Event::PermissionSettled(settled));
                }
            }
            FromBelow::Worked(worked) => self.tell_work(*worked),
            FromBelow::Ended { call } => self.ended_below(&call),
        }
    }

    /// Puts the question of a child; one that is put already may ask about something else by now.
    fn ask_for(&mut self, request: PermissionRequest) {
        let Some((call, client, id)) = self.below.asker(&request.id) else {
            return;
        };
        if request.unasked {
            // It is told of, and nobody has to answer.
            self.publish(Event::PermissionRequest(request));
            return;
        }
        self.below.open.put(request.clone());
        let digest = request.digest.clone();
        if self.publish(Event::PermissionRequest(request)) == Fits::No {
            let feedback =
                Some("the question is too long to be put: make smaller calls".to_owned());
            let reject = PermissionReply {
                id,
                digest,
                answer: wire::Answer::Reject { feedback },
                by: None,
            };
            self.below.pass(None, call, client, reject.into());
        }
    }

    /// Tells what a child does: it is on record there, so that what is too long may be cut.
    fn tell_work(&mut self, mut worked: ChildWorked) {
        if let ChildWork::ToolCallFinished(finished) = &mut worked.did {
            let cut = finished.content.floor_char_boundary(RESULT_BYTES);
            finished.content.truncate(cut);
        }
        if json_line(&worked.did).is_ok_and(|line| line.len() <= WORK_BYTES) {
            self.publish(Event::ChildWorked(worked));
        }
    }

    /// A child is gone: what it asked is open no longer, unless it is kept for the next pod of the session.
    fn ended_below(&mut self, call: &str) {
        self.below.running.remove(call);
        if self.gate.keeps_questions() {
            return;
        }
        let gone: Vec<_> = self.below.open.take_all_of(call).collect();
        for request in gone {
            self.publish(Event::PermissionSettled(PermissionSettled {
                id: request.id,
                outcome: Outcome::Interrupted,
                by: DecidedBy::Pod,
            }));
        }
    }

    /// Passes what is about a question on to the child that asked it.
    pub(super) fn pass_below(
        &mut self,
        to: ReplyTo,
        id: &RequestId,
        method: impl FnOnce(RequestId) -> Method,
    ) {
        let Some((call, client, id)) = self.below.asker(id) else {
            let message = "the child that asked is gone";
            let error = MethodError::new(MethodErrorCode::UnknownRequest, message);
            return self.respond(to, Err(error));
        };
        if self.below.passing.len() >= MAX_PASSING {
            let message = "too many requests are on their way to children";
            return self.respond(to, Err(MethodError::new(MethodErrorCode::TooMany, message)));
        }
        self.below.pass(Some(to), call, client, method(id));
    }

    /// Says no to all that this pod and its children ask.
    pub(super) fn reject_all_and_below(&mut self, to: ReplyTo, by: &str, all: PermissionRejectAll) {
        let asking: Vec<_> = (self.below.running.iter())
            .filter(|(call, _)| self.below.open.is_asking(call))
            .map(|(call, client)| (call.clone(), client.clone()))
            .collect();
        let feedback = all.feedback.as_deref();
        if asking.is_empty() {
            return self.reject_all(to, by, feedback);
        }
        let (own, heard) = oneshot::channel();
        self.reject_all(ReplyTo::Local(own), by, feedback);
        self.below.passing.spawn(async move {
            let result = async {
                let mut settled = match heard.await {
                    Ok(own) => settled_of(own?),
                    Err(_) => Vec::new(), // it is stopping, and so are its children
                };
                let calls = asking.iter().map(|(call, client)| {
                    let all = all.clone().into();
                    asked_below(call, client, all)
                });
                for reply in futures_util::future::join_all(calls).await {
                    // One that is gone asks nothing any more.
                    settled.extend(reply.map(settled_of).unwrap_or_default());
                }
                Ok(Reply::PermissionRejectAll(Settled { settled }))
            };
            Passed {
                to: Some(to),
                result: result.await,
            }
        });
    }

    /// A child has taken an answer, or not.
    pub(super) fn passed(&mut self, passed: Passed) {
        if let Some(to) = passed.to {
            self.respond(to, passed.result);
        }
    }

    /// Tells children whether somebody is there who can answer.
    pub(super) fn tell_below_who_is_there(&self) {
        let is_attended = self.presence.is_attended();
        let told = &self.below.attended;
        told.send_if_modified(|told| std::mem::replace(told, is_attended) != is_attended);
    }

    /// Forgets children that are gone without a word.
    pub(super) fn tidy_below(&mut self) {
        let running = self.below.running.iter();
        let gone: Vec<_> = running
            .filter(|(_, client)| client.is_over())
            .map(|(call, _)| call.clone())
            .collect();
        for call in gone {
            self.ended_below(&call);
        }
    }
}

/// The id under which this pod puts what a child calls so.
fn joined(call: &str, id: &RequestId) -> RequestId {
    RequestId::new(format!("{call}/{}", id.as_str()))
}

/// Asks a child for something; what it says bears the ids of this pod.
async fn asked_below(call: &str, client: &Client, method: Method) -> Result<Reply, MethodError> {
    let reply = client.call(method).await.map_err(refused)?;
    Ok(match reply {
        Reply::PermissionReply(settled) => Reply::PermissionReply(renamed(call, settled)),
        Reply::PermissionRejectAll(settled) => Reply::PermissionRejectAll(renamed(call, settled)),
        other => other, // names no question
    })
}

fn renamed(call: &str, mut settled: Settled) -> Settled {
    for one in &mut settled.settled {
        one.id = joined(call, &one.id);
    }
    settled
}

/// What was settled by a no to all.
fn settled_of(reply: Reply) -> Vec<PermissionSettled> {
    match reply {
        Reply::PermissionRejectAll(Settled { settled }) => settled,
        _ => Vec::new(), // of another method
    }
}

/// Why a child took no answer.
fn refused(error: ClientError) -> MethodError {
    match error {
        ClientError::Refused(error) => error,
        // It has ended, and with it what it asked.
        error => MethodError::new(
            MethodErrorCode::UnknownRequest,
            format!("the child that asked is gone: {error}"),
        ),
    }
}
