//! What a pod tells first: what it is made of, and what is not as one might think.

use std::path::Path;

use podward_policy::ToolName;
use podward_protocol::{
    Confinement, ConfinementLevel, Event, Notice, PROTOCOL_VERSION, SessionStarted,
};
use podward_scope::{Level, Scope};

use super::PodRequest;
use super::begun::Begun;
use crate::file::shown;
use crate::layers::Loaded;
use crate::session::{LayerDigest, Session};
use crate::trust::Standing;
use crate::workplace::CopyOrigin;

/// What the manifest's author should hear.
pub(super) fn notices(loaded: &Loaded) -> Vec<Notice> {
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
pub(super) fn changes(
    begun: &Begun,
    request: &PodRequest,
    origin: Option<CopyOrigin>,
) -> Vec<Notice> {
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

pub(super) struct Opening<'a> {
    pub(super) request: &'a PodRequest,
    pub(super) session: &'a Session,
    pub(super) workspace: &'a Path,
    pub(super) offered: &'a [ToolName],
    pub(super) withheld: &'a [ToolName],
    pub(super) scope: &'a Scope,
    pub(super) is_resumed: bool,
}

pub(super) fn opening(opening: &Opening<'_>) -> Event {
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

pub(super) fn layer_digests(loaded: &Loaded) -> Vec<LayerDigest> {
    let layers = loaded.layers.iter();
    layers
        .map(|layer| LayerDigest {
            layer: layer.kind.as_str().to_owned(),
            file: layer.name.as_ref().to_owned(),
            digest: layer.digest.clone(),
        })
        .collect()
}
