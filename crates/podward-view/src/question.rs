//! What is asked, in full: what would run, what asks about it, and what is not known.

mod entries;
mod given;
mod skill;

use std::borrow::Cow;

use podward_protocol::{
    AskReason, AskedBy, Asker, Cause, ChoicePart, Coverage, Explanation, Operation,
    PermissionRequest, Width,
};
use serde_json::{Map, Value};

use self::entries::View;
pub use self::given::{given_text, in_words};
use crate::change::{Before, Edit, Places, change, replaced};
use crate::progress::verdict_word;
use crate::rows::{Kind, Look, MIN_COLUMNS, Mark, Row, rows_of};
use crate::visible::{Lines, visible};
use crate::wording::{
    REPEATED, cause_text, counted, each_once, operation_text, pods_text, unnamed_text,
};
use crate::wrapping::wrapped;

/// A question, with what is in the file that the call would write.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What is asked.
    pub request: PermissionRequest,
    /// What is in the file now.
    pub before: Before,
}

/// What a call says that matters most, and what else it says.
struct Body {
    text: String,
    kind: Kind,
    /// What asks in the text.
    marks: Vec<Mark>,
    /// The other arguments.
    others: Map<String, Value>,
}

impl Body {
    /// All arguments, as they are.
    fn all(arguments: &Value) -> Self {
        Self {
            text: pretty(arguments),
            kind: Kind::Text,
            marks: Vec::new(),
            others: Map::new(),
        }
    }
}

impl Question {
    /// All that an answer would be about, in rows of at most so many columns below a heading; each part of
    /// the call stands there once.
    #[must_use]
    pub fn rows(&self, heading: &str, columns: usize) -> Vec<Row> {
        let view = View { columns };
        let mut all = self.above(heading, columns);
        all.extend(self.operations(&self.body().text, view));
        all.extend(self.until(view));
        all
    }

    /// The same, where what the call would do is told part by part below it.
    #[must_use]
    pub fn rows_without_parts(&self, heading: &str, columns: usize) -> Vec<Row> {
        let mut all = self.above(heading, columns);
        all.extend(self.until(View { columns }));
        all
    }

    /// When it ends by itself.
    fn until(&self, view: View) -> Vec<Row> {
        let expires_at = self.request.expires_at.as_ref();
        let until = expires_at.map(|at| view.entry("until", &format!("{at}, then it is refused")));
        until.unwrap_or_default()
    }

    /// All of the call with other arguments below a heading, and what the rules say of them where that is
    /// known.
    #[must_use]
    pub fn edited_rows(
        &self,
        heading: &str,
        arguments: &Map<String, Value>,
        explanation: Option<&Explanation>,
        columns: usize,
    ) -> Vec<Row> {
        let view = View { columns };
        let mut edited = self.clone();
        let request = &mut edited.request;
        if request.arguments.get("path") != arguments.get("path") {
            edited.before = Before::Unknown;
        }
        if request.arguments.get("name") != arguments.get("name") {
            request.skill = None;
        }
        request.arguments = Value::Object(arguments.clone());
        request.asking.clear();
        request.operations.clear();
        request.ruling.operation = None;
        if let Some(explanation) = explanation {
            let operations = explanation.operations.iter();
            request.operations = operations.map(|one| one.operation.clone()).collect();
            request.ruling = explanation.ruling.clone();
        }
        let mut all = edited.call(heading, view);
        let Some(explanation) = explanation else {
            return all;
        };
        all.extend(edited.operations(&edited.body().text, view));
        let (look, word) = verdict_word(explanation.ruling.verdict);
        let why = visible(&cause_text(&explanation.ruling), Lines::Escape);
        let why = format!(", by {why}");
        let says = [(look, word), (Look::Plain, &*why)];
        all.extend(view.entry_of("rules", &says));
        all.extend(edited.seen(view));
        all
    }

    fn above(&self, heading: &str, columns: usize) -> Vec<Row> {
        let view = View { columns };
        let mut all = self.call(heading, view);
        all.extend(self.askers(view));
        all.extend(self.seen(view));
        all
    }

