//! What a person sees of a run: the model's text as data, calls and verdicts as talk.

use std::collections::{BTreeMap, BTreeSet};

use podward_protocol::{
    CallId, Cause, ErrorCode, Event, RefusalCause, Ruling, SessionStarted, ToolCallArguments,
    ToolCallFinished, ToolCallVerdict, ToolOutcome, TurnEndReason, TurnEnded, Verdict,
};

use crate::call_summary::summary;
use crate::screen::{Look, Screen};
use crate::visible::{Lines, one_line, visible};

/// Characters of a call that are shown.
const CALL_CHARS: usize = 400;
/// Lines of a result that are shown.
const RESULT_LINES: usize = 10;
/// Characters of one such line.
const RESULT_LINE_CHARS: usize = 400;

/// A piece of output and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// To standard output.
    Data(String),
    /// To standard error.
    Talk(String),
}

/// Turns events into text, in order.
#[derive(Debug)]
pub(crate) struct Transcript {
    screen: Screen,
    /// Calls have a number that people can follow when several run at once.
    numbers: BTreeMap<CallId, usize>,
    /// Calls that a person would be asked about: what becomes of them is their result.
    asked: BTreeSet<CallId>,
    is_at_line_start: bool,
    refusals: Vec<String>,
}

impl Transcript {
    /// Nothing shown yet.
    pub(crate) const fn new(screen: Screen) -> Self {
        Self {
            screen,
            numbers: BTreeMap::new(),
            asked: BTreeSet::new(),
            is_at_line_start: true,
            refusals: Vec::new(),
        }
    }

