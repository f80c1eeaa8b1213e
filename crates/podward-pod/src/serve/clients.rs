//! The clients of a pod: who is there, and what each of them is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podward_protocol::{
    ClientJoined, ClientLeft, CloseReason, Closing, Event, SessionId, Time, json_line,
};
use serde::Serialize;

use super::connection::{ClientNumber, Standing};
use super::outbox::{Lazy, Outbox};
use super::snapshot::Kept;
use super::texts::{Key, Texts};

/// Clients at the same time.
pub(crate) const MAX_CLIENTS: usize = 512;

/// Clients at the same time that were started below the pod: they shall not keep out others.
pub(crate) const MAX_BELOW: usize = 16;

/// Pings to others that a client may let pass without a hello.
const HELLO_PINGS: u64 = 3;

/// The longest name of a client, in characters.
pub(crate) const MAX_NAME: usize = 64;

/// Events that every client is sent.
const ALWAYS: [&str; 4] = ["snapshot_started", "snapshot_end", "ping", "closing"];

/// A client.
pub(crate) struct Client {
    pub(crate) outbox: Outbox,
    /// `None`: its process is not known yet.
    pub(crate) standing: Option<Standing>,
    /// `None`: it has not said hello.
    pub(crate) welcomed: Option<Welcomed>,
    /// Pings since it came, or since it said hello.
    n_pings: u64,
}

/// A client that has said hello.
#[derive(Debug, Clone)]
pub(crate) struct Welcomed {
    pub(crate) name: Arc<str>,
    pub(crate) can_approve: bool,
    pub(crate) wants: Wanted,
}

/// Which events a client is sent.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    All,
    These(BTreeSet<String>),
}

/// Everybody who is connected.
#[derive(Default)]
pub(crate) struct Clients {
    all: BTreeMap<ClientNumber, Client>,
    next: ClientNumber,
}

/// What an event's line may grow by until it is part of a snapshot: the mark, and a later `seq`. What
/// is told once can be told again.
const SNAPSHOT_BYTES: usize = "\"snapshot\":true,".len() + 20;

/// An event on its way: one line for all.
#[derive(Serialize)]
struct Framed<'a, E: Serialize> {
    time: Time,
    session: &'a SessionId,
    seq: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    snapshot: bool,
    #[serde(flatten)]
    event: E,
}

/// What all lines of a moment have in common.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) time: Time,
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
}

impl Frame {
    /// An event that is new.
    pub(crate) fn line(&self, event: &Event) -> Option<Arc<str>> {
        self.framed(event, false)
    }

    /// An event that tells what already was.
    pub(crate) fn snapshot_line(&self, event: &Event) -> Option<Arc<str>> {
        self.framed(event, true)
    }

    /// The same, of an event as JSON, which is made once for many lines.
    pub(crate) fn snapshot_line_of(&self, json: &str) -> Option<Arc<str>> {
        let framed = Framed {
            time: self.time,
            session: &self.session,
            seq: self.seq,
            snapshot: true,
            event: (),
        };
        let line = json_line(&framed).ok()?;
        let line = format!("{},{}", line.strip_suffix('}')?, json.strip_prefix('{')?);
        (line.len() <= podward_protocol::MAX_LINE_BYTES).then(|| line.into())
    }

    fn framed(&self, event: &Event, snapshot: bool) -> Option<Arc<str>> {
        let framed = Framed {
            time: self.time,
            session: &self.session,
            seq: self.seq,
            snapshot,
            event,
        };
        let line = json_line(&framed).ok()?;
        let room = match snapshot {
            true => 0,
            false => SNAPSHOT_BYTES,
        };
        (line.len() + room <= podward_protocol::MAX_LINE_BYTES).then(|| line.into())
    }
}

/// A part of a snapshot that is there.
pub(crate) struct Part {
    pub(crate) frame: Arc<Frame>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) event: Kept,
}

impl Lazy for Part {
    fn line(&self) -> Option<Arc<str>> {
        match &self.event {
            Kept::Event(event) => self.frame.snapshot_line(event),
            Kept::Json(json) => self.frame.snapshot_line_of(&json.text),
            Kept::Asked(question, of_call) => {
                let key = Key::OfCall(question.id().clone(), *of_call);
                let event = || Some(json_line(&of_call.event(question)).ok()?.into());
                let json = self.texts.get(&key, event)?;
                self.frame.snapshot_line_of(&json)
            }
        }
    }
}

/// Events that tell what is remembered of answers: what the pod has started may not know what it could
/// do without a question.
const OF_GRANTS: [&str; 2] = ["grant_added", "grant_revoked"];

impl Client {
    /// Whether it may be told of an event with this name.
    pub(crate) fn may_hear(&self, name: &str) -> bool {
        self.standing == Some(Standing::Apart) || !OF_GRANTS.contains(&name)
    }

