//! Foreign text in rows that fit the terminal, each behind a mark of podward's own, so that no text
//! can look like anything that podward says.

use unicode_width::UnicodeWidthChar as _;

use crate::screen::{Look, Stream};
use crate::visible::{Lines, visible};

/// What stands in front of a row that begins a line of the text.
const LINE: &str = "  | ";
/// What stands in front of a row that goes on with one.
const REST: &str = "  : ";
/// Columns for the text on a terminal that is narrower than anything can be read on.
const MIN_COLUMNS: usize = 20;

/// A part of a text, in bytes, that is pointed at.
pub(crate) type Mark = std::ops::Range<usize>;

/// The text in rows of at most so many columns, as it was, each invisible character escaped; below
/// what is marked stands a row of `^`.
pub(crate) fn rows(text: &str, marks: &[Mark], columns: usize, stream: Stream) -> Vec<String> {
    let columns = columns.saturating_sub(LINE.len()).max(MIN_COLUMNS);
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        line_rows(line, start, marks, columns, stream, &mut rows);
        start += line.len() + 1;
    }
    rows
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
    start: usize,
    marks: &[Mark],
    columns: usize,
    stream: Stream,
    rows: &mut Vec<String>,
) {
    let mut row = Row::default();
    let mut front = LINE;
    for (at, c) in line.char_indices() {
        let shown = visible(c.encode_utf8(&mut [0; 4]), Lines::Escape);
        let n_columns: usize = shown.chars().map(|c| c.width().unwrap_or(1)).sum();
        if row.n_columns + n_columns > columns && !row.shown.is_empty() {
            std::mem::take(&mut row).push_to(rows, front, stream);
            front = REST;
        }
        let is_marked = marks.iter().any(|mark| mark.contains(&(start + at)));
        let mark = if is_marked { "^" } else { " " };
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
