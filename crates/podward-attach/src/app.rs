//! The state of the client: what happens goes in, what is to be done comes out.

mod answering;
mod choosing;
mod guard;
mod keys;
mod mouse;
mod news;

use std::sync::Arc;

use crossterm::event::KeyEventKind;
use podward_client::Found;
use podward_protocol::RequestId;

pub(crate) use self::guard::PAUSE;
use self::guard::{DRAFT_PAUSE, Guard, RECENT};
use crate::asked::Asked;
use crate::editor::Editor;
use crate::input::{Effect, Input, Now, Outcome};
use crate::keys::Keys;
use crate::pod::Pod;

/// How long something is said at the bottom, in milliseconds.
const SAID: u64 = 8_000;

/// Rows around a question: the pods above it, what can be done and what is said below it.
const AROUND: usize = 4;

/// The state of the client.
#[derive(Debug, Default)]
pub struct App {
    pub(crate) now: Now,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) pods: Vec<Pod>,
    /// The pod whose conversation is shown.
    pub(crate) focus: usize,
    /// The pods that run, where one is to be chosen.
    pub(crate) listed: Option<Vec<Found>>,
    /// The place in the list.
    pub(crate) listed_at: usize,
    /// What a prompt is typed for: there goes what is typed while keys do not count.
    pub(crate) typing: Option<Typing>,
    /// The question that is shown: its pod, and which.
    pub(crate) shown: Option<(usize, RequestId)>,
    /// Questions are put aside to look at the conversation.
    pub(crate) is_aside: bool,
    pub(crate) guard: Guard,
    /// Which key does what.
    pub(crate) keys: Arc<Keys>,
    pub(crate) is_help: bool,
    /// What is looked for in the conversation.
    pub(crate) search: Option<Editor>,
    /// What is said at the bottom, and until when.
    pub(crate) said: Option<(String, u64)>,
    /// Until when the same key again cancels or ends.
    confirm: Option<(Confirm, u64)>,
    is_unfocused: bool,
    n_asked: u64,
}

/// A prompt that is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typing {
    /// The place of its pod.
    pub(crate) pod: usize,
    /// When something was last typed.
    at: Option<u64>,
}

/// What a key does only when it is pressed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Confirm {
    Cancel,
    Quit,
}

impl App {
    /// Attached to some pods; without one, one is chosen from a list.
    #[must_use]
    pub fn new(pods: Vec<Found>, keys: Keys, columns: u16, rows: u16) -> Self {
        Self {
            listed: pods.is_empty().then(Vec::new),
            pods: pods.into_iter().map(Pod::new).collect(),
            keys: Arc::new(keys),
            columns: columns.into(),
            rows: rows.into(),
            ..Self::default()
        }
    }

    /// Takes in what happens, and says what is to be done.
    pub fn on_event(&mut self, now: Now, input: Input) -> Vec<Effect> {
        self.now = now;
        if self
            .said
            .as_ref()
            .is_some_and(|(_, until)| now.steady >= *until)
        {
            self.said = None;
        }
        let mut effects = match &input {
            // It may have come right behind a yes, and was read only now.
            Input::Key(_) | Input::Paste(_) | Input::Mouse(_) | Input::Drawn | Input::Resumed => {
                Vec::new()
            }
            Input::Resized { .. }
            | Input::Focused(_)
            | Input::Tick
            | Input::Listed(_)
            | Input::Pod(..) => self.approve_what_is_due(),
        };
        effects.extend(self.happens(input));
        effects
    }

    fn happens(&mut self, input: Input) -> Vec<Effect> {
        match input {
            // A terminal that tells of keys that are let go tells of them as well.
            Input::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            Input::Key(key) => {
                let effects = self.key(key);
                self.guard.is_restless(self.now);
                effects
            }
            Input::Paste(text) => {
                self.paste(&text);
                self.guard.is_restless(self.now);
                Vec::new()
            }
            Input::Mouse(event) => {
                let effects = self.mouse(event);
                self.guard.is_restless(self.now);
                effects
            }
            Input::Resized { columns, rows } => {
                let (columns, rows) = (columns.into(), rows.into());
                let is_smaller = columns < self.columns || rows < self.rows;
                (self.columns, self.rows) = (columns, rows);
                if is_smaller {
                    self.is_new_to_reader();
                }
                if let Some(asked) = self.asked_mut() {
                    asked.said = None;
                }
                vec![Effect::Redraw]
            }
            Input::Focused(is_focused) => {
                self.is_unfocused = !is_focused;
                Vec::new()
            }
            Input::Resumed => {
                self.is_new_to_reader();
                Vec::new()
            }
            Input::Drawn => {
                self.drawn();
                Vec::new()
            }
            Input::Tick => Vec::new(),
            Input::Listed(found) => {
                self.listed(found);
                Vec::new()
            }
            Input::Pod(pod, news) => self.news(pod, *news),
        }
    }

