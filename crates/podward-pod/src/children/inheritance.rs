//! What a child is given by the pod that starts it: what holds for it whatever its own manifest says.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podward_manifest::{LayerKind, LayerSource, Trust, VariablePattern};
use podward_protocol::SessionId;
use podward_scope::{Access, Enforce, Protected, Root, ScopeDecl, Shield, family};
use podward_skill::WorkflowRecord;
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};

use super::{ChildError, Slots};
use crate::key::ModelKey;
use crate::layers::{LoadError, Loaded, layer_kind, load_inherited};
use crate::places::Places;
use crate::serve::Auto;

/// The version of its form: both ends are the same program.
pub(super) const FORMAT: &str = env!("CARGO_PKG_VERSION");

/// The longest one, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What a child is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inheritance {
    pub(super) format: String,
    /// The process that gives it.
    pub(super) parent: u32,
    /// The session that the child works in.
    pub(super) session: SessionId,
    /// The child's name.
    pub(crate) name: String,
    /// The layers that hold for it beside its own manifest.
    pub(crate) layers: Vec<HandedLayer>,
    /// Its own manifest.
    pub(crate) manifest: HandedManifest,
    /// The skills that are active in pods above.
    pub(crate) skills: Vec<WorkflowRecord>,
    pub(crate) max_steps: Option<u32>,
    pub(crate) turn_timeout: Option<Duration>,
    pub(crate) estate: Estate,
}

/// What of an inheritance is the same for all children of a pod.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Estate {
    /// The names of the pods above, outermost first.
    pub(crate) path: Vec<String>,
    /// Generations that there may be below a child.
    pub(crate) depth: u32,
    /// The manifests that pods below may be made of.
    pub(crate) manifests: Vec<HandedManifest>,
    pub(crate) workspace: PathBuf,
    pub(crate) scope: HandedScope,
    /// Where tools of any pod above can write.
    pub(crate) writable: Vec<PathBuf>,
    /// For each pod above, the patterns of the variables that its commands see.
    pub(crate) environment: Vec<Vec<String>>,
    /// Those of the pods above, outermost first.
    pub(crate) slots: Vec<Slots>,
    /// Whether a question stays open where nobody is there: only as far as every pod above lets it.
    pub(crate) waits: bool,
    pub(crate) auto: Auto,
    /// The variable that a model's key was in, and the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<(String, String)>,
}

/// The text of a layer, as the pod above was made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandedLayer {
    kind: String,
    file: String,
    /// The file, absolute; `None` for the environment's.
    pub(crate) path: Option<PathBuf>,
    directory: PathBuf,
    text: String,
    is_trusted: bool,
}

/// The text of a manifest that a child may be made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandedManifest {
    /// As `[children]` names it, absolute.
    pub(crate) path: PathBuf,
    /// As people see it.
    pub(crate) file: String,
    pub(crate) text: String,
}

/// Where the pod above can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandedScope {
    allow: Vec<HandedRoot>,
    deny: Vec<HandedRoot>,
    is_required: bool,
    /// What nothing that the pod above runs may write (`false`), or reach at all (`true`).
    protected: Vec<(PathBuf, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandedRoot {
    path: PathBuf,
    is_write: bool,
    declared: Option<String>,
}

impl HandedLayer {
    /// A layer of the pod above, as it is called below it.
    pub(crate) fn of(source: &LayerSource, path: Option<PathBuf>) -> Self {
        let kind = match source.kind {
            LayerKind::Manifest => LayerKind::Parent,
            kind => kind,
        };
        Self {
            kind: kind.as_str().to_owned(),
            file: source.file.to_string(),
            path,
            directory: source.directory.clone(),
            text: source.text.clone(),
            is_trusted: source.trust == Trust::Trusted,
        }
    }

    pub(crate) fn source(&self) -> Option<LayerSource> {
        Some(LayerSource {
            kind: layer_kind(&self.kind)?,
            file: self.file.as_str().into(),
            directory: self.directory.clone(),
            text: self.text.clone(),
            trust: match self.is_trusted {
                true => Trust::Trusted,
                false => Trust::Untrusted,
            },
        })
    }
}

impl HandedScope {
    /// What the scope of the pod above comes to: its roots, and what is denied and protected there.
    pub(crate) fn of(
        granted: &[Root],
        decl: &ScopeDecl,
        workspace: &Path,
        protected: &[Protected],
    ) -> Self {
        let handed = |root: &Root| HandedRoot {
            path: workspace.join(&root.path),
            is_write: root.access == Access::Write,
            declared: root.declared.as_deref().map(str::to_owned),
        };
        Self {
            allow: granted.iter().map(handed).collect(),
            deny: decl.deny.iter().map(handed).collect(),
            is_required: decl.enforce == Enforce::Required,
            protected: protected
                .iter()
                .map(|one| (workspace.join(&one.path), one.shield == Shield::Hidden))
                .collect(),
        }
    }

    /// The roots beyond which the child reaches nothing.
    pub(crate) fn within(&self) -> Vec<Root> {
        self.allow.iter().map(HandedRoot::root).collect()
    }

    /// The child's own declaration, with all that is denied above it.
    pub(crate) fn tighten(&self, mut decl: ScopeDecl, workspace: &Path) -> ScopeDecl {
        for root in self.deny.iter().map(HandedRoot::root) {
            let is_there =
                |own: &Root| workspace.join(&own.path) == root.path && own.access == root.access;
            if !decl.deny.iter().any(is_there) {
                decl.deny.push(root);
            }
        }
        if self.is_required {
            decl.enforce = Enforce::Required;
        }
        decl
    }

    pub(crate) fn protected(&self) -> impl Iterator<Item = Protected> + '_ {
        self.protected
            .iter()
            .map(|(path, is_hidden)| match is_hidden {
                true => Protected::hidden(path),
                false => Protected::read_only(path),
            })
    }
}

