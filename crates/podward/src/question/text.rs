//! What is asked, in full: what would run, what asks about it, and what is not known.

use podward_protocol::{
    AskReason, AskedBy, Asker, Cause, ChoicePart, Coverage, Operation, PermissionRequest, Width,
};
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthChar as _;

use super::change::{Before, change, replaced};
use super::rows::{Mark, rows};
use crate::screen::{Look, Stream};
use crate::transcript::{REPEATED, cause_text};
use crate::visible::{Lines, one_line, visible};

/// Rows of the call that are shown at first.
const ROWS_AT_FIRST: usize = 60;
/// Operations that are shown at first.
const OPERATIONS_AT_FIRST: usize = 12;
/// Characters of each of them that are shown at first.
const CHARS_AT_FIRST: usize = 400;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What fits a screen or two; what is left out is said.
    Beginning,
    /// Everything.
    All,
}

/// A question, with what is in the file that the call would write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    /// What is asked.
    pub(crate) request: PermissionRequest,
    /// What is in the file now.
    pub(crate) before: Before,
}

/// The first line of a question.
pub(crate) type Heading = String;

/// What a person sees of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Nothing was left out.
    pub(crate) is_whole: bool,
}

/// Where and how a question is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) extent: Extent,
    pub(crate) columns: usize,
    pub(crate) stream: Stream,
}

impl Question {
    /// All that an answer would be about.
    pub(crate) fn shown(&self, heading: &Heading, view: View) -> Shown {
        let request = &self.request;
        let heading = visible(heading, Lines::Escape);
        let mut text = format!("{}\n", view.stream.paint(Look::Strong, heading));
        let mut is_whole = true;

        let (main, marks, others) = self.body();
        let body = rows(&main, &marks, view.columns, view.stream);
        let n_shown = match view.extent {
            Extent::Beginning if body.len() > ROWS_AT_FIRST => ROWS_AT_FIRST,
            Extent::Beginning | Extent::All => body.len(),
        };
        for row in body.iter().take(n_shown) {
            text.push_str(&format!("{row}\n"));
        }
        if n_shown < body.len() {
            is_whole = false;
            let more = body.len() - n_shown;
            text.push_str(&format!("  … {more} more lines that are not shown yet\n"));
        }
        for (key, value) in &others {
            let value = view.fitted(&value.to_string(), &mut is_whole);
            text.push_str(&view.entry(&one_line(key, CHARS_AT_FIRST), &value));
        }
        text.push_str(&view.entry("in", &visible(&request.cwd, Lines::Escape)));
        text.push_str(&self.askers(view, &mut is_whole));
        let seen = match &request.ruling.coverage {
            Coverage::Full => "all that it would do".to_owned(),
            Coverage::Partial { why } => {
                let why = view.fitted(&why.join("; "), &mut is_whole);
                let not_all = view.stream.paint(Look::Warning, "not all that it would do");
                format!("{not_all}: {why}")
            }
        };
        text.push_str(&view.entry("seen", &seen));
        text.push_str(&self.operations(&main, view, &mut is_whole));
        if let Some(expires_at) = &request.expires_at {
            text.push_str(&view.entry("until", &format!("{expires_at}, then it is refused")));
        }
        Shown { text, is_whole }
    }

