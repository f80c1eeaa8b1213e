//! What is said of a call, each behind its name.

use crate::rows::{Look, MIN_COLUMNS, Row, columns_of};
use crate::wrapping::{wrapped, wrapped_behind_mark};

/// Columns in front of the text of an entry.
const INDENT: usize = 10;

/// Where a question is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) columns: usize,
}

impl View {
    /// A text with its name in front.
    pub(super) fn entry(self, name: &str, text: &str) -> Vec<Row> {
        self.entry_of(name, &[(Look::Plain, text)])
    }

    pub(super) fn entry_of(self, name: &str, text: &[(Look, &str)]) -> Vec<Row> {
        let room = self.columns.saturating_sub(INDENT).max(MIN_COLUMNS);
        let mut front = format!("  {name:<7} ");
        let mut all = Vec::new();
        if columns_of(&front) > INDENT {
            // A name of somebody else's choice.
            let n_columns: usize = text.iter().map(|(_, text)| columns_of(text)).sum();
            if columns_of(&front) + n_columns <= self.columns {
                return vec![behind(&front, text)];
            }
            let name = front.trim_end();
            let columns = self.columns.max(MIN_COLUMNS);
            all.extend(wrapped_behind_mark(&[(Look::Plain, name)], columns));
            front = format!("{:>INDENT$}", ": ");
        }
        for row in wrapped(text, room) {
            let pieces = row.pieces.iter();
            let text: Vec<_> = pieces.map(|piece| (piece.look, &*piece.text)).collect();
            all.push(behind(&front, &text));
            // No row that goes on with foreign words looks like one of podward's own.
            front = format!("{:>INDENT$}", ": ");
        }
        all
    }
}

fn behind(front: &str, text: &[(Look, &str)]) -> Row {
    let mut row = Row::new(Look::Plain, front);
    for (look, text) in text {
        row.push(*look, text);
    }
    row
}
