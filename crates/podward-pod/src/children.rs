//! Child pods: processes of their own, below the pod that starts them in every respect.

mod above;
mod approved;
mod error;
mod inheritance;
mod kept;
mod over;
mod past;
mod process;
mod slots;
mod talk;
mod told;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use podward_gate::{CallId, session_note};
use podward_manifest::{ChildMode, DeclaredChild, LayerKind};
use podward_protocol::SessionId;
use podward_tools::{ChildCall, RunChild, ToolOutput};
use podward_worker::{ActiveSkills, SharedGate, Spending};
use tokio_util::sync::CancellationToken;

pub(crate) use above::{Above, FromBelow};
pub(crate) use approved::approve_again;
pub use error::ChildError;
pub use inheritance::Inheritance;
pub(crate) use inheritance::{Estate, HandedLayer, HandedManifest, HandedScope};
pub(crate) use over::time_to_end_children;
pub(crate) use process::end_like_the_pod_above;
pub(crate) use slots::Slots;

use self::over::Over;
use self::past::Past;
use self::process::Process;
use crate::clock::Clock;
use crate::error::with_causes;
use crate::layers::Loaded;
use crate::places::Places;
use crate::session::{Session, new_id};
use crate::skills;

/// Runs the children of a pod.
pub(crate) struct Children {
    places: Places,
    clock: Arc<dyn Clock>,
    declared: BTreeMap<String, DeclaredChild>,
    loaded: Loaded,
    /// What starts one: a program whose `child` is podward's.
    program: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    estate: Estate,
    skills: Arc<OnceLock<ActiveSkills>>,
    gate: SharedGate,
    spending: Spending,
    above: Option<Above>,
    output_bytes: usize,
}

/// What the children of a pod are made from.
pub(crate) struct ChildrenRequest {
    pub(crate) places: Places,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) loaded: Loaded,
    pub(crate) program: Option<PathBuf>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) estate: Estate,
    /// Who knows whether what is asked is kept when the pod stops.
    pub(crate) gate: SharedGate,
    pub(crate) spending: Spending,
    /// Who hears of what they ask; `None`: nobody.
    pub(crate) above: Option<Above>,
    pub(crate) output_bytes: usize,
}

impl Children {
    pub(crate) fn new(request: ChildrenRequest) -> Self {
        let declared = request.loaded.resolved.children.iter();
        Self {
            places: request.places,
            clock: request.clock,
            declared: declared
                .map(|child| (child.name.as_str().to_owned(), child.clone()))
                .collect(),
            loaded: request.loaded,
            program: request.program,
            variables: request.variables,
            estate: request.estate,
            skills: Arc::default(),
            gate: request.gate,
            spending: request.spending,
            above: request.above,
            output_bytes: request.output_bytes,
        }
    }

    /// Where the skills are to be put that are active when a child starts.
    pub(crate) fn skills(&self) -> Arc<OnceLock<ActiveSkills>> {
        Arc::clone(&self.skills)
    }

