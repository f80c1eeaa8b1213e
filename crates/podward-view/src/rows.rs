//! Foreign text in rows that fit, each behind a mark of podward's own, so that no text can look like
//! anything that podward says.

use unicode_width::UnicodeWidthChar as _;

use crate::visible::{Lines, Marks, push_visible};
use crate::wording::counted;

/// What stands in front of a row that begins a line of the text.
const LINE: &str = "  | ";
/// What stands in front of a row that begins a line all of which is pointed at.
const MARKED: &str = "  > ";
/// What stands in front of a row that goes on with one.
pub(crate) const REST: &str = "  : ";
/// What stands in front of a row that stands for others.
const LEFT_OUT: &str = "  ~ ";
/// Columns for the text on a screen that is narrower than anything can be read on.
pub(crate) const MIN_COLUMNS: usize = 8;
/// What a line of a change begins with that says something of the line before it.
const SAYS: char = '\\';
/// So many blank rows in a row are shown as they are; more are counted.
const MAX_BLANK: usize = 3;

/// A part of a text, in bytes, that is pointed at.
pub type Mark = std::ops::Range<usize>;

/// How a piece of text is meant. What a look says, the words and marks around it say too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// Nothing in particular.
    #[default]
    Plain,
    /// What matters most.
    Strong,
    /// What matters least.
    Faint,
    /// What is well.
    Good,
    /// What needs a look.
    Warning,
    /// What is not well.
    Bad,
    /// The part of a call that asks; a mark points at it too.
    Asks,
    /// A line that a change adds; it begins with `+`.
    Added,
    /// A line that a change removes; it begins with `-`.
    Removed,
}

/// A text and how it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// How.
    pub look: Look,
    /// The text: nothing in it is invisible.
    pub text: String,
}

/// A row of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Its pieces, from the left.
    pub pieces: Vec<Piece>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Each line begins with `-`, `+`, a blank or another sign.
    Change,
}

impl Row {
    /// A row of one piece.
    #[must_use]
    pub fn new(look: Look, text: &str) -> Self {
        let mut row = Self::default();
        row.push(look, text);
        row
    }

    /// Adds a piece at the right.
    pub fn push(&mut self, look: Look, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.look == look => last.text.push_str(text),
            Some(_) | None => self.pieces.push(Piece {
                look,
                text: text.to_owned(),
            }),
        }
    }

    /// What it says, whatever it is meant like.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }

    /// How many columns it takes.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        let pieces = self.pieces.iter();
        pieces.map(|piece| columns_of(&piece.text)).sum()
    }
}

/// The text in rows of at most so many columns, as it was, each invisible character escaped. A line that is
/// marked as a whole has a mark in front; below another one with something marked stands a row of `^`. Of
/// many blank rows one is left, which counts them.
#[must_use]
pub fn rows(text: &str, marks: &[Mark], columns: usize) -> Vec<Row> {
    rows_of(text, marks, Kind::Text, columns)
}

pub(crate) fn rows_of(text: &str, marks: &[Mark], kind: Kind, columns: usize) -> Vec<Row> {
    let columns = columns.saturating_sub(LINE.len()).max(MIN_COLUMNS);
    let mut made = Made::default();
    let mut start = 0;
    for line in text.split('\n') {
        let is_marked = |at: usize| marks.iter().any(|mark| mark.contains(&(start + at)));
        line_rows(line, is_marked, kind, columns, &mut made);
        start += line.len() + 1;
    }
    made.end_blank();
    made.rows
}

/// How many columns a text takes.
#[must_use]
pub fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(1)).sum()
}

/// Rows that are made, with the blank ones at their end.
#[derive(Default)]
struct Made {
    rows: Vec<Row>,
    n_blank: usize,
    /// Rows at the end that these take, with what is said of their blanks.
    n_rows_of_blank: usize,
    /// What stands in front of them.
    sign: Option<char>,
}

impl Made {
    /// Adds a row of blanks, or what is said of it.
    fn push_blank(&mut self, row: Row, sign: Option<char>) {
        if sign == Some(SAYS) {
            self.n_rows_of_blank += 1;
        } else {
            if sign != self.sign {
                self.end_blank();
            }
            self.sign = sign;
            self.n_blank += 1;
            self.n_rows_of_blank += 1;
        }
        self.rows.push(row);
    }

    fn end_blank(&mut self) {
        let n_blank = std::mem::take(&mut self.n_blank);
        let n_rows = std::mem::take(&mut self.n_rows_of_blank);
        if n_blank > MAX_BLANK {
            self.rows.truncate(self.rows.len() - n_rows);
            let kind = match self.sign {
                Some('+') => " added",
                Some('-') => " removed",
                _ => "", // of the text, or left as they are
            };
            let what = format!("{LEFT_OUT}{}{kind}", counted(n_blank, "blank row"));
            self.rows.push(Row::new(Look::Warning, &what));
        }
    }
}

/// A row under construction: what is shown, and what is below it.
#[derive(Default)]
struct Growing {
    shown: Row,
    below: String,
    n_columns: usize,
    /// Something of it can be seen.
    is_blank_no_more: bool,
}

fn line_rows(
    line: &str,
    is_marked: impl Fn(usize) -> bool,
    kind: Kind,
    columns: usize,
    made: &mut Made,
) {
    // What separates commands is no part of any.
    let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|');
    let mut commands = line
        .char_indices()
        .filter(|(_, c)| !is_between(*c))
        .peekable();
    let is_all_marked = commands.peek().is_some() && commands.all(|(at, _)| is_marked(at));
    let usual = match (kind, line.chars().next()) {
        (Kind::Change, Some('+')) => Look::Added,
        (Kind::Change, Some('-')) => Look::Removed,
        (Kind::Change | Kind::Text, _) => Look::Plain,
    };
    let sign = line.chars().next().filter(|_| kind == Kind::Change);
    let mut row = Growing::default();
    let mut front = if is_all_marked { MARKED } else { LINE };
    let mut on_letter = Marks::default();
    for (at, c) in line.char_indices() {
        let mut shown = String::new();
        push_visible(&mut shown, c, Lines::Escape, &mut on_letter);
        let n_columns = columns_of(&shown);
        if row.n_columns + n_columns > columns && row.n_columns > 0 {
            std::mem::take(&mut row).push_to(made, front, sign);
            front = REST;
        }
        let is_marked = is_marked(at);
        let mark = if is_marked && !is_all_marked {
            "^"
        } else {
            " "
        };
        let look = if is_marked || is_all_marked {
            Look::Asks
        } else {
            usual
        };
        row.shown.push(look, &shown);
        row.below.push_str(&mark.repeat(n_columns));
        row.n_columns += n_columns;
        let is_sign = sign.is_some() && at == 0;
        row.is_blank_no_more |= !is_sign && !matches!(c, ' ' | '\t');
    }
    row.push_to(made, front, sign);
}

impl Growing {
    fn push_to(self, made: &mut Made, front: &str, sign: Option<char>) {
        let is_marked = self.below.contains('^');
        let mut row = Row::new(Look::Plain, front);
        for piece in &self.shown.pieces {
            row.push(piece.look, &piece.text);
        }
        let says = sign == Some(SAYS) && made.n_blank > 0;
        if says || !(self.is_blank_no_more || is_marked) {
            made.push_blank(row, sign);
            return;
        }
        made.end_blank();
        made.rows.push(row);
        if is_marked {
            let mut below = Row::new(Look::Plain, &" ".repeat(front.len()));
            below.push(Look::Warning, self.below.trim_end());
            made.rows.push(below);
        }
    }
}

#[cfg(test)]
mod tests;
