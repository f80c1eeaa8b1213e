//! From what a manifest says to what tools and turns are given.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use podward_manifest::{HookEvent, Limits, Resolved};
use podward_tools::ToolLimits;
use podward_worker::TurnLimits;

use super::PodRequest;
use crate::children::time_to_end_children;
use crate::key::KEY_FD_VARIABLE;
use crate::redact::Secrets;

/// What must not be written down.
pub(super) fn secrets(request: &PodRequest) -> Secrets {
    let text = |text: &OsStr| text.to_str().map(str::to_owned);
    let variables = request.variables.iter();
    let mut secrets =
        Secrets::among(variables.filter_map(|(name, value)| Some((text(name)?, text(value)?))));
    if let Some(key) = &request.key {
        secrets.add("model-key", key.reveal());
    }
    secrets
}

/// The whole environment of commands: what the manifest lets through, and where temporary files
/// go. A variable that any layer names as that of a key is never part of it, nor is one that a pod above
/// keeps from its own.
pub(super) fn environment(request: &PodRequest, temp: &Path) -> Vec<(OsString, OsString)> {
    let resolved = &request.loaded.resolved;
    let under = request.loaded.under.as_ref();
    let keys = request.loaded.key_variables();
    let is_own = |name: &str| keys.contains(&name) || name == KEY_FD_VARIABLE || name == "TMPDIR";
    let passes = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            !is_own(name)
                && under.is_none_or(|under| under.passes(name))
                && resolved
                    .environment
                    .iter()
                    .any(|pattern| pattern.matches(name))
        })
    };
    let variables = request.variables.iter();
    let mut environment: Vec<_> = variables
        .filter(|(name, _)| passes(name))
        .cloned()
        .collect();
    environment.push(("TMPDIR".into(), temp.into()));
    environment
}

/// How much a call may return.
pub(super) fn tool_limits(limits: &Limits) -> ToolLimits {
    let bytes = |n_bytes: u64| usize::try_from(n_bytes).unwrap_or(usize::MAX);
    ToolLimits {
        output_bytes: bytes(limits.output_bytes),
        file_bytes: limits.file_bytes,
        read_bytes: bytes(limits.read_bytes),
        read_lines: limits.read_lines as usize,
        line_bytes: bytes(limits.line_bytes),
        matches: limits.max_matches as usize,
        entries: limits.max_entries as usize,
        bash_timeout: limits.bash_timeout,
        fetch_bytes: bytes(limits.fetch_bytes),
        fetch_timeout: limits.fetch_timeout,
    }
}

/// How long the declared hooks at a turn's end may take together.
fn turn_end_hooks(resolved: &Resolved) -> Duration {
    let hooks = resolved.hooks.iter();
    let ends = hooks.filter(|hook| hook.event == HookEvent::TurnEnd);
    ends.fold(Duration::ZERO, |sum, hook| sum.saturating_add(hook.timeout))
}

/// What ends a turn.
pub(super) fn turn_limits(resolved: &Resolved) -> TurnLimits {
    let limits = &resolved.limits;
    let defaults = TurnLimits::default();
    let of_children = match resolved.children.is_empty() {
        true => Duration::ZERO,
        false => time_to_end_children(limits.child_depth),
    };
    TurnLimits {
        grace: defaults.grace.max(of_children),
        turn_end: defaults.turn_end.saturating_add(turn_end_hooks(resolved)),
        steps: NonZeroU32::new(limits.max_steps).unwrap_or(NonZeroU32::MIN),
        message_calls: usize::try_from(limits.message_calls).unwrap_or(usize::MAX),
        wall: Some(limits.turn_timeout),
        history_bytes: usize::try_from(limits.history_bytes).unwrap_or(usize::MAX),
        max_tokens: NonZeroU32::new(resolved.max_tokens).unwrap_or(defaults.max_tokens),
        ..defaults
    }
}
