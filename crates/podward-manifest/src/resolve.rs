//! From the texts of all layers to one manifest.

mod approvals;
mod model;
mod permissions;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use podward_policy::{ByteSpan, LayerName, Policies};
use podward_scope::{Enforce, ScopeDecl};
use podward_shell::AddedPrograms;

use crate::approvals::Approvals;
use crate::canonical;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::effective::Effective;
use crate::environment::VariablePattern;
use crate::join::{Join, key};
use crate::layer::{LayerSource, Surroundings};
use crate::limits::Limits;
use crate::name::PodName;
use crate::policy_test::PolicyTest;
use crate::programs;
use crate::raw::RawManifest;
use crate::read::{self, ReadLayer};
use crate::reader::Sited;
use crate::resolved::{Mentioned, Pod, Resolved, Workspace, WorkspacePath};
use crate::shown::{Age, Bytes};
use crate::undo::Undo;

/// Joins the layers: permissions by the strictest verdict, other settings by the nearest layer.
///
/// The order of the sources does not matter, except among several of one kind (the later one is
/// nearer). A layer that cannot be read is never skipped.
///
/// # Errors
/// Everything that is wrong in any layer, or between them.
pub fn resolve(
    layers: &[LayerSource],
    surroundings: &Surroundings,
) -> Result<Resolved, Diagnostics> {
    let mut ordered: Vec<&LayerSource> = layers.iter().collect();
    ordered.sort_by_key(|layer| layer.kind);
    let mut read: Vec<ReadLayer<'_>> = ordered
        .into_iter()
        .map(|layer| read::layer(layer, surroundings))
        .collect();
    let mut diagnostics: Vec<Diagnostic> = read
        .iter_mut()
        .flat_map(|layer| std::mem::take(&mut layer.diagnostics))
        .collect();
    let mut joined = approvals::join(&read);
    diagnostics.append(&mut joined.diagnostics);
    let tests = tests_of(&read);
    let compiled: Vec<_> = read
        .iter_mut()
        .filter_map(|layer| {
            let kind = layer.layer.kind;
            Some((LayerName { kind }, layer.permissions.take()?))
        })
        .collect();
    let mut join = Join::new(&read);
    let mut resolved = settings(&mut join, surroundings);
    let mut lines = std::mem::take(&mut join.lines);
    diagnostics.append(&mut join.diagnostics);
    resolved.programs = programs::read(&read, surroundings, &mut diagnostics);
    if diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
    {
        return Err(Diagnostics::new(diagnostics));
    }
    if compiled.is_empty() {
        diagnostics.push(no_permissions(&read));
    }
    lines.extend(permissions::lines(&read, &compiled, &joined.lines));
    resolved.approvals = joined.approvals;
    resolved.policy_bytes = canonical::bytes(compiled.iter().map(|(name, layer)| (name, layer)));
    canonical::add_programs(&mut resolved.policy_bytes, &resolved.programs);
    let policies = compiled
        .into_iter()
        .map(|(name, layer)| (name, layer.policy));
    resolved.policies = Policies::new(policies.collect());
    resolved.tests = tests;
    resolved.warnings = diagnostics;
    resolved.effective = Effective::new(lines);
    Ok(resolved)
}

