//! What judges a call that is made up: all layers as a pod has them, or a manifest by itself.

use std::path::Path;

use podward_policy::Policies;
use podward_tools::Place;
use serde_json::Value;

use super::isolated;
use crate::arguments::Layers;
use crate::failure::Failure;
use crate::layers;
use crate::screen::Screen;

/// What a command asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) manifest: &'a Path,
    /// No other layer, no link resolved.
    pub(super) isolated: bool,
    /// Instead of the one that the layers name.
    pub(super) workspace: Option<&'a Path>,
    pub(super) layers: &'a Layers,
}

/// What judges, and where calls are made.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) policies: Policies,
    pub(super) place: Place,
}

/// The rules and the place.
///
/// # Errors
/// A layer cannot be used.
pub(super) fn choose(wanted: &Wanted<'_>, screen: Screen) -> Result<Chosen, Failure> {
    match wanted.isolated {
        true => alone(wanted, screen),
        false => layered(wanted, screen),
    }
}

/// A call's arguments as they were typed.
///
/// # Errors
/// They are no JSON.
pub(super) fn input(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Usage {
        message: format!("--input is no JSON: {error}"),
        help: "give the tool's arguments as an object: --input '{\"command\":\"git status\"}'",
    })
}

fn alone(wanted: &Wanted<'_>, screen: Screen) -> Result<Chosen, Failure> {
    let isolated = isolated::read(wanted.manifest)?;
    for warning in &isolated.warnings {
        screen.write_talk(&format!("{warning}\n"));
    }
    let workspace = wanted.workspace.unwrap_or(Path::new("."));
    Ok(Chosen {
        place: isolated::place(workspace, isolated.programs)?,
        policies: isolated.policies,
    })
}

/// The rules and the place that `run` would have.
fn layered(wanted: &Wanted<'_>, screen: Screen) -> Result<Chosen, Failure> {
    let places = layers::places()?;
    let manifest = Some(wanted.manifest);
    let loaded = layers::load_for(&places, manifest, wanted.layers, wanted.workspace, None)?;
    layers::warn(&loaded, screen);
    let home = places.home().map(Path::to_path_buf);
    let place = Place::new(loaded.workspace, home).with_programs(loaded.resolved.programs);
    Ok(Chosen {
        policies: loaded.resolved.policies,
        place,
    })
}
