//! What is remembered of approvals: looked at, saved and taken back on threads of their own, for the
//! disk, and a lock that another process holds, may take long. Nobody else waits for that.

use std::sync::Arc;

use podward_gate::{GrantId, Question};
use podward_protocol as wire;
use podward_protocol::{Always, GrantsList, MethodError, MethodErrorCode, PermissionReply, Reply};
use podward_worker::{SharedGate, TakenUses};
use tokio::task::JoinError;

use super::background::Background;
use super::replies::refused;
use super::turns::storage;
use super::{Hub, stopping};
use crate::error::shown_id;
use crate::grants::{GrantError, GrantStore, NewGrant, gate_grant};
use crate::serve::always;
use crate::serve::pending::{Kind, ReplyTo};

/// Deeds that are done at the same time.
const N_AT_ONCE: usize = 8;

/// What is being done about grants.
pub(in crate::serve) type Deeds = Background<ToDo, Done>;

/// A deed, and what it is done with.
pub(in crate::serve) struct ToDo {
    deed: Deed,
    store: Arc<GrantStore>,
    gate: SharedGate,
}

/// Something that may take long.
enum Deed {
    /// Whether another process has changed something.
    Look,
    /// The same, and then an answer is taken.
    LookAndReply(Box<(Box<str>, PermissionReply)>),
    /// All of them, for one page.
    List(GrantsList),
    /// Saves an approval, as long as the question is open.
    Save(Box<(NewGrant, Question)>),
    /// Takes back one that answers nothing.
    TakeBack(wire::GrantId, Box<MethodError>),
    /// Takes back one because somebody says so.
    Revoke(wire::GrantId),
}

/// What came of it.
pub(in crate::serve) enum Done {
    Looked,
    LookedToReply(Box<(Box<str>, PermissionReply)>),
    Listed(GrantsList, Vec<wire::Grant>),
    /// `None`: the question was settled first.
    Saved(Box<(Question, Result<Option<Saved>, GrantError>)>),
    TakenBack(wire::GrantId, Box<MethodError>, Result<bool, GrantError>),
    /// `None`: there is none.
    Revoked(wire::GrantId, Result<Option<Box<wire::Grant>>, GrantError>),
}

/// An approval that is saved.
pub(in crate::serve) struct Saved {
    grant: wire::Grant,
    /// Uses of grants, of this one too, that were taken for what it settles.
    taken: TakenUses,
}

/// Nothing is done yet.
pub(in crate::serve) fn deeds() -> Deeds {
    Background::new(N_AT_ONCE, |ToDo { deed, store, gate }| {
        deed.run(&store, &gate)
    })
}

impl Deed {
    fn run(self, store: &GrantStore, gate: &SharedGate) -> Done {
        match self {
            Self::Look => {
                // What was taken for questions that somebody else settled.
                gate.give_back_unused();
                store.reload();
                Done::Looked
            }
            Self::LookAndReply(reply) => {
                store.read();
                Done::LookedToReply(reply)
            }
            Self::List(list) => Done::Listed(list, store.list()),
            Self::Save(save) => {
                let (new, question) = *save;
                // Somebody may be first, also while the lock is waited for: then nothing is saved.
                let saved = store.add_if(new, || gate.question(question.id()).is_some());
                let saved = saved.map(|grant| grant.map(|grant| with_uses(grant, &question, gate)));
                Done::Saved(Box::new((question, saved)))
            }
            Self::TakeBack(id, why) => {
                let revoked = store.revoke(&id);
                Done::TakenBack(id, why, revoked)
            }
            Self::Revoke(id) => {
                let known = store.list().into_iter().find(|grant| grant.id == id);
                // One that is used up is not known, and not given back after this.
                let revoked = store.revoke(&id);
                let revoked = revoked.map(|was_there| known.filter(|_| was_there).map(Box::new));
                Done::Revoked(id, revoked)
            }
        }
    }
}