/// The tests of all layers, each with the place of its layer among the policies.
pub(crate) fn tests_of(layers: &[ReadLayer<'_>]) -> Vec<PolicyTest> {
    let with_policy = layers.iter().filter(|layer| layer.permissions.is_some());
    let tests = with_policy.enumerate().flat_map(|(idx, layer)| {
        let tests = layer.raw.permissions.iter().flat_map(|raw| &raw.tests);
        tests
            .cloned()
            .map(move |test| PolicyTest { layer: idx, ..test })
    });
    tests.collect()
}

/// Where the pod works, as far as the layers can be read: enough to find the project's layer
/// before all are resolved together.
#[must_use]
pub fn workspace(layers: &[LayerSource], surroundings: &Surroundings) -> Workspace {
    let mut ordered: Vec<&LayerSource> = layers.iter().collect();
    ordered.sort_by_key(|layer| layer.kind);
    let read: Vec<ReadLayer<'_>> = ordered
        .into_iter()
        .map(|layer| read::layer(layer, surroundings))
        .collect();
    workspace_of(&mut Join::new(&read))
}

/// What layers name that lies outside of them, as far as they can be read: what is to be kept from a pod
/// that may start another one of them.
#[must_use]
pub fn mentioned(layers: &[LayerSource], surroundings: &Surroundings) -> Mentioned {
    let read: Vec<ReadLayer<'_>> = layers
        .iter()
        .map(|layer| read::layer(layer, surroundings))
        .collect();
    let resolved = settings(&mut Join::new(&read), surroundings);
    Mentioned {
        workspace: resolved.pod.workspace,
        children: resolved.children,
        hooks: resolved.hooks,
        key: resolved.key,
        key_places: resolved.key_places,
        skill_directories: resolved.skill_directories,
        program_files: programs::files(&read),
    }
}

/// All settings but the permissions.
fn settings(join: &mut Join<'_>, surroundings: &Surroundings) -> Resolved {
    let pod = Pod {
        name: join.nearest(
            key("pod", "name"),
            |raw| raw.pod.name.as_ref(),
            PodName::default(),
        ),
        workspace: workspace_of(join),
    };
    let model = model::model(join);
    let system = join.nearest(
        key("model", "system"),
        |raw| raw.model.system.as_ref(),
        String::new(),
    );
    let tools = tools(join, surroundings);
    let scope = scope(join);
    let environment = environment(join);
    // For the effective manifest: their texts are read where the layers are at hand.
    join.union(key("programs", "files"), |raw| raw.program_files.as_ref());
    let skill_directories = join.nearest(
        key("skills", "directories"),
        |raw| raw.skill_directories.as_ref(),
        Vec::new(),
    );
    let limits = limits(join);
    let undo = undo(join);
    let hooks = join.hooks();
    let children = join.children();
    // For the effective manifest only: it has done its work when the other settings were joined.
    join.nearest_if_set(key("machine", "fixed"), |raw| raw.fixed.as_ref());
    Resolved {
        pod,
        model: model.model,
        key: model.key,
        key_places: model.key_places,
        max_tokens: model.max_tokens,
        system,
        tools,
        scope,
        policies: Policies::new(Vec::new()),
        approvals: Approvals::default(),
        policy_bytes: Vec::new(),
        environment,
        programs: AddedPrograms::default(),
        skill_directories: skill_directories
            .into_iter()
            .map(|item| item.value)
            .collect(),
        hooks,
        children,
        limits,
        undo,
        tests: Vec::new(),
        warnings: Vec::new(),
        effective: Effective::default(),
    }
}

fn workspace_of(join: &mut Join<'_>) -> Workspace {
    let path = join.nearest_if_set(key("pod", "workspace"), |raw| raw.pod.workspace.as_ref());
    let mode = join.nearest(
        key("pod", "workspace_mode"),
        |raw| raw.pod.workspace_mode.as_ref(),
        Default::default(),
    );
    let path = path.map_or(WorkspacePath::CurrentDirectory, |joined| {
        WorkspacePath::At(joined.value)
    });
    Workspace { path, mode }
}

fn tools(join: &mut Join<'_>, surroundings: &Surroundings) -> BTreeSet<podward_policy::ToolName> {
    let unsited = |value: podward_policy::ToolName| Sited {
        value,
        key: ByteSpan::new(0..0),
        span: ByteSpan::new(0..0),
    };
    let all = surroundings
        .offerable_tools
        .iter()
        .cloned()
        .map(unsited)
        .collect();
    let offered = join.tightened(
        key("tools", "offered"),
        |raw: &RawManifest| raw.offered.as_ref(),
        all,
        |ours: &Vec<Sited<_>>, theirs| {
            let is_theirs =
                |tool: &&Sited<_>| theirs.iter().any(|t: &Sited<_>| t.value == tool.value);
            let kept: Vec<_> = ours.iter().filter(is_theirs).cloned().collect();
            (kept.len() < ours.len()).then_some(kept)
        },
    );
    offered.into_iter().map(|tool| tool.value).collect()
}

fn scope(join: &mut Join<'_>) -> ScopeDecl {
    ScopeDecl {
        allow: join.nearest_list(key("scope", "allow"), |raw| raw.scope.allow.as_ref()),
        deny: join.union(key("scope", "deny"), |raw| raw.scope.deny.as_ref()),
        enforce: join.nearest(
            key("scope", "enforce"),
            |raw| raw.scope.enforce.as_ref(),
            Enforce::default(),
        ),
    }
}

/// What commands see. A model's key is never part of it.
fn environment(join: &mut Join<'_>) -> Vec<VariablePattern> {
    let pass = join.nearest(
        key("environment", "pass"),
        |raw| raw.pass.as_ref(),
        Vec::new(),
    );
    let all = VariablePattern::base().chain(pass.into_iter().map(|item| item.value));
    let all: Vec<_> = all.collect();
    model::check_environment(join, |name| all.iter().any(|pattern| pattern.matches(name)));
    all
}

fn undo(join: &mut Join<'_>) -> Undo {
    let default = Undo::default();
    macro_rules! nearest {
        ($key:ident, $default:expr) => {
            join.nearest(
                key("undo", stringify!($key)),
                |raw| raw.undo.$key.as_ref(),
                $default,
            )
        };
    }
    Undo {
        keep: nearest!(keep, default.keep),
        max_size: nearest!(max_size, Bytes(default.max_size)).0,
        max_file: nearest!(max_file, Bytes(default.max_file)).0,
        max_age: nearest!(max_age, Age(default.max_age)).0,
    }
}

fn limits(join: &mut Join<'_>) -> Limits {
    let default = Limits::default();
    macro_rules! smallest {
        ($key:ident, $default:expr) => {
            join.smallest(
                key("limits", stringify!($key)),
                |raw| raw.limits.$key.as_ref(),
                $default,
            )
        };
    }
    Limits {
        max_steps: smallest!(max_steps, default.max_steps),
        message_calls: smallest!(message_calls, default.message_calls),
        turn_timeout: smallest!(turn_timeout, default.turn_timeout),
        bash_timeout: smallest!(bash_timeout, default.bash_timeout),
        output_bytes: smallest!(output_size, Bytes(default.output_bytes)).0,
        read_bytes: smallest!(read_size, Bytes(default.read_bytes)).0,
        read_lines: smallest!(read_lines, default.read_lines),
        line_bytes: smallest!(line_size, Bytes(default.line_bytes)).0,
        file_bytes: smallest!(file_size, Bytes(default.file_bytes)).0,
        max_matches: smallest!(max_matches, default.max_matches),
        max_entries: smallest!(max_entries, default.max_entries),
        fetch_bytes: smallest!(fetch_size, Bytes(default.fetch_bytes)).0,
        fetch_timeout: smallest!(fetch_timeout, default.fetch_timeout),
        history_bytes: smallest!(history_size, Bytes(default.history_bytes)).0,
        children: smallest!(children, default.children),
        child_depth: smallest!(child_depth, default.child_depth),
    }
}

/// D1.1: without any table every call is allowed, which nobody should learn by surprise.
fn no_permissions(layers: &[ReadLayer<'_>]) -> Diagnostic {
    let nearest = layers.last();
    let place = nearest.map(|layer| layer.source.place(ByteSpan::new(0..0)));
    let message = "no layer has `[permissions]`: every call is allowed".to_owned();
    Diagnostic::new(Severity::Warning, message, place)
        .with_help("write `[permissions]` with `default_action = \"ask\"`")
}
