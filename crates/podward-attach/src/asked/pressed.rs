//! What keys do about one question.
//!
//! INVARIANT: only the key for yes lets something run, after every row of what it is about was on the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::{Answer, Explain, Method};

use super::{Asked, Changed, Form, Kept, Stage, arguments_text};
use crate::editor::Editor;
use crate::input::{Effect, Now, Target};
use crate::keys::{Action, Keys};

/// What a key about a question comes to.
pub(crate) enum Step {
    Nothing,
    /// The question is there again, below a form that was closed.
    Back,
    /// The answer that lets something run, if nothing else comes with it.
    Approve,
    Ask(Target, Box<Method>),
    /// Another question is looked at: so many further on.
    Other(isize),
    /// Questions are put aside.
    Aside,
    Help,
    /// It is for the prompt.
    Type,
}

impl Step {
    /// What is asked of the pod of its question; `None` where nothing is.
    pub(crate) fn asks(self, pod: usize) -> Option<Effect> {
        match self {
            Self::Ask(target, method) => Some(Effect::Ask {
                pod,
                target,
                method,
            }),
            Self::Nothing
            | Self::Back
            | Self::Approve
            | Self::Other(_)
            | Self::Aside
            | Self::Help
            | Self::Type => None,
        }
    }
}

/// A key that was pressed about a question.
pub(crate) struct Press<'a> {
    key: &'a KeyEvent,
    /// What it does there; a character of a text does nothing else.
    action: Option<Action>,
    is_text: bool,
    keys: &'a Keys,
}

impl<'a> Press<'a> {
    pub(crate) fn new(key: &'a KeyEvent, keys: &'a Keys, asked: &Asked) -> Self {
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        let is_text = is_plain && matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace);
        let is_typing = asked.is_typing() || matches!(asked.stage, Stage::Replying(_));
        Self {
            key,
            action: match is_text && is_typing {
                true => None,
                false => keys.in_question(key),
            },
            is_text,
            keys,
        }
    }
}

type CanAnswer = Result<(), &'static str>;

impl Asked {
    pub(crate) fn key(&mut self, press: &Press<'_>, now: Now, can_answer: CanAnswer) -> Step {
        self.said = None;
        if self.scrolls(press) {
            return Step::Nothing;
        }
        match &self.stage {
            Stage::Replying(_) => waiting_key(press),
            Stage::Asked => self.asked_key(press, can_answer),
            Stage::Always(form) if form.typed_at.is_some() => self.pattern_key(press),
            Stage::Always(_) => self.always_key(press, now),
            Stage::Saved(..) | Stage::Changed(_) => self.confirm_key(press, can_answer),
            Stage::Feedback(_) | Stage::Arguments(_) => self.typed_key(press, can_answer),
        }
    }

    /// Whether a text is typed.
    fn is_typing(&self) -> bool {
        let is_pattern = matches!(&self.stage, Stage::Always(form) if form.typed_at.is_some());
        self.stage.typed().is_some() || is_pattern
    }

    /// Whether the key was for the page.
    fn scrolls(&mut self, press: &Press<'_>) -> bool {
        let is_elsewhere = self.is_typing() || matches!(self.stage, Stage::Always(_));
        match press.action {
            Some(Action::GoOn) => self.page.turn(1),
            Some(Action::GoBack) => self.page.turn(-1),
            Some(Action::Down) if !is_elsewhere => self.page.scroll(1),
            Some(Action::Up) if !is_elsewhere => self.page.scroll(-1),
            Some(Action::Start) if !is_elsewhere => self.page.scroll(isize::MIN),
            Some(Action::End) if !is_elsewhere => self.page.scroll(isize::MAX),
            _ => return false, // not for the page
        }
        true
    }

    /// Whether all of what is asked was on the screen; says so where it was not.
    fn is_seen(&mut self, keys: &Keys) -> bool {
        let is_seen = self.page.is_seen();
        if !is_seen {
            let (n_unseen, go_on) = (self.page.n_unseen(), keys.name(Action::GoOn));
            let what = "rows were not on the screen yet";
            self.said = Some(format!("{n_unseen} {what}: {go_on} goes on"));
        }
        is_seen
    }