impl HandedRoot {
    fn root(&self) -> Root {
        let root = match self.is_write {
            true => Root::write(&self.path),
            false => Root::read(&self.path),
        };
        match &self.declared {
            Some(declared) => root.declared_at(declared.as_str()),
            None => root,
        }
    }
}

impl Inheritance {
    /// A file in memory that holds it, to be read from its beginning.
    pub(super) fn to_file(&self) -> io::Result<File> {
        let fd = rustix::fs::memfd_create("podward-child", MemfdFlags::CLOEXEC)?;
        let mut file = File::from(fd);
        file.write_all(&serde_json::to_vec(self)?)?;
        Ok(file)
    }

    /// Takes over what the pod that started this process gives it over standard input, and ties the
    /// life of this process to that one's. It may be called again in a process that started itself anew.
    ///
    /// # Errors
    /// No pod started this process, or it is gone.
    pub fn receive() -> Result<Arc<Self>, ChildError> {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .map_err(|error| ChildError::io("tie the process to the pod above", error.into()))?;
        let bytes = read_all(&rustix::stdio::stdin())
            .map_err(|error| ChildError::io("read what the pod above gives", error))?;
        let inheritance: Self = serde_json::from_slice(&bytes).map_err(|_| ChildError::Foreign)?;
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_pid().unsigned_abs());
        // It may have ended before its end could be heard of.
        if inheritance.format != FORMAT || parent != Some(inheritance.parent) {
            return Err(ChildError::Foreign);
        }
        family::belongs_to_those_above(inheritance.estate.path.len());
        Ok(Arc::new(inheritance))
    }

    /// The connection to the pod above: it is standard output, and nothing else is written there. What
    /// standard input held is emptied.
    ///
    /// # Errors
    /// It is no connection.
    pub fn connection(&self) -> Result<UnixStream, ChildError> {
        let failed =
            |error: rustix::io::Errno| ChildError::io("talk to the pod above", error.into());
        rustix::fs::ftruncate(rustix::stdio::stdin(), 0).map_err(failed)?;
        let fd: OwnedFd =
            rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).map_err(failed)?;
        Ok(UnixStream::from(fd))
    }

    /// Checks and joins the layers: those that the pod above gives, and the child's own manifest.
    ///
    /// # Errors
    /// Everything that is wrong with its manifest.
    pub fn load(self: &Arc<Self>, places: &Places) -> Result<Loaded, LoadError> {
        load_inherited(places, self)
    }

    /// The session that the child works in: a new one, or one that it goes on with.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// The model's key that the pod above was given, if it was given one in a variable.
    #[must_use]
    pub fn key(&self) -> Option<ModelKey> {
        let (variable, value) = self.estate.key.as_ref()?;
        Some(ModelKey::of_variable(variable, value))
    }

    /// Whether who started the outermost pod has answered questions beforehand.
    #[must_use]
    pub const fn auto(&self) -> Auto {
        self.estate.auto
    }

    /// Whether every pod above lets its commands see a variable.
    pub(crate) fn passes(&self, name: &str) -> bool {
        self.estate.environment.iter().all(|patterns| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| {
                VariablePattern::new(pattern).is_ok_and(|pattern| pattern.matches(name))
            })
        })
    }
}

/// All of a file, from its beginning.
fn read_all(file: &impl std::os::fd::AsFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = rustix::io::pread(file, &mut buffer, bytes.len() as u64)?;
        let Some(read) = buffer.get(..n).filter(|read| !read.is_empty()) else {
            return Ok(bytes);
        };
        bytes.extend_from_slice(read);
        if bytes.len() > MAX_BYTES {
            return Err(io::Error::other("it is too long"));
        }
    }
}
