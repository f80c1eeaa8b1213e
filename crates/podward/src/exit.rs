//! What the exit code says.

use std::process::ExitCode;

/// How a run of the program ended.
///
/// The numbers are part of the interface: scripts and CI read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done. `check`: allow.
    Done,
    /// It failed. `check --cases`, `test`: a case failed. `lint`: something was found.
    Failed,
    /// `check`: deny.
    Deny,
    /// `check`: ask.
    Ask,
    /// `reply`: somebody or something else had settled it already.
    Settled,
    /// The turn is done and at least one call was refused: by a rule or a hook, for want of
    /// somebody to ask, or because it was no valid call. Calls of children count.
    Refusals,
    /// The command line makes no sense.
    Usage,
    /// A manifest or another layer of rules cannot be used.
    BadManifest,
    /// Stopped by SIGINT.
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Deny,
        Self::Ask,
        Self::Settled,
        Self::Refusals,
        Self::Usage,
        Self::BadManifest,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Deny => 2,
            Self::Ask => 3,
            Self::Settled => 4,
            Self::Refusals => 10,
            Self::Usage => 64,
            Self::BadManifest => 78,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// What it means, for help texts and the man page.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done; `check`: allow",
            Self::Failed => {
                "failed; `check --cases`, `test`: a case failed; `lint`: something was found"
            }
            Self::Deny => "`check`: deny",
            Self::Ask => "`check`: ask",
            Self::Settled => "`reply`: the question had been settled already",
            Self::Refusals => {
                "`run`, `send --wait`: done, with refused calls (denied, nobody to ask, a no, or no \
                 valid call), of the pod or of a child"
            }
            Self::Usage => "the command line makes no sense",
            Self::BadManifest => "a manifest or another layer cannot be used; nothing ran",
            Self::Interrupted => "stopped by SIGINT, results written",
            Self::Terminated => "stopped by SIGTERM, results written",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
