//! The manifest that results from all layers, setting by setting, each with its origin.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use podward_policy::{LayerName, Location};
use unicode_width::UnicodeWidthStr;

use crate::diagnostic::visible_line;

/// Every setting of the joined layers, in the order of the reference manifest; the permissions of
/// each layer last, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effective {
    lines: Vec<EffectiveLine>,
}

/// One setting or rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveLine {
    /// The table: `limits`.
    pub table: &'static str,
    /// The key in its table: `max_steps`; each rule, and each entry of a list of roots, is a line
    /// of its own with the list's key.
    pub key: Cow<'static, str>,
    /// The value as TOML.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// No layer sets it.
    Default,
    /// A layer sets it.
    Written {
        /// The layer.
        layer: LayerName,
        /// The place of the key or rule.
        location: Location,
    },
    /// It is the built-in meaning of what this layer left out of its `[permissions]`.
    Implied {
        /// The layer.
        layer: LayerName,
    },
}

impl Origin {
    /// The layer, if one is involved.
    #[must_use]
    pub const fn layer(&self) -> Option<&LayerName> {
        match self {
            Self::Default => None,
            Self::Written { layer, .. } | Self::Implied { layer } => Some(layer),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Written { layer, location } => {
                write!(f, "{layer}, {}", visible_line(&location.to_string()))
            }
            Self::Implied { layer } => write!(f, "{layer}, implied"),
        }
    }
}

impl Effective {
    pub(crate) const fn new(lines: Vec<EffectiveLine>) -> Self {
        Self { lines }
    }

    /// The settings in order.
    #[must_use]
    pub fn lines(&self) -> &[EffectiveLine] {
        &self.lines
    }
}

/// Keys whose lines are the items of one list.
const LISTS: &[(&str, &str)] = &[
    ("model", "allow"),
    ("permissions", "rule"),
    ("scope", "allow"),
    ("scope", "deny"),
    ("programs", "files"),
];

/// A line longer than this does not push the comments of its section away.
const MOST_COLUMNS: usize = 72;

/// TOML with the origin of every line as its comment. With `[permissions]` in at most one layer it
/// is a manifest that says the same.
impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = rows(&self.lines);
        // The lines of a section share a column for their comments.
        for section in rows.chunk_by(|row, _| !row.text.is_empty()) {
            let width = |row: &Row| row.text.width();
            let commented = section.iter().filter(|row| row.origin.is_some());
            let widths = commented.map(width).filter(|width| *width <= MOST_COLUMNS);
            let column = widths.max().unwrap_or(0);
            for row in section {
                match &row.origin {
                    Some(origin) => {
                        let pad = column.saturating_sub(width(row));
                        writeln!(f, "{}{:pad$}  # {origin}", row.text, "")?;
                    }
                    None => writeln!(f, "{}", row.text)?,
                }
            }
        }
        Ok(())
    }
}

/// A line of the text form.
struct Row {
    text: String,
    origin: Option<Origin>,
}

fn rows(lines: &[EffectiveLine]) -> Vec<Row> {
    let bare = |text: String| Row { text, origin: None };
    let mut rows = Vec::new();
    let mut section = None;
    let mut open_list: Option<&str> = None;
    for line in lines {
        // Each layer has permissions of its own; every other table is one.
        let layer = line.origin.layer().filter(|_| line.table == "permissions");
        let begins_policy = (line.table, &*line.key) == ("permissions", "default_action");
        // So is each hook.
        let begins_hook = (line.table, &*line.key) == ("hook", "name");
        let begins_section = begins_policy || begins_hook || section != Some((line.table, layer));
        if open_list.is_some() && (begins_section || open_list != Some(&*line.key)) {
            rows.push(bare("]".to_owned()));
            open_list = None;
        }
        if begins_section {
            if section.is_some() {
                rows.push(bare(String::new()));
            }
            if let Some(layer) = layer {
                rows.push(bare(format!("# layer: {layer}")));
            }
            rows.push(bare(match line.table {
                "hook" => "[[hook]]".to_owned(),
                table => format!("[{table}]"),
            }));
            section = Some((line.table, layer));
        }
        let is_item = LISTS.contains(&(line.table, &*line.key));
        if is_item && open_list.is_none() {
            rows.push(bare(format!("{} = [", line.key)));
            open_list = Some(&line.key);
        }
        let text = if is_item {
            format!("    {},", line.value)
        } else {
            format!("{} = {}", line.key, line.value)
        };
        rows.push(Row {
            text,
            origin: Some(line.origin.clone()),
        });
    }
    if open_list.is_some() {
        rows.push(bare("]".to_owned()));
    }
    rows
}