    /// The call itself below a heading.
    fn call(&self, heading: &str, view: View) -> Vec<Row> {
        let columns = view.columns;
        let request = &self.request;
        let heading = visible(heading, Lines::Escape);
        let mut all = wrapped(&[(Look::Strong, &heading)], columns.max(MIN_COLUMNS));
        let body = self.body();
        all.extend(rows_of(&body.text, &body.marks, body.kind, columns));
        for (key, value) in &body.others {
            let value = visible(&value.to_string(), Lines::Escape);
            all.extend(view.entry(&visible(key, Lines::Escape), &value));
        }
        all.extend(self.skill(view));
        if !request.path.is_empty() {
            all.extend(view.entry("pod", &pods_text(&request.path, &request.pod)));
        }
        all.extend(view.entry("in", &visible(&request.cwd, Lines::Escape)));
        if let Some(call) = &request.part_of {
            let call = visible(call.as_str(), Lines::Escape);
            let of = format!("the call `{call}`, which runs and turned out to need this");
            all.extend(view.entry("part of", &of));
        }
        for (idx, address) in request.redirected_from.iter().enumerate() {
            let name = if idx == 0 { "from" } else { "" };
            let address = visible(address, Lines::Escape);
            all.extend(view.entry(name, &format!("{address}, which redirects")));
        }
        all
    }

    /// Whether all that it would do was understood.
    fn seen(&self, view: View) -> Vec<Row> {
        match &self.request.ruling.coverage {
            Coverage::Full => view.entry("seen", "all that it would do"),
            Coverage::Partial { why } => {
                let why = format!(" {}", visible(&why.join("; "), Lines::Escape));
                let seen = [
                    (Look::Warning, "not all that it would do:"),
                    (Look::Plain, &why),
                ];
                view.entry_of("seen", &seen)
            }
        }
    }

