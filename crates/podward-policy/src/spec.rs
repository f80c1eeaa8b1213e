//! What a `[permissions]` table says, before it is compiled.

use crate::action::Action;
use crate::source::{ByteSpan, Location};
use crate::verdict::RuleIdx;

/// A `[permissions]` table: values only, already known to have no unknown keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySpec {
    /// `default_action`.
    pub default_action: Action,
    /// Where `default_action` is written.
    pub default_location: Location,
    /// `unresolved`: `Ask` or `Deny`; absent: deny if the default is deny, else ask.
    pub unresolved: Option<Action>,
    /// The rules in the order written.
    pub rules: Vec<RuleSpec>,
}

/// One `[[permissions.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSpec {
    /// A tool name, or a glob over tool names.
    pub tool: String,
    /// A glob over the operation's text.
    pub pattern: String,
    /// What the rule says.
    pub action: Action,
    /// For the model and the person.
    pub message: Option<String>,
    /// Whether what it asks about may be allowed by a remembered approval ([`GrantRule`](crate::GrantRule)).
    /// Means something for an ask only.
    pub grantable: bool,
    /// How long an answer is waited for, in seconds, where this rule asks; `None`: the rule does
    /// not say. The rules are not judged by it.
    pub ask_timeout: Option<u32>,
    /// Where the rule is written.
    pub location: Location,
}

/// Which value of a rule a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleField {
    /// The `tool` value.
    Tool,
    /// The `pattern` value.
    Pattern,
}

/// Something about one rule that the author should hear: an error (the policy does not compile)
/// or a warning (it does). The reader of the file adds file, line and underline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleIdx,
    /// Which of its values.
    pub field: RuleField,
    /// Bytes of the value that are meant; `None`: all of it.
    pub part: Option<ByteSpan>,
    /// What is wrong: lower case, no full stop, user text in backticks.
    pub message: String,
    /// What to write instead, or what it means.
    pub help: Option<String>,
}

/// Rules that stand in code; each is located where it is written.
///
/// ```
/// use podward_policy::{Action, KnownTools, Lowered, Operation, Policies, Policy, PolicySpec, ToolName};
///
/// let spec = PolicySpec::new(Action::Deny)
///     .rule("deploy", "staging", Action::Allow)
///     .rule("deploy", "production", Action::Ask);
/// let deploy = ToolName::new("deploy")?;
/// let known = KnownTools::with([deploy.clone()]);
/// let compiled = Policy::compile(&spec, &known).map_err(|findings| findings[0].message.clone())?;
/// let policies = Policies::from(compiled.policy);
/// let call = Lowered::from(Operation::plain(&deploy, "staging"));
/// assert_eq!(policies.judge(&call).action, Action::Allow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl PolicySpec {
    /// A table without rules.
    #[must_use]
    #[track_caller]
    pub fn new(default_action: Action) -> Self {
        Self {
            default_action,
            default_location: Location::here(),
            unresolved: None,
            rules: Vec::new(),
        }
    }

    /// The same with one more rule, behind the others: the first that matches decides.
    #[must_use]
    #[track_caller]
    pub fn rule(
        mut self,
        tool: impl Into<String>,
        pattern: impl Into<String>,
        action: Action,
    ) -> Self {
        self.rules.push(RuleSpec {
            tool: tool.into(),
            pattern: pattern.into(),
            action,
            message: None,
            grantable: true,
            ask_timeout: None,
            location: Location::here(),
        });
        self
    }
}
