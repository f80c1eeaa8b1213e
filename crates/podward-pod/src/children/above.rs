//! From a child to the server around its parent: what it asks, and whether somebody is there to answer.

use podward_client::Client;
use podward_gate::CallId;
use podward_protocol::{PermissionRequest, PermissionSettled};
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
    Ended {
        call: String,
    },
}

/// The server around a pod, as its children reach it.
#[derive(Clone)]
pub(crate) struct Above {
    to: mpsc::Sender<FromBelow>,
    is_attended: watch::Receiver<bool>,
}

/// The same for one child.
pub(super) struct Up {
    call: String,
    to: mpsc::Sender<FromBelow>,
    pub(super) is_attended: watch::Receiver<bool>,
}

impl Above {
    pub(crate) const fn new(
        to: mpsc::Sender<FromBelow>,
        is_attended: watch::Receiver<bool>,
    ) -> Self {
        Self { to, is_attended }
    }

    pub(super) fn of(&self, call: &CallId) -> Up {
        Up {
            call: call.as_str().to_owned(),
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

    pub(super) async fn ended(self) {
        self.tell(|call| FromBelow::Ended { call }).await;
    }

    /// Tells the server; one that is gone need not hear it.
    async fn tell(&self, what: impl FnOnce(String) -> FromBelow) {
        let _ = self.to.send(what(self.call.clone())).await;
    }
}
