//! Who answers what the rules ask about, and for how long.

use std::time::Duration;

/// How long a question stays open after the last client that could answer it left, unless a layer
/// says otherwise.
pub(crate) const DEFAULT_CLIENT_GRACE: Duration = Duration::from_secs(10);

/// The keys of `[permissions]` that are about questions, joined over all layers: of each key the
/// strictest that a layer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    /// `on_ask`: what happens to a question that nobody is there to answer.
    pub on_ask: OnAsk,
    /// `ask_timeout`: how long a question stays open, in whole seconds; `None`: as long as somebody
    /// may answer it. Never `None` with [`OnAsk::Wait`]. A rule can only shorten it.
    pub ask_timeout: Option<Duration>,
    /// `client_grace`: how long a question stays open after the last client that could answer it
    /// left; may be nothing.
    pub client_grace: Duration,
    /// `auto`: whether `--auto` may answer.
    pub auto: AutoAnswers,
}

/// What happens to a question that nobody is there to answer; the strictest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum OnAsk {
    /// `wait`: it stays open until `ask_timeout`, whoever comes and goes.
    Wait,
    /// `refuse`: it is refused at once.
    #[default]
    Refuse,
    /// `error`: there are no questions. A manifest whose rules can ask does not load.
    Error,
}

/// Whether `--auto` may answer questions; the strictest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AutoAnswers {
    /// `allow`: it may.
    #[default]
    Allow,
    /// `forbid`: it may not.
    Forbid,
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            on_ask: OnAsk::default(),
            ask_timeout: None,
            client_grace: DEFAULT_CLIENT_GRACE,
            auto: AutoAnswers::default(),
        }
    }
}

impl OnAsk {
    /// Every value, the strictest last.
    pub const ALL: &'static [Self] = &[Self::Wait, Self::Refuse, Self::Error];

    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Refuse => "refuse",
            Self::Error => "error",
        }
    }
}

impl AutoAnswers {
    /// Every value, the strictest last.
    pub const ALL: &'static [Self] = &[Self::Allow, Self::Forbid];

    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Forbid => "forbid",
        }
    }
}
