//! What a person's lines mean while questions are open: a state machine without a terminal.
//!
//! Nothing but a whole line that says so is a yes: not Enter, not a blank, not the end of the input,
//! and nothing that was typed before the question was there.

mod always;
mod prompting;
mod shown;
mod words;

use std::collections::VecDeque;

use podward_protocol::{Answer, Outcome, PermissionRequest, RequestId};
use podward_view::{Lines, Question, outcome_text, rows, visible};
use serde_json::{Map, Value};

pub(crate) use self::prompting::Prompts;
use super::pages::{Pages, Size};
use crate::screen::Stream;
use crate::terminal::Typed;

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Show this.
    Say(String),
    /// Attract attention.
    Bell,
    /// Wait until nothing was typed for a while and forget what was; then [`Answering::after_pause`] says
    /// what follows.
    Pause,
    /// Give this prompt to the pod; [`Answering::not_taken`] hears where it is not taken.
    Run(String),
    /// The person leaves.
    Leave,
    /// Give this answer; [`Answering::replied`] hears what became of it.
    Reply {
        id: RequestId,
        digest: String,
        answer: Answer,
    },
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Replied {
    /// It settled the question.
    Settled,
    /// It did not, and the question is still open: why.
    StillOpen(String),
    /// The question is no longer there: why.
    Gone(String),
}

/// The questions of a pod at a terminal.
#[derive(Debug)]
pub(crate) struct Answering {
    stream: Stream,
    /// What fits on the screen now.
    size: Size,
    /// What did when the last page was shown.
    size_shown: Size,
    /// What the next line is about, as far as it is shown.
    pages: Pages,
    /// Rows of something else that were written below the last page.
    n_below: usize,
    /// The first one is the one that is shown.
    open: VecDeque<Waiting>,
    stage: Stage,
    /// The person was about to answer something that is gone: their next line is not for what is
    /// shown now.
    is_startled: bool,
    prompts: Prompts,
    /// Nothing goes on in the pod.
    is_idle: bool,
}

#[derive(Debug)]
struct Waiting {
    /// What people call the call: `#3 bash`.
    name: String,
    question: Question,
    /// It was shown, as far as it fits.
    is_shown: bool,
    /// Everything of it was shown, a screen at a time or as the person wished.
    is_seen: bool,
}

/// What the next line is about.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// Nothing is open.
    Nothing,
    /// Whether the person is with it.
    Attention,
    /// The question.
    Asked,
    /// Which patterns are saved.
    Width,
    /// How long they count.
    Lasts { width: usize },
    /// New arguments.
    Arguments,
    /// Whether these arguments are right.
    Changed { arguments: Map<String, Value> },
    /// An answer is on its way.
    Replying,
}

impl Answering {
    /// No question yet.
    pub(crate) fn new(stream: Stream, size: Size, prompts: Prompts) -> Self {
        Self {
            stream,
            size,
            size_shown: size,
            pages: Pages::default(),
            n_below: 0,
            open: VecDeque::new(),
            stage: Stage::Nothing,
            is_startled: false,
            prompts,
            is_idle: false,
        }
    }

    /// Whether a line is waited for.
    pub(crate) fn wants_line(&self) -> bool {
        self.takes_prompt() || !matches!(self.stage, Stage::Nothing | Stage::Replying)
    }

    /// A call is asked about; `name` is what people call it.
    pub(crate) fn asked(&mut self, name: String, question: Question) -> Vec<Step> {
        if let Some(idx) = self.position(&question.request.id) {
            return self.asked_again(idx, question);
        }
        self.open.push_back(Waiting {
            name,
            question,
            is_shown: false,
            is_seen: false,
        });
        match self.stage {
            Stage::Nothing => self.show_next(),
            _ => vec![Step::Bell], // the one that is shown comes first
        }
    }

