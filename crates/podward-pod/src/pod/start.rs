//! From a request to a pod.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_gate::Gate;
use podward_manifest::{KeySource, Resolved, WorkspaceMode};
use podward_policy::ToolName;
use podward_protocol::{
    Confinement, ConfinementLevel, Event, Notice, PROTOCOL_VERSION, SessionId, SessionStarted,
};
use podward_scope::{Level, Protected, Scope};
use podward_tools::{Place, Registry, RunContext, Unjudged};
use podward_worker::{
    Approver, Entry, History, Hooks, Parked, PermissionHook, Proposer, SharedGate, Unattended,
    Worker,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::PodError;
use super::hooks::{exposed_hooks, hook_context, hook_programs};
use super::settings::{environment, secrets, tool_limits, turn_limits};
use super::{Announcer, N_WAITING, Out, Parts, Pod, PodRequest, SessionChoice};
use crate::decision_log::LogContext;
use crate::file::shown;
use crate::grants::{self, GrantStore};
use crate::hook::HookPrograms;
use crate::layers::Loaded;
use crate::narrator::Narrator;
use crate::places::{PROJECT_DIR, Places};
use crate::private;
use crate::prompt::system_prompt;
use crate::serve::RunDir;
use crate::session::{LayerDigest, Opened, Reopened, Session, SessionJournal, find_session};
use crate::trust::Standing;
use crate::undo::{self, KeepRequest};
use crate::workplace::{CopyOrigin, Workplace};

/// A session as a run finds it.
struct Begun {
    session: Session,
    pod: Option<String>,
    last: Option<Opened>,
    history: History,
    parked: Option<Parked>,
    n_turns: u64,
}

/// Who hears a pod.
pub(super) struct Audience {
    pub(super) out: Out,
    pub(super) attendance: Attendance,
}

/// Who answers its questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attendance {
    Nobody,
    /// The server around it.
    Server,
}

pub(super) fn start(
    places: &Places,
    request: PodRequest,
    audience: Audience,
) -> Result<(Pod, Parts), PodError> {
    let resumed = match &request.session {
        SessionChoice::New => None,
        SessionChoice::Resume(prefix) => Some(resume(places, prefix, &request)?),
    };
    // What is not there cannot be protected.
    private::ensure_directory(places.state_dir())?;
    if let Err(error) = RunDir::open(places) {
        // Whoever needs a socket in it hears of it.
        tracing::debug!(%error, "no run directory");
    }
    let store = undo::base(places);
    if request.loaded.resolved.undo.keep && store.is_dir() {
        private::ensure_directory(&store)?;
    }
    let left = resumed.as_ref().and_then(|begun| begun.last.as_ref());
    let workplace = workplace(places, left.map(|last| last.temp.as_str()))?;
    let (workspace, origin) = match request.loaded.resolved.pod.workspace.mode {
        WorkspaceMode::Direct => (request.loaded.workspace.clone(), None),
        WorkspaceMode::Copy => {
            let (copy, origin) = workplace.copy_of(&request.loaded.workspace, places)?;
            (copy, Some(origin))
        }
    };
    let hooks = hook_programs(places, &request, &workspace)?;
    let protected = protected(places, &request.loaded, &workspace, &hooks);
    let scope = Scope::open(
        &request.loaded.resolved.scope,
        &workspace,
        &workplace.temp(),
        &protected,
    )?
    .confine(&request.helper)?;
    let begun = match resumed {
        Some(begun) => begun,
        None => Begun {
            session: Session::create(places, Arc::clone(&request.clock))?,
            pod: None,
            last: None,
            history: History::default(),
            parked: None,
            n_turns: 0,
        },
    };
    let mut notices = notices(&request.loaded);
    notices.extend(exposed_hooks(places, &request, &workspace, &hooks));
    notices.extend(changes(&begun, &request, origin));
    let ground = Ground {
        workplace,
        workspace,
        scope,
        hooks,
    };
    assemble(places, request, audience, begun, ground, notices)
}

