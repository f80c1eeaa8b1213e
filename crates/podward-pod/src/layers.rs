//! The layers of a pod's manifest, from disk to one resolved manifest.

mod children;
mod error;
mod inherited;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use podward_manifest::{
    LayerKind, LayerSource, ProgramFile, ProgramText, Resolved, Surroundings, Trust, WorkspacePath,
    decode, program_files, resolve, workspace,
};

pub(crate) use children::ChildManifests;
pub use error::{LayerProblem, LoadError};
pub(crate) use inherited::load as load_inherited;

use crate::children::Inheritance;
use crate::digest::digest;
use crate::file::{read_guarded, shown};
use crate::places::{LAYER_FILE, PROJECT_DIR, Places};
use crate::policy_tests::failed_policy_tests;
use crate::trust::{Standing, TrustStore};

/// The variable that holds the text of the nearest layer.
pub const PERMISSIONS_VARIABLE: &str = "PODWARD_PERMISSIONS";

/// What the user asks for.
#[derive(Debug, Clone, Default)]
pub struct LayerRequest {
    /// The manifest.
    pub manifest: Option<PathBuf>,
    /// The file of `--permissions`.
    pub permissions: Option<PathBuf>,
    /// The value of [`PERMISSIONS_VARIABLE`], if it is set.
    pub permissions_text: Option<OsString>,
    /// The workspace, whatever the layers say.
    pub workspace: Option<PathBuf>,
    /// What pods above gave, where the session of a child goes on without them.
    pub under: Option<Arc<Inheritance>>,
}

/// All layers of a pod, read and joined.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The manifest.
    pub resolved: Resolved,
    /// The workspace: absolute, without symlinks, a directory.
    pub workspace: PathBuf,
    /// What was read, outermost first.
    pub layers: Vec<LoadedLayer>,
    /// The files with models of programs that the layers name.
    pub program_files: Vec<PathBuf>,
    /// Where the project's layer stands with the user; `None` if there is none.
    pub project: Option<Standing>,
    /// The texts of the layers, in the order in which they were read.
    pub(crate) sources: Vec<LayerSource>,
    /// The manifests of the pods that may be started below this one.
    pub(crate) children: Arc<ChildManifests>,
    /// What the pod above gives; `None`: there is none.
    pub(crate) under: Option<Arc<Inheritance>>,
}

/// A layer that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedLayer {
    /// Which one.
    pub kind: LayerKind,
    /// The file, absolute; `None` for the environment's.
    pub path: Option<PathBuf>,
    /// As people see it.
    pub name: Arc<str>,
    /// The digest of its text.
    pub digest: String,
}

impl Loaded {
    /// The variables that any layer, or the manifest of a pod below, names as that of a key.
    pub(crate) fn key_variables(&self) -> Vec<&str> {
        let below = self.children.values();
        let below = below.flat_map(|child| &child.mentioned.key_places.variables);
        let own = self.resolved.key_places.variables.iter();
        own.chain(below).map(|name| name.as_str()).collect()
    }

    /// The manifests of pods below that make no sense, by file, each with what is wrong with it: who starts a
    /// pod of it hears that.
    #[must_use]
    pub fn broken_children(&self, places: &Places) -> Vec<(String, LoadError)> {
        children::broken(self, places)
    }

    /// The names of the pods above, outermost first.
    #[must_use]
    pub fn above(&self) -> &[String] {
        self.under.as_ref().map_or(&[], |under| &under.estate.path)
    }

    /// The digest of all rules: `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn policy_digest(&self) -> String {
        digest(&self.resolved.policy_bytes)
    }
}

