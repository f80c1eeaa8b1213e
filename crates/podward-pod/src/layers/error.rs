//! Why a manifest's layers cannot be used.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use podward_manifest::{Diagnostics, LayerKind};
use podward_policy::Location;

use super::PERMISSIONS_VARIABLE;
use crate::file::{FileError, shown};
use crate::trust::TrustError;

/// Everything that is wrong with the layers: their files, then their texts.
#[derive(Debug, Default)]
pub struct LoadError {
    /// The files that cannot be used, with the layer each belongs to.
    pub problems: Vec<(LayerKind, LayerProblem)>,
    /// What is wrong with the texts.
    pub diagnostics: Vec<Diagnostics>,
}

/// Why the file of a layer, or what it names, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LayerProblem {
    /// It cannot be read, or others could have written it.
    #[error(transparent)]
    File(FileError),
    /// It was named and is not there.
    #[error("`{}` does not exist", shown(.0))]
    Missing(PathBuf),
    /// A child's manifest is not there.
    #[error(
        "the manifest `{}` of a child does not exist (named at {location})",
        shown(path)
    )]
    MissingChild {
        /// The manifest.
        path: PathBuf,
        /// Where it is named.
        location: Location,
    },
    /// Children, and those below them, have too many manifests.
    #[error("there are more than {0} manifests of children")]
    TooManyChildren(usize),
    /// A child wants a workspace of its own.
    #[error("a child works where the pod above works, and on no copy of its own")]
    ChildCopy,
    /// What a pod above gave makes no sense.
    #[error("what the pod above gave is no layer of this version")]
    Handed,
    /// The variable is set and holds nothing.
    #[error("`{PERMISSIONS_VARIABLE}` is set and holds no rules")]
    Blank,
    /// The variable is no text.
    #[error("`{PERMISSIONS_VARIABLE}` is not UTF-8")]
    NotUtf8,
    /// The list of trusted projects cannot be used.
    #[error(transparent)]
    Trust(TrustError),
    /// The workspace is no directory that can be entered.
    #[error("the workspace `{}` cannot be used", shown(path))]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl LayerProblem {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File(error) => error.help(),
            Self::Trust(error) => error.help(),
            Self::Blank => Some(format!(
                "no rules at all may be a mistake: unset {PERMISSIONS_VARIABLE} if it is meant"
            )),
            Self::ChildCopy => {
                Some("leave `workspace_mode` out, or say `copy` in the manifest above".to_owned())
            }
            Self::Missing(_)
            | Self::MissingChild { .. }
            | Self::TooManyChildren(_)
            | Self::Handed
            | Self::NotUtf8
            | Self::Workspace { .. } => None,
        }
    }
}

impl LoadError {
    pub(super) fn add(&mut self, kind: LayerKind, problem: LayerProblem) {
        self.problems.push((kind, problem));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.problems.is_empty() && self.diagnostics.is_empty()
    }
}

/// All of it, separated by empty lines; no newline at the end.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (kind, problem) in &self.problems {
            write!(f, "{gap}error: {problem} ({} layer)", kind.as_str())?;
            let mut source = problem.source();
            while let Some(cause) = source {
                write!(f, "\n  because: {cause}")?;
                source = cause.source();
            }
            if let Some(help) = problem.help() {
                write!(f, "\nhelp: {help}")?;
            }
            gap = "\n\n";
        }
        for diagnostics in &self.diagnostics {
            write!(f, "{gap}{diagnostics}")?;
            gap = "\n\n";
        }
        Ok(())
    }
}

impl Error for LoadError {}
