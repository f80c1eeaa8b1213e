//! From a child to the server around its parent: what it asks, and whether somebody is there to answer.

use podward_client::Client;
use podward_gate::CallId;
use podward_protocol as wire;
use podward_protocol::{ChildWork, ChildWorked, PermissionRequest, PermissionSettled};
use tokio::sync::{mpsc, watch};

/// What a child tells; questions and calls have ids of the pod that hears it.
pub(crate) enum FromBelow {
    /// One that this call started runs, and takes answers here.
    Began {
        call: String,
        client: Client,
    },
    Asked(Box<PermissionRequest>),
    Settled(PermissionSettled),
    /// It, or a pod below it, does something.
    Worked(Box<ChildWorked>),
    /// The one that this call started is gone.
    Ended {
        call: String,
    },
}

/// The server around a pod, as its children reach it.
#[derive(Clone)]
pub(crate) struct Above {
    to: mpsc::Sender<FromBelow>,
    is_attended: watch::Receiver<bool>,
    /// The names of the pods above a child, outermost first.
    path: Vec<String>,
}

/// The same for one child.
pub(super) struct Up {
    call: String,
    child: String,
    path: Vec<String>,
    to: mpsc::Sender<FromBelow>,
    pub(super) is_attended: watch::Receiver<bool>,
}

impl Above {
    pub(crate) const fn new(
        to: mpsc::Sender<FromBelow>,
        is_attended: watch::Receiver<bool>,
        path: Vec<String>,
    ) -> Self {
        Self {
            to,
            is_attended,
            path,
        }
    }

    pub(super) fn of(&self, call: &CallId, child: &str) -> Up {
        Up {
            call: call.as_str().to_owned(),
            child: child.to_owned(),
            path: self.path.clone(),
            to: self.to.clone(),
            is_attended: self.is_attended.clone(),
        }
    }
}

impl Up {
    pub(super) async fn began(&self, client: &Client) {
        let (call, client) = (self.call.clone(), client.clone());
        self.tell(FromBelow::Began { call, client }).await;
    }

    pub(super) async fn asked(&self, request: PermissionRequest) {
        let request = PermissionRequest {
            id: self.renamed_question(&request.id),
            call: self.renamed(&request.call),
            part_of: request.part_of.map(|part_of| self.renamed(&part_of)),
            ..request
        };
        self.tell(FromBelow::Asked(Box::new(request))).await;
    }

    pub(super) async fn settled(&self, settled: PermissionSettled) {
        let id = self.renamed_question(&settled.id);
        let settled = PermissionSettled { id, ..settled };
        self.tell(FromBelow::Settled(settled)).await;
    }

    /// The child itself does something.
    pub(super) async fn did(&self, did: ChildWork) {
        let worked = ChildWorked {
            call: wire::CallId::new(&*self.call),
            pod: self.child.clone(),
            path: self.path.clone(),
            did: did.with_calls(|id| self.renamed(id)),
        };
        self.tell(FromBelow::Worked(Box::new(worked))).await;
    }

    /// A pod below the child does something.
    pub(super) async fn worked(&self, worked: ChildWorked) {
        let worked = ChildWorked {
            call: self.renamed(&worked.call),
            did: worked.did.with_calls(|id| self.renamed(id)),
            ..worked
        };
        self.tell(FromBelow::Worked(Box::new(worked))).await;
    }

    /// What the pod above calls a call of the child.
    fn renamed(&self, id: &wire::CallId) -> wire::CallId {
        wire::CallId::new(format!("{}/{}", self.call, id.as_str()))
    }

    /// The same for a question.
    fn renamed_question(&self, id: &wire::RequestId) -> wire::RequestId {
        wire::RequestId::new(format!("{}/{}", self.call, id.as_str()))
    }

    pub(super) async fn ended(self) {
        let call = self.call.clone();
        self.tell(FromBelow::Ended { call }).await;
    }

    /// Tells the server; one that is gone need not hear it.
    async fn tell(&self, what: FromBelow) {
        let _ = self.to.send(what).await;
    }
}
