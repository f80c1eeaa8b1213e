//! The connection to one pod, made again where it is lost.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use podward_client::{Client, ClientError, Events};
use podward_protocol::{Hello, Method, Reply};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::input::{Input, PodNews, Refused, Target};

/// How long it is waited before a lost connection is made again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));

/// Requests that may wait.
const N_ASKS: usize = 64;

/// A pod's connection.
pub(super) struct Connection {
    asks: mpsc::Sender<(Target, Box<Method>)>,
    _task: AbortOnDropHandle<()>,
}

impl Connection {
    pub(super) fn new(at: usize, socket: PathBuf, hello: Hello, tell: mpsc::Sender<Input>) -> Self {
        let (asks, asked) = mpsc::channel(N_ASKS);
        let line = Line {
            at,
            socket,
            hello,
            tell,
            asked,
        };
        Self {
            asks,
            _task: AbortOnDropHandle::new(tokio::spawn(line.stay())),
        }
    }

    /// Asks for something; gives it back where that cannot be.
    pub(super) fn ask(&self, target: Target, method: Box<Method>) -> Option<(Target, Refused)> {
        let why = "too much was asked for that is not answered yet";
        let error = self.asks.try_send((target, method)).err()?;
        let (target, _) = error.into_inner();
        Some((target, Refused::Lost(why.to_owned())))
    }
}

struct Line {
    at: usize,
    socket: PathBuf,
    hello: Hello,
    tell: mpsc::Sender<Input>,
    asked: mpsc::Receiver<(Target, Box<Method>)>,
}

impl Line {
    /// Stays connected for ever.
    async fn stay(mut self) {
        let mut pause = PAUSES.0;
        loop {
            let connected = Client::connect(&self.socket, self.hello.clone()).await;
            let why = match connected {
                Ok((client, events)) => {
                    pause = PAUSES.0;
                    let welcome = client.welcome().clone();
                    self.tell(PodNews::Connected(welcome)).await;
                    self.talk(client, events).await
                }
                Err(error) => chain(&error),
            };
            self.tell(PodNews::Lost(why.clone())).await;
            let end = tokio::time::sleep(pause);
            tokio::pin!(end);
            loop {
                tokio::select! {
                    () = &mut end => break,
                    Some((target, _)) = self.asked.recv() => {
                        let refused = Err(Refused::Lost(why.clone()));
                        self.tell(PodNews::Replied(target, refused)).await;
                    }
                }
            }
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Passes on what is told and asked, until the connection is lost: why.
    async fn talk(&mut self, client: Client, mut events: Events) -> String {
        let mut calls: JoinSet<(Target, Result<Reply, Refused>)> = JoinSet::new();
        loop {
            tokio::select! {
                told = events.next() => match told {
                    Some(envelope) => self.tell(PodNews::Told(Box::new(envelope))).await,
                    None => break,
                },
                Some((target, method)) = self.asked.recv() => {
                    let client = client.clone();
                    calls.spawn(async move { (target, call(&client, *method).await) });
                }
                Some(Ok((target, result))) = calls.join_next() => {
                    self.tell(PodNews::Replied(target, result)).await;
                }
            }
        }
        // Each of them ends now that the connection is over.
        while let Some(done) = calls.join_next().await {
            if let Ok((target, result)) = done {
                self.tell(PodNews::Replied(target, result)).await;
            }
        }
        chain(&events.ending())
    }

    async fn tell(&self, news: PodNews) {
        // Nobody listens any more: the client ends.
        let _ = self.tell.send(Input::Pod(self.at, Box::new(news))).await;
    }
}

async fn call(client: &Client, method: Method) -> Result<Reply, Refused> {
    client.call(method).await.map_err(|error| match error {
        ClientError::Refused(error) => Refused::ByPod(error),
        lost => Refused::Lost(chain(&lost)),
    })
}

/// An error with its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