/// Reads, checks and joins the layers.
///
/// A layer that is not there is no layer; one that cannot be read, or that others could have
/// written, is an error.
///
/// # Errors
/// Everything that is wrong with any of the files, and with their texts.
pub fn load(places: &Places, request: &LayerRequest) -> Result<Loaded, LoadError> {
    let mut reading = Reading {
        places,
        sources: Vec::new(),
        layers: Vec::new(),
        error: LoadError::default(),
    };
    reading.optional(LayerKind::Machine, &places.machine_layer());
    reading.optional(LayerKind::User, &places.user_layer());
    if let Some(path) = &request.manifest {
        reading.required(LayerKind::Manifest, path);
    }
    if let Some(path) = &request.permissions {
        reading.required(LayerKind::CommandLine, path);
    }
    if let Some(text) = &request.permissions_text {
        reading.environment(text);
    }
    let under = request.under.as_ref();
    if let Some(under) = under {
        reading.hand_all(under.of_pods_above());
    }
    let mut surroundings = Surroundings {
        home: places.home().map(Path::to_path_buf),
        ..Surroundings::default()
    };
    let path = under.map_or(request.workspace.as_ref(), |under| {
        Some(&under.estate.workspace)
    });
    let directory = reading.workspace(path, &surroundings);
    let project = directory
        .as_ref()
        .and_then(|directory| reading.project(directory));
    surroundings.program_texts = reading.programs(&surroundings);
    let loaded = reading.finish(directory, project, &surroundings, None)?;
    match under {
        Some(under) => inherited::hold(loaded, under, &surroundings),
        None => Ok(loaded),
    }
}

/// The layer that is called so where it is written down.
pub(crate) fn layer_kind(word: &str) -> Option<LayerKind> {
    let kinds = [
        LayerKind::Machine,
        LayerKind::User,
        LayerKind::Project,
        LayerKind::Parent,
        LayerKind::Manifest,
        LayerKind::CommandLine,
        LayerKind::Environment,
    ];
    kinds.into_iter().find(|kind| kind.as_str() == word)
}

struct Reading<'a> {
    places: &'a Places,
    sources: Vec<LayerSource>,
    layers: Vec<LoadedLayer>,
    error: LoadError,
}

