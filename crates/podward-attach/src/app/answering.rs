//! What keys do about a question.
//!
//! INVARIANT: only the letter `y` lets something run, after every row of what it is about was on the screen
//! and then no key was pressed, and nothing new shown, for a while before it came.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::{Answer, Method, RequestId};

use super::App;
use crate::asked::{Asked, Form, Stage, arguments_text};
use crate::editor::Editor;
use crate::input::{Effect, Now, Target};
use crate::pod::Link;

/// What a key about a question comes to.
enum Step {
    Nothing,
    Ask(Target, Method),
    /// Another question is looked at: so many further on.
    Other(isize),
    /// Questions are put aside.
    Aside,
    Help,
}

impl Stage {
    /// Whether it is above the question, so that Esc goes back.
    const fn is_form(&self) -> bool {
        match self {
            Self::Always(_) | Self::Saved(..) => true,
            Self::Feedback(_) | Self::Arguments(_) | Self::Changed(..) => true,
            Self::Asked | Self::Replying(_) => false,
        }
    }

    /// What is typed in it.
    pub(crate) const fn typed(&self) -> Option<&Editor> {
        match self {
            Self::Feedback(typed) | Self::Arguments(typed) => Some(typed),
            Self::Asked
            | Self::Always(_)
            | Self::Saved(..)
            | Self::Changed(..)
            | Self::Replying(_) => None,
        }
    }
}

impl App {
    pub(super) fn question_key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        let now = self.now;
        let can_answer = self.can_answer();
        let may_approve = self.may_approve();
        let Some((at, id)) = self.shown.clone() else {
            return Vec::new();
        };
        if !self.guard.lets_through(now) {
            self.type_ahead(key);
            self.guard.prolong(now, self.pause());
            return Vec::new();
        }
        if !self.has_room() {
            return Vec::new();
        }
        // Who presses a key has read it, and it is about another call.
        self.said = None;
        let Some(asked) = self.asked_mut() else {
            return Vec::new();
        };
        let was_form = asked.stage.is_form();
        let step = match may_approve {
            Err(why) if asked.approves(key) && can_answer.is_ok() => {
                asked.said = Some(why.to_owned());
                Step::Nothing
            }
            _ => asked.key(key, now, can_answer), // it may, or the key is another one
        };
        if was_form && matches!(asked.stage, Stage::Asked) {
            self.is_new_to_reader();
        }
        match step {
            Step::Nothing => Vec::new(),
            Step::Ask(target, method) => vec![Effect::Ask {
                pod: at,
                target,
                method: Box::new(method),
            }],
            Step::Other(n_on) => {
                self.show_other(&id, n_on);
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
        }
    }

    /// Asks again what a form would let run: whether an earlier wish came to the pod is not known.
    pub(super) fn ask_preview_again(&mut self, at: usize, id: &RequestId) -> Option<Effect> {
        let asked = self.pods.get_mut(at)?.question_mut(id)?;
        match asked.ask_preview() {
            Step::Ask(target, method) => Some(Effect::Ask {
                pod: at,
                target,
                method: Box::new(method),
            }),
            Step::Nothing | Step::Other(_) | Step::Aside | Step::Help => None,
        }
    }

