//! What is looked into: the rules of a manifest and of the layers around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_manifest::{
    Diagnostic, LayerKind, LayerName, LayerSource, Surroundings, Trust, WrittenPermissions, written,
};
use podward_pod::layers::PERMISSIONS_VARIABLE;
use podward_pod::with_causes;
use podward_policy::Policies;
use podward_shell::AddedPrograms;
use podward_tools::Place;

use crate::arguments::Lint;
use crate::commands::isolated;
use crate::failure::Failure;
use crate::layers;

/// A manifest with its layers.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) policies: Policies,
    pub(super) programs: AddedPrograms,
    pub(super) place: Place,
    pub(super) warnings: Vec<Diagnostic>,
    /// The places of each layer's rules.
    pub(super) layers: Vec<(LayerKind, WrittenPermissions)>,
    /// The manifests of children that do not load.
    pub(super) broken: Vec<Bad>,
}

/// A manifest that does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    pub(super) file: String,
    /// Why it does not.
    pub(super) problem: String,
}

impl Source {
    pub(super) fn written(&self, layer: &LayerName) -> Option<&WrittenPermissions> {
        let mut layers = self.layers.iter();
        let found = layers.find(|(kind, _)| *kind == layer.kind);
        found.map(|(_, written)| written)
    }
}

impl Bad {
    /// A manifest that does not load.
    ///
    /// # Errors
    /// The failure is no matter of the manifest.
    pub(super) fn new(manifest: &Path, failure: Failure) -> Result<Self, Failure> {
        let problem = match failure {
            Failure::BadManifest(text) => text,
            failure @ Failure::Unreadable { .. } => {
                format!("error: {}", with_causes(&failure))
            }
            other => return Err(other),
        };
        Ok(Self {
            file: super::shown_path(manifest),
            problem: problem.trim_end().to_owned(),
        })
    }
}

/// Reads a manifest and the layers around it.
///
/// # Errors
/// One of them does not load.
pub(super) fn load(manifest: &Path, arguments: &Lint) -> Result<Source, Failure> {
    match arguments.isolated {
        true => alone(manifest),
        false => with_layers(manifest, arguments),
    }
}

fn alone(manifest: &Path) -> Result<Source, Failure> {
    let isolated = isolated::read(manifest)?;
    let layer = (LayerKind::Manifest, Some(manifest));
    Ok(Source {
        place: isolated::place(Path::new("."), isolated.programs.clone())?,
        policies: isolated.policies,
        programs: isolated.programs,
        warnings: isolated.warnings,
        layers: places([layer].into_iter()),
        // Nothing is read beside the file.
        broken: Vec::new(),
    })
}

fn with_layers(manifest: &Path, arguments: &Lint) -> Result<Source, Failure> {
    let places = layers::places()?;
    let loaded = layers::load(&places, Some(manifest), &arguments.layers)?;
    let home = places.home().map(Path::to_path_buf);
    let of_layers = loaded.layers.iter();
    let of_layers = of_layers.map(|layer| (layer.kind, layer.path.as_deref(), &layer.name));
    // As people named it, where they did.
    let files = of_layers.map(|(kind, path, name)| match kind {
        LayerKind::Manifest | LayerKind::CommandLine => (kind, Some(Path::new(&**name))),
        _ => (kind, path),
    });
    let programs = loaded.resolved.programs.clone();
    let broken = loaded.broken_children(&places).into_iter();
    let broken = broken.map(|(file, error)| Bad {
        problem: error.to_string().trim_end().to_owned(),
        file,
    });
    Ok(Source {
        broken: broken.collect(),
        layers: self::places(files),
        place: Place::new(&loaded.workspace, home)
            .with_programs(programs.clone())
            .isolated(),
        programs,
        policies: loaded.resolved.policies.clone(),
        warnings: loaded.resolved.warnings.clone(),
    })
}

/// The places of the rules in each layer's text: a file, or the variable.
fn places<'f>(
    files: impl Iterator<Item = (LayerKind, Option<&'f Path>)>,
) -> Vec<(LayerKind, WrittenPermissions)> {
    let surroundings = Surroundings {
        home: Some(PathBuf::from("/")),
        ..Surroundings::default()
    };
    let found = files.filter_map(|(kind, file)| {
        // It was read a moment ago; what cannot be read again has no places.
        let (name, text) = match file {
            Some(file) => (super::shown_path(file), std::fs::read_to_string(file).ok()?),
            None => (
                PERMISSIONS_VARIABLE.to_owned(),
                std::env::var(PERMISSIONS_VARIABLE).ok()?,
            ),
        };
        let layer = LayerSource {
            kind,
            file: Arc::from(name),
            directory: PathBuf::from("/"),
            text,
            trust: Trust::Trusted,
        };
        Some((kind, written(&layer, &surroundings)?))
    });
    found.collect()
}