impl Hub {
    /// Saves an approval; then it answers all that it covers.
    pub(super) fn always(&mut self, to: ReplyTo, question: Question, always: &Always, by: &str) {
        let rules = {
            let shown = self.questions.get(question.id());
            let asking = shown.map(|open| open.asking()).unwrap_or_default();
            always::rules(&question, &asking, &always.what, &self.asker.programs)
        };
        let rules = match rules {
            Ok(rules) => rules,
            Err(error) => return self.respond(to, Err(error)),
        };
        if self.gate.question(question.id()).is_none() {
            let lost = self.lost(&question);
            return self.respond(to, Err(lost));
        }
        let new = NewGrant {
            rules,
            lasts: always.lasts.clone(),
            by: by.to_owned(),
            why: always::why(&question, self.asker.copy_of.as_deref()),
        };
        if self.grants.is_none() {
            let message = "the workspace has a name for which nothing can be remembered";
            let error = MethodError::new(MethodErrorCode::NotGrantable, message);
            return self.respond(to, Err(error));
        }
        self.begin_deed(Some(to), Deed::Save(Box::new((new, question))));
    }

    /// Lists grants, as they are on disk.
    pub(super) fn list_grants(&mut self, to: ReplyTo, list: GrantsList) {
        if self.grants.is_none() {
            let reply = super::methods::grants_page(Vec::new(), &list);
            return self.respond(to, Ok(reply));
        }
        self.begin_deed(Some(to), Deed::List(list));
    }

    /// Takes back a grant: first on disk, then at the gate.
    pub(super) fn revoke(&mut self, to: ReplyTo, id: wire::GrantId) {
        if self.grants.is_none() {
            return self.respond(to, Err(unknown(&id)));
        }
        self.begin_deed(Some(to), Deed::Revoke(id));
    }

    /// Looks whether grants have ended, or another process has changed them.
    pub(super) fn look_at_grants(&mut self) {
        if self.grants.is_some() && !self.is_looking_at_grants {
            self.is_looking_at_grants = true;
            self.begin_deed(None, Deed::Look);
        }
    }

    /// Takes an answer when it is known which grants count.
    pub(super) fn look_and_reply(&mut self, to: ReplyTo, by: &str, reply: PermissionReply) {
        let deed = Deed::LookAndReply(Box::new((by.into(), reply)));
        self.begin_deed(Some(to), deed);
    }

    fn begin_deed(&mut self, to: Option<ReplyTo>, deed: Deed) {
        let Some(store) = self.grants.clone() else {
            return;
        };
        let gate = self.gate.clone();
        self.deeds.add(to, ToDo { deed, store, gate });
    }

    /// Something was done.
    pub(super) fn done(&mut self, to: Option<ReplyTo>, done: Result<Done, JoinError>) {
        match done {
            Ok(done) => self.take_up(to, done),
            Err(error) => {
                tracing::error!(%error, "what was to be done about a grant was not");
                if let Some(to) = to {
                    let message = "nobody knows what became of it";
                    let error = MethodError::new(MethodErrorCode::Internal, message);
                    self.respond(to, Err(error));
                }
            }
        }
        self.tell_grants();
    }

    fn take_up(&mut self, to: Option<ReplyTo>, done: Done) {
        let (to, result) = match (done, to) {
            (Done::Looked, _) => {
                self.is_looking_at_grants = false;
                return;
            }
            (Done::LookedToReply(reply), Some(to)) if !self.is_stopping() => {
                let (by, reply) = *reply;
                return self.reply_now(to, &by, reply);
            }
            (Done::LookedToReply(_), Some(to)) => (to, Err(stopping())),
            (Done::Listed(list, grants), Some(to)) => {
                (to, Ok(super::methods::grants_page(grants, &list)))
            }
            (Done::Saved(saved), Some(to)) => return self.saved(to, &saved.0, saved.1),
            (Done::TakenBack(id, why, revoked), Some(to)) => {
                (to, Err(taken_back(&id, *why, revoked)))
            }
            (Done::Revoked(id, revoked), Some(to)) => (to, self.revoked(&id, revoked)),
            // Each of these has somebody who waits for it.
            (
                Done::LookedToReply(_)
                | Done::Listed(..)
                | Done::Saved(_)
                | Done::TakenBack(..)
                | Done::Revoked(..),
                None,
            ) => {
                return;
            }
        };
        self.respond(to, result);
    }

