//! One question, as far as its answer has come.
//!
//! An answer that lets something run needs a key that says so, after every row of what it is about was on
//! the screen.

mod always;
mod changed;
mod page;
mod parts;
mod pressed;

use podward_protocol::{
    Always, Answer, Explanation, GrantFor, Method, PermissionReply, PermissionRequest, Preview,
    RequestId,
};
use podward_view::{
    Before, Lines, Look, Question, Row, one_line, rows, visible, without_runs, wrapped_behind_mark,
};
use serde_json::{Map, Value};

pub(crate) use self::always::Form;
pub(crate) use self::changed::Changed;
pub(crate) use self::page::Page;
pub(crate) use self::pressed::{Press, Step};
use crate::editor::Editor;
use crate::input::Refused;

/// A question that is open.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// The number of its call.
    number: usize,
    /// Its place among the questions of all pods.
    pub(crate) order: u64,
    /// Its pod has told of it since it was connected.
    pub(crate) is_told: bool,
    /// How its parts came to their verdicts, once it is known.
    explanation: Option<Box<Explanation>>,
    /// It was asked for.
    pub(crate) is_explained: bool,
    pub(crate) stage: Stage,
    /// What the stage is about.
    pub(crate) page: Page,
    /// The rows of the page are of what was before.
    pub(crate) is_stale: bool,
    /// What was wrong with the last key or answer.
    pub(crate) said: Option<String>,
    /// The last answer let it run.
    pub(crate) has_approved: bool,
    /// Why the answer from this stage came to nothing.
    pub(crate) refusal: Option<String>,
    /// Rows of it above the stage's own.
    n_refusal: usize,
    kept: Kept,
}

/// What was typed in a form that was left.
#[derive(Debug, Default)]
struct Kept {
    reason: Editor,
    arguments: Option<Editor>,
}

/// What the next key is about.
#[derive(Debug)]
pub(crate) enum Stage {
    /// The question.
    Asked,
    /// What `always` saves.
    Always(Box<Form>),
    /// Whether this is saved, and for so long.
    Saved(Box<Form>, GrantFor),
    /// What is said to the model.
    Feedback(Editor),
    /// New arguments.
    Arguments(Editor),
    /// Whether these run.
    Changed(Box<Changed>),
    /// An answer is on its way, from this stage.
    Replying(Box<Stage>),
}

impl Asked {
    pub(crate) fn new(question: Question, number: usize, order: u64) -> Self {
        Self {
            question,
            number,
            order,
            is_told: true,
            explanation: None,
            is_explained: false,
            stage: Stage::Asked,
            page: Page::default(),
            is_stale: true,
            said: None,
            has_approved: false,
            refusal: None,
            n_refusal: 0,
            kept: Kept::default(),
        }
    }

    /// It asks something else by now.
    pub(crate) fn ask_anew(&mut self, question: Question) {
        self.question = question;
        (self.explanation, self.is_explained) = (None, false);
        while !matches!(self.stage, Stage::Asked) {
            self.go_back();
        }
        self.go_to(Stage::Asked);
        self.said = Some("it asks something else by now".to_owned());
    }

    pub(crate) const fn request(&self) -> &PermissionRequest {
        &self.question.request
    }

    pub(crate) const fn id(&self) -> &RequestId {
        &self.question.request.id
    }

    /// What people call it.
    pub(crate) fn name(&self) -> String {
        format!("#{} {}", self.number, one_line(&self.request().tool, 60))
    }

    /// Goes to another stage, whose page is not shown yet.
    pub(crate) fn go_to(&mut self, stage: Stage) {
        self.stage = stage;
        (self.said, self.refusal) = (None, None);
        self.renew();
    }

    /// Goes one step back: what asks back goes to its form, a form to the question.
    pub(crate) fn go_back(&mut self) {
        self.kept.keep(&self.stage);
        let stage = match std::mem::replace(&mut self.stage, Stage::Asked) {
            Stage::Saved(form, _) => Stage::Always(form),
            Stage::Changed(changed) => Stage::Arguments(changed.typed),
            Stage::Asked | Stage::Always(_) | Stage::Feedback(_) | Stage::Arguments(_) => {
                Stage::Asked
            }
            Stage::Replying(from) => *from,
        };
        self.go_to(stage);
    }

    /// Nothing of what it is about was shown.
    pub(crate) fn renew(&mut self) {
        self.page.renew();
        self.is_stale = true;
    }

    /// How its parts came to their verdicts.
    pub(crate) fn explained(&mut self, explanation: Option<Explanation>) {
        self.explanation = explanation.map(Box::new);
        self.is_stale = true;
    }

    /// What is in the file that it is about.
    pub(crate) fn looked(&mut self, before: Before) {
        self.question.before = before;
        self.is_stale = true;
    }

