//! Foreign text in rows that fit the terminal, each behind a mark of podward's own, so that no text
//! can look like anything that podward says.

use unicode_width::UnicodeWidthChar as _;

use crate::screen::{Look, Stream};
use crate::visible::{Lines, visible};

/// What stands in front of a row that begins a line of the text.
const LINE: &str = "  | ";
/// What stands in front of a row that begins a line all of which is pointed at.
const MARKED: &str = "  > ";
/// What stands in front of a row that goes on with one.
const REST: &str = "  : ";
/// Columns for the text on a terminal that is narrower than anything can be read on.
pub(super) const MIN_COLUMNS: usize = 8;

/// A part of a text, in bytes, that is pointed at.
pub(crate) type Mark = std::ops::Range<usize>;

/// The text in rows of at most so many columns, as it was, each invisible character escaped. A line that is
/// marked as a whole has a mark in front; below another one with something marked stands a row of `^`.
pub(crate) fn rows(text: &str, marks: &[Mark], columns: usize, stream: Stream) -> Vec<String> {
    let columns = columns.saturating_sub(LINE.len()).max(MIN_COLUMNS);
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let is_marked = |at: usize| marks.iter().any(|mark| mark.contains(&(start + at)));
        line_rows(line, is_marked, columns, stream, &mut rows);
        start += line.len() + 1;
    }
    rows
}

/// How many columns a text takes, without what colours it.
pub(crate) fn columns_of(text: &str) -> usize {
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

/// A row under construction: what is shown, and what is below it.
#[derive(Default)]
struct Row {
    shown: String,
    below: String,
    n_columns: usize,
}

fn line_rows(
    line: &str,
    is_marked: impl Fn(usize) -> bool,
    columns: usize,
    stream: Stream,
    rows: &mut Vec<String>,
) {
    // What separates commands is no part of any.
    let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|');
    let mut commands = line
        .char_indices()
        .filter(|(_, c)| !is_between(*c))
        .peekable();
    let is_all_marked = commands.peek().is_some() && commands.all(|(at, _)| is_marked(at));
    let mut row = Row::default();
    let mut front = if is_all_marked { MARKED } else { LINE };
    for (at, c) in line.char_indices() {
        let shown = visible(c.encode_utf8(&mut [0; 4]), Lines::Escape);
        let n_columns = columns_of(&shown);
        if row.n_columns + n_columns > columns && !row.shown.is_empty() {
            std::mem::take(&mut row).push_to(rows, front, stream);
            front = REST;
        }
        let mark = if is_marked(at) && !is_all_marked {
            "^"
        } else {
            " "
        };
        row.shown.push_str(&shown);
        row.below.push_str(&mark.repeat(n_columns));
        row.n_columns += n_columns;
    }
    row.push_to(rows, front, stream);
}

impl Row {
    fn push_to(self, rows: &mut Vec<String>, front: &str, stream: Stream) {
        let is_marked = self.below.contains('^');
        rows.push(format!("{front}{}", self.shown));
        if is_marked {
            let below = stream.paint(Look::Warning, self.below.trim_end());
            rows.push(format!("{}{below}", " ".repeat(front.len())));
        }
    }
}
