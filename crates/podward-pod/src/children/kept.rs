//! What a child was given, beside its session: whoever goes on with that is under it too.

use std::path::Path;
use std::sync::Arc;

use podward_manifest::LayerKind;
use podward_protocol::SessionId;

use super::inheritance::{FORMAT, HandedLayer};
use super::{ChildError, Inheritance};
use crate::error::StateError;
use crate::file::read_private;
use crate::places::Places;
use crate::replace::replace_file;
use crate::session::find_session;

/// The file, in the directory of a session.
const FILE: &str = "child.json";

impl Inheritance {
    /// Keeps it beside the session of the child, in the place of what was kept there; without the model's
    /// key.
    pub(crate) fn keep(&self, directory: &Path) -> Result<(), StateError> {
        let path = directory.join(FILE);
        let mut kept = self.clone();
        kept.estate.key = None;
        let bytes = serde_json::to_vec(&kept);
        let bytes = bytes.map_err(|error| StateError::io("write", &path, error))?;
        replace_file(&path, &bytes)
    }

    /// What the pod of a session was given, if that was a child.
    ///
    /// # Errors
    /// It cannot be read, or was written by another version of podward.
    pub fn of_session(places: &Places, prefix: &str) -> Result<Option<Arc<Self>>, ChildError> {
        match find_session(places, prefix) {
            Ok(id) => Self::kept(places, &id),
            // Whoever opens it says why not.
            Err(_) => Ok(None),
        }
    }

    pub(crate) fn kept(places: &Places, id: &SessionId) -> Result<Option<Arc<Self>>, ChildError> {
        let path = places.sessions_dir().join(id.as_str()).join(FILE);
        let Some(bytes) = read_private(&path, places.accounts())? else {
            return Ok(None);
        };
        let kept: Option<Self> = serde_json::from_slice(&bytes).ok();
        let kept = kept.filter(|kept| kept.format == FORMAT);
        kept.map(|kept| Some(Arc::new(kept)))
            .ok_or(ChildError::Kept { path })
    }

    /// The layers that only the pods above gave: the others are where they were.
    pub(crate) fn of_pods_above(&self) -> impl Iterator<Item = &HandedLayer> {
        let is_theirs = |layer: &&HandedLayer| {
            layer.source().is_none_or(|source| match source.kind {
                LayerKind::Machine | LayerKind::User | LayerKind::Project => false,
                LayerKind::Parent
                | LayerKind::Manifest
                | LayerKind::CommandLine
                | LayerKind::Environment => true,
            })
        };
        self.layers.iter().filter(is_theirs)
    }
}
