//! From a child to the server around its parent: what it asks, and whether somebody is there to answer.

use podward_client::Client;
use podward_gate::CallId;
use podward_protocol as wire;
use podward_protocol::{ChildWork, ChildWorked, PermissionRequest, PermissionSettled};
use tokio::sync::{mpsc, watch};

/// What a child tells, by the call that started it.
pub(crate) enum FromBelow {
    /// It runs, and takes answers here.
    Began {
        call: String,
        client: Client,
    },
    Asked {
        call: String,
        request: Box<PermissionRequest>,
    },
    Settled {
        call: String,
        settled: PermissionSettled,
    },
    /// It, or a pod below it, does something; all calls have ids of the pod that hears it.
    Worked(Box<ChildWorked>),
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
        let client = client.clone();
        self.tell(|call| FromBelow::Began { call, client }).await;
    }

    pub(super) async fn asked(&self, request: PermissionRequest) {
        let request = Box::new(request);
        self.tell(|call| FromBelow::Asked { call, request }).await;
    }

    pub(super) async fn settled(&self, settled: PermissionSettled) {
        self.tell(|call| FromBelow::Settled { call, settled }).await;
    }

    /// The child itself does something.
    pub(super) async fn did(&self, did: ChildWork) {
        let worked = ChildWorked {
            call: wire::CallId::new(&*self.call),
            pod: self.child.clone(),
            path: self.path.clone(),
            did: did.with_calls(|id| self.renamed(id)),
        };
        self.tell(|_| FromBelow::Worked(Box::new(worked))).await;
    }

    /// A pod below the child does something.
    pub(super) async fn worked(&self, worked: ChildWorked) {
        let worked = ChildWorked {
            call: self.renamed(&worked.call),
            did: worked.did.with_calls(|id| self.renamed(id)),
            ..worked
        };
        self.tell(|_| FromBelow::Worked(Box::new(worked))).await;
    }

    /// What the pod above calls a call of the child.
    fn renamed(&self, id: &wire::CallId) -> wire::CallId {
        wire::CallId::new(format!("{}/{}", self.call, id.as_str()))
    }

    pub(super) async fn ended(self) {
        self.tell(|call| FromBelow::Ended { call }).await;
    }

    /// Tells the server; one that is gone need not hear it.
    async fn tell(&self, what: impl FnOnce(String) -> FromBelow) {
        let _ = self.to.send(what(self.call.clone())).await;
    }
}