    /// It said hello.
    pub(crate) fn welcome(&mut self, welcomed: Welcomed) {
        self.welcomed = Some(welcomed);
        self.n_pings = 0;
    }
}

impl Clients {
    /// A connection came; `None`: there are too many.
    pub(crate) fn add(&mut self, outbox: Outbox) -> Option<ClientNumber> {
        if self.all.len() >= MAX_CLIENTS {
            return None;
        }
        // 0 is whoever is in this process.
        self.next += 1;
        let client = Client {
            outbox,
            standing: None,
            welcomed: None,
            n_pings: 0,
        };
        self.all.insert(self.next, client);
        Some(self.next)
    }

    pub(crate) fn get(&self, number: ClientNumber) -> Option<&Client> {
        self.all.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: ClientNumber) -> Option<&mut Client> {
        self.all.get_mut(&number)
    }

    /// A client is no more; what it is told if it was welcomed.
    pub(crate) fn remove(&mut self, number: ClientNumber) -> Option<ClientLeft> {
        let welcomed = self.all.remove(&number)?.welcomed?;
        Some(ClientLeft {
            client: number,
            name: welcomed.name.to_string(),
            can_approve: welcomed.can_approve,
        })
    }

    /// How many were started below a pod, or nobody knows where.
    pub(crate) fn n_below(&self) -> usize {
        let is_below = |client: &&Client| {
            client
                .standing
                .is_some_and(|standing| standing != Standing::Apart)
        };
        self.all.values().filter(is_below).count()
    }

    /// Those that said hello.
    pub(crate) fn joined(&self) -> impl Iterator<Item = ClientJoined> {
        self.all.iter().filter_map(|(number, client)| {
            let welcomed = client.welcomed.as_ref()?;
            Some(ClientJoined {
                client: *number,
                name: welcomed.name.to_string(),
                can_approve: welcomed.can_approve,
            })
        })
    }

    /// Sends a line to all that want the event; returns those that were too slow.
    pub(crate) fn publish(&self, name: &str, line: &Arc<str>) -> Vec<ClientNumber> {
        let mut slow = Vec::new();
        for (number, client) in &self.all {
            let wants = client.may_hear(name)
                && client
                    .welcomed
                    .as_ref()
                    .is_some_and(|welcomed| welcomed.wants.event(name));
            if wants && client.outbox.push_event(Arc::clone(line)).is_err() {
                slow.push(*number);
            }
        }
        slow
    }

    /// Those that have said no hello for too long: they shall not keep out others. Asked once for
    /// each ping.
    pub(crate) fn strangers(&mut self) -> Vec<ClientNumber> {
        let mut strangers = Vec::new();
        for (number, client) in &mut self.all {
            if client.welcomed.is_none() {
                client.n_pings += 1;
                if client.n_pings > HELLO_PINGS {
                    strangers.push(*number);
                }
            }
        }
        strangers
    }

    /// Asks all whether they are there; returns those that were too slow.
    pub(crate) fn ping(&mut self, frame: &Frame) -> Vec<ClientNumber> {
        let mut slow = Vec::new();
        for (number, client) in &mut self.all {
            if client.welcomed.is_none() {
                continue;
            }
            client.n_pings += 1;
            let ping = podward_protocol::Ping { n: client.n_pings };
            if let Some(line) = frame.line(&Event::Ping(ping))
                && client.outbox.push_event(line).is_err()
            {
                slow.push(*number);
            }
        }
        slow
    }

    /// Tells all that nothing more comes.
    pub(crate) fn close_all(&self, frame: &Frame) {
        let message = "the pod stops".to_owned();
        if let Some(line) = closing_line(frame, CloseReason::Stopping, message) {
            for client in self.all.values() {
                client.outbox.close_after(Arc::clone(&line));
            }
        }
    }
}

impl Wanted {
    /// Those with these names; `None`: all.
    pub(crate) fn of(names: Option<Vec<String>>) -> Self {
        match names {
            None => Self::All,
            Some(names) => {
                let always = ALWAYS.iter().map(|name| (*name).to_owned());
                Self::These(names.into_iter().chain(always).collect())
            }
        }
    }

    pub(crate) fn event(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.contains(name),
        }
    }

    /// All names, in the order of the protocol.
    pub(crate) fn names(&self) -> Vec<String> {
        let all = Event::NAMES.iter();
        all.filter(|name| self.event(name))
            .map(|name| (*name).to_owned())
            .collect()
    }
}

/// The last line for a client.
pub(crate) fn closing_line(
    frame: &Frame,
    reason: CloseReason,
    message: String,
) -> Option<Arc<str>> {
    frame.line(&Event::Closing(Closing { reason, message }))
}

#[cfg(test)]
mod tests;