/// Where a pod works, and what it was found to work with.
struct Ground {
    workplace: Workplace,
    workspace: PathBuf,
    scope: Scope,
    hooks: HookPrograms,
}

/// Opens a session of earlier and makes its history whole.
fn resume(places: &Places, prefix: &str, request: &PodRequest) -> Result<Begun, PodError> {
    let id = find_session(places, prefix).map_err(PodError::Session)?;
    let Reopened {
        mut session,
        created,
        last,
        entries,
    } = Session::reopen(places, id, Arc::clone(&request.clock))?;
    let replayed = History::replay(&entries).map_err(|source| PodError::Replay {
        session: session.id().to_string(),
        source,
    })?;
    session.append_entries(&replayed.repairs)?;
    let is_prompt = |entry: &&Entry| matches!(entry, Entry::Prompt { .. });
    Ok(Begun {
        session,
        pod: created.map(|created| created.pod),
        last,
        history: replayed.history,
        parked: replayed.parked,
        n_turns: entries.iter().filter(is_prompt).count() as u64,
    })
}

/// Gives every call of a session that has no result one: nobody goes on with it. Returns how many.
pub(crate) fn interrupt(
    places: &Places,
    id: SessionId,
    clock: Arc<dyn crate::clock::Clock>,
) -> Result<usize, PodError> {
    let mut reopened = Session::reopen(places, id, clock)?;
    let replayed = History::replay(&reopened.entries).map_err(|source| PodError::Replay {
        session: reopened.session.id().to_string(),
        source,
    })?;
    let repairs = replayed.interrupted().repairs;
    reopened.session.append_entries(&repairs)?;
    Ok(repairs.len())
}

fn workplace(places: &Places, left: Option<&str>) -> Result<Workplace, PodError> {
    let left = left.and_then(|left| Workplace::take_over(places, Path::new(left)));
    Ok(match left {
        Some(workplace) => workplace,
        None => Workplace::create(places)?,
    })
}

/// What no tool may write, whatever the manifest declares.
fn protected(
    places: &Places,
    loaded: &Loaded,
    workspace: &Path,
    hooks: &HookPrograms,
) -> Vec<Protected> {
    let mut paths: Vec<PathBuf> = vec![
        places.machine_dir().into(),
        places.config_dir().into(),
        workspace.join(PROJECT_DIR),
        loaded.workspace.join(PROJECT_DIR),
    ];
    let layers = loaded.layers.iter().filter_map(|layer| layer.path.clone());
    for path in layers.chain(loaded.program_files.iter().cloned()) {
        paths.extend(path.canonicalize());
        paths.push(path);
    }
    paths.extend(key_programs(loaded));
    paths.extend(hooks.files().map(Path::to_path_buf));
    paths.sort();
    paths.dedup();
    paths
        .into_iter()
        .map(Protected::read_only)
        .chain(state(places).map(Protected::hidden))
        .chain(key_files(loaded).map(Protected::hidden))
        .collect()
}

/// Where podward keeps its own, and where people have put a part of it by a symlink.
fn state(places: &Places) -> impl Iterator<Item = PathBuf> {
    let parts = [
        places.sessions_dir(),
        undo::base(places),
        grants::directory(places),
        places.run_dir().to_owned(),
    ];
    let elsewhere = parts.into_iter().filter_map(|part| {
        let target = part.canonicalize().ok()?;
        (!target.starts_with(places.state_dir())).then_some(target)
    });
    [places.state_dir().to_owned()].into_iter().chain(elsewhere)
}

/// The files of the command that prints the key: it is not confined.
fn key_programs(loaded: &Loaded) -> Vec<PathBuf> {
    let key = loaded.resolved.key.as_ref();
    let Some(KeySource::Command(command)) = key.map(|key| &key.source) else {
        return Vec::new();
    };
    let words = command.argv.iter();
    let paths = words.map(|word| command.directory.join(word));
    paths.filter(|path| path.is_file()).flat_map(both).collect()
}

