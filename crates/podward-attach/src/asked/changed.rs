//! Other arguments that a person typed, and what the rules say of them.

use podward_protocol::{Explanation, Verdict};
use podward_view::{Look, Question, Row, one_line, wrapped_behind_mark};
use serde_json::{Map, Value};

use crate::editor::Editor;

/// Other arguments.
#[derive(Debug)]
pub(crate) struct Changed {
    /// What was typed.
    pub(crate) typed: Editor,
    pub(crate) arguments: Map<String, Value>,
    /// What the rules say of them, or why that is not known; `None`: they are asked.
    judged: Option<Result<Box<Explanation>, String>>,
}

impl Changed {
    pub(super) const fn new(typed: Editor, arguments: Map<String, Value>) -> Self {
        Self {
            typed,
            arguments,
            judged: None,
        }
    }

    /// What the rules say; about other arguments it does not matter.
    pub(super) fn judged(
        &mut self,
        arguments: &Map<String, Value>,
        told: Result<Box<Explanation>, String>,
    ) {
        if self.arguments == *arguments {
            self.judged = Some(told);
        }
    }

    /// Whether an answer could let it run.
    ///
    /// # Errors
    /// It could not: why.
    pub(super) fn can_run(&self) -> Result<(), &'static str> {
        match &self.judged {
            None => Err("what the rules say of it is not known yet"),
            Some(Ok(told)) if told.ruling.verdict == Verdict::Deny => Err("the rules deny it"),
            Some(_) => Ok(()),
        }
    }

    /// All that would run, and what the rules say of it.
    pub(super) fn rows(&self, question: &Question, columns: usize) -> Vec<Row> {
        let heading = "run this instead?";
        let judged = self.judged.as_ref();
        let explanation = judged.and_then(|told| told.as_deref().ok());
        let mut all = question.edited_rows(heading, &self.arguments, explanation, columns);
        let (look, why) = match judged {
            Some(Ok(_)) => return all,
            None => (
                Look::Faint,
                "  what the rules say of it is asked".to_owned(),
            ),
            Some(Err(why)) => {
                let why = one_line(why, 400);
                (
                    Look::Warning,
                    format!("  what the rules say of it is not known: {why}"),
                )
            }
        };
        all.extend(wrapped_behind_mark(&[(look, &why)], columns));
        all
    }
}
