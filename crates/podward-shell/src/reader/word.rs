//! Words.

use super::{Read, Reader, ends_word};
use crate::limits;
use crate::syntax::{Piece, Quoting, Word};

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Argument,
    /// The value of an assignment: `~` counts after each `:` too.
    Value,
}

impl Reader<'_> {
    pub(super) fn word(&mut self) -> Read<Word> {
        self.nested(|reader| reader.word_at(Place::Argument))
    }

    pub(super) fn assigned_word(&mut self) -> Read<Word> {
        self.nested(|reader| reader.word_at(Place::Value))
    }

    fn word_at(&mut self, place: Place) -> Read<Word> {
        self.n_words += 1;
        if self.n_words > limits::WORDS {
            return self.stop("too many words");
        }
        let _ = self.peek();
        let start = self.pos;
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            if ends_word(byte) {
                let is_process = matches!(byte, b'<' | b'>') && self.peek_after(1) == Some(b'(');
                if !is_process {
                    break;
                }
                self.process_substitution(&mut word)?;
                continue;
            }
            self.word_piece(byte, place, &mut word)?;
        }
        if self.pos == start && place == Place::Argument {
            return self.stop("a word is missing");
        }
        word.span = Some(self.span(start));
        Ok(word)
    }

    fn word_piece(&mut self, byte: u8, place: Place, word: &mut Word) -> Read<()> {
        match byte {
            b'\\' => self.escaped(word),
            b'\'' => self.single_quoted(word),
            b'"' => self.double_quoted(word),
            b'$' => self.dollar(Quoting::Unquoted, word),
            b'`' => self.backquoted(Quoting::Unquoted, word),
            b'*' | b'?' | b'[' => {
                self.pos += 1;
                word.pieces.push(Piece::Glob(char::from(byte)));
                Ok(())
            }
            b'~' if begins_tilde(word, place) => {
                self.tilde(word);
                Ok(())
            }
            _ => {
                self.plain_run(word);
                Ok(())
            }
        }
    }

    /// Characters without a meaning of their own.
    fn plain_run(&mut self, word: &mut Word) {
        let start = self.pos;
        self.pos += 1;
        while let Some(byte) = self.raw(self.pos) {
            if ends_word(byte)
                || matches!(
                    byte,
                    b'\\' | b'\'' | b'"' | b'$' | b'`' | b'*' | b'?' | b'[' | b'~'
                )
            {
                break;
            }
            self.pos += 1;
        }
        word.push_plain(self.text.get(start..self.pos).unwrap_or_default());
    }

    fn tilde(&mut self, word: &mut Word) {
        self.pos += 1;
        let mut user = String::new();
        while let Some(byte) = self.peek() {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')) {
                break;
            }
            user.push(char::from(byte));
            self.pos += 1;
        }
        word.pieces.push(Piece::Tilde(user));
    }

    fn escaped(&mut self, word: &mut Word) -> Read<()> {
        self.pos += 1;
        let start = self.pos;
        let Some(c) = self.text.get(start..).and_then(|rest| rest.chars().next()) else {
            return self.stop("a backslash at the end");
        };
        if start >= self.bytes.len() {
            return self.stop("a backslash at the end");
        }
        self.pos += c.len_utf8();
        word.push_quoted(self.text.get(start..self.pos).unwrap_or_default());
        Ok(())
    }
}

/// Whether a `~` here may stand for a home directory.
fn begins_tilde(word: &Word, place: Place) -> bool {
    match (word.pieces.as_slice(), place) {
        ([], _) => true,
        ([.., Piece::Plain(text)], Place::Value) => text.ends_with(':'),
        // `--file=~/x`: bash leaves it alone, but after `name=` of a declaration it does not.
        ([Piece::Plain(text)], Place::Argument) => text.ends_with('=') && !text.starts_with('-'),
        _ => false,
    }
}
