//! A text that may be longer than the screen, a screen at a time.

/// How much fits on a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Characters of a row.
    pub(crate) columns: usize,
    /// Rows.
    pub(crate) rows: usize,
}

impl Size {
    /// How many rows of the screen a text takes.
    pub(crate) fn height_of(self, text: &str) -> usize {
        let rows = text.split('\n');
        rows.map(|row| columns_of(row).div_ceil(self.columns.max(1)).max(1))
            .sum()
    }
}

/// How many columns a row takes, without what colours it.
fn columns_of(row: &str) -> usize {
    let pieces = row.split('\u{1b}').enumerate();
    let shown = pieces.map(|(idx, piece)| match piece.split_once('m') {
        Some((_, shown)) if idx > 0 => shown,
        _ => piece, // no escape is in front of it
    });
    shown.map(podward_view::columns_of).sum()
}

/// How far to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// By one screen.
    Screen,
    /// To the end.
    End,
}

/// A text, and what of it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pages {
    rows: Vec<String>,
    /// The first row of the last page that was shown.
    page_start: usize,
    /// One past its last row.
    page_end: usize,
}

impl Pages {
    /// A text of which nothing is shown yet.
    pub(super) fn new(rows: Vec<String>) -> Self {
        Self {
            rows,
            page_start: 0,
            page_end: 0,
        }
    }

    /// The next page; `n_kept` rows of the screen are needed below it.
    pub(super) fn turn(&mut self, turn: Turn, size: Size, n_kept: usize) -> String {
        let room = match turn {
            Turn::Screen => size.rows.saturating_sub(n_kept).max(1),
            Turn::End => usize::MAX,
        };
        self.page_start = self.page_end;
        let (mut text, mut n_rows) = (String::new(), 0);
        for row in self.rows.iter().skip(self.page_start) {
            n_rows += size.height_of(row);
            // A row that no screen has room for is shown all the same: alone.
            if n_rows > room && !text.is_empty() {
                break;
            }
            text.push_str(row);
            text.push('\n');
            self.page_end += 1;
        }
        text
    }

    /// The last page, as it was shown.
    pub(super) fn page(&self) -> String {
        self.page_rows().map(|row| format!("{row}\n")).collect()
    }

    /// How many rows of a screen the last page takes.
    pub(super) fn page_height(&self, size: Size) -> usize {
        self.page_rows().map(|row| size.height_of(row)).sum()
    }

    /// Rows that were not shown yet.
    pub(super) fn n_left(&self) -> usize {
        self.rows.len() - self.page_end
    }

    fn page_rows(&self) -> impl Iterator<Item = &String> {
        let n_rows = self.page_end - self.page_start;
        self.rows.iter().skip(self.page_start).take(n_rows)
    }
}

#[cfg(test)]
mod tests;
