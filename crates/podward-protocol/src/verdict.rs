//! A verdict on the wire, with its cause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// What was decided over a call.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call runs.
    Allow,
    /// A person is asked.
    Ask,
    /// The call is refused.
    Deny,
}

impl Verdict {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A verdict with everything that explains it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub cause: Cause,
    /// The place of the operation that decided, from 0, in the list sent with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
    /// Whether all of the call was seen.
    pub coverage: Coverage,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// No layer has a `[permissions]` table.
    NoPolicy,
    /// The command holds nothing that would run.
    NothingToRun,
    /// A rule decided.
    Rule {
        /// The layer it belongs to: `machine`, `user`, `project`, `manifest`, `command-line` or
        /// `environment`.
        layer: String,
        /// Its number in that layer, from 1.
        rule: usize,
        /// Where it is written.
        at: Place,
        /// Its pattern.
        pattern: String,
        /// Its message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// No rule matched.
    Default {
        /// The layer whose default decided.
        layer: String,
        /// Where `default_action` is written.
        at: Place,
    },
    /// The text holds parts that are not known before it runs, and the verdict hangs on them.
    Unresolved {
        /// The layer whose `unresolved` decided.
        layer: String,
        /// The number, from 1, of the first rule that may or may not match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<usize>,
        /// Where that rule is written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// What is not known.
        why: String,
    },
    /// Nothing asks for it: an operation that can only tighten, and no rule names it.
    Unrestricted,
    /// An address that is not public needs a rule that names it.
    Unnamed {
        /// The layer that has none.
        layer: String,
    },
    /// A skill that is active denies what the rules do not: no answer changes that.
    Skill {
        /// Its name.
        name: String,
        /// The digest of its `SKILL.md`.
        digest: String,
        /// What of it.
        says: SkillSays,
    },
    /// What the rules ask about is a read of the own files of a skill that is active: nobody is asked.
    SkillFiles {
        /// Its name.
        name: String,
        /// The digest of its `SKILL.md`.
        digest: String,
    },
    /// The same call with the same arguments for the third time (or more) in one turn, with nothing but
    /// reading permitted in between.
    Repeated,
    /// The arguments do not fit the tool: never judged.
    BadCall {
        /// What does not fit.
        why: String,
    },
    /// There is no such tool: never judged.
    UnknownTool,
    /// The turn ended before the call was judged.
    NotJudged,
}

/// What of an active skill denies a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkillSays {
    /// `allowed-tools` does not list it.
    NotListed {
        /// The list as written.
        list: String,
    },
    /// `disallowed-tools` lists it.
    Disallowed {
        /// The entry as written.
        entry: String,
        /// Where it is written.
        at: Place,
    },
    /// Whether the skill allows it is not known before it runs.
    Unresolved {
        /// `allowed-tools` as written; absent: there is no such list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<String>,
        /// What is not known.
        why: String,
    },
}

impl Cause {
    /// The word on the wire, the value of `kind`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NoPolicy => "no_policy",
            Self::NothingToRun => "nothing_to_run",
            Self::Rule { .. } => "rule",
            Self::Default { .. } => "default",
            Self::Unresolved { .. } => "unresolved",
            Self::Unrestricted => "unrestricted",
            Self::Unnamed { .. } => "unnamed",
            Self::Skill { .. } => "skill",
            Self::SkillFiles { .. } => "skill_files",
            Self::Repeated => "repeated",
            Self::BadCall { .. } => "bad_call",
            Self::UnknownTool => "unknown_tool",
            Self::NotJudged => "not_judged",
        }
    }
}

/// Who turned a verdict into what happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DecidedBy {
    /// The rules alone.
    Policy,
    /// The pod: nobody could answer, the turn was cancelled, the pod stopped.
    Pod,
    /// Somebody who was asked.
    Client {
        /// Who.
        name: String,
        /// Whether they changed the arguments before they said yes.
        #[serde(default, skip_serializing_if = "is_false")]
        edited: bool,
    },
    /// Remembered approvals: together they cover every part that is asked about.
    Grants {
        /// Which.
        grants: Vec<GrantId>,
        /// Who gave the last of them.
        name: String,
    },
    /// The person who started the run answered every question beforehand.
    Auto,
    /// A hook of the user.
    Hook {
        /// Its name.
        name: String,
    },
}

