//! `[[ … ]]`.

use super::{Read, Reader, ends_word};
use crate::syntax::{Quoting, Word};

impl Reader<'_> {
    /// The words of an expression, up to and with its `]]`.
    pub(super) fn test_expression(&mut self) -> Read<Vec<Word>> {
        let had_pending = self.outer_pending;
        self.outer_pending = had_pending || !self.pending.is_empty();
        let mut words = Vec::new();
        let mut depth = 0_usize;
        let mut after_regex = false;
        loop {
            self.skip_newlines()?;
            match (self.peek(), self.peek_after(1)) {
                (None, _) => return self.stop("a `[[` without its `]]`"),
                (Some(b'('), _) if !after_regex => {
                    depth += 1;
                    if depth > 16 {
                        return self.stop("a test that is nested too deeply");
                    }
                    words.push(self.test_operator(1));
                }
                (Some(b')'), _) if depth > 0 => {
                    depth -= 1;
                    words.push(self.test_operator(1));
                }
                (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => {
                    words.push(self.test_operator(2));
                }
                (Some(b'<' | b'>'), next) if next != Some(b'(') => {
                    words.push(self.test_operator(1));
                }
                (Some(b';' | b'&' | b'|' | b')'), _) => {
                    return self.stop("a `[[` without its `]]`");
                }
                _ => {
                    if self.take_reserved("]]") {
                        break;
                    }
                    let pattern = std::mem::take(&mut after_regex);
                    let word = if pattern || words.last().is_some_and(is_comparison) {
                        self.nested(Self::pattern)?
                    } else {
                        self.word()?
                    };
                    after_regex = word.as_plain() == Some("=~");
                    words.push(word);
                }
            }
        }
        if depth > 0 {
            return self.stop("a `[[` without its `]]`");
        }
        self.outer_pending = had_pending;
        Ok(words)
    }

    fn test_operator(&mut self, len: usize) -> Word {
        let start = self.pos;
        let mut word = Word::default();
        for _ in 0..len {
            self.pos = self.skip_continuations(self.pos);
            let at = self.pos;
            self.take_operator();
            word.push_plain(self.text.get(at..self.pos).unwrap_or_default());
        }
        word.span = Some(self.span(start));
        word
    }

    /// A pattern or regular expression: parentheses and what they hold belong to it.
    fn pattern(&mut self) -> Read<Word> {
        let start = self.pos;
        let mut word = Word::default();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => {
                    depth += 1;
                    self.pattern_operator(&mut word);
                }
                b')' if depth > 0 => {
                    depth -= 1;
                    self.pattern_operator(&mut word);
                }
                b'|' if depth > 0 => self.pattern_operator(&mut word),
                b'<' | b'>' if self.peek_after(1) == Some(b'(') => {
                    return self.stop("a process substitution in a pattern");
                }
                _ if ends_word(byte) => {
                    if depth > 0 {
                        return self.stop("a pattern with blanks in parentheses");
                    }
                    break;
                }
                b'\\' => {
                    self.skip(1);
                    let Some(c) = self.text.get(self.pos..).and_then(|t| t.chars().next()) else {
                        return self.stop("a backslash at the end");
                    };
                    self.pos += c.len_utf8();
                    word.push_quoted(c.encode_utf8(&mut [0; 4]));
                }
                b'\'' => self.single_quoted(&mut word)?,
                b'"' => self.double_quoted(&mut word)?,
                b'$' => self.dollar(Quoting::Unquoted, &mut word)?,
                b'`' => self.backquoted(Quoting::Unquoted, &mut word)?,
                _ => {
                    let Some(c) = self.text.get(self.pos..).and_then(|t| t.chars().next()) else {
                        break;
                    };
                    self.pos += c.len_utf8();
                    word.push_plain(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        word.span = Some(self.span(start));
        Ok(word)
    }

    fn pattern_operator(&mut self, word: &mut Word) {
        let start = self.pos;
        self.take_operator();
        word.push_plain(self.text.get(start..self.pos).unwrap_or_default());
    }
}

fn is_comparison(word: &Word) -> bool {
    matches!(word.as_plain(), Some("=" | "==" | "!=" | "=~"))
}
