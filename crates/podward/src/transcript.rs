//! What a person sees of a run: the model's text as data, calls and verdicts as talk.

mod children;

use std::collections::{BTreeMap, BTreeSet};

use podward_protocol::{
    CallId, ClientJoined, ClientLeft, Closing, DecidedBy, ErrorCode, Event, GrantAdded,
    GrantRevoked, PermissionRequest, PermissionSettled, RefusalCause, RequestId, SessionStarted,
    SkillEndReason, SkillEnded, SkillStarted, SkillStarter, ToolCallArguments, ToolCallFinished,
    ToolCallVerdict, TurnEnded, Verdict,
};
use podward_view::{
    CALL_CHARS, Lines, by_text, cause_text, client_text, lasts_text, one_line, outcome_text,
    refusal_text, result_text, skill_tools_text, summary, turn_calls_text, turn_end_text,
    verdict_word, visible,
};

use self::children::Below;
use crate::screen::{Look, Screen};

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

/// Who can answer questions, and so what is said of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nobody: each is refused at once, or answered beforehand.
    Nobody,
    /// The person at this terminal: they are shown elsewhere.
    Here,
    /// Clients of the pod.
    Clients,
}

/// Turns events into text, in order.
#[derive(Debug)]
pub(crate) struct Transcript {
    screen: Screen,
    whom: Asked,
    /// Calls have a number that people can follow when several run at once.
    numbers: BTreeMap<CallId, usize>,
    /// Calls that a person would be asked about: what becomes of them is their result.
    asked: BTreeSet<CallId>,
    /// Open questions, by the numbers of their calls.
    questions: BTreeMap<RequestId, usize>,
    /// What children have written of lines that are not complete.
    said: BTreeMap<Below, String>,
    is_at_line_start: bool,
    refusals: Vec<String>,
}

impl Transcript {
    /// Nothing shown yet.
    pub(crate) const fn new(screen: Screen, whom: Asked) -> Self {
        Self {
            screen,
            whom,
            numbers: BTreeMap::new(),
            asked: BTreeSet::new(),
            questions: BTreeMap::new(),
            said: BTreeMap::new(),
            is_at_line_start: true,
            refusals: Vec::new(),
        }
    }

