//! Finds rules that do not do what their author means, each with a call that shows it.
//!
//! It must never know where a rule's text came from, how a call is run, or how a finding is shown:
//! compiled policies in, findings out, no I/O.
//!
//! What a finding says of a rule is said of the rule's own layer. Its witnesses are calls that were
//! lowered and judged ([`Lower`], [`podward_policy::Policies::judge`]) before the finding is made: a
//! finding whose witness the judge does not confirm is not made.

mod asks;
mod call;
mod code;
mod command;
mod deny;
mod engine;
mod finding;
mod flags;
mod open;
mod paths;
mod places;
mod reach;
mod stars;

use podward_policy::{Effort, KnownTools, Policies, RuleIdx};
use podward_shell::AddedPrograms;

pub use call::Call;
pub use code::{Code, Severity};
pub use engine::{Lower, Witness};
pub use finding::{Finding, Part};
pub use reach::Reach;

use engine::Engine;

/// States of one search for a text: beyond them what was asked stays undecided.
pub const MOST_STATES: usize = 20_000;

/// Steps of one search.
pub const MOST_STEPS: u64 = 1 << 22;

/// Steps of all searches over one layer.
pub const MOST_STEPS_OF_A_LAYER: u64 = 1 << 31;

/// What is looked into, and by what.
pub struct Lint<'a> {
    /// The policies.
    pub policies: &'a Policies,
    /// The tools that rules may name.
    pub known: &'a KnownTools,
    /// Lowers calls.
    pub lower: &'a dyn Lower,
    /// Models of programs beside those that are built in.
    pub programs: &'a AddedPrograms,
    /// Whether nobody may be there to answer a question.
    pub attendance: Attendance,
}

/// Whether somebody is there to answer what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// The manifest does not say, or keeps questions until somebody comes.
    Unsaid,
    /// The manifest says that a question which nobody is there to answer is refused.
    Headless,
}

/// What was found, and what it cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In the order of the layers and of their rules.
    pub findings: Vec<Finding>,
    /// Steps of all searches, counted.
    pub n_steps: u64,
}

impl Lint<'_> {
    /// Looks into all layers.
    #[must_use]
    pub fn run(&self) -> Report {
        let mut findings = Vec::new();
        let mut n_steps = 0;
        let layers = self.policies.analysis(self.known);
        for (layer_idx, layer) in layers.into_iter().enumerate() {
            let mut effort = effort();
            let engine = Engine::new(self, layer_idx, layer);
            of_layer(&engine, &mut effort, &mut findings);
            n_steps += effort.n_steps();
        }
        Report { findings, n_steps }
    }

    /// What a rule of a layer decides, and the call that shows it.
    #[must_use]
    pub fn reach(&self, layer_idx: usize, rule: RuleIdx) -> Option<Reach> {
        let layers = self.policies.analysis(self.known);
        let layer = layers.into_iter().nth(layer_idx)?;
        let engine = Engine::new(self, layer_idx, layer);
        Some(reach::reach(&engine, rule, &mut effort()))
    }
}

fn effort() -> Effort {
    Effort::new(MOST_STATES, MOST_STEPS, MOST_STEPS_OF_A_LAYER)
}

fn of_layer(engine: &Engine<'_>, effort: &mut Effort, findings: &mut Vec<Finding>) {
    for idx in (0..engine.layer.n_rules()).map(RuleIdx) {
        let reach = reach::reach(engine, idx, effort);
        let mut of_rule = reach::findings(engine, idx, &reach, effort);
        if let Reach::Decides(_) | Reach::Undecided(_) = reach {
            of_rule.extend(deny::finding(engine, idx, effort));
            of_rule.extend(open::finding(engine, idx, effort));
            of_rule.extend(stars::glued(engine, idx));
            of_rule.extend(stars::leading(engine, idx, effort));
            of_rule.extend(flags::finding(engine, idx, effort));
            of_rule.extend(paths::finding(engine, idx, effort));
            of_rule.extend(places::finding(engine, idx));
            of_rule.extend(asks::finding(engine, idx, &reach));
        }
        // Why nothing is found that the rule decides.
        if of_rule
            .iter()
            .any(|finding| finding.code == Code::ProgramPath)
        {
            of_rule.retain(|finding| finding.code != Code::Undecided);
        }
        findings.append(&mut of_rule);
    }
    findings.extend(asks::of_default(engine));
}
