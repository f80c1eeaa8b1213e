//! From a request to a pod.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_gate::Gate;
use podward_manifest::{Resolved, WorkspaceMode};
use podward_policy::ToolName;
use podward_protocol::{Event, Notice, SessionId, SkillStarted, SkillStarter};
use podward_scope::Scope;
use podward_tools::{NoChildren, NoSkills, Place, RunContext, Unjudged};
use podward_worker::{
    ActiveSkills, Approver, Hooks, Journal, PermissionHook, Proposer, SharedGate, Unattended,
    Worker,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::announcer::{Announced, Announcer};
use super::begun::{self, Begun};
use super::children::{HeardBelow, inherited_skills, wire};
use super::error::PodError;
use super::hooks::{exposed_hooks, hook_context, hook_programs, programs};
use super::opening::{Opening, changes, layer_digests, notices, opening};
use super::protected::protected;
use super::scope::{declared, open_scope};
use super::settings::{environment, secrets, tool_limits, turn_limits};
use super::tools::{offered, tools};
use super::{N_WAITING, Out, Parts, Pod, PodRequest, SessionChoice};
use crate::children::{HandedScope, approve_again};
use crate::decision_log::LogContext;
use crate::grants::GrantStore;
use crate::hook::{Asked, HookContext, HookPrograms};
use crate::narrator::Narrator;
use crate::places::Places;
use crate::private;
use crate::prompt::system_prompt;
use crate::serve::{Auto, RunDir};
use crate::session::{Opened, Session, SessionJournal};
use crate::skills::Catalogue;
use crate::undo::{self, KeepRequest};
use crate::wire;
use crate::workplace::Workplace;

/// Who hears a pod.
pub(super) struct Audience {
    pub(super) out: Out,
    pub(super) attendance: Attendance,
    pub(super) auto: Auto,
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
        SessionChoice::Resume(prefix) => Some(begun::resume(places, prefix, &request)?),
        SessionChoice::OfChild(id) => begun::go_on_below(places, id, &request)?,
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
    let skills = Catalogue::find(
        &request.loaded.resolved.skill_directories,
        places,
        &workspace,
        &request.loaded.workspace,
    );
    let protected = protected(
        places,
        &request.loaded,
        &workspace,
        programs(places, &request, &workspace, &hooks)?,
        &skills,
    );
    let decl = declared(&request.loaded, &skills, &workspace);
    let scope = open_scope(&request, &decl, &workspace, &workplace, &protected)?;
    let handed_scope = HandedScope::of(&scope.granted(), &decl, &workspace, &protected);
    let begun = match resumed {
        Some(begun) => begun,
        None => begun::create(places, &request)?,
    };
    let mut notices = notices(&request.loaded);
    notices.extend(skills.notices());
    notices.extend(exposed_hooks(places, &request, &workspace, &hooks));
    notices.extend(changes(&begun, &request, origin));
    let ground = Ground {
        workplace,
        workspace,
        scope,
        handed_scope,
        found: Found {
            hooks,
            skills: Arc::new(skills),
        },
    };
    assemble(places, request, audience, begun, ground, notices)
}

/// Where a pod works, and what it was found to work with.
struct Ground {
    workplace: Workplace,
    workspace: PathBuf,
    scope: Scope,
    /// What children are given of it.
    handed_scope: HandedScope,
    found: Found,
}

/// What the user has written for the pod, beside its layers.
struct Found {
    hooks: HookPrograms,
    skills: Arc<Catalogue>,
}

fn workplace(places: &Places, left: Option<&str>) -> Result<Workplace, PodError> {
    let left = left.and_then(|left| Workplace::take_over(places, Path::new(left)));
    Ok(match left {
        Some(workplace) => workplace,
        None => Workplace::create(places)?,
    })
}

/// The last part of a start: what follows cannot fail but for the disk.
fn assemble(
    places: &Places,
    request: PodRequest,
    audience: Audience,
    mut begun: Begun,
    ground: Ground,
    mut notices: Vec<Notice>,
) -> Result<(Pod, Parts), PodError> {
    let (workplace, workspace) = (ground.workplace, ground.workspace);
    let resolved = &request.loaded.resolved;
    (begun.session).begin_run(opened(&request, &workplace, &ground.scope))?;
    let tools = tools(&request.loaded, &ground.found.skills.listing());
    let (offered, withheld) = offered(resolved, &tools);
    let tools_told = (offered.as_slice(), withheld.as_slice());
    let first = first_event(&request, &begun, &workspace, tools_told, &ground.scope);
    let (id, session_dir) = place(&begun.session);
    let narrator = narrator(&request, &id, begun.n_turns);
    let context = log_context(&request, &id, &workspace);
    approve_again(begun.parked.as_mut(), places, &request.loaded, &context);
    let mut run_context = run_context(places, &request, ground.scope, &workspace, &workplace);
    let grants = grants(places, &request, &id, &mut notices);
    let gate = gate(resolved, grants.as_ref());
    let below = wire(
        &request,
        (places, &workspace, &session_dir),
        (ground.handed_scope, &gate),
        &audience,
        &mut run_context,
    );
    let kept_notices = keep(places, &request, &workplace, &context, &mut run_context);
    let (events, told) = mpsc::channel(N_WAITING);
    let hook_context = Arc::new(hook_context(places, &request, &id, &workspace));
    let mut attended = attend(audience.attendance, &ground.found, &hook_context);
    let proposer = Proposer::new(tools.clone(), run_context.place.clone());
    let mut parts = parts(&gate, proposer, grants, &begun, &mut attended, below.heard);
    let hooks = all_hooks(&request, ground.found.hooks.hooks(hook_context), &gate);
    let journal = journal(begun.session, context);
    let worker = Worker::builder(request.model, gate, journal, run_context)
        .system(system_prompt(&workspace, &offered, &resolved.system))
        .tools(tools)
        .offered(offered)
        .hooks(hooks)
        .approver(attended.approver)
        .events(events)
        .limits(turn_limits(resolved))
        .history(begun.history)
        .parked(begun.parked)
        .skills(ground.found.skills)
        .under(inherited_skills(&request.loaded))
        .spending(below.spending)
        .build();
    // It is empty until here.
    let _ = below.skills.set(worker.skills());
    parts.skills = worker.skills();
    let pod = Pod {
        opening: told_first(first, notices, &worker),
        worker,
        told,
        kept_notices,
        narrator,
        out: audience.out,
        asked: attended.asked,
        span: span(resolved, &id),
        session: id,
        session_dir,
        workspace,
        _workplace: workplace,
    };
    Ok((pod, parts))
}

fn journal(session: Session, context: LogContext) -> Box<dyn Journal> {
    Box::new(SessionJournal { session, context })
}

/// What a server needs of the pod; its skills are those of the worker, which is made later.
fn parts(
    gate: &SharedGate,
    proposer: Proposer,
    grants: Option<Arc<GrantStore>>,
    begun: &Begun,
    attended: &mut Attended,
    below: HeardBelow,
) -> Parts {
    Parts {
        gate: gate.clone(),
        proposer,
        skills: ActiveSkills::default(),
        grants,
        n_turns: begun.n_turns,
        is_asking: begun.parked.is_some(),
        asked_hooks: attended.asked_hooks.take(),
        notices: std::mem::replace(&mut attended.notices, mpsc::channel(1).1),
        from_below: below.told,
        attended: below.attended,
    }
}

/// What is told first; `tools`: those that are offered, and those that are not.
fn first_event(
    request: &PodRequest,
    begun: &Begun,
    workspace: &Path,
    tools: (&[ToolName], &[ToolName]),
    scope: &Scope,
) -> Event {
    opening(&Opening {
        request,
        session: &begun.session,
        workspace,
        offered: tools.0,
        withheld: tools.1,
        scope,
        is_resumed: begun.last.is_some(),
    })
}

/// A session's id and directory.
fn place(session: &Session) -> (SessionId, PathBuf) {
    (session.id().clone(), session.directory().to_owned())
}

/// What every line of the program's own log says, and that the pod starts.
fn span(resolved: &Resolved, session: &SessionId) -> tracing::Span {
    let span = tracing::info_span!("pod", name = resolved.pod.name.as_str(), %session);
    span.in_scope(|| tracing::info!("pod starts"));
    span
}

fn narrator(request: &PodRequest, session: &SessionId, n_turns: u64) -> Narrator {
    let key = request.key.as_ref().map(|key| key.origin().clone());
    let resolved = &request.loaded.resolved;
    Narrator::new(session.clone(), n_turns, Arc::clone(&request.clock))
        .with_key(key)
        .with_rules(resolved.policies.clone(), resolved.programs.clone())
}

/// What is told before anything happens, the skills that are still active last.
fn told_first(first: Event, notices: Vec<Notice>, worker: &Worker) -> Vec<Event> {
    let active = worker.skills().list().into_iter();
    let active = active.map(|skill| {
        Event::SkillStarted(SkillStarted {
            by: SkillStarter::Session,
            ..wire::skill_started(&skill, None)
        })
    });
    let notices = notices.into_iter().map(Event::Notice);
    [first].into_iter().chain(notices).chain(active).collect()
}

/// Who answers what a worker asks, and who is told of it.
struct Attended {
    approver: Arc<dyn Approver>,
    asked: mpsc::Receiver<Announced>,
    asked_hooks: Option<Asked>,
    notices: mpsc::Receiver<Notice>,
}

fn attend(attendance: Attendance, found: &Found, context: &Arc<HookContext>) -> Attended {
    let (asks, asked) = mpsc::channel(N_WAITING);
    let (notices_in, notices) = mpsc::channel(N_WAITING);
    let (approver, asked_hooks): (Arc<dyn Approver>, _) = match attendance {
        Attendance::Nobody => (Arc::new(Unattended), None),
        Attendance::Server => {
            let asked_hooks = found.hooks.asked(context).start(notices_in);
            let skills = Arc::clone(&found.skills);
            (Arc::new(Announcer { asks, skills }), asked_hooks)
        }
    };
    Attended {
        approver,
        asked,
        asked_hooks,
        notices,
    }
}

/// The gate of the pod, by its rules and by what is remembered.
fn gate(resolved: &Resolved, grants: Option<&Arc<GrantStore>>) -> SharedGate {
    let gate = Gate::new(resolved.policies.clone().indexed());
    match grants {
        Some(grants) => SharedGate::with_ledger(gate, Arc::<GrantStore>::clone(grants)),
        None => SharedGate::new(gate),
    }
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
        skills: Arc::new(NoSkills),
        children: Arc::new(NoChildren),
        session: None,
        cancel: CancellationToken::new(),
    }
}