    /// What the model is told of them.
    pub(crate) fn listing(loaded: &Loaded) -> String {
        let children = loaded.resolved.children.iter();
        let names: Vec<_> = children.map(|child| format!("- {}", child.name)).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!("The children:\n{}", names.join("\n")),
        }
    }

    /// What a child is given.
    fn inheritance(
        &self,
        child: &DeclaredChild,
        session: SessionId,
        steps_left: Option<u32>,
    ) -> Result<Inheritance, ChildError> {
        let manifest = self.loaded.children.get(&child.manifest);
        let manifest = manifest.ok_or(ChildError::NotRead)?.text.clone();
        let layers = handed_layers(&self.loaded, child.mode);
        let above = self
            .loaded
            .under
            .iter()
            .flat_map(|under| under.skills.iter().cloned());
        let active = self
            .skills
            .get()
            .map(ActiveSkills::list)
            .unwrap_or_default();
        let active = active.iter().map(|skill| (*skill.record).clone());
        let limits = &self.loaded.resolved.limits;
        Ok(Inheritance {
            format: inheritance::FORMAT.to_owned(),
            parent: std::process::id(),
            session,
            name: child.name.as_str().to_owned(),
            layers,
            manifest,
            skills: above.chain(active).collect(),
            max_steps: [child.max_steps, steps_left].into_iter().flatten().min(),
            turn_timeout: Some(child.turn_timeout.unwrap_or(limits.turn_timeout)),
            estate: self.estate.clone(),
        })
    }

    async fn work(
        &self,
        call: &CallId,
        child: &DeclaredChild,
        session: SessionId,
        prompt: String,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ChildError> {
        let name = child.name.as_str();
        let prompt = match self.past(session.clone()).await? {
            Past::NotBegun => Some(prompt),
            Past::InTurn => None,
            Past::Ended(told) => return Ok(told.output(name, self.output_bytes)),
        };
        let program = self.program.as_deref().ok_or(ChildError::NoProgram)?;
        let left = self.spending.steps_left();
        if left == Some(0) {
            return Err(ChildError::NoSteps);
        }
        let _slots = slots::take(&self.estate.slots)?;
        let inheritance = self.inheritance(child, session, left)?;
        let limits = &self.loaded.resolved.limits;
        let over = Over {
            cancel,
            gate: &self.gate,
            spending: &self.spending,
            timeout: child.turn_timeout.unwrap_or(limits.turn_timeout),
            n_below: self.estate.depth,
        };
        let mut up = self.above.as_ref().map(|above| above.of(call, name));
        let (mut process, stream) = Process::start(program, &self.variables, &inheritance)?;
        tracing::info!(%call, child = name, "a child starts");
        let mut meter = self.spending.meter();
        let left = talk::talk(stream, name, prompt, up.as_mut(), &mut meter, &over).await;
        // It ends once nobody holds the connection to it, and the server around this pod holds it too.
        if let Some(up) = up {
            up.ended().await;
        }
        // Whatever it does by now, and all that it started, ends here.
        let said = process.end(left.until).await;
        let told = left.told.map_err(|error| error.with_words(said))?;
        Ok(told.output(name, self.output_bytes))
    }

    /// How far the child of a session has come before.
    async fn past(&self, session: SessionId) -> Result<Past, ChildError> {
        let (places, clock) = (self.places.clone(), Arc::clone(&self.clock));
        let reading = tokio::task::spawn_blocking(move || past::past(&places, &session, clock));
        reading
            .await
            .map_err(|error| ChildError::io("read its session", error.into()))?
    }
}

#[async_trait]
impl RunChild for Children {
    fn session(&self) -> Option<String> {
        Some(new_id(self.clock.as_ref()).to_string())
    }

    async fn run(&self, call: ChildCall<'_>, cancel: &CancellationToken) -> ToolOutput {
        let ChildCall {
            id,
            session,
            child,
            prompt,
        } = call;
        let failed = |why: String| {
            ToolOutput::failure(format!("the child `{}` did not do it: {why}", shown(child)))
        };
        let Some(declared) = self.declared.get(child) else {
            let names: Vec<_> = self.declared.keys().map(String::as_str).collect();
            return failed(format!("there is none; there are {}", names.join(", ")));
        };
        if self.loaded.resolved.limits.child_depth == 0 {
            return failed("no child can be started here: `limits.child_depth` is reached".into());
        }
        // Who may start a skill is a person.
        if !matches!(skills::prompt(Some(prompt.clone()), None), Ok(Some(prompt)) if prompt.skill.is_none())
        {
            return failed(
                "a prompt for a child does not begin with `/`: that starts a skill".into(),
            );
        }
        let session = session.and_then(|session| SessionId::new(session).ok());
        let session = session.unwrap_or_else(|| new_id(self.clock.as_ref()));
        let worked = self.work(id, declared, session.clone(), prompt, cancel);
        let mut output = match worked.await {
            Ok(output) => output,
            Err(error) => failed(with_causes(&error)),
        };
        if output.is_error && Session::directory_of(&self.places, &session).is_dir() {
            output.content = format!("{}\n{}", session_note(session.as_str()), output.content);
        }
        output
    }

    async fn is_in_turn(&self, session: &str) -> bool {
        let Ok(session) = SessionId::new(session) else {
            return false;
        };
        match self.past(session).await {
            Ok(past) => matches!(past, Past::InTurn),
            Err(error) => {
                tracing::error!(%error, "what a child was at is not known");
                false
            }
        }
    }
}

/// The layers that a child is given beside its own manifest.
fn handed_layers(loaded: &Loaded, mode: ChildMode) -> Vec<HandedLayer> {
    // What this pod was given itself is not its own to take away.
    let is_handed = |kind: LayerKind| match mode {
        ChildMode::Ceiling => true,
        ChildMode::Independent => kind != LayerKind::Manifest,
    };
    let paths: BTreeMap<_, _> = (loaded.layers.iter())
        .map(|layer| ((layer.kind, Arc::clone(&layer.name)), layer.path.clone()))
        .collect();
    let sources = loaded.sources.iter();
    sources
        .filter(|source| is_handed(source.kind))
        .map(|source| {
            let path = paths.get(&(source.kind, Arc::clone(&source.file)));
            HandedLayer::of(source, path.cloned().flatten())
        })
        .collect()
}

/// A name that a model wrote, as it may be told.
fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}
