//! Questions that nobody may be there to answer.

use podward_policy::{Action, RuleIdx};

use crate::Attendance;
use crate::call::Call;
use crate::code::Code;
use crate::engine::Engine;
use crate::finding::{Finding, Part};
use crate::reach::{Reach, told};

const HELP: &str =
    "say allow or deny; where somebody answers later, `on_ask = \"wait\"` keeps what is asked";

/// A rule that asks, where the manifest expects that nobody answers.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx, reach: &Reach) -> Option<Finding> {
    let rule = engine.rule(idx)?;
    let Reach::Decides(witness) = reach else {
        return None;
    };
    let is_asked = rule.action == Action::Ask && witness.action == Action::Ask;
    if !is_asked || engine.attendance != Attendance::Headless {
        return None;
    }
    Some(Finding {
        code: Code::UnansweredAsk,
        layer_idx: engine.layer_idx,
        part: Part::Action(idx),
        message: format!(
            "{} asks, and by `on_ask` the call is refused where nobody is there to answer",
            told(idx, rule)
        ),
        help: HELP.to_owned(),
        witnesses: vec![witness.clone()],
        related: Vec::new(),
    })
}

/// The same for a default that asks.
pub(crate) fn of_default(engine: &Engine<'_>) -> Option<Finding> {
    let asks = engine.layer.default_action() == Action::Ask;
    if !asks || engine.attendance != Attendance::Headless {
        return None;
    }
    let calls = ["x", "somewhere/x", "y z"];
    let witness = calls.iter().find_map(|line| {
        let judged = engine.judge(Call::bash(line)?)?;
        let is_one = judged.witness.action == Action::Ask && judged.witness.cause == "default";
        is_one.then_some(judged.witness)
    })?;
    Some(Finding {
        code: Code::UnansweredAsk,
        layer_idx: engine.layer_idx,
        part: Part::DefaultAction,
        message:
            "what no rule names is asked about, and by `on_ask` the call is refused where nobody \
                  is there to answer"
                .to_owned(),
        help: HELP.to_owned(),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}
