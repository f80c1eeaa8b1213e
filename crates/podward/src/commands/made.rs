//! What `run` and `serve` make a pod from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_manifest::KeySource;
use podward_pod::layers::Loaded;
use podward_pod::{
    Inheritance, ModelKey, Places, PodRequest, SessionChoice, declared_model, hand_over, model_key,
};
use tokio::runtime::Runtime;

use crate::arguments::{Auto, Layers};
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

/// The script of the demonstration, by the name that a manifest gives it.
const DEMO: (&str, &str) = ("demo", include_str!("../../demo/script.toml"));

/// A runtime, and what a pod is made from; `session`: the one that goes on, if one does.
///
/// # Errors
/// A layer cannot be used, or the model's key cannot be had.
pub(super) fn pod(
    places: &Places,
    manifest: &Path,
    layers: &Layers,
    session: Option<&str>,
    key: Option<ModelKey>,
) -> Result<(Runtime, PodRequest), Failure> {
    let loaded = layers::load_to_go_on(places, manifest, layers, session)?;
    made(places, loaded, || key)
}

/// The same of a child, whose layers come from the pod above.
///
/// # Errors
/// As for [`pod`].
pub(super) fn child(
    places: &Places,
    inheritance: &Arc<Inheritance>,
    key: Option<ModelKey>,
) -> Result<(Runtime, PodRequest), Failure> {
    let loaded = inheritance.load(places);
    let loaded = loaded.map_err(|error| Failure::BadManifest(error.to_string()))?;
    let (runtime, mut request) = made(places, loaded, || key.or_else(|| inheritance.key()))?;
    request.session = SessionChoice::OfChild(inheritance.session().clone());
    Ok((runtime, request))
}

fn made(
    places: &Places,
    loaded: Loaded,
    key: impl FnOnce() -> Option<ModelKey>,
) -> Result<(Runtime, PodRequest), Failure> {
    // May start this program again: nothing may be read or said before.
    leave_keys_behind(&loaded)?;
    let runtime = super::runtime()?;
    let key = runtime.block_on(model_key(&loaded, places, key()))?;
    let model = declared_model(&loaded.resolved, &[DEMO], key.as_ref())?;
    let mut request = PodRequest::new(loaded, model);
    request.key = key;
    request.child_program = Some(PathBuf::from("/proc/self/exe"));
    Ok((runtime, request))
}

/// Takes every variable that a layer names as that of a key out of this process.
fn leave_keys_behind(loaded: &Loaded) -> Result<(), Failure> {
    let key = loaded.resolved.key.as_ref();
    let key = key.and_then(|key| match &key.source {
        KeySource::Variable(name) => Some(name.as_str()),
        KeySource::Nowhere | KeySource::File(_) | KeySource::Command(_) => None,
    });
    let all = &loaded.resolved.key_places.variables;
    let others: Vec<&str> = all
        .iter()
        .map(|name| name.as_str())
        .filter(|name| Some(*name) != key)
        .collect();
    Ok(hand_over(key, &others)?)
}

/// What `--auto` means for the pod.
pub(super) const fn auto(auto: Option<Auto>) -> podward_pod::Auto {
    match auto {
        None => podward_pod::Auto::Off,
        Some(Auto::Known) => podward_pod::Auto::Known,
        Some(Auto::All) => podward_pod::Auto::All,
    }
}

/// Says what a pod that has started answers by itself.
pub(super) fn say_auto(auto: podward_pod::Auto, screen: Screen) {
    let what = match auto {
        podward_pod::Auto::Off => return,
        podward_pod::Auto::Known => {
            "every question is answered with yes, once each, by nobody; a deny stays a deny, and \
             where a part that is asked about is not known before it runs, or a deny might match, a \
             person has to answer: without one it is refused (`--auto=all` answers that too)"
        }
        podward_pod::Auto::All => {
            "every question is answered with yes, once each, by nobody, also about what cannot be \
             known before it runs, even where a deny might match; only a sure deny stays a deny"
        }
    };
    screen.say(Look::Warning, "auto", what);
}
