//! What keys do where a question is shown.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::RequestId;

use super::App;
use crate::asked::{Press, Stage, Step};
use crate::editor::Editor;
use crate::input::Effect;
use crate::keys::Action;
use crate::pod::Link;

impl App {
    pub(super) fn question_key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        let now = self.now;
        let can_answer = self.can_answer();
        let was_yes = self.guard.let_go();
        let Some((at, id)) = self.shown.clone() else {
            return Vec::new();
        };
        if !self.guard.lets_through(now, self.pause()) {
            self.type_ahead(key);
            return Vec::new();
        }
        if !self.has_room() {
            return Vec::new();
        }
        // Who presses a key has read it, and it is about another call.
        self.said = None;
        let keys = std::sync::Arc::clone(&self.keys);
        let Some(asked) = self.asked_mut() else {
            return Vec::new();
        };
        let press = Press::new(key, &keys, asked);
        let step = asked.key(&press, now, can_answer);
        if was_yes && asked.said.is_none() {
            let yes = keys.name(Action::Yes);
            asked.said = Some(format!("{yes} did not count: another key came with it"));
        }
        self.take(at, &id, step, key)
    }

    /// Does what a key came to.
    fn take(&mut self, at: usize, id: &RequestId, step: Step, key: &KeyEvent) -> Vec<Effect> {
        match step {
            Step::Nothing => Vec::new(),
            Step::Back => {
                self.is_new_to_reader();
                Vec::new()
            }
            Step::Ask(..) => step.asks(at).into_iter().collect(),
            Step::Approve => {
                match self.guard.may_approve(self.now) {
                    true => self.guard.hold(self.now),
                    false => {
                        let yes = self.keys.name(Action::Yes);
                        if let Some(asked) = self.asked_mut() {
                            let why = format!("{yes} counts after half a second without a key");
                            asked.said = Some(why);
                        }
                    }
                }
                Vec::new()
            }
            Step::Other(n_on) => {
                self.show_other(id, n_on);
                self.explain_shown().into_iter().collect()
            }
            Step::Aside => {
                self.is_aside = true;
                self.focus = at;
                Vec::new()
            }
            Step::Help => {
                self.is_help = true;
                Vec::new()
            }
            Step::Type => {
                self.types_for(at);
                self.type_ahead(key);
                Vec::new()
            }
        }
    }

    /// Gives the answer that lets something run, once nothing has come with its key.
    pub(super) fn approve_what_is_due(&mut self) -> Vec<Effect> {
        if !self.guard.is_due(self.now) {
            return Vec::new();
        }
        let (can_answer, keys) = (self.can_answer(), std::sync::Arc::clone(&self.keys));
        let Some((pod, _)) = self.shown else {
            return Vec::new();
        };
        // Where it comes to nothing, the question says why.
        let step = self
            .asked_mut()
            .map(|asked| asked.approve(can_answer, &keys));
        step.and_then(|step| step.asks(pod)).into_iter().collect()
    }

    /// Asks again what a form would let run: whether an earlier wish came to the pod is not known.
    pub(super) fn ask_again(&mut self, at: usize, id: &RequestId) -> Option<Effect> {
        let asked = self.pods.get_mut(at)?.question_mut(id)?;
        asked.ask_again().asks(at)
    }

    /// Keys that do not count go on being what they were: text for what they were typed in.
    fn type_ahead(&mut self, key: &KeyEvent) {
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let is_text = matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace) && is_plain;
        if is_text && let Some(typed) = self.typed_ahead() {
            typed.key(key);
        }
    }

    /// What is typed in while keys do not count: for a pod, or about the question.
    fn typed_ahead(&mut self) -> Option<&mut Editor> {
        match self.typing.map(|typing| typing.pod) {
            Some(pod) => {
                self.types_for(pod);
                self.pods.get_mut(pod).map(|pod| &mut pod.composer)
            }
            None => self.asked_mut()?.stage.typed_mut(),
        }
    }

    /// What is pasted answers nothing, and is not lost.
    pub(super) fn paste_into_question(&mut self, text: &str) {
        self.guard.let_go();
        let counts = self.guard.lets_through(self.now, self.pause());
        let pod = self.shown.as_ref().map_or(self.focus, |(pod, _)| *pod);
        let into_form = self.asked_mut().and_then(|asked| asked.stage.typed_mut());
        if let Some(typed) = into_form.filter(|_| counts) {
            typed.insert(text);
            return;
        }
        if counts {
            self.types_for(pod);
            if let Some(asked) = self.asked_mut() {
                asked.said = Some("what was pasted is in the prompt, and answers nothing".into());
            }
        }
        if let Some(typed) = self.typed_ahead() {
            typed.insert(text);
        }
    }

    /// Whether a question can be shown at all.
    pub(super) const fn has_room(&self) -> bool {
        self.columns >= crate::view::MIN_COLUMNS && self.rows >= crate::view::MIN_ROWS
    }

    /// What is drawn is on the screen.
    pub(super) fn drawn(&mut self) {
        let now = self.now;
        let (has_room, pause) = (self.has_room(), self.pause());
        if let Some(asked) = self.asked_mut()
            && has_room
        {
            let is_new = asked.page.drawn();
            self.guard.drawn(now, pause);
            if is_new {
                self.guard.is_restless(now);
            }
        }
    }

    /// Whether the pod would take an answer from here.
    ///
    /// # Errors
    /// It would not: why.
    pub(crate) fn can_answer(&self) -> Result<(), &'static str> {
        let pod = self.shown.as_ref().and_then(|(at, _)| self.pods.get(*at));
        let is_told = self.asked().is_none_or(|asked| asked.is_told);
        match pod {
            Some(pod) if pod.link != Link::There => Err("the pod is not connected"),
            Some(pod) if !pod.can_approve => Err("the pod takes no answers from here"),
            Some(_) if !is_told => Err("the pod has not told of it again"),
            Some(_) => Ok(()),
            None => Err("there is no such pod"),
        }
    }

    fn show_other(&mut self, id: &RequestId, n_on: isize) {
        let queue = self.queue();
        let at = queue
            .iter()
            .position(|(_, it)| it == id)
            .unwrap_or_default();
        let last = queue.len().saturating_sub(1);
        let next = match at.checked_add_signed(n_on) {
            Some(next) if next <= last => next,
            Some(_) => 0,
            None => last,
        };
        if next != at {
            self.show(queue.get(next).cloned());
        }
    }
}

impl Stage {
    /// What is typed in it.
    pub(crate) const fn typed(&self) -> Option<&Editor> {
        match self {
            Self::Feedback(typed) | Self::Arguments(typed) => Some(typed),
            Self::Asked
            | Self::Always(_)
            | Self::Saved(..)
            | Self::Changed(_)
            | Self::Replying(_) => None,
        }
    }

    pub(crate) const fn typed_mut(&mut self) -> Option<&mut Editor> {
        match self {
            Self::Feedback(typed) | Self::Arguments(typed) => Some(typed),
            Self::Asked
            | Self::Always(_)
            | Self::Saved(..)
            | Self::Changed(_)
            | Self::Replying(_) => None,
        }
    }
}
