//! A model whose answers are written in a file, for demonstrations and tests.
//!
//! A script is TOML: a list of steps, one for each answer of the model. A step with calls is
//! answered by their real results, which the next step can quote and branch on; a step without
//! ends the turn, and the next prompt goes on with the step after it.
//!
//! ```
//! let script = r#"
//! [[step]]
//! label = "find"                      # optional; a name to go to and to quote from
//! thinking = "Where is it?"           # optional
//! text = "I look for the failing test."
//! [[step.call]]                       # any number: they are made in one message
//! tool = "grep"
//! input = { pattern = "FIXME", path = "src" }
//!
//! [[step.next]]                       # the first whose conditions all hold; none: the next step
//! is_error = true                     # a result of this step is an error
//! goto = "give-up"
//! [[step.next]]
//! call = 1                            # only the result of the first call counts
//! lacks = "FIXME"                     # it does not contain this text
//! goto = "give-up"
//!
//! [[step]]
//! text = "It is in {{result.1 | line 1 | before \":\"}}."
//! [[step.call]]
//! tool = "read"
//! input = { path = "{{find.result.1 | line 1 | before \":\"}}" }
//!
//! [[step]]
//! text = "The line reads: {{result.1 | find FIXME | after FIXME | trim}}"
//!
//! [[step]]
//! label = "give-up"
//! text = "There is nothing to do."
//! "#;
//! let model = podward_model::ScriptedModel::parse("demo", script).unwrap();
//! ```
//!
//! # Steps
//! `label`, `thinking`, `text`, `call`, `next`, and:
//! `chunk` (characters of one delta; 24), `repeat` (how often the text is repeated; 1),
//! `usage = { input_tokens, output_tokens }` (else estimated at four bytes a token), `end`.
//!
//! # Calls
//! `tool`, and `input` (a table) or `raw` (the JSON text itself, which may be broken), `id` (else
//! one that is unique).
//!
//! # Conditions of `next`
//! `is_error`, `contains` and `lacks` hold if one result of this step's calls, or the one that
//! `call` names, fits all of them; `prompt_contains` looks at the prompt that follows the step.
//!
//! # Captures
//! Texts and arguments may hold `{{prompt}}`, `{{result.N}}` (the Nth result of the step before)
//! and `{{LABEL.result.N}}` (of the newest run of that step), with filters after `|`: `line N`,
//! `find TEXT` (the first line that has it), `before TEXT`, `after TEXT`, `trim`. A text may stand
//! in double quotes; it can hold neither `|` nor `}}`. A capture that finds nothing is an error of the model.
//!
//! # Ends
//! `end` is `"normal"`, `"max_tokens"`, or what a broken provider does: `"cut"` and `"error"` (in
//! the middle of the last call), `"endless"`, `"hang"`.
//!
//! # State
//! There is none: the step is found by walking through the conversation from its beginning, so a
//! session that is resumed in another process goes on where it was. A prompt without an answer
//! counts as one whose step failed.

mod answer;
mod file;
mod template;

use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use self::answer::Answer;
use self::file::{Next, Step};
use self::template::Seen;
use crate::error::ModelError;
use crate::message::{Block, Message, Role};
use crate::model::{Model, ModelRequest, ModelStream};

/// A model whose answers are written in a file.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
    steps: Arc<[Step]>,
}

/// What is wrong with a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptError {
    line: usize,
    column: usize,
    message: String,
}

impl ScriptedModel {
    /// Reads a script. `name` is the model's name.
    ///
    /// # Errors
    /// Everything that is wrong with the text, each with its place.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<ScriptError>> {
        Ok(Self {
            name: name.into(),
            steps: file::read(text)?.into(),
        })
    }

    fn answer(&self, messages: &[Message]) -> Result<Answer, ModelError> {
        let (idx, seen) = self.walk(messages);
        let Some(step) = self.steps.get(idx) else {
            return Ok(Answer::after_the_end(messages));
        };
        Answer::new(step, messages, &seen).map_err(|message| ModelError::Script {
            place: match &step.label {
                Some(label) => format!("step {} (`{label}`)", idx + 1),
                None => format!("step {}", idx + 1),
            },
            message,
        })
    }

    /// The step that answers a conversation, and what its captures can see.
    fn walk<'a>(&'a self, messages: &'a [Message]) -> (usize, Seen<'a>) {
        let mut idx = 0;
        let mut seen = Seen::default();
        for (message, following) in messages
            .iter()
            .zip(messages.iter().skip(1).map(Some).chain([None]))
        {
            if let Some(prompt) = prompt_of(message) {
                seen.prompt = prompt;
            }
            let is_answer = message.role == Role::Assistant;
            let is_unanswered = prompt_of(message).is_some()
                && following.is_some_and(|following| following.role == Role::User);
            if !(is_answer || is_unanswered) {
                continue;
            }
            let results = match following {
                Some(following) if is_answer => results_of(following),
                Some(_) | None => Vec::new(),
            };
            let Some(step) = self.steps.get(idx) else {
                break;
            };
            let prompt = following.and_then(prompt_of);
            idx = step
                .next
                .iter()
                .find(|next| next.holds(&results, prompt))
                .map_or(idx + 1, |next| next.goto);
            seen.results = results.into_iter().map(|(content, _)| content).collect();
            if let Some(label) = &step.label {
                seen.by_label.insert(label, seen.results.clone());
            }
        }
        (idx, seen)
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        match self.answer(&request.messages) {
            Ok(answer) => answer.stream(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

impl Next {
    /// Whether all conditions hold over the results of the step and the prompt that follows it.
    fn holds(&self, results: &[(&str, bool)], prompt: Option<&str>) -> bool {
        let fits = |&(content, is_error): &(&str, bool)| {
            self.is_error.is_none_or(|wanted| wanted == is_error)
                && self
                    .contains
                    .as_ref()
                    .is_none_or(|text| content.contains(text))
                && self
                    .lacks
                    .as_ref()
                    .is_none_or(|text| !content.contains(text))
        };
        let has_result_condition =
            self.is_error.is_some() || self.contains.is_some() || self.lacks.is_some();
        let prompt_fits = self
            .prompt_contains
            .as_ref()
            .is_none_or(|text| prompt.is_some_and(|prompt| prompt.contains(text)));
        let result_fits = match self.call {
            Some(number) => number
                .checked_sub(1)
                .and_then(|idx| results.get(idx))
                .is_some_and(fits),
            None => !has_result_condition || results.iter().any(fits),
        };
        prompt_fits && result_fits
    }
}

impl ScriptError {
    fn at(text: &str, span: Range<usize>, message: &str) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            message: message.to_owned(),
        }
    }

    /// The line, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The column, from 1, counted in characters.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.column
    }

    /// What is wrong: lower case, no full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// The text of a prompt; `None` for results and for the model's own messages.
fn prompt_of(message: &Message) -> Option<&str> {
    match (message.role, message.content.as_slice()) {
        (Role::User, [Block::Text { text }, ..]) => Some(text),
        (Role::User | Role::Assistant, _) => None,
    }
}

/// The results in a message, each with whether it is an error.
fn results_of(message: &Message) -> Vec<(&str, bool)> {
    message
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult {
                content, is_error, ..
            } => Some((content.as_str(), *is_error)),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolUse { .. } => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