/// Whether a field that is seldom set can be left out.
pub(crate) const fn is_false(is_set: &bool) -> bool {
    !*is_set
}

/// Why a call did not run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RefusalCause {
    /// The rules deny it.
    Policy,
    /// It must be asked about and nobody is there to answer.
    NoClient,
    /// It must be asked about, nobody is there to answer, and it is not known before it runs: the person
    /// who started the run answered beforehand what is.
    NotAuto,
    /// It must be asked about, and the question is too long for a line.
    TooLarge,
    /// It must be asked about, and a yes could not have helped: nobody was asked.
    Futile {
        /// The error that the call would have ended with; the model reads it.
        error: String,
    },
    /// Somebody said no.
    Rejected {
        /// Who.
        name: String,
        /// What they said to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// Nobody answered in time.
    Expired,
    /// Whoever could have answered left.
    ClientGone,
    /// A hook of the user refused it.
    Hook {
        /// Its name.
        name: String,
        /// What it said.
        text: String,
    },
    /// A hook of the user, which could have refused it, failed.
    HookFailed {
        /// Its name.
        name: String,
        /// What went wrong; empty in lines of the first version.
        #[serde(default)]
        why: String,
    },
    /// No permission check decided about it.
    NotJudged,
    /// The arguments do not fit the tool.
    BadCall,
    /// There is no such tool.
    UnknownTool,
    /// The turn was cancelled before the call ran or ended.
    Cancelled,
    /// The pod stopped before the call ran or ended.
    PodStopped,
    /// The pod died before the call ran or ended.
    Interrupted,
}

impl RefusalCause {
    /// The word on the wire, the value of `kind`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::NoClient => "no_client",
            Self::NotAuto => "not_auto",
            Self::TooLarge => "too_large",
            Self::Futile { .. } => "futile",
            Self::Rejected { .. } => "rejected",
            Self::Expired => "expired",
            Self::ClientGone => "client_gone",
            Self::Hook { .. } => "hook",
            Self::HookFailed { .. } => "hook_failed",
            Self::NotJudged => "not_judged",
            Self::BadCall => "bad_call",
            Self::UnknownTool => "unknown_tool",
            Self::Cancelled => "cancelled",
            Self::PodStopped => "pod_stopped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Whether the analysis saw all of what a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Coverage {
    /// All of it.
    Full,
    /// Not all of it.
    Partial {
        /// What was not seen, for people.
        why: Vec<String>,
    },
}

/// A place in a policy's source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The file as the user knows it, or what stands for one (`PODWARD_PERMISSIONS`).
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// The tool whose rules judge it.
    pub tool: String,
    /// What kind of text it is.
    pub subject: SubjectKind,
    /// The text; each part that is not known before the call runs is shown as `…`.
    pub text: String,
    /// A command as a shell has to be given it, literal words in quotes where they would be more without:
    /// absent where that is `text`, or a part of it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelled: Option<String>,
    /// Where a path leads that is a symbolic link, or has one in it: relative to the workspace where it
    /// is inside. Absent where it leads nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// Whether no part of the text is unknown.
    pub known: bool,
    /// How far it needs an allow.
    pub need: Need,
    /// The part of the call's text it came from (bytes of the `command` of bash).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Why it is unknown code; only for the subject `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why the analysis may not have seen all that it does; left out if it saw all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<String>,
}

/// What kind of text an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A simple command.
    Command,
    /// A path.
    Path,
    /// All that lies below a directory, if the path is one: its text ends with `/`.
    Tree,
    /// A URL.
    Url,
    /// Any other text.
    Plain,
    /// Code that is not known before it runs.
    Unknown,
}

/// How far an operation needs an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Needs an allow where the default is not allow.
    Full,
    /// Can only tighten.
    Restrictive,
    /// Needs an allow by a rule that names it, whatever the default is.
    Named,
    /// Needs no rule; deny and ask rules still count.
    Free,
    /// A write that a command makes on the side.
    Derived,
    /// A command that another one runs.
    RunBy,
}
