//! A text that is typed, in rows.

use podward_view::{Lines, Look, Row, columns_of, visible};

use super::Screen;
use crate::editor::Editor;

/// The character under which the cursor stands while rows are made: no text has it, since what is invisible
/// is written as an escape.
const CURSOR: char = '\u{0}';

/// What is typed in rows of at most so many columns, and where the cursor stands: row and column.
pub(crate) struct Typed {
    pub(crate) rows: Vec<String>,
    pub(crate) cursor: (usize, usize),
}

pub(crate) fn typed_rows(editor: &Editor, columns: usize) -> Vec<String> {
    typed(editor, columns).rows
}

fn typed(editor: &Editor, columns: usize) -> Typed {
    let room = columns.saturating_sub(3).max(1);
    let (before, rest) = editor.around();
    let shown = |text: &str| visible(text, Lines::Keep).replace('\t', "\\t");
    let text = format!("{}{CURSOR}{}", shown(before), shown(rest));
    let mut rows = Vec::new();
    let mut cursor = (0, 0);
    for line in text.split('\n') {
        let (mut row, mut n_columns) = (String::new(), 0);
        for c in line.chars() {
            if c == CURSOR {
                cursor = (rows.len(), n_columns);
                continue;
            }
            let width = columns_of(c.encode_utf8(&mut [0; 4]));
            if n_columns + width > room {
                rows.push(std::mem::take(&mut row));
                n_columns = 0;
            }
            row.push(c);
            n_columns += width;
        }
        rows.push(row);
    }
    Typed { rows, cursor }
}

/// Draws what is typed, with the cursor in sight.
pub(crate) fn draw(editor: &Editor, height: usize, screen: &mut Screen<'_, '_>) {
    let Typed { rows, cursor } = typed(editor, screen.width());
    let first = (cursor.0 + 1).saturating_sub(height);
    let shown: Vec<&String> = rows.iter().skip(first).take(height).collect();
    for (at, text) in shown.iter().enumerate() {
        let is_first = first + at == 0;
        let mut row = Row::new(Look::Strong, if is_first { "> " } else { "  " });
        row.push(Look::Plain, text);
        screen.row(&row);
    }
    let n_above = shown.len()
        - cursor
            .0
            .saturating_sub(first)
            .min(shown.len().saturating_sub(1));
    screen.cursor(n_above, cursor.1 + 2);
}
