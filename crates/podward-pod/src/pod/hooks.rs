//! From the hooks that a manifest declares to those that a pod runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use podward_manifest::DeclaredHook;
use podward_protocol::{Notice, SessionId};

use super::PodRequest;
use super::error::PodError;
use crate::file::shown;
use crate::hook::{HookContext, HookPrograms, Writable, environment};
use crate::places::{PROJECT_DIR, Places};

/// Finds the program of every hook.
pub(super) fn hook_programs(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
) -> Result<HookPrograms, PodError> {
    found(places, request, workspace, &request.loaded.resolved.hooks)
}

/// Finds those of every pod that may be started below this one: what they run is kept from this one's
/// tools too.
pub(super) fn hooks_of_children(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
) -> Result<HookPrograms, PodError> {
    let children = request.loaded.children.values();
    let hooks: Vec<_> = children
        .flat_map(|child| child.mentioned.hooks.iter().cloned())
        .collect();
    found(places, request, workspace, &hooks)
}

fn found(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
    hooks: &[DeclaredHook],
) -> Result<HookPrograms, PodError> {
    let writable = writable(places, request, workspace);
    let environment = hook_environment(request, &writable);
    let accounts = places.accounts();
    HookPrograms::find(hooks, workspace, &environment, accounts, &writable).map_err(PodError::Hooks)
}

/// Where tools can write beside a hook's files.
fn writable(places: &Places, request: &PodRequest, workspace: &Path) -> Writable {
    let own = [
        workspace.join(PROJECT_DIR),
        places.machine_dir().into(),
        places.config_dir().into(),
    ];
    Writable::of(&request.loaded.resolved.scope, workspace, &own)
}

/// What every hook is told.
pub(super) fn hook_context(
    places: &Places,
    request: &PodRequest,
    session: &SessionId,
    workspace: &Path,
) -> HookContext {
    HookContext {
        session: session.clone(),
        pod: request.loaded.resolved.pod.name.as_str().to_owned(),
        workspace: workspace.to_path_buf(),
        environment: hook_environment(request, &writable(places, request, workspace)),
    }
}

/// The variables of hooks: the user's own, and never a model's key, under whatever name.
fn hook_environment(request: &PodRequest, writable: &Writable) -> Vec<(OsString, OsString)> {
    let keys = request.loaded.key_variables();
    let key = request.key.as_ref().map(|key| key.reveal());
    let is_secret = |name: &OsStr, value: &OsStr| {
        keys.iter().any(|key| name == *key) || key.is_some_and(|key| value == key)
    };
    environment(&request.variables, is_secret, writable)
}

/// The hooks whose files lie where tools can write: people should know.
pub(super) fn exposed_hooks(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
    hooks: &HookPrograms,
) -> Vec<Notice> {
    let writable = writable(places, request, workspace);
    hooks
        .exposed(|file| writable.holds(file))
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