/// The files with keys, whichever layer's counts. One that is not there cannot be hidden.
fn key_files(loaded: &Loaded) -> impl Iterator<Item = PathBuf> {
    let files = loaded.resolved.key_places.files.iter();
    files
        .filter(|path| path.is_file())
        .flat_map(|path| both(path.clone()))
}

/// A path, and what it leads to.
fn both(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    path.canonicalize().ok().into_iter().chain([path])
}

/// What the manifest's author should hear.
fn notices(loaded: &Loaded) -> Vec<Notice> {
    let warnings = loaded.resolved.warnings.iter();
    let mut notices: Vec<_> = warnings
        .map(|warning| Notice {
            message: warning.to_string(),
            help: None,
        })
        .collect();
    if loaded.project == Some(Standing::Changed) {
        let workspace = shown(&loaded.workspace);
        notices.push(Notice {
            message: "the project's layer was changed since it was trusted".to_owned(),
            help: Some(format!(
                "it can only tighten until you look at it and say `podward trust {workspace}`"
            )),
        });
    }
    notices
}

/// What is not as it was in the session's last run.
fn changes(begun: &Begun, request: &PodRequest, origin: Option<CopyOrigin>) -> Vec<Notice> {
    let Some(last) = &begun.last else {
        return Vec::new();
    };
    let loaded = &request.loaded;
    let mut changes = Vec::new();
    let mut notice = |message: String| {
        tracing::warn!(session = %begun.session.id(), message);
        changes.push(Notice {
            message,
            help: None,
        });
    };
    let pod = begun.pod.as_deref().unwrap_or(&last.pod);
    if pod != loaded.resolved.pod.name.as_str() {
        let name = loaded.resolved.pod.name.as_str();
        notice(format!(
            "the session was begun by the pod `{pod}`, this one is `{name}`"
        ));
    }
    if last.workspace != loaded.workspace.to_string_lossy() {
        let (was, is) = (&last.workspace, shown(&loaded.workspace));
        notice(format!(
            "the workspace was `{was}` in the last run and is `{is}` now"
        ));
    }
    let model = request.model.name();
    if last.model != model {
        let was = &last.model;
        notice(format!(
            "the model was `{was}` in the last run and is `{model}` now"
        ));
    }
    if last.policy_digest != loaded.policy_digest() {
        notice("the rules are not those of the last run".to_owned());
    } else if last.layers != layer_digests(loaded) {
        notice(
            "the manifest is another one than in the last run; the rules are the same".to_owned(),
        );
    }
    if origin == Some(CopyOrigin::Fresh) {
        notice("the copy of the workspace is new: what the last run did in its own is gone".into());
    }
    changes
}

