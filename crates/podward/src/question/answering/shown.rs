//! What is shown of what the next line is about, on a screen that may be smaller than it.

use podward_protocol::Answer;

use super::super::pages::{Pages, Turn};
use super::{Answering, Stage, Step, words};
use crate::screen::Look;

impl Answering {
    /// Something else was written to the terminal, below what is asked.
    pub(crate) fn wrote(&mut self, text: &str) {
        // A line break at its end begins no row of its own.
        let text = text.strip_suffix('\n').unwrap_or(text);
        self.n_below += self.size.height_of(text);
    }

    /// The question is called to mind, and shown again if it went out of sight.
    pub(crate) fn interrupted(&mut self) -> Vec<Step> {
        if !self.wants_line() {
            return Vec::new();
        }
        // The prompt that stood there has become a row as well.
        self.n_below += self.n_kept();
        self.after_pause()
    }

    /// Nothing was typed for a while: what is asked can be answered, and is shown again if it went out of
    /// sight.
    pub(crate) fn after_pause(&mut self) -> Vec<Step> {
        if !self.wants_line() {
            return Vec::new();
        }
        let page = self.pages.page();
        let is_gone = self.n_below > 0 && self.n_below + self.n_shown() > self.size.rows;
        if page.is_empty() || !is_gone {
            return vec![self.prompt()];
        }
        self.n_below = 0;
        vec![Step::Say(page), self.prompt()]
    }

    /// How many rows the last page and the prompt below it take.
    fn n_shown(&self) -> usize {
        self.pages.page_height(self.size) + self.n_kept()
    }

    /// Shows the question from its beginning, and more below it.
    pub(super) fn show(&mut self, more: &[String]) -> Vec<Step> {
        let n_open = self.open.len();
        let Some(first) = self.open.front() else {
            return Vec::new();
        };
        let after = match n_open - 1 {
            0 => String::new(),
            n_more => format!(" ({n_more} more after it)"),
        };
        let heading = format!("may {} run?{after}", first.name);
        let mut rows = vec![String::new()];
        let question = first.question.rows(&heading, self.size.columns);
        rows.extend(question.iter().map(|row| self.stream.row(row)));
        rows.extend(more.iter().cloned());
        self.ask(rows)
    }

    /// Shows what the next line is about.
    pub(super) fn ask(&mut self, rows: Vec<String>) -> Vec<Step> {
        self.pages = Pages::new(rows);
        self.turn(Turn::Screen)
    }

    /// Shows on.
    pub(super) fn turn(&mut self, turn: Turn) -> Vec<Step> {
        let n_kept = self.n_kept();
        let page = self.pages.turn(turn, self.size, n_kept);
        self.size_shown = self.size;
        self.n_below = 0;
        let is_whole = self.pages.n_left() == 0;
        if let (Stage::Asked | Stage::Attention, Some(first)) = (&self.stage, self.open.front_mut())
        {
            first.is_shown = true;
            first.is_seen |= is_whole;
        }
        // Only after it is shown, and nothing was typed for a while: what was typed before was no answer.
        vec![Step::Say(page), Step::Pause]
    }

    /// Whether what was shown last may no longer be all on the screen because that has become smaller.
    pub(super) fn is_cut(&self) -> bool {
        let (now, then) = (self.size, self.size_shown);
        let is_smaller = now.rows < then.rows || now.columns < then.columns;
        is_smaller && self.n_shown() > now.rows
    }

    /// Rows that are needed below a page: for the prompt, whichever it will be, and what is typed.
    pub(super) fn n_kept(&self) -> usize {
        let height = |prompt: String| self.size.height_of(&format!("{prompt}??"));
        let n_usual = height(self.prompt_text(0)).max(height(self.prompt_text(999_999)));
        match self.stage {
            // The question's own prompt comes below it.
            Stage::Attention => n_usual * 2 + 1,
            _ => n_usual, // one prompt
        }
    }

    pub(super) fn prompt(&self) -> Step {
        if self.takes_prompt() {
            return self.prompt_of_prompts();
        }
        let text = self.prompt_text(self.pages.n_left());
        Step::Say(self.stream.paint(Look::Strong, text))
    }

    /// What stands in front of the cursor where so many rows are not shown yet.
    pub(super) fn prompt_text(&self, n_left: usize) -> String {
        match (&self.stage, self.open.front()) {
            (Stage::Attention, _) => words::ATTENTION.to_owned(),
            (Stage::Asked, Some(first)) => words::prompt(first, &self.name_of_first(), n_left),
            (Stage::Width | Stage::Lasts { .. } | Stage::Changed { .. }, _) if n_left > 0 => {
                words::more(n_left, "Enter to go back")
            }
            (Stage::Width, _) => words::WIDTH.to_owned(),
            (Stage::Lasts { .. }, _) => words::LASTS.to_owned(),
            (Stage::Arguments, Some(first)) => words::arguments_prompt(&first.question.request),
            (Stage::Changed { .. }, _) => words::CHANGED.to_owned(),
            (Stage::Nothing | Stage::Replying | Stage::Asked | Stage::Arguments, _) => {
                String::new()
            }
        }
    }

    /// Gives an answer if all that it is about was shown on a screen of this size.
    pub(super) fn reply_to_shown(&mut self, answer: Answer) -> Vec<Step> {
        if self.pages.n_left() > 0 {
            return self.again(words::NOT_ALL);
        }
        if self.is_cut() {
            return self.show_on_smaller();
        }
        self.reply(answer)
    }

    /// The screen has become smaller than what was shown: the question is put again.
    pub(super) fn show_on_smaller(&mut self) -> Vec<Step> {
        self.stage = Stage::Asked;
        if let Some(first) = self.open.front_mut() {
            first.is_seen = false;
        }
        let mut steps = vec![Step::Say(words::SMALLER.to_owned())];
        steps.extend(self.show(&[]));
        steps
    }
}
