//! What an "always" would let run: calls that are made up, judged as if it had been given.

use podward_gate::{CallId, Question};
use podward_policy::{Action, GrantRule};
use podward_protocol as wire;

use super::{Hub, Rules, What};
use crate::serve::always;
use crate::serve::made_up::{MadeUp, like};
use crate::serve::pending::ReplyTo;
use crate::wire::operations;

/// Examples of each kind.
const N_EXAMPLES: usize = 3;

/// An "always" that was not given.
pub(in crate::serve::hub) struct Proposed {
    question: Question,
    /// One for each of these operations.
    rules: Vec<GrantRule>,
    parts: Vec<usize>,
}

/// What would become of a call that is made up.
enum Fate {
    Runs,
    IsAskedOrDenied,
}

impl Hub {
    /// Says what an "always" would let run.
    pub(in crate::serve::hub) fn preview(&mut self, to: ReplyTo, preview: wire::PermissionPreview) {
        let question = match self.question(&preview.id, &preview.digest) {
            Ok(question) => question,
            Err(error) => return self.not_asked(to, &preview.id, error),
        };
        let open = self.questions.get(question.id());
        let asking = open.map(|open| open.asking()).unwrap_or_default();
        let what = wire::Chosen::Patterns(preview.patterns);
        let mut parts: Vec<usize> = asking.iter().map(|one| one.operation.0).collect();
        parts.sort_unstable();
        parts.dedup();
        match always::rules(&question, &asking, &what, &self.asker.programs) {
            Ok(rules) => {
                let proposed = Proposed {
                    question,
                    rules,
                    parts,
                };
                self.begin_explaining(to, What::Preview(Box::new(proposed)));
            }
            Err(error) => self.respond(to, Err(error)),
        }
    }
}

impl Rules {
    pub(super) fn preview(&self, proposed: &Proposed) -> wire::Preview {
        let operations = operations(proposed.question.facts().lowered());
        let part = |idx: &usize| {
            let mut part = wire::PreviewPart {
                operation: *idx,
                covers: Vec::new(),
                covers_not: Vec::new(),
            };
            for made_up in operations.get(*idx).map(like).unwrap_or_default() {
                let kind = match self.fate(&made_up, &proposed.rules) {
                    Some(Fate::Runs) => &mut part.covers,
                    Some(Fate::IsAskedOrDenied) => &mut part.covers_not,
                    None => continue,
                };
                if kind.len() < N_EXAMPLES {
                    kind.push(made_up.shown);
                }
            }
            part
        };
        wire::Preview {
            parts: proposed.parts.iter().map(part).collect(),
        }
    }

    /// What these rules make of a call; `None` if there is no such call, or it runs without them.
    fn fate(&self, made_up: &MadeUp, rules: &[GrantRule]) -> Option<Fate> {
        let id = CallId::new("preview").ok()?;
        let arguments = made_up.arguments.clone();
        let call = self.proposer.propose(id, &made_up.tool, arguments).ok()?;
        let lowered = call.facts().lowered();
        match self.policies.judge(lowered).action {
            Action::Allow => None,
            Action::Deny => Some(Fate::IsAskedOrDenied),
            Action::Ask => {
                let asking = self.policies.asking(lowered);
                let is_covered = |asking| rules.iter().any(|rule| rule.covers(asking, lowered));
                match !asking.is_empty() && asking.iter().all(is_covered) {
                    true => Some(Fate::Runs),
                    false => Some(Fate::IsAskedOrDenied),
                }
            }
        }
    }
}
