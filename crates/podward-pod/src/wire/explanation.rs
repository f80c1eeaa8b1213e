//! Why a verdict is what it is, on the wire.

use podward_policy::{
    Action, Explanation, HoleKind, LayerExplanation, Lowered, Operation, PathForm, Policies, Said,
    Subject, Text, Tried, TriedRule,
};
use podward_protocol as wire;
use podward_shell::AddedPrograms;
use podward_tools::{AllowingRule, BadCall, Stands, rules_to_allow};

use super::{cause, number, operation, place, ruling, verdict};

/// Judges a call and says how the verdict came about, and what would allow the call.
#[must_use]
pub fn explained(
    policies: &Policies,
    lowered: &Lowered,
    programs: &AddedPrograms,
) -> wire::Explanation {
    explanation(&policies.explain(lowered), lowered, programs)
}

/// An explanation, with what would allow the call.
#[must_use]
pub fn explanation(
    explanation: &Explanation,
    lowered: &Lowered,
    programs: &AddedPrograms,
) -> wire::Explanation {
    let operations = match lowered {
        Lowered::NothingToRun => Vec::new(),
        Lowered::Operations(operations) => operations
            .iter()
            .enumerate()
            .map(|(idx, operation)| explained_operation(idx, operation, &explanation.layers))
            .collect(),
    };
    let change = match explanation.ruling.action {
        Action::Allow => None,
        Action::Ask | Action::Deny => Some(change(rules_to_allow(lowered, explanation, programs))),
    };
    wire::Explanation {
        ruling: ruling(&explanation.ruling),
        operations,
        change,
        shortened: false,
    }
}

/// What there is to say of a call that is none.
#[must_use]
pub fn bad_call_explained(bad_call: &BadCall) -> wire::Explanation {
    told_only(super::bad_call(bad_call), Vec::new())
}

/// A judgement of which the rules that were tried are not known.
pub(crate) fn told_only(
    ruling: wire::Ruling,
    operations: Vec<wire::Operation>,
) -> wire::Explanation {
    let operations = operations
        .into_iter()
        .map(|operation| wire::ExplainedOperation {
            operation,
            holes: Vec::new(),
            forms: Vec::new(),
            layers: Vec::new(),
        });
    wire::Explanation {
        ruling,
        operations: operations.collect(),
        change: None,
        shortened: false,
    }
}

fn explained_operation(
    idx: usize,
    judged: &Operation,
    layers: &[LayerExplanation],
) -> wire::ExplainedOperation {
    let says = layers.iter().filter_map(|layer| {
        let said = layer.operations.get(idx)?;
        Some(layer_says(layer, said))
    });
    wire::ExplainedOperation {
        operation: operation(judged),
        holes: holes(judged),
        forms: forms(judged),
        layers: says.collect(),
    }
}

fn layer_says(layer: &LayerExplanation, said: &Said) -> wire::LayerSays {
    wire::LayerSays {
        layer: layer.layer.to_string(),
        verdict: verdict(said.action),
        cause: cause(&said.cause),
        n_rules: layer.n_rules,
        tried: said.tried.iter().map(tried_rule).collect(),
        later: said.later.iter().map(tried_rule).collect(),
        nearest_allow: said.nearest.as_ref().map(tried_rule),
    }
}

fn tried_rule(rule: &TriedRule) -> wire::TriedRule {
    wire::TriedRule {
        rule: number(rule.rule),
        tool: rule.tool.to_string(),
        pattern: rule.pattern.to_string(),
        action: verdict(rule.action),
        at: place(&rule.location),
        result: tried(rule.tried),
        whole: rule.whole.map(tried),
    }
}

const fn tried(tried: Tried) -> wire::Tried {
    match tried {
        Tried::OtherTool => wire::Tried::OtherTool,
        Tried::NotApplied => wire::Tried::NotApplied,
        Tried::NamesNoAddress => wire::Tried::NamesNoAddress,
        Tried::Differs => wire::Tried::Differs,
        Tried::OtherForm => wire::Tried::OtherForm,
        Tried::HidesUser => wire::Tried::HidesUser,
        Tried::KnownInPart => wire::Tried::KnownInPart,
        Tried::MayMatch => wire::Tried::MayMatch,
        Tried::ReachedByCode => wire::Tried::ReachedByCode,
        Tried::Matches => wire::Tried::Matches,
        Tried::EqualsCall => wire::Tried::EqualsCall,
        Tried::CoversWhatItRuns => wire::Tried::CoversWhatItRuns,
    }
}

fn holes(operation: &Operation) -> Vec<wire::HoleKind> {
    let text = match &operation.subject {
        Subject::Command(command) => &command.written,
        Subject::Path(path) | Subject::Tree(path) => &path.lexical.short,
        Subject::Url(url) => &url.text,
        Subject::Plain(text) => text,
        Subject::Unknown(_) => return vec![wire::HoleKind::Anything],
    };
    let kinds = text.holes().iter().map(|hole| match hole.kind {
        HoleKind::Quoted => wire::HoleKind::Quoted,
        HoleKind::Unquoted => wire::HoleKind::Unquoted,
        HoleKind::FileGlob => wire::HoleKind::FileGlob,
        HoleKind::Anything => wire::HoleKind::Anything,
    });
    kinds.collect()
}

/// The forms beside the first, each once.
fn forms(operation: &Operation) -> Vec<String> {
    let (first, further): (&Text, Vec<&Text>) = match &operation.subject {
        Subject::Command(command) => (&command.written, command.further.iter().collect()),
        Subject::Path(path) | Subject::Tree(path) => {
            let forms = std::iter::once(&path.lexical)
                .chain(&path.resolved)
                .chain(&path.further);
            (&path.lexical.short, forms.flat_map(spellings).collect())
        }
        Subject::Url(_) | Subject::Plain(_) | Subject::Unknown(_) => return Vec::new(),
    };
    let mut shown: Vec<String> = Vec::new();
    for form in further {
        let text = form.to_string();
        if form != first && !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown
}

fn spellings(form: &PathForm) -> impl Iterator<Item = &Text> {
    [&form.short, &form.absolute].into_iter().chain(&form.home)
}

/// What would allow a call.
pub(crate) fn change(rules: Result<Vec<AllowingRule>, Box<str>>) -> wire::Change {
    match rules {
        Ok(rules) => wire::Change::Rules {
            rules: rules.iter().map(rule_to_add).collect(),
        },
        Err(why) => wire::Change::None { why: why.into() },
    }
}

fn rule_to_add(rule: &AllowingRule) -> wire::RuleToAdd {
    wire::RuleToAdd {
        layer: rule.layer.as_str().to_owned(),
        stands: match &rule.stands {
            Stands::Anywhere => wire::Stands::Anywhere,
            Stands::Before(location) => wire::Stands::Before {
                at: place(location),
            },
            Stands::First => wire::Stands::First,
        },
        tool: rule.tool.to_string(),
        pattern: rule.pattern.to_string(),
        toml: rule.toml(),
    }
}
