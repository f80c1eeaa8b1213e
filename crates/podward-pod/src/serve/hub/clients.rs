//! Clients: who comes, who leaves, and what each is told.

use std::sync::Arc;

use podward_protocol::{
    AttendHeard, ClientJoined, CloseReason, Event, Grant, GrantAdded, GrantRevoked, Hello,
    MethodError, MethodErrorCode, PROTOCOL_VERSION, Reply, SnapshotEnd, SnapshotStarted,
    Subscribed, Welcome, is_invisible,
};

use super::{Hub, Phase};
use crate::children::end_like_the_pod_above;
use crate::grants::GrantChange;
use crate::serve::LOCAL;
use crate::serve::clients::{MAX_BELOW, MAX_NAME, Part, Wanted, Welcomed, closing_line};
use crate::serve::connection::{ClientNumber, Heard, Standing};
use crate::serve::local::{LOCAL_NAME, LocalCall};
use crate::serve::outbox::Lazy;
use crate::serve::pending::ReplyTo;
use crate::serve::questions::OpenPart;
use crate::serve::snapshot::Kept;

/// A name that no client may have: people would take it for the pod.
const POD_NAME: &str = "podward";

/// Requests of one client that may wait for their answer.
const MAX_WAITING: usize = 256;

impl Hub {
    /// Takes what a connection tells.
    pub(super) fn hear(&mut self, number: ClientNumber, what: Heard) {
        match what {
            Heard::Came(standing) => {
                if let Some(client) = self.clients.get_mut(number) {
                    client.standing = Some(standing);
                }
                if standing != Standing::Apart && self.clients.n_below() > MAX_BELOW {
                    self.close(number, CloseReason::Internal, "there are too many clients");
                }
            }
            Heard::Line(Ok(request)) => {
                self.presence.hear(number);
                let to = ReplyTo::Remote(number, request.id);
                self.handle(number, to, request.method);
            }
            Heard::Line(Err(refused)) => {
                self.send_response(number, &refused.into());
            }
            Heard::TooLong => {
                let message = "the line is longer than the pod reads";
                let error = MethodError::new(MethodErrorCode::TooLong, message);
                let response = podward_protocol::Response {
                    id: None,
                    outcome: Err(error).into(),
                };
                self.send_response(number, &response);
                self.close(number, CloseReason::BadLine, message);
            }
            Heard::Gone => {
                self.leave(number);
                if self.above == Some(number) && matches!(self.phase, Phase::Open) {
                    end_like_the_pod_above();
                    self.stop(None);
                }
            }
        }
    }

    /// Takes a call of the client in this process.
    pub(super) fn call(&mut self, call: LocalCall) {
        self.handle(LOCAL, ReplyTo::Local(call.reply), call.method);
    }

    /// Welcomes a client and tells it what there is.
    pub(super) fn hello(&mut self, number: ClientNumber, to: ReplyTo, hello: Hello) {
        let Some(client) = self.clients.get(number) else {
            return;
        };
        if client.welcomed.is_some() {
            let error = MethodError::new(MethodErrorCode::InvalidParams, "hello was said before");
            return self.respond(to, Err(error));
        }
        if hello.protocol != PROTOCOL_VERSION {
            let code = MethodErrorCode::Version {
                protocol: PROTOCOL_VERSION,
            };
            let message = format!(
                "the pod speaks version {PROTOCOL_VERSION} of the protocol, the client version {}",
                hello.protocol
            );
            let error = MethodError::new(code, message.as_str());
            self.respond(
                to,
                Err(error.with_help("use the same version of podward for both")),
            );
            return self.close(number, CloseReason::BadLine, &message);
        }
        if let Err(why) = check_name(&hello.client) {
            let error = MethodError::new(MethodErrorCode::InvalidParams, why);
            return self.respond(to, Err(error));
        }
        let can_approve = hello.can_approve && client.standing == Some(Standing::Apart);
        let outbox = client.outbox.clone();
        self.publish(Event::ClientJoined(ClientJoined {
            client: number,
            name: hello.client.clone(),
            can_approve,
        }));
        let welcome = Welcome {
            protocol: PROTOCOL_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pod: self.asker.pod.clone(),
            path: self.asker.path.clone(),
            session: self.session.clone(),
            client: number,
            can_approve,
            ping_interval_ms: u64::try_from(self.ping.as_millis()).unwrap_or(u64::MAX),
            max_request_bytes: podward_protocol::MAX_REQUEST_BYTES as u64,
        };
        let wants = Wanted::of(hello.events);
        if let Some(client) = self.clients.get_mut(number) {
            client.welcome(Welcomed {
                name: hello.client.into(),
                can_approve,
                wants: wants.clone(),
            });
        }
        if can_approve {
            self.presence.join(number);
        }
        self.respond(to, Ok(Reply::Hello(welcome)));
        outbox.push_snapshot(self.snapshot_parts(number, &wants));
        self.look_at_grants();
    }

