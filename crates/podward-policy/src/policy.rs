//! A compiled `[permissions]` table, and the layers that judge together.

use std::sync::{Arc, OnceLock};

use crate::action::Action;
use crate::asking::{AskedBy, Asker, Asking};
use crate::compile;
use crate::explanation::Explanation;
use crate::index::Index;
use crate::judge;
use crate::operation::Lowered;
use crate::rule::Rule;
use crate::rule::tools::ToolPattern;
use crate::skill::SkillLayer;
use crate::source::Location;
use crate::spec::{Finding, PolicySpec};
use crate::tool::{KnownTools, ToolName};
#[cfg(doc)]
use crate::verdict::Judged;
use crate::verdict::{LayerKind, LayerName, Ruling};

/// How the rules of a layer stand in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuleForm {
    /// Each is a table, `[[permissions.rule]]`; or there are none.
    #[default]
    Tables,
    /// `rule = [ … ]`.
    List,
}

/// One compiled `[permissions]` table.
#[derive(Debug)]
pub struct Policy {
    pub(crate) rules: Vec<Rule>,
    pub(crate) default_action: Action,
    pub(crate) default_location: Location,
    /// What is said of a text over which the ways to fill its holes do not agree.
    pub(crate) unresolved: Action,
    pub(crate) rule_form: RuleForm,
    /// Once it was asked for: the index, or that there is none.
    pub(crate) index: OnceLock<Option<Box<Index>>>,
}

/// A policy that compiled, and what its author should hear about it.
#[derive(Debug)]
pub struct Compiled {
    /// The policy.
    pub policy: Policy,
    /// Warnings, in the order of the rules.
    pub warnings: Vec<Finding>,
}

impl Policy {
    /// Compiles a table.
    ///
    /// # Errors
    /// Every rule that does not compile, all at once.
    pub fn compile(spec: &PolicySpec, tools: &KnownTools) -> Result<Compiled, Vec<Finding>> {
        let policy = Self::compile_unread(spec, tools)?;
        let mut warnings = compile::odd_rules(&policy.rules, spec, tools);
        warnings.extend(compile::covered_rules(&policy.rules));
        warnings.sort_by_key(|warning| warning.rule);
        Ok(Compiled { policy, warnings })
    }

    /// Compiles a table whose warnings nobody would read: what its author should hear takes far
    /// longer to find out than the rest.
    ///
    /// # Errors
    /// Every rule that does not compile, all at once.
    pub fn compile_unread(spec: &PolicySpec, tools: &KnownTools) -> Result<Self, Vec<Finding>> {
        let rules = compile::compile_rules(spec, tools)?;
        // A deny for everything that is left says what a default of deny says (D1.6).
        let denies_the_rest = rules.iter().any(|rule| {
            rule.is_catch_all
                && rule.action == Action::Deny
                && matches!(rule.tool(), ToolPattern::Every)
        });
        let if_absent = match (spec.default_action, denies_the_rest) {
            (Action::Deny, _) | (_, true) => Action::Deny,
            (Action::Allow | Action::Ask, false) => Action::Ask,
        };
        // Allow would turn a deny into an allow by a hole: it is never taken.
        let unresolved = spec.unresolved.unwrap_or(if_absent).max(Action::Ask);
        Ok(Self {
            rules,
            default_action: spec.default_action,
            default_location: spec.default_location.clone(),
            unresolved,
            rule_form: RuleForm::default(),
            index: OnceLock::new(),
        })
    }

    /// The same, with its rules written in this form.
    #[must_use]
    pub fn written_as(self, rule_form: RuleForm) -> Self {
        Self { rule_form, ..self }
    }

    fn make_index(&self) {
        self.index
            .get_or_init(|| Index::new(&self.rules).map(Box::new));
    }

    /// A policy that denies everything: what stands for one that cannot be read.
    #[must_use]
    pub const fn deny_all(location: Location) -> Self {
        Self {
            rules: Vec::new(),
            default_action: Action::Deny,
            default_location: location,
            unresolved: Action::Deny,
            rule_form: RuleForm::Tables,
            index: OnceLock::new(),
        }
    }

    /// What a text that is not known before it runs gets where the rules disagree about it: ask or
    /// deny; where the table does not say, what that means.
    #[must_use]
    pub const fn unresolved(&self) -> Action {
        self.unresolved
    }
}

/// The layers of one pod, outermost first, and the lists of the skills that are active. No layer at
/// all: every call that no skill denies is allowed, cause `NoPolicy`.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    pub(crate) layers: Arc<[(LayerName, Policy)]>,
    pub(crate) skills: Arc<[Arc<SkillLayer>]>,
}

