//! Bodies of here-documents.

use super::{Origin, Read, Reader};
use crate::syntax::{HereIdx, Quoting, Word};

/// A here-document whose body has not come yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) idx: HereIdx,
    pub(super) delimiter: String,
    pub(super) tabs: Tabs,
    pub(super) is_quoted: bool,
}

/// What happens to tabs that begin a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    Stripped,
}

impl Reader<'_> {
    /// Reads the bodies of all pending here-documents, after a newline.
    pub(super) fn here_bodies(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let body = self.body_text(&pending)?;
            let span = self.origin.span(start, self.pos);
            if let Origin::Verbatim(_) = self.origin {
                self.script.inert.push(span);
            }
            let mut word = Word {
                span: Some(span),
                ..Word::default()
            };
            if pending.is_quoted {
                word.push_quoted(&body);
            } else {
                self.body_expansions(&body, start, span, &mut word)?;
            }
            if let Some(here) = self.script.heres.get_mut(pending.idx.0) {
                here.body = word;
            }
        }
        Ok(())
    }

    /// The lines up to the one that is the delimiter.
    fn body_text(&mut self, pending: &Pending) -> Read<String> {
        let mut body = String::new();
        loop {
            if self.pos >= self.bytes.len() {
                return self.stop("a here-document without its end");
            }
            let line = self.body_line(pending.is_quoted);
            let stripped = match pending.tabs {
                Tabs::Kept => line.as_str(),
                Tabs::Stripped => line.trim_start_matches('\t'),
            };
            let text = stripped.strip_suffix('\n').unwrap_or(stripped);
            if text == pending.delimiter {
                return Ok(body);
            }
            // Inside a substitution bash also ends a body at such a line.
            if text
                .strip_prefix(pending.delimiter.as_str())
                .is_some_and(|rest| rest.contains([')', '`']))
            {
                return self.stop("a here-document whose end may be this line");
            }
            body.push_str(stripped);
        }
    }

    /// One line with its newline; in an expanding body continuations are joined first.
    fn body_line(&mut self, is_quoted: bool) -> String {
        let mut line = String::new();
        let mut start = self.pos;
        while let Some(byte) = self.raw(self.pos) {
            match byte {
                b'\n' => {
                    self.pos += 1;
                    break;
                }
                b'\\' if !is_quoted && self.raw(self.pos + 1) == Some(b'\n') => {
                    line.push_str(self.text.get(start..self.pos).unwrap_or_default());
                    self.pos += 2;
                    start = self.pos;
                }
                b'\\' if !is_quoted && self.raw(self.pos + 1).is_some() => self.pos += 2,
                _ => self.pos += 1,
            }
        }
        // A two-byte step may end inside a character.
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        line.push_str(self.text.get(start..self.pos).unwrap_or_default());
        line
    }

    fn body_expansions(
        &mut self,
        body: &str,
        start: usize,
        span: podward_policy::ByteSpan,
        word: &mut Word,
    ) -> Read<()> {
        let verbatim = self
            .text
            .get(start..)
            .is_some_and(|rest| rest.starts_with(body));
        let origin = match (self.origin, verbatim) {
            (Origin::Verbatim(shift), true) => Origin::Verbatim(shift + start),
            _ => Origin::Part(span),
        };
        // Where it cannot be read, reading stops in front of it: deny rules see what is inside.
        let end = std::mem::replace(&mut self.pos, start);
        let operators = self.nested(|reader| {
            reader.inside(body, origin, |inner| {
                inner.body_pieces(word)?;
                Ok(std::mem::take(&mut inner.operators))
            })
        })?;
        self.pos = end;
        if verbatim {
            for (mark, is_operator) in self.operators.iter_mut().skip(start).zip(operators) {
                *mark |= is_operator;
            }
        }
        Ok(())
    }

    fn body_pieces(&mut self, word: &mut Word) -> Read<()> {
        loop {
            match self.peek() {
                None => return Ok(()),
                Some(b'\\') => self.escaped_in_double_quotes(word, b"$`\\"),
                Some(b'$') => self.dollar(Quoting::Quoted, word)?,
                Some(b'`') => self.backquoted(Quoting::Quoted, word)?,
                Some(_) => self.quoted_run(word),
            }
        }
    }
}