    /// What an event looks like.
    pub(crate) fn show(&mut self, event: &Event) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match event {
            Event::TextDelta(delta) => return self.text(&delta.text),
            Event::PermissionRequest(request) => pieces.extend(self.asked(request)),
            Event::PermissionSettled(settled) => pieces.extend(self.settled(settled)),
            Event::SkillStarted(started) => pieces.push(self.skill_started(started)),
            Event::SkillEnded(ended) => pieces.push(self.skill_ended(ended)),
            Event::GrantAdded(added) => pieces.push(self.grant_added(added)),
            Event::GrantRevoked(revoked) => pieces.push(self.grant_revoked(revoked)),
            Event::ClientJoined(joined) => pieces.extend(self.joined(joined)),
            Event::ClientLeft(left) => pieces.extend(self.left(left)),
            Event::Closing(closing) => pieces.push(self.closing(closing)),
            // How a connection works, and what is for programs: `--format json`.
            Event::SnapshotStarted(_)
            | Event::SnapshotEnd(_)
            | Event::Ping(_)
            | Event::ThinkingDelta(_)
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
            Event::ToolCallFinished(finished) => pieces.extend(self.ended_call(finished)),
            Event::ChildWorked(worked) => pieces.extend(self.child(worked)),
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
        // A person who is asked may look at the end of a pipe: nothing there moves what they are shown.
        let is_seen = self.whom == Asked::Here && self.screen.is_data_passed_on;
        vec![Piece::Data(if self.screen.data.is_terminal || is_seen {
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

    /// What people call a call: its number.
    pub(crate) fn number(&mut self, call: &CallId) -> usize {
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
        let (look, word) = verdict_word(verdict.ruling.verdict);
        let word = self.screen.talk.paint(look, word);
        let mut cause = cause_text(&verdict.ruling);
        if verdict.part_of.is_some() {
            // Nothing else says what it is.
            cause = format!("{}  {cause}", further_text(verdict));
        }
        let cause = one_line(&cause, CALL_CHARS);
        // What could only fail is no refusal: its error is its result.
        let is_futile = |refusal: &&RefusalCause| matches!(refusal, RefusalCause::Futile { .. });
        if let Some(refusal) = verdict.refusal.as_ref().filter(|why| !is_futile(why)) {
            let why = refusal_text(refusal);
            // What the end of the turn kept from running was not refused, and is not counted so.
            let word = match refusal {
                RefusalCause::Cancelled | RefusalCause::PodStopped | RefusalCause::Interrupted => {
                    "not run"
                }
                _ => "refused",
            };
            self.refusals
                .push(format!("{word} #{number}: {why}, {cause}"));
        }
        let is_new = match verdict.ruling.verdict {
            Verdict::Ask => self.asked.insert(verdict.call.clone()),
            Verdict::Allow | Verdict::Deny => true,
        };
        is_new.then(|| {
            let granted = self.granted(number, verdict).unwrap_or_default();
            Piece::Talk(format!("#{number}   {word}  {cause}\n{granted}"))
        })
    }

    /// Which remembered approvals let a call run that nobody was asked about.
    fn granted(&self, number: usize, verdict: &ToolCallVerdict) -> Option<String> {
        match &verdict.by {
            by @ DecidedBy::Grants { .. } if verdict.refusal.is_none() => {
                let yes = self.screen.talk.paint(Look::Good, "yes");
                Some(format!("#{number}   {yes}, by {}\n", by_text(by)))
            }
            _ => None,
        }
    }

    fn finished(&mut self, finished: &ToolCallFinished) -> Piece {
        let number = self.number(&finished.call);
        let (look, word) = result_text(&finished.outcome);
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

    /// What people call a question: the number of its call.
    pub(crate) fn number_of(&mut self, request: &PermissionRequest) -> usize {
        let number = self.number(request.part_of.as_ref().unwrap_or(&request.call));
        self.questions.insert(request.id.clone(), number);
        number
    }

    fn asked(&mut self, request: &PermissionRequest) -> Option<Piece> {
        let number = self.number_of(request);
        match self.whom {
            Asked::Nobody | Asked::Here => None,
            Asked::Clients if request.unasked => None,
            Asked::Clients => {
                let id = one_line(request.id.as_str(), CALL_CHARS);
                let pod = request.path.first().unwrap_or(&request.pod);
                let pod = one_line(pod, CALL_CHARS);
                let waits = self.screen.talk.paint(Look::Warning, "waits for an answer");
                let what = self.asked_below(request);
                Some(Piece::Talk(format!(
                    "#{number}   {waits} to `{id}`{what}: podward pending {pod}\n"
                )))
            }
        }
    }

    /// A yes; why a call does not run is said with its result.
    fn settled(&mut self, settled: &PermissionSettled) -> Option<Piece> {
        let number = self.questions.remove(&settled.id);
        if !settled.outcome.is_approved() {
            return None;
        }
        let number = number.map_or_else(String::new, |number| format!("#{number}   "));
        let word = self
            .screen
            .talk
            .paint(Look::Good, outcome_text(&settled.outcome));
        let by = by_text(&settled.by);
        Some(Piece::Talk(format!("{number}{word}  ({by})\n")))
    }

    fn skill_started(&self, started: &SkillStarted) -> Piece {
        let word = match started.by {
            SkillStarter::Session => "still active",
            SkillStarter::Prompt | SkillStarter::Model { .. } => "active",
        };
        let word = format!("skill {} {word}", started.name);
        let text = one_line(&skill_tools_text(started), CALL_CHARS);
        self.line(Look::Strong, &one_line(&word, CALL_CHARS), &text)
    }

    fn skill_ended(&self, ended: &SkillEnded) -> Piece {
        let why = match &ended.why {
            SkillEndReason::Turn => "its turn is done".to_owned(),
            SkillEndReason::Client { name } => format!("by {}", client_text(name)),
        };
        let word = one_line(&format!("skill {} ended", ended.name), CALL_CHARS);
        self.line(Look::Strong, &word, &one_line(&why, CALL_CHARS))
    }

    fn grant_added(&self, added: &GrantAdded) -> Piece {
        let grant = &added.grant;
        let rules: Vec<String> = grant
            .rules
            .iter()
            .map(|rule| format!("{} `{}`", rule.tool, rule.pattern))
            .collect();
        let lasts = lasts_text(&grant.lasts);
        let text = format!("{} for {lasts} ({})", rules.join(", "), grant.id);
        let text = one_line(&text, CALL_CHARS);
        self.line(Look::Strong, "not asked again", &text)
    }

    fn grant_revoked(&self, revoked: &GrantRevoked) -> Piece {
        let why = match revoked.reason {
            podward_protocol::GrantEnd::Revoked => "was revoked",
            podward_protocol::GrantEnd::Expired => "is over",
            podward_protocol::GrantEnd::UsedUp => "is used up",
        };
        let text = format!("grant {} {why}", revoked.id);
        self.line(Look::Strong, "asked again", &text)
    }

    fn joined(&self, joined: &ClientJoined) -> Option<Piece> {
        (self.whom == Asked::Clients && joined.can_approve).then(|| {
            let text = format!("{} is here and can answer", joined.name);
            self.line(Look::Strong, "client", &one_line(&text, CALL_CHARS))
        })
    }

    fn left(&self, left: &ClientLeft) -> Option<Piece> {
        (self.whom == Asked::Clients && left.can_approve).then(|| {
            let text = format!("{} left", left.name);
            self.line(Look::Strong, "client", &one_line(&text, CALL_CHARS))
        })
    }

    fn closing(&self, closing: &Closing) -> Piece {
        self.line(Look::Bad, "closed", &closing.message)
    }

    fn ended(&mut self, ended: &TurnEnded) -> Piece {
        let (look, why) = turn_end_text(&ended.reason);
        let (why, calls) = (self.screen.talk.paint(look, why), turn_calls_text(ended));
        let mut text = format!("{why} · {calls}\n");
        for refusal in self.refusals.drain(..) {
            text.push_str(&format!("  {refusal}\n"));
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

#[cfg(test)]
mod tests;