/// One layer, called the manifest.
impl From<Policy> for Policies {
    fn from(policy: Policy) -> Self {
        let kind = LayerKind::Manifest;
        Self::new(vec![(LayerName { kind }, policy)])
    }
}

impl Policies {
    /// The layers in order.
    #[must_use]
    pub fn new(layers: Vec<(LayerName, Policy)>) -> Self {
        Self {
            layers: layers.into(),
            skills: Arc::default(),
        }
    }

    /// The same with an index over the rules of each layer that has many: for many calls. It only skips
    /// rules that cannot match, and never changes who decides.
    #[must_use]
    pub fn indexed(self) -> Self {
        for (_, policy) in self.layers.iter() {
            policy.make_index();
        }
        self
    }

    /// Judges what a call would do: the strictest verdict over all operations, layers and active
    /// skills. Where a layer and a skill deny, the cause is the layer's; of several skills it is the one
    /// that began first. What is asked about the own files of a skill is allowed ([`SkillFiles`]).
    ///
    /// [`SkillFiles`]: crate::SkillFiles
    #[must_use]
    pub fn judge(&self, call: &Lowered) -> Ruling {
        judge::judge(self, call)
    }

    /// Judges what a call would do, and tells of every rule what it was to every operation.
    ///
    /// It is [`Policies::judge`] with an eye on it: the ruling is the same. Active skills are no
    /// layers: of them only the ruling tells.
    #[must_use]
    pub fn explain(&self, call: &Lowered) -> Explanation {
        let explanation = judge::explain(&self.layers, call);
        match self.skills.is_empty() {
            true => explanation,
            false => Explanation {
                ruling: self.judge(call),
                ..explanation
            },
        }
    }

    /// Judges what a call would do by one layer alone: the one at a place, from 0; without one, by no
    /// layer at all.
    #[must_use]
    pub fn judge_layer(&self, place: usize, call: &Lowered) -> Ruling {
        let layers = self.layers.get(place).map_or(&[][..], std::slice::from_ref);
        judge::judge_by_layers(layers, call)
    }

    /// The names of the layers, outermost first.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &LayerName> + '_ {
        self.layers.iter().map(|(name, _)| name)
    }

    /// All that asks about a call ([`Judged::asking`]).
    #[must_use]
    pub fn asking(&self, call: &Lowered) -> Vec<Asking> {
        judge::judged(self, call).asking
    }

    /// The verdict over a call that is asked about, once all that asks about it is answered but for
    /// `rest`: an ask still, whose cause and operation are of what is left. It is for people to look
    /// at, and lets nothing run.
    #[must_use]
    pub fn judge_rest(&self, call: &Lowered, rest: &[Asking]) -> Ruling {
        judge::judge_rest(&self.layers, call, rest)
    }

    /// Where what asks is written; `None` if these policies do not hold it (any more).
    #[must_use]
    pub fn location(&self, asker: &Asker) -> Option<Location> {
        let of_its_layer = |(name, _): &&(LayerName, Policy)| name.kind == asker.layer;
        let mut layers = self.layers.iter().filter(of_its_layer);
        match &asker.by {
            AskedBy::Rule { tool, pattern } => layers
                .flat_map(|(_, policy)| &policy.rules)
                .find(|rule| {
                    rule.action == Action::Ask
                        && rule.written_tool() == &**tool
                        && *rule.pattern == **pattern
                })
                .map(Rule::location),
            AskedBy::Default | AskedBy::Unnamed => layers
                .next()
                .map(|(_, policy)| policy.default_location.clone()),
            AskedBy::Unresolved => None,
        }
    }

    /// How the rules of a layer are written, those of the first one of this kind.
    #[must_use]
    pub fn rule_form(&self, layer: LayerKind) -> RuleForm {
        let mut layers = self.layers.iter();
        let found = layers.find(|(name, _)| name.kind == layer);
        found.map_or_else(RuleForm::default, |(_, policy)| policy.rule_form)
    }

    /// Whether some text of this tool can get a verdict other than deny: a tool for which there is
    /// none is not offered to the model.
    ///
    /// It is only false where that is certain. Commands that do nothing (`true`, a comment) do not
    /// count: no table refuses them.
    #[must_use]
    pub fn may_ever_run(&self, tool: &ToolName) -> bool {
        let mut layers = self.layers.iter();
        layers.all(|(_, policy)| judge::may_ever_run(policy, tool))
            && self.skills.iter().all(|skill| skill.leaves(tool))
    }
}
