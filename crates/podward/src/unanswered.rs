//! Calls that were refused because nobody could be asked, with the rules that would allow them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use podward_policy::Policies;
use podward_protocol::{
    AskReason, ChoicePart, Event, Outcome, PermissionRequest, RequestId, is_invisible,
};
use podward_tools::{Place, allowing_rules, lower};

use crate::call_summary::summary;
use crate::screen::{Look, Stream};
use crate::transcript::cause_text;
use crate::visible::{Lines, one_line, visible};

/// Characters of a call that are shown.
const CALL_CHARS: usize = 400;
/// Calls that are listed; a turn of more says how many are left out.
const CALLS_MAX: usize = 200;

/// What judges in a pod of this process.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) policies: Policies,
    /// Where calls are made, but for the directory, which a question names.
    pub(crate) place: Place,
}

/// What was asked about in vain.
#[derive(Debug)]
pub(crate) struct Unanswered {
    rules: Option<Rules>,
    open: BTreeMap<RequestId, (usize, PermissionRequest)>,
    refused: Vec<String>,
    n_refused: usize,
}

impl Unanswered {
    /// Nothing yet.
    pub(crate) const fn new(rules: Option<Rules>) -> Self {
        Self {
            rules,
            open: BTreeMap::new(),
            refused: Vec::new(),
            n_refused: 0,
        }
    }

    /// Looks at an event; `number` is what people call the call of a question.
    pub(crate) fn watch(
        &mut self,
        event: &Event,
        number: impl FnOnce(&PermissionRequest) -> usize,
    ) {
        match event {
            Event::PermissionRequest(request) => {
                let number = number(request);
                let entry = (number, request.clone());
                self.open.insert(request.id.clone(), entry);
            }
            Event::PermissionSettled(settled) => {
                let Some((number, request)) = self.open.remove(&settled.id) else {
                    return;
                };
                if is_unanswered(&settled.outcome) {
                    self.n_refused += 1;
                    if self.refused.len() < CALLS_MAX {
                        let entry = entry(number, &request, self.rules.as_ref());
                        self.refused.push(entry);
                    }
                }
            }
            _ => {} // says nothing about questions
        }
    }

    /// Takes the list, if there is anything in it.
    pub(crate) fn take(&mut self, stream: Stream) -> Option<String> {
        if self.n_refused == 0 {
            return None;
        }
        let heading = "asked about, and nobody answered; the rule that would allow each:";
        let mut text = format!("{}\n", stream.paint(Look::Strong, heading));
        text.push_str(&self.refused.concat());
        let n_more = std::mem::take(&mut self.n_refused) - self.refused.len();
        self.refused.clear();
        if n_more > 0 {
            let _ = writeln!(text, "… and {n_more} more"); // writing to a `String` cannot fail
        }
        Some(text)
    }
}

/// Whether a rule would have spared the question its end.
const fn is_unanswered(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::NoClient | Outcome::NotAuto | Outcome::ClientGone | Outcome::Expired => true,
        Outcome::ApprovedOnce
        | Outcome::ApprovedAlways { .. }
        | Outcome::ApprovedEdited
        | Outcome::Auto
        | Outcome::TooLarge
        | Outcome::Rejected
        | Outcome::RejectedWithFeedback { .. }
        | Outcome::Cancelled
        | Outcome::PodStopped
        | Outcome::Interrupted
        | Outcome::Policy
        | Outcome::Hook { .. }
        | Outcome::HookFailed { .. } => false,
    }
}

fn entry(number: usize, request: &PermissionRequest, rules: Option<&Rules>) -> String {
    let tool = one_line(&request.tool, CALL_CHARS);
    let call = one_line(&summary(&request.tool, &request.arguments), CALL_CHARS);
    let cause = one_line(&cause_text(&request.ruling), CALL_CHARS);
    let mut text = format!("#{number} {tool}  {call}\n   # it asks: {cause}\n");
    match allowing(request, rules) {
        Ok(rules) => {
            for line in rules.iter().flat_map(|rule| rule.lines()) {
                text.push_str(&format!("   {}\n", visible(line, Lines::Escape)));
            }
        }
        Err(why) => {
            let why = one_line(&why, CALL_CHARS);
            text.push_str(&format!("   # no rule for this call alone: {why}\n"));
        }
    }
    text
}

/// The rules that would allow a call, as TOML, or why there are none.
fn allowing(request: &PermissionRequest, rules: Option<&Rules>) -> Result<Vec<String>, String> {
    match request.reason {
        AskReason::Policy => {}
        AskReason::PolicyRepeated => {
            return Err("the same call for the third time in this turn is asked about".to_owned());
        }
        AskReason::Repeated | AskReason::Resumed => {
            return Err("it is not the rules that ask".to_owned());
        }
    }
    match (rules, &request.part_of) {
        (Some(rules), None) => rules.allowing(request),
        // It is no call of the model's: what it would do is known only to the pod.
        (Some(_), Some(_)) | (None, _) => match request.choices.first() {
            Some(narrowest) => Ok(narrowest.parts.iter().map(rule).collect()),
            None => Err(request.no_always.clone().unwrap_or_default()),
        },
    }
}

impl Rules {
    fn allowing(&self, request: &PermissionRequest) -> Result<Vec<String>, String> {
        let place = Place {
            workspace: request.cwd.clone().into(),
            cwd: request.cwd.clone().into(),
            ..self.place.clone()
        };
        let arguments = request.arguments.clone();
        let (_, lowered) =
            lower(&request.tool, arguments, &place).map_err(|bad_call| bad_call.to_string())?;
        let mut asking = self.policies.asking(&lowered);
        // Grants cover the others.
        asking.retain(|part| {
            let mut asked = request.asking.iter();
            asked.any(|asked| asked.operation == part.operation.0)
        });
        let rules = allowing_rules(&lowered, &asking, &self.policies, &place.programs)?;
        Ok(rules.iter().map(ToString::to_string).collect())
    }
}

/// A rule as it is written into a manifest.
fn rule(part: &ChoicePart) -> String {
    let (tool, pattern) = (toml_text(&part.tool), toml_text(&part.pattern));
    format!("[[permissions.rule]]\ntool = {tool}\npattern = {pattern}\naction = \"allow\"")
}

/// A text as a basic string of TOML: nothing in it is invisible.
fn toml_text(text: &str) -> String {
    let mut shown = "\"".to_owned();
    for c in text.chars() {
        // Writing to a `String` cannot fail.
        let _ = match c {
            '"' | '\\' => write!(shown, "\\{c}"),
            '\n' => write!(shown, "\\n"),
            '\t' => write!(shown, "\\t"),
            '\r' => write!(shown, "\\r"),
            c if is_invisible(c) => write!(shown, "\\U{:08X}", u32::from(c)),
            c => write!(shown, "{c}"),
        };
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests;