    /// A client can approve from now on, or can no longer; one that a pod has started cannot.
    pub(super) fn attend(&mut self, number: ClientNumber, can_approve: bool) -> Reply {
        let now = self.now();
        let client = self.clients.get_mut(number);
        let Some(client) = client.filter(|client| client.standing == Some(Standing::Apart)) else {
            return Reply::Attend(AttendHeard { can_approve: false });
        };
        if let Some(welcomed) = &mut client.welcomed {
            let could = std::mem::replace(&mut welcomed.can_approve, can_approve);
            match (could, can_approve) {
                (false, true) => self.presence.join(number),
                (true, false) => self.presence.leave(number, now),
                (true, true) | (false, false) => {}
            }
        }
        Reply::Attend(AttendHeard { can_approve })
    }

    /// Chooses what a client is told, and tells it what there is.
    pub(super) fn subscribe(
        &mut self,
        number: ClientNumber,
        to: ReplyTo,
        events: Option<Vec<String>>,
    ) {
        let wants = Wanted::of(events);
        let Some(client) = self.clients.get_mut(number) else {
            let error = MethodError::new(
                MethodErrorCode::InvalidParams,
                "a client in the pod's own process gets every event",
            );
            return self.respond(to, Err(error));
        };
        let outbox = client.outbox.clone();
        if let Some(welcomed) = &mut client.welcomed {
            welcomed.wants = wants.clone();
        }
        let events = wants.names();
        self.respond(to, Ok(Reply::Subscribe(Subscribed { events })));
        outbox.push_snapshot(self.snapshot_parts(number, &wants));
        self.look_at_grants();
    }

    /// All that a client has to know to follow what comes.
    fn snapshot_parts(&mut self, number: ClientNumber, wants: &Wanted) -> Vec<Box<dyn Lazy>> {
        let client = self.clients.get(number);
        let may_hear_of_grants = client.is_some_and(|client| client.may_hear("grant_added"));
        let frame = Arc::new(self.frame());
        let joined = self.clients.joined();
        let known: Vec<_> = joined
            .map(|joined| Arc::new(Event::ClientJoined(joined)))
            .chain(
                may_hear_of_grants
                    .then(|| self.known_grants())
                    .into_iter()
                    .flatten()
                    .map(|grant| Arc::new(Event::GrantAdded(GrantAdded { grant }))),
            )
            .collect();
        let part = |event: Kept| {
            let (frame, texts) = (Arc::clone(&frame), Arc::clone(&self.texts));
            let part = Part {
                frame,
                texts,
                event,
            };
            wants
                .event(part.event.name())
                .then(|| Box::new(part) as Box<dyn Lazy>)
        };
        let mut parts: Vec<Box<dyn Lazy>> = Vec::new();
        let whole = |event: Event| Kept::Event(Arc::new(event));
        parts.extend(part(whole(Event::SnapshotStarted(SnapshotStarted {}))));
        parts.extend(self.snapshot.head(known).into_iter().filter_map(part));
        if wants.event("permission_request") {
            parts.extend(self.questions.iter().map(|open| {
                Box::new(OpenPart {
                    frame: Arc::clone(&frame),
                    asker: Arc::clone(&self.asker),
                    texts: Arc::clone(&self.texts),
                    open: open.clone(),
                }) as Box<dyn Lazy>
            }));
        }
        let below = self.below.open_after(None).cloned();
        parts.extend(below.filter_map(|request| part(whole(Event::PermissionRequest(request)))));
        let tail = self.snapshot.tail().into_iter().map(Kept::Event);
        parts.extend(tail.filter_map(part));
        let end = SnapshotEnd { seq: frame.seq };
        parts.extend(part(whole(Event::SnapshotEnd(end))));
        parts
    }

