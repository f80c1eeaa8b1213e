//! What no tool may write, or even read, whatever a manifest declares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podward_manifest::KeyPlaces;
use podward_scope::{Protected, Shield};

use crate::grants;
use crate::layers::Loaded;
use crate::places::{PROJECT_DIR, Places};
use crate::skills::Catalogue;
use crate::undo;

/// What no tool may write, whatever the manifest declares; `programs`: the files of what is not confined.
pub(super) fn protected(
    places: &Places,
    loaded: &Loaded,
    workspace: &Path,
    programs: Vec<PathBuf>,
    skills: &Catalogue,
) -> Vec<Protected> {
    let mut paths: Vec<PathBuf> = vec![
        places.machine_dir().into(),
        places.config_dir().into(),
        workspace.join(PROJECT_DIR),
        loaded.workspace.join(PROJECT_DIR),
    ];
    // Pods that were started with other variables have theirs where these are.
    paths.extend(places.usual_config_dir());
    let layers = loaded.layers.iter().filter_map(|layer| layer.path.clone());
    for path in layers.chain(loaded.program_files.iter().cloned()) {
        paths.extend(path.canonicalize());
        paths.push(path);
    }
    paths.extend(programs);
    paths.extend(skills.protected());
    let (of_children, hidden) = of_children(places, loaded, workspace);
    paths.extend(of_children);
    let own = paths
        .into_iter()
        .map(Protected::read_only)
        .chain(state(places).map(Protected::hidden))
        .chain(key_files(&loaded.resolved.key_places).map(Protected::hidden))
        .chain(hidden.into_iter().map(Protected::hidden));
    let above = loaded
        .under
        .iter()
        .flat_map(|under| under.estate.scope.protected());
    let mut all = BTreeMap::<PathBuf, Shield>::new();
    for Protected { path, shield } in own.chain(above) {
        let strictest = all.entry(path).or_insert(shield);
        *strictest = shield.max(*strictest);
    }
    let all = all.into_iter();
    all.map(|(path, shield)| Protected { path, shield })
        .collect()
}

/// What pods that may be started below this one are made of and run: a tool that could write it here would
/// decide what they do. Then what holds their keys.
fn of_children(places: &Places, loaded: &Loaded, workspace: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut paths, mut hidden) = (Vec::new(), Vec::new());
    for manifest in loaded.children.values() {
        let mentioned = &manifest.mentioned;
        paths.extend(both(manifest.text.path.clone()));
        let skills = Catalogue::find(
            &mentioned.skill_directories,
            places,
            workspace,
            &loaded.workspace,
        );
        paths.extend(skills.protected());
        paths.extend(mentioned.program_files.iter().cloned().flat_map(both));
        hidden.extend(key_files(&mentioned.key_places));
    }
    (paths, hidden)
}

/// Where podward keeps its own, and where people have put a part of it by a symlink.
fn state(places: &Places) -> impl Iterator<Item = PathBuf> {
    let parts = [
        places.sessions_dir(),
        undo::base(places),
        grants::directory(places),
        places.run_dir().to_owned(),
    ];
    // Pods that were started with other variables have theirs where these are.
    let usual = places.usual_state_dir();
    let elsewhere = parts.into_iter().filter_map(|part| {
        let target = part.canonicalize().ok()?;
        (!target.starts_with(places.state_dir())).then_some(target)
    });
    [places.state_dir().to_owned()]
        .into_iter()
        .chain(usual)
        .chain(elsewhere)
}

/// The files with keys, whichever layer's counts. One that is not there cannot be hidden.
fn key_files(places: &KeyPlaces) -> impl Iterator<Item = PathBuf> {
    let files = places.files.iter();
    files
        .filter(|path| path.is_file())
        .flat_map(|path| both(path.clone()))
}

/// A path, and what it leads to.
fn both(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    path.canonicalize().ok().into_iter().chain([path])
}