impl Reading<'_> {
    fn optional(&mut self, kind: LayerKind, path: &Path) {
        match read_guarded(path, self.places.accounts()) {
            Ok(Some(bytes)) => self.add(kind, path, &bytes, Trust::Trusted),
            Ok(None) => {}
            Err(error) => self.error.add(kind, LayerProblem::File(error)),
        }
    }

    fn required(&mut self, kind: LayerKind, path: &Path) {
        match read_guarded(path, self.places.accounts()) {
            Ok(Some(bytes)) => self.add(kind, path, &bytes, Trust::Trusted),
            Ok(None) => self.error.add(kind, LayerProblem::Missing(path.into())),
            Err(error) => self.error.add(kind, LayerProblem::File(error)),
        }
    }

    fn environment(&mut self, text: &OsString) {
        let kind = LayerKind::Environment;
        match text.to_str() {
            Some(text) if text.trim().is_empty() => self.error.add(kind, LayerProblem::Blank),
            Some(text) => {
                let source = LayerSource {
                    kind,
                    file: PERMISSIONS_VARIABLE.into(),
                    directory: PathBuf::from("."),
                    text: text.to_owned(),
                    trust: Trust::Trusted,
                };
                self.take(source, None);
            }
            None => self.error.add(kind, LayerProblem::NotUtf8),
        }
    }

    /// The project's layer: only what the user trusts may do more than tighten.
    fn project(&mut self, workspace: &Path) -> Option<Standing> {
        let kind = LayerKind::Project;
        let path = workspace.join(PROJECT_DIR).join(LAYER_FILE);
        let bytes = match read_guarded(&path, self.places.accounts()) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return None,
            Err(error) => {
                self.error.add(kind, LayerProblem::File(error));
                return None;
            }
        };
        let store = match TrustStore::load(self.places) {
            Ok(store) => store,
            Err(error) => {
                self.error.add(kind, LayerProblem::Trust(error));
                return None;
            }
        };
        let standing = store.standing(workspace, &bytes);
        let trust = match standing {
            Standing::Trusted => Trust::Trusted,
            Standing::Changed | Standing::Unknown => Trust::Untrusted,
        };
        self.add(kind, &path, &bytes, trust);
        Some(standing)
    }

    fn add(&mut self, kind: LayerKind, path: &Path, bytes: &[u8], trust: Trust) {
        let name: Arc<str> = shown(path).into();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let text = match decode(&name, bytes) {
            Ok(text) => text,
            Err(diagnostics) => {
                self.error.diagnostics.push(diagnostics);
                return;
            }
        };
        self.sources.push(LayerSource {
            kind,
            file: Arc::clone(&name),
            directory: directory(&absolute),
            text,
            trust,
        });
        self.layers.push(LoadedLayer {
            kind,
            path: Some(absolute),
            name,
            digest: digest(bytes),
        });
    }

    /// Adds a layer that is no file of this moment: a variable, or what a pod above has read.
    fn take(&mut self, source: LayerSource, path: Option<PathBuf>) {
        self.layers.push(LoadedLayer {
            kind: source.kind,
            path,
            name: Arc::clone(&source.file),
            digest: digest(source.text.as_bytes()),
        });
        self.sources.push(source);
    }

    /// The workspace, as far as the layers read so far say where it is.
    fn workspace(
        &mut self,
        path: Option<&PathBuf>,
        surroundings: &Surroundings,
    ) -> Option<PathBuf> {
        let path = match path {
            Some(path) => path.clone(),
            None => match workspace(&self.sources, surroundings).path {
                WorkspacePath::CurrentDirectory => PathBuf::from("."),
                WorkspacePath::At(path) => path,
            },
        };
        let checked = path.canonicalize().and_then(|resolved| {
            // Opening tells what a look at its kind does not: whether it may be entered.
            std::fs::read_dir(&resolved).map(|_| resolved)
        });
        match checked {
            Ok(resolved) => Some(resolved),
            Err(source) => {
                self.error.add(
                    LayerKind::Manifest,
                    LayerProblem::Workspace { path, source },
                );
                None
            }
        }
    }

    /// The texts of the models of programs that the layers name: held to what layers are held to.
    fn programs(&mut self, surroundings: &Surroundings) -> BTreeMap<PathBuf, Option<ProgramText>> {
        let mut texts = BTreeMap::new();
        for ProgramFile { kind, path, name } in program_files(&self.sources, surroundings) {
            let bytes = match read_guarded(&path, self.places.accounts()) {
                Ok(Some(bytes)) => bytes,
                // The manifest's own diagnostic names the line.
                Ok(None) => continue,
                Err(error) => {
                    self.error.add(kind, LayerProblem::File(error));
                    texts.insert(path, None);
                    continue;
                }
            };
            let text = match decode(&name, &bytes) {
                Ok(text) => Some(ProgramText { file: name, text }),
                Err(diagnostics) => {
                    self.error.diagnostics.push(diagnostics);
                    None
                }
            };
            texts.insert(path, text);
        }
        texts
    }

    fn finish(
        mut self,
        workspace: Option<PathBuf>,
        project: Option<Standing>,
        surroundings: &Surroundings,
        handed: Option<ChildManifests>,
    ) -> Result<Loaded, LoadError> {
        // What can be read is checked even where something else cannot: all errors at once.
        match (resolve(&self.sources, surroundings), workspace) {
            (Ok(resolved), Some(workspace)) if self.error.is_empty() => {
                let Resolved {
                    tests,
                    policies,
                    programs,
                    ..
                } = &resolved;
                if let Some(failed) = failed_policy_tests(tests, policies, programs) {
                    self.error.diagnostics.push(failed);
                    return Err(self.error);
                }
                let children = handed.unwrap_or_else(|| {
                    let accounts = self.places.accounts();
                    children::read(&resolved.children, accounts, surroundings, &mut self.error)
                });
                if !self.error.is_empty() {
                    return Err(self.error);
                }
                self.layers.sort_by_key(|layer| layer.kind);
                Ok(Loaded {
                    resolved,
                    workspace,
                    layers: self.layers,
                    program_files: surroundings.program_texts.keys().cloned().collect(),
                    project,
                    sources: self.sources,
                    children: Arc::new(children),
                    under: None,
                })
            }
            (Ok(_), _) => Err(self.error),
            (Err(diagnostics), _) => {
                self.error.diagnostics.push(diagnostics);
                Err(self.error)
            }
        }
    }
}

/// Where a layer's relative paths start, without a `..` that would be carried into messages.
fn directory(file: &Path) -> PathBuf {
    let parent = file.parent().unwrap_or(Path::new("/"));
    let climbs = parent.components().any(|part| part == Component::ParentDir);
    let resolved = climbs.then(|| parent.canonicalize().ok()).flatten();
    resolved.unwrap_or_else(|| parent.into())
}

#[cfg(test)]
mod tests;
