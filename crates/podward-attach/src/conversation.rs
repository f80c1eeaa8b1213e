//! What was said and done in a pod, in rows.

mod call;
mod markdown;

use std::collections::{BTreeMap, VecDeque};

use podward_protocol::{
    CallId, ChildWork, ChildWorked, DecidedBy, ErrorCode, Event, GrantEnd, SkillEndReason, Status,
    ToolCallVerdict,
};
use podward_view::{
    CALL_CHARS, Lines, Look, Row, by_text, cause_text, client_text, columns_of, lasts_text,
    one_line, outcome_text, pods_text, skill_tools_text, turn_calls_text, turn_end_text,
    verdict_word, visible, wrapped,
};

use self::call::Call;

/// Entries that are kept; what was before is on disk.
const MAX_ENTRIES: usize = 2_000;
/// Bytes of text that are kept.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Columns in front of a row: nothing that is said can look like what podward says.
const GUTTER: usize = 2;

/// What was said and done, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    entries: VecDeque<Entry>,
    /// Entries that are no longer kept.
    n_dropped: usize,
    n_bytes: usize,
    n_rows: usize,
    columns: usize,
    /// Calls have a number that people can follow when several run at once.
    numbers: BTreeMap<CallId, usize>,
    n_calls: usize,
    is_known: bool,
}

/// One thing that was said or done.
#[derive(Debug)]
struct Entry {
    item: Item,
    n_bytes: usize,
    /// What it looks like; `None`: it has changed since.
    rows: Option<Vec<Row>>,
}

#[derive(Debug)]
enum Item {
    Prompt {
        turn: u64,
        text: String,
    },
    Text(String),
    Thinking(String),
    /// What a pod below wrote.
    Below {
        pods: String,
        text: String,
    },
    Call(Box<Call>),
    /// Something that podward says.
    Note(Row),
}

impl Conversation {
    /// What people call a call: its number.
    pub(crate) fn number(&mut self, call: &CallId) -> usize {
        let n_calls = &mut self.n_calls;
        *self.numbers.entry(call.clone()).or_insert_with(|| {
            *n_calls += 1;
            *n_calls
        })
    }

    /// Takes in what a pod tells. A snapshot tells a turn again: it takes the place of what is known of it.
    pub(crate) fn hear(&mut self, event: &Event, is_snapshot: bool) {
        match event {
            Event::TurnStarted(turn) => {
                if is_snapshot {
                    self.forget_from(turn.turn);
                }
                let (turn, text) = (turn.turn, turn.prompt.clone());
                self.push(Item::Prompt { turn, text });
            }
            Event::TextDelta(delta) => self.write(Item::Text(delta.text.clone())),
            Event::ThinkingDelta(delta) => self.write(Item::Thinking(delta.text.clone())),
            Event::ToolCallArguments(call) => {
                let number = self.number(&call.call);
                self.push(Item::Call(Box::new(Call::new(call, number))));
            }
            Event::ChildWorked(worked) => self.hear_below(worked),
            Event::ToolCallVerdict(verdict) => self.judged(verdict),
            Event::ToolCallFinished(finished) => {
                self.change_call(&finished.call, |call| call.finish(finished));
            }
            Event::PermissionSettled(settled) => {
                let look = match settled.outcome.is_approved() {
                    true => Look::Good,
                    false => Look::Bad,
                };
                let id = CallId::new(settled.id.as_str());
                let (what, by) = (outcome_text(&settled.outcome), by_text(&settled.by));
                self.change_call(&id, |call| call.decide((look, what, format!("({by})"))));
            }
            other => {
                if let Some(note) = self.note_of(other, is_snapshot) {
                    self.push(Item::Note(note));
                }
            }
        }
    }

