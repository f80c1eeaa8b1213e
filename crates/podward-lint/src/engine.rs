//! Calls, lowered and judged: every witness is one that the judge confirms.

use podward_policy::{
    Action, Cause, LayerAnalysis, Lowered, Operation, Policies, RuleIdx, WrittenRule,
};
use podward_shell::AddedPrograms;

use crate::call::Call;
use crate::{Attendance, Lint};

/// Says what a call would do, as the tools do.
pub trait Lower {
    /// The operations of a call; `None`: there is no such tool, or its arguments do not fit it.
    fn lower(&self, call: &Call) -> Option<Lowered>;
}

/// A call that was judged by a layer alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The call.
    pub call: Call,
    /// The verdict of the layer.
    pub action: Action,
    /// The rule that decided the call; `None`: none did.
    pub rule: Option<RuleIdx>,
    /// One word for the verdict's cause.
    pub cause: &'static str,
}

/// One layer with what judges calls by it.
pub(crate) struct Engine<'a> {
    pub(crate) layer: LayerAnalysis<'a>,
    pub(crate) layer_idx: usize,
    pub(crate) programs: &'a AddedPrograms,
    pub(crate) attendance: Attendance,
    policies: &'a Policies,
    lower: &'a dyn Lower,
}

/// A call, judged.
pub(crate) struct Judged {
    pub(crate) witness: Witness,
    pub(crate) lowered: Lowered,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(lint: &'a Lint<'a>, layer_idx: usize, layer: LayerAnalysis<'a>) -> Self {
        Self {
            layer,
            layer_idx,
            programs: lint.programs,
            attendance: lint.attendance,
            policies: lint.policies,
            lower: lint.lower,
        }
    }

    pub(crate) fn rule(&self, idx: RuleIdx) -> Option<WrittenRule<'a>> {
        self.layer.rule(idx)
    }

    /// Rules before one.
    pub(crate) fn before(
        &self,
        idx: RuleIdx,
    ) -> impl Iterator<Item = (RuleIdx, WrittenRule<'a>)> + '_ {
        (0..idx.0).filter_map(|at| Some((RuleIdx(at), self.rule(RuleIdx(at))?)))
    }

    /// Judges a call by the layer; `None` if it is no call.
    pub(crate) fn judge(&self, call: Call) -> Option<Judged> {
        let lowered = self.lower.lower(&call)?;
        let ruling = self.policies.judge_layer(self.layer_idx, &lowered);
        let witness = Witness {
            call,
            action: ruling.action,
            rule: match &ruling.cause {
                Cause::Rule { rule, .. } => Some(*rule),
                _ => None,
            },
            cause: cause(&ruling.cause),
        };
        Some(Judged { witness, lowered })
    }

    /// The first of some calls that a rule decides.
    pub(crate) fn decided_by(
        &self,
        rule: RuleIdx,
        calls: impl IntoIterator<Item = Call>,
    ) -> Option<Witness> {
        calls.into_iter().find_map(|call| {
            let judged = self.judge(call)?;
            (judged.witness.rule == Some(rule)).then_some(judged.witness)
        })
    }

    /// What a command line is, lowered.
    pub(crate) fn lowered_line(&self, line: &str) -> Option<Lowered> {
        self.lower.lower(&Call::bash(line)?)
    }
}

impl Judged {
    /// Whether a rule decides an operation of the call, whatever decides the call.
    pub(crate) fn is_decided_in_part(&self, engine: &Engine<'_>, rule: RuleIdx) -> bool {
        let decided = engine.layer.decisions(&self.lowered);
        decided.iter().any(|decided| decided.rule == Some(rule))
    }

    pub(crate) fn operations(&self) -> Vec<&Operation> {
        match &self.lowered {
            Lowered::NothingToRun => Vec::new(),
            Lowered::Operations(operations) => operations.iter().collect(),
        }
    }
}

const fn cause(cause: &Cause) -> &'static str {
    match cause {
        Cause::NoPolicy => "no_policy",
        Cause::NothingToRun => "nothing_to_run",
        Cause::Rule { .. } => "rule",
        Cause::Default { .. } => "default",
        Cause::Unresolved { .. } => "unresolved",
        Cause::Unrestricted => "unrestricted",
        Cause::Unnamed { .. } => "unnamed",
        Cause::Skill { .. } => "skill",
        Cause::SkillFiles { .. } => "skill_files",
    }
}