/// The last part of a start: what follows cannot fail but for the disk.
fn assemble(
    places: &Places,
    request: PodRequest,
    audience: Audience,
    begun: Begun,
    ground: Ground,
    mut notices: Vec<Notice>,
) -> Result<(Pod, Parts), PodError> {
    let (workplace, workspace) = (ground.workplace, ground.workspace);
    let resolved = &request.loaded.resolved;
    let mut session = begun.session;
    let run = opened(&request, &workplace, &ground.scope);
    tracing::info!(session = %session.id(), confinement = run.confinement, "pod starts");
    session.begin_run(run)?;
    let (offered, withheld) = offered(resolved);
    let mut opening = vec![opening(&Opening {
        request: &request,
        session: &session,
        workspace: &workspace,
        offered: &offered,
        withheld: &withheld,
        scope: &ground.scope,
        is_resumed: begun.last.is_some(),
    })];
    let span =
        tracing::info_span!("pod", name = resolved.pod.name.as_str(), session = %session.id());
    let (id, session_dir) = (session.id().clone(), session.directory().to_owned());
    let narrator = Narrator::new(id.clone(), begun.n_turns, Arc::clone(&request.clock))
        .with_key(request.key.as_ref().map(|key| key.origin().clone()));
    let context = log_context(&request, &id, &workspace);
    let mut run_context = run_context(places, &request, ground.scope, &workspace, &workplace);
    let kept_notices = keep(places, &request, &workplace, &context, &mut run_context);
    let mut tools = Registry::built_in();
    tools.retain(|name| resolved.tools.contains(name));
    let (events, told) = mpsc::channel(N_WAITING);
    let system = system_prompt(&workspace, &offered, &resolved.system);
    let grants = grants(places, &request, &id, &mut notices);
    opening.extend(notices.into_iter().map(Event::Notice));
    let gate = Gate::new(resolved.policies.clone());
    let gate = match &grants {
        Some(grants) => SharedGate::with_ledger(gate, Arc::<GrantStore>::clone(grants)),
        None => SharedGate::new(gate),
    };
    let (asks, asked) = mpsc::channel(N_WAITING);
    let approver: Arc<dyn Approver> = match audience.attendance {
        Attendance::Nobody => Arc::new(Unattended),
        Attendance::Server => Arc::new(Announcer(asks)),
    };
    let context_of_hooks = Arc::new(hook_context(places, &request, &id, &workspace));
    let (notices_in, notices) = mpsc::channel(N_WAITING);
    let asked_hooks = match audience.attendance {
        Attendance::Nobody => None,
        Attendance::Server => ground.hooks.asked(&context_of_hooks).start(notices_in),
    };
    let hooks = ground.hooks.hooks(context_of_hooks);
    let parts = Parts {
        gate: gate.clone(),
        proposer: Proposer::new(tools.clone(), run_context.place.clone()),
        grants,
        n_turns: begun.n_turns,
        is_asking: begun.parked.is_some(),
        asked_hooks,
        notices,
    };
    let hooks = all_hooks(&request, hooks, &gate);
    let limits = turn_limits(resolved);
    let journal = Box::new(SessionJournal { session, context });
    let worker = Worker::builder(request.model, gate, journal, run_context)
        .tools(tools)
        .offered(offered)
        .hooks(hooks)
        .approver(approver)
        .events(events)
        .limits(limits)
        .system(system)
        .history(begun.history)
        .parked(begun.parked)
        .build();
    let pod = Pod {
        worker,
        told,
        kept_notices,
        narrator,
        opening,
        out: audience.out,
        asked,
        span,
        session: id,
        session_dir,
        workspace,
        _workplace: workplace,
    };
    Ok((pod, parts))
}

/// The approvals that are remembered for the workspace; what is wrong with them is a notice.
fn grants(
    places: &Places,
    request: &PodRequest,
    session: &SessionId,
    notices: &mut Vec<Notice>,
) -> Option<Arc<GrantStore>> {
    let mut notice = |message: String, help| notices.push(Notice { message, help });
    let clock = Arc::clone(&request.clock);
    match GrantStore::open(places, &request.loaded.workspace, session, clock) {
        Ok((store, problems)) => {
            for problem in problems {
                notice(problem.to_string(), None);
            }
            Some(Arc::new(store))
        }
        Err(error) => {
            notice(error.to_string(), error.help());
            None
        }
    }
}

/// The permission check, then the manifest's hooks, then those of the program around the pod.
fn all_hooks(request: &PodRequest, declared: Hooks, gate: &SharedGate) -> Hooks {
    Hooks::new()
        .pre_tool_call(Arc::new(PermissionHook::new(gate.clone())))
        .followed_by(declared)
        .followed_by(request.hooks.clone())
}

/// Lets what calls change be kept for undo, if it shall be; what people should hear of that.
fn keep(
    places: &Places,
    request: &PodRequest,
    workplace: &Workplace,
    log: &LogContext,
    run_context: &mut RunContext,
) -> mpsc::Receiver<String> {
    let (keep, notices) = undo::keep(KeepRequest {
        places,
        loaded: &request.loaded,
        workplace,
        session: &log.session,
        clock: Arc::clone(&request.clock),
        secrets: log.secrets.clone(),
    });
    run_context.keep = keep;
    notices
}

