//! Requests that are answered later: when what they asked for is on disk.

use std::collections::{BTreeMap, BTreeSet};

use podward_gate::RequestId;
use podward_protocol::{MethodError, MethodId, PermissionSettled, Reply};
use tokio::sync::oneshot;

use super::connection::ClientNumber;

/// Where the answer to a request goes.
#[derive(Debug)]
pub(super) enum ReplyTo {
    /// To a client.
    Remote(ClientNumber, MethodId),
    /// To somebody in this process.
    Local(oneshot::Sender<Result<Reply, MethodError>>),
}

impl ReplyTo {
    /// Whether it goes to this client.
    pub(super) fn is_to(&self, number: ClientNumber) -> bool {
        matches!(self, Self::Remote(client, _) if *client == number)
    }
}

/// Which method it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Reply,
    RejectAll,
}

/// An answer whose decisions are not all on disk.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) to: ReplyTo,
    pub(super) kind: Kind,
    /// What is not yet.
    waiting: BTreeSet<RequestId>,
    pub(super) settled: Vec<PermissionSettled>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct PendingReplies {
    all: BTreeMap<u64, Pending>,
    /// Which of them waits for a decision: each decision is made by one answer.
    by_question: BTreeMap<RequestId, u64>,
    next: u64,
}

impl PendingReplies {
    /// An answer has settled these questions; none of them is on disk yet.
    pub(super) fn add(&mut self, to: ReplyTo, kind: Kind, waiting: BTreeSet<RequestId>) {
        self.next += 1;
        for id in &waiting {
            self.by_question.insert(id.clone(), self.next);
        }
        self.all.insert(
            self.next,
            Pending {
                to,
                kind,
                waiting,
                settled: Vec::new(),
            },
        );
    }

    /// Whether an answer waits for a decision.
    pub(super) fn waits_for(&self, id: &RequestId) -> bool {
        self.by_question.contains_key(id)
    }

    /// How many requests of a client wait.
    pub(super) fn n_of(&self, number: ClientNumber) -> usize {
        let all = self.all.values();
        all.filter(|pending| pending.to.is_to(number)).count()
    }

    /// A decision is on disk; returns the answer that is complete by it.
    pub(super) fn decided(
        &mut self,
        id: &RequestId,
        settled: &PermissionSettled,
    ) -> Option<Pending> {
        let number = self.by_question.remove(id)?;
        let pending = self.all.get_mut(&number)?;
        pending.waiting.remove(id);
        pending.settled.push(settled.clone());
        if pending.waiting.is_empty() {
            self.all.remove(&number)
        } else {
            None
        }
    }

    /// Nothing more comes to the disk.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Pending> {
        self.by_question.clear();
        std::mem::take(&mut self.all).into_values()
    }
}