    /// Makes the rows of what is shown, before it is drawn.
    pub fn lay_out(&mut self) {
        let (columns, height) = (self.columns, self.question_height());
        match self.asked_mut() {
            Some(asked) => asked.lay_out(columns, height),
            None => {
                let focus = self.focus;
                if let Some(pod) = self.pods.get_mut(focus) {
                    pod.lay_out(columns);
                }
            }
        }
    }

    /// In how many milliseconds something changes by itself; `None`: nothing does.
    #[must_use]
    pub fn next_tick(&self) -> Option<u64> {
        let asked = self.asked();
        let counts_down = asked.is_some_and(|asked| asked.request().expires_at.is_some());
        let is_guarded =
            asked.is_some() && (self.guard.is_up(self.now) || !self.guard.may_approve(self.now));
        let is_lost = self.pods.iter().any(Pod::is_lost);
        [
            (counts_down || is_lost).then_some(1_000),
            is_guarded.then_some(100),
            self.guard.left(self.now),
            self.listed.is_some().then_some(2_000),
            self.said
                .as_ref()
                .map(|(_, until)| until.saturating_sub(self.now.steady)),
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|tick| tick.max(20))
    }

    /// Whether a pod is being chosen from the list.
    #[must_use]
    pub const fn is_choosing(&self) -> bool {
        self.listed.is_some()
    }

    /// What is left when the client ends.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        let drafts = self.pods.iter().map(|pod| pod.composer.text());
        let drafts: Vec<&str> = drafts.filter(|draft| !draft.trim().is_empty()).collect();
        Outcome {
            draft: drafts.join("\n"),
        }
    }

    /// The question that is on the screen.
    pub(crate) fn asked(&self) -> Option<&Asked> {
        let (pod, id) = self
            .shown
            .as_ref()
            .filter(|_| !self.is_aside && !self.is_help)?;
        self.pods.get(*pod)?.question(id)
    }

    pub(crate) fn asked_mut(&mut self) -> Option<&mut Asked> {
        let (pod, id) = self
            .shown
            .as_ref()
            .filter(|_| !self.is_aside && !self.is_help)?;
        self.pods.get_mut(*pod)?.question_mut(id)
    }

    /// All open questions, oldest first.
    pub(crate) fn queue(&self) -> Vec<(usize, RequestId)> {
        let all = self.pods.iter().enumerate().flat_map(|(at, pod)| {
            let asked = pod.asked.iter();
            asked.map(move |asked| (asked.order, at, asked.id().clone()))
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(order, ..)| *order);
        all.into_iter().map(|(_, at, id)| (at, id)).collect()
    }

    /// Rows for a question, and for what is typed about it.
    fn question_height(&self) -> usize {
        let typed = match self.asked().map(|asked| &asked.stage) {
            Some(stage) => stage
                .typed()
                .map_or(0, |typed| self.typed_height(typed) + 1),
            None => 0,
        };
        self.rows.saturating_sub(AROUND + typed)
    }

    /// Rows for what is typed.
    pub(crate) fn typed_height(&self, typed: &Editor) -> usize {
        crate::view::typed_rows(typed, self.columns)
            .len()
            .clamp(1, (self.rows / 3).max(1))
    }

    /// The question that is shown was not on the screen, or not like this: the next key is not for it.
    ///
    /// What is typed for a prompt since before the question came still goes there.
    pub(crate) fn is_new_to_reader(&mut self) {
        if self.asked().is_none() {
            return;
        }
        if !self.guard.is_up(self.now) {
            self.typing = None;
        }
        self.guard.raise();
    }

    /// How long no key may be pressed before one counts for a question that has just come.
    pub(crate) fn pause(&self) -> u64 {
        let has_draft = self.typing.is_some_and(|typing| {
            let pod = self.pods.get(typing.pod);
            pod.is_some_and(|pod| !pod.composer.is_empty())
        });
        match has_draft || self.types_now() {
            true => DRAFT_PAUSE,
            false => PAUSE,
        }
    }

    /// Whether a prompt was typed at just now.
    fn types_now(&self) -> bool {
        let at = self.typing.and_then(|typing| typing.at);
        at.is_some_and(|at| self.now.steady < at + RECENT)
    }

    /// Something is typed for a pod.
    fn types_for(&mut self, pod: usize) {
        let at = Some(self.now.steady);
        self.typing = Some(Typing { pod, at });
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.said = Some((text.into(), self.now.steady + SAID));
    }
}

#[cfg(test)]
mod tests;