/// What this run is made of, for the session.
fn opened(request: &PodRequest, workplace: &Workplace, scope: &Scope) -> Opened {
    let loaded = &request.loaded;
    Opened {
        podward: env!("CARGO_PKG_VERSION").to_owned(),
        pod: loaded.resolved.pod.name.as_str().to_owned(),
        model: request.model.name().to_owned(),
        workspace: loaded.workspace.to_string_lossy().into_owned(),
        temp: workplace.root().to_string_lossy().into_owned(),
        policy_digest: loaded.policy_digest(),
        layers: layer_digests(loaded),
        confinement: scope.level().map(ToString::to_string).unwrap_or_default(),
    }
}

/// What every line of the decision log says.
fn log_context(request: &PodRequest, session: &SessionId, workspace: &Path) -> LogContext {
    LogContext {
        pod: request.loaded.resolved.pod.name.as_str().to_owned(),
        session: session.clone(),
        workspace: workspace.to_string_lossy().into_owned(),
        cwd: workspace.to_string_lossy().into_owned(),
        policy_digest: request.loaded.policy_digest(),
        secrets: secrets(request),
    }
}

/// What every call may use.
fn run_context(
    places: &Places,
    request: &PodRequest,
    scope: Scope,
    workspace: &Path,
    workplace: &Workplace,
) -> RunContext {
    let resolved = &request.loaded.resolved;
    let environment = environment(request, &workplace.temp());
    let place = Place::new(workspace, places.home().map(Path::to_path_buf));
    RunContext {
        scope: Arc::new(scope),
        place: place
            .with_environment(&environment)
            .with_programs(resolved.programs.clone()),
        limits: tool_limits(&resolved.limits),
        policies: resolved.policies.clone(),
        environment,
        keep: None,
        judge: Arc::new(Unjudged),
        cancel: CancellationToken::new(),
    }
}

/// The tools that the model is told of, and those that no rule could ever let run.
fn offered(resolved: &Resolved) -> (Vec<ToolName>, Vec<ToolName>) {
    let tools = resolved.tools.iter().cloned();
    tools.partition(|tool| resolved.policies.may_ever_run(tool))
}

struct Opening<'a> {
    request: &'a PodRequest,
    session: &'a Session,
    workspace: &'a Path,
    offered: &'a [ToolName],
    withheld: &'a [ToolName],
    scope: &'a Scope,
    is_resumed: bool,
}

fn opening(opening: &Opening<'_>) -> Event {
    let names = |tools: &[ToolName]| tools.iter().map(ToString::to_string).collect();
    Event::SessionStarted(SessionStarted {
        protocol: PROTOCOL_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pod: opening.request.loaded.resolved.pod.name.as_str().to_owned(),
        workspace: opening.workspace.to_string_lossy().into_owned(),
        session_dir: opening.session.directory().to_string_lossy().into_owned(),
        model: opening.request.model.name().to_owned(),
        tools: names(opening.offered),
        withheld_tools: names(opening.withheld),
        policy_digest: opening.request.loaded.policy_digest(),
        confinement: confinement(opening.scope),
        resumed: opening.is_resumed,
    })
}

fn confinement(scope: &Scope) -> Confinement {
    let level = match scope.level() {
        Some(Level::Kernel { .. }) => ConfinementLevel::Kernel,
        Some(Level::Partial { .. }) => ConfinementLevel::Partial,
        Some(Level::None { .. }) | None => ConfinementLevel::None,
    };
    Confinement {
        level,
        detail: scope.level().map(ToString::to_string).unwrap_or_default(),
    }
}

fn layer_digests(loaded: &Loaded) -> Vec<LayerDigest> {
    let layers = loaded.layers.iter();
    layers
        .map(|layer| LayerDigest {
            layer: layer.kind.as_str().to_owned(),
            file: layer.name.as_ref().to_owned(),
            digest: layer.digest.clone(),
        })
        .collect()
}
