//! What came in, and what became of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

/// A request that came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Its headers, names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// Its body; null if that is no JSON.
    pub body: Value,
    /// What is wrong with it.
    pub problem: Option<String>,
}

impl Recorded {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }
}

/// All that came in.
#[derive(Debug)]
pub(crate) struct Ledger {
    requests: Mutex<Vec<Recorded>>,
    n_requests: watch::Sender<usize>,
    n_abandoned: watch::Sender<usize>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            requests: Mutex::default(),
            n_requests: watch::Sender::new(0),
            n_abandoned: watch::Sender::new(0),
        }
    }

    /// Records a request; gives its number, from 0.
    pub(crate) fn record(&self, request: Recorded) -> usize {
        let mut requests = self.lock();
        let number = requests.len();
        requests.push(request);
        drop(requests);
        self.n_requests.send_replace(number + 1);
        number
    }

    pub(crate) fn abandon(&self) {
        self.n_abandoned
            .send_modify(|n_abandoned| *n_abandoned += 1);
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    pub(crate) async fn requested(&self, n_requests: usize) {
        reach(&self.n_requests, n_requests).await;
    }

    pub(crate) async fn abandoned(&self, n_answers: usize) {
        reach(&self.n_abandoned, n_answers).await;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn reach(count: &watch::Sender<usize>, wanted: usize) {
    // The sender lives as long as `count`: the wait ends with the number only.
    let _ = count.subscribe().wait_for(|found| *found >= wanted).await;
}