    /// Asks all clients whether they are there; approvers that are not leave.
    pub(super) fn ping(&mut self) {
        let frame = self.frame();
        // The one in this process is there if it takes what it is told.
        if self.local.is_taken() {
            self.presence.hear(LOCAL);
            if self.is_local_away {
                self.is_local_away = false;
                self.presence.join(LOCAL);
            }
        }
        let mut silent = self.presence.ping(|_| true);
        // The pod above is there while its connection is: it may wait for whoever reads what it tells.
        silent.retain(|number| self.above != Some(*number));
        self.is_local_away |= silent.contains(&LOCAL);
        for number in silent {
            self.close(
                number,
                CloseReason::Silent,
                "no ping was answered for too long",
            );
        }
        for number in self.clients.strangers() {
            self.close(
                number,
                CloseReason::Silent,
                "no hello was said for too long",
            );
        }
        for number in self.clients.ping(&frame) {
            self.cut_off(number);
        }
        self.texts.tidy();
        self.tidy_below();
        // Grants end, and other pods change them, while nothing is called.
        self.look_at_grants();
    }

    /// The grants that count, oldest first, as far as is known.
    fn known_grants(&self) -> Vec<Grant> {
        let grants = self.grants.as_ref();
        grants.map(|grants| grants.known()).unwrap_or_default()
    }

    /// Tells what has changed about the grants.
    pub(super) fn tell_grants(&mut self) {
        let changes = self.grants.as_ref().map(|grants| grants.changes());
        for change in changes.into_iter().flatten() {
            self.publish(match change {
                GrantChange::Added(grant) => Event::GrantAdded(GrantAdded { grant: *grant }),
                GrantChange::Ended { id, reason } => {
                    Event::GrantRevoked(GrantRevoked { id, reason })
                }
            });
        }
        self.ask_again();
    }

    /// A client is too slow: it gets one more line, and may come again.
    pub(super) fn cut_off(&mut self, number: ClientNumber) {
        let message = "it reads too slowly: connect again for a new snapshot".to_owned();
        let line = closing_line(&self.frame(), CloseReason::TooSlow, message);
        if let (Some(client), Some(line)) = (self.clients.get(number), line) {
            client.outbox.cut_off(line);
        }
        self.leave(number);
    }

    /// Closes a connection once what waits is written.
    pub(super) fn close(&mut self, number: ClientNumber, reason: CloseReason, message: &str) {
        let line = closing_line(&self.frame(), reason, message.to_owned());
        if let (Some(client), Some(line)) = (self.clients.get(number), line) {
            client.outbox.close_after(line);
        }
        self.leave(number);
    }

    /// A client counts no longer; what is in its outbox may still be written.
    fn leave(&mut self, number: ClientNumber) {
        let now = self.now();
        self.presence.leave(number, now);
        if let Some(left) = self.clients.remove(number) {
            self.publish(Event::ClientLeft(left));
        }
    }

    /// Whether a client may have another request that waits.
    pub(super) fn may_wait(&self, to: &ReplyTo) -> Result<(), MethodError> {
        let ReplyTo::Remote(number, _) = to else {
            return Ok(());
        };
        let n_waiting =
            self.pending.n_of(*number) + self.deeds.n_of(*number) + self.explaining.n_of(*number);
        if n_waiting < MAX_WAITING {
            return Ok(());
        }
        let message = "too many requests of this client wait for their answer";
        Err(MethodError::new(MethodErrorCode::TooMany, message))
    }

    /// Whether the pod takes requests.
    pub(super) const fn is_stopping(&self) -> bool {
        !matches!(self.phase, Phase::Open)
    }
}

/// A name goes to people's terminals and into the log.
fn check_name(name: &str) -> Result<(), String> {
    let n_chars = name.chars().count();
    if !(1..=MAX_NAME).contains(&n_chars) {
        return Err(format!(
            "the client's name must have 1 to {MAX_NAME} characters"
        ));
    }
    if name.chars().any(is_invisible) {
        return Err("the client's name holds a character that is not shown".to_owned());
    }
    let taken = [
        (LOCAL_NAME, "whoever sits at the pod itself"),
        (POD_NAME, "the pod itself"),
    ];
    for (taken, whom) in taken {
        if name.trim().eq_ignore_ascii_case(taken) {
            return Err(format!(
                "the name `{taken}` stands for {whom}: give another one"
            ));
        }
    }
    Ok(())
}
