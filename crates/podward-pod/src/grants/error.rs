//! Why an approval cannot be remembered.

use std::path::PathBuf;

use podward_protocol::Time;

use crate::error::StateError;
use crate::file::shown;
use crate::grants::MAX_GRANTS;

/// A grant that cannot be kept, or grants that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// The file cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A path that cannot be written down.
    #[error("`{}` is not UTF-8: approvals cannot be remembered for it", shown(.0))]
    NotUtf8(PathBuf),
    /// It would end before it begins.
    #[error("`{0}` is over")]
    Past(Time),
    /// It could not be used once.
    #[error("a grant for no use at all")]
    NoUses,
    /// There are too many.
    #[error("this workspace has {MAX_GRANTS} grants, and there can be no more")]
    Full,
    /// It is too large, or says what no grant can.
    #[error("this cannot be remembered: {0}")]
    Refused(String),
}

impl GrantError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::State(error) => error.help(),
            Self::Full => {
                Some("`podward grants list` shows them, `podward grants revoke` makes room".into())
            }
            Self::NotUtf8(_) | Self::Past(_) | Self::NoUses | Self::Refused(_) => None,
        }
    }
}
