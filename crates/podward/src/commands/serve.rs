//! `podward serve MANIFEST`.

use podward_pod::{
    Attended, LocalClient, ModelKey, Places, PodError, ServeRequest, Server, SessionChoice, Socket,
    newest_session,
};
use podward_protocol::{Method, Stop};
use tokio_util::sync::CancellationToken;

use super::following::{Following, Reader, ends};
use super::made;
use crate::arguments::{Format, Serve};
use crate::connection::{Caller, Events};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Lists};
use crate::layers;
use crate::question::Prompts;
use crate::screen::Screen;
use crate::signals::{self, Received};
use crate::transcript::Asked;

pub(super) fn run(
    arguments: Serve,
    key: Option<ModelKey>,
    screen: Screen,
) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let (runtime, mut pod) = made::pod(
        &places,
        &arguments.manifest,
        &arguments.layers,
        arguments.resume.as_deref(),
        key,
    )?;
    pod.session = match arguments.resume.as_deref() {
        None => SessionChoice::New,
        Some("") => {
            let name = pod.loaded.resolved.pod.name.as_str();
            let newest = newest_session(&places, name, &pod.loaded.workspace);
            SessionChoice::Resume(newest.map_err(PodError::Session)?.to_string())
        }
        Some(id) => SessionChoice::Resume(id.to_owned()),
    };
    let request = ServeRequest {
        pod,
        socket: Socket::Required,
        attended: Attended::No,
        auto: made::auto(arguments.auto),
    };
    runtime.block_on(serve(&places, request, arguments.format, screen))
}

async fn serve(
    places: &Places,
    request: ServeRequest,
    format: Format,
    screen: Screen,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
    let auto = request.auto;
    let (server, LocalClient { events, caller }) = Server::start(places, request)?;
    made::say_auto(auto, screen);
    let caller = Caller::Here(caller);
    let stop = server.stop_token();
    let stopped = CancellationToken::new();
    let (ended, ends) = ends();
    let follow = Follow {
        events: Events::Here(events),
        caller: caller.clone(),
        format,
        screen,
        terminal: None,
        prompts: Prompts::NotTaken,
        whom: Asked::Clients,
        lists: Lists::Unanswered,
        cancel: cancel.clone(),
        done: CancellationToken::new(),
        ended,
    };
    let following = Following::start(follow, ends);
    let stopping = async {
        tokio::select! {
            () = cancel.cancelled() => {
                // It may be stopping already.
                let _ = caller.call(Method::Stop(Stop {})).await;
            }
            // Whoever reads what is written holds up no end, whoever asked for it.
            () = stop.cancelled() => cancel.cancel(),
            () = stopped.cancelled() => {}
        }
    };
    let serving = async {
        let served = server.run().await;
        stopped.cancel();
        served
    };
    let (served, ()) = tokio::join!(serving, stopping);
    let reader = following.finish().await;
    let received = watch.stop().await;
    let reader = reader?;
    if let Reader::Stuck = reader {
        signals::end(received);
    }
    served?;
    Ok(match (reader, received) {
        (Reader::Gone | Reader::Stuck, _) => Exit::Failed,
        (Reader::There | Reader::Cut(_), received) => received.map_or(Exit::Done, Received::exit),
    })
}