    /// Keys that do not count go on being what they were: text for what they were typed in.
    fn type_ahead(&mut self, key: &KeyEvent) {
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let is_text = matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace) && is_plain;
        if let Some(typed) = self.typed_ahead()
            && is_text
        {
            typed.key(key);
            self.typed_at = Some(self.now.steady);
        }
    }

    /// What is typed in while keys do not count: for a pod, or about the question.
    fn typed_ahead(&mut self) -> Option<&mut Editor> {
        match self.typed_for {
            Some(focus) => self.pods.get_mut(focus).map(|pod| &mut pod.composer),
            None => match &mut self.asked_mut()?.stage {
                Stage::Feedback(typed) | Stage::Arguments(typed) => Some(typed),
                Stage::Asked
                | Stage::Always(_)
                | Stage::Saved(..)
                | Stage::Changed(..)
                | Stage::Replying(_) => None,
            },
        }
    }

    pub(super) fn paste_into_question(&mut self, text: &str) -> Vec<Effect> {
        let now = self.now;
        if !self.guard.lets_through(now) {
            if let Some(typed) = self.typed_ahead() {
                typed.insert(text);
                self.typed_at = Some(now.steady);
            }
            self.guard.prolong(now, self.pause());
            return Vec::new();
        }
        if let Some(asked) = self.asked_mut()
            && let Stage::Feedback(typed) | Stage::Arguments(typed) = &mut asked.stage
        {
            typed.insert(text);
        }
        Vec::new()
    }

    /// Whether a question can be shown at all.
    const fn has_room(&self) -> bool {
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
                self.restless_at = now.steady;
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

impl Asked {
    fn key(&mut self, key: &KeyEvent, now: Now, can_answer: Result<(), &'static str>) -> Step {
        self.said = None;
        if self.scroll_key(key) {
            return Step::Nothing;
        }
        let is_typing = self.stage.typed().is_some() || self.is_typing_pattern();
        // A letter with anything held but Shift is another key.
        if !(key.modifiers - KeyModifiers::SHIFT).is_empty() && !is_typing {
            return Step::Nothing;
        }
        match &self.stage {
            Stage::Replying(_) => self.waiting_key(key),
            Stage::Asked => self.asked_key(key, can_answer),
            Stage::Always(_) => self.always_key(key, now),
            Stage::Saved(..) | Stage::Changed(..) => self.confirm_key(key, can_answer),
            Stage::Feedback(_) | Stage::Arguments(_) => self.typed_key(key, can_answer),
        }
    }

    /// Whether a key lets something run once all of it was on the screen.
    fn approves(&self, key: &KeyEvent) -> bool {
        let is_yes = key.code == KeyCode::Char('y');
        let can_run = match &self.stage {
            Stage::Asked | Stage::Changed(..) => true,
            Stage::Saved(form, _) => form.can_be_saved().is_ok(),
            Stage::Always(_) | Stage::Feedback(_) | Stage::Arguments(_) | Stage::Replying(_) => {
                false
            }
        };
        is_yes && can_run && self.page.is_seen() && (key.modifiers - KeyModifiers::SHIFT).is_empty()
    }

    /// While an answer is on its way, others can be looked at.
    fn waiting_key(&mut self, key: &KeyEvent) -> Step {
        match key.code {
            KeyCode::Tab => Step::Other(1),
            KeyCode::BackTab => Step::Other(-1),
            KeyCode::Char('o') => Step::Aside,
            _ => Step::Nothing,
        }
    }

    /// Whether the key was for the page.
    fn scroll_key(&mut self, key: &KeyEvent) -> bool {
        let is_form = matches!(self.stage, Stage::Always(_));
        let is_typing = self.stage.typed().is_some();
        match key.code {
            KeyCode::PageDown => self.page.turn(1),
            KeyCode::PageUp => self.page.turn(-1),
            KeyCode::Char(' ') if !is_typing && !self.is_typing_pattern() => self.page.turn(1),
            KeyCode::Down | KeyCode::Char('j') if !is_typing && !is_form => self.page.scroll(1),
            KeyCode::Up | KeyCode::Char('k') if !is_typing && !is_form => self.page.scroll(-1),
            KeyCode::Home if !is_typing && !is_form => self.page.scroll(isize::MIN),
            KeyCode::End if !is_typing && !is_form => self.page.scroll(isize::MAX),
            _ => return false, // not for the page
        }
        true
    }

    fn is_typing_pattern(&self) -> bool {
        matches!(&self.stage, Stage::Always(form) if form.typed_at.is_some())
    }

    /// Whether all of what is asked was on the screen; says so where it was not.
    fn is_seen(&mut self) -> bool {
        let is_seen = self.page.is_seen();
        if !is_seen {
            let n_unseen = self.page.n_unseen();
            self.said = Some(format!(
                "{n_unseen} rows were not on the screen yet: space goes on"
            ));
        }
        is_seen
    }

    fn answer(&mut self, answer: Answer, can_answer: Result<(), &'static str>) -> Step {
        if let Err(why) = can_answer {
            self.cannot_answer(why);
            return Step::Nothing;
        }
        let target = Target::Answer(self.id().clone());
        let method = self.reply(answer);
        Step::Ask(target, method)
    }

    fn cannot_answer(&mut self, why: &str) {
        self.said = Some(format!("no answer counts: {why}"));
    }

    fn asked_key(&mut self, key: &KeyEvent, can_answer: Result<(), &'static str>) -> Step {
        if let (KeyCode::Char('r' | 'a' | 'e'), Err(why)) = (key.code, can_answer) {
            self.cannot_answer(why);
            return Step::Nothing;
        }
        match key.code {
            KeyCode::Char('y') if self.is_seen() => return self.answer(Answer::Once, can_answer),
            KeyCode::Char('n') | KeyCode::Esc => {
                return self.answer(Answer::Reject { feedback: None }, can_answer);
            }
            KeyCode::Char('r') => self.go_to(Stage::Feedback(Editor::default())),
            KeyCode::Char('a') if self.is_seen() => return self.begin_always(),
            KeyCode::Char('e') if self.is_seen() => {
                let request = self.request();
                let text = arguments_text(&request.tool, &request.arguments);
                self.go_to(Stage::Arguments(Editor::new(&text)));
            }
            KeyCode::Tab => return Step::Other(1),
            KeyCode::BackTab => return Step::Other(-1),
            KeyCode::Char('o') => return Step::Aside,
            KeyCode::Char('?') | KeyCode::F(1) => return Step::Help,
            KeyCode::Enter => {
                self.said = Some("Enter answers nothing: y is yes, n is no".to_owned());
            }
            _ => {} // no answer
        }
        Step::Nothing
    }

    fn begin_always(&mut self) -> Step {
        if self.request().choices.is_empty() {
            self.said = Some("there is no `always` here".to_owned());
            return Step::Nothing;
        }
        let form = Form::new(self.request());
        self.go_to(Stage::Always(Box::new(form)));
        self.ask_preview()
    }

    fn ask_preview(&mut self) -> Step {
        let request = &self.question.request;
        let (Stage::Always(form) | Stage::Saved(form, _)) = &mut self.stage else {
            return Step::Nothing;
        };
        self.refusal = None;
        self.is_stale = true;
        let (wish, method) = form.ask(request);
        Step::Ask(Target::Preview(request.id.clone(), wish), method)
    }

    fn always_key(&mut self, key: &KeyEvent, now: Now) -> Step {
        let request = &self.question.request;
        let Stage::Always(form) = &mut self.stage else {
            return Step::Nothing;
        };
        self.is_stale = true;
        if let Some(at) = form.typed_at {
            match key.code {
                KeyCode::Esc | KeyCode::Enter => form.typed_at = None,
                KeyCode::Tab => form.typed_at = Some((at + 1) % form.patterns.len().max(1)),
                _ => {
                    let typed = form.patterns.get_mut(at);
                    let is_typed = typed.is_some_and(|(_, typed)| typed.key(key));
                    if is_typed {
                        return self.ask_preview();
                    }
                }
            }
            return Step::Nothing;
        }
        let n_choices = request.choices.len();
        let width = match key.code {
            KeyCode::Up | KeyCode::Char('k') => form.width.checked_sub(1),
            KeyCode::Down | KeyCode::Char('j') => Some(form.width + 1),
            KeyCode::Char(digit) => digit
                .to_digit(10)
                .and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1)),
            _ => None, // no choice
        };
        if let Some(width) = width.filter(|width| *width < n_choices) {
            form.choose(request, width);
            return self.ask_preview();
        }
        match key.code {
            KeyCode::Right | KeyCode::Char('l') => form.lasts = form.lasts.step(1),
            KeyCode::Left | KeyCode::Char('h') => form.lasts = form.lasts.step(-1),
            KeyCode::Char('e') => form.typed_at = Some(0),
            KeyCode::Esc | KeyCode::Char('n') => self.go_to(Stage::Asked),
            KeyCode::Char('a') if let Err(why) = form.can_be_saved() => {
                self.said = Some(why.to_owned());
            }
            KeyCode::Char('a') if self.is_seen() => {
                if let Stage::Always(form) = std::mem::replace(&mut self.stage, Stage::Asked) {
                    let lasts = form.lasts.granted(now);
                    self.go_to(Stage::Saved(form, lasts));
                }
            }
            KeyCode::Enter => self.said = Some("a goes on, Esc goes back".to_owned()),
            _ => {} // nothing in the form
        }
        Step::Nothing
    }

    fn confirm_key(&mut self, key: &KeyEvent, can_answer: Result<(), &'static str>) -> Step {
        if let (KeyCode::Char('y'), Stage::Saved(form, _)) = (key.code, &self.stage)
            && let Err(why) = form.can_be_saved()
        {
            self.said = Some(why.to_owned());
            return Step::Nothing;
        }
        match key.code {
            KeyCode::Char('y') if self.is_seen() => {
                let answer = match &self.stage {
                    Stage::Saved(form, lasts) => self.always(form, lasts.clone()),
                    Stage::Changed(_, arguments) => Answer::Edit {
                        arguments: arguments.clone(),
                    },
                    Stage::Asked
                    | Stage::Always(_)
                    | Stage::Feedback(_)
                    | Stage::Arguments(_)
                    | Stage::Replying(_) => return Step::Nothing,
                };
                return self.answer(answer, can_answer);
            }
            KeyCode::Esc | KeyCode::Char('n') => self.go_back(),
            KeyCode::Enter => self.said = Some("Enter saves nothing: y is yes".to_owned()),
            _ => {} // no answer
        }
        Step::Nothing
    }

    fn typed_key(&mut self, key: &KeyEvent, can_answer: Result<(), &'static str>) -> Step {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_done = is_control && matches!(key.code, KeyCode::Char('s'));
        match (&mut self.stage, key.code) {
            (_, KeyCode::Esc) => self.go_to(Stage::Asked),
            (Stage::Feedback(typed), KeyCode::Enter) if !is_alt => {
                let text = typed.text().trim().to_owned();
                let feedback = Some(text).filter(|text| !text.is_empty());
                return self.answer(Answer::Reject { feedback }, can_answer);
            }
            (Stage::Arguments(typed), _) if is_done => {
                let text = typed.text().to_owned();
                let typed = typed.clone();
                match self.new_arguments(&text) {
                    Ok(arguments) => self.go_to(Stage::Changed(typed, arguments)),
                    Err(why) => self.said = Some(why),
                }
            }
            (Stage::Arguments(typed), KeyCode::Enter) => typed.insert("\n"),
            (Stage::Feedback(typed) | Stage::Arguments(typed), _) => {
                typed.key(key);
            }
            _ => {} // nothing is typed
        }
        Step::Nothing
    }
}
