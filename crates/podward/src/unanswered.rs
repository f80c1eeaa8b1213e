//! Calls that were refused because nobody answered, with the rules that would allow them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use podward_protocol::{
    CallId, Change, ChildWork, ChildWorked, Event, PermissionRequest, ToolCallVerdict,
};
use podward_view::{CALL_CHARS, cause_text, one_line, pods_text, rule_lines, summary};

use crate::screen::{Look, Stream};

/// Calls that are listed; a turn of more says how many are left out.
const CALLS_MAX: usize = 200;

/// What was asked about in vain.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    /// What would be said of the calls that are asked about: of so many as are listed at most, for very many
    /// may wait.
    open: BTreeMap<CallId, String>,
    /// Whether there were more than that in this turn.
    are_more: bool,
    refused: Vec<String>,
    n_refused: usize,
}

impl Unanswered {
    /// Looks at an event; `number` is what people call the call of a question.
    pub(crate) fn watch(
        &mut self,
        event: &Event,
        number: impl FnOnce(&PermissionRequest) -> usize,
    ) {
        match event {
            Event::PermissionRequest(request) => {
                let is_open = self.open.contains_key(&request.call);
                if is_open || self.open.len() < CALLS_MAX {
                    let head = head(number(request), request);
                    self.open.insert(request.call.clone(), head);
                } else {
                    self.are_more = true;
                }
            }
            Event::ToolCallVerdict(verdict) => self.judged(verdict),
            Event::ChildWorked(ChildWorked {
                did: ChildWork::ToolCallVerdict(verdict),
                ..
            }) => self.judged(verdict),
            Event::TurnStarted(_) => {
                self.open.clear();
                self.are_more = false;
            }
            _ => {} // says nothing about questions
        }
    }

    fn judged(&mut self, verdict: &ToolCallVerdict) {
        let head = self.open.remove(&verdict.call);
        // The pod says what would have allowed it where nobody answered, and nowhere else.
        let Some(allowed_by) = &verdict.allowed_by else {
            return;
        };
        if head.is_none() && !self.are_more {
            return;
        }
        self.n_refused += 1;
        if let Some(mut text) = head.filter(|_| self.refused.len() < CALLS_MAX) {
            text.push_str(&allowing(allowed_by));
            self.refused.push(text);
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

/// What is said of a call.
fn head(number: usize, request: &PermissionRequest) -> String {
    let tool = one_line(&request.tool, CALL_CHARS);
    let call = one_line(&summary(&request.tool, &request.arguments), CALL_CHARS);
    let cause = one_line(&cause_text(&request.ruling), CALL_CHARS);
    let pod = pod_of(request);
    format!("#{number} {pod}{tool}  {call}\n   # it asks: {cause}\n")
}

/// The pod of a question, where it is a child.
fn pod_of(request: &PermissionRequest) -> String {
    match request.path.is_empty() {
        true => String::new(),
        false => format!(
            "{}  ",
            one_line(&pods_text(&request.path, &request.pod), CALL_CHARS)
        ),
    }
}

/// What would have allowed it.
fn allowing(allowed_by: &Change) -> String {
    let mut text = String::new();
    match allowed_by {
        Change::Rules { rules } => {
            for line in rules.iter().flat_map(rule_lines) {
                text.push_str(&format!("   {line}\n"));
            }
        }
        Change::None { why } => {
            let why = one_line(why, CALL_CHARS);
            text.push_str(&format!("   # no rule for this call alone: {why}\n"));
        }
        Change::LeftOut => {
            text.push_str("   # the rules that would allow it are too long to be told\n")
        }
    }
    text
}

#[cfg(test)]
mod tests;
