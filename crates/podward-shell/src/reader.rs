//! Reads bash text: every simple command in it, or where and why reading stopped.
//!
//! A recursive descent over bytes that fails closed: what is not read exactly as bash reads it is
//! a [`Stop`]. It follows bash 5.2 as started by `bash -c` (no aliases, no extended globs).

mod arithmetic;
mod braces;
mod compound;
mod expansion;
mod here;
mod list;
mod quoted;
mod simple;
mod test_expression;
mod word;

use podward_policy::ByteSpan;

use crate::limits;
use crate::second_look;
use crate::syntax::{Moment, Script, Setting, Stop, Unknown};
use crate::work;

type Read<T> = Result<T, Stop>;

/// Reads a text. `depth` is the nesting that it already stands in.
pub(crate) fn read(text: &str, origin: Origin, depth: usize) -> Script {
    if text.len() > limits::TEXT_BYTES {
        return Script {
            stop: Some(Stop {
                why: "the text is too long",
                at: 0,
            }),
            ..Script::default()
        };
    }
    let mut reader = Reader::new(text, origin, depth, Script::default());
    reader.outermost = Some(depth);
    let list = reader.script();
    let mut script = reader.script;
    match list {
        Ok(list) => {
            script.list = list;
            script.stop = second_look::first_difference(text, &reader.operators).map(|at| Stop {
                why: "two readings of the text differ",
                at,
            });
        }
        Err(stop) => script.stop = Some(stop),
    }
    script
}

/// Whether a word means something to the shell where a command begins.
pub(crate) fn is_reserved(word: &str) -> bool {
    list::RESERVED.contains(&word)
}

/// Where a text comes from in the text of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Its bytes stand there unchanged, from this byte on.
    Verbatim(usize),
    /// It was made from this part of it.
    Part(ByteSpan),
}

impl Origin {
    /// The part of the call's text that a part of this text came from.
    pub(crate) fn span(self, start: usize, end: usize) -> ByteSpan {
        match self {
            Self::Verbatim(shift) => ByteSpan::new(start + shift..end + shift),
            Self::Part(span) => span,
        }
    }
}

/// The reader's state.
struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    origin: Origin,
    depth: usize,
    n_words: usize,
    n_second_readings: usize,
    /// Bytes that were read as operators or as the start of an expansion.
    operators: Vec<bool>,
    /// Here-documents whose bodies begin after the next newline.
    pending: Vec<here::Pending>,
    /// The nesting of the outermost commands of the text; `None` in a text inside of it.
    outermost: Option<usize>,
    /// Whether a newline here would begin the body of a here-document of an outer command.
    outer_pending: bool,
    script: Script,
}

/// A point to come back to.
struct Mark {
    pos: usize,
    n_simples: usize,
    n_heres: usize,
    n_unknowns: usize,
    n_settings: usize,
    n_inert: usize,
    n_pending: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, origin: Origin, depth: usize, script: Script) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            origin,
            depth,
            n_words: 0,
            n_second_readings: 0,
            operators: vec![false; text.len()],
            pending: Vec::new(),
            outermost: None,
            outer_pending: false,
            script,
        }
    }

    fn stop<T>(&self, why: &'static str) -> Read<T> {
        Err(Stop { why, at: self.pos })
    }

    fn span(&self, start: usize) -> ByteSpan {
        self.origin.span(start, self.pos)
    }

    fn unknown(&mut self, why: &'static str, start: usize) {
        let span = self.span(start);
        self.script.unknowns.push(Unknown { why, span });
    }

    /// Runs a reading one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= limits::DEPTH {
            return self.stop("the text is nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The byte at a position, however it is meant.
    fn raw(&self, at: usize) -> Option<u8> {
        work::done(1);
        self.bytes.get(at).copied()
    }

    fn skip_continuations(&self, mut at: usize) -> usize {
        while self.raw(at) == Some(b'\\') && self.raw(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte, after line continuations.
    fn peek(&mut self) -> Option<u8> {
        self.pos = self.skip_continuations(self.pos);
        self.raw(self.pos)
    }

    /// The byte after the next `n` ones, line continuations left out.
    fn peek_after(&self, n: usize) -> Option<u8> {
        let mut at = self.skip_continuations(self.pos);
        for _ in 0..n {
            self.raw(at)?;
            at = self.skip_continuations(at + 1);
        }
        self.raw(at)
    }

    /// Takes one byte as part of an operator.
    fn take_operator(&mut self) {
        self.pos = self.skip_continuations(self.pos);
        if let Some(mark) = self.operators.get_mut(self.pos) {
            *mark = true;
        }
        self.pos += 1;
    }

    /// Takes an operator, if it comes next.
    fn take(&mut self, operator: &str) -> bool {
        let comes = operator
            .bytes()
            .enumerate()
            .all(|(n, byte)| self.peek_after(n) == Some(byte));
        if comes {
            for _ in 0..operator.len() {
                self.take_operator();
            }
        }
        comes
    }

    fn expect(&mut self, operator: &str, why: &'static str) -> Read<()> {
        if self.take(operator) {
            Ok(())
        } else {
            self.stop(why)
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
    }

    /// Skips a comment up to its newline.
    fn skip_comment(&mut self) {
        let start = self.pos;
        while self.raw(self.pos).is_some_and(|byte| byte != b'\n') {
            self.pos += 1;
        }
        if let Origin::Verbatim(_) = self.origin {
            let span = self.span(start);
            self.script.inert.push(span);
        }
    }

    /// A moment after all that was read so far.
    const fn moment(&mut self) -> Moment {
        self.script.now = self.script.now.next();
        self.script.now
    }

    /// Notes that what began at a byte sets a variable; `None` if an expansion names it.
    fn sets(&mut self, name: Option<&str>, start: usize) {
        let setting = Setting {
            name: name.map(str::to_owned),
            at: self.moment(),
            span: self.span(start),
        };
        self.script.settings.push(setting);
    }

    /// Notes that an outermost command, or what separates it from the next, ends here.
    fn head(&mut self) {
        if self.outermost == Some(self.depth) {
            self.script.heads.push(self.pos);
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            pos: self.pos,
            n_simples: self.script.simples.len(),
            n_heres: self.script.heres.len(),
            n_unknowns: self.script.unknowns.len(),
            n_settings: self.script.settings.len(),
            n_inert: self.script.inert.len(),
            n_pending: self.pending.len(),
            depth: self.depth,
        }
    }

    /// Goes back, to read the same text in another way.
    fn reset(&mut self, mark: &Mark) -> Read<()> {
        self.n_second_readings += 1;
        if self.n_second_readings > limits::SECOND_READINGS {
            return self.stop("too many double parentheses");
        }
        self.pos = mark.pos;
        self.depth = mark.depth;
        self.script.simples.truncate(mark.n_simples);
        self.script.heres.truncate(mark.n_heres);
        self.script.unknowns.truncate(mark.n_unknowns);
        self.script.settings.truncate(mark.n_settings);
        self.script.inert.truncate(mark.n_inert);
        self.pending.truncate(mark.n_pending);
        if let Some(rest) = self.operators.get_mut(mark.pos..) {
            rest.fill(false);
        }
        Ok(())
    }
}

/// Whether a byte ends a word that is not quoted.
const fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
