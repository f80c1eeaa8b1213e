//! From the hooks that a manifest declares to those that a pod runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use podward_manifest::DeclaredHook;
use podward_protocol::{Notice, SessionId};

use super::PodRequest;
use super::error::PodError;
use crate::file::shown;
use crate::hook::{HookContext, HookPrograms, Writable, environment, key_program};
use crate::places::{PROJECT_DIR, Places};

/// Finds the program of every hook.
pub(super) fn hook_programs(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
) -> Result<HookPrograms, PodError> {
    found(places, request, workspace, &request.loaded.resolved.hooks)
}

/// The files of all that runs without being confined: hooks, and what prints keys, here and in every pod that
/// may be started below this one. They are kept from this one's tools.
pub(super) fn programs(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
    hooks: &HookPrograms,
) -> Result<Vec<PathBuf>, PodError> {
    let children = request.loaded.children.values();
    let below: Vec<_> = children
        .flat_map(|child| child.mentioned.hooks.iter().cloned())
        .collect();
    let below = found(places, request, workspace, &below)?;
    let files = hooks.files().chain(below.files()).map(Path::to_path_buf);
    Ok(files
        .chain(key_programs(places, request, workspace)?)
        .collect())
}

fn found(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
    hooks: &[DeclaredHook],
) -> Result<HookPrograms, PodError> {
    let writable = Writable::of_pod(places, &request.loaded, workspace);
    let environment = hook_environment(request, &writable);
    let accounts = places.accounts();
    HookPrograms::find(hooks, workspace, &environment, accounts, &writable).map_err(PodError::Hooks)
}

/// The files that every command runs which prints a key, here or in pods that may be started below: they are
/// not confined either, and run each time that a pod starts.
fn key_programs(
    places: &Places,
    request: &PodRequest,
    workspace: &Path,
) -> Result<Vec<PathBuf>, PodError> {
    let writable = Writable::of_pod(places, &request.loaded, workspace);
    let environment = hook_environment(request, &writable);
    let below = request.loaded.children.values();
    let below = below.flat_map(|child| &child.mentioned.key_places.commands);
    let own = &request.loaded.resolved.key_places.commands;
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for command in own.iter().chain(below) {
        match key_program(command, &environment, places.accounts(), &writable) {
            Ok(program) => files.extend(program.files),
            Err(problem) if problem.is_harmless(&writable) => {}
            Err(problem) => problems.push(problem),
        }
    }
    match problems.is_empty() {
        true => Ok(files),
        false => Err(PodError::Hooks(problems)),
    }
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
        environment: hook_environment(
            request,
            &Writable::of_pod(places, &request.loaded, workspace),
        ),
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
    let writable = Writable::of_pod(places, &request.loaded, workspace);
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
