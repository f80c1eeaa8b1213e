//! Why a verdict is what it is: every rule that was tried, and what would change it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{CallId, SessionId};
use crate::time::Time;
use crate::verdict::{Cause, DecidedBy, Operation, Place, RefusalCause, Ruling, Verdict, is_false};

/// Asks how the verdict over a call that is made up would come about, by the rules of the pod and the
/// lists of the skills that are active.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// Asks the same of a call of this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainCall {
    /// The call; a permission request has the id of its call.
    pub call: CallId,
}

/// A verdict, and everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The verdict.
    #[serde(flatten)]
    pub ruling: Ruling,
    /// What the call would do, and what each layer says of it.
    pub operations: Vec<ExplainedOperation>,
    /// What would allow the call; left out if it is allowed, or where the rules are not at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Whether rules that were tried are left out, because the line that would tell them all is too
    /// long: those of operations that do not decide, or all.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shortened: bool,
}

/// An operation, and what each layer says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedOperation {
    /// The operation.
    #[serde(flatten)]
    pub operation: Operation,
    /// What may stand in the holes of its text, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<HoleKind>,
    /// Other forms of its text: deny and ask rules see all of them, and an allow rule has to match
    /// every form of a path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<String>,
    /// What the layers say, outermost first; empty where the rules are not at hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerSays>,
}

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HoleKind {
    /// A value that stays inside its word.
    Quoted,
    /// Any number of words.
    Unquoted,
    /// Names of files that a pattern matches.
    FileGlob,
    /// Anything at all.
    Anything,
}

/// What one layer says of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerSays {
    /// The layer.
    pub layer: String,
    /// What it says.
    pub verdict: Verdict,
    /// Why.
    pub cause: Cause,
    /// How many rules it has.
    pub n_rules: usize,
    /// The rules that were tried, in order: the search ends with the first that decides.
    pub tried: Vec<TriedRule>,
    /// Rules behind those that match, or may: they come too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<TriedRule>,
    /// Unless the layer allows it, the allow rule that is least far from deciding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest_allow: Option<TriedRule>,
}

/// A rule, and what it was to an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriedRule {
    /// Its number in its layer, from 1.
    pub rule: usize,
    /// Its `tool`.
    pub tool: String,
    /// Its `pattern`.
    pub pattern: String,
    /// What it says.
    pub action: Verdict,
    /// Where it is written.
    pub at: Place,
    /// What it was to the operation.
    pub result: Tried,
    /// The same for the text of the whole call, where its pattern matches that, or may: it has a
    /// shell operator, and only tightens what the other rules say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Tried>,
}

/// What a rule was to an operation, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tried {
    /// It is about other tools.
    OtherTool,
    /// Its pattern is `*`, which says what a default says, and is not applied to such an operation.
    NotApplied,
    /// An allow that does not name the address.
    NamesNoAddress,
    /// Its pattern does not match.
    Differs,
    /// An allow whose pattern matches another form of the text only.
    OtherForm,
    /// An allow, and the URL was written with a user's name.
    HidesUser,
    /// Its pattern might match, but the operand is known in part only, and can only tighten.
    KnownInPart,
    /// It matches some ways to fill the holes, or the comparison was too costly: an allow does not
    /// count, a deny or an ask does.
    MayMatch,
    /// It is about another tool, and unknown code may do what that tool does.
    ReachedByCode,
    /// It matches.
    Matches,
    /// An allow without wildcards that is the text of the whole call.
    EqualsCall,
    /// An allow of the wrapper that reaches past the name of what it runs.
    CoversWhatItRuns,
}

/// What would allow a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// All of these rules together, the narrowest there are: other calls with the same parts are
    /// allowed by them too.
    Rules {
        /// The rules.
        rules: Vec<RuleToAdd>,
    },
    /// No rule can.
    None {
        /// Why, for people.
        why: String,
    },
    /// There are rules, too long for the line that would tell them.
    LeftOut,
}

/// A rule that would have to be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleToAdd {
    /// The layer that it belongs to: an outer layer binds every inner one.
    pub layer: String,
    /// Where among the rules of the layer.
    pub stands: Stands,
    /// Its `tool`.
    pub tool: String,
    /// Its `pattern`.
    pub pattern: String,
    /// The rule as TOML.
    pub toml: String,
}

/// Where a rule has to stand to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stands {
    /// Anywhere: no rule of the layer decides, its default does.
    Anywhere,
    /// In front of a rule.
    Before {
        /// Where that one is written.
        at: Place,
    },
    /// In front of all other rules.
    First,
}

/// A call of a session: what was decided then, and what its rules say now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The pod's name.
    pub pod: String,
    /// The running call that it is a part of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<CallId>,
    /// The tool.
    pub tool: String,
    /// The arguments, without secrets.
    pub arguments: Value,
    /// The workspace.
    pub workspace: String,
    /// The directory in which it ran.
    pub cwd: String,
    /// What was decided, in order: the judgement first, then each answer.
    pub decisions: Vec<PastDecision>,
    /// The judgement as it was written down: without the rules that were tried.
    pub then: Explanation,
    /// The digest of the rules that judged then.
    pub policy_digest: String,
    /// The digest of the rules of now; left out where they cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_digest_now: Option<String>,
    /// The same call judged now; while the digests are the same, this is what led to the judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Explanation>,
    /// Why it is not judged now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not_now: Option<String>,
}

/// One line of the decision log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastDecision {
    /// When.
    pub time: Time,
    /// What became of the call by it: `run`, `ask` or `refuse`.
    pub outcome: String,
    /// Who decided.
    pub by: DecidedBy,
    /// Why the call did not run; left out if it did, or was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalCause>,
}
