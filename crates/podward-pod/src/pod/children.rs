//! What a pod gives to the pods that it starts, and was given itself.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use podward_manifest::OnAsk;
use podward_skill::WorkflowRecord;
use podward_tools::RunContext;
use podward_worker::{ActiveSkills, SharedGate, Spending};
use tokio::sync::{mpsc, watch};

use super::start::{Attendance, Audience};
use super::{N_WAITING, PodRequest};
use crate::children::{Above, Children, ChildrenRequest, Estate, FromBelow, HandedScope, Slots};
use crate::hook::Writable;
use crate::key::KeyOrigin;
use crate::layers::Loaded;
use crate::places::Places;
use crate::serve::Auto;

/// The skills that are active in pods above.
pub(super) fn inherited_skills(loaded: &Loaded) -> Vec<WorkflowRecord> {
    let under = loaded.under.as_ref();
    under.map(|under| under.skills.clone()).unwrap_or_default()
}

/// What ties a pod to its children.
pub(super) struct Below {
    pub(super) heard: HeardBelow,
    /// Where they write down what they spend.
    pub(super) spending: Spending,
    /// Where the skills are to be put that are active when a child starts.
    pub(super) skills: Arc<OnceLock<ActiveSkills>>,
}

/// What children tell, and what they are told of who is there.
pub(super) struct HeardBelow {
    pub(super) told: mpsc::Receiver<FromBelow>,
    pub(super) attended: watch::Sender<bool>,
}

/// Lets calls run the children of the pod.
pub(super) fn wire(
    request: &PodRequest,
    (places, workspace, session_dir): (&Places, &Path, &Path),
    (scope, gate): (HandedScope, &SharedGate),
    audience: &Audience,
    context: &mut RunContext,
) -> Below {
    let spending = Spending::default();
    let (to_above, told) = mpsc::channel(N_WAITING);
    let (attended, is_attended) = watch::channel(false);
    let own = request.loaded.resolved.pod.name.as_str().to_owned();
    let path: Vec<String> = (request.loaded.above().iter().cloned())
        .chain([own])
        .collect();
    let above = match audience.attendance {
        Attendance::Nobody => None,
        Attendance::Server => Some(Above::new(to_above, is_attended, path.clone())),
    };
    let about = (audience.auto, &*context, (gate, &spending), above);
    let writable = Writable::of_pod(places, &request.loaded, workspace);
    let scope = (scope, writable.roots().to_vec());
    let slots = slots(request, session_dir);
    let given = (places, workspace, path, slots);
    let children = children(request, given, scope, about);
    let skills = children.skills();
    context.children = Arc::new(children);
    Below {
        heard: HeardBelow { told, attended },
        spending,
        skills,
    }
}

/// The slots that a child of the pod takes: of the pods above it, and of the pod itself.
fn slots(request: &PodRequest, session_dir: &Path) -> Vec<Slots> {
    let loaded = &request.loaded;
    let above = loaded
        .under
        .iter()
        .flat_map(|under| under.estate.slots.clone());
    let name = loaded.resolved.pod.name.as_str();
    let own = Slots::new(name, session_dir, loaded.resolved.limits.children);
    above.chain([own]).collect()
}

/// What runs the children of the pod.
fn children(
    request: &PodRequest,
    (places, workspace, path, slots): (&Places, &Path, Vec<String>, Vec<Slots>),
    (scope, writable): (HandedScope, Vec<PathBuf>),
    (auto, context, (gate, spending), above): (
        Auto,
        &RunContext,
        (&SharedGate, &Spending),
        Option<Above>,
    ),
) -> Children {
    let loaded = &request.loaded;
    let under = loaded.under.as_ref();
    let own = loaded.resolved.environment.iter().map(ToString::to_string);
    let environment = under.map(|under| under.estate.environment.clone());
    let key = request.key.as_ref().and_then(|key| match key.origin() {
        KeyOrigin::Variable(variable) => Some((variable.to_string(), key.reveal().to_owned())),
        // It is where it was.
        KeyOrigin::File(_) | KeyOrigin::Command(_) => None,
    });
    let estate = Estate {
        path,
        depth: loaded.resolved.limits.child_depth.saturating_sub(1),
        manifests: (loaded.children.values())
            .map(|manifest| manifest.text.clone())
            .collect(),
        workspace: workspace.to_owned(),
        scope,
        writable,
        environment: environment
            .into_iter()
            .flatten()
            .chain([own.collect()])
            .collect(),
        slots,
        waits: loaded.resolved.approvals.on_ask == OnAsk::Wait,
        auto,
        key,
    };
    Children::new(ChildrenRequest {
        places: places.clone(),
        clock: Arc::clone(&request.clock),
        loaded: loaded.clone(),
        program: request.child_program.clone(),
        variables: request.variables.clone(),
        estate,
        gate: gate.clone(),
        spending: spending.clone(),
        above,
        output_bytes: context.limits.output_bytes,
    })
}
