//! A text that may be longer than the screen, and how much of it was on the screen.

use podward_view::Row;

/// A text, which part of it is on the screen, and how far it was shown without a gap.
#[derive(Debug, Default)]
pub(crate) struct Page {
    rows: Vec<Row>,
    columns: usize,
    height: usize,
    top: usize,
    /// Rows from the first on that were on the screen.
    n_shown: usize,
    /// The last drawing was of these rows.
    is_drawn: bool,
}

impl Page {
    /// Another text: nothing of it was shown.
    pub(crate) fn renew(&mut self) {
        (self.top, self.n_shown, self.is_drawn) = (0, 0, false);
        self.rows.clear();
    }

    /// The text in rows for a screen with so much room. What was shown on another screen, or was another
    /// text, was not shown.
    pub(crate) fn lay_out(&mut self, rows: Vec<Row>, columns: usize, height: usize) {
        let n_same = self
            .rows
            .iter()
            .zip(&rows)
            .take_while(|(old, new)| old == new);
        let n_same = n_same.count();
        if columns != self.columns || height < self.height {
            self.n_shown = 0;
        }
        self.n_shown = self.n_shown.min(n_same);
        if n_same < rows.len() || rows.len() < self.rows.len() || height != self.height {
            self.is_drawn = false;
        }
        (self.rows, self.columns, self.height) = (rows, columns, height);
        self.scroll(0);
    }

    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// The same text, for a screen with so much room.
    pub(crate) fn resize(&mut self, height: usize) {
        if height < self.height {
            self.n_shown = 0;
        }
        if height != self.height {
            self.is_drawn = false;
        }
        self.height = height;
        self.scroll(0);
    }

    /// What is on the screen.
    pub(crate) fn window(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().skip(self.top).take(self.height)
    }

    /// The screen shows what it is to show: whether that is new on it.
    pub(crate) fn drawn(&mut self) -> bool {
        let is_new = !std::mem::replace(&mut self.is_drawn, true);
        if self.top <= self.n_shown {
            let end = (self.top + self.height).min(self.rows.len());
            self.n_shown = self.n_shown.max(end);
        }
        is_new
    }

    /// Whether every row was on the screen once what is to be shown is.
    pub(crate) fn is_seen_with_this(&self) -> bool {
        self.top <= self.n_shown && self.n_shown.max(self.top + self.height) >= self.rows.len()
    }

    /// Whether every row was on the screen, from the first on.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_drawn && !self.rows.is_empty() && self.n_shown >= self.rows.len()
    }

    /// Rows that were not on the screen yet.
    pub(crate) fn n_unseen(&self) -> usize {
        self.rows.len() - self.n_shown.min(self.rows.len())
    }

    /// Rows below the screen.
    pub(crate) fn n_below(&self) -> usize {
        self.rows.len().saturating_sub(self.top + self.height)
    }

    pub(crate) const fn n_above(&self) -> usize {
        self.top
    }

    /// Goes on by so many rows.
    pub(crate) fn scroll(&mut self, n_rows: isize) {
        let last = self.rows.len().saturating_sub(self.height);
        let top = self.top.saturating_add_signed(n_rows).min(last);
        if top != self.top {
            self.is_drawn = false;
        }
        self.top = top;
    }

    /// Goes on by a screen; a row of what was there stays. What has not been on the screen is not passed
    /// over.
    pub(crate) fn turn(&mut self, n_pages: isize) {
        if n_pages > 0 && !self.is_drawn {
            return;
        }
        let page = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        self.scroll(page.saturating_mul(n_pages));
    }
}