    /// The text that says most about the call, what asks in it, and the other arguments.
    fn body(&self) -> (String, Vec<Mark>, Map<String, Value>) {
        let request = &self.request;
        let mut others = match &request.arguments {
            Value::Object(arguments) => arguments.clone(),
            other => return (pretty(other), Vec::new(), Map::new()),
        };
        let mut take = |key: &str| match others.remove(key) {
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                others.insert(key.to_owned(), other);
                None
            }
            None => None,
        };
        let main = match request.tool.as_str() {
            "bash" => take("command"),
            "web_fetch" => take("url"),
            "read" | "list" => take("path"),
            "file_edit" => match (take("path"), take("old_string"), take("new_string")) {
                (Some(path), Some(old), Some(new)) => {
                    Some(format!("{path}\n{}", change(&old, &new)))
                }
                _ => return (pretty(&request.arguments), Vec::new(), Map::new()),
            },
            "file_write" => match (take("path"), take("content")) {
                (Some(path), Some(content)) => Some(self.written(&path, &content)),
                _ => return (pretty(&request.arguments), Vec::new(), Map::new()),
            },
            // A tool of another kind: all of its arguments say what it does.
            _ => None,
        };
        match main {
            Some(main) if request.tool == "bash" => {
                let marks = self.marks();
                (main, marks, others)
            }
            Some(main) => (main.trim_end_matches('\n').to_owned(), Vec::new(), others),
            None => (pretty(&request.arguments), Vec::new(), Map::new()),
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

    fn askers(&self, view: View, is_whole: &mut bool) -> String {
        let request = &self.request;
        let cause = view.fitted(&cause_text(&request.ruling), is_whole);
        let mut text = match request.reason {
            AskReason::Policy => view.entry("asks", &cause),
            AskReason::PolicyRepeated => {
                let also = view.entry("also", REPEATED);
                format!("{}{also}", view.entry("asks", &cause))
            }
            AskReason::Repeated => return view.entry("asks", &cause),
            AskReason::Resumed => {
                let why = "it waited for an answer when the session was cut off; by now: ";
                return view.entry("asks", &format!("{why}{cause}"));
            }
        };
        let said = layer_of(&request.ruling.cause);
        let mut seen: Vec<String> = Vec::new();
        for one in &request.asking {
            let is_said = Some(one.operation) == request.ruling.operation
                && said == Some(one.asker.layer.as_str());
            if is_said {
                continue;
            }
            let operation = request.operations.get(one.operation);
            let about = operation.map_or(String::new(), |operation| {
                format!(", about {} `{}`", operation.tool, what(operation))
            });
            let line = format!("{}{about}", asker_text(&one.asker));
            if !seen.contains(&line) {
                text.push_str(&view.entry("also", &view.fitted(&line, is_whole)));
                seen.push(line);
            }
        }
        text
    }

    /// What the call would do, unless its own text is all of it.
    fn operations(&self, main: &str, view: View, is_whole: &mut bool) -> String {
        let operations = &self.request.operations;
        if let [only] = operations.as_slice()
            && only.text == main
            && only.partial.is_empty()
        {
            return String::new();
        }
        let asking = self.asking();
        let mut text = String::new();
        let mut n_left = 0_usize;
        for (idx, operation) in operations.iter().enumerate() {
            let is_asking = asking.contains(&idx);
            if view.extent == Extent::Beginning && idx >= OPERATIONS_AT_FIRST && !is_asking {
                n_left += 1;
                continue;
            }
            let mark = if is_asking { '>' } else { ' ' };
            let shown = view.fitted(&what(operation), is_whole);
            let name = if text.is_empty() { "does" } else { "" };
            text.push_str(&view.entry(name, &format!("{mark} {}  {shown}", operation.tool)));
        }
        if n_left > 0 {
            *is_whole = false;
            text.push_str(&view.entry("", &format!("  … {n_left} more that do not ask")));
        }
        text
    }
}

/// Columns in front of the text of an entry.
const INDENT: usize = 10;

/// The least columns that the text of an entry gets.
const MIN_COLUMNS: usize = 20;

impl View {
    /// A text with its name in front, in rows that end between words; only a longer word is broken, by the
    /// terminal.
    fn entry(self, name: &str, text: &str) -> String {
        let room = self.columns.saturating_sub(INDENT).max(MIN_COLUMNS);
        let mut entry = format!("  {name:<7} ");
        let mut n_columns: Option<usize> = None;
        for word in text.split(' ') {
            let width = columns_of(word);
            n_columns = Some(match n_columns {
                None => width,
                Some(before) if before + 1 + width <= room => {
                    entry.push(' ');
                    before + 1 + width
                }
                Some(_) => {
                    entry.push('\n');
                    entry.push_str(&" ".repeat(INDENT));
                    width
                }
            });
            entry.push_str(word);
        }
        entry.push('\n');
        entry
    }

    /// A text in one line, cut at first, and never without saying so.
    fn fitted(self, text: &str, is_whole: &mut bool) -> String {
        let whole = visible(text, Lines::Escape);
        match self.extent {
            Extent::All => whole,
            Extent::Beginning => {
                let shown = one_line(text, CHARS_AT_FIRST);
                *is_whole &= shown == whole;
                shown
            }
        }
    }
}

/// Where an "always" counts that is given about a copy of the workspace.
pub(crate) fn always_in(workspace: &str) -> String {
    let workspace = visible(workspace, Lines::Escape);
    format!("this pod works on a copy: an `always` also counts in `{workspace}` itself\n")
}

/// What one `always` would save, one line a part.
pub(crate) fn parts_text(parts: &[ChoicePart]) -> Vec<String> {
    let part = |part: &ChoicePart| {
        let pattern = visible(&part.pattern, Lines::Escape);
        format!("{}  `{pattern}`  ({})", part.tool, width_text(part.width))
    };
    parts.iter().map(part).collect()
}

/// How wide a pattern is.
const fn width_text(width: Width) -> &'static str {
    match width {
        Width::Exact => "only this",
        Width::Similar => "the same, with other numbers and names of temporary files",
        Width::Subcommand => "this subcommand, whatever follows",
        Width::Program => "this program, whatever follows",
        Width::File => "this file",
        Width::Directory => "all below this directory",
        Width::Url => "this URL",
        Width::Host => "this host, from here on down",
        Width::SameArguments => "with the same arguments",
        Width::Tool => "whatever its arguments are",
    }
}

/// What asks, without its place.
fn asker_text(asker: &Asker) -> String {
    let layer = &asker.layer;
    match &asker.by {
        AskedBy::Rule { tool, pattern } => format!("rule `{pattern}` for {tool} of {layer}"),
        AskedBy::Default => format!("default of {layer}"),
        AskedBy::Unresolved => format!("`unresolved` of {layer}"),
        AskedBy::Unnamed => {
            format!("the address is not public, and no rule of {layer} names it")
        }
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

fn what(operation: &Operation) -> String {
    match &operation.why {
        Some(why) => format!("unknown code: {why}"),
        None => operation.text.clone(),
    }
}

/// How many columns a text takes, without what colours it.
fn columns_of(text: &str) -> usize {
    let mut is_escape = false;
    let mut n_columns = 0;
    for c in text.chars() {
        match (c, is_escape) {
            ('\u{1b}', _) => is_escape = true,
            ('m', true) => is_escape = false,
            (_, true) => {}
            (c, false) => n_columns += c.width().unwrap_or(1),
        }
    }
    n_columns
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests;
