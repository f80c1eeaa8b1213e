//! `podward run MANIFEST [PROMPT]`.

mod events;
mod prompt;
mod signals;

use podward_manifest::KeySource;
use podward_pod::layers::Loaded;
use podward_pod::{
    ModelKey, Places, Pod, PodError, PodRequest, SessionChoice, declared_model, hand_over,
    model_key,
};
use podward_worker::{EndReason, TurnEnd};
use tokio_util::sync::CancellationToken;

use self::events::Written;
use self::prompt::Prompt;
use self::signals::Received;
use crate::arguments::{Format, Run};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

pub(super) fn run(arguments: Run, key: Option<ModelKey>, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let manifest = Some(arguments.manifest.as_path());
    let loaded = layers::load(&places, manifest, &arguments.layers)?;
    // May start this program again: nothing may be read or said before.
    leave_keys_behind(&loaded)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let key = runtime.block_on(model_key(&loaded.resolved, &places, key))?;
    let request = request(&arguments, loaded, key)?;
    let declared = &request.loaded.resolved.model;
    let prompt = Prompt::of(&arguments, declared, screen)?;
    runtime.block_on(turn(&places, request, prompt, arguments.format, screen))
}

/// Takes every variable that a layer names as that of a key out of this process.
fn leave_keys_behind(loaded: &Loaded) -> Result<(), Failure> {
    let key = loaded.resolved.key.as_ref();
    let key = key.and_then(|key| match &key.source {
        KeySource::Variable(name) => Some(name.as_str()),
        KeySource::Nowhere | KeySource::File(_) | KeySource::Command(_) => None,
    });
    let all = &loaded.resolved.key_places.variables;
    let others: Vec<&str> = all
        .iter()
        .map(|name| name.as_str())
        .filter(|name| Some(*name) != key)
        .collect();
    Ok(hand_over(key, &others)?)
}

/// What the pod is made from.
fn request(arguments: &Run, loaded: Loaded, key: Option<ModelKey>) -> Result<PodRequest, Failure> {
    let model = declared_model(&loaded.resolved, &[prompt::DEMO], key.as_ref())?;
    let mut request = PodRequest::new(loaded, model);
    request.key = key;
    if let Some(id) = &arguments.resume {
        request.session = SessionChoice::Resume(id.clone());
    }
    Ok(request)
}

async fn turn(
    places: &Places,
    request: PodRequest,
    prompt: Prompt,
    format: Format,
    screen: Screen,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
    let (mut pod, events) = Pod::start(places, request)?;
    let writer = {
        let cancel = cancel.clone();
        tokio::task::spawn_blocking(move || events::write(events, format, screen, &cancel))
    };
    let end = match prompt {
        Prompt::Text(text) => pod.run(text, cancel).await,
        Prompt::GoOn => go_on(&mut pod, cancel, screen).await,
    };
    // The last event is written when nobody is left to send one.
    drop(pod);
    let written = writer.await.map_err(|_| Failure::Writer)?;
    let received = watch.stop().await;
    match written {
        Written::All => Ok(exit(&end?, received)),
        Written::ReaderGone => Ok(Exit::Failed),
        Written::Failed(error) => Err(Failure::Stdout(error)),
    }
}

/// Finishes the turn that was cut off, if one was.
async fn go_on(
    pod: &mut Pod,
    cancel: CancellationToken,
    screen: Screen,
) -> Result<TurnEnd, PodError> {
    let end = pod.resume(cancel).await?;
    if end.n_steps == 0 && end.reason == EndReason::Done {
        screen.say(
            Look::Strong,
            "note",
            "no turn was cut off: say what to do next",
        );
    }
    Ok(end)
}

/// What the exit code says about a turn.
fn exit(end: &TurnEnd, received: Option<Received>) -> Exit {
    match (&end.reason, received) {
        (EndReason::Cancelled, Some(Received::Interrupt)) => Exit::Interrupted,
        (EndReason::Cancelled, Some(Received::Terminate)) => Exit::Terminated,
        (EndReason::Done, _) if end.n_refused == 0 => Exit::Done,
        (EndReason::Done, _) => Exit::Refusals,
        (
            EndReason::Cancelled
            | EndReason::Limit(_)
            | EndReason::Aborted { .. }
            | EndReason::Model(_),
            _,
        ) => Exit::Failed,
    }
}