    /// An approval is saved: it answers the question, or is taken back.
    fn saved(
        &mut self,
        to: ReplyTo,
        question: &Question,
        saved: Result<Option<Saved>, GrantError>,
    ) {
        let Saved { grant, taken } = match saved {
            Ok(Some(saved)) => saved,
            Ok(None) => {
                let lost = self.lost(question);
                return self.respond(to, Err(lost));
            }
            Err(GrantError::State(error)) => return self.respond(to, Err(storage(&error))),
            Err(error) => {
                let error = MethodError::new(MethodErrorCode::InvalidParams, error.to_string());
                return self.respond(to, Err(error));
            }
        };
        let settled = gate_grant(&grant)
            .map_err(|why| MethodError::new(MethodErrorCode::Internal, why))
            .and_then(|at_gate| {
                let answering = Some(question.id());
                self.gate.grant(at_gate, answering, taken).map_err(refused)
            });
        match settled {
            Ok(settled) => {
                let settled = settled.into_iter().collect();
                self.pending.add(to, Kind::Reply, settled);
            }
            Err(error) => {
                if let Ok(id) = GrantId::new(grant.id.as_str()) {
                    self.gate.revoke(&id);
                }
                self.begin_deed(Some(to), Deed::TakeBack(grant.id, Box::new(error)));
            }
        }
    }

    fn revoked(
        &self,
        id: &wire::GrantId,
        revoked: Result<Option<Box<wire::Grant>>, GrantError>,
    ) -> Result<Reply, MethodError> {
        let revoked = revoked.map_err(|error| storage(&error))?;
        if let Ok(id) = GrantId::new(id.as_str()) {
            self.gate.revoke(&id);
        }
        let grant = *revoked.ok_or_else(|| unknown(id))?;
        Ok(Reply::GrantsRevoke(wire::Revoked { grant }))
    }

    /// The pod ends: what is not begun is not done, what is done is waited for.
    pub(super) async fn end_deeds(&mut self) {
        for (to, to_do) in self.deeds.take_queue() {
            match (to, &to_do.deed) {
                // It must not stay.
                (to, Deed::TakeBack(..)) => self.deeds.add(to, to_do),
                (Some(to), _) => self.respond(to, Err(stopping())),
                (None, _) => {}
            }
        }
        while !self.deeds.is_empty() {
            let (to, done) = self.deeds.next().await;
            self.done(to, done);
        }
    }
}

/// Takes the uses that the questions take which an approval settles. What cannot be taken leaves its
/// question open.
fn with_uses(grant: wire::Grant, question: &Question, gate: &SharedGate) -> Saved {
    let taken = match gate_grant(&grant) {
        Ok(at_gate) => gate.take_uses_for(&at_gate, Some(question.id())),
        Err(_) => TakenUses::default(),
    };
    Saved { grant, taken }
}

/// What the person hears whose approval came too late.
fn taken_back(
    id: &wire::GrantId,
    why: MethodError,
    revoked: Result<bool, GrantError>,
) -> MethodError {
    match revoked {
        Ok(_) => why,
        // They are told that it stays.
        Err(error) => {
            tracing::error!(%error, grant = %id, "a grant that answered nothing stays");
            let mut told = storage(&error);
            told.message = format!(
                "{}; the approval is saved all the same as `{id}` and cannot be taken back: {}",
                why.message, told.message
            );
            told.with_help(format!("`podward grants revoke {id}`"))
        }
    }
}

fn unknown(id: &wire::GrantId) -> MethodError {
    let message = format!("there is no grant `{}`", shown_id(id.as_str()));
    MethodError::new(MethodErrorCode::UnknownGrant, message)
}