    /// What an event looks like.
    pub(crate) fn show(&mut self, event: &Event) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match event {
            Event::TextDelta(delta) => return self.text(&delta.text),
            // Only a pod that serves clients tells these.
            Event::PermissionRequest(_)
            | Event::PermissionSettled(_)
            | Event::GrantAdded(_)
            | Event::GrantRevoked(_)
            | Event::ClientJoined(_)
            | Event::ClientLeft(_)
            | Event::SnapshotStarted(_)
            | Event::SnapshotEnd(_)
            | Event::Ping(_)
            | Event::Closing(_) => {}
            // Thinking, usage and the beginning of a call are for programs: `--format json`.
            Event::ThinkingDelta(_)
            | Event::Usage(_)
            | Event::ToolCallStarted(_)
            | Event::TurnStarted(_) => {}
            Event::SessionStarted(session) => pieces.push(self.session(session)),
            Event::Notice(notice) => {
                // What a manifest's author should hear comes with its word.
                let message = notice.message.strip_prefix("warning: ");
                let message = message.unwrap_or(&notice.message);
                pieces.push(self.line(Look::Warning, "warning", message));
                pieces.extend(notice.help.as_ref().map(|help| self.help(help)));
            }
            Event::Status(status) => pieces.extend(self.status(status)),
            Event::ToolCallArguments(call) => pieces.push(self.call(call)),
            Event::ToolCallVerdict(verdict) => pieces.extend(self.verdict(verdict)),
            Event::ToolCallFinished(finished) => pieces.push(self.finished(finished)),
            // It ends the run, which says so with what can be done.
            Event::Error(error) if error.code == ErrorCode::Storage => {}
            Event::Error(error) => {
                pieces.push(self.line(Look::Bad, "error", &error.message));
                pieces.extend(error.help.as_ref().map(|help| self.help(help)));
            }
            Event::TurnEnded(ended) => pieces.push(self.ended(ended)),
        }
        if !pieces.is_empty() && !self.is_at_line_start {
            self.is_at_line_start = true;
            pieces.insert(0, Piece::Data("\n".to_owned()));
        }
        pieces
    }

    fn text(&mut self, text: &str) -> Vec<Piece> {
        let Some(last) = text.chars().next_back() else {
            return Vec::new();
        };
        self.is_at_line_start = last == '\n';
        vec![Piece::Data(if self.screen.data.is_terminal {
            visible(text, Lines::Keep)
        } else {
            text.to_owned()
        })]
    }

    fn line(&self, look: Look, word: &str, text: &str) -> Piece {
        let word = self.screen.talk.paint(look, format_args!("{word}:"));
        Piece::Talk(format!("{word} {}\n", visible(text, Lines::Keep)))
    }

    fn help(&self, text: &str) -> Piece {
        self.line(Look::Strong, "help", text)
    }

    fn faint(&self, text: &str) -> String {
        self.screen
            .talk
            .paint(Look::Faint, visible(text, Lines::Escape))
    }

    fn session(&self, session: &SessionStarted) -> Piece {
        let resumed = if session.resumed { ", resumed" } else { "" };
        let mut lines = vec![
            format!("pod {} · model {}{resumed}", session.pod, session.model),
            format!("workspace  {}", session.workspace),
            format!("tools      {}", session.tools.join(" ")),
        ];
        if !session.withheld_tools.is_empty() {
            let withheld = session.withheld_tools.join(" ");
            lines.push(format!(
                "withheld   {withheld} (no rule could let them run)"
            ));
        }
        lines.push(format!("scope      {}", session.confinement.detail));
        lines.push(format!("session    {}", session.session_dir));
        let shown: Vec<String> = lines.iter().map(|line| self.faint(line) + "\n").collect();
        Piece::Talk(shown.concat())
    }

    fn status(&self, status: &podward_protocol::Status) -> Option<Piece> {
        match status {
            podward_protocol::Status::Idle
            | podward_protocol::Status::Busy
            | podward_protocol::Status::Waiting => None,
            podward_protocol::Status::Retry {
                attempt,
                reason,
                at,
            } => {
                let text = format!("attempt {attempt} of the model request at {at}: {reason}");
                Some(self.line(Look::Warning, "retry", &text))
            }
        }
    }

    fn number(&mut self, call: &CallId) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(call.clone()).or_insert(next)
    }

    fn call(&mut self, call: &ToolCallArguments) -> Piece {
        let number = self.number(&call.call);
        let tool = one_line(&call.tool, CALL_CHARS);
        let tool = self.screen.talk.paint(Look::Strong, tool);
        let arguments = one_line(&summary(&call.tool, &call.arguments), CALL_CHARS);
        Piece::Talk(format!("#{number} {tool}  {arguments}\n"))
    }

    fn verdict(&mut self, verdict: &ToolCallVerdict) -> Option<Piece> {
        let number = self.number(verdict.part_of.as_ref().unwrap_or(&verdict.call));
        let (look, word) = match verdict.ruling.verdict {
            Verdict::Allow => (Look::Good, "allow"),
            Verdict::Ask => (Look::Warning, "ask"),
            Verdict::Deny => (Look::Bad, "deny"),
        };
        let word = self.screen.talk.paint(look, word);
        let mut cause = cause_text(&verdict.ruling);
        if verdict.part_of.is_some() {
            // Nothing else says what it is.
            cause = format!("{}  {cause}", further_text(verdict));
        }
        let cause = one_line(&cause, CALL_CHARS);
        if let Some(refusal) = &verdict.refusal {
            let why = refusal_text(refusal);
            self.refusals.push(format!("#{number}: {why}, {cause}"));
        }
        let is_new = match verdict.ruling.verdict {
            Verdict::Ask => self.asked.insert(verdict.call.clone()),
            Verdict::Allow | Verdict::Deny => true,
        };
        is_new.then(|| Piece::Talk(format!("#{number}   {word}  {cause}\n")))
    }

    fn finished(&mut self, finished: &ToolCallFinished) -> Piece {
        let number = self.number(&finished.call);
        let (look, word) = match &finished.outcome {
            ToolOutcome::Done => (Look::Good, "done".to_owned()),
            ToolOutcome::Failed => (Look::Warning, "failed".to_owned()),
            ToolOutcome::Stopped { cause } => {
                (Look::Bad, format!("stopped ({})", refusal_text(cause)))
            }
            ToolOutcome::Refused { cause } => {
                (Look::Bad, format!("refused ({})", refusal_text(cause)))
            }
        };
        let mut text = format!("#{number}   {}\n", self.screen.talk.paint(look, word));
        let n_lines = finished.content.lines().count();
        for line in finished.content.lines().take(RESULT_LINES) {
            let line = one_line(&line.replace('\t', "    "), RESULT_LINE_CHARS);
            text.push_str(&format!("#{number}   | {}\n", self.faint_shown(&line)));
        }
        if n_lines > RESULT_LINES {
            let more = format!("… (+{} lines)", n_lines - RESULT_LINES);
            text.push_str(&format!("#{number}   | {}\n", self.faint_shown(&more)));
        }
        Piece::Talk(text)
    }

    /// Like [`Self::faint`] for a text that is already safe to look at.
    fn faint_shown(&self, text: &str) -> String {
        self.screen.talk.paint(Look::Faint, text)
    }

    fn ended(&mut self, ended: &TurnEnded) -> Piece {
        let (look, why) = match &ended.reason {
            TurnEndReason::Done => (Look::Good, "done".to_owned()),
            TurnEndReason::Limit { limit } => {
                (Look::Bad, format!("stopped by the limit `{}`", limit.0))
            }
            TurnEndReason::Aborted { reason } => (Look::Bad, format!("aborted: {reason}")),
            TurnEndReason::Cancelled => (Look::Warning, "cancelled".to_owned()),
            TurnEndReason::Failed => (Look::Bad, "failed".to_owned()),
        };
        let why = self.screen.talk.paint(look, visible(&why, Lines::Escape));
        let (n_calls, n_refused) = (ended.n_calls, ended.n_refused);
        let calls = if n_calls == 1 { "call" } else { "calls" };
        let mut text = format!("{why} · {n_calls} {calls}, {n_refused} refused\n");
        for refusal in self.refusals.drain(..) {
            text.push_str(&format!("  refused {refusal}\n"));
        }
        Piece::Talk(text)
    }
}