    /// Takes in what a pod below does.
    fn hear_below(&mut self, worked: &ChildWorked) {
        let pods = pods_text(&worked.path, &worked.pod);
        match &worked.did {
            ChildWork::TextDelta(delta) => {
                let text = delta.text.clone();
                self.write(Item::Below { pods, text });
            }
            ChildWork::ToolCallArguments(call) => {
                let number = self.number(&call.call);
                self.push(Item::Call(Box::new(Call::new(call, number).of(pods))));
            }
            ChildWork::ToolCallVerdict(verdict) => self.judged(verdict),
            ChildWork::ToolCallFinished(finished) => {
                self.change_call(&finished.call, |call| call.finish(finished));
            }
        }
    }

    fn note_of(&mut self, event: &Event, is_snapshot: bool) -> Option<Row> {
        match event {
            // What a snapshot repeats is known.
            Event::SessionStarted(session) if !is_snapshot || !self.is_known => {
                self.is_known = true;
                let text = format!("model {}, workspace {}", session.model, session.workspace);
                Some(note(
                    Look::Faint,
                    "pod",
                    &format!("{} \u{b7} {text}", session.pod),
                ))
            }
            Event::Notice(notice) => {
                let help = notice.help.as_deref().unwrap_or_default();
                let text = notice.message.strip_prefix("warning: ");
                let text = text.unwrap_or(&notice.message);
                Some(note(Look::Warning, "warning", &format!("{text} {help}")))
            }
            Event::Error(error) => {
                let help = error.help.as_deref().unwrap_or_default();
                let word = match error.code {
                    ErrorCode::Storage => "disk",
                    ErrorCode::Model | ErrorCode::Internal => "error",
                };
                let text = format!("{} {help}", error.message);
                Some(note(Look::Bad, word, &text))
            }
            Event::Status(Status::Retry {
                attempt, reason, ..
            }) => {
                let text = format!("attempt {attempt} of the model request: {reason}");
                Some(note(Look::Warning, "retry", &text))
            }
            Event::TurnEnded(ended) => {
                let (look, why) = turn_end_text(&ended.reason);
                let mut row = Row::new(look, &why);
                row.push(Look::Faint, &format!(" \u{b7} {}", turn_calls_text(ended)));
                Some(row)
            }
            Event::SkillStarted(skill) => {
                let text = format!("{} active, {}", skill.name, skill_tools_text(skill));
                Some(note(Look::Strong, "skill", &text))
            }
            Event::SkillEnded(skill) => {
                let why = match &skill.why {
                    SkillEndReason::Turn => "its turn is done".to_owned(),
                    SkillEndReason::Client { name } => format!("by {}", client_text(name)),
                };
                let text = format!("{} ended: {why}", skill.name);
                Some(note(Look::Strong, "skill", &text))
            }
            Event::GrantAdded(_) | Event::GrantRevoked(_) if !is_snapshot => grant_note(event),
            Event::Closing(closing) => Some(note(Look::Bad, "closed", &closing.message)),
            _ => None, // shown elsewhere, or not at all
        }
    }

    /// Adds something that podward says.
    pub(crate) fn say(&mut self, look: Look, word: &str, text: &str) {
        self.push(Item::Note(note(look, word, text)));
    }

    fn judged(&mut self, verdict: &ToolCallVerdict) {
        let (look, word) = verdict_word(verdict.ruling.verdict);
        let mut cause = cause_text(&verdict.ruling);
        if verdict.part_of.is_some() {
            let decided = verdict.ruling.operation.unwrap_or_default();
            let operation = verdict.operations.get(decided);
            let text = operation.map_or("", |operation| &*operation.text);
            cause = format!("{text}  {cause}");
        }
        let granted = match &verdict.by {
            by @ DecidedBy::Grants { .. } if verdict.refusal.is_none() => {
                Some((Look::Good, "yes".to_owned(), format!("by {}", by_text(by))))
            }
            _ => None, // nobody's answer of earlier
        };
        let call = verdict.part_of.as_ref().unwrap_or(&verdict.call);
        let decision = (look, word.to_owned(), cause);
        self.change_call(call, |call| {
            call.decide(decision);
            call.decisions.extend(granted);
        });
    }