    /// A question is told that is known: a pod that goes on and a snapshot do so, and one whose parts
    /// grants came to cover, or cover no more.
    fn asked_again(&mut self, idx: usize, question: Question) -> Vec<Step> {
        let Some(known) = self.open.get_mut(idx) else {
            return Vec::new();
        };
        if known.question.request.digest == question.request.digest {
            return Vec::new();
        }
        known.question = question;
        (known.is_shown, known.is_seen) = (false, false);
        // An answer on its way was to what was asked before: `replied` hears so.
        if idx > 0 || self.stage == Stage::Replying {
            return Vec::new();
        }
        self.is_startled = true;
        let mut steps = vec![Step::Say("\nit asks something else by now\n".to_owned())];
        steps.extend(self.show_next());
        steps
    }

    /// A question is settled, by whomever.
    pub(crate) fn settled(&mut self, id: &RequestId, outcome: &Outcome, by: &str) -> Vec<Step> {
        match self.position(id) {
            None => Vec::new(),
            Some(0) if self.stage == Stage::Replying => Vec::new(), // `replied` says the same
            // It was never put up: what ended the turn ended it as well.
            Some(0) if self.stage == Stage::Nothing => {
                self.open.pop_front();
                Vec::new()
            }
            Some(0) => {
                self.open.pop_front();
                self.is_startled = true;
                let what = outcome_text(outcome);
                let by = visible(by, Lines::Escape);
                let mut steps = vec![Step::Say(format!("\nit is settled: {what} ({by})\n"))];
                // What ended it with its turn has ended the others as well.
                let is_of_all = matches!(outcome, Outcome::Cancelled | Outcome::PodStopped);
                match self.open.is_empty() || is_of_all {
                    true => {
                        self.stage = Stage::Nothing;
                        steps.push(Step::Pause);
                    }
                    false => steps.extend(self.show_next()),
                }
                steps
            }
            Some(idx) => {
                self.open.remove(idx);
                Vec::new()
            }
        }
    }

    /// The screen has this size; a smaller one than before takes no yes until the question is shown anew.
    pub(crate) const fn resized(&mut self, size: Size) {
        self.size = size;
    }

    /// What became of the answer that was given.
    pub(crate) fn replied(&mut self, replied: Replied) -> Vec<Step> {
        if self.stage != Stage::Replying {
            return Vec::new();
        }
        match replied {
            Replied::StillOpen(why) => {
                self.stage = Stage::Asked;
                let why = visible(&why, Lines::Keep);
                let mut steps = vec![Step::Say(format!("it does not count: {why}\n"))];
                if self.open.front().is_some_and(|first| !first.is_shown) {
                    steps.extend(self.show_next());
                } else {
                    steps.push(Step::Pause);
                }
                steps
            }
            Replied::Settled => {
                self.open.pop_front();
                self.show_next()
            }
            Replied::Gone(why) => {
                self.open.pop_front();
                let why = visible(&why, Lines::Keep);
                let mut steps = vec![Step::Say(format!("it does not count: {why}\n"))];
                steps.extend(self.show_next());
                steps
            }
        }
    }

    /// A line was typed, or the input ended.
    pub(crate) fn typed(&mut self, typed: Typed) -> Vec<Step> {
        let line = match typed {
            Typed::Line(line) => line,
            Typed::TooLong => return self.again(words::TOO_LONG),
            Typed::End if self.takes_prompt() => return vec![Step::Say("\n".into()), Step::Leave],
            Typed::End if self.wants_line() => {
                let mut steps = vec![Step::Say("\n".to_owned())];
                steps.extend(self.reply(Answer::Reject { feedback: None }));
                return steps;
            }
            Typed::End => return Vec::new(),
        };
        let line = line.trim();
        if let Some(turn) = words::turn(line)
            && self.wants_line()
            && self.pages.n_left() > 0
        {
            return self.turn(turn);
        }
        match self.stage.clone() {
            Stage::Nothing if self.takes_prompt() => self.prompted(line),
            Stage::Nothing | Stage::Replying => Vec::new(),
            Stage::Attention => {
                self.is_startled = false;
                self.stage = Stage::Asked;
                vec![Step::Pause]
            }
            Stage::Asked => self.answered(line),
            Stage::Width => self.width(line),
            Stage::Lasts { width } => self.lasts(line, width),
            Stage::Arguments => self.arguments(line),
            Stage::Changed { arguments } => match words::yes_or_no(line) {
                Some(true) => self.reply_to_shown(Answer::Edit { arguments }),
                Some(false) => self.back(),
                None if line.is_empty() => self.back(),
                None => self.again("y or n"),
            },
        }
    }

