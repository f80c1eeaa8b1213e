//! SIGINT and SIGTERM: the first cancels the turn, the second ends the process at once.

use std::sync::{Arc, OnceLock};

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// A signal that asked for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    Interrupt,
    Terminate,
}

/// A task that waits for signals.
pub(crate) struct Watch {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    first: Arc<OnceLock<Received>>,
}

/// Begins to wait for signals.
///
/// # Errors
/// The handlers cannot be set.
pub(crate) fn watch(cancel: CancellationToken) -> std::io::Result<Watch> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // A file that may not grow is an error of the write, like a full disk, and no end of the process.
    // Set to a handler and not ignored: what is started has the default again.
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
    let (stop, mut stopped) = oneshot::channel();
    let first = Arc::new(OnceLock::new());
    let heard = Arc::clone(&first);
    let task = tokio::spawn(async move {
        loop {
            let received = tokio::select! {
                _ = &mut stopped => return,
                _ = interrupt.recv() => Received::Interrupt,
                _ = terminate.recv() => Received::Terminate,
            };
            if heard.set(received).is_err() {
                end(Some(received));
            }
            cancel.cancel();
        }
    });
    Ok(Watch { stop, task, first })
}

impl Watch {
    /// The signal that was received so far, if there was one.
    pub(crate) fn received(&self) -> Option<Received> {
        self.first.get().copied()
    }

    /// The same, and waits no longer for one.
    pub(crate) async fn stop(self) -> Option<Received> {
        // The task is there until it hears this.
        let _ = self.stop.send(());
        let _ = self.task.await;
        self.first.get().copied()
    }
}

/// Ends the process at once: a thread of it never ends. What is on disk is valid at any moment.
pub(crate) fn end(received: Option<Received>) -> ! {
    let exit = received.map_or(Exit::Failed, Received::exit);
    crate::terminal::give_back();
    std::process::exit(i32::from(exit.code()))
}

impl Received {
    /// The exit code.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }
}
