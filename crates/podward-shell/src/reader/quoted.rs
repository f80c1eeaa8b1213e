//! Quotes of all kinds, and backquotes.

use super::{Origin, Read, Reader, compound};
use crate::syntax::{Expansion, List, Quoting, Word};

impl Reader<'_> {
    pub(super) fn single_quoted(&mut self, word: &mut Word) -> Read<()> {
        let start = self.pos + 1;
        let len = self
            .bytes
            .get(start..)
            .and_then(|rest| rest.iter().position(|&byte| byte == b'\''));
        let Some(len) = len else {
            return self.stop("a single quote without its end");
        };
        word.push_quoted(self.text.get(start..start + len).unwrap_or_default());
        self.pos = start + len + 1;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) -> Read<()> {
        self.nested(|reader| {
            reader.pos += 1;
            word.push_quoted("");
            loop {
                match reader.peek() {
                    None => return reader.stop("a double quote without its end"),
                    Some(b'"') => {
                        reader.pos += 1;
                        return Ok(());
                    }
                    Some(b'\\') => reader.escaped_in_double_quotes(word, b"$`\"\\"),
                    Some(b'$') => reader.dollar(Quoting::Quoted, word)?,
                    Some(b'`') => reader.backquoted(Quoting::Quoted, word)?,
                    Some(b'\n') if !reader.pending.is_empty() => {
                        return reader.stop("a here-document that begins inside quotes");
                    }
                    Some(_) => reader.quoted_run(word),
                }
            }
        })
    }

    /// Characters inside double quotes, or of a here-document, without a meaning of their own.
    pub(super) fn quoted_run(&mut self, word: &mut Word) {
        let start = self.pos;
        self.pos += 1;
        while let Some(byte) = self.raw(self.pos) {
            if matches!(byte, b'\\' | b'"' | b'$' | b'`' | b'\n' | b'}' | b'\'') {
                break;
            }
            self.pos += 1;
        }
        word.push_quoted(self.text.get(start..self.pos).unwrap_or_default());
    }

    /// A backslash that escapes only some characters.
    pub(super) fn escaped_in_double_quotes(&mut self, word: &mut Word, escapable: &[u8]) {
        let next = self.raw(self.pos + 1);
        match next {
            Some(byte) if escapable.contains(&byte) => {
                word.push_quoted(
                    self.text
                        .get(self.pos + 1..self.pos + 2)
                        .unwrap_or_default(),
                );
                self.pos += 2;
            }
            _ => {
                word.push_quoted("\\");
                self.pos += 1;
            }
        }
    }

    /// `$'…'`.
    pub(super) fn ansi_quoted(&mut self, word: &mut Word) -> Read<()> {
        self.skip(2);
        word.push_quoted("");
        loop {
            match self.raw(self.pos) {
                None => return self.stop("a single quote without its end"),
                Some(b'\'') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let c = self.ansi_escape()?;
                    word.push_quoted(c.encode_utf8(&mut [0; 4]));
                }
                Some(_) => {
                    let start = self.pos;
                    while self
                        .raw(self.pos)
                        .is_some_and(|byte| byte != b'\'' && byte != b'\\')
                    {
                        self.pos += 1;
                    }
                    word.push_quoted(self.text.get(start..self.pos).unwrap_or_default());
                }
            }
        }
    }

    fn ansi_escape(&mut self) -> Read<char> {
        let Some(byte) = self.raw(self.pos + 1) else {
            return self.stop("a single quote without its end");
        };
        self.pos += 2;
        let c = match byte {
            b'a' => '\x07',
            b'b' => '\x08',
            b'e' | b'E' => '\x1b',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'v' => '\x0b',
            b'\\' | b'\'' | b'"' | b'?' => char::from(byte),
            b'0'..=b'7' => {
                self.pos -= 1;
                return self.number(8, 3);
            }
            b'x' => return self.number(16, 2),
            b'u' => return self.number(16, 4),
            b'U' => return self.number(16, 8),
            _ => return self.stop("an escape that is not known"),
        };
        Ok(c)
    }

    /// The character with the number that comes next. Only ASCII: other bytes may be half of one.
    fn number(&mut self, radix: u32, max_digits: usize) -> Read<char> {
        let mut value = 0_u32;
        let mut n = 0;
        while n < max_digits
            && let Some(digit) = self
                .raw(self.pos)
                .and_then(|byte| char::from(byte).to_digit(radix))
        {
            value = value.saturating_mul(radix).saturating_add(digit);
            self.pos += 1;
            n += 1;
        }
        match char::from_u32(value) {
            Some(c) if n > 0 && c.is_ascii() && c != '\0' => Ok(c),
            _ => self.stop("an escape that is no ASCII character"),
        }
    }

    /// `` `…` ``: its text after one round of backslashes is read on its own.
    pub(super) fn backquoted(&mut self, quoting: Quoting, word: &mut Word) -> Read<()> {
        let start = self.pos;
        self.take_operator();
        let mut inner = String::new();
        loop {
            let at = self.pos;
            match self.raw(at) {
                None => return self.stop("a backquote without its end"),
                Some(b'`') => break,
                Some(b'\\') => {
                    let next = self.raw(at + 1);
                    let is_escaped = match next {
                        Some(b'$' | b'`' | b'\\') => true,
                        Some(b'"') => quoting == Quoting::Quoted,
                        _ => false,
                    };
                    if !is_escaped {
                        inner.push('\\');
                    }
                    self.pos += 1;
                    if is_escaped && let Some(byte) = next {
                        inner.push(char::from(byte));
                        self.pos += 1;
                    }
                }
                Some(_) => {
                    while self
                        .raw(self.pos)
                        .is_some_and(|byte| byte != b'`' && byte != b'\\')
                    {
                        self.pos += 1;
                    }
                    inner.push_str(self.text.get(at..self.pos).unwrap_or_default());
                }
            }
        }
        let verbatim = self.text.get(start + 1..self.pos) == Some(inner.as_str());
        self.take_operator();
        let origin = match (self.origin, verbatim) {
            (Origin::Verbatim(shift), true) => Origin::Verbatim(shift + start + 1),
            _ => Origin::Part(self.span(start)),
        };
        // Where it cannot be read, reading stops in front of it: deny rules see what is inside.
        let end = std::mem::replace(&mut self.pos, start);
        let list = self.nested(|reader| reader.inner_text(&inner, origin))?;
        self.pos = end;
        word.pieces
            .push(compound::piece(Expansion::Command(list), quoting));
        Ok(())
    }

    /// Reads a text that stands inside this one.
    fn inner_text(&mut self, text: &str, origin: Origin) -> Read<List> {
        self.inside(text, origin, |inner| {
            let list = inner.script()?;
            match crate::second_look::first_difference(text, &inner.operators) {
                Some(_) => inner.stop("two readings of the text differ"),
                None => Ok(list),
            }
        })
    }

    /// Runs a reading of another text into the same script; a stop is placed in this text.
    pub(super) fn inside<T>(
        &mut self,
        text: &str,
        origin: Origin,
        read: impl FnOnce(&mut Reader<'_>) -> Read<T>,
    ) -> Read<T> {
        let script = std::mem::take(&mut self.script);
        let mut inner = Reader::new(text, origin, self.depth, script);
        inner.n_words = self.n_words;
        inner.n_second_readings = self.n_second_readings;
        let result = read(&mut inner);
        self.n_words = inner.n_words;
        self.n_second_readings = inner.n_second_readings;
        self.script = inner.script;
        match result {
            Ok(value) => Ok(value),
            Err(stop) => self.stop(stop.why),
        }
    }
}
