//! From the hooks that a manifest declares to those that a pod runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use podward_protocol::{Notice, SessionId};
use podward_scope::Access;

use super::PodRequest;
use super::error::PodError;
use crate::file::shown;
use crate::hook::{HookContext, HookPrograms, environment};
use crate::places::{PROJECT_DIR, Places};

/// Finds the program of every hook.
pub(super) fn hook_programs(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
) -> Result<HookPrograms, PodError> {
    let hooks = &request.loaded.resolved.hooks;
    let environment = hook_environment(request);
    HookPrograms::find(hooks, workspace, &environment, places.accounts()).map_err(PodError::Hooks)
}

/// What every hook is told.
pub(super) fn hook_context(
    request: &PodRequest,
    session: &SessionId,
    workspace: &Path,
) -> HookContext {
    HookContext {
        session: session.clone(),
        pod: request.loaded.resolved.pod.name.as_str().to_owned(),
        workspace: workspace.to_path_buf(),
        environment: hook_environment(request),
    }
}

/// The variables of hooks: the user's own, and never a model's key, under whatever name.
fn hook_environment(request: &PodRequest) -> Vec<(OsString, OsString)> {
    let keys = &request.loaded.resolved.key_places.variables;
    let key = request.key.as_ref().map(|key| key.reveal());
    environment(&request.variables, |name: &OsStr, value: &OsStr| {
        keys.iter().any(|key| name == key.as_str()) || key.is_some_and(|key| value == key)
    })
}

/// The hooks whose files lie where tools can write: people should know.
pub(super) fn exposed_hooks(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
    hooks: &HookPrograms,
) -> Vec<Notice> {
    let declared = request.loaded.resolved.scope.allow.iter();
    let mut writable: Vec<PathBuf> = declared
        .clone()
        .filter(|root| root.access == Access::Write)
        .filter_map(|root| workspace.join(&root.path).canonicalize().ok())
        .collect();
    if declared.len() == 0 {
        writable.push(workspace.into());
    }
    let own = [
        workspace.join(PROJECT_DIR),
        places.machine_dir().into(),
        places.config_dir().into(),
    ];
    let is_exposed = |file: &Path| {
        writable.iter().any(|root| file.starts_with(root))
            && !own.iter().any(|own| file.starts_with(own))
    };
    hooks
        .exposed(is_exposed)
        .map(|(hook, file)| Notice {
            message: format!(
                "the hook `{hook}` runs `{}`, which lies where tools can write",
                shown(file)
            ),
            help: Some(format!(
                "the file itself is protected, what it loads from beside it is not: move it to \
                 `{PROJECT_DIR}/` or out of the workspace"
            )),
        })
        .collect()
}
