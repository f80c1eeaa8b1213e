//! The manifests of the pods that a pod may start, and of those below them: read when it starts, so that
//! what was read is what is used.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use podward_manifest::{
    DeclaredChild, LayerKind, LayerSource, Mentioned, Surroundings, Trust, WorkspaceMode, decode,
    mentioned,
};

use super::error::{LayerProblem, LoadError};
use super::{Loaded, Reading, directory};
use crate::accounts::Accounts;
use crate::children::HandedManifest;
use crate::file::{read_guarded, shown};
use crate::places::Places;

/// More manifests than this are not read.
const MOST_MANIFESTS: usize = 256;

/// The manifest of a pod that may be started.
#[derive(Debug, Clone)]
pub(crate) struct ChildManifest {
    pub(crate) text: HandedManifest,
    /// What it names beside itself, as far as it can be read.
    pub(crate) mentioned: Mentioned,
}

/// Manifests by their paths as `[children]` names them.
pub(crate) type ChildManifests = BTreeMap<PathBuf, ChildManifest>;

/// Reads the manifests of these children, and of those below them.
pub(super) fn read(
    children: &[DeclaredChild],
    accounts: &Accounts,
    surroundings: &Surroundings,
    error: &mut LoadError,
) -> ChildManifests {
    let mut found = ChildManifests::new();
    let mut waiting: VecDeque<DeclaredChild> = children.iter().cloned().collect();
    while let Some(child) = waiting.pop_front() {
        if found.contains_key(&child.manifest) {
            continue;
        }
        if found.len() == MOST_MANIFESTS {
            let problem = LayerProblem::TooManyChildren(MOST_MANIFESTS);
            error.add(LayerKind::Manifest, problem);
            return found;
        }
        match read_one(&child, accounts) {
            Ok(text) => {
                let manifest = ChildManifest {
                    mentioned: mentioned_in(&text, surroundings),
                    text,
                };
                // What is not there by now could be the work of tools by the time it is read.
                let programs = manifest.mentioned.program_files.iter();
                for missing in programs.filter(|path| !path.exists()) {
                    error.add(LayerKind::Manifest, LayerProblem::Missing(missing.clone()));
                }
                waiting.extend(manifest.mentioned.children.iter().cloned());
                found.insert(child.manifest, manifest);
            }
            Err(problem) => error.add(LayerKind::Manifest, problem),
        }
    }
    found
}

/// The same of texts that a pod above has read.
pub(super) fn handed(texts: &[HandedManifest], surroundings: &Surroundings) -> ChildManifests {
    let manifest = |text: &HandedManifest| {
        let mentioned = mentioned_in(text, surroundings);
        let text = text.clone();
        (text.path.clone(), ChildManifest { text, mentioned })
    };
    texts.iter().map(manifest).collect()
}

/// Those that make no sense, under the layers that hold for every pod below.
pub(super) fn broken(loaded: &Loaded, places: &Places) -> Vec<(String, LoadError)> {
    let of_all = |source: &&LayerSource| source.kind != LayerKind::Manifest;
    let broken = loaded.children.values().filter_map(|manifest| {
        let mut reading = Reading {
            places,
            sources: loaded.sources.iter().filter(of_all).cloned().collect(),
            layers: Vec::new(),
            error: LoadError::default(),
        };
        reading.take(source(&manifest.text), Some(manifest.text.path.clone()));
        if manifest.mentioned.workspace.mode == WorkspaceMode::Copy {
            let problem = LayerProblem::ChildCopy;
            reading.error.add(LayerKind::Manifest, problem);
        }
        let mut surroundings = Surroundings {
            home: places.home().map(PathBuf::from),
            ..Surroundings::default()
        };
        surroundings.program_texts = reading.programs(&surroundings);
        let workspace = Some(loaded.workspace.clone());
        let below = Some(ChildManifests::new());
        let error = reading
            .finish(workspace, None, &surroundings, below)
            .err()?;
        Some((manifest.text.file.clone(), error))
    });
    broken.collect()
}

fn read_one(child: &DeclaredChild, accounts: &Accounts) -> Result<HandedManifest, LayerProblem> {
    let path = &child.manifest;
    let bytes = read_guarded(path, accounts).map_err(LayerProblem::File)?;
    let bytes = bytes.ok_or_else(|| LayerProblem::MissingChild {
        path: path.clone(),
        location: child.location.clone(),
    })?;
    // A text that is none has no children; who starts it hears why it is none.
    let file = shown(path).to_string();
    let text = decode(&file.as_str().into(), &bytes)
        .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned());
    Ok(HandedManifest {
        path: path.clone(),
        file,
        text,
    })
}

pub(super) fn mentioned_in(text: &HandedManifest, surroundings: &Surroundings) -> Mentioned {
    mentioned(&[source(text)], surroundings)
}

/// The layer that a child's own manifest is.
pub(super) fn source(text: &HandedManifest) -> LayerSource {
    LayerSource {
        kind: LayerKind::Manifest,
        file: text.file.as_str().into(),
        directory: directory(&text.path),
        text: text.text.clone(),
        trust: Trust::Trusted,
    }
}
