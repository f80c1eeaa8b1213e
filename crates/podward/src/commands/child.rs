//! `podward child`: what a pod starts for its tool `spawn`.

use podward_manifest::AutoAnswers;
use podward_pod::{
    Attended, Auto, Inheritance, LocalClient, ModelKey, ServeRequest, Server, Socket,
};
use podward_protocol::{Method, Stop};
use tokio_util::sync::CancellationToken;

use super::made;
use crate::connection::Caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::signals;

pub(super) fn run(key: Option<ModelKey>) -> Result<Exit, Failure> {
    // Before anything else: who started this process may end at any moment.
    let inheritance = Inheritance::receive()?;
    let places = layers::places()?;
    let (runtime, pod) = made::child(&places, &inheritance, key)?;
    let auto = match pod.loaded.resolved.approvals.auto {
        AutoAnswers::Allow => inheritance.auto(),
        AutoAnswers::Forbid => Auto::Off,
    };
    let connection = inheritance.connection()?;
    let request = ServeRequest {
        pod,
        socket: Socket::Wanted,
        attended: Attended::No,
        auto,
    };
    let served = runtime.block_on(async {
        let cancel = CancellationToken::new();
        let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
        let (server, LocalClient { mut events, caller }) = Server::start(&places, request)?;
        let server = server.under(connection)?;
        let (stopped, caller) = (server.stop_token(), Caller::Here(caller));
        let reading = async { while events.recv().await.is_some() {} };
        let stopping = async {
            tokio::select! {
                () = cancel.cancelled() => {
                    // It may be stopping already.
                    let _ = caller.call(Method::Stop(Stop {})).await;
                }
                () = stopped.cancelled() => {}
            }
        };
        let (served, (), ()) = tokio::join!(server.run(), reading, stopping);
        watch.stop().await;
        Ok::<_, Failure>(served)
    });
    served??;
    Ok(Exit::Done)
}
