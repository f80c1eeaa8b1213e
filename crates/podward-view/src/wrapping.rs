//! Prose in rows.

use crate::rows::{Look, REST, Row, columns_of};

/// A text in rows that end between words; only a word that is longer than a row is broken. A blank that
/// is broken at is at no place any more.
#[must_use]
pub fn wrapped(text: &[(Look, &str)], room: usize) -> Vec<Row> {
    let mut all = vec![Row::default()];
    let mut n_columns = 0;
    let mut is_first = true;
    for (look, text) in text {
        for (idx, word) in text.split(' ').enumerate() {
            let blank = if idx > 0 { " " } else { "" };
            for (idx, piece) in pieces(word, room).iter().enumerate() {
                let (blank, n_blank) = if idx == 0 {
                    (blank, blank.len())
                } else {
                    ("", 0)
                };
                let width = columns_of(piece);
                let fits = idx == 0 && n_columns + n_blank + width <= room;
                match all.last_mut() {
                    Some(row) if fits || is_first => {
                        row.push(*look, blank);
                        row.push(*look, piece);
                        n_columns += n_blank + width;
                    }
                    Some(_) | None => {
                        all.push(Row::new(*look, piece));
                        n_columns = width;
                    }
                }
                is_first = false;
            }
        }
    }
    all
}

/// The same for words from outside, in rows of so many columns: a row that goes on with them begins with a
/// mark, so that none looks like one of podward's own.
#[must_use]
pub fn wrapped_behind_mark(text: &[(Look, &str)], columns: usize) -> Vec<Row> {
    let mut rows = wrapped(text, columns.saturating_sub(REST.len()).max(1)).into_iter();
    let mut all: Vec<Row> = rows.next().into_iter().collect();
    all.extend(rows.map(|row| {
        let mut whole = Row::new(Look::Plain, REST);
        for piece in &row.pieces {
            whole.push(piece.look, &piece.text);
        }
        whole
    }));
    all
}

/// A text whose blanks lay nothing out: of several in a row those behind the first are written as escapes.
#[must_use]
pub fn without_runs(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut is_behind_blank = false;
    for c in text.chars() {
        match (c, is_behind_blank) {
            (' ', true) => shown.push_str("\\u{20}"),
            (c, _) => shown.push(c),
        }
        is_behind_blank = c == ' ';
    }
    shown
}

/// A word in pieces of at most so many columns.
fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut n_columns = 0;
    for c in word.chars() {
        let width = columns_of(c.encode_utf8(&mut [0; 4]));
        if n_columns + width > room {
            pieces.push(String::new());
            n_columns = 0;
        }
        n_columns += width;
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