    /// Makes the rows of what the stage is about, for a screen with so much room.
    ///
    /// They are made anew only where they have changed: a change to a long file takes a while.
    pub(crate) fn lay_out(&mut self, columns: usize, height: usize) {
        if !self.is_stale && self.page.columns() == columns {
            self.page.resize(height);
            return;
        }
        self.is_stale = false;
        let mut rows = match &self.stage {
            Stage::Asked | Stage::Feedback(_) | Stage::Replying(_) => self.rows(columns),
            Stage::Always(form) => form.rows(self.request(), columns),
            Stage::Saved(form, lasts) => form.saved_rows(self.request(), lasts, columns),
            Stage::Arguments(_) => self.now_rows(columns),
            Stage::Changed(changed) => changed.rows(&self.question, columns),
        };
        self.n_refusal = 0;
        if let Some(why) = &self.refusal {
            let mut whole = wrapped_behind_mark(&[(Look::Bad, &without_runs(why))], columns);
            whole.push(Row::default());
            self.n_refusal = whole.len();
            whole.append(&mut rows);
            rows = whole;
        }
        self.page.lay_out(rows, columns, height);
    }

    fn rows(&self, columns: usize) -> Vec<Row> {
        let heading = format!("may {} run?", self.name());
        let parts = parts::rows(self.request(), self.explanation.as_deref(), columns);
        let mut all = match parts.is_empty() {
            true => self.question.rows(&heading, columns),
            false => self.question.rows_without_parts(&heading, columns),
        };
        all.extend(parts);
        if let Some(why) = &self.request().no_always {
            let why = without_runs(&visible(why, Lines::Escape));
            let why = format!("  always  is not offered: {why}");
            all.extend(wrapped_behind_mark(&[(Look::Faint, &why)], columns));
        }
        all
    }

    /// The arguments as they are, above those that are typed.
    fn now_rows(&self, columns: usize) -> Vec<Row> {
        let mut all = vec![Row::new(Look::Strong, "its arguments are")];
        let text = arguments_text(&self.request().tool, &self.request().arguments);
        all.extend(rows(&text, &[], columns));
        all
    }

    /// An answer, which is to be told to the pod.
    pub(crate) fn reply(&mut self, answer: Answer) -> Method {
        (self.said, self.refusal) = (None, None);
        self.has_approved = !matches!(answer, Answer::Reject { .. });
        let from = std::mem::replace(&mut self.stage, Stage::Asked);
        self.stage = Stage::Replying(Box::new(from));
        self.is_stale = true;
        Method::PermissionReply(PermissionReply {
            id: self.id().clone(),
            digest: self.request().digest.clone(),
            answer,
            by: None,
        })
    }

    /// Its answer came to nothing, and it is still open: so is the form that it came from, with its text.
    pub(crate) fn refused(&mut self, why: &Refused) {
        let why = match why {
            Refused::Lost(why) => format!("whether the answer counts is not known: {why}"),
            Refused::ByPod(_) => format!("it does not count: {}", why.text()),
        };
        if let Stage::Replying(from) = std::mem::replace(&mut self.stage, Stage::Asked) {
            match *from {
                typed @ Stage::Feedback(_) => self.go_to(typed),
                from => {
                    self.stage = from;
                    self.go_back();
                }
            }
        }
        self.refusal = Some(visible(&why, Lines::Escape));
    }

    /// The answer that saves what a form says.
    pub(crate) fn always(&self, form: &Form, lasts: GrantFor) -> Answer {
        let what = form.chosen(self.request());
        Answer::Always(Always { what, lasts })
    }

    /// What was said of an `always` that was not given.
    pub(crate) fn previewed(&mut self, wish: u64, told: Result<Preview, Refused>) {
        if let Stage::Always(form) | Stage::Saved(form, _) = &mut self.stage {
            form.previewed(wish, told);
            self.is_stale = true;
        }
    }

    /// What the rules say of other arguments.
    pub(crate) fn judged(
        &mut self,
        arguments: &Map<String, Value>,
        told: Result<Box<Explanation>, String>,
    ) {
        if let Stage::Changed(changed) = &mut self.stage {
            changed.judged(arguments, told);
            self.is_stale = true;
        }
    }

    /// New arguments from what was typed.
    ///
    /// # Errors
    /// They are none: why.
    pub(crate) fn new_arguments(&self, typed: &str) -> Result<Map<String, Value>, String> {
        let request = self.request();
        if request.tool == "bash"
            && let Value::Object(arguments) = &request.arguments
        {
            let mut arguments = arguments.clone();
            arguments.insert("command".to_owned(), Value::from(typed));
            return Ok(arguments);
        }
        match serde_json::from_str(typed) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            Ok(_) => Err("the arguments are a JSON object".to_owned()),
            Err(error) => Err(format!("this is no JSON: {error}")),
        }
    }
}

/// What is typed to change arguments: the command of bash, else all of them.
pub(crate) fn arguments_text(tool: &str, arguments: &Value) -> String {
    match (tool, arguments.get("command")) {
        ("bash", Some(Value::String(command))) => command.clone(),
        _ => format!("{arguments:#}"),
    }
}