    /// The answer that lets something run, where it can be given.
    fn wants_approval(&mut self, press: &Press<'_>, can_answer: CanAnswer) -> Step {
        if let Err(why) = self.stage.can_run() {
            self.said = Some(why.to_owned());
            return Step::Nothing;
        }
        if !self.is_seen(press.keys) {
            return Step::Nothing;
        }
        if let Err(why) = can_answer {
            self.cannot_answer(why);
            return Step::Nothing;
        }
        Step::Approve
    }

    /// Gives the answer that lets something run.
    pub(crate) fn approve(&mut self, can_answer: CanAnswer, keys: &Keys) -> Step {
        if self.stage.can_run().is_err() || !self.is_seen(keys) {
            return Step::Nothing;
        }
        let answer = match &self.stage {
            Stage::Asked => Answer::Once,
            Stage::Saved(form, lasts) => self.always(form, lasts.clone()),
            Stage::Changed(changed) => Answer::Edit {
                arguments: changed.arguments.clone(),
            },
            Stage::Always(_) | Stage::Feedback(_) | Stage::Arguments(_) | Stage::Replying(_) => {
                return Step::Nothing;
            }
        };
        self.answer(answer, can_answer)
    }

    fn answer(&mut self, answer: Answer, can_answer: CanAnswer) -> Step {
        if let Err(why) = can_answer {
            self.cannot_answer(why);
            return Step::Nothing;
        }
        let target = Target::Answer(self.id().clone());
        let method = self.reply(answer);
        Step::Ask(target, Box::new(method))
    }

    fn cannot_answer(&mut self, why: &str) {
        self.said = Some(format!("no answer counts: {why}"));
    }

    /// Goes one step back.
    fn back(&mut self) -> Step {
        self.go_back();
        match self.stage {
            Stage::Asked => Step::Back,
            _ => Step::Nothing, // a form is still there
        }
    }