/// What a further call of a running one would do.
fn further_text(verdict: &ToolCallVerdict) -> &str {
    let decided = verdict.ruling.operation.unwrap_or_default();
    let operation = verdict.operations.get(decided);
    operation.map_or("", |operation| &operation.text)
}

/// Why a verdict is what it is, in one line.
pub(crate) fn cause_text(ruling: &Ruling) -> String {
    let place = |at: &podward_protocol::Place| format!("{}:{}:{}", at.file, at.line, at.column);
    match &ruling.cause {
        Cause::NoPolicy => "no rules at all".to_owned(),
        Cause::NothingToRun => "nothing to run".to_owned(),
        Cause::Rule {
            layer,
            rule,
            at,
            pattern,
            message,
        } => {
            let message = message
                .as_ref()
                .map(|message| format!(": {message}"))
                .unwrap_or_default();
            format!(
                "rule {rule} of {layer}, `{pattern}` ({}){message}",
                place(at)
            )
        }
        Cause::Default { layer, at } => format!("default of {layer} ({})", place(at)),
        Cause::Unresolved {
            layer,
            rule,
            at,
            why,
        } => {
            let at = at
                .as_ref()
                .map(|at| format!(" ({})", place(at)))
                .unwrap_or_default();
            let reason = match rule {
                Some(rule) => format!(", since rule {rule}{at} might match"),
                None => at,
            };
            format!("{why}: `unresolved` of {layer} decides{reason}")
        }
        Cause::Unrestricted => "no rule is against it".to_owned(),
        Cause::Unnamed { layer } => {
            format!("the address is not public, and no rule of {layer} names it")
        }
        Cause::Repeated => "the same call for the third time in this turn".to_owned(),
        Cause::BadCall { why } => why.clone(),
        Cause::UnknownTool => "no such tool".to_owned(),
        Cause::NotJudged => "the turn ended before it was judged".to_owned(),
    }
}

/// Why a call did not run, in a few words.
fn refusal_text(cause: &RefusalCause) -> String {
    match cause {
        RefusalCause::Policy => "by the rules".to_owned(),
        RefusalCause::NoClient => "nobody is here to be asked".to_owned(),
        RefusalCause::Rejected { name, feedback } => {
            let said = feedback
                .as_ref()
                .map_or_else(String::new, |feedback| format!(": {feedback}"));
            one_line(&format!("by {name}{said}"), CALL_CHARS)
        }
        RefusalCause::Expired => "nobody answered in time".to_owned(),
        RefusalCause::ClientGone => "whoever could have answered left".to_owned(),
        RefusalCause::Hook { name, text } => {
            one_line(&format!("by hook {name}: {text}"), CALL_CHARS)
        }
        RefusalCause::HookFailed { name, why } => {
            one_line(&format!("hook {name} failed: {why}"), CALL_CHARS)
        }
        RefusalCause::NotJudged => "never judged".to_owned(),
        RefusalCause::BadCall | RefusalCause::UnknownTool => "bad call".to_owned(),
        RefusalCause::Cancelled => "cancelled".to_owned(),
        RefusalCause::PodStopped => "the pod stopped".to_owned(),
        RefusalCause::Interrupted => "interrupted".to_owned(),
    }
}

#[cfg(test)]
mod tests;
