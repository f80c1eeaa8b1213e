//! The layers of a pod, as a command asks for them.

use std::path::Path;
use std::sync::Arc;

use podward_pod::layers::{LayerRequest, Loaded, PERMISSIONS_VARIABLE, load as load_layers};
use podward_pod::{Inheritance, Places};

use crate::arguments::Layers;
use crate::failure::Failure;
use crate::screen::Screen;

/// Where podward's own files are.
///
/// # Errors
/// There is no home directory.
pub(crate) fn places() -> Result<Places, Failure> {
    Places::from_environment().map_err(|error| Failure::Places {
        help: error.help(),
        source: error,
    })
}

/// Reads and joins all layers, for the workspace that the manifest names.
///
/// # Errors
/// A layer cannot be used.
pub(crate) fn load(
    places: &Places,
    manifest: Option<&Path>,
    layers: &Layers,
) -> Result<Loaded, Failure> {
    load_for(places, manifest, layers, None, None)
}

/// Reads and joins all layers, for a workspace instead of the one that the manifest names.
///
/// # Errors
/// A layer cannot be used.
pub(crate) fn load_for(
    places: &Places,
    manifest: Option<&Path>,
    layers: &Layers,
    workspace: Option<&Path>,
    under: Option<Arc<Inheritance>>,
) -> Result<Loaded, Failure> {
    let request = LayerRequest {
        workspace: workspace.map(Path::to_path_buf),
        under,
        ..asked(manifest, layers)
    };
    load_layers(places, &request).map_err(|error| Failure::BadManifest(error.to_string()))
}

/// The same, for the session that goes on, if one does: that of a child stays under the pods above it.
///
/// # Errors
/// A layer cannot be used, or what held for a child cannot be had.
pub(crate) fn load_to_go_on(
    places: &Places,
    manifest: &Path,
    layers: &Layers,
    session: Option<&str>,
) -> Result<Loaded, Failure> {
    let under = match session {
        Some(prefix) => Inheritance::of_session(places, prefix)?,
        None => None,
    };
    let request = LayerRequest {
        under,
        ..asked(Some(manifest), layers)
    };
    load_layers(places, &request).map_err(|error| Failure::BadManifest(error.to_string()))
}

/// What the arguments and the environment ask for.
fn asked(manifest: Option<&Path>, layers: &Layers) -> LayerRequest {
    LayerRequest {
        manifest: manifest.map(Path::to_path_buf),
        permissions: layers.permissions.clone(),
        permissions_text: std::env::var_os(PERMISSIONS_VARIABLE),
        ..LayerRequest::default()
    }
}

/// Says what the authors of the layers should hear although they load.
pub(crate) fn warn(loaded: &Loaded, screen: Screen) {
    for warning in &loaded.resolved.warnings {
        screen.write_talk(&format!("{warning}\n"));
    }
}