    fn asked_key(&mut self, press: &Press<'_>, can_answer: CanAnswer) -> Step {
        let no = Answer::Reject { feedback: None };
        match (press.action, press.key.code) {
            (Some(Action::Because | Action::Always | Action::Edit), _) if can_answer.is_err() => {
                self.cannot_answer(can_answer.err().unwrap_or_default());
            }
            (Some(Action::Yes), _) => return self.wants_approval(press, can_answer),
            (Some(Action::No), _) => return self.answer(no, can_answer),
            (Some(Action::Because), _) => {
                let reason = std::mem::take(&mut self.kept.reason);
                self.go_to(Stage::Feedback(reason));
            }
            (Some(Action::Always), _) if self.is_seen(press.keys) => return self.begin_always(),
            (Some(Action::Edit), _) if self.is_seen(press.keys) => {
                let typed = self.kept.arguments.take().unwrap_or_else(|| {
                    let request = self.request();
                    Editor::new(&arguments_text(&request.tool, &request.arguments))
                });
                self.go_to(Stage::Arguments(typed));
            }
            (Some(Action::Next), _) => return Step::Other(1),
            (Some(Action::Previous), _) => return Step::Other(-1),
            (Some(Action::Aside), _) => return Step::Aside,
            (Some(Action::Keys), _) => return Step::Help,
            (None, KeyCode::Esc) => return self.answer(no, can_answer),
            (None, KeyCode::Enter) => {
                let (yes, no) = (press.keys.name(Action::Yes), press.keys.name(Action::No));
                self.said = Some(format!("Enter answers nothing: {yes} is yes, {no} is no"));
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
        self.ask_again()
    }

    /// Asks what a form would let run, or what the rules say of an edit.
    pub(crate) fn ask_again(&mut self) -> Step {
        let request = &self.question.request;
        match &mut self.stage {
            Stage::Always(form) | Stage::Saved(form, _) => {
                (self.refusal, self.is_stale) = (None, true);
                let (wish, method) = form.ask(request);
                Step::Ask(Target::Preview(request.id.clone(), wish), Box::new(method))
            }
            Stage::Changed(changed) => {
                let (tool, arguments) = (request.tool.clone(), changed.arguments.clone());
                let target = Target::Judgement(request.id.clone(), arguments.clone());
                Step::Ask(target, Box::new(Explain { tool, arguments }.into()))
            }
            Stage::Asked | Stage::Feedback(_) | Stage::Arguments(_) | Stage::Replying(_) => {
                Step::Nothing
            }
        }
    }

    fn pattern_key(&mut self, press: &Press<'_>) -> Step {
        let Stage::Always(form) = &mut self.stage else {
            return Step::Nothing;
        };
        self.is_stale = true;
        let at = form.typed_at.unwrap_or_default();
        match (press.action, press.key.code) {
            (_, KeyCode::Esc | KeyCode::Enter) => form.typed_at = None,
            (Some(Action::Next), _) => form.typed_at = Some((at + 1) % form.patterns.len().max(1)),
            _ => {
                let typed = form.patterns.get_mut(at);
                if typed.is_some_and(|(_, typed)| typed.key(press.key)) {
                    return self.ask_again();
                }
            }
        }
        Step::Nothing
    }

    /// Chooses what an `always` saves, by its place.
    pub(crate) fn choose(&mut self, width: usize) -> Step {
        let request = &self.question.request;
        let Stage::Always(form) = &mut self.stage else {
            return Step::Nothing;
        };
        if width >= request.choices.len() {
            return Step::Nothing;
        }
        self.is_stale = true;
        form.choose(request, width);
        self.ask_again()
    }

    /// Chooses what an `always` saves, by the row of the screen in which it stands.
    pub(crate) fn choose_at(&mut self, row: usize) -> Step {
        let is_shown = self.page.window().nth(row).is_some();
        let row = (row + self.page.n_above()).checked_sub(self.n_refusal);
        let width = match (&self.stage, row) {
            (Stage::Always(form), Some(row)) if is_shown => {
                form.choice_at(self.request(), row, self.page.columns())
            }
            _ => None, // nothing to choose from
        };
        width.map_or(Step::Nothing, |width| self.choose(width))
    }

    fn always_key(&mut self, press: &Press<'_>, now: Now) -> Step {
        let Stage::Always(form) = &mut self.stage else {
            return Step::Nothing;
        };
        self.is_stale = true;
        let digit = match press.key.code {
            KeyCode::Char(c) if press.is_text => c.to_digit(10),
            _ => None, // no choice by its number
        };
        match (press.action, press.key.code) {
            (Some(Action::Up), _) => {
                let width = form.width.checked_sub(1);
                return width.map_or(Step::Nothing, |width| self.choose(width));
            }
            (Some(Action::Down), _) => {
                let width = form.width + 1;
                return self.choose(width);
            }
            (None, KeyCode::Char(_)) if let Some(digit) = digit => {
                let width = usize::try_from(digit).unwrap_or_default().checked_sub(1);
                return width.map_or(Step::Nothing, |width| self.choose(width));
            }
            (Some(Action::Right), _) => form.lasts = form.lasts.step(1),
            (Some(Action::Left), _) => form.lasts = form.lasts.step(-1),
            (Some(Action::Edit), _) => form.typed_at = Some(0),
            (Some(Action::No), _) | (None, KeyCode::Esc) => return self.back(),
            (Some(Action::Always), _) if let Err(why) = form.can_be_saved() => {
                self.said = Some(why.to_owned());
            }
            (Some(Action::Always), _) if self.is_seen(press.keys) => {
                if let Stage::Always(form) = std::mem::replace(&mut self.stage, Stage::Asked) {
                    let lasts = form.lasts.granted(now);
                    self.go_to(Stage::Saved(form, lasts));
                }
            }
            (None, KeyCode::Enter) => {
                let always = press.keys.name(Action::Always);
                self.said = Some(format!("{always} goes on, Esc goes back"));
            }
            _ => {} // nothing in the form
        }
        Step::Nothing
    }

    fn confirm_key(&mut self, press: &Press<'_>, can_answer: CanAnswer) -> Step {
        match (press.action, press.key.code) {
            (Some(Action::Yes), _) => return self.wants_approval(press, can_answer),
            (Some(Action::No), _) | (None, KeyCode::Esc) => return self.back(),
            (None, KeyCode::Enter) => {
                let yes = press.keys.name(Action::Yes);
                self.said = Some(format!("Enter saves nothing: {yes} is yes"));
            }
            _ => {} // no answer
        }
        Step::Nothing
    }

    fn typed_key(&mut self, press: &Press<'_>, can_answer: CanAnswer) -> Step {
        let is_alt = press.key.modifiers.contains(KeyModifiers::ALT);
        match (&mut self.stage, press.action, press.key.code) {
            (_, None, KeyCode::Esc) => return self.back(),
            (Stage::Feedback(typed), None, KeyCode::Enter) if !is_alt => {
                let text = typed.text().trim().to_owned();
                let feedback = Some(text).filter(|text| !text.is_empty());
                return self.answer(Answer::Reject { feedback }, can_answer);
            }
            (Stage::Arguments(typed), Some(Action::Done), _) => {
                let text = typed.text().to_owned();
                let typed = typed.clone();
                match self.new_arguments(&text) {
                    Ok(arguments) => {
                        self.go_to(Stage::Changed(Box::new(Changed::new(typed, arguments))));
                        return self.ask_again();
                    }
                    Err(why) => self.said = Some(why),
                }
            }
            (Stage::Arguments(typed), None, KeyCode::Enter) => typed.insert("\n"),
            (Stage::Feedback(typed) | Stage::Arguments(typed), _, _) => {
                typed.key(press.key);
            }
            _ => {} // nothing is typed
        }
        Step::Nothing
    }

    /// Takes what was typed about it and is in no answer.
    pub(crate) fn take_typed(&mut self) -> Option<String> {
        let kept = std::mem::take(&mut self.kept);
        let mut stage = std::mem::replace(&mut self.stage, Stage::Asked);
        if let Stage::Replying(from) = stage {
            stage = *from;
        }
        let (reason, arguments) = match stage {
            Stage::Feedback(typed) => (typed, kept.arguments),
            Stage::Arguments(typed) => (kept.reason, Some(typed)),
            Stage::Changed(changed) => (kept.reason, Some(changed.typed)),
            _ => (kept.reason, kept.arguments), // nothing is typed there
        };
        let request = self.request();
        let now = arguments_text(&request.tool, &request.arguments);
        let arguments = arguments.filter(|typed| typed.text() != now);
        let texts = [Some(reason), arguments].into_iter().flatten();
        let texts: Vec<String> = texts.map(|typed| typed.text().to_owned()).collect();
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

impl Kept {
    /// What is typed in a stage that is left.
    pub(super) fn keep(&mut self, stage: &Stage) {
        match stage {
            Stage::Feedback(typed) => self.reason = typed.clone(),
            Stage::Arguments(typed) => self.arguments = Some(typed.clone()),
            _ => {} // nothing is typed there
        }
    }
}

/// While an answer is on its way, others can be looked at, and who types goes on with the prompt.
fn waiting_key(press: &Press<'_>) -> Step {
    match press.action {
        Some(Action::Next) => Step::Other(1),
        Some(Action::Previous) => Step::Other(-1),
        None if press.is_text => Step::Type,
        _ => Step::Nothing,
    }
}

impl Stage {
    /// Whether the answer from here could let something run.
    ///
    /// # Errors
    /// It could not: why.
    pub(crate) fn can_run(&self) -> Result<(), &'static str> {
        match self {
            Self::Saved(form, _) => form.can_be_saved(),
            Self::Changed(changed) => changed.can_run(),
            Self::Asked
            | Self::Always(_)
            | Self::Feedback(_)
            | Self::Arguments(_)
            | Self::Replying(_) => Ok(()),
        }
    }
}
