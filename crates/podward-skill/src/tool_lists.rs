//! The tools that a skill lists, as they are written.

use podward_policy::ByteSpan;

use crate::problem::{Gravity, Problem};
use crate::tokens::{Token, tokens};
use crate::yaml::{Node, Value};

/// Longer lists are refused: each entry becomes a rule.
const MOST_ENTRIES: usize = 256;

/// What a skill lists: it can only take tools away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolLists {
    /// `allowed-tools`.
    pub allowed: Allowed,
    /// `disallowed-tools`; refused whatever else is listed.
    pub disallowed: Vec<ToolEntry>,
}

/// `allowed-tools`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allowed {
    /// The key is absent: every tool, as far as the rules go.
    #[default]
    NotRestricted,
    /// These and no others. Empty: none.
    Only(Vec<ToolEntry>),
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    /// The entry, its runs of blanks outside quotes as one blank.
    pub written: Box<str>,
    /// The tool's name as written.
    pub name: Box<str>,
    /// What stands in the parentheses, if there are any.
    pub argument: Option<Box<str>>,
    /// Its bytes in the file.
    pub span: ByteSpan,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1, counted in characters.
    pub column: u32,
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// `allowed-tools`.
    Allowed,
    /// `disallowed-tools`.
    Disallowed,
}

impl ListKind {
    /// The key.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Allowed => "allowed-tools",
            Self::Disallowed => "disallowed-tools",
        }
    }
}

impl ToolLists {
    /// No tool at all: what stands for lists that cannot be read.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            allowed: Allowed::Only(Vec::new()),
            disallowed: Vec::new(),
        }
    }

    /// Whether no tool is taken away.
    #[must_use]
    pub fn restricts_nothing(&self) -> bool {
        self.allowed == Allowed::NotRestricted && self.disallowed.is_empty()
    }

    /// The entries of a list.
    #[must_use]
    pub fn entries(&self, list: ListKind) -> &[ToolEntry] {
        match (list, &self.allowed) {
            (ListKind::Allowed, Allowed::Only(entries)) => entries,
            (ListKind::Allowed, Allowed::NotRestricted) => &[],
            (ListKind::Disallowed, _) => &self.disallowed,
        }
    }
}

/// Reads the value of a key that lists tools; what cannot be read is an error in `problems`.
pub(crate) fn entries(
    list: ListKind,
    node: &Node,
    text: &str,
    problems: &mut Vec<Problem>,
) -> Vec<ToolEntry> {
    let key = list.key();
    let n_before = problems.len();
    let mut read = Vec::new();
    match &node.value {
        Value::Scalar { text: value, .. } if is_null(node) || value.trim().is_empty() => {}
        Value::Scalar { text: value, .. } => {
            add(&mut read, value, node.span, text, problems);
        }
        Value::Sequence(items) => {
            for item in items {
                match &item.value {
                    Value::Scalar { text: value, .. } => {
                        add(&mut read, value, item.span, text, problems);
                    }
                    Value::Sequence(_) | Value::Mapping(_) => problems.push(Problem::error(
                        item.span,
                        format!("an item of `{key}` is no text"),
                        "write each item as a tool's name; put it in quotes if it holds `: `",
                    )),
                }
            }
        }
        Value::Mapping(_) => problems.push(Problem::error(
            node.span,
            format!("`{key}` is neither a text nor a list"),
            "write `Read Grep Bash(git:*)`, or one `- item` a line",
        )),
    }
    if read.len() > MOST_ENTRIES {
        problems.push(Problem::error(
            node.span,
            format!("`{key}` has more than {MOST_ENTRIES} entries"),
            "name tools by patterns, such as `Bash(git:*)` or `mcp__github__*`",
        ));
        read.truncate(MOST_ENTRIES);
    }
    if read.is_empty() && problems.len() == n_before {
        problems.push(empty(list, node));
    }
    read
}

fn empty(list: ListKind, node: &Node) -> Problem {
    let (message, help) = match list {
        ListKind::Allowed => (
            "`allowed-tools` is empty: no tool may be called while the skill runs",
            "leave the key out if the skill may use every tool",
        ),
        ListKind::Disallowed => (
            "`disallowed-tools` is empty: it takes no tool away",
            "leave the key out, or name the tools",
        ),
    };
    Problem::new(Gravity::Hint, node.span, message, help)
}

/// Nothing, `~` or `null` behind the colon.
fn is_null(node: &Node) -> bool {
    matches!(
        &node.value,
        Value::Scalar { text, is_plain: true }
            if matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
    )
}

/// Adds the entries of one text.
fn add(
    read: &mut Vec<ToolEntry>,
    value: &str,
    span: ByteSpan,
    text: &str,
    problems: &mut Vec<Problem>,
) {
    let mut from = span.start;
    for Token { range, content } in tokens(value) {
        // One more than there may be says that there are too many.
        if read.len() > MOST_ENTRIES || problems.len() > MOST_ENTRIES {
            return;
        }
        let written = value.get(range).unwrap_or_default();
        // The value of a folded or escaped text is not what the file holds, but an entry mostly is.
        let found = text
            .get(from..span.end)
            .and_then(|rest| rest.find(written))
            .map(|n_bytes| ByteSpan::new(from + n_bytes..from + n_bytes + written.len()));
        let at = found.unwrap_or(span);
        from = found.map_or(from, |found| found.end);
        match content {
            Ok(content) => {
                let (line, column) = line_and_column(text, at.start);
                read.push(ToolEntry {
                    written: one_blank_each(written).into(),
                    name: content.name.into(),
                    argument: content.argument.map(|text| one_blank_each(text).into()),
                    span: at,
                    line,
                    column,
                });
            }
            Err(problem) => problems.push(Problem::error(at, problem.message(), problem.help())),
        }
    }
}

/// The text with each run of blanks outside quotes as one blank, and none at its ends: a value
/// that YAML folds has line ends where its author saw none.
fn one_blank_each(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut quote = None;
    for c in text.trim().chars() {
        quote = match (c, quote) {
            ('"' | '\'', None) => Some(c),
            (c, Some(open)) if c == open => None,
            (_, quote) => quote,
        };
        match (c.is_whitespace(), quote) {
            (true, None) if plain.ends_with(' ') => {}
            (true, None) => plain.push(' '),
            _ => plain.push(c),
        }
    }
    plain
}

fn line_and_column(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or_default();
    let before = before.strip_prefix('\u{feff}').unwrap_or(before);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before
        .chars()
        .rev()
        .take_while(|c| !matches!(c, '\n' | '\r'))
        .count()
        + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}