    /// Adds text, to the last entry where that is of the same kind.
    fn write(&mut self, item: Item) {
        let joined = match (self.entries.back_mut(), &item) {
            (Some(entry), item) => entry.item.text_to_join(item).map(|(last, more)| {
                last.push_str(more);
                more.len()
            }),
            (None, _) => None,
        };
        let Some(n_more) = joined else {
            return self.push(item);
        };
        self.n_bytes += n_more;
        if let Some(entry) = self.entries.back_mut() {
            entry.n_bytes += n_more;
            let old = entry.rows.take();
            self.n_rows -= old.map_or(0, |rows| rows.len());
        }
    }

    fn change_call(&mut self, id: &CallId, change: impl FnOnce(&mut Call)) {
        let is_it = |entry: &&mut Entry| match &entry.item {
            Item::Call(call) => call.id == *id,
            Item::Prompt { .. }
            | Item::Text(_)
            | Item::Thinking(_)
            | Item::Below { .. }
            | Item::Note(_) => false,
        };
        let Some(entry) = self.entries.iter_mut().rev().find(is_it) else {
            return;
        };
        if let Item::Call(call) = &mut entry.item {
            change(call);
        }
        let n_bytes = entry.item.n_bytes();
        self.n_bytes = self.n_bytes - entry.n_bytes + n_bytes;
        entry.n_bytes = n_bytes;
        let old = entry.rows.take();
        self.n_rows -= old.map_or(0, |rows| rows.len());
    }

    fn push(&mut self, item: Item) {
        let n_bytes = item.n_bytes();
        self.n_bytes += n_bytes;
        self.entries.push_back(Entry {
            item,
            n_bytes,
            rows: None,
        });
        while self.entries.len() > MAX_ENTRIES || self.n_bytes > MAX_BYTES {
            let Some(dropped) = self.entries.pop_front() else {
                break;
            };
            self.forget(&dropped);
            if let Item::Call(call) = &dropped.item {
                self.numbers.remove(&call.id);
            }
            self.n_dropped += 1;
        }
    }

    fn forget(&mut self, entry: &Entry) {
        self.n_bytes -= entry.n_bytes;
        self.n_rows -= entry.rows.as_ref().map_or(0, Vec::len);
    }

    /// Forgets a turn and all after it.
    fn forget_from(&mut self, turn: u64) {
        let is_it =
            |entry: &Entry| matches!(&entry.item, Item::Prompt { turn: it, .. } if *it >= turn);
        if let Some(at) = self.entries.iter().position(is_it) {
            for entry in self.entries.split_off(at) {
                self.forget(&entry);
            }
        }
    }

    /// Makes the rows of what has changed.
    pub(crate) fn lay_out(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.n_rows = 0;
            for entry in &mut self.entries {
                entry.rows = None;
            }
        }
        // What has changed is at the end, but for calls that take long.
        for entry in &mut self.entries {
            if entry.rows.is_none() {
                let rows = entry.item.rows(columns);
                self.n_rows += rows.len();
                entry.rows = Some(rows);
            }
        }
    }

    pub(crate) const fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) const fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// The rows that are `n_below` above the end, at most so many.
    pub(crate) fn window(&self, n_below: usize, height: usize) -> Vec<&Row> {
        let rows = self
            .entries
            .iter()
            .rev()
            .filter_map(|entry| entry.rows.as_ref());
        let mut window: Vec<&Row> = rows
            .flat_map(|rows| rows.iter().rev())
            .skip(n_below)
            .take(height)
            .collect();
        window.reverse();
        window
    }

    /// How far above the end the nearest row stands that has a text in it, `n_below` or more.
    pub(crate) fn find(&self, text: &str, n_below: usize) -> Option<usize> {
        let text = text.to_lowercase();
        let rows = self
            .entries
            .iter()
            .rev()
            .filter_map(|entry| entry.rows.as_ref());
        let mut rows = rows.flat_map(|rows| rows.iter().rev()).enumerate();
        let mut rows = rows.by_ref().skip(n_below);
        rows.find(|(_, row)| row.text().to_lowercase().contains(&text))
            .map(|(at, _)| at)
    }
}

