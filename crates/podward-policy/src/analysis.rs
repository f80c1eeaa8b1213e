//! What the rules of a layer leave to each other: which texts a rule decides, and which others
//! decide before it.
//!
//! Nothing here judges a call: verdicts come from the judge alone. What is said of a rule is said of
//! its own layer.

mod cover;
mod never;
mod sample;
mod view;

use crate::action::Action;
use crate::judge;
use crate::operation::{Lowered, OperationIdx};
use crate::policy::{Policies, Policy};
use crate::rule::Rule;
use crate::rule::tools::ToolPattern;
use crate::tool::{KnownTools, ToolName, ToolOrigin};
use crate::verdict::RuleIdx;
use crate::work::Work;

use view::View;

pub use crate::pattern::language::Effort;

/// One layer, and what its rules leave to each other.
#[derive(Debug)]
pub struct LayerAnalysis<'p> {
    policy: &'p Policy,
    known: &'p KnownTools,
    rules: Vec<View>,
}

/// A rule as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenRule<'p> {
    /// The tool, or the glob over tools.
    pub tool: &'p str,
    /// The pattern.
    pub pattern: &'p str,
    /// What it says.
    pub action: Action,
    /// The pattern is `*`.
    pub is_catch_all: bool,
    /// The pattern has no wildcard.
    pub is_literal: bool,
    /// The pattern has a shell operator: a deny or an ask is matched against whole lines.
    pub has_operator: bool,
}

/// What the earlier rules of a layer leave to a rule, of the texts that its pattern matches as they
/// are written: known to the last character, and no further form of them (D3.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsWritten {
    /// These, and maybe more.
    Open(Vec<String>),
    /// No text of the tool is one that the pattern matches.
    Empty,
    /// None.
    Covered,
    /// It was not found out within the effort.
    Undecided,
}

/// What two rules share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// Nothing that rules before the earlier one leave to it.
    None,
    /// The earlier rule is about some of what the later one is about, and about nothing else.
    Within(String),
    /// This text and maybe more; the earlier one also matches what the later one does not.
    Partly(String),
    /// It was not found out within the effort.
    Undecided,
}

/// What a layer says of one operation of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// The operation.
    pub operation: OperationIdx,
    /// What is said.
    pub action: Action,
    /// The rule that says it; `None`: the default, or nothing.
    pub rule: Option<RuleIdx>,
}

impl Policies {
    /// The layers, to look into what their rules leave to each other.
    #[must_use]
    pub fn analysis<'p>(&'p self, known: &'p KnownTools) -> Vec<LayerAnalysis<'p>> {
        let layers = self.layers.iter();
        layers
            .map(|(_, policy)| LayerAnalysis {
                policy,
                known,
                rules: policy.rules.iter().map(View::new).collect(),
            })
            .collect()
    }
}

impl<'p> LayerAnalysis<'p> {
    /// How many rules it has.
    #[must_use]
    pub fn n_rules(&self) -> usize {
        self.policy.rules.len()
    }

    /// What is said where no rule matches.
    #[must_use]
    pub const fn default_action(&self) -> Action {
        self.policy.default_action
    }

    /// A rule.
    #[must_use]
    pub fn rule(&self, idx: RuleIdx) -> Option<WrittenRule<'p>> {
        let rule = self.policy.rules.get(idx.0)?;
        Some(WrittenRule {
            tool: rule.written_tool(),
            pattern: &rule.pattern,
            action: rule.action,
            is_catch_all: rule.is_catch_all,
            is_literal: rule.literal().is_some(),
            has_operator: rule.has_operator(),
        })
    }

    /// The words of a rule's pattern for commands.
    #[must_use]
    pub fn words(&self, idx: RuleIdx) -> Vec<PatternWord> {
        self.rules
            .get(idx.0)
            .map(|view| view::words(view.command.tokens()))
            .unwrap_or_default()
    }

    /// Tools that a rule is about: all that are built in, and of MCP servers' enough to tell by
    /// them what the rule does.
    #[must_use]
    pub fn tools(&self, idx: RuleIdx) -> Vec<ToolName> {
        let Some(rule) = self.policy.rules.get(idx.0) else {
            return Vec::new();
        };
        if let ToolPattern::Exact(name) = rule.tool() {
            return vec![name.clone()];
        }
        let built_in = self.known.iter();
        let mut tools: Vec<ToolName> = built_in
            .filter(|tool| rule.tool().matches(tool, rule.action))
            .cloned()
            .collect();
        tools.extend(self.servers_tool(rule));
        tools
    }

    /// A tool of a server that a rule with a glob is about.
    fn servers_tool(&self, rule: &Rule) -> Option<ToolName> {
        let filled = rule.written_tool().replace('*', "any").replace('?', "x");
        let made = [filled.as_str(), "mcp__any__any"].into_iter();
        let written = self.policy.rules.iter().map(|rule| rule.written_tool());
        made.chain(written)
            .filter_map(|name| ToolName::new(name).ok())
            .filter(|name| matches!(name.origin(), ToolOrigin::Mcp { .. }))
            .find(|name| rule.tool().matches(name, rule.action))
    }

    /// Rules before one that are about a tool as well.
    fn before<'s>(
        &'s self,
        idx: RuleIdx,
        tool: &'s ToolName,
    ) -> impl Iterator<Item = (RuleIdx, &'p Rule, &'s View)> + 's {
        let rules = self.policy.rules.iter().zip(&self.rules).enumerate();
        rules
            .take(idx.0)
            .filter(|(_, (rule, _))| rule.tool().matches(tool, rule.action))
            .map(|(at, (rule, view))| (RuleIdx(at), rule, view))
    }

    fn at(&self, idx: RuleIdx) -> Option<(&'p Rule, &View)> {
        Some((self.policy.rules.get(idx.0)?, self.rules.get(idx.0)?))
    }

    /// What the layer says of each operation of a call.
    #[must_use]
    pub fn decisions(&self, call: &Lowered) -> Vec<Decided> {
        judge::decisions(self.policy, call)
    }
}

/// One word of a pattern for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternWord {
    /// The characters before the first wildcard.
    pub front: String,
    /// What comes after them.
    pub rest: WordRest,
}

/// What a word of a pattern has behind its known front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordRest {
    /// Nothing: all of the word is written out.
    Nothing,
    /// A `*`, and the word is over.
    Star,
    /// Something else with a wildcard.
    Wild,
}

/// Whether a glob over tools may mean tools of MCP servers.
fn may_be_of_a_server(rule: &Rule, sample: Option<&ToolName>) -> bool {
    match rule.tool() {
        ToolPattern::Exact(_) => false,
        ToolPattern::Every | ToolPattern::Mcp(_) => true,
        ToolPattern::Names(glob) => {
            let begins = glob.differs_at_start("mcp__", &mut Work::new());
            rule.action != Action::Allow && (sample.is_some() || begins != Ok(true))
        }
    }
}

#[cfg(test)]
mod tests;
