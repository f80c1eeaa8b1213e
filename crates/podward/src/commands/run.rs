//! `podward run MANIFEST [PROMPT]`.

use podward_manifest::OnAsk;
use podward_pod::{
    Attended, LocalClient, ModelKey, Places, PodRequest, ServeRequest, Server, SessionChoice,
    Socket,
};
use podward_protocol::{Cancel, Method, MethodErrorCode, Reply, Run as RunTurn, Stop, TurnEnded};
use tokio_util::sync::CancellationToken;

use super::following::{Following, Reader, ends, exit};
use super::made;
use crate::arguments::{Format, Run};
use crate::connection::{CallError, Caller, Events};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Lists};
use crate::layers;
use crate::prompt::Prompt;
use crate::question::Prompts;
use crate::screen::{Look, Screen};
use crate::signals::{self, Received, Watch};
use crate::terminal::Terminal;
use crate::transcript::Asked;

pub(super) fn run(arguments: Run, key: Option<ModelKey>, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let (runtime, mut pod) = made::pod(
        &places,
        &arguments.manifest,
        &arguments.layers,
        arguments.resume.as_deref(),
        key,
    )?;
    if let Some(id) = &arguments.resume {
        pod.session = SessionChoice::Resume(id.clone());
    }
    let declared = &pod.loaded.resolved.model;
    let given = arguments.prompt.as_deref();
    let prompt = Prompt::of_a_run(
        given,
        arguments.resume.as_deref(),
        declared,
        arguments.skill.as_deref(),
        screen,
    )?;
    let auto = made::auto(arguments.auto);
    runtime.block_on(async {
        let person = Person::of(&pod);
        let request = ServeRequest {
            pod,
            socket: Socket::Wanted,
            attended: match &person.terminal {
                Some(_) => Attended::Yes,
                None => Attended::No,
            },
            auto,
        };
        turn(&places, request, prompt, person, arguments.format, screen).await
    })
}

/// Who may answer, and what is said if nobody does.
struct Person {
    terminal: Option<Terminal>,
    whom: Asked,
}

impl Person {
    /// Needs a runtime around it.
    fn of(pod: &PodRequest) -> Self {
        let resolved = &pod.loaded.resolved;
        Self {
            terminal: Terminal::of_a_person(),
            whom: match resolved.approvals.on_ask {
                OnAsk::Refuse | OnAsk::Error => Asked::Nobody,
                OnAsk::Wait => Asked::Clients,
            },
        }
    }
}

async fn turn(
    places: &Places,
    request: ServeRequest,
    prompt: Prompt,
    person: Person,
    format: Format,
    screen: Screen,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
    let auto = request.auto;
    let (server, LocalClient { events, caller }) = Server::start(places, request)?;
    made::say_auto(auto, screen);
    let caller = Caller::Here(caller);
    let (ended, turn_ends) = ends();
    let follow = Follow {
        events: Events::Here(events),
        caller: caller.clone(),
        format,
        screen,
        terminal: person.terminal,
        prompts: Prompts::NotTaken,
        whom: person.whom,
        lists: Lists::Unanswered,
        cancel: cancel.clone(),
        done: CancellationToken::new(),
        ended,
    };
    let mut following = Following::start(follow, turn_ends);
    let ends = Ends {
        cancel: &cancel,
        watch: &watch,
    };
    let driving = drive(&caller, prompt, &mut following, ends, screen);
    let (served, driven) = tokio::join!(server.run(), driving);
    let reader = following.finish().await;
    let received = watch.stop().await;
    let reader = reader?;
    if let Reader::Stuck = reader {
        signals::end(received);
    }
    served?;
    let driven = driven?;
    Ok(match (reader, driven) {
        (Reader::Gone | Reader::Stuck, _) => Exit::Failed,
        (Reader::There | Reader::Cut(_), None) => received.map_or(Exit::Failed, Received::exit),
        (Reader::There | Reader::Cut(_), Some(Driven::Ended(end))) => exit(&end, received),
        (Reader::There | Reader::Cut(_), Some(Driven::NothingToDo)) => Exit::Done,
    })
}

/// What became of the one thing that was to be done.
enum Driven {
    Ended(TurnEnded),
    NothingToDo,
}

/// What ends the turn before its time.
#[derive(Clone, Copy)]
struct Ends<'a> {
    cancel: &'a CancellationToken,
    watch: &'a Watch,
}

impl Ends<'_> {
    /// After SIGTERM what waits for an answer is kept, as by a pod that is told to stop.
    fn method(self) -> Method {
        match self.watch.received() {
            Some(Received::Terminate) => Method::Stop(Stop {}),
            Some(Received::Interrupt) | None => Method::Cancel(Cancel {}),
        }
    }
}

/// Has the pod work through one turn, then stops it. `None`: it ended before the turn did.
async fn drive(
    caller: &Caller,
    prompt: Prompt,
    following: &mut Following,
    ends: Ends<'_>,
    screen: Screen,
) -> Result<Option<Driven>, Failure> {
    let driven = one_turn(caller, prompt, following, ends, screen).await;
    // It may have stopped already.
    let _ = caller.call(Method::Stop(Stop {})).await;
    driven
}

async fn one_turn(
    caller: &Caller,
    prompt: Prompt,
    following: &mut Following,
    ends: Ends<'_>,
    screen: Screen,
) -> Result<Option<Driven>, Failure> {
    let run = match prompt {
        Prompt::Text { prompt, skill } => RunTurn { prompt, skill },
        Prompt::GoOn => RunTurn {
            prompt: None,
            skill: None,
        },
    };
    let started = async {
        let running = caller.call(Method::Run(run));
        tokio::pin!(running);
        tokio::select! {
            started = &mut running => started,
            () = ends.cancel.cancelled() => {
                // There may be no turn yet; then it is cancelled below.
                let _ = caller.call(ends.method()).await;
                running.await
            }
        }
    };
    let turn = match started.await {
        Ok(Reply::Run(started)) => started.turn,
        Ok(_) => return Ok(None),
        Err(CallError::Refused(error)) if error.code == MethodErrorCode::NothingToResume => {
            let what = "no turn was cut off: say what to do next";
            screen.say(Look::Strong, "note", what);
            return Ok(Some(Driven::NothingToDo));
        }
        // A signal came first.
        Err(CallError::Refused(error)) if error.code == MethodErrorCode::Stopping => {
            return Ok(None);
        }
        // What ends the pod is its own error, and says more.
        Err(CallError::Refused(error)) if error.code == MethodErrorCode::Storage => {
            return Ok(None);
        }
        Err(error) => return Err(Failure::Call(error)),
    };
    let end = tokio::select! {
        end = following.end_of(turn) => end,
        () = ends.cancel.cancelled() => {
            // It may have ended just now.
            let _ = caller.call(ends.method()).await;
            following.end_of(turn).await
        }
    };
    Ok(end.map(Driven::Ended))
}