impl Item {
    /// The text of this entry and that of a new one, where they are written by the same.
    fn text_to_join<'a>(&'a mut self, new: &'a Self) -> Option<(&'a mut String, &'a str)> {
        match (self, new) {
            (Self::Text(last), Self::Text(more)) | (Self::Thinking(last), Self::Thinking(more)) => {
                Some((last, more))
            }
            (
                Self::Below { pods, text },
                Self::Below {
                    pods: it,
                    text: more,
                },
            ) if pods == it => Some((text, more)),
            _ => None, // said by somebody else, or not said
        }
    }

    fn n_bytes(&self) -> usize {
        let text = match self {
            Self::Prompt { text, .. }
            | Self::Text(text)
            | Self::Thinking(text)
            | Self::Below { text, .. } => text.len(),
            Self::Call(call) => call.n_bytes(),
            Self::Note(row) => row.pieces.iter().map(|piece| piece.text.len()).sum(),
        };
        text + size_of::<Self>()
    }

    fn rows(&self, columns: usize) -> Vec<Row> {
        let room = columns.saturating_sub(GUTTER).max(1);
        match self {
            Self::Prompt { text, .. } => {
                let mut rows = vec![Row::default()];
                rows.extend(behind(
                    "> ",
                    Look::Strong,
                    paragraphs(text, Look::Strong, room),
                ));
                rows
            }
            Self::Text(text) => behind("  ", Look::Plain, markdown::rows(text, room)),
            Self::Thinking(text) => behind("~ ", Look::Faint, paragraphs(text, Look::Faint, room)),
            Self::Below { pods, text } => {
                let front = format!("{} | ", one_line(pods, CALL_CHARS));
                let room = columns.saturating_sub(columns_of(&front)).max(1);
                behind(&front, Look::Faint, paragraphs(text, Look::Faint, room))
            }
            Self::Call(call) => call.rows(columns),
            Self::Note(row) => {
                let pieces = row.pieces.iter();
                let pieces: Vec<_> = pieces.map(|piece| (piece.look, &*piece.text)).collect();
                behind("\u{b7} ", Look::Faint, wrapped(&pieces, room))
            }
        }
    }
}

fn grant_note(event: &Event) -> Option<Row> {
    match event {
        Event::GrantAdded(added) => {
            let rules = added.grant.rules.iter();
            let rules = rules.map(|rule| format!("{} `{}`", rule.tool, rule.pattern));
            let rules = rules.collect::<Vec<_>>().join(", ");
            let text = format!("{rules}, for {}", lasts_text(&added.grant.lasts));
            Some(note(Look::Good, "not asked again", &text))
        }
        Event::GrantRevoked(revoked) => {
            let why = match revoked.reason {
                GrantEnd::Revoked => "was taken back",
                GrantEnd::Expired => "is over",
                GrantEnd::UsedUp => "is used up",
            };
            let text = format!("grant {} {why}", revoked.id);
            Some(note(Look::Strong, "asked again", &text))
        }
        _ => None, // not about grants
    }
}

fn note(look: Look, word: &str, text: &str) -> Row {
    let mut row = Row::new(look, &format!("{}:", one_line(word, CALL_CHARS)));
    row.push(
        Look::Plain,
        &format!(" {}", one_line(text.trim(), CALL_CHARS)),
    );
    row
}

/// Running text, line by line.
fn paragraphs(text: &str, look: Look, room: usize) -> Vec<Row> {
    let text = visible(text.trim_end_matches('\n'), Lines::Keep).replace('\t', "    ");
    let lines = text.split('\n');
    lines
        .flat_map(|line| wrapped(&[(look, line)], room))
        .collect()
}

/// Rows behind a text that stands in front of the first; blanks stand in front of the others.
fn behind(front: &str, look: Look, rows: Vec<Row>) -> Vec<Row> {
    let blank = " ".repeat(front.chars().count());
    let mut front = front;
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let mut whole = Row::new(look, front);
        for piece in row.pieces {
            whole.push(piece.look, &piece.text);
        }
        all.push(whole);
        front = &blank;
    }
    all
}
