//! The layers of a child: what the pod above gives it, and its own manifest.

use std::path::PathBuf;
use std::sync::Arc;

use podward_manifest::{LayerKind, OnAsk, PodName, Surroundings, WorkspaceMode};

use super::error::{LayerProblem, LoadError};
use super::{Loaded, Reading, children};
use crate::children::{HandedLayer, Inheritance};
use crate::places::Places;

/// Checks and joins the layers of a child. Nothing is read but the models of programs that they name.
///
/// # Errors
/// Everything that is wrong with its manifest.
pub(crate) fn load(places: &Places, inheritance: &Arc<Inheritance>) -> Result<Loaded, LoadError> {
    let mut reading = Reading {
        places,
        sources: Vec::new(),
        layers: Vec::new(),
        error: LoadError::default(),
    };
    reading.hand_all(&inheritance.layers);
    let own = &inheritance.manifest;
    reading.take(children::source(own), Some(own.path.clone()));
    let mut surroundings = Surroundings {
        home: places.home().map(PathBuf::from),
        ..Surroundings::default()
    };
    let directory = reading.workspace(Some(&inheritance.estate.workspace), &surroundings);
    surroundings.program_texts = reading.programs(&surroundings);
    let manifests = children::handed(&inheritance.estate.manifests, &surroundings);
    let loaded = reading.finish(directory, None, &surroundings, Some(manifests))?;
    hold(loaded, inheritance, &surroundings)
}

/// Takes from what the layers say what is not for a child to say.
pub(super) fn hold(
    mut loaded: Loaded,
    inheritance: &Arc<Inheritance>,
    surroundings: &Surroundings,
) -> Result<Loaded, LoadError> {
    let refuse = |problem| {
        let mut error = LoadError::default();
        error.add(LayerKind::Manifest, problem);
        Err(error)
    };
    let resolved = &mut loaded.resolved;
    let own = children::mentioned_in(&inheritance.manifest, surroundings);
    if own.workspace.mode == WorkspaceMode::Copy {
        return refuse(LayerProblem::ChildCopy);
    }
    // A pod above that works on a copy gives the copy.
    resolved.pod.workspace.mode = WorkspaceMode::Direct;
    match PodName::new(&inheritance.name) {
        Ok(name) => resolved.pod.name = name,
        Err(_) => return refuse(LayerProblem::Handed),
    }
    if !inheritance.estate.waits {
        let on_ask = &mut resolved.approvals.on_ask;
        *on_ask = OnAsk::Refuse.max(*on_ask);
    }
    let limits = &mut resolved.limits;
    if let Some(steps) = inheritance.max_steps {
        limits.max_steps = limits.max_steps.min(steps);
    }
    if let Some(timeout) = inheritance.turn_timeout {
        limits.turn_timeout = limits.turn_timeout.min(timeout);
    }
    limits.child_depth = limits.child_depth.min(inheritance.estate.depth);
    loaded.under = Some(Arc::clone(inheritance));
    Ok(loaded)
}

impl Reading<'_> {
    /// Adds layers that were read by pods above.
    pub(super) fn hand_all<'a>(&mut self, layers: impl IntoIterator<Item = &'a HandedLayer>) {
        for layer in layers {
            match layer.source() {
                Some(source) => self.take(source, layer.path.clone()),
                None => self.error.add(LayerKind::Parent, LayerProblem::Handed),
            }
        }
    }
}