    fn body(&self) -> Body {
        let request = &self.request;
        let Value::Object(arguments) = &request.arguments else {
            return Body::all(&request.arguments);
        };
        let mut others = arguments.clone();
        let mut take = |key: &str| match others.remove(key) {
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                others.insert(key.to_owned(), other);
                None
            }
            None => None,
        };
        let main = match request.tool.as_str() {
            "bash" => take("command").map(|command| (command, Kind::Text)),
            "web_fetch" => take("url").map(|url| (url, Kind::Text)),
            "read" | "list" => take("path").map(|path| (path, Kind::Text)),
            "file_edit" => match (take("path"), take("old_string"), take("new_string")) {
                (Some(path), Some(old), Some(new)) => {
                    let all = request.arguments.get("replace_all") == Some(&Value::Bool(true));
                    let edit = Edit {
                        old: &old,
                        new: &new,
                        places: if all { Places::All } else { Places::TheOnlyOne },
                    };
                    Some((edit.text(&path, &self.before), Kind::Change))
                }
                _ => None,
            },
            "file_write" => match (take("path"), take("content")) {
                (Some(path), Some(content)) => Some((self.written(&path, &content), Kind::Change)),
                _ => None,
            },
            // A tool of another kind: all of its arguments say what it does.
            _ => None,
        };
        match main {
            Some((text, kind)) if request.tool == "bash" => Body {
                text,
                kind,
                marks: self.marks(),
                others,
            },
            Some((text, kind)) => Body {
                text: text.trim_end_matches('\n').to_owned(),
                kind,
                marks: Vec::new(),
                others,
            },
            None => Body::all(&request.arguments),
        }
    }

    fn written(&self, path: &str, content: &str) -> String {
        match &self.before {
            Before::Text(old) if old == content => format!("{path}\n(nothing in it changes)"),
            Before::Text(old) => format!("{path}\n{}", change(old, content)),
            Before::Missing => format!("{path}  (a new file)\n{}", replaced("", content)),
            Before::Other(what) => format!("{path}  ({what})\n{}", replaced("", content)),
            Before::Unknown => format!("{path}\n{}", replaced("", content)),
        }
    }

    /// The parts of a command line that ask.
    fn marks(&self) -> Vec<Mark> {
        let operations = &self.request.operations;
        let spans = self.asking().into_iter().filter_map(|idx| {
            let span = operations.get(idx)?.span?;
            Some(span.start..span.end)
        });
        spans.collect()
    }

    /// The operations that ask, in their order.
    fn asking(&self) -> Vec<usize> {
        let request = &self.request;
        let mut asking: Vec<usize> = request.asking.iter().map(|one| one.operation).collect();
        asking.extend(request.ruling.operation);
        asking.sort_unstable();
        asking.dedup();
        asking
    }

    /// What asks: first what the verdict hangs on, then each other asker once.
    fn askers(&self, view: View) -> Vec<Row> {
        let request = &self.request;
        let cause = visible(&cause_text(&request.ruling), Lines::Escape);
        let mut all = match request.reason {
            AskReason::Policy => view.entry("asks", &cause),
            AskReason::PolicyRepeated => {
                let mut all = view.entry("asks", &cause);
                all.extend(view.entry("also", REPEATED));
                all
            }
            AskReason::Repeated => return view.entry("asks", &cause),
            AskReason::Resumed => {
                let why =
                    "it waited for an answer when the session was cut off; by now it is allowed: ";
                return view.entry("asks", &format!("{why}{cause}"));
            }
        };
        let said = layer_of(&request.ruling.cause);
        let is_said = |operation: usize, asker: &Asker| {
            Some(operation) == request.ruling.operation && said == Some(asker.layer.as_str())
        };
        let mut first: Option<&Asker> = None;
        let mut groups: Vec<(&Asker, Vec<usize>)> = Vec::new();
        for one in &request.asking {
            if is_said(one.operation, &one.asker) {
                first = first.or(Some(&one.asker));
                continue;
            }
            match groups.iter_mut().find(|(asker, _)| **asker == one.asker) {
                Some((_, operations)) if operations.contains(&one.operation) => {}
                Some((_, operations)) => operations.push(one.operation),
                None => groups.push((&one.asker, vec![one.operation])),
            }
        }
        for (asker, operations) in groups {
            let text = match first == Some(asker) {
                true => self.more_of(asker, &operations),
                false => format!("{}, about {}", asker_text(asker), self.named(&operations)),
            };
            all.extend(view.entry("also", &visible(&text, Lines::Escape)));
        }
        all
    }

    /// Further parts of the call that ask by what was said already.
    fn more_of(&self, asker: &Asker, operations: &[usize]) -> String {
        let by = match asker.by {
            AskedBy::Rule { .. } => "by the same rule",
            AskedBy::Default => "by the same default",
            AskedBy::Unresolved => "by the same `unresolved`",
            AskedBy::Unnamed => "for the same reason",
        };
        let word = format!("more {}", self.word_for(operations));
        format!("{}, {by}", counted(operations.len(), &word))
    }

    /// The parts of the call that somebody asks about.
    fn named(&self, operations: &[usize]) -> String {
        let all = self.asking();
        if operations.len() > 1 && operations.len() == all.len() {
            let word = self.word_for(operations);
            return format!("all {}", counted(operations.len(), word));
        }
        let named = operations.iter().filter_map(|idx| {
            let operation = self.request.operations.get(*idx)?;
            Some(format!(
                "{} `{}`",
                operation.tool,
                operation_text(operation)
            ))
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// The word for each of some parts of the call.
    fn word_for(&self, operations: &[usize]) -> &'static str {
        let is_command = |idx: &usize| {
            let operation = self.request.operations.get(*idx);
            operation.is_some_and(|operation| operation.tool == "bash")
        };
        match operations.iter().all(is_command) {
            true => "command",
            false => "part",
        }
    }

    /// What the call would do beside what its own text says word for word.
    fn operations(&self, main: &str, view: View) -> Vec<Row> {
        let asking = self.asking();
        let operations = &self.request.operations;
        let mut n_written = 0_usize;
        let mut texts = Vec::new();
        for (idx, operation) in operations.iter().enumerate() {
            if is_written(operation, main, operations.len()) {
                n_written += 1;
                continue;
            }
            let mark = if asking.contains(&idx) { '>' } else { ' ' };
            let shown = visible(&operation_text(operation), Lines::Escape);
            texts.push(format!("{mark} {}  {shown}", operation.tool));
        }
        let mut all = Vec::new();
        if n_written > 0 && !texts.is_empty() {
            all.extend(view.entry("does", "  what stands above, and"));
        }
        for text in each_once(texts) {
            let name = if all.is_empty() { "does" } else { "" };
            all.extend(view.entry(name, &text));
        }
        all
    }
}

/// Whether the call's own text says word for word what an operation does.
fn is_written(operation: &Operation, main: &str, n_operations: usize) -> bool {
    let says = |text: &str| text == operation.text || Some(text) == operation.spelled.as_deref();
    let is_all = n_operations == 1 && says(main);
    let is_part = || {
        let span = operation.span.filter(|_| operation.tool == "bash");
        let part = span.and_then(|span| main.get(span.start..span.end));
        operation.known && part.is_some_and(says)
    };
    let says_all = operation.why.is_none() && operation.leads_to.is_none();
    says_all && operation.partial.is_empty() && (is_all || is_part())
}

/// Where an "always" counts that is given about a copy of the workspace.
#[must_use]
pub fn always_in(workspace: &str) -> String {
    let workspace = visible(workspace, Lines::Escape);
    format!("this pod works on a copy: an `always` also counts in `{workspace}` itself")
}

/// What one `always` would save, one line a part; `choice` is its place among the choices.
#[must_use]
pub fn parts_text(request: &PermissionRequest, choice: usize) -> Vec<String> {
    let parts = request.choices.get(choice).map(|choice| &choice.parts);
    let line = |part: &ChoicePart| {
        let operation = request.operations.get(part.operation);
        let spelled = operation.and_then(|operation| operation.spelled.as_ref());
        // The pattern has no quotes.
        let spelled = spelled.filter(|_| part.width == Width::Exact);
        let pattern = visible(spelled.unwrap_or(&part.pattern), Lines::Escape);
        // That the narrowest one is so wide has to be said.
        let is_known = operation.is_none_or(|operation| operation.known);
        let is_wide = matches!(part.width, Width::Subcommand | Width::Program);
        let narrowest = match (choice, is_known) {
            (0, false) => "; nothing narrower: a part of it is not known before it runs",
            (0, true) if is_wide => {
                "; nothing narrower: what it reads, or where it runs, is not known before it does"
            }
            _ => "", // or there is one, further up
        };
        let width = width_text(part);
        format!("{}  `{pattern}`  ({width}{narrowest})", part.tool)
    };
    parts.into_iter().flatten().map(line).collect()
}

/// How wide a pattern is. What is said of one for commands is checked in podward-tools
/// (`a_saved_choice_covers_no_more_than_it_says`).
#[must_use]
pub fn width_text(part: &ChoicePart) -> Cow<'static, str> {
    let there = || {
        let place = match &*part.given.directories {
            [] => "in this directory".to_owned(),
            names => format!("in {}", in_words(names)),
        };
        place + &given_text(&part.given)
    };
    let width = match part.width {
        Width::Exact => return format!("only this, {}", there()).into(),
        Width::Similar => {
            return format!(
                "the same {}, with any number (or word that begins like one) and any path below /tmp \
                 where there is one now",
                there()
            )
            .into();
        }
        Width::Subcommand => "this subcommand, whatever follows",
        Width::Program => "this program, whatever follows",
        Width::File if matches!(&*part.tool, "list" | "glob" | "grep") => "this path",
        Width::File => "this file",
        Width::Directory => "all below this directory",
        Width::Url => "this URL",
        Width::Host => "this host, from here on down",
        Width::SameArguments if part.tool == "skill" => "this skill, whatever it is told",
        Width::SameArguments => "with the same arguments",
        Width::Tool => "whatever its arguments are",
    };
    width.into()
}

/// What asks, without its place.
fn asker_text(asker: &Asker) -> String {
    let layer = &asker.layer;
    match &asker.by {
        AskedBy::Rule { tool, pattern } => format!("rule `{pattern}` for {tool} of {layer}"),
        AskedBy::Default => format!("default of {layer}"),
        AskedBy::Unresolved => format!("`unresolved` of {layer}"),
        AskedBy::Unnamed => unnamed_text(layer),
    }
}

/// The layer that a cause names.
fn layer_of(cause: &Cause) -> Option<&str> {
    match cause {
        Cause::Rule { layer, .. }
        | Cause::Default { layer, .. }
        | Cause::Unresolved { layer, .. }
        | Cause::Unnamed { layer } => Some(layer),
        Cause::NoPolicy
        | Cause::NothingToRun
        | Cause::Unrestricted
        | Cause::Skill { .. }
        | Cause::SkillFiles { .. }
        | Cause::Repeated
        | Cause::BadCall { .. }
        | Cause::UnknownTool
        | Cause::NotJudged => None,
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests;
