//! A text that is typed, with a cursor in it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A text under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Editor {
    text: String,
    // INVARIANT: on a character's boundary, at most the text's length.
    at: usize,
    /// What was cut last.
    cut: String,
}

impl Editor {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            at: text.len(),
            cut: String::new(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the cursor and behind it.
    pub(crate) fn around(&self) -> (&str, &str) {
        self.text.split_at(self.at)
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    pub(crate) fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text)
    }

    /// Puts a text in front of what was typed since it was taken.
    pub(crate) fn put_back(&mut self, text: &str) {
        if self.text.is_empty() {
            *self = Self {
                cut: std::mem::take(&mut self.cut),
                ..Self::new(text)
            };
        } else {
            self.text.insert_str(0, &format!("{text}\n"));
            self.at += text.len() + 1;
        }
    }

    /// Whether the cursor stands in the first line.
    pub(crate) fn is_in_first_line(&self) -> bool {
        !self.around().0.contains('\n')
    }

    /// Whether the cursor stands in the last line.
    pub(crate) fn is_in_last_line(&self) -> bool {
        !self.around().1.contains('\n')
    }

    /// Does what a key says, if it is one for texts.
    pub(crate) fn key(&mut self, key: &KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        match (key.code, is_control, is_alt) {
            (KeyCode::Char(c), false, false) => self.insert(c.encode_utf8(&mut [0; 4])),
            (KeyCode::Enter, false, true) | (KeyCode::Char('j'), true, false) => self.insert("\n"),
            (KeyCode::Tab, false, true) => self.insert("\t"),
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => {
                let before = self.before(1);
                self.remove(before, self.at);
            }
            (KeyCode::Delete, false, false) => {
                let behind = self.behind(1);
                self.remove(self.at, behind);
            }
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => {
                self.at = self.before(1);
            }
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), false, true) => {
                self.at = self.behind(1);
            }
            (KeyCode::Left, true, _) | (KeyCode::Char('b'), false, true) => {
                self.at = self.word_start();
            }
            (KeyCode::Right, true, _) => self.at = self.word_end(),
            (KeyCode::Home, _, _) | (KeyCode::Char('a'), true, false) => {
                self.at = self.line_start()
            }
            (KeyCode::End, _, _) | (KeyCode::Char('e'), true, false) => self.at = self.line_end(),
            (KeyCode::Up, false, false) => self.up(),
            (KeyCode::Down, false, false) => self.down(),
            (KeyCode::Char('w'), true, false) | (KeyCode::Backspace, _, true) => {
                let start = self.word_start();
                self.cut_out(start, self.at);
            }
            (KeyCode::Char('u'), true, false) => {
                let start = self.line_start();
                self.cut_out(start, self.at);
            }
            (KeyCode::Char('k'), true, false) => {
                let end = self.line_end();
                self.cut_out(self.at, end);
            }
            (KeyCode::Char('y'), true, false) => {
                let cut = self.cut.clone();
                self.insert(&cut);
            }
            _ => return false, // none for texts
        }
        true
    }

    fn remove(&mut self, start: usize, end: usize) -> String {
        let removed: String = self.text.drain(start..end).collect();
        self.at = start;
        removed
    }

    fn cut_out(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.remove(start, end);
        }
    }

    fn before(&self, n_chars: usize) -> usize {
        let mut chars = self.around().0.char_indices().rev();
        chars.nth(n_chars.saturating_sub(1)).map_or(0, |(at, _)| at)
    }

    fn behind(&self, n_chars: usize) -> usize {
        let mut chars = self.around().1.char_indices();
        let at = chars.nth(n_chars).map(|(at, _)| self.at + at);
        at.unwrap_or(self.text.len())
    }

    fn line_start(&self) -> usize {
        self.around().0.rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let end = self.around().1.find('\n').map(|at| self.at + at);
        end.unwrap_or(self.text.len())
    }

    fn word_start(&self) -> usize {
        let before = self.around().0;
        let word = before.trim_end_matches(|c: char| !c.is_alphanumeric());
        word.trim_end_matches(char::is_alphanumeric).len()
    }

    fn word_end(&self) -> usize {
        let behind = self.around().1;
        let rest = behind.trim_start_matches(|c: char| !c.is_alphanumeric());
        let rest = rest.trim_start_matches(char::is_alphanumeric);
        self.text.len() - rest.len()
    }

    fn column(&self) -> usize {
        let start = self.line_start();
        self.around().0.chars().count() - self.text.get(..start).map_or(0, |t| t.chars().count())
    }

    fn up(&mut self) {
        let column = self.column();
        let start = self.line_start();
        if start == 0 {
            return;
        }
        self.at = start - 1;
        self.at = self.line_start();
        self.go_to_column(column);
    }

    fn down(&mut self) {
        let column = self.column();
        let end = self.line_end();
        if end == self.text.len() {
            return;
        }
        self.at = end + 1;
        self.go_to_column(column);
    }

    fn go_to_column(&mut self, column: usize) {
        let end = self.line_end();
        self.at = self.behind(column).min(end);
    }
}

#[cfg(test)]
mod tests;
