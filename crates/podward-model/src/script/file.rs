//! A script as it is written, and as it is used.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::ScriptError;
use super::template::Template;
use crate::event::Usage;

/// The longest text that one step may stream, in bytes.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// Characters of one delta unless the step says otherwise.
const CHUNK: NonZeroUsize = NonZeroUsize::new(24).unwrap();

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    step: Vec<RawStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    label: Option<Spanned<String>>,
    thinking: Option<Spanned<String>>,
    text: Option<Spanned<String>>,
    repeat: Option<NonZeroUsize>,
    chunk: Option<NonZeroUsize>,
    #[serde(default)]
    call: Vec<RawCall>,
    #[serde(default)]
    next: Vec<RawNext>,
    usage: Option<Usage>,
    #[serde(default)]
    end: End,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    tool: String,
    input: Option<Spanned<Value>>,
    raw: Option<Spanned<String>>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNext {
    goto: Spanned<String>,
    call: Option<Spanned<usize>>,
    is_error: Option<bool>,
    contains: Option<String>,
    lacks: Option<String>,
    prompt_contains: Option<String>,
}

/// How a step's answer ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// As it should.
    #[default]
    Normal,
    /// As an answer that reached its token limit.
    MaxTokens,
    /// The stream ends in the middle of the last call, without a stop.
    Cut,
    /// The stream fails in the middle of the last call.
    Error,
    /// Text without end.
    Endless,
    /// Nothing more comes, and the stream stays open.
    Hang,
}

/// One answer of the model.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) label: Option<String>,
    pub(super) thinking: Option<Template>,
    pub(super) text: Option<Template>,
    pub(super) repeat: usize,
    pub(super) chunk: NonZeroUsize,
    pub(super) calls: Vec<ScriptedCall>,
    pub(super) next: Vec<Next>,
    pub(super) usage: Option<Usage>,
    pub(super) end: End,
}

#[derive(Debug)]
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    pub(super) input: Input,
    pub(super) id: Option<String>,
}

#[derive(Debug)]
pub(super) enum Input {
    /// Arguments whose strings are templates.
    Json(InputValue),
    /// The JSON text itself, which need not be JSON.
    Raw(Template),
}

#[derive(Debug)]
pub(super) enum InputValue {
    Text(Template),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// Null, a bool or a number.
    Plain(Value),
}

/// Where the script goes on, if all conditions hold.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) goto: usize,
    pub(super) call: Option<usize>,
    pub(super) is_error: Option<bool>,
    pub(super) contains: Option<String>,
    pub(super) lacks: Option<String>,
    pub(super) prompt_contains: Option<String>,
}

/// Reads a script.
pub(super) fn read(text: &str) -> Result<Vec<Step>, Vec<ScriptError>> {
    let raw: RawScript = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![ScriptError::at(text, span, error.message())]
    })?;
    let mut reader = Reader {
        text,
        labels: BTreeMap::new(),
        errors: Vec::new(),
    };
    if raw.step.is_empty() {
        reader.error(0..0, "a script has at least one `[[step]]`");
    }
    for (idx, step) in raw.step.iter().enumerate() {
        reader.label(idx, step);
    }
    let steps = raw.step.into_iter().map(|step| reader.step(step)).collect();
    if reader.errors.is_empty() {
        Ok(steps)
    } else {
        Err(reader.errors)
    }
}

struct Reader<'a> {
    text: &'a str,
    labels: BTreeMap<String, usize>,
    errors: Vec<ScriptError>,
}

impl Reader<'_> {
    fn error(&mut self, span: Range<usize>, message: &str) {
        self.errors.push(ScriptError::at(self.text, span, message));
    }

    fn label(&mut self, idx: usize, step: &RawStep) {
        let Some(label) = &step.label else { return };
        let name = label.get_ref();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(is_name) {
            self.error(
                label.span(),
                "a label has only letters, digits, `_` and `-`",
            );
        } else if self.labels.insert(name.clone(), idx).is_some() {
            self.error(label.span(), &format!("a second step `{name}`"));
        }
    }

    fn step(&mut self, raw: RawStep) -> Step {
        let repeat = raw.repeat.map_or(1, NonZeroUsize::get);
        if let Some(text) = &raw.text
            && text.get_ref().len().saturating_mul(repeat) > MAX_TEXT
        {
            self.error(text.span(), "repeated so often, the text is over 64 MiB");
        }
        let n_calls = raw.call.len();
        Step {
            label: raw.label.map(Spanned::into_inner),
            thinking: raw
                .thinking
                .map(|text| self.template(text.span(), text.get_ref())),
            text: raw
                .text
                .map(|text| self.template(text.span(), text.get_ref())),
            repeat,
            chunk: raw.chunk.unwrap_or(CHUNK),
            calls: raw.call.into_iter().map(|call| self.call(call)).collect(),
            next: raw
                .next
                .into_iter()
                .map(|next| self.next(next, n_calls))
                .collect(),
            usage: raw.usage,
            end: raw.end,
        }
    }

    fn call(&mut self, raw: RawCall) -> ScriptedCall {
        let input = match (raw.input, raw.raw) {
            (Some(input), None) => {
                let span = input.span();
                Input::Json(self.value(&span, input.into_inner()))
            }
            (None, Some(raw)) => Input::Raw(self.template(raw.span(), raw.get_ref())),
            (None, None) => Input::Json(InputValue::Object(Vec::new())),
            (Some(_), Some(raw)) => {
                self.error(raw.span(), "a call has `input` or `raw`, not both");
                Input::Json(InputValue::Object(Vec::new()))
            }
        };
        ScriptedCall {
            tool: raw.tool,
            input,
            id: raw.id,
        }
    }

    fn value(&mut self, span: &Range<usize>, value: Value) -> InputValue {
        match value {
            Value::String(text) => InputValue::Text(self.template(span.clone(), &text)),
            Value::Array(values) => {
                let values = values.into_iter().map(|value| self.value(span, value));
                InputValue::List(values.collect())
            }
            Value::Object(values) => {
                let values = values
                    .into_iter()
                    .map(|(key, value)| (key, self.value(span, value)));
                InputValue::Object(values.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => InputValue::Plain(value),
        }
    }

    fn template(&mut self, span: Range<usize>, text: &str) -> Template {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(message) => {
                self.error(span, &message);
                return Template::empty();
            }
        };
        for label in template.labels() {
            if !self.labels.contains_key(label) {
                self.error(span.clone(), &format!("no step has the label `{label}`"));
            }
        }
        template
    }

    fn next(&mut self, raw: RawNext, n_calls: usize) -> Next {
        let goto = self.labels.get(raw.goto.get_ref()).copied();
        if goto.is_none() {
            let label = raw.goto.get_ref().escape_debug();
            self.error(raw.goto.span(), &format!("no step has the label `{label}`"));
        }
        if let Some(call) = &raw.call
            && !(1..=n_calls).contains(call.get_ref())
        {
            self.error(
                call.span(),
                &format!("the step has {n_calls} calls, counted from 1"),
            );
        }
        Next {
            goto: goto.unwrap_or_default(),
            call: raw.call.map(Spanned::into_inner),
            is_error: raw.is_error,
            contains: raw.contains,
            lacks: raw.lacks,
            prompt_contains: raw.prompt_contains,
        }
    }
}
