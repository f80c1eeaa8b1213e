//! A verdict with its cause.

use std::fmt;
use std::sync::Arc;

use crate::action::Action;
use crate::asking::Asking;
use crate::operation::OperationIdx;
use crate::skill::SkillSays;
use crate::source::Location;

/// What kind of layer a policy belongs to, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// `/etc/podward/`.
    Machine,
    /// `$XDG_CONFIG_HOME/podward/`.
    User,
    /// `.podward/` of the project: untrusted, can only tighten.
    Project,
    /// The manifest of a pod above, which this one was started by.
    Parent,
    /// The named manifest.
    Manifest,
    /// `--permissions FILE`.
    CommandLine,
    /// `PODWARD_PERMISSIONS`.
    Environment,
}

impl LayerKind {
    /// The word used in output and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::User => "user",
            Self::Project => "project",
            Self::Parent => "parent",
            Self::Manifest => "manifest",
            Self::CommandLine => "command-line",
            Self::Environment => "environment",
        }
    }
}

/// The name of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayerName {
    /// Its kind.
    pub kind: LayerKind,
}

impl fmt::Display for LayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())
    }
}

/// The place of a rule in its layer's list, from 0; people see it from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleIdx(pub usize);

/// Whether the analysis saw all of what a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Full,
    /// Not all of it, and why.
    Partial(Vec<Box<str>>),
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// No layer has a `[permissions]` table.
    NoPolicy,
    /// The command holds nothing that would run.
    NothingToRun,
    /// A rule decided.
    Rule {
        /// Its layer.
        layer: LayerName,
        /// Its place in the list.
        rule: RuleIdx,
        /// Where it is written.
        location: Location,
        /// Its pattern, as written.
        pattern: Arc<str>,
        /// Its message for the model and the person.
        message: Option<Arc<str>>,
    },
    /// No rule matched.
    Default {
        /// The layer whose default decided.
        layer: LayerName,
        /// Where `default_action` is written.
        location: Location,
    },
    /// The text holds parts that are not known before it runs, and the verdict hangs on them.
    Unresolved {
        /// The layer whose `unresolved` decided.
        layer: LayerName,
        /// The first rule that may or may not match.
        rule: Option<RuleIdx>,
        /// Where that rule is written.
        location: Option<Location>,
        /// Why the text is not known, for people.
        why: Box<str>,
    },
    /// Nothing asks for it: a restrictive or free operation that no rule names.
    Unrestricted,
    /// An address needs a rule that names it ([`Need::Named`](crate::Need::Named)).
    Unnamed {
        /// The layer that has none.
        layer: LayerName,
    },
    /// An active skill denies what the layers do not.
    Skill {
        /// Its name.
        name: Box<str>,
        /// The digest of its `SKILL.md`.
        digest: Box<str>,
        /// What of it.
        says: SkillSays,
    },
    /// What the layers ask about is a read of the own files of an active skill, and not asked.
    SkillFiles {
        /// Its name.
        name: Box<str>,
        /// The digest of its `SKILL.md`.
        digest: Box<str>,
    },
}

/// The verdict over one call, with its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The verdict.
    pub action: Action,
    /// Why.
    pub cause: Cause,
    /// The operation that decided; `None` if there is none.
    pub operation: Option<OperationIdx>,
    /// Whether all of the call was seen.
    pub coverage: Coverage,
}

/// A verdict over a call, and what asks about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub ruling: Ruling,
    /// All that asks: empty unless the verdict is ask, and never empty if it is. The call may run once each
    /// of these is answered: an operation may be asked about by several layers, and by several rules of one,
    /// where its text has holes.
    pub asking: Vec<Asking>,
}

impl Judged {
    /// A verdict that is no ask.
    pub(crate) const fn settled(ruling: Ruling) -> Self {
        Self {
            ruling,
            asking: Vec::new(),
        }
    }
}