    fn position(&self, id: &RequestId) -> Option<usize> {
        self.open
            .iter()
            .position(|waiting| waiting.question.request.id == *id)
    }

    fn request(&self) -> Option<&PermissionRequest> {
        self.open.front().map(|first| &first.question.request)
    }

    fn show_next(&mut self) -> Vec<Step> {
        if self.open.is_empty() {
            self.stage = Stage::Nothing;
            // The pod may have become idle while the answer was on its way.
            return match self.takes_prompt() {
                true => vec![self.prompt()],
                false => Vec::new(),
            };
        }
        self.stage = if self.is_startled {
            Stage::Attention
        } else {
            Stage::Asked
        };
        let mut steps = vec![Step::Bell];
        steps.extend(self.show(&[]));
        steps
    }

    fn name_of_first(&self) -> String {
        let name = self.open.front().map_or("", |first| &first.name);
        visible(name, Lines::Escape)
    }

    /// Says why a line was not understood, and asks again.
    fn again(&self, why: &str) -> Vec<Step> {
        if !self.wants_line() {
            return Vec::new();
        }
        vec![Step::Say(format!("{why}\n")), self.prompt()]
    }

    /// Back to the question.
    fn back(&mut self) -> Vec<Step> {
        self.stage = Stage::Asked;
        self.pages = Pages::default();
        vec![self.prompt()]
    }

    fn reply(&mut self, answer: Answer) -> Vec<Step> {
        let Some(request) = self.request() else {
            return Vec::new();
        };
        let reply = Step::Reply {
            id: request.id.clone(),
            digest: request.digest.clone(),
            answer,
        };
        self.stage = Stage::Replying;
        vec![reply]
    }

    fn answered(&mut self, line: &str) -> Vec<Step> {
        let is_seen = self.open.front().is_some_and(|first| first.is_seen);
        match words::answer(line) {
            words::Said::Yes | words::Said::Always | words::Said::Edit if !is_seen => {
                self.again(words::NOT_ALL)
            }
            words::Said::Yes | words::Said::Always | words::Said::Edit if self.is_cut() => {
                self.show_on_smaller()
            }
            words::Said::Yes => self.reply(Answer::Once),
            words::Said::No { feedback } => self.reply(Answer::Reject { feedback }),
            words::Said::Always => self.always(),
            words::Said::Edit => self.edit(),
            words::Said::More => {
                let help = words::help(self.request());
                let help: Vec<String> = help.lines().map(str::to_owned).collect();
                self.show(&help)
            }
            words::Said::Nothing => self.again(words::NOTHING),
            words::Said::Other => {
                let line = podward_view::one_line(line, 60);
                self.again(&format!("`{line}` is no answer"))
            }
        }
    }

    fn edit(&mut self) -> Vec<Step> {
        let Some(request) = self.request() else {
            return Vec::new();
        };
        let alone = match request.tool.as_str() {
            "bash" => ", of which you type the command alone, as bash reads it",
            _ => "",
        };
        let now = words::json(&request.arguments);
        let now = format!("the arguments are{alone}\n  {now}\n");
        self.stage = Stage::Arguments;
        self.pages = Pages::default();
        vec![Step::Say(now), self.prompt()]
    }

    fn arguments(&mut self, line: &str) -> Vec<Step> {
        if line.is_empty() {
            return self.back();
        }
        let Some(request) = self.request() else {
            return Vec::new();
        };
        let arguments = match words::new_arguments(request, line) {
            Ok(arguments) => arguments,
            Err(why) => return self.again(&why),
        };
        let value = Value::Object(arguments.clone());
        let shown = match (request.tool.as_str(), arguments.get("command")) {
            ("bash", Some(Value::String(command))) => command.clone(),
            _ => format!("{value:#}"),
        };
        let rows = rows(&shown, &[], self.size.columns);
        let rows = rows.iter().map(|row| self.stream.row(row)).collect();
        self.stage = Stage::Changed { arguments };
        self.ask(rows)
    }
}

#[cfg(test)]
mod tests;
