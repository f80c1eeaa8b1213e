//! Prose in rows.

use crate::rows::{Look, Row, columns_of};

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
