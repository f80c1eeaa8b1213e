//! One layer: read, compiled, and held to what its kind may say.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use podward_policy::{ByteSpan, LayerKind};

use crate::diagnostic::{Diagnostic, Severity};
use crate::document;
use crate::layer::{LayerSource, Surroundings, Trust};
use crate::permissions::{self, CompiledLayer};
use crate::raw::{self, RawManifest};
use crate::reader::{Reader, Sited};
use crate::source::Source;

/// A layer that was read.
#[derive(Debug)]
pub(crate) struct ReadLayer<'l> {
    pub(crate) layer: &'l LayerSource,
    pub(crate) source: Source<'l>,
    pub(crate) raw: RawManifest,
    pub(crate) permissions: Option<CompiledLayer>,
    /// In the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl ReadLayer<'_> {
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether it may only tighten.
    pub(crate) fn is_untrusted(&self) -> bool {
        (self.layer.kind, self.layer.trust) == (LayerKind::Project, Trust::Untrusted)
    }
}

/// Reads a layer.
pub(crate) fn layer<'l>(layer: &'l LayerSource, surroundings: &Surroundings) -> ReadLayer<'l> {
    let repaired = document::repair(&layer.text);
    let source =
        Source::new(Arc::clone(&layer.file), &layer.text).with_insertions(&repaired.insertions);
    let (document, syntax_errors) = document::parse(&source, &repaired);
    let mut reader = Reader::new(&source, syntax_errors);
    let raw = raw::read(&document, &mut reader, surroundings, &layer.directory);
    let permissions = raw.permissions.as_ref().and_then(|permissions| {
        permissions::compile(permissions, &mut reader, &surroundings.known_tools)
    });
    restrict(layer, &raw, &mut reader);
    fixed_must_be_set(&raw, &mut reader);
    let diagnostics = reader.into_diagnostics();
    ReadLayer {
        layer,
        source,
        raw,
        permissions,
        diagnostics,
    }
}

/// Reports each key that a layer of this kind may not set.
fn restrict(layer: &LayerSource, raw: &RawManifest, reader: &mut Reader<'_>) {
    for key in &raw.keys {
        if let Err(why) = may_set(layer, &key.value) {
            let message = format!("`{}` cannot be set in {}", key.value, described(layer));
            reader.error(key.key, message, why);
        }
    }
    let must_have_permissions = match layer.kind {
        LayerKind::CommandLine | LayerKind::Environment => true,
        LayerKind::Machine
        | LayerKind::User
        | LayerKind::Project
        | LayerKind::Parent
        | LayerKind::Manifest => false,
    };
    if must_have_permissions && raw.permissions.is_none() {
        let message = format!("{} has no `[permissions]`", described(layer));
        let help = "write the table, or leave the layer out: an empty one would protect nothing";
        reader.structural(ByteSpan::new(0..0), message, help.to_owned());
    }
}

/// Whether a layer of this kind may set a key, and what to do if not.
fn may_set(layer: &LayerSource, key_path: &str) -> Result<(), String> {
    let (table, _) = key_path.split_once('.').unwrap_or((key_path, ""));
    if table == "permissions" {
        return Ok(());
    }
    if table == "machine" && layer.kind != LayerKind::Machine {
        return Err("only the machine's own layer fixes settings".to_owned());
    }
    let tightens = matches!(key_path, "tools.offered" | "scope.deny") || table == "limits";
    match (layer.kind, layer.trust) {
        (LayerKind::Project | LayerKind::Parent | LayerKind::Manifest, _)
            if key_path == "model.allow" =>
        {
            Err(
                "which models may be asked is said in the machine's and in the user's layer"
                    .to_owned(),
            )
        }
        (LayerKind::Machine | LayerKind::User | LayerKind::Parent | LayerKind::Manifest, _) => {
            Ok(())
        }
        (LayerKind::CommandLine | LayerKind::Environment, _) => {
            Err("this layer holds `[permissions]` and nothing else".to_owned())
        }
        (LayerKind::Project, _) if key_path.starts_with("pod.workspace") => {
            Err("a project's layer is found by the workspace and cannot move it".to_owned())
        }
        (LayerKind::Project, Trust::Untrusted) if !tightens => Err(format!(
            "a project can tighten permissions, scope, limits and tools; for more, read the file and run `podward trust {}`, again after each change of it",
            project_directory(layer)
        )),
        (LayerKind::Project, Trust::Trusted | Trust::Untrusted) => Ok(()),
    }
}

/// The directory to trust: the one that holds `.podward/`.
fn project_directory(layer: &LayerSource) -> String {
    let directory = match layer.directory.parent() {
        Some(parent) if layer.directory.ends_with(".podward") => parent,
        _ => &layer.directory,
    };
    if directory == Path::new("") {
        return ".".to_owned();
    }
    directory.display().to_string()
}

fn described(layer: &LayerSource) -> &'static str {
    match (layer.kind, layer.trust) {
        (LayerKind::Machine, _) => "the machine's layer",
        (LayerKind::User, _) => "the user's layer",
        (LayerKind::Project, Trust::Trusted) => "a project's layer",
        (LayerKind::Project, Trust::Untrusted) => "the layer of a project that is not trusted",
        (LayerKind::Parent, _) => "the manifest of a pod above",
        (LayerKind::Manifest, _) => "a manifest",
        (LayerKind::CommandLine, _) => "a `--permissions` file",
        (LayerKind::Environment, _) => "`PODWARD_PERMISSIONS`",
    }
}

/// A setting can only be fixed where it is set: a default is no decision.
fn fixed_must_be_set(raw: &RawManifest, reader: &mut Reader<'_>) {
    let is_set = |fixed: &Sited<String>| raw.keys.iter().any(|key| key.value == fixed.value);
    for fixed in raw.fixed.iter().flat_map(|fixed| &fixed.value) {
        if !is_set(fixed) {
            let message = format!("`{}` is fixed but not set here", fixed.value);
            reader.error(
                fixed.span,
                message,
                "set it in this file, or leave it out of `fixed`",
            );
        }
    }
}
